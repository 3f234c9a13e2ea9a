"""DOCX of other programs: what is a part, what a page holds, what is told."""

import io
import zipfile
from pathlib import Path

import docx as python_docx
import pypandoc
import pytest
from docx.enum.text import WD_BREAK

from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.manuscript import Manuscript
from tests.support.books import prose, zipped
from tests.support.documents import HEADINGS, R, W, docx, field, levels, p, r, relations, style


def read(tmp_path: Path, data: bytes, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    path = tmp_path / "book.docx"
    path.write_bytes(data)
    return read_docx(path, level)


def text(tmp_path: Path, body: str, *, styles: str = "", numbering: str = "") -> str:
    """The text of a document without headings."""
    book, _ = read(tmp_path, docx(body, styles=styles, numbering=numbering))
    return "\n\n".join(chapter.text for chapter in book.chapters)


def parts(book: Manuscript) -> list[tuple[str, str]]:
    return [(chapter.title, chapter.text) for chapter in book.chapters]


PANDOC = """---
title: The Ferry
subtitle: A tale
author: [Ada B., C. D.]
lang: fr
---

# Part One

## Chapter 1

It *rained* **all** day[^1], and ~~no~~ `so`. He*llo*.\\
Another line.

* * *

> A quote
>
> Second

- a
- b

    more of b

    1. x
    2. y
- c[^ferry]

| a | b |
|---|---|
| c | *d* |

```
code  here
    tab
```

# Part Two

## Chapter 2

Text [link](https://example.org/x) and 5 * 3.[^2] H~2~O

[^1]: A *note*.

    Second paragraph.

[^2]: Two
[^ferry]: The ferry.
"""


def test_a_book_of_pandoc(tmp_path: Path) -> None:
    path = tmp_path / "book.docx"
    pypandoc.convert_text(PANDOC, "docx", format="markdown", outputfile=str(path))
    imported = read_manuscript(path)
    book = imported.manuscript
    assert imported.format == "docx"
    assert (book.title, book.author, book.language) == ("The Ferry", "Ada B., C. D.", "fr")
    assert book.attributes == {"subtitle": "A tale"}
    assert imported.notes == ()
    assert [chapter.title for chapter in book.chapters] == ["Part One", "Chapter 1", "Part Two", "Chapter 2"]
    assert book.chapters[1].text == (
        "It *rained* **all** day[^1], and ~~no~~ `so`. He*llo*.\\\nAnother line.\n\n* * *\n\n> A quote\n>\n> Second\n\n"
        "- a\n- b\n\n  more of b\n  1. x\n  2. y\n- c[^2]\n\n| a | b |\n| --- | --- |\n| c | *d* |\n\n"
        "```\ncode  here\n    tab\n```\n\n[^1]: A *note*.\n\n    Second paragraph.\n\n[^2]: The ferry."
    )
    assert book.chapters[3].text == ("Text [link](https://example.org/x) and 5 * 3.[^1] H<sub>2</sub>O\n\n[^1]: Two")


def test_a_book_of_python_docx(tmp_path: Path) -> None:
    document = python_docx.Document()
    document.core_properties.title = "From the outside"
    document.core_properties.author = "N. N."
    for number in (1, 2):
        document.add_heading(f"Chapter {number}", 1)
        line = document.add_paragraph("It ")
        line.add_run("rained").italic = True
        line.add_run(" all day.").add_break(WD_BREAK.LINE)
        document.add_paragraph("first", style="List Number")
        document.add_paragraph("a", style="List Bullet")
        document.add_paragraph("Said.", style="Intense Quote")
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    saved = io.BytesIO()
    document.save(saved)
    book, _ = read(tmp_path, saved.getvalue())
    assert (book.title, book.author) == ("From the outside", "N. N.")
    assert parts(book) == [
        ("Chapter 1", "It *rained* all day.\n\n1. first\n- a\n\n> Said."),
        ("Chapter 2", "It *rained* all day.\n\n2. first\n- a\n\n> Said."),
    ]


def test_headings_are_known_by_name_by_outline_and_by_what_they_inherit(tmp_path: Path) -> None:
    styles = HEADINGS + style("Own", "My chapters", '<w:basedOn w:val="H2"/>')
    styles += style("Drawn", "Big", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>') + style(
        "Loop", "x", '<w:basedOn w:val="Loop"/>'
    )
    body = p("One", style="H2") + p("a") + p("Two", style="Own") + p("b", style="Loop") + p("Three", style="Drawn")
    body += p("c", style="Missing") + p("Four", more='<w:outlineLvl w:val="1"/>') + p("d")
    book, _ = read(tmp_path, docx(body, styles=styles))
    assert parts(book) == [("One", "a"), ("Two", "b"), ("Three", "c"), ("Four", "d")]


def test_the_level_of_the_headings_that_part_a_book_can_be_chosen(tmp_path: Path) -> None:
    scenes = p("Scene", style="H3") + p("x") + p("Scene", style="H3") + p("y")
    body = p("Title", style="T") + p("Part", style="H1") + p("I", style="H2") + scenes + p("II", style="H2") + scenes
    data = docx(body, styles=HEADINGS)
    assert [title for title, _ in parts(read(tmp_path, data, 1)[0])] == ["Part"]
    assert [title for title, _ in parts(read(tmp_path, data, 2)[0])] == ["Part", "I", "II"]
    book = read(tmp_path, data, 3)[0]
    assert [chapter.title for chapter in book.chapters] == ["Part", "I", "Scene", "Scene", "II", "Scene", "Scene"]
    assert book.title == "Title"
    assert book.chapters[1].attributes == {"heading_level": 2}


def test_titles_that_are_many_are_headings(tmp_path: Path) -> None:
    body = p("One", style="T") + p("a") + p("Two", style="T") + p("b")
    assert parts(read(tmp_path, docx(body, styles=HEADINGS))[0]) == [("One", "a"), ("Two", "b")]


def test_headings_that_number_themselves_keep_their_words(tmp_path: Path) -> None:
    lists = f'<w:abstractNum w:abstractNumId="5">{levels(("upperRoman", "Chapter %1.", 1))}</w:abstractNum>'
    lists += '<w:num w:numId="3"><w:abstractNumId w:val="5"/></w:num>'
    styles = style("C", "heading 1", '<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>')
    body = p("The Inn", style="C") + p("a") + p(style="C") + p("b")
    book, _ = read(tmp_path, docx(body, styles=styles, numbering=lists))
    assert parts(book) == [("Chapter I: The Inn", "a"), ("Chapter II", "b")]


def test_a_document_without_headings_is_parted_at_its_chapter_lines(tmp_path: Path) -> None:
    bold = r("Chapter Two", "<w:b/>")
    book, notes = read(tmp_path, docx(p("Chapter One") + p("a") + p(bold) + p("b")))
    assert parts(book) == [("Chapter One", "a"), ("Chapter Two", "b")]
    assert "2 lines such as 'Chapter One'" in notes[0]
    whole, notes = read(tmp_path, docx("".join(p(each) for each in prose(200).split("\n\n"))))
    assert len(whole.chapters) > 1
    assert notes == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (p("un", r("frag", "<w:i/>"), r("men", "<w:i/>"), "table"), "un*fragmen*table"),
        (p(r("a", "<w:b/><w:i/>"), r(" b", "<w:b/>"), " c"), "***a* b** c"),
        (p(r("off", '<w:i w:val="0"/>'), r(" on", '<w:i w:val="true"/>')), "off *on*"),
        (p(r("a", "<w:strike/>"), r(" b", "<w:dstrike/>")), "~~a b~~"),
        (p(r("a", '<w:u w:val="single"/>'), r(" b", '<w:u w:val="none"/>')), "<u>a</u> b"),
        (p("x", r("2", '<w:vertAlign w:val="superscript"/>')), "x<sup>2</sup>"),
        (p("a", "<w:r><w:br/></w:r>", "b", "<w:r><w:cr/></w:r>"), "a\\\nb"),
        (p("a  b", "<w:r><w:tab/></w:r>", "c"), "a b c"),
        (p("co", "<w:r><w:noBreakHyphen/></w:r>", "op"), "co\u2011op"),
        (p("* a") + p("# b") + p("1. c") + p("&gt; d"), "\\* a\n\n\\# b\n\n1\\. c\n\n\\> d"),
        (p("a*b and 5 * 3"), "a*b and 5 * 3"),
        (p("a") + p("#") + p("b") + p("* * *") + p("c"), "a\n\n* * *\n\nb\n\n* * *\n\nc"),
        (p("a") + p(more='<w:pBdr><w:bottom w:val="single"/></w:pBdr>') + p("b"), "a\n\n* * *\n\nb"),
        (p("a", "<w:ins><w:r><w:t>b</w:t></w:r></w:ins>", "<w:del><w:r><w:delText>c</w:delText></w:r></w:del>"), "ab"),
        (p("a", "<w:moveFrom><w:r><w:t>b</w:t></w:r></w:moveFrom>") + p("<w:moveTo><w:r><w:t>b</w:t></w:r></w:moveTo>"),
         "a\n\nb"),
        (p("joined ", more="<w:rPr><w:del/></w:rPr>") + p("again"), "joined again"),
        (p("a") + p(r("part", "<w:vanish/>")) + p("b"), "a\n\n<!--  part -->\n\nb"),
        (p("a ", r("secret -- x", "<w:vanish/>")), "a <!-- secret - - x -->"),
        (p(f"<w:smartTag>{r('a')}</w:smartTag>", f"<w:sdt><w:sdtContent>{r('b')}</w:sdtContent></w:sdt>"), "ab"),
        ("<w:sdt><w:sdtContent>" + p("a") + "</w:sdtContent></w:sdt>" + p("b"), "a\n\nb"),
        (p("<w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>"),
         "漢(kan)"),
        (p("<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"), "a=b"),
        (p("他说", r("“好”", "<w:i/>"), "吗"), "他说<em>“好”</em>吗"),
        (p(r("שלום", "<w:rtl/>"), " ", r("עולם", "<w:rtl/><w:b/>")), "שלום **עולם**"),
        (p(field("PAGE", "7"), " x"), "7 x"),
        (p(field('HYPERLINK "http://a.example/" \\o "t"', "b"), " x"), '[b](http://a.example/ "t") x'),
        (p(field('HYPERLINK "http://a.example/"', "b", ended=False)) + p("c"), "b\n\nc"),
        (p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', "never ended") + p("b"), "b"),
    ],
)  # fmt: skip
def test_what_a_paragraph_holds(tmp_path: Path, body: str, expected: str) -> None:
    assert text(tmp_path, body) == expected


