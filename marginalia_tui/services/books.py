"""Books as a whole: the list of the library, finding one by its name, the trash."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import orjson
from sqlalchemy import select

from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.runs import HOLDING
from marginalia_tui.domain.sentences import quoted
from marginalia_tui.services.exchange.manuscript import one_line
from marginalia_tui.services.folders import folder_tree
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx, Store

_T = TypeVar("_T")

TITLE_LENGTH = 300
SHORTEST_PREFIX = 4
"""Characters of a uuid that name a book."""
TAG_LENGTH = 60
MAX_TAGS = 100
"""Tags of a book."""


@dataclass(frozen=True, slots=True)
class BookRow:
    """A book in the list of the library. `parts` and `words` count all its branches."""

    uuid: str
    title: str
    author: str
    parts: int
    words: int
    opened: int | None
    """Microseconds since 1970."""
    deleted: int | None
    locked_by: str | None
    """The agent that holds it."""
    folder: str | None = None
    """The path of the folder that it stands in; None at the top."""
    folder_uuid: str | None = None
    """That folder; None at the top, and where the folder is gone."""
    tags: tuple[str, ...] = ()


def holders(tx: ReadTx) -> dict[str, str]:
    """Book -> the agent that holds it."""
    run = tables.run.c
    rows = tx.connection.execute(select(run.book, run.agent_name).where(run.status.in_(HOLDING)))
    return {row.book: row.agent_name for row in rows}


def holder(tx: ReadTx, book: str) -> str | None:
    """The agent that holds a book."""
    run = tables.run.c
    return tx.connection.execute(
        select(run.agent_name).where(run.book == book, run.status.in_(HOLDING)).limit(1)
    ).scalar()


def list_books(tx: ReadTx, *, deleted: bool = False) -> list[BookRow]:
    """The books of the library, or those in its trash, by title."""
    space = tx.space(LIBRARY)
    counts, held = space.counts(), holders(tx)
    paths = {line.folder.uuid: line.path for line in folder_tree(space)}
    return [
        BookRow(
            uuid=book.uuid,
            title=book.title,
            author=book.author,
            parts=counts.get(book.uuid, (0, 0))[0],
            words=counts.get(book.uuid, (0, 0))[1],
            opened=book.opened,
            deleted=book.deleted,
            locked_by=held.get(book.uuid),
            folder=paths.get(book.folder) if book.folder else None,
            folder_uuid=book.folder if book.folder in paths else None,
            tags=book.tags,
        )
        for book in space.books()
        if (book.deleted is not None) == deleted
    ]


def tag_counts(space: Space) -> dict[str, tuple[int, int, int]]:
    """Tag -> the books, lorebooks and entries of a space that have it, by tag.

    An entry has the tags that it asks for and those whose absence it asks for; what is in the trash has none.
    """
    found: dict[str, list[int]] = {}
    for place, table in enumerate((tables.book, tables.lorebook, tables.entry)):
        column = table.c
        cells = [column.tags, column.negative_tags] if table is tables.entry else [column.tags]
        query = select(*cells).where(column.space_id == space.id)
        if table is not tables.entry:
            query = query.where(column.deleted.is_(None), column.tags.is_not(None))
        for row in space.connection.execute(query):
            for tag in {tag for cell in row if cell for tag in orjson.loads(cell)}:
                found.setdefault(tag, [0, 0, 0])[place] += 1
    return {tag: (counts[0], counts[1], counts[2]) for tag, counts in sorted(found.items())}


def find_book(tx: ReadTx, name: str) -> Book:
    """The book of the library with a title, a uuid, a unique beginning of either, or unique words of the title.

    Raises:
        NotFound: none fits; the sentence lists the books.
        Ambiguous: several do.
    """
    books = [book for book in tx.space(LIBRARY).books() if book.deleted is None]
    wanted = name.casefold()
    found = [book for book in books if book.uuid == name] or [book for book in books if book.title == name]
    found = found or [book for book in books if book.title.casefold() == wanted]
    if not found and len(wanted) >= SHORTEST_PREFIX:
        found = [book for book in books if book.title.casefold().startswith(wanted) or book.uuid.startswith(wanted)]
        found = found or [book for book in books if f" {wanted}" in book.title.casefold()]
    return pick_one(found, name, "book", [book.title for book in books], lambda book: f"{book.title} ({book.uuid})")


def pick_one(found: Sequence[_T], name: str, what: str, names: Sequence[str], show: Callable[[_T], str]) -> _T:
    """The one that fits a name.

    Raises:
        NotFound: none does; the sentence lists some of those that there are.
        Ambiguous: several do; the sentence lists them.
    """
    if len(found) == 1:
        return found[0]
    if found:
        raise Ambiguous(f"Several fit {quoted(name)}: {'; '.join(show(each) for each in found[:10])}. Give the uuid.")
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    raise NotFound(
        f"There is no {what} {quoted(name)}. " + (f"There are: {listed}." if names else f"There is no {what} yet.")
    )


def check_title(title: str) -> str:
    """A title on one line, without the space around it; hard and wide spaces within stay.

    Raises:
        Invalid: it is empty or longer than a title may be.
    """
    title = one_line(title)
    if not title:
        raise Invalid("Give the book a title: it may not be empty.")
    if len(title) > TITLE_LENGTH:
        raise Invalid(f"The title has {len(title)} characters: give it at most {TITLE_LENGTH}.")
    return title


def create_book(store: Store, title: str, author: str = "") -> Book:
    """A new, empty book in the library, in a transaction of its own. It inherits its language."""
    book = Book(
        uuid=store.clock.new_uuid(),
        title=check_title(title),
        author=author,
        language="",
        created=store.clock.now(),
    )
    with store.write(Act(actor="author", label="new book", book=book.uuid)) as tx:
        tx.space(LIBRARY).put([book])
    return book


def trash_book(store: Store, book: str) -> None:
    """Moves a book to the trash, in a transaction of its own.

    Raises:
        Locked: an agent holds it.
    """
    with store.write(Act(actor="author", label="move to the trash", book=book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, book), deleted=store.clock.now())])


def mark_opened(store: Store, book: str) -> None:
    """Notes that a book was opened now; no change of the book."""
    with store.write(Act(actor="author", label="open", book=book)) as tx:
        tx.space(LIBRARY).view(Book, book, opened=store.clock.now())
