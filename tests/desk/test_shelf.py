"""The library as the screens are given it, and what of it can be named."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert

from marginalia_tui.commands.line import CommandLine
from marginalia_tui.desk.bar import Bar
from marginalia_tui.desk.shelf import list_shelf
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.services import backup
from marginalia_tui.services.books import create_book, trash_book
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.screens.rig import LAMP, add_book


def filled(store: Store) -> tuple[str, str]:
    """The small book in a folder of a folder, another at the top; answers the book and its folder."""
    book = add_book(store, "The Lamp", LAMP)
    add_book(store, "Another", LAMP[:1])
    series, winter = store.clock.new_uuid(), store.clock.new_uuid()
    with store.write(Act(actor="author", label="test")) as tx:
        space = tx.space(LIBRARY)
        space.put([Folder(uuid=series, name="Series"), Folder(uuid=winter, name="Winter", parent=series)])
        space.put([replace(space.get(Book, book), folder=winter, tags=("draft",))])
    return book, winter


def test_folders_count_what_is_below_and_name_who_holds_it(store: Store) -> None:
    book, winter = filled(store)
    with store.write(Act(actor="studio", label="start")) as tx:
        tx.connection.execute(
            insert(tables.run).values(
                uuid="run", agent="a", agent_name="Copyeditor", book=book, status="IDLE", created=1, changed=1
            )
        )
    trash_book(store, create_book(store, "Gone").uuid)
    shelf = list_shelf(store)
    assert [(each.title, each.folder, each.tags, each.agent) for each in shelf.books] == [
        ("Another", None, (), ""),
        ("The Lamp", winter, ("draft",), "Copyeditor"),
    ]
    assert [(each.path, each.depth, each.books, each.words, each.agents) for each in shelf.folders] == [
        ("Series", 0, 1, 38, ("Copyeditor",)),
        ("Series / Winter", 1, 1, 38, ("Copyeditor",)),
    ]


def test_a_book_whose_folder_is_gone_stands_at_the_top(store: Store) -> None:
    book, _ = filled(store)
    with store.write(Act(actor="author", label="test", book=book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, book), folder="no-such-folder")])
    assert [each.folder for each in list_shelf(store).books] == [None, None]


def test_the_bar_completes_folders_what_is_gone_backups_and_models(tmp_path: Path) -> None:
    with closing(Studio(tmp_path / "home")) as studio:
        book, _ = filled(studio.store)
        trash_book(studio.store, create_book(studio.store, "An old draft").uuid)
        for _ in range(2):
            trash_book(studio.store, create_book(studio.store, "Twice").uuid)
        bar = Bar(studio)

        def found(line: str) -> list[str]:
            return [each.text for each in bar.complete(line, len(line))]

        bar.read_names(book)
        assert found("/move-book Win") == [CommandLine.escape("Series / Winter")]
        assert found("/restore-from-trash old") == found("/delete-for-good old")
        assert found("/restore-from-trash old") == [CommandLine.escape("An old draft")]
        twice = found("/restore-from-trash Twice")
        assert len(twice) == 2 and all(len(each) == 36 for each in twice), "what has no name of its own has its uuid"
        assert found("/restore-backup ") == []
        backup.take(studio.store, book)
        bar.read_names(book)
        assert found("/restore-backup ") == ["latest", "1"]
        assert found("/set-book-model proof")
        # What was deleted meanwhile is proposed when the names are read again.
        studio.commands.start_line("/delete-part 3", studio.scope(book, Yes())).future.result()
        bar.read_names(book)
        assert len(found("/restore-from-trash door")) == 1
        bar.read_names(None)
        assert found("/restore-from-trash door") == []


class Yes:
    """Says yes."""

    def confirm(self, question: object, control: object) -> bool:
        """Yes."""
        return True
