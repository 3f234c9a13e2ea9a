"""Nothing is lost: what is written is read back with the same words in the same order, in every format."""

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.services.books import check_title
from marginalia_tui.services.exchange.blocks import Block, text_of
from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.epub_writer import write_epub
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.folder import read_folder
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, words_of
from marginalia_tui.services.exchange.markdown import read_markdown, tidy, write_markdown
from marginalia_tui.services.exchange.plaintext import read_plain_text, write_plain_text
from tests.support.books import a_manuscript, manuscripts, prose


def parts_of(manuscript: Manuscript) -> list[tuple[str, str]]:
    return [(chapter.title, chapter.text) for chapter in manuscript.chapters]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    folder, count = tmp_path_factory.mktemp("scratch"), iter(range(1_000_000))
    return lambda: folder / f"out-{next(count)}"


@settings(max_examples=80)
@given(manuscripts())
@example(Manuscript(title="T", chapters=(Chapter(text="```\nopen fence"), Chapter(title="Next", text="```\nx\n```"))))
@example(Manuscript(title="T", chapters=(Chapter(text="<!-- open"), Chapter(title="Next", text="x --> y"))))
@example(Manuscript(title="", chapters=(Chapter(text="---\na: b\n---\n\nx"),)))
@example(Manuscript(title="T", chapters=(Chapter(title="One"), Chapter(title="Two", text="# Inside\n\nx"))))
def test_markdown_gives_the_same_parts_back(manuscript: Manuscript) -> None:
    read = read_markdown(write_markdown(manuscript))
    book = tidy(manuscript)
    closed = [(title, text) for title, text in parts_of(read)]
    if not any(mark in chapter.text for chapter in book.chapters for mark in ("```", "~~~", "<!--")):
        assert closed == parts_of(book)
    assert words_of(read) == words_of(manuscript)
    assert (read.title, read.author, read.language) == (book.title, book.author, book.language)
    assert read.description == book.description


@settings(max_examples=80)
@given(manuscripts())
def test_plain_text_gives_the_same_words_back(manuscript: Manuscript) -> None:
    read = read_plain_text(write_plain_text(tidy(manuscript)))
    assert words_of(read) == words_of(manuscript)
    assert (read.title, read.author) == (tidy(manuscript).title, tidy(manuscript).author)


@settings(max_examples=60)
@given(manuscripts())
@example(Manuscript(title="T", chapters=(Chapter(text=">" * 300 + " deep"), Chapter(text="- " * 200 + "deeper"))))
@example(Manuscript(title="T", chapters=(Chapter(text="| a | b |\n|---|---|\n| c | d | lost |"),)))
@example(Manuscript(title="T", chapters=(Chapter(text="[a]: http://b.example/c\n\n[lonely]: word"),)))
@example(
    Manuscript(title="T", chapters=(Chapter(text='[in](#x) ![pic](p.png "t") <sigh> </div> <https://a.example/b>'),))
)
@example(Manuscript(title="T", chapters=(Chapter(text="3. x\n7. y\n\n<u>un*der</u>lined*"),)))
def test_epub_gives_the_same_words_back(scratch: Callable[[], Path], manuscript: Manuscript) -> None:
    path = scratch()
    path.write_bytes(write_epub(manuscript))
    if not any(chapter.title or chapter.text for chapter in tidy(manuscript).chapters):
        return
    read, notes = read_epub(path)
    assert words_of(read) == words_of(manuscript)
    assert notes == ()
    # What came out of an EPUB is the same after another journey: nothing creeps.
    path.write_bytes(write_epub(read))
    assert parts_of(read_epub(path)[0]) == parts_of(read)


