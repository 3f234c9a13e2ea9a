from contextlib import closing
from pathlib import Path

from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.pickfolder import FolderScreen
from marginalia_tui.screens.trash import TrashScreen
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form, Notice
from marginalia_tui.widgets.filepicker import FilePicker
from tests.screens.rig import Rig, add_book, lamp_home, play

NOVEL = "# One\n\nIt was *night*.\n\n# Two\n\nIt was day.\n"


def test_an_empty_library_says_what_to_do_first(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        assert rig.sees("The library is empty")
        assert rig.sees("i  imports one: Markdown")
        assert rig.sees("n  begins a new book")
        await rig.press("d", "x", "r", "enter")
        assert isinstance(rig.app.screen, LibraryScreen)

    play(home, steps)


def test_a_new_book_is_asked_for_its_title_and_opened(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("n")
        await rig.reach(Ask)
        await rig.press("enter")
        assert rig.sees("may not be empty")
        await rig.write("The Oil")
        await rig.press("enter")
        await rig.reach(BookScreen)
        assert rig.sees("The Oil") and rig.sees("This book has no parts")

    play(home, steps)


def test_rename(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("r")
        await rig.reach(Ask)
        await rig.write(" II")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("The Lamp II"))

    play(home, steps)


def test_to_the_trash_and_back(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("d")
        await rig.reach(Confirm)
        assert rig.sees("'The Lamp'") and rig.sees("3 parts")
        await rig.press("n")
        await rig.reach(LibraryScreen)
        assert rig.sees("The Lamp")
        await rig.press("d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: rig.sees("The library is empty"))
        await rig.press("f3")
        await rig.until(lambda: rig.sees("No book is open"))
        await rig.press("f2", "t")
        await rig.reach(TrashScreen)
        assert rig.sees("The Lamp")
        await rig.press("r")
        await rig.until(lambda: rig.sees("The trash is empty"))
        await rig.press("escape")
        await rig.reach(LibraryScreen)
        assert rig.sees("The Lamp")

    play(home, steps)


def test_import_by_the_picker(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "novel.md").write_text(NOVEL)
    (folder / "song.mp3").write_bytes(b"ID3")
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}')

    async def steps(rig: Rig) -> None:
        await rig.press("i")
        await rig.reach(Form)
        await rig.press("ctrl+s")
        await rig.reach(FilePicker)
        await rig.until(lambda: rig.sees("novel.md"))
        assert not rig.sees("song.mp3")
        await rig.press("down", "enter")
        await rig.until(lambda: rig.notices)
        assert rig.notices[0] == "Imported 'novel': 2 parts, 6 words."
        screen = await rig.reach(LibraryScreen)
        assert rig.sees("novel")
        assert screen.table.current_key is not None

    play(home, steps)


def test_what_cannot_be_imported_is_told_and_nothing_is_made(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "empty.txt").write_bytes(b"")
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}')

    async def steps(rig: Rig) -> None:
        await rig.press("i", "ctrl+s")
        await rig.reach(FilePicker)
        await rig.until(lambda: rig.sees("empty.txt"))
        await rig.press("down", "enter")
        await rig.until(lambda: rig.notices)
        assert "empty" in rig.notices[0]
        await rig.reach(LibraryScreen)
        assert rig.sees("The library is empty")

    play(home, steps)


def test_export_asks_before_it_writes_over_a_file(home: Path, tmp_path: Path) -> None:
    lamp_home(home)
    (home / "settings.json").write_text(f'{{"export_folder": "{tmp_path}"}}')
    (tmp_path / "the-lamp.md").write_text("what was there")

    async def steps(rig: Rig) -> None:
        await rig.press("x")
        await rig.reach(Form)
        assert rig.sees(str(tmp_path)[-20:] + "/the-lamp")
        await rig.press("ctrl+s")
        await rig.reach(Confirm)
        await rig.press("n")
        assert (tmp_path / "the-lamp.md").read_text() == "what was there"
        await rig.press("x")
        await rig.reach(Form)
        await rig.press("ctrl+s")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: any("Wrote" in notice for notice in rig.notices))

    play(home, steps, size=(140, 30))
    assert "There were twelve; the lamp had shown eleven." in (tmp_path / "the-lamp.md").read_text()


def test_export_asks_nothing_where_nothing_may_be_written_over(home: Path, tmp_path: Path) -> None:
    lamp_home(home)
    (home / "settings.json").write_text(f'{{"export_folder": "{tmp_path}"}}')
    (tmp_path / "other.md").write_text("what was there")
    (tmp_path / "the-lamp.md").symlink_to(tmp_path / "other.md")

    async def steps(rig: Rig) -> None:
        await rig.press("x")
        await rig.reach(Form)
        await rig.press("ctrl+s")
        await rig.until(lambda: any("is a link" in notice for notice in rig.notices))
        await rig.reach(LibraryScreen)

    play(home, steps, size=(140, 30))
    assert (tmp_path / "other.md").read_text() == "what was there"


def test_notes_of_an_import_are_shown(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "old.txt").write_bytes("Caf\xe9 \x93quoted\x94 na\xefve. ".encode("latin-1") * 40)
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}')

    async def steps(rig: Rig) -> None:
        await rig.press("i", "ctrl+s")
        await rig.reach(FilePicker)
        await rig.until(lambda: rig.sees("old.txt"))
        await rig.press("down", "enter")
        await rig.reach(Notice)
        assert rig.sees("Imported 'old'")

    play(home, steps)


