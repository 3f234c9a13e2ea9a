import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import iter_graphemes

from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.text import crop, fit, is_plain, wrap

ANY = st.text(alphabet=st.characters(), max_size=200)
PROSE = st.text(
    alphabet=st.sampled_from("abc  \n-—’“”。，（）灯台守は海を한é\u0301\u200d\ufe0f👩🏽‍🚀❤ⅷ\x1b\t"), max_size=200
)


@given(ANY)
def test_visible_is_one_for_one_and_holds_no_control(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(
        unicodedata.category(sign) in ("Cc", "Cs") or sign in "\u202e\u2066" for sign in shown if sign != "\n"
    )
    assert "\n" not in visible_line(text)


def test_escape_is_a_sign() -> None:
    assert visible("\x1b[31mred\x07") == "␛[31mred␇"
    assert visible("\ud800") == "\ufffd"


@example(" a。", 2)
@given(PROSE, st.integers(2, 40))
def test_f50_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    shown = visible(text)
    lines = wrap(shown, width)
    place = 0
    for start, end in lines:
        assert place <= start <= end <= len(shown)
        assert not shown[place:start].strip(" \n"), "only spaces and line feeds may fall between lines"
        assert cell_len(shown[start:end]) <= width
        place = end
    assert not shown[place:].strip(" \n")


@given(PROSE, st.integers(2, 40))
def test_f50_no_cluster_is_cut(text: str, width: int) -> None:
    shown = visible(text)
    for paragraph_start, paragraph in _paragraphs(shown):
        borders = {paragraph_start}
        place = paragraph_start
        for cluster in iter_graphemes(paragraph):
            place += len(cluster)
            borders.add(place)
        for start, end in wrap(shown, width, paragraph_start, paragraph_start + len(paragraph)):
            assert start in borders
            assert end in borders or shown[end - 1 : end + 1].strip() == "" or shown[end] == " "


def _paragraphs(text: str) -> list[tuple[int, str]]:
    found, place = [], 0
    for paragraph in text.split("\n"):
        found.append((place, paragraph))
        place += len(paragraph) + 1
    return found


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("so—he said—no", 6, ["so—he", "said—", "no"]),
        ("well-known thing", 6, ["well-", "known", "thing"]),
        ("a -5 b", 3, ["a", "-5", "b"]),
        ("他走了，没有回头。", 8, ["他走了，", "没有回", "头。"]),
        ("「灯台守」", 6, ["「灯台", "守」"]),
        ("one\n\ntwo", 10, ["one", "", "two"]),
        ("", 10, [""]),
    ],
)
def test_where_lines_break(text: str, width: int, lines: list[str]) -> None:
    assert [text[a:b] for a, b in wrap(text, width)] == lines


@given(ANY, st.integers(0, 30), st.sampled_from(["left", "right", "center"]))
def test_fit_is_exact(text: str, width: int, align: str) -> None:
    assert cell_len(fit(text, width, align)) == width


@given(st.text(max_size=50), st.integers(0, 30))
def test_crop_is_short_enough(text: str, width: int) -> None:
    assert cell_len(crop(visible_line(text), width)) <= max(width, 0)


def test_plain_characters_take_one_cell() -> None:
    for code in range(0x20, 0x2600):
        if is_plain(chr(code)):
            assert cell_len(chr(code)) == 1, hex(code)
