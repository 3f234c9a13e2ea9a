"""Whole spaces: a working copy is filled and dropped with one statement for each table."""

from collections.abc import Sequence

from sqlalchemy import delete, insert, literal, select, update

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Annotation, Book, Entry, Lorebook, Part, Plan, Summary
from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks
from marginalia_tui.store.reach import lore_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, WriteTx
from marginalia_tui.store.uncounted import set_aside


def copy_book(tx: WriteTx, book: str, origin: int = LIBRARY) -> int:
    """Copies a book, with the same uuids, into a new space and returns the space.

    Raises:
        NotFound: `origin` has no such book.
    """
    key = tx.connection.execute(
        insert(tables.space).values(
            kind="copy",
            origin=origin,
            book=book,
            base=tx.position(),
            state="moving",
            created=tx.store.clock.now(),
        )
    ).inserted_primary_key
    assert key is not None
    space_id = int(key[0])
    root = tx.connection.execute(
        select(tables.book.c.lorebook).where(tables.book.c.space_id == origin, tables.book.c.uuid == book)
    ).first()
    if root is None:
        raise NotFound(f"There is no book {book!r} to copy.")
    for kind, column in _OF_BOOK.items():
        _copy(tx, space_id, origin, kind, column, [book])
    for some in chunks(lore_tree(tx.connection, origin, root.lorebook)):
        _copy(tx, space_id, origin, Lorebook.KIND, "uuid", some)
        _copy(tx, space_id, origin, Entry.KIND, "lorebook", some)
    tx.connection.execute(update(tables.space).where(tables.space.c.id == space_id).values(state="live"))
    return space_id


_OF_BOOK = {Book.KIND: "uuid", Part.KIND: "book", Summary.KIND: "book", Annotation.KIND: "book"}
"""The kinds that a book owns, and by which column."""


def _copy(tx: WriteTx, space_id: int, origin: int, kind: str, column: str, values: Sequence[str]) -> None:
    table = tables.ITEM_TABLES[kind]
    columns = [each for each in table.c if each.name != "space_id"]
    tx.connection.execute(
        insert(table).from_select(
            ["space_id", *(each.name for each in columns)],
            select(literal(space_id), *columns).where(table.c.space_id == origin, table.c[column].in_(values)),
        )
    )


def base_of(tx: WriteTx, space_id: int) -> int:
    """The position of the origin when a copy was made."""
    return int(tx.connection.execute(select(tables.space.c.base).where(tables.space.c.id == space_id)).scalar_one())


def changed_anything(tx: ReadTx, space_id: int) -> bool:
    """Whether an item that is merged was ever changed in a copy."""
    journal = tables.journal.c
    query = select(journal.seq).where(journal.space_id == space_id, journal.kind != Plan.KIND).limit(1)
    return tx.connection.execute(query).first() is not None


def drop_space(tx: WriteTx, space_id: int, *, keep_journal: bool = False) -> None:
    """Drops the items of a copy, and its journal unless what was applied from it still cites that.

    Raises:
        NotFound: there is no such copy; the library is never dropped.
    """
    space = tables.space
    moving = tx.connection.execute(
        update(space).where(space.c.id == space_id, space.c.kind == "copy").values(state="moving")
    )
    if moving.rowcount == 0:
        raise NotFound(f"There is no working copy {space_id}.")
    for table in tables.ITEM_TABLES.values():
        tx.connection.execute(delete(table).where(table.c.space_id == space_id))
    if keep_journal:
        tx.connection.execute(update(space).where(space.c.id == space_id).values(state="dropped"))
        return
    set_aside(tx.connection, space_id)
    tx.connection.execute(delete(tables.journal).where(tables.journal.c.space_id == space_id))
    tx.connection.execute(delete(tables.change).where(tables.change.c.space_id == space_id))
    tx.connection.execute(delete(space).where(space.c.id == space_id))
