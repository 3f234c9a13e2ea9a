"""Files in and out: sizes are checked first, targets appear whole or not at all."""

import errno
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound, Refused
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from tests.support.books import a_manuscript, epub

BOOK = a_manuscript("It rained.", "She came.")
FORMATS = ("markdown", "text", "epub", "folder")


def test_a_file_of_200_mb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.md"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("it was opened"))
    for format in (None, "markdown", "text", "epub"):
        with pytest.raises(Invalid, match="too large for a book"):
            read_manuscript(path, format=format)


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(Invalid, match="neither a file nor a folder"):
            read_manuscript(path)
    with pytest.raises(NotFound, match="no file or folder"):
        read_manuscript(tmp_path / "missing.md")
    with pytest.raises(MarginaliaError):
        read_manuscript(Path("a\0b"))
    (tmp_path / "empty.md").touch()
    with pytest.raises(Invalid, match="is empty"):
        read_manuscript(tmp_path / "empty.md")


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(Refused, match="may not be read"):
        read_manuscript(tmp_path / "a.md")


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_replaced_without_force(tmp_path: Path, format: str) -> None:
    path = tmp_path / "out"
    size = write_manuscript(BOOK, format, path)
    assert size == sum(each.stat().st_size for each in ([path] if path.is_file() else path.iterdir()))
    with pytest.raises(Refused, match="exists already"):
        write_manuscript(a_manuscript("other"), format, path)
    write_manuscript(a_manuscript("other"), format, path, force=True)
    assert read_manuscript(path).manuscript.chapters[0].text == "other"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, "disk is too full"), (errno.EROFS, "may not be written"), (errno.EIO, "can't be written")],
)
@pytest.mark.parametrize("step", ["fsync", "open"])
def test_f42_a_write_that_fails_leaves_nothing_behind_and_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, number: int, sentence: str, step: str
) -> None:
    path = tmp_path / "out"
    write_manuscript(BOOK, format, path)

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "sync" if (format, step) == ("folder", "fsync") else step, fail)
        with pytest.raises(MarginaliaError, match=sentence) as failed:
            write_manuscript(a_manuscript("other"), format, path, force=True)
    assert failed.value.message.endswith("Nothing was written.")
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert read_manuscript(path).manuscript == BOOK or format == "text"
    assert read_manuscript(path).manuscript.chapters == BOOK.chapters


def test_a_folder_that_can_not_be_synced_does_not_unwrite_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def files_only(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(handle)

    monkeypatch.setattr(os, "fsync", files_only)
    write_manuscript(BOOK, "markdown", tmp_path / "out")
    assert read_manuscript(tmp_path / "out").manuscript == BOOK


def test_f54_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    for target in (outside, tmp_path / "dangling"):
        link = tmp_path / "link.md"
        link.symlink_to(target)
        for force in (False, True):
            with pytest.raises(Refused, match="is a link"):
                write_manuscript(BOOK, "markdown", link, force=force)
            with pytest.raises(Refused, match="is a link"):
                write_manuscript(BOOK, "folder", link, force=force)
        assert not target.exists()
        link.unlink()


def test_targets_that_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="There is no folder"):
        write_manuscript(BOOK, "markdown", tmp_path / "no" / "out.md")
    for force in (False, True):
        with pytest.raises(MarginaliaError):
            write_manuscript(BOOK, "markdown", tmp_path, force=force)
    with pytest.raises(Invalid, match="can't be written|no path"):
        write_manuscript(BOOK, "markdown", tmp_path / ("x" * 300))
    with pytest.raises(Invalid, match="NUL"):
        write_manuscript(BOOK, "markdown", tmp_path / "a\0b")
    (tmp_path / "file").write_text("x")
    with pytest.raises(Refused, match="is a file"):
        write_manuscript(BOOK, "folder", tmp_path / "file", force=True)
    with pytest.raises(Invalid, match="no format 'pdf'"):
        write_manuscript(BOOK, "pdf", tmp_path / "out")
    with pytest.raises(Invalid, match="no parts yet"):
        write_manuscript(a_manuscript(), "markdown", tmp_path / "out")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_of_two_exports_at_once_one_is_refused(tmp_path: Path) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def export(number: int) -> None:
        start.wait()
        try:
            files.write_file(tmp_path / "out", f"{number}".encode() * 100_000, force=False)
            outcomes.append("written")
        except Refused:
            outcomes.append("refused")

    threads = [threading.Thread(target=export, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 7 + ["written"]
    assert len(set((tmp_path / "out").read_text())) == 1


def test_a_disk_without_hard_links_is_written_to_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    write_manuscript(BOOK, "markdown", tmp_path / "out")
    assert read_manuscript(tmp_path / "out").manuscript == BOOK


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def make(name: str, data: bytes) -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return make


def test_the_content_decides_about_the_format(source: Callable[[str, bytes], Path]) -> None:
    book = epub({"a.xhtml": "<p>x</p>"})
    for name, data, expected in (
        ("novel.txt", b"# One\n\nx\n\n# Two\n\ny", "markdown"),
        ("novel.md", b"Chapter 1\n\nx\n\nChapter 2\n\ny", "text"),
        ("novel.md", b"# One\n\nx", "markdown"),
        ("novel.md", b"no heading", "markdown"),
        ("novel", b"no heading", "text"),
        ("novel.txt", b"# a remark, in a text\n\nChapter 1\n\nx\n\nChapter 2\n\ny", "text"),
        ("novel.txt", b"---\ntitle: x\n---\n\ny", "markdown"),
        ("novel.md", book, "epub"),
        ("novel.zip", book, "epub"),
    ):
        assert read_manuscript(source(name, data)).format == expected, (name, data[:20])
    path = source("novel.md", b"# One\n\nx")
    assert read_manuscript(path, format="txt").manuscript.chapters[0].text == "# One\n\nx"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"{\\rtf1\\ansi x}", "RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Word"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"\x00" * 60 + b"BOOKMOBI", "Kindle"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\x1f\x8b\x08", "packed"),
    ],
)
def test_other_files_are_named_and_refused(source: Callable[[str, bytes], Path], data: bytes, what: str) -> None:
    with pytest.raises(Invalid, match=f"is .*{what}.*: save it as"):
        read_manuscript(source("book.md", data))


