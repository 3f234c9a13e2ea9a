"""DOCX that are damaged, protected, of another kind, very long, or built to do harm: a book or one sentence."""

import io
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid, MarginaliaError, Refused
from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.manuscript import words_of
from tests.support.books import a_manuscript, prose, zipped
from tests.support.documents import HEADINGS, SPACES, TYPES, docx, p, r, relations

GOOD = write_docx(a_manuscript("It rained.[^1]\n\n[^1]: A note.", "- a\n- b"))


def written(tmp_path: Path, data: bytes, name: str = "book.docx") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def with_text(document: str | bytes) -> bytes:
    """A DOCX whose text is this part as it stands."""
    main = relations(("r1", "officeDocument", "word/document.xml"))
    return zipped({"[Content_Types].xml": TYPES, "_rels/.rels": main, "word/document.xml": document})


def test_an_old_word_document_is_known_whatever_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    with pytest.raises(Invalid, match=r"old Word document \(\.doc\), or one with a password"):
        read_manuscript(path)
    with pytest.raises(Invalid, match="no Word document"):
        read_manuscript(path, format="docx")


def test_what_is_no_whole_zip_is_refused(tmp_path: Path) -> None:
    for data in (b"not a zip", GOOD[:300], GOOD[: len(GOOD) // 2], GOOD[:-30]):
        with pytest.raises(Invalid, match="no Word document|damaged"):
            read_docx(written(tmp_path, data))


def test_a_zip_that_is_no_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="zip file but no Word document"):
        read_manuscript(written(tmp_path, zipped({"a.txt": "x"})), format="docx")
    sheet = zipped(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relations(("r", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": "<workbook/>",
        }
    )
    with pytest.raises(Invalid, match="Office file but no text"):
        read_manuscript(written(tmp_path, sheet))
    with pytest.raises(Invalid, match="holds no text"):
        read_manuscript(written(tmp_path, docx("")))
    with pytest.raises(Invalid, match="LibreOffice document"):
        read_manuscript(written(tmp_path, zipped({"mimetype": "x", "content.xml": "<x/>"}), "book.odt"))


def test_documents_and_ebooks_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    assert read_manuscript(written(tmp_path, GOOD, "book.epub")).format == "docx"


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY e "&a;&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "http://a.example/x.dtd">',
        "<!-- c --><!DOCTYPE x>",
    ],
)
def test_f53_entities_are_refused_in_every_part(tmp_path: Path, head: str) -> None:
    body = f"<w:document {SPACES}><w:body>{p('before &e; after')}</w:body></w:document>"
    with pytest.raises(MarginaliaError, match="declares entities|damaged"):
        read_docx(written(tmp_path, with_text(head + body)))
    with pytest.raises(Refused, match="declares entities"):
        read_docx(written(tmp_path, with_text((head + body.replace("&e;", "")).encode("utf-16"))))
    styles = docx(p("x"), parts={"word/styles.xml": f"{head}<w:styles {SPACES}/>"}, styles="")
    with pytest.raises((Refused, Invalid), match="declares entities|damaged"):
        read_docx(written(tmp_path, styles))


def test_an_entity_that_nothing_declares_is_damage(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="damaged"):
        read_docx(written(tmp_path, docx(p("a &nothing; b"))))


@pytest.mark.parametrize("target", ["../../etc/passwd", "/../x", "..\\..\\x/../../y"])
def test_f53_a_part_named_outside_of_the_archive_is_refused(tmp_path: Path, target: str) -> None:
    data = zipped({"[Content_Types].xml": TYPES, "_rels/.rels": relations(("r", "officeDocument", target))})
    with pytest.raises((Refused, Invalid), match="outside of it|no Word document"):
        read_docx(written(tmp_path, data))
    with pytest.raises(Refused, match="leads outside"):
        read_docx(written(tmp_path, docx(p("x"), parts={"../evil": "x"})))


def test_f53_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = written(tmp_path, docx(p("0" * 30_000_000)))
    began = time.process_time()
    with pytest.raises(Refused, match="unpacks to far more"):
        read_docx(path)
    assert time.process_time() - began < 1


def test_macros_and_references_to_elsewhere_are_left_where_they_are(tmp_path: Path) -> None:
    outside = relations(("t", "attachedTemplate", f"file://{tmp_path}/secret.dotm"), outside=True)
    (tmp_path / "secret.dotm").write_text("the secret")
    linked = '<w:r><w:pict><v:shape><v:imagedata r:id="t"/></v:shape></w:pict></w:r>'
    data = docx(
        p("x", linked), parts={"word/vbaProject.bin": b"Sub AutoOpen()", "word/_rels/settings.xml.rels": outside}
    )
    imported = read_manuscript(written(tmp_path, data, "book.docm"))
    assert words_of(imported.manuscript) == ["x"]
    assert "Left out: macros (1 project(s))." in imported.notes
    assert "1 reference(s) to files outside" in " ".join(imported.notes)
    assert "secret" not in repr(imported)