def test_marks_of_styles_and_of_runs(tmp_path: Path) -> None:
    styles = style("N", "Normal").replace("<w:style ", '<w:style w:default="1" ')
    styles += style("Thought", "Thought", "<w:rPr><w:i/></w:rPr>") + style(
        "E", "Emphasis", "<w:rPr><w:i/></w:rPr>", kind="character"
    )
    styles += style("Q", "Quote", "<w:rPr><w:i/></w:rPr>") + style("V", "HTML Code", kind="character")
    body = p("all ", r("but", '<w:rStyle w:val="E"/>'), style="Thought") + p(r("so", '<w:rStyle w:val="E"/>'), " it")
    body += p("quoted", style="Q") + p(r("a", '<w:rStyle w:val="V"/>'), r("*b", '<w:rStyle w:val="V"/>'))
    assert text(tmp_path, body, styles=styles) == "*all* but\n\n*so* it\n\n> quoted\n\n`a*b`"


def test_a_heading_is_not_bold_because_it_looks_so(tmp_path: Path) -> None:
    body = p(r("One", "<w:b/>"), style="H1") + p("a") + p("The ", r("Red", "<w:b/>"), style="H1") + p("b")
    assert [title for title, _ in parts(read(tmp_path, docx(body, styles=HEADINGS))[0])] == ["One", "The **Red**"]