def test_formats_and_levels_that_do_not_fit(source: Callable[[str, bytes], Path], tmp_path: Path) -> None:
    path = source("a.txt", b"just text")
    for format, level, sentence in (
        ("word", None, "no format 'word'"),
        (None, 9, "between 1 and 6"),
        (None, 2, "plain text, which has no headings"),
        ("folder", None, "is a file"),
        ("epub", None, "no EPUB"),
    ):
        with pytest.raises(Invalid, match=sentence):
            read_manuscript(path, format=format, level=level)
    with pytest.raises(Invalid, match="is a folder"):
        read_manuscript(tmp_path, format="epub")


def test_the_title_is_that_of_the_author_the_book_or_the_file(source: Callable[[str, bytes], Path]) -> None:
    path = source("the file.md", b"# Own\n\n## A\n\nx\n\n## B\n\ny")
    assert read_manuscript(path).manuscript.title == "Own"
    given = read_manuscript(path, title="  Given\n\x1b[31m [red]x[/red] ")
    assert given.manuscript.title == "Given \u241b[31m [red]x[/red]"
    assert given.notes == ("Its own title 'Own' was replaced.",)
    assert read_manuscript(source("the file.md", b"x")).manuscript.title == "the file"
    with pytest.raises(Invalid, match="title"):
        read_manuscript(path, title=" \n ")


def test_the_language_is_guessed_from_the_script(source: Callable[[str, bytes], Path]) -> None:
    for text, language in (
        ("她来了。" * 20, "zh"),
        ("彼女は来た。" * 20, "ja"),
        ("она пришла", "ru"),
        ("She came", ""),
    ):
        assert read_manuscript(source("a.md", text.encode())).manuscript.language == language
    assert read_manuscript(source("a.md", "---\nlang: de\n---\n她".encode())).manuscript.language == "de"


def test_the_source_is_never_changed(source: Callable[[str, bytes], Path]) -> None:
    path = source("a.md", b"# One\r\n\r\nx\x1b\r\n")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    read_manuscript(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_novel_of_3_mb_is_read_and_written_fast(tmp_path: Path) -> None:
    book = a_manuscript(*("\n\n".join(["It rained. " * 60] * 45) for _ in range(100)))
    for format, seconds in (("markdown", 2.0), ("text", 2.0), ("epub", 6.0), ("folder", 3.0)):
        began = time.process_time()
        size = write_manuscript(book, format, tmp_path / format)
        assert format == "epub" or size > 2_900_000
        read = read_manuscript(tmp_path / format)
        assert len(read.manuscript.chapters) == 100
        assert time.process_time() - began < seconds, format
