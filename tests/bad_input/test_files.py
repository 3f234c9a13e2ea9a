"""Bad files and bad lines: each ends in one sentence that says what to do.

What is refused leaves nothing behind, and what was there stays as it was.
"""

import os
import zipfile
from pathlib import Path

import pytest

from tests.bad_input.program import Program, file_of

HOSTILE = "Evil \x1b]0;OWNED\x07\x1b[2J\x9b31m [red]x[/] {b} \u202e\u2066back \x08 end"
"""Escapes, markup, directions, a bell."""


@pytest.mark.usefixtures("unchanged")
class TestFiles:
    """What can't be read as a book."""

    def test_an_empty_file(self, program: Program, tmp_path: Path) -> None:
        program("import", file_of(tmp_path, "empty.md", b"")).refused("empty.md")
        program("import", file_of(tmp_path, "blank.txt", b" \n\t\r\n\xef\xbb\xbf")).refused("blank.txt")

    @pytest.mark.parametrize("name", ["picture.png", "book.md", "book.txt", "book.epub", "no-suffix"])
    def test_a_binary_file(self, program: Program, tmp_path: Path, name: str) -> None:
        data = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
        program("import", file_of(tmp_path, name, data)).refused(name)

    def test_an_epub_that_is_no_zip(self, program: Program, tmp_path: Path) -> None:
        path = file_of(tmp_path, "book.epub", b"PK\x03\x04 and then nothing that a zip has")
        program("import", path).refused("book.epub")
        program("import", path, "--format", "epub").refused("book.epub")

    def test_a_zip_that_is_cut_off(self, program: Program, tmp_path: Path) -> None:
        whole = tmp_path / "whole.epub"
        with zipfile.ZipFile(whole, "w") as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", "<container/>" * 100)
        program("import", file_of(tmp_path, "cut.epub", whole.read_bytes()[:300])).refused("cut.epub")

    def test_f53_a_zip_bomb(self, program: Program, tmp_path: Path) -> None:
        path = tmp_path / "bomb.epub"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", b" " * 200_000_000)
        program("import", path).refused("bomb.epub")

    def test_f53_a_path_outside(self, program: Program, tmp_path: Path) -> None:
        container = (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
            '<rootfile full-path="../../outside.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>"
        )
        path = tmp_path / "outside.epub"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", container)
            archive.writestr("../../outside.opf", "<package/>")
            archive.writestr("/etc/absolute.xhtml", "<p>x</p>")
        program("import", path).refused("outside.epub")
        assert not (tmp_path.parent / "outside.opf").exists()

    def test_a_file_of_200_mb(self, program: Program, tmp_path: Path) -> None:
        for name in ("huge.md", "huge.txt", "huge.epub"):
            path = tmp_path / name
            with path.open("wb") as file:
                file.truncate(200_000_000)
            program("import", path).refused(name)

    def test_a_file_without_an_end(self, program: Program) -> None:
        program("import", "/dev/zero").refused()

    def test_a_pipe_without_a_writer(self, program: Program, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.md")
        program("import", tmp_path / "pipe.md").refused("pipe.md")

    def test_nothing_there(self, program: Program, tmp_path: Path) -> None:
        for path in (tmp_path / "none.md", "~nobody-has-this-name/book.md", "", "\udcff.md"):
            program("import", path).refused()

    def test_a_format_or_a_level_that_there_is_not(self, program: Program, tmp_path: Path) -> None:
        path = file_of(tmp_path, "book.md", b"# A\n\ntext\n")
        assert program("import", path, "--format", "pages").code == 2
        assert program("import", path, "--level", "9").code == 2

    def test_an_export_that_can_not_be_written(self, program: Program, tmp_path: Path) -> None:
        file = file_of(tmp_path, "file", b"mine")
        os.mkfifo(tmp_path / "pipe")
        for path in (file / "below.md", "/proc/nowhere/book.md", tmp_path / "pipe", tmp_path):
            program("export", "Kept", "--format", "markdown", "--output", path, "--force").refused()
        assert (tmp_path / "pipe").is_fifo()
        assert file.read_bytes() == b"mine"
        assert program("export", "Kept", "--format", "pages", "--output", tmp_path / "x").code == 2


def test_broken_utf_8_is_imported_and_told(program: Program, tmp_path: Path) -> None:
    """Nothing is lost: what is no UTF-8 is read in the encoding that it fits, and the author is told."""
    path = file_of(tmp_path, "latin.md", "# Übung\n\nEin Häuschen für drei Mäuse, schön groß.\n".encode("latin-1"))
    said = program("import", path)
    assert said.code == 0, said.err
    rows = program("exec", "--book", said.json["book"], "/list-parts").out
    assert "Übung" in rows
    good = "Schöne Mäuse für Änne, größer noch — „ja“.\n\n".encode()
    for broken in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        program("import", file_of(tmp_path, "mixed.md", good * 9 + broken + good)).refused("mixed.md", "line 19")


def test_a_book_of_5000_headings(program: Program, tmp_path: Path) -> None:
    lines = [f"## Chapter {number}\n\nText {number}.\n" for number in range(5_000)]
    said = program("import", file_of(tmp_path, "many.md", ("# Many\n\n" + "\n".join(lines)).encode()))
    assert (said.code, said.json["parts"]) == (0, 5_000)
    assert program("exec", "--book", "Many", "/get-part 5000").json["result"]["text"] == "Text 4999."
    out = tmp_path / "out.md"
    assert program("export", "Many", "--format", "markdown", "--output", out).code == 0
    assert out.read_text(encoding="utf-8").count("\n## ") == 5_000


def test_titles_with_escapes_and_markup_are_shown_and_not_obeyed(program: Program, tmp_path: Path) -> None:
    program("import", file_of(tmp_path, "null.md", f"# {HOSTILE}\x00\n\ntext\n".encode()))
    body = f"# {HOSTILE}\n\n## {HOSTILE}\n\n{HOSTILE}\n"
    path = file_of(tmp_path, "hostile.md", body.encode())
    controls = set(map(chr, [*range(9), *range(11, 32), 127, *range(128, 160), 0x202E, 0x2066]))
    for as_json in (True, False):
        said = program("import", path, as_json=as_json)
        assert said.code == 0
        assert not set(said.out + said.err) & controls
    title = program("books").json[0]["title"]
    book = program("books").json[0]["book"]
    assert "[red]x[/] {b}" in title
    for verb in (
        ["books"],
        ["exec", "--book", book, "/list-parts"],
        ["exec", "--book", book, "/get-part 1"],
        ["exec", "--book", book, '/find-occurrences "[red]x[/]"'],
        ["exec", "--book", book, '/search-replace-parts "x[/]" "y" 10 true'],
        ["exec", "--book", book, f'/edit-part 1 "{HOSTILE[:8]}" "b"'],
        ["export", "Nothing " + HOSTILE, "--format", "markdown", "--output", "x"],
    ):
        said = program(*verb, as_json=False)
        assert not set(said.out + said.err) & controls, verb


@pytest.mark.parametrize(
    "line",
    ["", "   ", "/", "//", "/nothing", '/get-part "', "/get-part 99999999999999999999", "/get-part -1", "/get-part \\",
     "/find-occurrences", '/find-occurrences ""', "/find-occurrences (a+)+$ true", "/edit-part 1",
     "/edit-part 1 a a a a a a", '/set-book-info ""', "\x00", "/get-part \x1b[31m", "/count-tokens 7"],
)  # fmt: skip
@pytest.mark.usefixtures("unchanged")
def test_a_line_that_is_no_command(program: Program, line: str) -> None:
    said = program("exec", "--book", "Kept", line)
    assert said.code in (0, 1)
    if said.code == 1:
        assert said.json["ok"] is False
        assert said.err.startswith("Error: ")
        assert said.err.count("\n") == 1
        assert "Traceback" not in said.err
