"""The EPUB that we write: its form, its links, its language, and the time that it takes."""

import time
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import ebooklib.epub
import pytest
from hypothesis import given, settings
from lxml import etree

from marginalia_tui.domain.words import find_words
from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.epub_writer import write_epub
from marginalia_tui.services.exchange.from_html import Styles, read_page
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript
from marginalia_tui.services.exchange.to_html import PageWriter
from tests.support.books import a_manuscript, manuscripts, page

OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
XHTML = "{http://www.w3.org/1999/xhtml}"


def opened(book: Manuscript) -> zipfile.ZipFile:
    return zipfile.ZipFile(BytesIO(write_epub(book)))


def root_of(archive: zipfile.ZipFile, name: str) -> Any:
    return etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False, no_network=True))


@settings(max_examples=40)
@given(manuscripts())
def test_the_form_is_that_of_the_specification(book: Manuscript) -> None:
    archive = opened(book)
    first = archive.infolist()[0]
    assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
    assert archive.read("mimetype") == b"application/epub+zip"
    assert len(set(archive.namelist())) == len(archive.namelist())
    package = root_of(archive, "EPUB/book.opf")
    items = {item.get("id"): item.get("href") for item in package.iter(f"{OPF}item")}
    assert len(items) == len(list(package.iter(f"{OPF}item"))), "ids are unique"
    assert {f"EPUB/{href}" for href in items.values()} | {"mimetype", "META-INF/container.xml", "EPUB/book.opf"} == set(
        archive.namelist()
    )
    assert [items[reference.get("idref")] for reference in package.iter(f"{OPF}itemref")] == [
        "title.xhtml",
        *(f"part-{number:05d}.xhtml" for number in range(1, len(book.chapters) + 1)),
    ]
    for tag in ("identifier", "title", "language"):
        assert package.find(f"{OPF}metadata/{DC}{tag}").text
    links: set[str] = set()
    targets = {href for href in items.values() if href.endswith(".xhtml")}
    for href in sorted(targets):
        root = root_of(archive, f"EPUB/{href}")
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(set(ids)) == len(ids)
        targets |= {f"{href}#{each}" for each in ids}
        assert root.find(f"{XHTML}head/{XHTML}title").text.strip()
        local = [link.get("href") for link in root.iter(f"{XHTML}a") if "://" not in link.get("href")]
        links |= {f"{href}{link}" if link.startswith("#") else link for link in local}
        assert not list(root.iter(f"{XHTML}img"))
    assert links <= targets, "no link leads nowhere"


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", "en"), ("zh-Hant-TW", "zh-Hant-TW"), ("English", "und"), ('en"><x', "und"), ("", "und")],
)
def test_the_language_is_a_tag(language: str, written: str) -> None:
    archive = opened(a_manuscript("x", language=language))
    package = root_of(archive, "EPUB/book.opf")
    assert package.find(f"{OPF}metadata/{DC}language").text == written
    assert f'lang="{written}"' in archive.read("EPUB/part-00001.xhtml").decode()
    assert 'dir="rtl"' in opened(a_manuscript("x", language="he")).read("EPUB/part-00001.xhtml").decode()


def test_what_xml_can_not_hold_is_replaced() -> None:
    book = a_manuscript("a\ufffe\uffff\x00\x1b", title="t\ufffe <&>\"'")
    archive = opened(replace(book, author="<x>", description="& \uffff"))
    assert root_of(archive, "EPUB/book.opf").find(f"{OPF}metadata/{DC}title").text == "t\ufffd <&>\"'"
    assert "a\ufffd\ufffd\u2400\u241b" in "".join(root_of(archive, "EPUB/part-00001.xhtml").itertext())


def test_notes_lead_to_where_they_stand() -> None:
    book = a_manuscript("one[^a] two[^b] three[^none]\n\n[^a]: here", "[^b]: there\n\n[^a]: again")
    first = opened(book).read("EPUB/part-00001.xhtml").decode()
    assert 'href="#fn-a">a</a>' in first
    assert 'href="part-00002.xhtml#fn-b">b</a>' in first
    assert "three[^none]" in first


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a &eacute; &amp; &lt;b&gt;", "<p>a é &amp; &lt;b&gt;</p>\n"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"),
        ("<u>a *b</u> c*", "<p>&lt;u&gt;a <em>b&lt;/u&gt; c</em></p>\n"),
        ("<u>a</u> <br> <u>", "<p><u>a</u> <br /> &lt;u&gt;</p>\n"),
        ("[a](javascript:x) [b](y.md)", "<p>[a](javascript:x) [b](y.md)</p>\n"),
        ('[a](http://x/?b=1&c="2" "t")', '<p><a href="http://x/?b=1&amp;c=%222%22" title="t">a</a></p>\n'),
        ("![a](b.png)", "<p>![a](b.png)</p>\n"),
        ("<!-- a -- b --->", "<!-- a - - b - -->\n"),
        ("<!-- a --> b <i>", "<!-- a -->\n<p>b &lt;i&gt;</p>\n"),
        ("<!-- a", "<p>&lt;!-- a</p>\n"),
        ("> <!-- a\n\nb -->", "<blockquote><p>&lt;!-- a</p>\n</blockquote>\n<p>b --&gt;</p>\n"),
        ("2. a\n5. b", '<ol start="2"><li>a\n</li>\n<li value="5">b\n</li>\n</ol>\n'),
    ],
)
def test_a_page_is_well_formed_and_shows_what_it_can_not_say(text: str, written: str) -> None:
    found = PageWriter().page(text)
    assert found == written
    etree.fromstring(f"<div>{found}</div>")


