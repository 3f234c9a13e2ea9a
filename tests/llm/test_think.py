import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.llm.think import ThinkFilter, late_close


def part(text: str, size: int = 3, *, stopped: bool = True) -> tuple[str, str]:
    filter_ = ThinkFilter()
    pieces = [piece for at in range(0, len(text), size) for piece in filter_.feed(text[at : at + size])]
    pieces += filter_.close(stopped=stopped)
    reasoning = "".join(what for kind, what in pieces if kind == "reasoning")
    return reasoning, "".join(what for kind, what in pieces if kind == "text")


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_f37_balanced_tags_at_the_start(size: int) -> None:
    assert part("\n <think>\nhm < 3</think>\n\nThe answer <think> stays.", size) == (
        "\nhm < 3",
        "The answer <think> stays.",
    )


@pytest.mark.parametrize("text", ["", "<", "<thinker> said", "plain", "  two", "Say <think>x</think>", "<think"])
@pytest.mark.parametrize("size", [1, 100])
def test_f37_anything_else_is_text_to_the_last_sign(text: str, size: int) -> None:
    assert part(text, size) == ("", text)


def test_f37_an_open_tag_that_the_model_stopped_in_is_its_text() -> None:
    text = "<think> is a tag of the manuscript"
    assert part(text)[1] == text


def test_f37_an_open_tag_that_was_cut_stays_thinking() -> None:
    assert part("<think>so far</thi", stopped=False) == ("so far</thi", "")


def test_f37_a_server_that_parts_thinking_itself_leaves_tags_alone() -> None:
    filter_ = ThinkFilter()
    assert filter_.feed("<thi") == []
    assert filter_.plain() == [("text", "<thi")]
    assert filter_.feed("nk>x") == [("text", "nk>x")]


def test_f37_a_closing_tag_alone_parts_the_whole() -> None:
    assert late_close("I weigh it.\n</think>\n\nYes.") == ("I weigh it.", "Yes.")


@pytest.mark.parametrize(
    "text", ["plain", "He wrote </think> on it.", "a\n</think>\nb\n</think>\nc", "<think>a\n</think>\nb"]
)
def test_f37_a_closing_tag_in_prose_is_left_alone(text: str) -> None:
    assert late_close(text) is None


@given(st.text(alphabet="<>/think \n", max_size=40), st.sampled_from(["", "<think>"]), st.integers(1, 9))
def test_the_filter_is_the_plain_rule(rest: str, start: str, size: int) -> None:
    text = start + rest
    if found := re.match(r"\s*<think>(.*?)</think>\s*(.*)", text, re.DOTALL):
        expected = (found[1], found[2])
    elif found := re.match(r"\s*<think>(.*)", text, re.DOTALL):
        expected = (found[1], "")
    else:
        expected = ("", text)
    assert part(text, size, stopped=False) == expected
