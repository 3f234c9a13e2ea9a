import json
from collections.abc import Callable
from enum import Enum
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.bounds import Page, Slice, page_of, slice_of
from marginalia_tui.commands.render import CELL, ROWS, to_markdown, to_plain
from marginalia_tui.commands.results import HandleMark, PartHandle, Prose, Result, to_data, to_json
from marginalia_tui.domain.visible import visible


class Mood(Enum):
    CALM = "calm"


class Row(Result):
    part: PartHandle
    title: str
    words: int
    mood: Mood | None = None


class Rows(Page):
    thing = ("part", "parts")

    leaf: PartHandle | None = None
    others: list[PartHandle] = []
    deep: Row | None = None
    no_handle: str = "h"
    rows: list[Row]


class Passage(Slice):
    part: PartHandle


class Note(Result):
    note: Annotated[str, HandleMark("a")]
    text: Prose
    kept: bool = True

    def sentence(self) -> str:
        return "Noted."


def rows(count: int, offset: int = 0, limit: int = 50) -> Rows:
    every = [Row(part=f"uuid-{number}", title=f"T{number}", words=number * 1000) for number in range(count)]
    some, page = page_of(every, offset, limit)
    return Rows(rows=list(some), leaf="leaf", others=["x", "y"], **page)


def test_handles_are_named_wherever_they_stand() -> None:
    result = Rows(
        rows=[Row(part="a", title="a", words=1, mood=Mood.CALM)],
        leaf="b",
        others=["c", "d"],
        deep=Row(part="e", title="", words=0),
        **page_of([0], 0, 1)[1],
    )
    data = to_data(result, lambda letter, uuid: f"h:{letter}-{uuid}")
    assert data["rows"] == [{"part": "h:m-a", "title": "a", "words": 1, "mood": "calm"}]
    assert (data["leaf"], data["others"], data["noHandle"]) == ("h:m-b", ["h:m-c", "h:m-d"], "h")
    assert data["deep"]["part"] == "h:m-e"
    assert to_data(Note(note="n", text="t"), lambda letter, uuid: letter)["note"] == "a"


def test_json_is_camel_case_without_nothing_and_rows_come_last() -> None:
    text = to_json(rows(3, 0, 2))
    data = json.loads(text)
    assert list(data)[-1] == "rows"
    assert data["nextOffset"] == 2 and data["truncated"] is True and data["total"] == 3
    assert "deep" not in data and "mood" not in data["rows"][0]
    assert list(json.loads(to_json(Passage(part="p", **slice_of("abc", 0, 2)))))[0] == "part"


def test_letters_of_every_script_are_written_as_they_are() -> None:
    assert "\u5c71 caf\u00e9" in to_json(Note(note="n", text="\u5c71 caf\u00e9"))


@given(st.text(max_size=50), st.integers(0, 60), st.integers(1, 60))
def test_slices_join_to_the_text(text: str, offset: int, length: int) -> None:
    seen, here = "", 0
    while True:
        part = slice_of(text, here, length)
        seen += part["text"]
        assert part["total_length"] == len(text)
        if not part["truncated"]:
            break
        here = part["next_offset"]
    assert seen == text
    assert slice_of(text, offset, length)["text"] == text[offset : offset + length]


@given(st.integers(0, 40), st.integers(1, 20))
def test_pages_join_to_the_list(count: int, limit: int) -> None:
    seen: list[int] = []
    here = 0
    while True:
        some, page = page_of(range(count), here, limit)
        seen += some
        if not page["truncated"]:
            break
        here = page["next_offset"]
    assert seen == list(range(count))


def test_a_list_reads_as_a_sentence_and_a_table() -> None:
    assert to_plain(rows(3)).splitlines() == [
        "3 parts.",
        "",
        "leaf: leaf",
        "others: x, y",
        "no handle: h",
        "",
        "part    title  words",
        "uuid-0  T0         0",
        "uuid-1  T1     1,000",
        "uuid-2  T2     2,000",
    ]
    assert "Parts 1 to 2 of 3: offset 2 shows more." in to_plain(rows(3, 0, 2))
    assert "Parts 3 to 3 of 3." in to_plain(rows(3, 2, 2))
    assert "There are only 3 parts." in to_plain(rows(3, 7, 2))
    assert "0 parts." in to_plain(rows(0))
    assert "1 part." in to_plain(rows(1))


def test_markdown_of_a_list() -> None:
    text = to_markdown(rows(2))
    assert "| part | title | words |\n|---|---|--:|\n| uuid-0 | T0 | 0 |" in text


@pytest.mark.parametrize("write", [to_plain, to_markdown])
def test_prose_and_sentences_are_blocks(write: object) -> None:
    assert callable(write)
    assert write(Note(note="12345678-9", text="One *two*.\n\nThree.")) == (
        "Noted.\n\nnote: 12345678-9\nkept: yes\n\nOne *two*.\n\nThree."
        if write is to_plain
        else "Noted.\n\n- note: 12345678-9\n- kept: yes\n\nOne *two*.\n\nThree."
    )


class Placed(Result):
    part: PartHandle
    position: int | None = None


@pytest.mark.parametrize("write", [to_plain, to_markdown])
def test_a_person_is_shown_no_uuid_where_a_number_names_the_item(write: Callable[[Result], str]) -> None:
    assert "uuid-1" not in write(Placed(part="uuid-1", position=3))
    assert "uuid-1" in write(Placed(part="uuid-1"))


def test_titles_are_neither_markdown_nor_more_than_a_cell() -> None:
    page = page_of([0], 0, 1)[1]
    evil = Rows(rows=[Row(part="p", title="a|b\n`c` [x](y) <script> " + "z" * 200, words=1)], **page)
    table = to_markdown(evil).splitlines()[-1]
    assert "a\\|b \\`c\\` \\[x\\](y) \\<script\\>" in table
    assert table.count(" | ") == 2
    assert len(table) < CELL + 40


def test_a_list_has_a_bound() -> None:
    lines = to_plain(rows(1_000, 0, 1_000)).splitlines()
    assert len(lines) < ROWS + 12
    assert lines[-1].startswith("800 more")


def test_columns_stand_under_one_another_in_wide_scripts() -> None:
    page = page_of([0], 0, 1)[1]
    wide = [Row(part="p", title="\u5c71\u5ddd", words=1), Row(part="p", title="abcd", words=2)]
    lines = to_plain(Rows(rows=wide, **page)).splitlines()
    assert lines[-2].endswith("\u5c71\u5ddd       1") and lines[-1].endswith("abcd       2")


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert visible("a\x1b[2Jb\x07\x00\x7f\x9b\u202e\tc\nd\r\ne\rf") == (
        "a\u241b[2Jb\u2407\u2400\u2421\ufffd\ufffd c\nd\u240d\ne\u240df"
    )


@given(st.text(max_size=40))
def test_nothing_that_is_shown_can_steer_a_terminal(text: str) -> None:
    page = page_of([0], 0, 1)[1]
    for result in (
        Note(note=text, text=text),
        Rows(rows=[Row(part=text, title=text, words=1)], no_handle=text, **page),
    ):
        for shown in (to_plain(result), to_markdown(result)):
            assert not any(ord(char) < 0x20 and char not in "\t\n" for char in shown)
            assert not any(0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066" for char in shown)