def test_a_title_without_marks_names_a_page() -> None:
    book = Manuscript(title="T", chapters=(Chapter(title="The *Ferry*[^1] <u>x</u> & `y`", text="[^1]: n"),))
    contents = root_of(opened(book), "EPUB/contents.xhtml")
    assert [link.text for link in contents.iter(f"{XHTML}a")] == ["The Ferry x & y"]


def test_time_grows_with_the_length_only() -> None:
    count = 5_000
    written = {
        "brackets": "[" * count,
        "pictures": "![" * 1_900,
        "emphasis": "a**b*" * count,
        "code": "`a``" * count,
        "comments": "<!--\n\n" * count,
        "comments in quotes": "> <!--\n\n" * count + "-->",
        "tags": "<u>" * count,
        "notes": "[^1]: a\n" * count,
        "notes in notes": "[^1]: " * count,
        "quotes": ">" * count,
        "tables": "|a|b|\n|-|-|\n|c|d|\n\n" * 2000,
        "tables that lose": "|a|b|\n|-|-|\n|c|d|e|\n\n" * 2000,
        "definitions": "[a]: b\n" * count,
    }
    for name, text in written.items():
        began = time.process_time()
        PageWriter().page(text, "f", {"1": "f"})
        assert time.process_time() - began < 2.5, name
    read = {
        "spans": "<p>" + "<span>a</span>" * count + "</p>",
        "emphasis": "<p>" + "<i>a</i>" * count + "</p>",
        "open": "<p>" + "<i>" * 90 + "a" * count,
        "breaks": "<p>" + "a<br/>" * count + "</p>",
        "nested": "<div>" * 90 + "<p>a</p>" * count + "</div>" * 90,
        "cells": "<table>" + "<tr><td>a</td><td>b</td></tr>" * 5000 + "</table>",
        "ampersands": "<p>" + "&" * count + "</p>",
    }
    for name, body in read.items():
        began = time.process_time()
        read_page(page(body), "'x'", Styles(), ("nowhere",))
        assert time.process_time() - began < 2.5, name


def test_each_part_means_its_own_note_by_a_label() -> None:
    archive = opened(a_manuscript("one[^1]\n\n[^1]: first", "two[^1]\n\n[^1]: second"))
    for number in (1, 2):
        page_text = archive.read(f"EPUB/part-{number:05d}.xhtml").decode()
        assert 'href="#fn-1">1</a>' in page_text
        assert '<aside epub:type="footnote" role="doc-footnote" id="fn-1">' in page_text


def test_the_title_page_comes_first_and_is_not_text(tmp_path: Path) -> None:
    book = a_manuscript("a", "b", author="N. N.")
    archive = opened(book)
    found = archive.read("EPUB/title.xhtml").decode()
    assert '<section epub:type="titlepage" class="title">\n<h1>The Ferry</h1>\n<p class="author">N. N.</p>' in found
    (tmp_path / "book.epub").write_bytes(write_epub(book))
    assert read_epub(tmp_path / "book.epub")[0].chapters == book.chapters


def test_old_and_new_contents_say_the_same() -> None:
    book = Manuscript(title="T", chapters=(Chapter(title="One *x*", text="a"), Chapter(text="b"), Chapter(title="Two")))
    archive = opened(book)
    points = [
        (point.findtext(f"{NCX}navLabel/{NCX}text"), point.find(f"{NCX}content").get("src"))
        for point in root_of(archive, "EPUB/contents.ncx").iter(f"{NCX}navPoint")
    ]
    links = [(link.text, link.get("href")) for link in root_of(archive, "EPUB/contents.xhtml").iter(f"{XHTML}a")]
    assert points == links == [("One x", "part-00001.xhtml"), ("Two", "part-00003.xhtml")]
    spine = root_of(archive, "EPUB/book.opf").find(f"{OPF}spine")
    assert spine.get("toc") == "ncx"
    assert opened(Manuscript(title="T")).read("EPUB/contents.ncx").count(b"navPoint id") == 1


@settings(max_examples=10, deadline=None)
@given(manuscripts())
def test_another_library_reads_what_is_in_it(tmp_path_factory: pytest.TempPathFactory, book: Manuscript) -> None:
    path = tmp_path_factory.getbasetemp() / "other.epub"
    path.write_bytes(write_epub(book))
    found = ebooklib.epub.read_epub(str(path), {"ignore_ncx": False})
    assert found.get_metadata("DC", "title")[0][0] == book.title
    pages = [found.get_item_with_id(key) for key, _ in found.spine]
    assert len(pages) == len(book.chapters) + 1
    # What the author wrote as a comment is one in the page too.
    nodes = [node for page in pages for node in etree.fromstring(page.get_content()).iter()]
    text = " ".join(str(words) for node in nodes for words in (node.text, node.tail) if words)
    # Addresses and numbers of lists stand in attributes or nowhere, so the other words are looked for.
    plain = find_words(" ".join(each.text for each in book.chapters if "](" not in each.text and "[^" not in each.text))
    assert {word for word in plain if word.isalpha()} - {"python"} <= set(find_words(text))
    assert found.toc
