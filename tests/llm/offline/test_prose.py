import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.llm.offline.prose import HIDDEN, read_page
from tests.llm.offline.drafts import drafts


def seen(text: str) -> str:
    """The prose of a text, with what is hidden left out."""
    return read_page(text).mask.replace(HIDDEN, "").strip()


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("One line.", "One line."),
        ("Say `code` now.", "Say  now."),
        ("Say ``a ` b`` now.", "Say  now."),
        ("[word](http://a.b/c) here", "[word here"),
        ("See https://a.b/c?d=e now", "See  now"),
        ("Write to a.b@c.de now", "Write to  now"),
        ("A {{macro}} and [[link]] here", "A  and  here"),
        ("<b>bold</b> word", ""),
        ("A <b>bold</b> word", "A bold word"),
        ("> quoted words", "quoted words"),
        ("1. item of a list", "item of a list"),
        ("- item of a list", "item of a list"),
        ("# Heading\nprose", "prose"),
        ("Heading\n---\nprose", "prose"),
        ("a | b\n- | -", ""),
        ("An open ` tick", ""),
    ],
)
def test_what_is_prose(text: str, prose: str) -> None:
    assert seen(text) == prose


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a\n\nb", ["prose", "prose"]),
        ("```\ncode\n\nmore\n```\nprose", ["other", "prose"]),
        ("````\n```\nstill code\n````\nprose", ["other", "prose"]),
        ("> ```\n> code\nprose of a longer line", ["other"]),
        ("* * *", ["break"]),
        ("***\n\n\u2042", ["break", "break"]),
        ("a short line\nanother short line", ["verse"]),
        ("a line that is long enough to be a paragraph that was wrapped  \nby hand", ["verse"]),
        ("a line that is long enough to be a paragraph that was wrapped by its author\nby hand", ["prose"]),
        ("---\ntitle: x\n---\nprose", ["other", "prose"]),
        ("---\n\nprose", ["break", "prose"]),
        ("<pre>\n\ncode\n</pre>\nprose", ["other", "prose"]),
        ("- one\n- two", ["prose", "prose"]),
        ("prose\n\n    code", ["prose", "other"]),
        ("```\nnever closed", ["other"]),
        ("", []),
    ],
)
def test_the_kinds_of_blocks(text: str, kinds: list[str]) -> None:
    page = read_page(text)
    assert [block.kind for block in page.blocks] == kinds


def test_carriage_returns_do_not_hide_a_block() -> None:
    assert [block.kind for block in read_page("# A\r\n\r\nprose\r\n\r\n```\r\ncode\r\n```\r\n").blocks] == [
        "heading",
        "prose",
        "other",
    ]


@given(st.one_of(drafts, st.text(alphabet="ab `>#-*|<!\n~ \t[](){}\u201c", max_size=80)))
@settings(max_examples=200, deadline=None)
def test_the_mask_has_the_places_of_the_text(text: str) -> None:
    page = read_page(text)
    assert len(page.mask) == len(text)
    assert all(hidden in (sign, HIDDEN) for sign, hidden in zip(text, page.mask, strict=True))
    ends = [block.end for block in page.blocks]
    assert all(start >= end for start, end in zip([block.start for block in page.blocks][1:], ends, strict=False))
