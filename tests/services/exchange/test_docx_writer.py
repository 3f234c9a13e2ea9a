"""The DOCX that we write: its form, and what other programs read in it."""

import io
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx as python_docx
import pypandoc
import pytest
from hypothesis import given, settings
from lxml import etree

from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, words_of
from tests.support.books import a_manuscript, manuscripts, prose
from tests.support.documents import R, W

SAMPLE = Path(__file__).parents[3] / "data" / "books" / "let-it-stand"
PARAGRAPH = ("pStyle", "pageBreakBefore", "numPr", "ind", "contextualSpacing", "jc", "rPr")
RUN = ("rStyle", "b", "bCs", "i", "iCs", "strike", "vanish", "sz", "szCs", "highlight", "u", "vertAlign", "rtl")
"""The order in which the schema wants the properties that we use."""


def opened(book: Manuscript) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(write_docx(book)))


def root_of(archive: zipfile.ZipFile, name: str) -> Any:
    return etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False, no_network=True))


def names_of(element: Any) -> list[str]:
    return [child.tag.rpartition("}")[2] for child in element]


@settings(max_examples=40, deadline=None)
@given(manuscripts())
def test_the_form_is_that_of_the_specification(book: Manuscript) -> None:
    archive = opened(book)
    names = archive.namelist()
    assert len(set(names)) == len(names)
    typed = {each.get("PartName") for each in root_of(archive, "[Content_Types].xml") if each.get("PartName")}
    assert typed == {f"/{name}" for name in names if not name.endswith(".rels") and name != "[Content_Types].xml"}
    for rels in (name for name in names if name.endswith(".rels")):
        folder = rels.partition("_rels/")[0]
        relations = list(root_of(archive, rels))
        assert len({each.get("Id") for each in relations}) == len(relations)
        for each in relations:
            assert each.get("TargetMode") == "External" or folder + each.get("Target") in names
    document = root_of(archive, "word/document.xml")
    styles = {each.get(f"{{{W}}}styleId") for each in root_of(archive, "word/styles.xml")}
    lists = {each.get(f"{{{W}}}numId") for each in root_of(archive, "word/numbering.xml").iter(f"{{{W}}}num")}
    notes = root_of(archive, "word/footnotes.xml")
    for story in (document, notes):
        for tag in ("pStyle", "rStyle", "tblStyle"):
            assert {each.get(f"{{{W}}}val") for each in story.iter(f"{{{W}}}{tag}")} <= styles
        assert {each.get(f"{{{W}}}val") for each in story.iter(f"{{{W}}}numId")} <= lists
        for tag, order in (("pPr", PARAGRAPH), ("rPr", RUN)):
            for properties in story.iter(f"{{{W}}}{tag}"):
                used = names_of(properties)
                assert used == sorted(set(used), key=order.index), used
        for cell in story.iter(f"{{{W}}}tc"):
            assert names_of(cell)[-1] == "p", "a cell ends with a paragraph"
    bookmarks = [each.get(f"{{{W}}}name") for each in document.iter(f"{{{W}}}bookmarkStart")]
    assert len(set(bookmarks)) == len(bookmarks)
    assert all(len(name) <= 40 for name in bookmarks), "Word takes no longer names"
    ids = [each.get(f"{{{W}}}id") for each in document.iter(f"{{{W}}}bookmarkStart")]
    assert ids == [each.get(f"{{{W}}}id") for each in document.iter(f"{{{W}}}bookmarkEnd")] or len(set(ids)) == len(ids)
    called = [each.get(f"{{{W}}}id") for each in document.iter(f"{{{W}}}footnoteReference")]
    written = [each.get(f"{{{W}}}id") for each in notes if each.get(f"{{{W}}}type") is None]
    assert sorted(called) == sorted(written), "each footnote is called once"
    anchors = {each.get(f"{{{W}}}anchor") for each in document.iter(f"{{{W}}}hyperlink")} - {None}
    assert anchors <= set(bookmarks), "no line of the contents leads nowhere"
    assert names_of(document[0])[-1] == "sectPr"


@settings(max_examples=15, deadline=None)
@given(manuscripts())
def test_another_library_opens_it(book: Manuscript) -> None:
    document = python_docx.Document(io.BytesIO(write_docx(book)))
    assert document.core_properties.title == book.title
    assert document.core_properties.author == book.author
    breaks = sum(bool(each.paragraph_format.page_break_before) for each in document.paragraphs)
    titled = any(chapter.title for chapter in book.chapters)
    assert breaks in (len(book.chapters), len(book.chapters) + titled), "each part begins a page, and the contents"


def test_the_title_page_the_contents_and_the_headings(tmp_path: Path) -> None:
    book = replace(a_manuscript("a\n\n## Scene\n\nb", "c", author="N. N."), description="About it")
    book = replace(
        book, chapters=(*book.chapters, Chapter(title="Deep *er*", text="d", attributes={"heading_level": 2}))
    )
    document = python_docx.Document(io.BytesIO(write_docx(book)))
    lines = [(each.style.name if each.style else "", each.text) for each in document.paragraphs if each.text]
    assert lines == [
        ("Title", "The Ferry"),
        ("Author", "N. N."),
        ("toc 1", "Chapter 1"),
        ("toc 1", "Chapter 2"),
        ("toc 2", "Deep er"),
        ("Heading 1", "Chapter 1"),
        ("First Paragraph", "a"),
        ("Heading 2", "Scene"),
        ("First Paragraph", "b"),
        ("Heading 1", "Chapter 2"),
        ("First Paragraph", "c"),
        ("Heading 2", "Deep er"),
        ("First Paragraph", "d"),
    ]
    assert document.core_properties.comments == "About it"
    again = replace(book, attributes={"subtitle": "A tale", "other": 1})
    (tmp_path / "book.docx").write_bytes(write_docx(again))
    assert read_docx(tmp_path / "book.docx")[0].attributes == {"subtitle": "A tale"}
    assert 'TOC \\o "1-2"' in opened(book).read("word/document.xml").decode()


