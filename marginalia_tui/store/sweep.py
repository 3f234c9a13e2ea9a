"""Frees the texts, images and states that nothing refers to any more, such as those of a dropped working copy.

First what is live is marked, a page at a time: the states that the journal, the items and the drafts name, and the
texts and images that those states name. Then what is dead is deleted in short write transactions. Whatever somebody
refers to anew meanwhile is in the journal after the position at which the marking began, or in a copy that is newer
(its origin and that one's journal may be gone already), so each of those transactions first reads on from there.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, Table, delete, func, select, tuple_

from marginalia_tui.domain.items import KINDS, Part
from marginalia_tui.store import tables
from marginalia_tui.store.content import blob_keys, chunks, get_states, text_keys
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store

PAGE = 5_000
"""Rows of one read."""
IMAGES = 10
"""Images that one transaction deletes: each may have as many bytes as a library of texts."""


def sweep(store: Store) -> Iterator[int]:
    """Frees what is dead, step by step; between two steps no transaction is open, so it can be left at any of them.

    Yields:
        How many texts, images and states the step freed; many steps only look.
    """
    with store.read() as tx:
        newest = {table: _newest(tx.connection, table) for table in (tables.state, tables.text, tables.blob)}
        live = _Live(tx.position(), _newest(tx.connection, tables.space))
    yield from _mark(store, live)
    # States first: one that is left names no text that is gone.
    steps = (
        (tables.state, live.dead_states, PAGE),
        (tables.text, live.dead_texts, PAGE),
        (tables.blob, live.dead_blobs, IMAGES),
    )
    for table, dead, page in steps:
        last = 0
        while last < newest[table]:
            with store.read() as tx:
                query = select(table.c.id, table.c.hash).where(table.c.id > last, table.c.id <= newest[table])
                rows = tx.connection.execute(query.order_by(table.c.id).limit(page)).all()
            last = rows[-1].id if rows else newest[table]
            for some in chunks(dead([row.hash for row in rows])):
                with store.read() as tx:
                    live.read_on(tx.connection)
                with store.write(Act(actor="studio", label="sweep")) as write:
                    live.read_on(write.connection)
                    gone = dead(some)
                    write.connection.execute(delete(table).where(table.c.hash.in_(gone)))
                yield len(gone)
            yield 0


class _Live:
    """What is referred to, as far as it was looked at."""

    def __init__(self, position: int, space: int) -> None:
        self.position = position
        self._space = space
        self._states: dict[str, set[bytes]] = {kind: set() for kind in KINDS}
        self._texts: set[bytes] = set()
        self._blobs: set[bytes] = set()

    def dead_states(self, hashes: Sequence[bytes]) -> list[bytes]:
        return [each for each in hashes if not any(each in states for states in self._states.values())]

    def dead_texts(self, hashes: Sequence[bytes]) -> list[bytes]:
        return [each for each in hashes if each not in self._texts]

    def dead_blobs(self, hashes: Sequence[bytes]) -> list[bytes]:
        return [each for each in hashes if each not in self._blobs]

    def add(self, connection: Connection, kind: str, hashes: set[bytes]) -> None:
        """Adds states of a kind with the texts and images that they name."""
        new = list(hashes - self._states[kind])
        self._states[kind].update(new)
        for data in get_states(connection, new).values():
            self._texts.update(text_keys(kind, data))
            self._blobs.update(blob_keys(kind, data))

    def add_journal(self, connection: Connection, after: int, until: int | None = None) -> int:
        """Adds what a page of the journal names, and returns the position up to which all is added now."""
        journal = tables.journal.c
        query = select(journal.seq, journal.kind, journal.before, journal.after).where(journal.seq > after)
        if until is not None:
            query = query.where(journal.seq <= until)
        rows = connection.execute(query.order_by(journal.seq).limit(PAGE)).all()
        for kind in KINDS:
            named = (each for row in rows if row.kind == kind for each in (row.before, row.after))
            self.add(connection, kind, {each for each in named if each is not None})
        if until is not None and len(rows) < PAGE:
            return until
        return int(rows[-1].seq) if rows else after

    def add_drafts(self, connection: Connection) -> None:
        """Adds the states that drafts began from, and those that the statistics still have to count."""
        aside = tables.uncounted.c
        found = set(connection.execute(select(tables.draft.c.base)).scalars())
        found.update(connection.execute(select(aside.before).where(aside.before.is_not(None))).scalars())
        found.update(connection.execute(select(aside.after).where(aside.after.is_not(None))).scalars())
        self.add(connection, Part.KIND, found)

    def read_on(self, connection: Connection) -> None:
        """Adds what was referred to since it was last looked."""
        while (position := self.add_journal(connection, self.position)) > self.position:
            self.position = position
        newest = _newest(connection, tables.space)
        if newest > self._space:
            for kind, table in tables.ITEM_TABLES.items():
                query = select(table.c.hash).where(table.c.space_id > self._space)
                self.add(connection, kind, set(connection.execute(query).scalars()))
            self._space = newest
        self.add_drafts(connection)


def _newest(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one())


def _mark(store: Store, live: _Live) -> Iterator[int]:
    last = 0
    while last < live.position:
        with store.read() as tx:
            last = live.add_journal(tx.connection, last, live.position)
        yield 0
    for kind, table in tables.ITEM_TABLES.items():
        for hashes in _item_pages(store, table):
            with store.read() as tx:
                live.add(tx.connection, kind, hashes)
            yield 0
    with store.read() as tx:
        live.add_drafts(tx.connection)


def _item_pages(store: Store, table: Table) -> Iterator[set[bytes]]:
    """The states of all items, page by page."""
    key = tuple_(table.c.space_id, table.c.uuid)
    last = (0, "")
    while True:
        with store.read() as tx:
            query = select(table.c.space_id, table.c.uuid, table.c.hash).where(key > last)
            rows = tx.connection.execute(query.order_by(table.c.space_id, table.c.uuid).limit(PAGE)).all()
        if not rows:
            return
        last = (rows[-1].space_id, rows[-1].uuid)
        yield {row.hash for row in rows}
