"""EPUBs that are damaged, protected or built to do harm: each ends in one sentence."""

import io
import stat
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid, MarginaliaError, Refused
from marginalia_tui.services.exchange import archive
from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.importer import read_manuscript
from tests.support.books import CONTAINER, epub, package, page, zipped

GOOD = epub({"a.xhtml": "<h1>One</h1><p>It rained.</p>"})


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "book.epub"
    path.write_bytes(data)
    return path


def book_of(body: str, **more: str) -> bytes:
    return zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package(["a.xhtml"]),
            "OPS/a.xhtml": body,
            **{name.replace("__", "/"): data for name, data in more.items()},
        }
    )


@pytest.mark.parametrize("data", [b"not a zip", GOOD[:200], b"PK\x03\x04" + b"\0" * 500, GOOD[60:]])
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Invalid, match="no EPUB|damaged"):
        read_manuscript(written(tmp_path, data), format="epub")


def test_a_zip_that_is_no_book_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no EPUB"):
        read_epub(written(tmp_path, zipped({"a.txt": "x"})))
    with pytest.raises(Invalid, match="Word document"):
        read_epub(written(tmp_path, zipped({"word/document.xml": "x"})))
    with pytest.raises(Invalid, match="no pages"):
        read_epub(written(tmp_path, zipped({"META-INF/container.xml": CONTAINER, "OPS/book.opf": "<package/>"})))


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "\\evil", "a\\..\\..\\b", "C:\\x", "C:/x"])
def test_f53_an_entry_that_leads_outside_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    entries = {"META-INF/container.xml": CONTAINER, "OPS/book.opf": package(["a.xhtml"]), name: "x"}
    path = written(tmp_path, zipped(entries))
    with pytest.raises(Refused, match="leads outside"):
        read_epub(path)
    assert list(tmp_path.iterdir()) == [path]


def test_f53_a_link_in_the_archive_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a") as book:
        link = zipfile.ZipInfo("OPS/link.xhtml")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        book.writestr(link, "/etc/passwd")
    with pytest.raises(Refused, match="leads outside"):
        read_epub(written(tmp_path, buffer.getvalue()))


@pytest.mark.parametrize("href", ["../../etc/passwd", "/etc/passwd", "..%2f..%2f..%2fetc%2fpasswd"])
def test_f53_a_page_named_outside_of_the_archive_is_refused(tmp_path: Path, href: str) -> None:
    data = zipped({"META-INF/container.xml": CONTAINER, "OPS/book.opf": package([href])})
    with pytest.raises(Refused, match="outside of it"):
        read_epub(written(tmp_path, data))


def test_f53_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    began = time.process_time()
    path = written(tmp_path, book_of(page("<p>" + "0" * 30_000_000 + "</p>")))
    packing = time.process_time() - began
    assert path.stat().st_size < 100_000
    with pytest.raises(Refused, match="unpacks to far more"):
        read_epub(path)
    assert time.process_time() - began < packing + 1


def test_f53_many_large_entries_are_a_bomb_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_READ", 100_000)
    pages = {f"{number}.xhtml": "<p>" + "x " * 20_000 + "</p>" for number in range(5)}
    with pytest.raises(Refused, match="unpacks to far more"):
        read_epub(written(tmp_path, epub(pages)))
    monkeypatch.setattr(archive, "MAX_ENTRIES", 5)
    with pytest.raises(Refused, match="7 entries"):
        read_epub(written(tmp_path, epub(pages)))


def test_an_entry_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    data = bytearray(book_of(page("<p>" + "It rained. " * 300 + "</p>")))
    size = data.rindex(b"PK\x01\x02") + 24
    data[size : size + 4] = (10).to_bytes(4, "little")
    with pytest.raises(Invalid, match="damaged"):
        read_epub(written(tmp_path, bytes(data)))


def test_an_entry_without_a_name_is_damage(tmp_path: Path) -> None:
    data = bytearray(GOOD)
    name = data.rindex(b"PK\x01\x02") + 46
    data[name] = 0
    with pytest.raises(Invalid, match="damaged"):
        read_epub(written(tmp_path, bytes(data)))


def test_protected_books_are_refused_clearly(tmp_path: Path) -> None:
    cipher = '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'
    for more in ({"META-INF__encryption.xml": cipher}, {"META-INF__rights.xml": "<rights/>"}):
        with pytest.raises(Refused, match=r"protected \(DRM\)"):
            read_epub(written(tmp_path, book_of(page("<p>x</p>"), **more)))
    locked = bytearray(GOOD)
    place = 0
    while (place := locked.find(b"PK\x01\x02", place)) >= 0:
        locked[place + 8] |= 1
        place += 4
    with pytest.raises(Refused, match="password"):
        read_epub(written(tmp_path, bytes(locked)))


def test_entities_are_not_expanded_and_nothing_is_loaded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    for head, use in (
        (f'<!DOCTYPE html [<!ENTITY l0 "lol">{laughs}]>', "&l9;"),
        (f'<!-- x --><!DOCTYPE html [<!ENTITY l0 "lol">{laughs}]>', "&l9;"),
        (f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>', "&x;"),
        (f'<!-- x --><!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>', "&x;"),
    ):
        began = time.process_time()
        body = f"{head}<html><body><p>before {use} after</p></body></html>"
        manuscript, notes = read_epub(written(tmp_path, book_of(body)))
        assert "Left as they are written: the entities that 1 page(s) declare; none was looked up." in notes
        found = manuscript.chapters[0].text
        assert "secret" not in found
        assert len(found) < 200
        assert "before" in found
        assert "after" in found
        assert time.process_time() - began < 1


def test_pages_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    for depth in (150, 3000):
        for broken in ("", "<p>"):
            body = page(broken + "<div>" * depth + "deep" + "</div>" * depth)
            with pytest.raises(Invalid, match="nested too deeply"):
                read_epub(written(tmp_path, book_of(body)))


def test_a_page_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="not a text"):
        read_epub(written(tmp_path, zipped({
            "META-INF/container.xml": CONTAINER, "OPS/book.opf": package(["a.xhtml"]), "OPS/a.xhtml": b"\0\1\2" * 99,
        })))  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
def test_any_damage_ends_in_a_book_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]], cut: bool
) -> None:
    data = bytearray(GOOD)
    for place, value in damage:
        data[place] = value
    path = tmp_path_factory.getbasetemp() / "damaged.epub"
    path.write_bytes(bytes(data[: damage[0][0]] if cut else data))
    try:
        found = read_manuscript(path, format="epub")
    except MarginaliaError as error:
        assert error.message.endswith(".")
    else:
        assert found.manuscript.chapters


@settings(max_examples=200)
@given(st.text(st.sampled_from("<>/&;pbia\"'=! -x#[]?"), max_size=80))
def test_any_markup_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, body: str) -> None:
    path = tmp_path_factory.getbasetemp() / "markup.epub"
    path.write_bytes(book_of(page(body), OPS__b="x"))
    try:
        read_epub(path)
    except MarginaliaError as error:
        assert error.message.endswith(".")