@pytest.mark.parametrize(
    ("language", "spoken"),
    [
        ("en", '<w:lang w:val="en"/>'),
        ("zh-Hant-TW", '<w:lang w:val="zh-Hant-TW" w:eastAsia="zh-Hant-TW"/>'),
        ("he", '<w:lang w:val="he" w:bidi="he"/>'),
        ('en"><x', ""),
        ("", ""),
    ],
)
def test_the_language_is_set(language: str, spoken: str) -> None:
    archive = opened(a_manuscript("x שלום", language=language))
    styles = archive.read("word/styles.xml").decode()
    assert (spoken in styles) if spoken else ("<w:lang" not in styles)
    assert ("<w:bidi/>" in styles) == (language == "he")
    assert "<w:rtl/>" in archive.read("word/document.xml").decode()
    assert (f"<dc:language>{language}<" in archive.read("docProps/core.xml").decode()) == bool(spoken)


def test_pandoc_reads_what_we_write(tmp_path: Path) -> None:
    text = (
        "It *rained* **all** day[^1], and ~~no~~ [one](https://a.example/).\\\nMore.\n\n> A quote.\n\n- a\n- b\n\n"
        "3. c\n4. d\n\n| a | b |\n| --- | --- |\n| c | *d* |\n\n[^1]: A *note*."
    )
    path = tmp_path / "book.docx"
    path.write_bytes(write_docx(a_manuscript(text, "Short.", author="N. N.")))
    found = pypandoc.convert_file(str(path), "markdown", extra_args=["--wrap=none", "--standalone"])
    assert "title: The Ferry" in found
    assert "author: N. N." in found
    assert found.index("# Chapter 1") < found.index("# Chapter 2") < found.index("[^1]: A *note*.")
    for piece in (
        "It *rained* **all** day[^1], and ~~no~~ [one](https://a.example/).\\\nMore.",
        "> A quote.",
        "- a\n",
        "3.  c\n",
    ):
        assert piece in found


def test_the_sample_book_comes_back_whole(tmp_path: Path) -> None:
    book = read_manuscript(SAMPLE).manuscript
    (tmp_path / "book.docx").write_bytes(write_docx(book))
    again, notes = read_docx(tmp_path / "book.docx")
    assert words_of(again) == words_of(book)
    assert again.chapters == book.chapters
    assert notes == ()


def test_the_book_of_another_hand_goes_on_where_it_was_edited(tmp_path: Path) -> None:
    book = a_manuscript("one[^x].\n\n[^x]: note", "two")
    document = python_docx.Document(io.BytesIO(write_docx(book)))
    document.add_heading("Chapter 3", 1)
    document.add_paragraph("three")
    document.save(str(tmp_path / "book.docx"))
    with zipfile.ZipFile(tmp_path / "book.docx") as saved, zipfile.ZipFile(tmp_path / "word.docx", "w") as word:
        for name in saved.namelist():
            word.writestr(name, saved.read(name).replace(b">Marginalia<", b">Microsoft Office Word<"))
    again, _ = read_docx(tmp_path / "word.docx")
    assert [(chapter.title, chapter.text) for chapter in again.chapters] == [
        ("Chapter 1", "one[^x].\n\n[^x]: note"),
        ("Chapter 2", "two"),
        ("Chapter 3", "three"),
    ]


def test_what_xml_can_not_hold_is_replaced() -> None:
    archive = opened(replace(a_manuscript("a\ufffe\uffff\x00\x1b", title="t\ufffe <&>\"'"), author="<x>"))
    assert "a\ufffd\ufffd\u2400\u241b" in "".join(root_of(archive, "word/document.xml").itertext())
    root_of(archive, "docProps/core.xml")


def test_addresses_are_attributes() -> None:
    archive = opened(a_manuscript('[a](http://x/?b=1&c="2" "t<") <https://a.example/>'))
    relations = root_of(archive, "word/_rels/document.xml.rels")
    outside = [each.get("Target") for each in relations if each.get("Type") == f"{R}/hyperlink"]
    assert outside == ["http://x/?b=1&c=%222%22", "https://a.example/"]


def test_time_grows_with_the_length_only() -> None:
    count = 4_000
    written = {
        "brackets": "[" * count,
        "emphasis": "a**b*" * count,
        "tags": "<u>" * count,
        "notes": "[^1]: a\n" * count + "\n[^1]",
        "marks": "[^1] " * count + "\n\n[^1]: a",
        "many notes": "".join(f"x[^{number}]\n\n[^{number}]: a\n\n" for number in range(count // 4)),
        "quotes": ">" * count,
        "tables": "|a|b|\n|-|-|\n|c|d|\n\n" * 1_000,
        "lists": "1. a\n\nx\n\n" * 1_000,
        "links": "[a](http://b.example/c) " * 1_000,
    }
    for name, text in written.items():
        began = time.process_time()
        write_docx(a_manuscript(text))
        assert time.process_time() - began < 3, name
    began = time.process_time()
    write_docx(a_manuscript(*[prose(20)] * 500))
    assert time.process_time() - began < 8
