from contextlib import closing
from pathlib import Path

from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.trash import TrashScreen
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form, Notice
from marginalia_tui.widgets.filepicker import FilePicker
from tests.screens.rig import Rig, add_book, lamp_home, play

NOVEL = "# One\n\nIt was *night*.\n\n# Two\n\nIt was day.\n"


def test_an_empty_library_says_what_to_do_first(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        assert rig.sees("The library is empty")
        assert rig.sees("i  imports a file")
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
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}')

    async def steps(rig: Rig) -> None:
        await rig.press("i")
        await rig.reach(Form)
        await rig.press("ctrl+s")
        await rig.reach(FilePicker)
        await rig.until(lambda: rig.sees("novel.md"))
        assert not rig.sees("picture.png")
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
        await rig.app.call(rig.desk.library.rename, books[0], "Z")
        await rig.until(lambda: rig.sees("Z"))
        assert screen.table.current_key == books[1]

    play(home, steps)
