"""Hostile chats: what is bounded, what is made harmless, what is refused with a sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange import chat_lines, chat_reader
from marginalia_tui.services.exchange.chat_data import MAX_DATA, MAX_DEPTH
from marginalia_tui.services.exchange.chat_reader import read_chat
from marginalia_tui.services.exchange.chat_writer import write_chat
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import import_book
from marginalia_tui.store.store import Store
from tests.support.chats import HEADER, chat, message, read


def test_a_line_of_fifty_megabytes_is_skipped_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_lines: list[int] = []
    parse = chat_lines._parse

    def counting(line: bytes) -> Any:
        read_lines.append(len(line))
        return parse(line)

    monkeypatch.setattr(chat_lines, "_parse", counting)
    long = b'{"name":"Ada","mes":"' + b"x" * 50_000_000 + b'"}'
    path = tmp_path / "chat.jsonl"
    path.write_bytes(chat(message("a")) + b"\n" + long + b"\n" + chat(message("b"), header=None))
    imported = read_manuscript(path)
    assert [chapter.text for chapter in imported.manuscript.chapters] == ["a", "b"]
    assert "Left out, as it is longer than 16 MB (line 3)." in imported.notes
    assert max(read_lines) < 1_000


def test_a_message_of_two_megabytes_comes_in_and_out() -> None:
    book, _ = read(message("It rained. " * 190_000, swipes=["It rained. " * 190_000, "No."], swipe_id=0))
    assert len(book.chapters[0].text) > 2_000_000
    assert read_chat(write_chat(book).encode(), "it")[0] == book


def test_pictures_in_the_data_are_left_out_by_name() -> None:
    picture = "data:image/png;base64," + "A" * MAX_DATA
    said = message("a", extra={"image": picture, "api": "x"}, avatar="B" * MAX_DATA, swipes=["a", "b"], swipe_id=0)
    said["swipe_info"] = [{}, {"extra": {"media": picture, "api": "y"}}]
    book, notes = read(said)
    assert {note for note in notes if note.startswith("Left out")} == {
        "Left out, as it is too large: 'extra.image' (line 2).",
        "Left out, as it is too large: 'extra.media' (line 2).",
        "Left out, as it is too large: 'avatar' (line 2).",
    }
    (chapter,) = book.chapters
    assert chapter.attributes["chat"] == {
        "message": {"name": "Ada", "is_user": False, "is_system": False},
        "version": {"extra": {"api": "x"}},
    }
    assert len(write_chat(book)) < 2_000


def test_what_can_not_be_stored_is_made_harmless(store: Store, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(MAX_DEPTH + 5):
        deep = [deep]
    said = message(
        "\x1b[2J\x00 [red]\r\nrained", name="A\x1b[31m\nda", extra={"deep": deep, "big": 10**30, "\x07key": "\x9b1m"}
    )
    lines = [
        json.dumps(said),
        '{"name": "Ada", "mes": "half \\ud83d", "extra": {"x": 1e999, "y": 123456789012345678901234567890}}',
        '{"name": "Ada", "mes": ' + "[" * 100_000,
        '{"name": "Ada", "mes": "\\ud83d", "extra": ' + "[" * 3_000 + "]" * 3_000 + "}",
        '{"name": "Ada", "mes": NaN}',
        '{"name": "Ada", "mes": "\\ud83d", "z": NaN}',
    ]
    path = tmp_path / "Ada.jsonl"
    path.write_bytes(chat(*lines))
    made = import_book(store, path)
    book = read_manuscript(path).manuscript
    assert [chapter.text for chapter in book.chapters] == ["\u241b[2J\u2400 [red]\nrained", "half \ufffd"]
    assert book.chapters[0].pov == "A\u241b[31m da"
    assert made.parts == 2
    assert "Left out, as it is nested too deep: 'extra.deep' (line 2)." in made.notes
    assert "Left out, as it is no JSON (lines 4, 5, 6)." in made.notes
    assert not any(char in json.dumps(made.notes) for char in ("\\u001b", "\\u0007"))
    written = write_chat(book)
    assert read_chat(written.encode(), "it")[0] == book
    assert not any(ord(char) < 32 and char != "\n" for char in written)


def test_too_many_of_anything_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    book, notes = read(message("0", swipes=[str(number) for number in range(600)], swipe_id=0))
    assert len(book.chapters[0].swipes) == 499
    assert "Only the first 500 swipes came in (line 2)." in notes
    monkeypatch.setattr(chat_reader, "MAX_PARTS", 5)
    with pytest.raises(Invalid, match="more than 5 messages and swipes"):
        read(*[message("a", swipes=["a", "b"])] * 3)
    with pytest.raises(Invalid, match=r"More than 10,000 lines"):
        read_chat(b"{}\n" + b"5\n" * 20_000, "it")
    blank = b"\n" * 3_000_000
    assert read_chat(chat(message("a")) + blank + chat(message("b"), header=None), "it")[0].chapters[1].text == "b"


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"null", b"\xff\xfe", chat(), chat("[]", "{}"), chat({"mes": 4}), b'{"mes": "x', b"\x00" * 40]
)
def test_f44_a_chat_without_a_message_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="not one line of it is a message"):
        read_chat(data, "'it'")


def test_a_broken_byte_costs_its_line_only() -> None:
    data = chat(message("a")) + b'\n{"name": "Ada", "mes": "\xe9t\xe9"}\n' + chat(message("b"), header=None) + b"\0\0\0"
    book, notes = read_chat(data, "it")
    assert [chapter.text for chapter in book.chapters] == ["a"]
    assert "Left out, as it is no JSON (line 3)." in notes
    assert "Left out, as it is no JSON; the file may have been cut off there (line 4)." in notes


def test_f55_what_a_file_says_of_this_studio_is_data_at_most() -> None:
    own = {"title": ["x"], "attributes": {"chat": {"message": {"is_user": True}}, "swipe": 7}, "pov": 5, "made_here": 1}
    header = {**HEADER, "chat_metadata": {"marginalia": {"title": 3, "attributes": [], "author": "Eve\nMallory"}}}
    book, _ = read(message("a", extra={"marginalia": own}), header=header)
    (chapter,) = book.chapters
    assert (book.title, book.author) == ("Ada", "Eve Mallory")
    assert (chapter.title, chapter.pov) == ("", "Ada")
    assert chapter.attributes["chat"] == {
        "message": {"name": "Ada", "is_user": False, "is_system": False},
        "version": {"extra": {}},
    }
    assert "swipe" not in chapter.attributes


@settings(max_examples=40)
@given(st.binary(max_size=60), st.integers(0, 400))
def test_any_damage_gives_a_book_or_a_sentence(data: bytes, place: int) -> None:
    good = chat(message("It rained."), message("She came.", swipes=["She came.", "No."], swipe_id=0))
    try:
        book, _ = read_chat(good[:place] + data + good[place:], "it")
    except Invalid as error:
        assert error.message.endswith(".")
        return
    assert read_chat(write_chat(book).encode(), "it")[0].chapters == book.chapters