def test_the_list_keeps_its_cursor_when_others_change(home: Path) -> None:
    with closing(Store.open(home)) as store:
        books = [add_book(store, title, [("One", "word")]) for title in ("A", "B", "C")]

    async def steps(rig: Rig) -> None:
        await rig.press("down")
        screen = rig.app.screen
        assert isinstance(screen, LibraryScreen) and screen.table.current_key == books[1]
        await rig.app.command_on(books[0], "set-book-info", title="Z")
        await rig.until(lambda: rig.sees("Z"))
        assert screen.table.current_key == books[1]

    play(home, steps)


def test_folders_are_made_filled_renamed_folded_and_deleted(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store, store.write(Act(actor="author", label="test")) as tx:
        tx.space(LIBRARY).put([Folder(uuid=store.clock.new_uuid(), name=name, created=1) for name in ("Old", "Series")])

    async def steps(rig: Rig) -> None:
        screen = await rig.reach(LibraryScreen)
        # A folder is made in that under the cursor.
        screen.table.cursor = 2
        await rig.press("N")
        assert rig.sees("in 'Series'")
        await rig.write("Winter")
        await rig.press("enter")
        await rig.until(lambda: rig.sees(">  - Winter  (empty)"))
        screen.table.cursor = 0
        await rig.press("m")
        await rig.reach(FolderScreen)
        assert rig.sees("the top of the library")
        await rig.press("end", "enter")
        await rig.until(lambda: rig.sees("      The Lamp") and rig.sees("Winter  (1 book)"))
        assert any("Series / Winter" in notice for notice in rig.notices)
        # From the book to its folder, which closes.
        screen.table.cursor = 3
        await rig.press("left", "left")
        assert rig.sees(">  + Winter") and not rig.sees("      The Lamp")
        await rig.press("r", "ctrl+u")
        await rig.write("Summer")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("+ Summer  (1 book)"))
        # A folder can't be moved into itself: only the other places are offered.
        await rig.press("m")
        dialog = await rig.reach(FolderScreen)
        assert [each.name for each in dialog.folders] == ["Old", "Series"]
        await rig.press("home", "enter")
        await rig.until(lambda: rig.sees(">+ Summer"))
        with rig.studio.store.read() as tx:
            folder = tx.space(LIBRARY).get(Book, book).folder
            assert folder is not None and tx.space(LIBRARY).get(Folder, folder).parent is None
        await rig.press("home", "d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: not rig.sees("Old"))

    play(home, steps)


def test_tags_are_given_and_what_fits_some_words_is_shown(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store:
        add_book(store, "The Oil", [("One", "word")])
        with store.write(Act(actor="author", label="test")) as tx:
            tx.space(LIBRARY).put([Folder(uuid=store.clock.new_uuid(), name="Winter", created=1)])

    async def steps(rig: Rig) -> None:
        screen = await rig.reach(LibraryScreen)
        assert screen.table.current_key == book
        await rig.press("g")
        await rig.reach(Ask)
        await rig.write("draft, Cold")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("Cold, draft"))
        await rig.press("f")
        assert not rig.sees("1 of 2")
        await rig.write("#dra")
        await rig.until(lambda: rig.sees("1 of 2 books, 38 words"))
        assert rig.sees("The Lamp") and not rig.sees("The Oil") and not rig.sees("Winter")
        # What comes with the Enter is for the list.
        await rig.pilot.press("enter", "g")
        await rig.reach(Ask)
        await rig.press("escape")
        assert screen.table.has_focus and screen.table.current_key == book
        # The words hold when the library is read again, and Esc takes them away.
        await rig.app.command_on(book, "set-book-info", title="The Candle")
        await rig.until(lambda: rig.sees("The Candle"))
        assert not rig.sees("The Oil")
        await rig.press("escape")
        await rig.until(lambda: rig.sees("The Oil") and rig.sees("Winter"))
        await rig.press("ctrl+f")
        await rig.write("zz")
        await rig.until(lambda: rig.sees("Nothing here fits"))
        await rig.press("escape")
        assert screen.table.has_focus

    play(home, steps)
