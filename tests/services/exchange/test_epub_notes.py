"""Footnotes of EPUBs: those that say so, those of habit, and links that are none."""

import time
from pathlib import Path

import pypandoc
import pytest

from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.epub_writer import write_epub
from marginalia_tui.services.exchange.footnotes import Note, mark, place, with_notes
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, words_of
from tests.support.books import a_manuscript, epub


def parts(tmp_path: Path, bodies: dict[str, str]) -> list[tuple[str, str]]:
    path = tmp_path / "book.epub"
    path.write_bytes(epub(bodies))
    return [(chapter.title, chapter.text) for chapter in read_epub(path)[0].chapters]


def text(tmp_path: Path, body: str) -> str:
    return "\n\n".join(text for _, text in parts(tmp_path, {"a.xhtml": body}))


@pytest.mark.parametrize(
    "body",
    [
        # EPUB 3.
        '<p>x<a epub:type="noteref" href="#n1">1</a></p><aside epub:type="footnote" id="n1"><p>N <i>o</i>.</p></aside>',
        # ARIA alone.
        '<p>x<a role="doc-noteref" href="#n">[1]</a></p>'
        '<aside role="doc-footnote" id="n"><p>[1] N <i>o</i>.</p></aside>',
        # A list at the end, with the way back after the text.
        '<p>x<a href="#fn1" class="footnote-ref" id="r1"><sup>1</sup></a></p><div class="footnotes"><hr/><ol>'
        '<li id="fn1"><p>N <i>o</i>. <a href="#r1">↩</a></p></li></ol></div>',
        # The same with types.
        '<p>x<a epub:type="noteref" id="r1" href="#fn1">1</a></p><section epub:type="endnotes"><hr/><ol><li'
        ' id="fn1" epub:type="endnote"><p>N <i>o</i>.<a epub:type="backlink" href="#r1">↩</a></p></li></ol></section>',
        # Anchors with names beside bracketed numbers.
        '<p>x<a name="FNanchor_1"></a><a href="#Footnote_1" class="fnanchor">[1]</a></p><div class="footnote"><p>'
        '<a name="Footnote_1"></a><a href="#FNanchor_1"><span class="label">[1]</span></a> N <i>o</i>.</p></div>',
        # A paragraph that begins with its number, which leads back.
        '<p>x<sup><a id="r1" href="#n1">1</a></sup></p><p id="n1"><a href="#r1">1</a>. N <i>o</i>.</p>',
        # Raised, and nothing leads back.
        '<p>x<sup><a href="#fn">1</a></sup></p><p><sup id="fn">1</sup> N <i>o</i>.</p>',
    ],
)
def test_a_footnote_is_one_however_it_is_written(tmp_path: Path, body: str) -> None:
    assert text(tmp_path, body) == "x[^1]\n\n[^1]: N *o*."


def test_signs_are_numbered_and_letters_kept(tmp_path: Path) -> None:
    body = '<p>x<sup><a href="#n1">*</a></sup> y<sup><a href="#n2">†</a></sup> z<sup><a href="#n3">a</a></sup></p>'
    body += '<p id="n1">* One</p><p id="n2">† Two</p><p id="n3">a Three</p>'
    assert text(tmp_path, body) == "x[^1] y[^2] z[^a]\n\n[^1]: One\n\n[^2]: Two\n\n[^a]: Three"


def test_notes_of_several_paragraphs_stay_whole(tmp_path: Path) -> None:
    body = '<p>x<a epub:type="noteref" href="#n">1</a></p>'
    body += '<aside epub:type="footnote" id="n"><p>a</p><p>b</p></aside><p>y</p>'
    assert text(tmp_path, body) == "x[^1]\n\n[^1]: a\n\n    b\n\ny"


