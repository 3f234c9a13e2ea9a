"""Text to Markdown: read again it is the same text, and no backslash stands where none is needed."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from marginalia_tui.services.exchange.inline import Piece, collapse, join

READER = MarkdownIt("commonmark").enable("strikethrough")
TEXTS = st.text(st.sampled_from("*_ab .,—\u2060\u00a0(“`~\\<&!"), min_size=1, max_size=14)


def rendered(markdown: str) -> str:
    return str(READER.render(markdown))


def shown(markdown: str) -> str:
    """The text that a reader shows of one paragraph."""
    tokens = READER.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], markdown
    assert all(child.type in ("text", "text_special") for child in tokens[1].children or []), markdown
    return "".join(child.content for child in tokens[1].children or [])


@settings(max_examples=400)
@given(TEXTS)
@example("when—*There she blows!*\u2060—the")
@example("*a* *")
@example("**a*b**")
@example("__a_ b_")
def test_any_text_is_read_as_that_text(text: str) -> None:
    if text.strip(" \u00a0"):
        assert shown(join([Piece("text", text)])).strip() == collapse(text).strip()


@settings(max_examples=300)
@given(TEXTS, TEXTS, TEXTS, st.sampled_from(("em", "strong", "s")))
def test_a_mark_between_texts_marks_the_same_words(before: str, inside: str, after: str, mark: str) -> None:
    if not all(text.strip(" \u00a0") for text in (before, inside, after)):
        return
    pieces = [Piece("text", before), Piece("open", mark), Piece("text", inside), Piece("close", mark)]
    found = rendered(join([*pieces, Piece("text", after)]))
    whole = collapse(before + inside + after).strip()
    plain = found.replace(f"<{mark}>", "").replace(f"</{mark}>", "")
    plain = plain.replace("<p>", "").replace("</p>\n", "").replace("&lt;", "<").replace("&gt;", ">")
    assert plain.replace("&amp;", "&").strip() == whole
    assert found.count(f"<{mark}>") == found.count(f"</{mark}>") == 1


def test_what_pairs_with_nothing_keeps_no_backslash() -> None:
    for text in ("5 * 6", "a*b", "snake_case_name", "see note *", "when—*There she blows!*\u2060—the"):
        assert join([Piece("text", text)]) == text
    assert join([Piece("text", "*so*")]) == "\\*so\\*"