def test_rare_empty_paragraphs_are_scene_breaks_and_common_ones_are_layout(tmp_path: Path) -> None:
    filled = "".join(p(each) for each in "abcdef")
    assert text(tmp_path, filled + p() + filled).count("* * *") == 1
    assert "*" not in text(tmp_path, "".join(p(each) + p() for each in "abcdef"))
    named = style("S", "Scene Break")
    assert text(tmp_path, p("a") + p(style="S") + p("b"), styles=named) == "a\n\n* * *\n\nb"


def test_lists_count_as_word_counts_them(tmp_path: Path) -> None:
    numbers = levels(("decimal", "%1.", 3), ("decimal", "%2.", 2))
    lists = f'<w:abstractNum w:abstractNumId="0">{numbers}</w:abstractNum>'
    lists += f'<w:abstractNum w:abstractNumId="1">{levels(("bullet", "•", 1))}</w:abstractNum>'
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    for key, abstract, more in ((1, 0, ""), (2, 1, ""), (4, 0, restart)):
        lists += f'<w:num w:numId="{key}"><w:abstractNumId w:val="{abstract}"/>{more}</w:num>'

    def item(text: str, key: int, level: int = 0) -> str:
        return p(text, more=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{key}"/></w:numPr>')

    body = item("a", 1) + item("b", 1, 1) + item("c", 1, 1) + item("d", 1) + p("between") + item("e", 1)
    body += (
        p("x")
        + item("f", 4)
        + item("g", 2)
        + item("gone", 99)
        + p("none", more='<w:numPr><w:numId w:val="0"/></w:numPr>')
    )
    assert text(tmp_path, body, numbering=lists) == (
        "3. a\n   2. b\n   3. c\n4. d\n\nbetween\n\n5. e\n\nx\n\n1. f\n- g\n- gone\n\nnone"
    )


def test_tables_are_rows_or_lines(tmp_path: Path) -> None:
    def table(*rows: tuple[str, ...]) -> str:
        return (
            "<w:tbl>"
            + "".join("<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
            + "</w:tbl>"
        )

    grid = table((p("a"), p("b|c")), (p("d", "<w:r><w:br/></w:r>", "e"), p()))
    book, notes = read(tmp_path, docx(grid))
    assert parts(book) == [("", "| a | b\\|c |\n| --- | --- |\n| d<br>e |  |")]
    assert notes == ()
    nested = table((p("a") + p("b"), p("c") + table((p("deep"),)) + p("d")))
    book, notes = read(tmp_path, docx(p("x") + nested))
    assert parts(book) == [("", "x\n\na\n\nb\n\nc\n\ndeep\n\nd")]
    assert notes == ("Laid out as lines: 2 table(s).",)


def test_notes_stand_at_the_end_of_the_part_that_calls_them(tmp_path: Path) -> None:
    def note(number: int, *paragraphs: str, kind: str = "footnote") -> str:
        return f'<w:{kind} w:id="{number}">{"".join(paragraphs)}</w:{kind}>'

    def call(number: int, kind: str = "footnote") -> str:
        return f'<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:{kind}Reference w:id="{number}"/></w:r>'

    lead = "<w:r><w:footnoteRef/></w:r>"
    body = p("One", style="H1") + p("a", call(2), "b", call(1, "endnote"), ".") + p("more")
    body += p("Two", call(3), style="H1") + p("c", call(9))
    notes = (
        note(0, p(), kind="footnote")
        + note(2, p(lead, " first ", r("one", "<w:i/>")), p("second"))
        + note(3, p("third"))
    )
    book, told = read(
        tmp_path, docx(body, styles=HEADINGS, footnotes=notes, endnotes=note(1, p("at the end"), kind="endnote"))
    )
    assert parts(book) == [
        ("One", "a[^1]b[^2].\n\nmore\n\n[^1]: first *one*\n\n    second\n\n[^2]: at the end"),
        ("Two[^1]", "c[^2]\n\n[^1]: third\n\n[^2]: "),
    ]
    assert told == ()


def test_links_to_the_web_are_kept_and_others_are_text(tmp_path: Path) -> None:
    outside = "".join(
        f'<Relationship Id="l{number}" Type="{R}/hyperlink" Target="{to}" TargetMode="External"/>'
        for number, to in enumerate(("http://a.example/b?c", "file:///etc/passwd", "javascript:x"))
    )
    body = "".join(p(f'<w:hyperlink r:id="l{number}">{r("x", "<w:b/>")}</w:hyperlink>') for number in range(3))
    body += p(f'<w:hyperlink w:anchor="y">{r("z")}</w:hyperlink>')
    book, _ = read(tmp_path, docx(body, extra=outside))
    assert book.chapters[0].text == "[**x**](http://a.example/b?c)\n\n**x**\n\n**x**\n\nz"


def test_what_is_left_out_is_named_by_number(tmp_path: Path) -> None:
    picture = "<w:r><w:drawing><w:x/></w:drawing></w:r>"
    inner = f"<w:txbxContent>{p('boxed')}</w:txbxContent>"
    box = f"<mc:Choice><w:drawing>{inner}</w:drawing></mc:Choice><mc:Fallback><w:pict>{inner}</w:pict></mc:Fallback>"
    box = f"<w:r><mc:AlternateContent>{box}</mc:AlternateContent></w:r>"
    contents = '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    contents += f"<w:sdtContent>{p('Contents')}{p('One', style='TOC1')}</w:sdtContent></w:sdt>"
    styles = style("TOC1", "toc 1")
    body = contents + p("a", picture, "<w:r><w:object/></w:r>") + p(picture) + p("b", box)
    body += p("<w:ins><w:r><w:t>in</w:t></w:r></w:ins>", "<w:del><w:r><w:delText>out</w:delText></w:r></w:del>")
    data = docx(
        body,
        styles=styles,
        extra=f'<Relationship Id="t" Type="{R}/attachedTemplate" Target="http://a.example/t" TargetMode="External"/>'
        f'<Relationship Id="h" Type="{R}/header" Target="header1.xml"/>',
        parts={
            "word/vbaProject.bin": b"\0macro",
            "word/embeddings/oleObject1.bin": b"\0ole",
            "word/_rels/settings.xml.rels": relations(("a", "image", "file://server/x.png"), outside=True),
        },
    )
    book, notes = read(tmp_path, data)
    assert parts(book) == [("", "a\n\nb\n\nboxed\n\nin")]
    assert set(notes) == {
        "Left out: 2 picture(s) (2 of a kind that is not kept, or damaged).",
        "Left out: 1 embedded object(s).",
        "Left out: macros (1 project(s)).",
        "Left out, and never followed: 2 reference(s) to files outside of the document.",
        "Left out: the table of contents (2 line(s)).",
        "Left out: 1 header(s) and footer(s).",
        "Put below the paragraph that holds them: 1 text box(es).",
        "Tracked changes: 1 insertion(s) were taken, 1 deletion(s) left out.",
    }


def test_documents_of_the_strict_kind_are_read(tmp_path: Path) -> None:
    data = docx(p("One", style="H1") + p("a") + p("Two", style="H1") + p("b"), styles=HEADINGS)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name).decode() for name in archive.namelist()}
    for old, new in (
        (W, "http://purl.oclc.org/ooxml/wordprocessingml/main"),
        (R, "http://purl.oclc.org/ooxml/officeDocument/relationships"),
    ):
        entries = {name: each.replace(old, new) for name, each in entries.items()}
    assert parts(read(tmp_path, zipped(entries))[0]) == [("One", "a"), ("Two", "b")]
