"""What a search reads beside the parts of the open book: old versions, notes, and all books of the library.

Everything is read in batches of so many rows and so many characters, a query for each batch and none for each row;
between two of them no transaction is open, so that a search of hours holds nobody up. Books and lorebooks in the trash
are not searched.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeVar

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services.versions import Version, sizes_of, texts_of_versions, versions_of
from marginalia_tui.store.content import rows_in
from marginalia_tui.store.space import Space

T = TypeVar("T")

Reading = Callable[[], AbstractContextManager[Space]]
"""Opens a short read transaction on a space."""

ROWS = 200
"""Rows of a batch."""
CHARS = 4_000_000
"""Characters of a batch, unless one row alone has more."""
HISTORIES = 50
"""Parts whose histories are read at once."""


class PartPlace(NamedTuple):
    """A part of some book, and the characters of its text."""

    uuid: str
    book: str
    chars: int


class NoteWords(NamedTuple):
    """What a note says, and the words that it was made on."""

    uuid: str
    book: str
    part: str
    text: str
    quote: str


class OldText(NamedTuple):
    """A text that a part had before."""

    part: str
    version: Version
    text: str


def batches(rows: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Rows in runs of at most `ROWS`, and of at most `CHARS` characters where there are several."""
    some: list[T] = []
    chars = 0
    for row in rows:
        more = size(row)
        if some and (len(some) == ROWS or chars + more > CHARS):
            yield some
            some, chars = [], 0
        some.append(row)
        chars += more
    if some:
        yield some


def searched_books(space: Space) -> dict[str, Book]:
    """The books of a library by uuid, by title."""
    return {book.uuid: book for book in space.books() if book.deleted is None}


def searched_lorebooks(space: Space) -> dict[str, str]:
    """The lorebooks of a library by uuid -> name, by age."""
    query = "SELECT uuid, name FROM lorebook WHERE space_id = ? AND deleted IS NULL ORDER BY created, uuid"
    return {uuid: name for uuid, name in space.connection.exec_driver_sql(query, (space.id,))}


def part_places(space: Space, books: Sequence[str]) -> list[PartPlace]:
    """Every part of some books, book by book in their order."""
    query = "SELECT uuid, book, chars FROM part WHERE space_id = ? AND book IN"
    found: dict[str, list[PartPlace]] = {uuid: [] for uuid in books}
    for row in rows_in(space.connection, query, books, space.id):
        found[row.book].append(PartPlace(*row))
    return [place for places in found.values() for place in places]


def changed_parts(space: Space, parts: Sequence[PartPlace]) -> list[PartPlace]:
    """Those of some parts that were ever changed: only they have earlier versions."""
    query = (
        "SELECT uuid FROM journal WHERE space_id = ? AND kind = ? "
        "GROUP BY uuid HAVING count(*) > 1 OR max(before IS NOT NULL)"
    )
    changed = set(space.connection.exec_driver_sql(query, (space.id, Part.KIND)).scalars())
    return [each for each in parts if each.uuid in changed]


def old_texts(reading: Reading, parts: Sequence[str]) -> Iterator[OldText]:
    """The texts that parts had before, each once: part by part in their order, the newest version first.

    Args:
        reading: opens a transaction on the space of the parts.
        parts: their uuids, as many as are wanted.
    """
    for start in range(0, len(parts), HISTORIES):
        with reading() as space:
            known = versions_of(space, parts[start : start + HISTORIES])
            earlier = {part: _each_once(some) for part, some in known.items() if len(some) > 1}
            sizes = sizes_of(space, (each for some in earlier.values() for each in some))
        rows = [(part, each, sizes[each.key][1]) for part, some in earlier.items() for each in some]
        for batch in batches(rows, lambda row: row[2]):
            with reading() as space:
                texts = texts_of_versions(space, (each for _, each, _ in batch))
            yield from (OldText(part, each, texts[each.key]) for part, each, _ in batch)


def _each_once(known: Sequence[Version]) -> list[Version]:
    """The versions before the newest, the newest first, without texts that a newer one has."""
    seen = {known[-1].key}
    found = []
    for each in known[-2::-1]:
        if each.key not in seen:
            seen.add(each.key)
            found.append(each)
    return found


def notes(reading: Reading, books: Sequence[str]) -> Iterator[list[NoteWords]]:
    """The notes of books in batches, the oldest first in each book."""
    where = "SELECT uuid, book FROM annotation WHERE space_id = ? AND book IN"
    with reading() as space:
        rows = sorted(rows_in(space.connection, where, books, space.id), key=lambda row: row.uuid)
    order = {uuid: number for number, uuid in enumerate(books)}
    uuids = [row.uuid for row in sorted(rows, key=lambda row: order[row.book])]
    for start in range(0, len(uuids), ROWS):
        some = uuids[start : start + ROWS]
        with reading() as space:
            found = {row.uuid: NoteWords(*row) for row in rows_in(space.connection, _NOTES, some, space.id)}
        yield [found[uuid] for uuid in some if uuid in found]


_NOTES = (
    "SELECT annotation.uuid, annotation.book, annotation.part, coalesce(says.body, ''), coalesce(on_words.body, '') "
    "FROM annotation LEFT JOIN text AS says ON says.hash = annotation.text "
    "LEFT JOIN text AS on_words ON on_words.hash = annotation.quote "
    "WHERE annotation.space_id = ? AND annotation.uuid IN"
)
