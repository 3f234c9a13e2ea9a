"""Pictures of the library with folders, of settings that are inherited and of backups."""

from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from sqlalchemy import insert

from marginalia_tui.domain.items import Annotation, Book, Folder, Lorebook, Part
from marginalia_tui.screens import working
from marginalia_tui.services import backup
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store, WriteTx
from tests.screens.rig import LAMP, FixedClock, add_book
from tests.screens.test_pictures import SnapCompare, before, posing

BOOKS = (
    ("A Short History of the Harbour", "Harbour", ("history",)),
    ("The Lamp", "Winter", ("draft", "winter")),
    ("The Stair", "Drafts", ("draft",)),
    ("雾中的灯塔", None, ()),
)
FOLDERS = (("Harbour", None), ("Novels", None), ("Summer", "Novels"), ("Winter", "Novels"), ("Drafts", "Winter"))


def fill(home: Path) -> None:
    """Four books in five folders; one is held; something of most kinds is gone."""
    with closing(Store.open(home, clock=FixedClock())) as store:
        folders: dict[str | None, str] = {name: store.clock.new_uuid() for name, _ in FOLDERS}
        books = {title: add_book(store, title, LAMP) for title, _, _ in BOOKS}
        with store.write(Act(actor="author", label="make")) as tx:
            space = tx.space(LIBRARY)
            space.put(
                [
                    Folder(
                        uuid=folders[name],
                        name=name,
                        parent=folders.get(parent),
                        language="de" if name == "Novels" else "",
                        style="Dry, short sentences." if name == "Winter" else "",
                    )
                    for name, parent in FOLDERS
                ]
            )
            for title, folder, tags in BOOKS:
                book = space.get(Book, books[title])
                space.put([replace(book, folder=folders.get(folder), tags=tags, language="", pov="first person")])
            space.put([Lorebook(uuid=store.clock.new_uuid(), name="Lamps", deleted=store.clock.now())])
        lamp = books["The Lamp"]
        with store.write(Act(actor="author", label="delete", book=lamp)) as tx:
            _lose(tx, lamp)
        with store.write(Act(actor="author", label="delete")) as tx:
            tx.space(LIBRARY).put([Folder(uuid="gone", name="Autumn")])
        with store.write(Act(actor="author", label="delete")) as tx:
            tx.space(LIBRARY).delete(Folder, ["gone"])
        for _ in range(2):
            backup.take(store, lamp)
        with store.write(Act(actor="studio", label="start")) as tx:
            tx.connection.execute(
                insert(tables.run).values(
                    uuid="run",
                    agent="a",
                    agent_name="Copyeditor",
                    book=books["The Stair"],
                    status="IDLE",
                    created=1,
                    changed=1,
                )
            )


def _lose(tx: WriteTx, book: str) -> None:
    """The last part goes."""
    space = tx.space(LIBRARY)
    leaf = space.get(Part, str(space.get(Book, book).active_leaf))
    space.put([replace(space.get(Book, book), active_leaf=leaf.parent)])
    space.put([Annotation(uuid="note", book=book, part=str(leaf.parent), text="Who lit it?")])
    space.delete(Part, [leaf.uuid])


KEYS: dict[str, tuple[str, ...]] = {
    "tree": ("7",),
    "inherited": ("7", "e", "7"),
    "backups": ("7", "b"),
}
SMALL, LARGE = (80, 24), (160, 50)


@pytest.mark.parametrize(
    ("name", "size"), [*((name, SMALL) for name in KEYS), ("tree", LARGE), ("inherited", LARGE)], ids=str
)
def test_picture(
    home: Path, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    # A slow machine would show the line of a command that waits.
    monkeypatch.setattr(working, "SHOWN_AFTER", inf)
    fill(home)
    with posing(home) as app:
        assert snap_compare(app, terminal_size=size, run_before=before(app, *KEYS[name]))
