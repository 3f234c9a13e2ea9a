"""The reference: the same rows in the same tables under the same keys, written and read with `sqlite3` alone.

It is told the finished rows (no hashing, no counting, no comparing, no guards), so it is what the database itself
costs. Durability, foreign keys, cache and log are those of the store.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marginalia_tui.store import tables
from marginalia_tui.store.store import Store

Rows = list[tuple[Any, ...]]
TABLES = ("change", "state", "text", "journal", "book", "part")
CHUNK = 500


@dataclass
class Written:
    """The rows that a change left, by table, in the order of the columns."""

    rows: dict[str, Rows] = field(default_factory=dict)


@dataclass(frozen=True)
class Marks:
    """Where a store stood: the newest ids."""

    change: int
    journal: int
    state: int
    text: int


def marks(store: Store) -> Marks:
    """Where a store stands."""
    with store.read() as tx:
        ids = {
            name: tx.connection.exec_driver_sql(f'SELECT coalesce(max({column}), 0) FROM "{name}"').scalar_one()
            for name, column in (("change", "id"), ("journal", "seq"), ("state", "id"), ("text", "id"))
        }
    return Marks(**ids)


def written_since(store: Store, since: Marks) -> Written:
    """What was written after a mark."""
    found = Written()
    with store.read() as tx:
        for name, column in (("change", "id"), ("journal", "seq"), ("state", "id"), ("text", "id")):
            query = f'SELECT * FROM "{name}" WHERE {column} > {getattr(since, name)}'
            found.rows[name] = [tuple(row) for row in tx.connection.exec_driver_sql(query)]
        for name in ("book", "part"):
            query = (
                f"SELECT i.* FROM {name} i WHERE (i.space_id, i.uuid) IN "
                f"(SELECT space_id, uuid FROM journal WHERE seq > {since.journal} AND kind = '{name}')"
            )
            found.rows[name] = [tuple(row) for row in tx.connection.exec_driver_sql(query)]
    return found


class Plain:
    """A copy of a store's file without its guards."""

    def __init__(self, store: Store, path: Path) -> None:
        source = sqlite3.connect(store.path)
        self.connection = sqlite3.connect(path, isolation_level=None)
        source.backup(self.connection)
        source.close()
        for pragma in ("journal_mode=WAL", "foreign_keys=ON", "temp_store=MEMORY", "cache_size=-32000"):
            self.connection.execute(f"PRAGMA {pragma}")
        for (name,) in self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            self.connection.execute(f"DROP TRIGGER {name}")
        self._upserts = {name: _upsert(name) for name in TABLES}

    def close(self) -> None:
        self.connection.close()

    def checkpoint(self) -> None:
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def write(self, written: Written, *, durable: bool = True, read: tuple[int, Sequence[str]] | None = None) -> None:
        """Writes rows in one transaction, after reading the parts (space and uuids) that they replace."""
        execute = self.connection.execute
        execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        execute("BEGIN IMMEDIATE")
        if read is not None:
            self._read_parts(*read)
        for name in TABLES:
            if rows := written.rows.get(name):
                self.connection.executemany(self._upserts[name], rows)
        execute("COMMIT")

    def _read_parts(self, space: int, uuids: Sequence[str]) -> list[Any]:
        found = []
        for some in _chunks(uuids):
            query = "SELECT p.*, t.body FROM part p JOIN text t ON t.hash = p.text WHERE space_id = ? AND uuid IN "
            found += self.connection.execute(query + _marks(some), (space, *some)).fetchall()
        return found

    def copy(self, space: tuple[Any, ...], book: str) -> None:
        """Copies a book into the space whose row is given."""
        execute = self.connection.execute
        execute("PRAGMA synchronous=FULL")
        execute("BEGIN IMMEDIATE")
        execute(f"INSERT INTO space VALUES {_marks(space)}", space)
        for name, key in (("book", "uuid"), ("part", "book")):
            columns = ", ".join(column.name for column in tables.ITEM_TABLES[name].c if column.name != "space_id")
            query = f"SELECT ?, {columns} FROM {name} WHERE space_id = 1 AND {key} = ?"
            execute(f"INSERT INTO {name} (space_id, {columns}) {query}", (space[0], book))
        execute("COMMIT")

    def drop(self, space: int) -> None:
        execute = self.connection.execute
        execute("PRAGMA synchronous=FULL")
        execute("BEGIN IMMEDIATE")
        for name in ("book", "part", "plan", "journal", "change"):
            execute(f'DELETE FROM "{name}" WHERE space_id = ?', (space,))
        execute("DELETE FROM space WHERE id = ?", (space,))
        execute("COMMIT")

    def plan(self, space: int) -> dict[str, tuple[Any, Any, Any]]:
        """The three states of every part that a copy changed, as the bytes that are stored."""
        execute = self.connection.execute
        spans: dict[str, tuple[Any, Any]] = {}
        query = "SELECT uuid, before, after FROM journal WHERE space_id = ? ORDER BY seq"
        for uuid, before, after in execute(query, (space,)):
            spans[uuid] = (spans[uuid][0] if uuid in spans else before, after)
        now: dict[str, Any] = {}
        for some in _chunks(list(spans)):
            now.update(execute(f"SELECT uuid, hash FROM part WHERE space_id = 1 AND uuid IN {_marks(some)}", some))
        hashes = list({each for span in spans.values() for each in span if each} | set(now.values()))
        states: dict[Any, Any] = {}
        for some in _chunks(hashes):
            states.update(execute(f"SELECT hash, data FROM state WHERE hash IN {_marks(some)}", some))
        return {
            uuid: (states.get(before), states.get(after), states.get(now.get(uuid)))
            for uuid, (before, after) in spans.items()
        }


def _upsert(name: str) -> str:
    table = tables.ITEM_TABLES.get(name)
    if table is None:
        ignore = "OR IGNORE " if name in ("text", "state") else ""
        columns = tables.metadata.tables[name].c
        return f'INSERT {ignore}INTO "{name}" VALUES {_marks(columns)}'
    sets = ", ".join(f"{c.name} = excluded.{c.name}" for c in table.c if not c.primary_key)
    return f"INSERT INTO {name} VALUES {_marks(table.c)} ON CONFLICT (space_id, uuid) DO UPDATE SET {sets}"


def _marks(values: Sequence[Any] | Any) -> str:
    return f"({', '.join('?' * len(values))})"


def _chunks(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + CHUNK] for start in range(0, len(values), CHUNK)]