@settings(max_examples=80)
@given(manuscripts())
@example(Manuscript(title="T", chapters=(Chapter(text=">" * 300 + " deep"), Chapter(text="- " * 200 + "deeper"))))
@example(Manuscript(title="T", chapters=(Chapter(text="| a | b |\n|---|---|\n| c | d | lost |"),)))
@example(Manuscript(title="T", chapters=(Chapter(text="| a | b |\n|---|---|\n| c | d |\n\n| e | f |\n|---|---|"),)))
@example(Manuscript(title="T", chapters=(Chapter(text="[a]: http://b.example/c\n\n[lonely]: word"),)))
@example(Manuscript(title="T", chapters=(Chapter(text='[in](#x) [o](http://x.example "t t") ![p](p.png "t") </div>'),)))
@example(Manuscript(title="T", chapters=(Chapter(text="3. x\n7. y\n\n1912. The year.\n\n99999. z\n\n1. - 2. d"),)))
@example(
    Manuscript(
        title="T", chapters=(Chapter(text="one[^x] two[^b]\n\n[^b]: here\n\n> q[^x]"), Chapter(text="[^x]: there"))
    )
)
@example(Manuscript(title="T", chapters=(Chapter(text="[^a]: sees[^b]\n\n[^b]: lonely\n\nx[^a][^a]\n\n[^a]: again"),)))
@example(Manuscript(title="T", chapters=(Chapter(text="[^a]: first\n\nx[^a]"), Chapter(title="One[^a] `x` *y*"))))
def test_docx_gives_the_same_words_back(scratch: Callable[[], Path], manuscript: Manuscript) -> None:
    path = scratch()
    path.write_bytes(write_docx(manuscript))
    read, notes = read_docx(path)
    assert words_of(read) == words_of(manuscript)
    assert (read.title, read.author, read.description) == (
        tidy(manuscript).title,
        tidy(manuscript).author,
        tidy(manuscript).description,
    )
    assert notes == ()
    # What came out of a DOCX is the same after another journey: nothing creeps.
    path.write_bytes(write_docx(read))
    assert parts_of(read_docx(path)[0]) == parts_of(read)


@settings(max_examples=25)
@given(manuscripts())
def test_a_folder_gives_the_same_parts_back(scratch: Callable[[], Path], manuscript: Manuscript) -> None:
    if not manuscript.chapters:
        return
    path = scratch()
    write_manuscript(manuscript, "folder", path)
    read, _ = read_folder(path)
    assert parts_of(read) == parts_of(tidy(manuscript))
    assert replace(read, chapters=()) == replace(tidy(manuscript), chapters=())


_KEPT = (
    "> one\n\n> another\n\n> > deeper",
    "- a\n- b\n\n* c\n* d\n\n1. e\n2. f\n\n1) g",
    "Of these:\n- one\n- two\n\n## Head\nAt once.\n\n\n\nLater.\n* * *\nAfter",
    "a[^1] b[^2]\n[^1]: one\n[^2]: two\n\nMore",
    "Two  spaces, *three   here*,\ta tab.\\\nA line\nthat goes on *over\nits end* in  verse",
    "\u3000\u3000Indented\n\n\xa0\n\nafter a hard blank\n\na\n\nb\n\nc\n\nd\n\n\u3000\u3000x\n\u3000y",
    '<USER> in {{place}} <a href="x*y*z">b</a> [in](two.md) ![p](a_b_c.png) [See][r] <mark>m</mark>\n\n[r]: x',
    "1. loose\n\n2. list\n\n   of paragraphs",
    "",
    "x\n\n```py\ncode  a\n\tb\n```\ny\n\n| a  b | c |\n| :-: | --- |\n| d | e |\n\n| f | g |\n| --- | --- |\n| h | i |",
)


@pytest.mark.parametrize("format", ["epub", "docx"])
def test_blocks_spaces_and_line_ends_are_the_same_after_a_page_format(tmp_path: Path, format: str) -> None:
    book = a_manuscript(*_KEPT)
    write_manuscript(book, format, tmp_path / "out")
    assert parts_of(read_manuscript(tmp_path / "out").manuscript) == parts_of(book)