def test_nesting_ends_in_a_sentence_or_a_text(tmp_path: Path) -> None:
    def tables(depth: int) -> str:
        return "<w:tbl><w:tr><w:tc>" * depth + p("deep") + "</w:tc></w:tr></w:tbl>" * depth

    imported = read_manuscript(written(tmp_path, docx(p("a") + tables(60) + p("b"))))
    assert words_of(imported.manuscript) == ["a", "deep", "b"]
    for body in (tables(2_000), "<w:sdt><w:sdtContent>" * 3_000 + p("x") + "</w:sdtContent></w:sdt>" * 3_000):
        with pytest.raises(Invalid, match="damaged"):
            read_docx(written(tmp_path, docx(body)))


def test_scripts_of_all_directions_are_kept(tmp_path: Path) -> None:
    lines = [
        "שלום עולם",
        "مرحبا بالعالم",
        "且说关公义释曹操",
        "これは本です",
        "이것은 책이다",
        "\U00020000 e\u0301 \u200f",
    ]
    book, _ = read_docx(written(tmp_path, docx("".join(p(line, more="<w:bidi/>") for line in lines))))
    assert book.chapters[0].text == "\n\n".join(lines)


def test_a_hundred_thousand_paragraphs_take_seconds(tmp_path: Path) -> None:
    runs = [
        f"<w:p>{r('The ferry was ')}{r('late', '<w:i/>')}{r(f' {number} times.')}</w:p>" for number in range(100_000)
    ]
    heading = p("Chapter", style="H1")
    path = written(
        tmp_path,
        docx("".join(heading + "".join(runs[at : at + 2_000]) for at in range(0, 100_000, 2_000)), styles=HEADINGS),
    )
    began = time.process_time()
    book, _ = read_docx(path)
    assert time.process_time() - began < 8, "about 3 s; the rest is for a busy machine"
    assert len(book.chapters) == 50
    assert book.chapters[-1].text.endswith("The ferry was *late* 99999 times.")


def test_time_grows_with_the_length_only(tmp_path: Path) -> None:
    count = 4_000
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    bodies = {
        "runs": p(*(r("a", "<w:i/>" if number % 2 else "") for number in range(count))),
        "fields": p(*['<w:r><w:fldChar w:fldCharType="begin"/></w:r>'] * count),
        "bookmarks": p(*(f'<w:bookmarkStart w:id="{number}" w:name="b{number}"/>' for number in range(count)), "x"),
        "marks": p(*[mark] * count),
        "breaks": p(*["<w:r><w:br/></w:r>"] * count),
        "gaps": p() * count + p("x"),
        "asterisks": p("*a " * count),
        "lists": "".join(
            p("a", more=f'<w:numPr><w:ilvl w:val="{number % 9}"/><w:numId w:val="1"/></w:numPr>')
            for number in range(count)
        ),
        "cells": "<w:tbl>" + f"<w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}</w:tc></w:tr>" * count + "</w:tbl>",
        "titles": p("a", style="T") * count,
    }
    notes = f'<w:footnote w:id="2">{p("n")}</w:footnote>'
    for name, body in bodies.items():
        path = written(tmp_path, docx(body + p("end"), styles=HEADINGS, footnotes=notes))
        began = time.process_time()
        read_docx(path)
        assert time.process_time() - began < 2.5, name


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
def test_any_damage_ends_in_a_book_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]], cut: bool
) -> None:
    data = bytearray(GOOD)
    for place, value in damage:
        data[place] = value
    path = tmp_path_factory.getbasetemp() / "damaged.docx"
    path.write_bytes(bytes(data[: damage[0][0]] if cut else data))
    try:
        found = read_manuscript(path, format="docx")
    except MarginaliaError as error:
        assert error.message.endswith(".")
    else:
        assert found.manuscript.chapters


_BITS = st.sampled_from(
    (
        "<w:p>",
        "</w:p>",
        "<w:r>",
        "</w:r>",
        "<w:t>x y</w:t>",
        "<w:tbl>",
        "</w:tbl>",
        "<w:tr>",
        "</w:tr>",
        "<w:tc>",
        "</w:tc>",
    )
    + (
        "<w:sdt>",
        "</w:sdt>",
        "<w:sdtContent/>",
        "<w:pPr/>",
        '<w:pPr><w:pStyle w:val="H1"/></w:pPr>',
        "<w:ins>",
        "</w:ins>",
    )
    + (
        '<w:fldChar w:fldCharType="begin"/>',
        '<w:fldChar w:fldCharType="end"/>',
        '<w:footnoteReference w:id="7"/>',
        "<w:br/>",
    )
    + (
        '<w:bookmarkStart w:id="1" w:name="_part1"/>',
        '<w:bookmarkStart w:name="_def3"/>',
        "<w:hyperlink>",
        "</w:hyperlink>",
    )
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_BITS, max_size=14))
def test_any_markup_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, bits: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "markup.docx"
    path.write_bytes(docx("".join(bits), styles=HEADINGS))
    try:
        read_docx(path)
    except MarginaliaError as error:
        assert error.message.endswith(".")


def test_a_book_is_the_same_after_two_journeys(tmp_path: Path) -> None:
    book = a_manuscript(prose(40), prose(30, seed=2))
    first, _ = read_docx(written(tmp_path, write_docx(book)))
    assert first == book
    with zipfile.ZipFile(io.BytesIO(write_docx(first))) as again, zipfile.ZipFile(tmp_path / "book.docx") as before:
        assert again.read("word/document.xml") == before.read("word/document.xml")