def test_notes_on_a_page_of_their_own_go_to_the_parts_that_call_them(tmp_path: Path) -> None:
    def chapter(number: int) -> str:
        return (
            f'<h1>Chapter {number}</h1><p>x<sup><a id="r{number}" href="notes.xhtml#n{number}1">1</a></sup> '
            f'y<sup><a id="s{number}" href="notes.xhtml#n{number}2">2</a></sup></p>'
        )

    notes = "<h1>Notes</h1>" + "".join(
        f'<p id="n{each}{number}"><a href="c{each}.xhtml#{letter}{each}">{number}</a>. of {each} {number}</p>'
        for each in (1, 2)
        for number, letter in ((1, "r"), (2, "s"))
    )
    found = parts(tmp_path, {"c1.xhtml": chapter(1), "c2.xhtml": chapter(2), "notes.xhtml": notes})
    assert found == [
        (f"Chapter {number}", f"x[^1] y[^2]\n\n[^1]: of {number} 1\n\n[^2]: of {number} 2") for number in (1, 2)
    ]


def test_a_page_of_notes_that_holds_more_stays(tmp_path: Path) -> None:
    notes = '<h1>Notes</h1><p>On the text.</p><p id="n"><a href="a.xhtml#r">1</a> One</p>'
    found = parts(tmp_path, {"a.xhtml": '<h1>A</h1><p>x<a id="r" href="b.xhtml#n">1</a></p>', "b.xhtml": notes})
    assert found == [("A", "x[^1]\n\n[^1]: One"), ("Notes", "On the text.")]


def test_the_same_number_twice_in_one_part_is_two_labels(tmp_path: Path) -> None:
    body = "".join(
        f'<p>x<sup><a id="r{each}" href="#n{each}">1</a></sup></p><p id="n{each}"><a href="#r{each}">1</a> {each}</p>'
        for each in ("one", "two")
    )
    assert text(tmp_path, body) == "x[^1]\n\n[^1]: one\n\nx[^2]\n\n[^2]: two"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # A table of contents in the text that its chapters lead back to.
        ('<p id="t1"><a href="#c1">1</a> The Inn</p><p id="c1"><a href="#t1">1</a></p><p>x</p>', "1 The Inn\n\n1\n\nx"),
        ('<p>Part <a id="t1" href="#c1">1</a></p><h2 id="c1"><a href="#t1">1</a></h2><p>x</p>', "Part 1\n\n## 1\n\nx"),
        ('<p>See <a href="#b">2</a></p><div id="b"><h2>Two</h2><p>2 x</p></div>', "See 2\n\n## Two\n\n2 x"),
        # A reference to a passage.
        ('<p>as <a href="#p">above</a></p><p id="p">above all</p>', "as above\n\nabove all"),
        ('<p>on page <a href="#p">7</a></p><p id="p">Something else</p>', "on page 7\n\nSomething else"),
        ('<p>x<sup>2</sup> and <sup><a href="#gone">3</a></sup></p>', "x<sup>2</sup> and <sup>3</sup>"),
        # Items of a list that is no list of notes.
        ('<p>x<sup><a href="#n">1</a></sup></p><ol><li id="n">1 a</li><li>b</li></ol>',
         "x<sup>1</sup>\n\n1. 1 a\n2. b"),
        ('<p>x<sup><a href="http://a.example/#n">1</a></sup></p><p id="n">1 a</p>',
         "x<sup>[1](http://a.example/#n)</sup>\n\n1 a"),
    ],
)  # fmt: skip
def test_a_link_that_is_no_note_stays_what_it_is(tmp_path: Path, body: str, expected: str) -> None:
    assert text(tmp_path, f"<p>begin</p>{body}") == f"begin\n\n{expected}"


def test_notes_in_quotes_lists_and_tables_lose_nothing(tmp_path: Path) -> None:
    note = '<aside epub:type="footnote" id="n{0}"><p>a{0}</p><p>b{0}</p></aside>'
    calls = "".join(f'<a epub:type="noteref" href="#n{number}">{number}</a>' for number in (1, 2, 3))
    body = f"<p>x{calls}</p><blockquote><p>q</p>{note.format(1)}</blockquote><ul><li><p>l</p>{note.format(2)}</li></ul>"
    body += f"<table><tr><td>t</td><td>{note.format(3)}</td></tr></table>"
    assert text(tmp_path, body) == (
        "x[^1][^2][^3]\n\n> q\n>\n> [^1]: a1\n>\n>     b1\n\n- l\n\n  [^2]: a2\n\n      b2\n\n"
        "| t |  |\n| --- | --- |\n\n[^3]: a3\n\n    b3"
    )


