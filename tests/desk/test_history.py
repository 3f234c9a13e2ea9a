import json
import stat
from pathlib import Path

import pytest

from marginalia_tui.desk.history import HISTORY, LONGEST, SIZE, History


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.json"


def test_each_line_is_kept_once_and_only_commands(path: Path) -> None:
    history = History(path)
    for line in ("/a", "/b", "hello", "/a"):
        history.add(line)
    assert history.lines() == ["/b", "/a"]
    assert History(path).lines() == ["/b", "/a"]


def test_the_lines_of_the_open_book_come_first(path: Path) -> None:
    history = History(path)
    for line, book in (("/a", "one"), ("/b", "two"), ("/c", None), ("/a", "two"), ("/d", "one"), ("/e", "two")):
        history.add(line, book)
    again = History(path)
    # Up gives the last one first.
    assert again.lines("one") == ["/b", "/c", "/e", "/a", "/d"]
    assert again.lines("two") == ["/c", "/d", "/b", "/a", "/e"]
    assert again.lines("three") == again.lines() == ["/b", "/c", "/a", "/d", "/e"]


def test_an_older_file_of_lines_alone_is_read(path: Path) -> None:
    path.write_text(json.dumps(["/a", "/b"]))
    history = History(path)
    assert history.lines("one") == ["/a", "/b"]
    history.add("/a", "one")
    assert History(path).lines("one") == ["/b", "/a"]


def test_the_history_is_bounded(path: Path) -> None:
    path.write_text(json.dumps([f"/{number}" for number in range(HISTORY)]))
    history = History(path)
    history.add("/new")
    assert len(history.lines()) == HISTORY
    assert history.lines()[0] == "/1" and history.lines()[-1] == "/new"


def test_long_lines_take_the_place_of_many_and_the_longest_are_not_kept(path: Path) -> None:
    history = History(path)
    history.add("/" + "x" * LONGEST)
    assert history.lines() == []
    for number in range(SIZE // LONGEST + 3):
        history.add(f"/{number} ".ljust(LONGEST, "x"))
    assert sum(map(len, history.lines())) <= SIZE
    assert history.lines()[-1].startswith(f"/{SIZE // LONGEST + 2} ")


@pytest.mark.parametrize("content", ["", "{", "{}", "[1, null]", "[[]]", '[{"line": 1}]', '[{"book": "x"}]', "\udcff"])
def test_a_file_that_cannot_be_read_begins_anew(path: Path, content: str) -> None:
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    history = History(path)
    assert history.lines() == []
    history.add("/a", "one")
    assert History(path).lines() == ["/a"]


def test_what_cannot_be_written_is_remembered_and_refuses_no_command(tmp_path: Path) -> None:
    folder = tmp_path / "not yet"
    history = History(folder / "history.json")
    history.add("/a")
    assert history.lines() == ["/a"]
    folder.mkdir()
    history.add("/b")
    assert History(folder / "history.json").lines() == ["/a", "/b"]


def test_a_link_in_the_place_of_the_draft_is_not_followed(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    (tmp_path / "history.new").symlink_to(target)
    History(path).add("/a")
    assert target.read_text() == "kept"


def test_only_the_owner_can_read_it(path: Path, tmp_path: Path) -> None:
    path.write_text("[]")
    path.chmod(0o644)
    draft = tmp_path / "history.new"
    draft.write_text("left behind")
    draft.chmod(0o666)
    History(path).add("/a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_studios_keep_the_lines_of_both(path: Path) -> None:
    one, two = History(path), History(path)
    one.add("/a")
    two.add("/b")
    one.add("/c")
    assert one.lines() == two.lines() == ["/a", "/b", "/c"]


def test_a_line_of_any_characters_is_kept(path: Path) -> None:
    line = "/a \ud800\x00\n\u202e \U0001f3f4"
    History(path).add(line)
    assert History(path).lines() == [line]
