"""Books into the library and out of it."""

from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.words import count_words
from marginalia_tui.services.annotations import made_by, notes_of_book
from marginalia_tui.services.books import list_books
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import export_book, import_book, manuscript_of
from marginalia_tui.services.exchange.manuscript import words_of
from marginalia_tui.services.parts import branch_part, create_part, story_tree, switch_branch
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.books import add_book, prose
from tests.support.documents import HEADINGS, docx, p

TEXT = "---\ntitle: The Ferry\nauthor: N. N.\ntags: [a]\n---\n\nFor Ada.\n\n# One\n\nIt rained.\n\n# Two\n\nShe came.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.md"
    path.write_text(TEXT)
    return path


def changes(store: Store) -> int:
    with store.read() as tx:
        return len(tx.connection.execute(tables.change.select()).all())


def test_a_book_becomes_a_chain_of_parts_in_one_change(store: Store, source: Path) -> None:
    made = import_book(store, source)
    with store.read() as tx:
        space = tx.space(LIBRARY)
        book = space.get(Book, made.uuid)
        tree = story_tree(space, book)
        parts = list(space.get_many(Part, tree.active).values())
    assert (book.title, book.author, book.language, book.attributes) == (
        "The Ferry",
        "N. N.",
        "",
        {"front_matter": "tags: [a]"},
    )
    assert [(part.title, part.text) for part in parts] == [
        ("", "For Ada."),
        ("One", "It rained."),
        ("Two", "She came."),
    ]
    assert [part.parent for part in parts] == [None, parts[0].uuid, parts[1].uuid]
    assert book.active_leaf == parts[-1].uuid
    assert len({part.created for part in parts}) == 3
    assert changes(store) == 1
    assert (made.title, made.parts, made.words, made.format) == ("The Ferry", 3, 6, "markdown")
    with store.read() as tx:
        assert [(row.parts, row.words) for row in list_books(tx)] == [(made.parts, made.words)]


def test_a_book_of_the_same_title_stands_beside_it(store: Store, source: Path) -> None:
    one, two = import_book(store, source), import_book(store, source)
    assert one.uuid != two.uuid
    assert one.title == two.title
    with store.read() as tx:
        assert len(list_books(tx)) == 2


def test_a_failed_import_changes_nothing(store: Store, tmp_path: Path, source: Path) -> None:
    (tmp_path / "empty.md").write_text("\n\n")
    (tmp_path / "bad.md").write_bytes("à la ligne\n".encode() * 50 + b"\xff")
    for path, title in ((tmp_path / "empty.md", None), (tmp_path / "bad.md", None), (source, " "), (source, "x" * 400)):
        with pytest.raises(Invalid):
            import_book(store, path, title=title)
    assert changes(store) == 0


def test_the_branch_that_is_read_is_exported(store: Store, tmp_path: Path) -> None:
    book, parts = add_book(store, ["It rained.", "She came."])
    with store.write(Act(actor="author", label="test", book=book.uuid)) as tx:
        space = tx.space(LIBRARY)
        other = branch_part(space, parts[1].uuid)
        create_part(space, book.uuid, other.uuid, "On the other branch.")
    made = export_book(store, book.uuid, "text", tmp_path / "out.txt")
    path = made.path
    assert path == tmp_path / "out.txt"
    assert made.size == path.stat().st_size
    assert made.notes == ("Not in the file: 1 swipe.",)
    assert "On the other branch." in path.read_text()
    with store.write(Act(actor="author", label="test", book=book.uuid)) as tx:
        switch_branch(tx.space(LIBRARY), parts[1].uuid)
    export_book(store, book.uuid, "text", path, force=True)
    assert "On the other branch." not in path.read_text()
    with pytest.raises(NotFound):
        export_book(store, "no-such-book", "text", tmp_path / "other.txt")


def test_titles_with_controls_and_markup_survive_as_text(store: Store, tmp_path: Path) -> None:
    title = "A [bold]title[/bold] \x1b[31m <i>x</i>"
    source = tmp_path / "a.md"
    source.write_text(f"# {title}\n\n{prose(1)}\n\n# Two\n\nx")
    made = import_book(store, source, title=title)
    shown = title.replace("\x1b", "\u241b")
    assert made.title == shown
    for format in ("markdown", "text", "epub", "folder"):
        path = export_book(store, made.uuid, format, tmp_path / format).path
        read = read_manuscript(path).manuscript
        assert count_words(read.title) == count_words(shown), format
        # Inline marks become those of Markdown on the way through a page.
        expected = shown.replace("<i>x</i>", "*x*") if format == "epub" else shown
        assert read.chapters[0].title == expected, format


def test_an_import_can_be_exported_and_imported_again(store: Store, tmp_path: Path, source: Path) -> None:
    made = import_book(store, source)
    path = export_book(store, made.uuid, "folder", tmp_path / "out").path
    again = import_book(store, path)
    assert (again.parts, again.words, again.format) == (made.parts, made.words, "folder")
    with store.read() as tx:
        space = tx.space(LIBRARY)
        assert space.get(Book, again.uuid).attributes == space.get(Book, made.uuid).attributes


def test_comments_of_a_document_are_notes_on_their_parts(store: Store, tmp_path: Path) -> None:
    body = p("One", style="H1") + p("a", '<w:r><w:commentReference w:id="4"/></w:r>') + p("Two", style="H1") + p("b")
    comments = '<w:comment w:id="4" w:author="Ed">' + p("Is it?") + "</w:comment>"
    (tmp_path / "book.docx").write_bytes(docx(body, styles=HEADINGS, comments=comments))
    made = import_book(store, tmp_path / "book.docx", level=1)
    assert (made.format, made.parts, made.title) == ("docx", 2, "book")
    assert made.notes == ("Taken as notes: 1 comment(s).",)
    with store.read() as tx:
        found = manuscript_of(tx, made.uuid)
        (note,) = notes_of_book(tx.space(LIBRARY), made.uuid)
    assert [[(each.author, each.text) for each in chapter.remarks] for chapter in found.chapters] == [
        [("Ed", "Is it?")],
        [],
    ]
    assert (made_by(note.annotation), note.annotation.source) == ("Ed", "author")
    for format in ("docx", "longform"):
        written = export_book(store, made.uuid, format, tmp_path / f"out.{format}")
        assert written.size > 0
        assert words_of(read_manuscript(written.path).manuscript) == words_of(found)