PANDOC = (
    "# One\n\nIt rained[^1] all *day*[^b].\n\n[^1]: A *note*.\n\n    More.\n\n[^b]: Two.\n\n"
    "# Two\n\nShort[^1b].\n\n[^1b]: Three.\n"
)


@pytest.mark.parametrize("version", ["epub2", "epub3"])
def test_the_footnotes_of_pandoc(tmp_path: Path, version: str) -> None:
    path = tmp_path / "book.epub"
    pypandoc.convert_text(PANDOC, version, format="markdown", outputfile=str(path), extra_args=["--metadata=title:T"])
    assert [(chapter.title, chapter.text) for chapter in read_epub(path)[0].chapters] == [
        ("One", "It rained[^1] all *day*[^2].\n\n[^1]: A *note*.\n\n    More.\n\n[^2]: Two."),
        ("Two", "Short[^1].\n\n[^1]: Three."),
    ]


def test_our_own_notes_keep_their_labels_and_places(tmp_path: Path) -> None:
    book = a_manuscript(
        "one[^1] two[^ferry] three[^far]\n\n[^ferry]: here\n\nmore[^ferry]\n\n[^1]: first",
        "again[^1]\n\n[^1]: second\n\n[^far]: there\n\n[^lonely]: nobody calls",
    )
    path = tmp_path / "book.epub"
    path.write_bytes(write_epub(book))
    again, notes = read_epub(path)
    assert again.chapters == book.chapters
    assert notes == ()


def test_notes_are_gathered_only_where_it_is_asked_for() -> None:
    chapters = (
        Chapter(title="A", text=f"a{mark('n')} b{mark('gone')}"),
        Chapter(title="B", text=f"{place('n')}\n\n{place('m')}"),
        Chapter(title="C", text=f"c{mark('n')}{mark('m')}"),
    )
    notes = {"n": Note(f"sees{mark('m')}", "x"), "m": Note("m")}
    kept = with_notes(chapters, notes)
    assert [each.text for each in kept] == ["a[^x] b", "[^x]: sees[^2]\n\n[^2]: m", "c[^x][^2]"] or kept[
        0
    ].text == "a[^x] b"
    gathered = with_notes(chapters, notes, gather=True)
    assert [each.text for each in gathered] == [
        "a[^x] b\n\n[^x]: sees[^2]\n\n[^2]: m",
        "",
        "c[^x][^2]\n\n[^x]: sees[^2]\n\n[^2]: m",
    ]
    assert not any("\0" in each.text for each in (*kept, *gathered))


def test_time_grows_with_the_length_only(tmp_path: Path) -> None:
    count = 3_000
    bodies = {
        "calls of one": "<p>x" + '<sup><a href="#n">1</a></sup>' * count + '</p><p id="n">1 a</p>',
        "many": "<p>x" + "".join(f'<a id="r{n}" href="#n{n}">{n}</a>' for n in range(count)) + "</p>"
        + "".join(f'<p id="n{n}"><a href="#r{n}">{n}</a> a</p>' for n in range(count)),
        "one large block": "<p>x" + "".join(f'<sup><a href="#n{n}">1</a></sup>' for n in range(count)) + "</p><p>"
        + "".join(f'<a id="n{n}"/>1 a ' for n in range(count)) + "</p>",
        "typed": "".join(f'<aside epub:type="footnote" id="n{n}">a</aside>' for n in range(count)),
    }  # fmt: skip
    for name, body in bodies.items():
        began = time.process_time()
        text(tmp_path, body)
        assert time.process_time() - began < 3, name


def test_words_are_kept_when_notes_move(tmp_path: Path) -> None:
    bodies = {
        "a.xhtml": '<h1>A</h1><p>one<sup><a id="r" href="b.xhtml#n">1</a></sup> two</p>',
        "b.xhtml": '<h1>B</h1><p>three</p><p id="n"><a href="a.xhtml#r">1</a> four</p><p>five</p>',
    }
    path = tmp_path / "book.epub"
    path.write_bytes(epub(bodies))
    book, _ = read_epub(path)
    assert sorted(words_of(book)) == sorted(["A", "one", "1", "two", "1", "four", "B", "three", "five"])
    path.write_bytes(write_epub(Manuscript(title=book.title, chapters=book.chapters)))
    assert read_epub(path)[0].chapters == book.chapters