def test_a_file_of_another_program_is_read_by_its_layout(tmp_path: Path) -> None:
    # The spaces and the line ends in the page of an EPUB are layout, unless the studio wrote it.
    path = tmp_path / "out.epub"
    path.write_bytes(write_epub(a_manuscript("Two  spaces\nand a line end. [in](two.md)")))
    with zipfile.ZipFile(path) as archive:
        pages = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, page in pages.items():
            archive.writestr(name, page.replace(b'content="Marginalia"', b'content="Other"'))
    assert read_epub(path)[0].chapters[0].text == "Two spaces and a line end. [in\\](two.md)"


def test_joints_that_a_file_makes_up_do_no_harm() -> None:
    blocks = [Block("One."), Block("Two.", joint=1), Block("* * *", joint=1), Block("Three.", joint=999_999_999)]
    assert text_of(blocks) == "One.\n\nTwo.\n* * *" + "\n" * 100 + "Three."
    assert text_of([Block("> a"), Block("> b", joint=0)]) == "> a\n\n> b"


def test_parts_without_a_title_stay_parts_in_plain_text() -> None:
    book = Manuscript(
        title="Chat",
        chapters=(Chapter(text="One.\n\n\n\n\n\nStill."), Chapter(text="Two."), Chapter(title="T"), Chapter(text="3.")),
    )
    assert parts_of(read_plain_text(write_plain_text(book))) == parts_of(book)
    # A line in the text of somebody else parts nothing.
    alone = f"One.\n\n{'-' * 40}\n\nTwo."
    assert [chapter.text for chapter in read_plain_text(alone).chapters] == [alone]


def test_f44_scene_breaks_survive_every_format(tmp_path: Path) -> None:
    book = a_manuscript("Before.\n\n* * *\n\nAfter.", "One.\n\n* * *\n\nTwo.")
    for format in ("markdown", "text", "epub", "docx", "folder", "longform"):
        path = tmp_path / format
        write_manuscript(book, format, path)
        assert parts_of(read_manuscript(path).manuscript) == parts_of(book), format


def test_f44_an_import_of_nothing_is_an_error(tmp_path: Path) -> None:
    for name, content in (("a.md", " \n\n"), ("b.txt", "\n"), ("c.md", "---\ntitle: Only a title\n---\n")):
        (tmp_path / name).write_text(content)
        with pytest.raises(MarginaliaError, match="no text"):
            read_manuscript(tmp_path / name)


def test_f45_unknown_fields_are_the_same_bytes_after_import_and_export() -> None:
    front = "tags: [a, 'b: c']\ncustom:\n  deep:\n    - 1\n    - {x: y}\n# remark\nempty:"
    text = f'---\ntitle: "A \\"quoted\\" one"\n{front}\nlang: fr\n---\n\n# One\n\nx\n\n# Two\n\ny\n'
    book = read_markdown(text)
    assert (book.title, book.language) == ('A "quoted" one', "fr")
    assert book.attributes["front_matter"] == front
    assert front in write_markdown(book)
    assert read_markdown(write_markdown(book)) == book


def test_the_text_of_prose_is_the_same_after_an_epub(tmp_path: Path) -> None:
    book = replace(a_manuscript(prose(30), prose(20, seed=1), author="N. N."), description="About & <b>")
    path = tmp_path / "book.epub"
    write_manuscript(book, "epub", path)
    read = read_manuscript(path)
    assert read.format == "epub"
    assert read.manuscript == book


@pytest.mark.parametrize("format", ["epub", "docx"])
def test_a_part_of_two_megabytes_that_says_the_same_again_is_no_bomb(tmp_path: Path, format: str) -> None:
    book = a_manuscript("The lamp was lit at dusk. " * 80_000, "short")
    write_manuscript(book, format, tmp_path / "out")
    assert words_of(read_manuscript(tmp_path / "out").manuscript) == words_of(book)


def test_a_hard_space_in_the_title_of_a_book_stays() -> None:
    assert check_title(" Dr.\xa0Jekyll\n and  Mr.\u3000Hyde ") == "Dr.\xa0Jekyll and Mr.\u3000Hyde"
