"""Chapter lines are recognised, and what is none is left alone."""

import time

import pytest

from marginalia_tui.services.exchange.chapterlines import chapter_line
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, words_of
from marginalia_tui.services.exchange.plaintext import PIECE, read_plain_text, split_at_length, write_plain_text
from tests.support.books import prose


def titles(text: str) -> list[str]:
    return [chapter.title for chapter in read_plain_text(text).chapters]


@pytest.mark.parametrize(
    "line",
    [
        "Chapter IV", "CHAPTER 12. Title", "Chapter Twenty-One: The Inn", "chapter one", "Prologue", "EPILOGUE.",
        "Letter 3", "Part the First", "Book II", "Act I", "Chapter 7 The Long Way",
        "第十二回", "第3章", "第三章 雨",
       
        "第一回　宴桃园豪杰三结义",
        "楔子", "序章", "番外 雨夜", "プロローグ", "제3장", "Kapitel 4", "Chapitre premier:",
        "Capítulo 9", "Глава 2", "XII", "XII.", "I: Loomings", "IV. The Inn", "12", "12.", "Introduction: Why",
    ],
)  # fmt: skip
def test_chapter_lines(line: str) -> None:
    assert chapter_line(line) is not None


@pytest.mark.parametrize(
    "line",
    [
        "Chapter 3 was the best that she had written.", "The chapter ended.", "Part of it was lost.", "I", "MIX",
        "第三天他来了。",
        "第一回他说：“不。”", "Introductions were made.", "1912 was wet.", "Act now!", "IIII", "",
        "Letter writing", "第十章他走了，", "Booking", "In part 2 we see",
    ],
)  # fmt: skip
def test_lines_of_prose(line: str) -> None:
    found = chapter_line(line)
    assert found is None or (line in ("I", "MIX") and found.kind == "roman")


def test_chapters_with_what_stands_before_them() -> None:
    text = "The Ferry\n\nby N. N.\n\nPROLOGUE\n\nIt rained.\n\nCHAPTER I.\nThe Pier\n\nShe came.\n"
    text += "\nCHAPTER II.\n\nHe went.\n"
    book = read_plain_text(text)
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("", "The Ferry\n\nby N. N."),
        ("PROLOGUE", "It rained."),
        ("CHAPTER I. The Pier", "She came."),
        ("CHAPTER II.", "He went."),
    ]


def test_a_chinese_novel_needs_no_blank_lines() -> None:
    text = "第一章 船\n　　她来了。\n　　他走了。\n第二章 雨\n　　第三天下雨。\n"
    assert titles(text) == ["第一章 船", "第二章 雨"]
    assert read_plain_text(text).chapters[0].text == "　　她来了。\n\n　　他走了。"


def test_bare_numerals_count_when_they_count_up() -> None:
    assert titles(f"I\n\n{prose(2)}\n\nII\n\n{prose(2)}\n\nIII\n\n{prose(2)}") == ["I", "II", "III"]
    assert titles(f"PART ONE\n\nI\n\n{prose(2)}\n\nII\n\nx\n\nPART TWO\n\nI\n\ny\n\nII\n\nz") == [
        "PART ONE", "I", "II", "PART TWO", "I", "II",
    ]  # fmt: skip
    assert titles(f"{prose(2)}\n\nMIX\n\n{prose(2)}\n\nI\n\n{prose(2)}") == [""]


def test_numbers_of_pages_are_no_chapters() -> None:
    pages = "\n\n".join(f"{prose(4)}\n\n{number}" for number in range(1, 30))
    assert set(titles(pages)) == {""}
    chapters = "\n\n".join(f"{number}\n\n{prose(40)}" for number in range(1, 6))
    assert titles(chapters) == ["1", "2", "3", "4", "5"]


def test_a_table_of_contents_is_no_row_of_empty_chapters() -> None:
    contents = "\n".join(f"Chapter {number}" for number in range(1, 5))
    text = f"CONTENTS\n\n{contents}\n\n" + "\n\n".join(f"Chapter {number}\n\n{prose(1)}" for number in range(1, 5))
    assert titles(text) == ["", "Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"]
    assert words_of(read_plain_text(text)) == words_of(Manuscript(title="", chapters=(Chapter(text=text),)))


def test_a_single_chapter_line_in_the_midst_parts_nothing() -> None:
    assert titles(f"{prose(2)}\n\nChapter 3\n\n{prose(2)}") == [""]


def test_without_chapters_it_is_parted_on_the_borders_of_paragraphs() -> None:
    text = prose(500)
    pieces = [chapter.text for chapter in read_plain_text(text).chapters]
    assert "\n\n".join(pieces) == text
    assert all(PIECE * 0.5 <= len(piece) <= PIECE * 2 for piece in pieces)


def test_a_text_without_paragraphs_is_parted_between_sentences() -> None:
    text = "It rained all day. " * 3000
    pieces = split_at_length(text)
    assert all(piece.endswith("day.") for piece in pieces)
    assert " ".join(pieces) == text.strip()
    assert "".join(split_at_length("雨下了一天。" * 9000)) == "雨下了一天。" * 9000
    assert "".join(split_at_length("x" * 50_000)) == "x" * 50_000
    assert split_at_length(" \n ") == []


def test_paragraphs_that_are_shown_by_an_indent_or_by_lines_are_kept_apart() -> None:
    wrapped = "    The ferry was late and\nnobody said so.\n    It rained.\n    She came\nback.\n" * 3
    assert read_plain_text(wrapped).chapters[0].text.split("\n\n")[:2] == [
        "The ferry was late and\nnobody said so.",
        "It rained.",
    ]
    long = "\n".join("The ferry was late, and nobody on the pier said so. " * 4 for _ in range(6))
    assert read_plain_text(long).chapters[0].text.count("\n\n") == 5


def test_our_own_export_is_read_back_exactly() -> None:
    chapters = (
        Chapter(text="For Ada."),
        Chapter(title="The Pier", text="I\n\nII\n\nChapter 9\n\nx"),
        Chapter(title="第一回 船", text="    indented\n\n* * *\n\nend"),
    )
    book = Manuscript(title="渡船 The Ferry", author="N. N.", chapters=chapters)
    written = write_plain_text(book)
    assert written.startswith("渡船 The Ferry\n==============\nN. N.\n\n")
    assert read_plain_text(written) == book


def test_a_scene_break_under_a_line_is_no_title() -> None:
    assert titles("He left.\n---\n\nShe came.\n-----\n\nIt rained.") == [""]


def test_time_grows_with_the_length_only() -> None:
    cases = {
        "numerals": "I\n\n" * 100_000,
        "chapters": "Chapter 1\n\n" * 60_000,
        "spaces": ("x" + " " * 3000 + "\n") * 300,
        "blank": "\n \n" * 300_000 + "x",
        "one line": "x" * 2_000_000,
        "quotes": ".\u201d\u201d" * 300_000,
        "rules": "---\n" * 200_000,
    }
    for name, text in cases.items():
        began = time.process_time()
        read_plain_text(text)
        assert time.process_time() - began < 3, name
