"""Real books, word for word: imported, exported in every format, imported again."""

import re
from pathlib import Path

import docx as python_docx
import pypandoc
import pytest

from marginalia_tui.domain.words import find_words
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.services.exchange.manuscript import Manuscript, words_of
from marginalia_tui.services.exchange.markdown import write_markdown
from marginalia_tui.store.store import Store

REALDATA = Path(__file__).parents[4] / "shared" / "realdata"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not REALDATA.is_dir(), reason="the real books are not beside the project (../shared/realdata)"),
]


@pytest.mark.parametrize(("name", "parts"), [("moby-dick", 139), ("three-kingdoms-zh", 120), ("jekyll-and-hyde", 10)])
def test_a_real_book_keeps_every_word(store: Store, tmp_path: Path, name: str, parts: int) -> None:
    folder = REALDATA / name
    book = read_manuscript(folder).manuscript
    source = [
        word
        for path in sorted((folder / "chapters").iterdir())
        for word in find_words(path.read_text(encoding="utf-8"))
    ]
    # The one file of Moby Dick without a heading takes the title that the index gives it.
    invented = ["Dedication"] if name == "moby-dick" else []
    assert words_of(book) == invented + source
    assert len(book.chapters) == parts

    made = import_book(store, folder)
    assert made.parts == parts
    for format in ("markdown", "text", "epub", "docx", "folder", "longform"):
        path = export_book(store, made.uuid, format, tmp_path / format).path
        read = read_manuscript(path)
        assert read.format == format
        assert words_of(read.manuscript) == words_of(book), format
        assert read.manuscript.chapters == book.chapters, format


@pytest.mark.parametrize("name", ["moby-dick", "three-kingdoms-zh"])
def test_a_real_book_in_one_file_of_a_legacy_encoding(tmp_path: Path, name: str) -> None:
    book = read_manuscript(REALDATA / name).manuscript
    write_manuscript(book, "markdown", tmp_path / "utf8.md")
    encoding = "gb18030" if name.endswith("zh") else "cp1252"
    text = (tmp_path / "utf8.md").read_text(encoding="utf-8")
    legacy = text.encode(encoding, "ignore")
    (tmp_path / "legacy.md").write_bytes(legacy.replace(b"\n", b"\r\n"))
    read = read_manuscript(tmp_path / "legacy.md")
    assert len(read.manuscript.chapters) == len(book.chapters)
    (tmp_path / "utf8.md").write_text(legacy.decode(encoding), encoding="utf-8")
    assert read.manuscript == read_manuscript(tmp_path / "utf8.md").manuscript


_LABEL = re.compile(r"\[\^[^\]]+\]")


def words_without_labels(book: Manuscript) -> list[str]:
    """The words of a book but for the labels of its notes, which other programs number anew."""
    return [
        word for chapter in book.chapters for word in find_words(_LABEL.sub(" ", f"{chapter.title}\n{chapter.text}"))
    ]


@pytest.mark.parametrize("name", ["moby-dick", "three-kingdoms-zh", "jekyll-and-hyde"])
@pytest.mark.parametrize("format", ["docx", "epub2", "epub3"])
def test_a_real_book_in_a_file_of_pandoc(tmp_path: Path, name: str, format: str) -> None:
    book = read_manuscript(REALDATA / name).manuscript
    path = tmp_path / f"book.{format[:4]}"
    pypandoc.convert_text(write_markdown(book), format, format="markdown-smart", outputfile=str(path))
    imported = read_manuscript(path)
    again = imported.manuscript
    assert imported.format == format[:4]
    assert imported.notes == ()
    assert (again.title, again.author) == (book.title, book.author)
    assert [find_words(chapter.title) for chapter in again.chapters] == [
        find_words(chapter.title) for chapter in book.chapters
    ]
    # Pandoc takes one pair of asterisks for emphasis that CommonMark reads as text: a tag of two words.
    found, wanted = ([word for word in words_without_labels(each) if word != "em"] for each in (again, book))
    assert found == wanted


@pytest.mark.parametrize("name", ["moby-dick", "three-kingdoms-zh", "jekyll-and-hyde"])
def test_other_programs_read_what_we_write_of_a_real_book(tmp_path: Path, name: str) -> None:
    book = read_manuscript(REALDATA / name).manuscript
    write_manuscript(book, "docx", tmp_path / "book.docx")
    document = python_docx.Document(str(tmp_path / "book.docx"))
    headings = [each.text for each in document.paragraphs if each.style and each.style.name == "Heading 1"]
    assert len(headings) == len(book.chapters)
    write_manuscript(book, "epub", tmp_path / "book.epub")
    for path in (tmp_path / "book.docx", tmp_path / "book.epub"):
        found = set(find_words(pypandoc.convert_file(str(path), "plain", extra_args=["--wrap=none"])))
        missing = [word for word in words_without_labels(book) if word not in found]
        assert len(missing) <= 2, missing[:20]
