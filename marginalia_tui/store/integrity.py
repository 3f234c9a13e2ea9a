"""Whether a store is sound: what `doctor` asks."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, Table, select

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.items import state_fields
from marginalia_tui.store import blobs, tables
from marginalia_tui.store.content import blob_keys, encode_state, get_counts, get_states, hash_bytes, text_keys
from marginalia_tui.store.store import Store

PAGE = 1_000
"""Rows of one read."""
IMAGES = 10
"""Rows of one read that have the bytes of images."""
FEW = 20
"""Findings of one sort that are named one by one."""


def check(store: Store) -> list[str]:
    """Looks at the file, at every item against its journal, and at every text, image and state against its hash.

    Returns:
        One sentence for each thing that is wrong; none when the store is sound.
    """
    found: list[str] = []
    try:
        found += _file(store)
        if not found:
            found += _references(store)
            for kind in tables.ITEM_TABLES:
                found += _few(_items(store, kind))
            found += _few(_missing_items(store))
            found += _few(_contents(store))
    except StoreError as error:
        found.append(error.message)
    return found


def _few(findings: Iterator[str]) -> list[str]:
    named: list[str] = []
    more = 0
    for each in findings:
        if len(named) < FEW:
            named.append(each)
        else:
            more += 1
    return [*named, f"And {more} more of this sort."] if more else named


def _file(store: Store) -> list[str]:
    with store.read() as tx:
        lines = list(tx.connection.exec_driver_sql(f"PRAGMA integrity_check({FEW})").scalars())
    return [] if lines == ["ok"] else [f"The file is damaged: {line}." for line in lines]


def _references(store: Store) -> list[str]:
    with store.read() as tx:
        broken = tx.connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    # Rows of: table, rowid (none here), the table referred to, which key of the table.
    tables_of = sorted({(row[0], row[2]) for row in broken})
    return [f"A {table} refers to a {target} that is not there." for table, target in tables_of]


def _items(store: Store, kind: str) -> Iterator[str]:
    """What is wrong with items: page by page, each against its state and its newest row in the journal."""
    table, fields = tables.ITEM_TABLES[kind], state_fields(kind)
    last = (0, "")
    while True:
        with store.read() as tx:
            rows = _page(tx.connection, table, last)
            newest = _newest(tx.connection, kind, rows)
            known = get_states(tx.connection, [row.hash for row in rows])
            states = [encode_state(kind, {each.name: getattr(row, each.name) for each in fields}) for row in rows]
            texts = get_counts(tx.connection, {key for state in states for key in text_keys(kind, state)})
            images = blobs.sizes(tx.connection, {key for state in states for key in blob_keys(kind, state)})
        if not rows:
            return
        last = (rows[-1].space_id, rows[-1].uuid)
        for row, state in zip(rows, states, strict=True):
            name = f"The {kind} {_title(row)} (space {row.space_id})"
            if hash_bytes(state) != row.hash:
                yield f"{name} was changed past its space: its fields are not those of its state."
            if row.hash not in known:
                yield f"{name} has a state that is not stored."
            if not texts.keys() >= set(text_keys(kind, state)):
                yield f"{name} has a text that is not stored."
            if not images.keys() >= set(blob_keys(kind, state)):
                yield f"{name} has an image that is not stored."
            after = newest.get((row.space_id, row.uuid), row.hash)
            if after is None:
                yield f"{name} is there, but the journal says that it was deleted."
            elif after != row.hash:
                yield f"{name} is not in the state that the journal gave it last."


def _title(row: Row[Any]) -> str:
    title = getattr(row, "title", getattr(row, "name", ""))
    return f"{title!r} {row.uuid}" if title else str(row.uuid)


def _page(connection: Connection, table: Table, last: tuple[int, str]) -> list[Row[Any]]:
    space_id, uuid = last
    key = (table.c.space_id > space_id) | ((table.c.space_id == space_id) & (table.c.uuid > uuid))
    query = select(table).where(key).order_by(table.c.space_id, table.c.uuid).limit(PAGE)
    return list(connection.execute(query))


def _newest(connection: Connection, kind: str, rows: list[Row[Any]]) -> dict[tuple[int, str], bytes | None]:
    """Space and uuid -> the state that the journal gave last, for those of the rows that it names."""
    journal = tables.journal.c
    found: dict[tuple[int, str], bytes | None] = {}
    for space_id in {row.space_id for row in rows}:
        uuids = [row.uuid for row in rows if row.space_id == space_id]
        query = (
            select(journal.uuid, journal.after)
            .where(journal.space_id == space_id, journal.kind == kind, journal.uuid.in_(uuids))
            .order_by(journal.seq)
        )
        found.update(((space_id, row.uuid), row.after) for row in connection.execute(query))
    return found


def _missing_items(store: Store) -> Iterator[str]:
    """Items that the journal says are there, in spaces that are."""
    for kind in tables.ITEM_TABLES:
        query = f"""
            SELECT j.space_id, j.uuid FROM journal j JOIN space s ON s.id = j.space_id AND s.state = 'live'
            WHERE j.kind = '{kind}' AND j."after" IS NOT NULL
              AND j.seq = (SELECT max(seq) FROM journal WHERE space_id = j.space_id AND uuid = j.uuid)
              AND NOT EXISTS (SELECT 1 FROM "{kind}" i WHERE i.space_id = j.space_id AND i.uuid = j.uuid)
        """
        with store.read() as tx:
            rows = tx.connection.exec_driver_sql(query).all()
        for space_id, uuid in rows:
            yield f"The {kind} {uuid} (space {space_id}) is gone, but the journal does not say that it was deleted."


def _contents(store: Store) -> Iterator[str]:
    """Texts, images and states that are not what their hash says, and what names one that is not there."""
    contents = (
        (tables.text, "body", "text", hash_bytes, PAGE),
        (tables.state, "data", "state", hash_bytes, PAGE),
        (tables.blob, "body", "image", blobs.hash_blob, IMAGES),
    )
    for table, column, word, hashed, page in contents:
        last = 0
        while True:
            with store.read() as tx:
                query = select(table.c.id, table.c.hash, table.c[column].label("data")).where(table.c.id > last)
                rows = tx.connection.execute(query.order_by(table.c.id).limit(page)).all()
            if not rows:
                break
            last = rows[-1].id
            for row in rows:
                data = row.data.encode() if isinstance(row.data, str) else row.data
                if hashed(data) != row.hash:
                    yield f"The {word} {row.hash.hex()} was changed: it is not what its hash says."
    yield from _unresolved(store)


def _unresolved(store: Store) -> Iterator[str]:
    """Rows of the journal that name a state, or through it a text or an image, that is not stored."""
    journal = tables.journal.c
    last = 0
    while True:
        with store.read() as tx:
            query = select(journal.seq, journal.kind, journal.uuid, journal.before, journal.after)
            page = tx.connection.execute(query.where(journal.seq > last).order_by(journal.seq).limit(PAGE)).all()
            named = {each for row in page for each in (row.before, row.after) if each is not None}
            states = get_states(tx.connection, named)
            texts = {row.seq: set(text_keys(row.kind, states[row.after])) for row in page if row.after in states}
            there = get_counts(tx.connection, {each for some in texts.values() for each in some})
            images = {row.seq: set(blob_keys(row.kind, states[row.after])) for row in page if row.after in states}
            kept = blobs.sizes(tx.connection, {each for some in images.values() for each in some})
        if not page:
            return
        last = page[-1].seq
        for row in page:
            if not {row.before, row.after} <= {None, *states}:
                yield f"Row {row.seq} of the journal, of the {row.kind} {row.uuid}, names a state that is not stored."
            elif not there.keys() >= texts.get(row.seq, set()):
                yield f"Row {row.seq} of the journal, of the {row.kind} {row.uuid}, names a text that is not stored."
            elif not kept.keys() >= images.get(row.seq, set()):
                yield f"Row {row.seq} of the journal, of the {row.kind} {row.uuid}, names an image that is not stored."
