"""Chapters by headings: which are headings, which level parts the book, what stays in the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.headings import scan
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, words_of
from marginalia_tui.services.exchange.markdown import read_markdown, read_part, write_markdown
from tests.support.books import prose


def titles(text: str, level: int | None = None) -> list[str]:
    return [chapter.title for chapter in read_markdown(text, level).chapters]


def heads(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in scan(text).headings]


def test_one_title_above_chapters_names_the_book() -> None:
    book = read_markdown("# The Ferry\n\n## Chapter 1\n\nText.\n\n## Chapter 2\n\nMore.\n")
    assert book.title == "The Ferry"
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("Chapter 1", "Text."),
        ("Chapter 2", "More."),
    ]


def test_text_before_the_first_heading_is_a_part() -> None:
    assert titles("For *my* mother.\n\n# One\n\nx\n\n# Two\n") == ["", "One", "Two"]
    book = read_markdown("# The Ferry\n\nby N. N.\n\n## One\n\nx\n\n## Two\n\ny")
    assert (book.title, book.chapters[0].text) == ("The Ferry", "by N. N.")


def test_lower_headings_stay_in_the_text() -> None:
    book = read_markdown("# One\n\na\n\n## Scene\n\nb\n\n# Two\n\nc")
    assert [chapter.text for chapter in book.chapters] == ["a\n\n## Scene\n\nb", "c"]


def test_the_level_can_be_chosen() -> None:
    text = "# One\n\na\n\n## Scene\n\nb\n\n# Two\n\nc"
    assert titles(text, 1) == ["One", "Two"]
    assert titles(text, 2) == ["One", "Scene", "Two"]
    for wrong in (0, 7, -1):
        with pytest.raises(Invalid, match="between 1 and 6"):
            read_markdown(text, wrong)


def test_chapters_below_parts_are_found_by_what_they_are_called() -> None:
    text = "# Part One\n\n## Chapter 1\n\na\n\n## Chapter 2\n\nb\n\n# Part Two\n\n## Chapter 3\n\n### Scene\n\nc"
    assert titles(text) == ["Part One", "Chapter 1", "Chapter 2", "Part Two", "Chapter 3"]


def test_very_long_parts_are_parted_deeper() -> None:
    long = "\n\n".join(
        f"# Book {name}\n\n" + "\n\n".join(f"## Day {n}\n\n{prose(60)}" for n in range(8)) for name in "AB"
    )
    assert len(titles(long)) == 18
    short = "\n\n".join(
        f"# Book {name}\n\n" + "\n\n".join(f"## Day {n}\n\n{prose(2)}" for n in range(8)) for name in "AB"
    )
    assert titles(short) == ["Book A", "Book B"]


def test_the_level_of_a_heading_comes_back() -> None:
    text = "# Part One\n\n## Chapter 1\n\na\n\n## Chapter 2\n\nb\n"
    written = write_markdown(read_markdown(text))
    assert "# Part One" in written
    assert "\n## Chapter 2" in written
    assert read_markdown(written) == read_markdown(text)


def test_headings_keep_their_marks() -> None:
    assert titles("# The *Ferry* & `x` ##\n\na\n\n# Two \\# #\n\n# C#\n") == ["The *Ferry* & `x`", "Two \\#", "C#"]


def test_setext_headings_and_what_only_looks_like_one() -> None:
    assert heads("One\n===\n\ntext\n\nTwo\n---\n") == [(1, "One"), (2, "Two")]
    assert heads("A paragraph that\ngoes on.\n---\n\nmore") == []
    assert heads("a\n\n---\n\nb\n\n- item\n---\n\n> quote\n---\n\n| a |\n|---|\n") == []
    assert heads("x" * 400 + "\n---\n") == []


def test_headings_inside_code_comments_and_lists_are_none() -> None:
    assert heads("```\n# no\n```\n# yes") == [(1, "yes")]
    assert heads("~~~ x\n# no\n```\n# no\n~~~\n# yes") == [(1, "yes")]
    assert heads("````\n```\n# no\n````\n# yes") == [(1, "yes")]
    assert heads("<!-- a\n# no\n-->\n# yes") == [(1, "yes")]
    assert heads("    # code\n\n#no\n\n####### seven\n\n\\# no\n\n# yes") == [(1, "yes")]
    assert heads("- a\n\n  # in the item\n\n- ```\n  # no\n  ```\n\n# yes") == [(1, "yes")]
    assert heads("> # quoted\n\n# yes") == [(1, "yes")]


def test_what_is_never_closed_hides_nothing() -> None:
    assert heads("# One\n\n```\n\n# Two") == [(1, "One"), (1, "Two")]
    assert heads("# One\n\n<!-- oops\n\n# Two") == [(1, "One"), (1, "Two")]


def test_an_open_fence_is_closed_before_the_next_part() -> None:
    book = Manuscript(title="T", chapters=(Chapter(title="One", text="```\ncode"), Chapter(title="Two", text="x")))
    written = write_markdown(book)
    assert "```\ncode\n```\n\n# Two" in written
    assert titles(written) == ["One", "Two"]


_LINE = st.sampled_from(
    ("# One", "## Two *x*", "", "", "text", "```", "~~~~", "```python", "````", "    # code", "<!-- a", "b -->", "# #")
)


@given(st.lists(_LINE, max_size=25))
def test_headings_are_those_of_commonmark_where_everything_is_closed(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = scan(text)
    if found.closer:
        return
    tokens = MarkdownIt("commonmark").parse(text)
    expected = [
        (int(token.tag[1]), tokens[place + 1].content.strip())
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.markup.startswith("#")
    ]
    assert heads(text) == [(level, title) for level, title in expected if title]


def test_front_matter_is_read_in_its_usual_forms() -> None:
    book = read_markdown(
        "---\ntitle: 'It''s late'\nauthor:\n  - Ada B.\n  - \"C. \\u0044.\"\nlang: en-GB # remark\n"
        "description: >\n  Two lines\n  of it.\n---\n# One\n\nx"
    )
    assert (book.title, book.author, book.language) == ("It's late", "Ada B., C. D.", "en-GB")
    assert book.description == "Two lines of it."
    assert read_markdown("---\nauthors: [Ada, 'B, C']\n---\nx").author == "Ada, B, C"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    for text in (
        "---\n\nHe left: it rained.\n\n---\n\nx",
        "---\nDialogue here\n---\nx",
        "---\n\n---\n",
        "--- \nkey: v\n",
    ):
        assert words_of(read_markdown(text)) == words_of(Manuscript(title="", chapters=(Chapter(text=text),)))


def test_a_book_without_headings_is_parted_at_a_length() -> None:
    text = prose(400)
    book = read_markdown(text)
    assert len(book.chapters) > 3
    assert "\n\n".join(chapter.text for chapter in book.chapters) == text


def test_marks_part_a_book_exactly() -> None:
    chapters = (Chapter(text="a"), Chapter(title="T", text="b"), Chapter(text="# inner\n\nc"), Chapter(text=""))
    written = write_markdown(Manuscript(title="x", chapters=chapters))
    assert written.count("<!-- part") == 4
    assert read_markdown(written).chapters == chapters
    assert titles("```\n<!-- part -->\n```\n\n# One\n") == ["", "One"]


def test_a_file_of_its_own_begins_with_its_title() -> None:
    assert read_part("\n\n# Title #\n\n## Scene\n\nx\n") == Chapter(title="Title", text="## Scene\n\nx")
    assert read_part("x\n\n# Later\n") == Chapter(text="x\n\n# Later")
    assert read_part("---\ntitle: From above\nmood: grey\n---\nx").attributes == {"front_matter": "mood: grey"}


def test_five_thousand_headings_and_what_would_take_the_square_of_the_time() -> None:
    cases = {
        "headings": "".join(f"# Heading {number}\n\ntext\n\n---\n\n" for number in range(5000)),
        "fences": "```x\n" * 100_000,
        "growing fences": "".join("`" * (3 + number % 300) + "\n" for number in range(6000)),
        "comments": "<!--\n" * 100_000,
        "lists": "- " * 300_000,
        "front matter": "---\na: " + "- " * 300_000 + "\n---\n",
        "setext": "a\n---\n\n" * 50_000,
        "spaces": ("x" + " " * 2000 + "\n") * 500,
        "one line": "x" * 2_000_000,
    }
    for name, text in cases.items():
        began = time.process_time()
        book = read_markdown(text)
        assert time.process_time() - began < 2, name
        assert name != "headings" or len(book.chapters) == 5000
    book = read_markdown(cases["headings"])
    began = time.process_time()
    assert read_markdown(write_markdown(book)) == book
    assert time.process_time() - began < 2


def test_a_title_with_controls_or_markup_survives_as_text() -> None:
    title = "A <b>bold</b> [red]title[/red] \u241b[31m & `more` # 1 #"
    book = Manuscript(title=title, author="--- x: y", chapters=(Chapter(title=title, text="x"),))
    read = read_markdown(write_markdown(book))
    assert (read.title, read.author, read.chapters[0].title) == (title, "--- x: y", title)


def test_hard_and_wide_spaces_of_titles_are_kept() -> None:
    book = read_markdown("# Dr.\xa0Jekyll  was\t here\n\na\n\n# \u7b2c\u4e00\u56de\u3000\u5bb4\n\nb\n")
    assert [each.title for each in book.chapters] == ["Dr.\xa0Jekyll was here", "\u7b2c\u4e00\u56de\u3000\u5bb4"]
    assert read_markdown(write_markdown(book)).chapters == book.chapters
