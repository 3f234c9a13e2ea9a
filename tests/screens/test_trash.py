"""The trash: everything that is gone, who deleted it, and the ways back and out for good."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert

from marginalia_tui.domain.items import Annotation, Book, Folder, Lorebook, Part
from marginalia_tui.screens.trash import TrashScreen
from marginalia_tui.services.books import trash_book
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Confirm
from tests.screens.rig import Rig, add_book, lamp_home, play


def fill(home: Path, book: str) -> str:
    """Something of each kind in the trash; answers the book that lies there."""
    with closing(Store.open(home)) as store:
        clock = store.clock
        other = add_book(store, "An old draft", [("One", "word")])
        with store.write(Act(actor="author", label="make")) as tx:
            space = tx.space(LIBRARY)
            folder = Folder(uuid=clock.new_uuid(), name="Winter", created=1)
            space.put([folder, Lorebook(uuid=clock.new_uuid(), name="Lamps", deleted=clock.now())])
            part = space.children(None, book)[0]
            note = Annotation(uuid=clock.new_uuid(), book=book, part=part, text="Who has [red]oil[/red]?")
            space.put([note])
        with store.write(Act(actor="author", label="delete")) as tx:
            tx.space(LIBRARY).delete(Folder, [folder.uuid])
        with store.write(Act(actor="author", label="delete", book=book)) as tx:
            tx.space(LIBRARY).delete(Annotation, [note.uuid])
            tx.connection.execute(
                insert(tables.run).values(
                    uuid="run", agent="a", agent_name="Copyeditor", book=book, status="APPLIED", created=1, changed=1
                )
            )
        with store.write(Act(actor="apply", label="apply", book=book, run="run")) as tx:
            space = tx.space(LIBRARY)
            last = space.get_many(Part, space.children(space.children(part, book)[0], book))
            space.delete(Part, last)
            space.put([replace(space.get(Book, book), active_leaf=space.children(part, book)[0])])
        trash_book(store, other)
        return other


def test_everything_that_is_gone_is_listed_comes_back_and_goes_for_good(home: Path) -> None:
    book = lamp_home(home)
    other = fill(home, book)

    async def steps(rig: Rig) -> None:
        await rig.press("t")
        screen = await rig.reach(TrashScreen)
        rows = {row.cells[:3]: row.cells[4] for row in screen.table.rows}
        assert rows == {
            ("book", "An old draft", ""): "you",
            ("part", "The Door", "The Lamp"): "Copyeditor",
            ("note", "Who has [red]oil[/red]?", "The Lamp"): "you",
            ("folder", "Winter", ""): "you",
            ("lorebook", "Lamps", ""): "you",
        }
        assert screen.table.rows[0].cells[1] == "An old draft", "the newest stands first"

        def go(name: str) -> None:
            screen.table.cursor = next(n for n, row in enumerate(screen.table.rows) if row.cells[1].startswith(name))

        # What belongs to a book goes with the book: that is told, and nothing is done.
        go("The Door")
        await rig.press("d")
        assert any("goes with the book" in notice for notice in rig.notices)
        await rig.press("r")
        await rig.until(lambda: len(screen.table.rows) == 4)
        go("Who has")
        await rig.press("enter")
        go("Winter")
        await rig.press("r")
        await rig.until(lambda: len(screen.table.rows) == 2)
        with rig.studio.store.read() as tx:
            space = tx.space(LIBRARY)
            assert len(space.outline(book)) == 3
            assert len(tx.connection.execute(tables.annotation.select()).all()) == 1
            assert len(tx.connection.execute(tables.folder.select()).all()) == 1
        go("An old draft")
        await rig.press("d")
        await rig.reach(Confirm)
        assert rig.sees("Nothing brings it back")
        await rig.press("n")
        await rig.reach(TrashScreen)
        assert len(screen.table.rows) == 2
        await rig.press("d", "y")
        await rig.until(lambda: len(screen.table.rows) == 1)
        with rig.studio.store.read() as tx:
            assert tx.space(LIBRARY).find(Book, other) is None
        await rig.press("E", "y")
        await rig.until(lambda: rig.sees("The trash is empty"))

    play(home, steps, size=(120, 30))
