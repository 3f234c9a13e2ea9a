"""What an author types outlives a killed studio and another author's save; a file that is no book is one sentence."""

import os
from contextlib import closing
from pathlib import Path

from marginalia_tui.services.editing import drafts
from marginalia_tui.store.store import Store
from tests.terminal.homes import furnish
from tests.terminal.support import CTRL_S, DOWN, ENTER, ESCAPE, Terminal, say


def _edit(seen: Terminal) -> None:
    seen.until("[Library]", "The Book")
    seen.send(ENTER)
    seen.until("[Book]", "1 Chapter 1", "e edit")
    seen.send("e")


def _first_part(home: Path) -> str:
    return say(home, "exec", "--book", "The Book", "/get-part 1").stdout


def _drafts(home: Path, book: str) -> list[str]:
    with closing(Store.open(home)) as store, store.read() as tx:
        return [draft.text for draft in drafts(tx, book)]


def test_f42_what_is_typed_survives_a_kill(home: Path) -> None:
    book = furnish(home, "http://127.0.0.1:9/v1")
    with Terminal("--home", home) as seen:
        _edit(seen)
        seen.until("editing part 1", "saved")
        seen.send("Typed. ")
        seen.wait(lambda: _drafts(home, book) == ["Typed. One"], "the draft is kept")
        seen.kill()
    with Terminal("--home", home) as seen:
        _edit(seen)
        seen.until("Unsaved text", "g  go on with it")
        seen.send("g")
        seen.until("editing part 1", "Typed. One", "not saved")
        seen.send(CTRL_S)
        seen.until("  saved", gone=["not saved"])
        seen.send(ESCAPE)
        seen.until("Typed. One", gone=["editing"])
        seen.send("q")
        assert seen.ended() == 0
    assert "Typed. One" in _first_part(home)
    assert _drafts(home, book) == []


def test_f43_two_studios_that_edit_one_part_lose_nothing(home: Path) -> None:
    furnish(home, "http://127.0.0.1:9/v1")
    with Terminal("--home", home) as first, Terminal("--home", home) as second:
        for seen in (first, second):
            _edit(seen)
            seen.until("editing part 1", "saved")
        first.send("First. ")
        first.until("First. One", "not saved")
        second.send("Second. ")
        second.until("Second. One", "not saved")
        first.send(CTRL_S)
        first.until("  saved", gone=["not saved"])
        second.send(CTRL_S)
        second.until("Changed elsewhere")
        assert "First. One" in _first_part(home)
        second.send("o")
        second.until("  saved", gone=["not saved", "Changed elsewhere"])
        assert "Second. One" in _first_part(home)
        second.send(ESCAPE)
        second.until("Second. One", gone=["editing"])
        second.send("u")
        second.until("First. One")
        for seen, keys in ((first, [ESCAPE]), (second, [])):
            for key in keys:
                seen.send(key)
                seen.until("e edit", gone=["editing"])
            seen.send("q")
            assert seen.ended() == 0
    assert "First. One" in _first_part(home)


def test_a_file_that_is_no_book_is_one_sentence(home: Path, tmp_path: Path) -> None:
    furnish(home, "http://127.0.0.1:9/v1")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "bad.epub").write_bytes(b"PK\x03\x04" + os.urandom(2_000))
    (home / "settings.json").write_text(f'{{"import_folder": "{folder}"}}', encoding="utf-8")
    with Terminal("--home", home, size=(120, 30)) as seen:
        seen.until("[Library]", ">The Book")
        seen.send("i")
        seen.until("Import", "Ctrl+S chooses the file")
        seen.send(CTRL_S)
        seen.until("The file to import", "bad.epub")
        seen.send(DOWN)
        seen.until(">bad.epub")
        seen.send(ENTER)
        seen.until("Not done", "bad.epub", ">The Book", gone=["The file to import"])
        seen.send("q")
        assert seen.ended() == 0
    assert say(home, "books").stdout.count('"title"') == 1
