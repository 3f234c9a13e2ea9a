"""The first steps of a newcomer in a real terminal: an empty home, a book from a file, an edit, its undo."""

from pathlib import Path

from tests.terminal.support import CTRL_S, DOWN, ENTER, ESCAPE, Terminal, say

NOVEL = "# The Novel\n\n## One\n\nThere sat teh cat.\n\n## Two\n\nTwo words.\n"


def test_an_empty_home_says_what_to_do_first(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with Terminal("--home", home, cold=True) as seen:
        seen.until("[Library]", "The library is empty.", "imports one: Markdown")
        seen.send("q")
        assert seen.ended() == 0
    assert (home / "studio.db").exists()
    assert home.stat().st_mode & 0o077 == 0


def test_a_book_is_imported_read_edited_saved_and_the_edit_undone(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "novel.md").write_text(NOVEL, encoding="utf-8")
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}', encoding="utf-8")
    with Terminal("--home", home, size=(80, 24), cold=True) as seen:
        seen.until("The library is empty.")
        seen.send("i")
        seen.until("Import", "Ctrl+S chooses the file")
        seen.send(CTRL_S)
        seen.until("The file to import", "novel.md")
        seen.send(DOWN)
        seen.until(">novel.md")
        seen.send(ENTER)
        seen.until("Imported 'The Novel': 2 parts", ">The Novel")
        seen.send(ENTER)
        seen.until("[Book]", "There sat teh cat.", "2 Two")
        seen.send("e")
        seen.until("editing part 1", "saved")
        seen.send("Once. ")
        seen.until("Once. There sat", "not saved")
        seen.send(CTRL_S)
        seen.until("5 words  saved")
        seen.send(ESCAPE)
        seen.until("Once. There sat", "7 words", gone=["editing part 1"])
        assert say(home, "exec", "--book", "The Novel", "/get-part 1").stdout.count("Once. There sat teh cat.") == 1
        seen.send("u")
        seen.until("There sat teh cat.", "6 words", gone=["Once."])
        seen.send("q")
        assert seen.ended() == 0
    assert "Once." not in say(home, "exec", "--book", "The Novel", "/get-part 1").stdout


def test_keys_that_are_typed_before_the_studio_is_open_are_not_lost(home: Path) -> None:
    with Terminal("--home", home, cold=True) as seen:
        seen.until("[Library]")
        seen.send("n")
        seen.until("Title of the new book")
        seen.send("Early" + ENTER)
        seen.until("[Book]", "Early")
        seen.send("q")
        assert seen.ended() == 0
