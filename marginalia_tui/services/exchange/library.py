"""Books into the library and out of it.

An import reads and checks everything before the store is touched; then the whole book is one change. An export
takes the branch that is read, from one moment of the store.
"""

from dataclasses import dataclass
from pathlib import Path

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.words import count_words
from marginalia_tui.services.books import check_title
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript
from marginalia_tui.services.exchange.recognise import Format
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBook:
    """What an import made. `notes` are sentences that the author should see."""

    uuid: str
    title: str
    parts: int
    words: int
    format: Format
    notes: tuple[str, ...] = ()


def import_book(
    store: Store, path: Path, *, title: str | None = None, format: str | None = None, level: int | None = None
) -> ImportedBook:
    """Brings a book into the library as a chain of parts, in a transaction of its own: all of it or nothing.

    Args:
        store: the store; no transaction may be open.
        path: a file, or a folder of files.
        title: the title; None takes the book's own, or the name of the file. Several books may have the same.
        format: a format of `recognise.FORMATS`; None recognises it.
        level: which headings begin a part; None picks.

    Raises:
        NotFound, Invalid, Refused: as in `read_manuscript`.
        StoreError: the store can't be written.
    """
    checked = check_title(title) if title is not None else None
    imported = read_manuscript(path, format=format, level=level, title=checked)
    book, parts = items_of(store, imported.manuscript)
    with store.write(Act(actor="author", label="import", book=book.uuid)) as tx:
        tx.space(LIBRARY).put([book, *parts])
    return ImportedBook(
        uuid=book.uuid,
        title=book.title,
        parts=len(parts),
        words=sum(count_words(part.text) for part in parts),
        format=imported.format,
        notes=imported.notes,
    )


def items_of(store: Store, manuscript: Manuscript) -> tuple[Book, list[Part]]:
    """The new items that a manuscript becomes: each part follows the one before, the last is the active leaf."""
    clock = store.clock
    book, created = clock.new_uuid(), clock.now()
    parts: list[Part] = []
    for chapter in manuscript.chapters:
        parts.append(
            Part(
                uuid=clock.new_uuid(),
                book=book,
                parent=parts[-1].uuid if parts else None,
                created=clock.now(),
                title=chapter.title,
                text=chapter.text,
                attributes=chapter.attributes,
            )
        )
    made = Book(
        uuid=book,
        title=manuscript.title,
        author=manuscript.author,
        description=manuscript.description,
        language=manuscript.language or "en",
        active_leaf=parts[-1].uuid if parts else None,
        created=created,
        attributes=manuscript.attributes,
    )
    return made, parts


def export_book(store: Store, book: str, format: str, path: Path, *, force: bool = False) -> tuple[Path, int]:
    """Writes the active branch of a book of the library.

    Returns:
        The path, absolute, and its size in bytes.

    Raises:
        NotFound: there is no such book.
        Invalid, Refused: as in `write_manuscript`.
    """
    with store.read() as tx:
        manuscript = manuscript_of(tx, book)
    return path.absolute(), write_manuscript(manuscript, format, path, force=force)


def manuscript_of(tx: ReadTx, book: str) -> Manuscript:
    """The active branch of a book of the library as a manuscript.

    Raises:
        NotFound: there is no such book.
    """
    space = tx.space(LIBRARY)
    found = space.get(Book, book)
    parts = space.get_many(Part, story_tree(space, found).active).values()
    return Manuscript(
        title=found.title,
        author=found.author,
        language=inherited(space, found).value("language").value,
        description=found.description,
        chapters=tuple(Chapter(title=part.title, text=part.text, attributes=part.attributes) for part in parts),
        attributes=found.attributes,
    )
