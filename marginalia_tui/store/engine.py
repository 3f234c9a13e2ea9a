"""Two engines on one file: one writer that begins IMMEDIATE, and readers that begin plainly and can't write."""

import sqlite3
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from marginalia_tui.domain.errors import StoreError

BUSY_SECONDS = 10.0
"""How long another program that holds the store is waited for; read whenever a store is opened."""
_PRAGMAS = ("foreign_keys=ON", "temp_store=MEMORY", "cache_size=-32000")


def _engine(path: Path, pool_size: int, overflow: int, pragmas: tuple[str, ...]) -> Engine:
    engine = create_engine(
        f"sqlite+pysqlite:///{path}",
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=overflow,
        # What is written are texts of books: no error, and so no log, repeats them.
        hide_parameters=True,
        # The module sets SQLite's busy timeout to this.
        connect_args={"check_same_thread": False, "isolation_level": None, "timeout": BUSY_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        for pragma in (*_PRAGMAS, *pragmas):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def writer_engine(path: Path) -> Engine:
    """The engine with the one connection that writes.

    A transaction with the execution option `durable` waits for the disk at its commit; the others survive the
    death of the process, and lose no more than their last moments when the power goes.
    """
    engine = _engine(path, 1, 0, ("journal_mode=WAL",))

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        durable = connection.get_execution_options().get("durable", False)
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def reader_engine(path: Path) -> Engine:
    """The engine of the readers: as many connections as threads read, none of which can write."""
    engine = _engine(path, 8, -1, ("query_only=ON",))

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def as_store_error(error: DBAPIError | sqlite3.Error) -> StoreError | None:
    """The sentence for a fault of the disk or the file; None when the fault is one of the program."""
    fault = error.orig if isinstance(error, DBAPIError) else error
    # The low byte is the class of the fault. A fault that the module itself raises has no code.
    sentence = _SENTENCES.get(getattr(fault, "sqlite_errorcode", 0) & 0xFF)
    return StoreError(sentence) if sentence else None


_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full: free some space, then try again. Nothing was changed.",
    sqlite3.SQLITE_READONLY: "The folder of the studio is read-only: make it writable or name another with --home.",
    sqlite3.SQLITE_IOERR: "The disk reports an error: check it, and keep a copy of the folder of the studio.",
    sqlite3.SQLITE_CANTOPEN: "The store can't be opened: check that the folder of the studio can be read and written.",
    sqlite3.SQLITE_CORRUPT: "The store is damaged: run `marginalia doctor`, which says how to get it back.",
    sqlite3.SQLITE_NOTADB: "The store is no SQLite file: move studio.db away, or name another folder with --home.",
    sqlite3.SQLITE_BUSY: "Another program holds the store: close what works on studio.db, then try again.",
}
