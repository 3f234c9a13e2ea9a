"""The store: opens it, and hands out transactions.

A read transaction has a connection of its own and never waits. A write transaction takes the writer turn, begins
IMMEDIATE, checks that the schema is still the one it knows and that the run it works for is still its own, and
tells the bus after its commit. No value leaves a transaction that still needs it.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy import Connection, bindparam, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from marginalia_tui.domain.clock import Clock, SystemClock
from marginalia_tui.domain.errors import LeaseLost, NotFound, StoreError
from marginalia_tui.domain.guard import may_wait, may_write, writing
from marginalia_tui.store import journal, schema, tables
from marginalia_tui.store.bus import Bus, Touched
from marginalia_tui.store.engine import as_store_error, reader_engine, writer_engine
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import Space, WritableSpace
from marginalia_tui.store.turn import WriterTurn
from marginalia_tui.store.version import HEAD

log = logging.getLogger(__name__)

PATIENCE = 20.0
"""Seconds that a write waits for the turn, which nobody has as long as that unless it was suspended."""


class Holding(Protocol):
    """What a lease tells a transaction."""

    @property
    def run(self) -> str:
        """The run."""
        ...

    @property
    def epoch(self) -> int:
        """The epoch in which it is held."""
        ...


class ReadTx:
    """One moment of the store, to read."""

    def __init__(self, store: "Store", connection: Connection) -> None:
        self.store = store
        self.connection = connection

    def space(self, space_id: int) -> Space:
        """The items of a space."""
        return Space(self, space_id)

    def position(self) -> int:
        """The newest position of the journal."""
        return journal.position(self.connection)


class WriteTx(ReadTx):
    """A write transaction: what is written in it is there whole, or not at all."""

    def __init__(self, store: "Store", connection: Connection, act: Act, key: str | None) -> None:
        super().__init__(store, connection)
        self.act = act
        self.key = key
        """The run whose lock does not stop this transaction: its apply."""
        self._changes: dict[int, int] = {}
        self._if_undone: list[Callable[[], None]] = []
        self._if_kept: list[Callable[[], None]] = []
        self._touched: dict[str, set[str]] = {"book": set(), "run": set(), "agent": set()}

    def space(self, space_id: int) -> WritableSpace:
        """The items of a space, to change."""
        return WritableSpace(self, space_id)

    def change(self, space_id: int) -> int:
        """The id of the change of this transaction in a space, made when it is first needed.

        Raises:
            NotFound: the space was dropped, or never was.
        """
        if space_id not in self._changes:
            _check_live(self.connection, space_id)
            self._changes[space_id] = journal.add_change(self.connection, space_id, self.act, self.store.clock.now())
        return self._changes[space_id]

    def join(self, space_id: int, change_id: int) -> None:
        """Adds what follows to a change that is there: saves that follow each other closely are one."""
        self._changes[space_id] = change_id

    def changed(self, space_id: int) -> int | None:
        """The id of the change in a space; None when nothing was changed there."""
        return self._changes.get(space_id)

    def if_undone(self, action: Callable[[], None]) -> None:
        """Has `action` called when this transaction is rolled back."""
        self._if_undone.append(action)

    def if_kept(self, action: Callable[[], None]) -> None:
        """Has `action` called after the commit of this transaction."""
        self._if_kept.append(action)

    def kept(self) -> None:
        """Calls what was to be called after the commit."""
        for action in self._if_kept:
            action()

    def undone(self) -> None:
        """Calls what was to be called after a rollback."""
        for action in self._if_undone:
            action()

    def touch(self, what: Literal["book", "run", "agent"], uuid: str) -> None:
        """Has the bus announce it after the commit."""
        self._touched[what].add(uuid)

    def touched(self) -> Touched:
        """What the bus announces."""
        touched = self._touched
        return Touched(
            books=frozenset(touched["book"]), runs=frozenset(touched["run"]), agents=frozenset(touched["agent"])
        )


class Store:
    """One store file in the folder `home`. Safe to use from many threads and processes."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self.home = home
        self.path = home / "studio.db"
        self._file = _file_of(self.path)
        self.clock = clock
        self._turn = WriterTurn(home / "studio.turn")
        self._writer = writer_engine(self.path)
        self._reader = reader_engine(self.path)
        self.bus = Bus(self._foreign_commits)

    @classmethod
    def open(cls, home: Path, *, clock: Clock | None = None) -> "Store":
        """Opens the store of a home, makes it when there is none, upgrades an older one after a backup.

        Raises:
            StoreError: it can't be used; the sentence says what to do.
        """
        home = home.absolute()
        schema.prepare_home(home)
        path = home / "studio.db"
        version = schema.stored_version(path)
        if version is not None:
            schema.check_version(version)
        try:
            store = cls(home, clock or SystemClock())
        except OSError as error:
            raise StoreError(f"{error.filename} can't be opened ({error.strerror}): move it away.") from error
        if version != HEAD:
            try:
                store._upgrade()
            except BaseException:
                store.close()
                raise
        store.bus.mark()
        return store

    def _upgrade(self) -> None:
        with self._turn.hold(PATIENCE), _faults():
            # Another process may have upgraded it while this one waited for the turn.
            version = schema.stored_version(self.path)
            if version is not None:
                schema.check_version(version)
            if version != HEAD:
                schema.migrate(self._writer, self.path, version)

    @contextmanager
    def read(self) -> Iterator[ReadTx]:
        """One moment of the store. Keep it short: it holds back the tidying of the write-ahead log."""
        with _faults(), self._reader.connect() as connection, connection.begin():
            yield ReadTx(self, connection)

    @contextmanager
    def write(self, act: Act, *, lease: Holding | None = None, key: str | None = None) -> Iterator[WriteTx]:
        """Takes the writer turn and opens a transaction that commits at its end, or not at all.

        Args:
            act: who does what, for the journal.
            lease: the lease of the run that writes; nothing is written once it is lost.
            key: the run whose lock does not stop this transaction.

        Raises:
            LeaseLost: another process took the run over.
            StoreError: the disk or the file refuses, or another process does not end its turn.
        """
        may_write()
        durable = lease is None
        # A run has time; and if it gave up, it could not write that it did.
        patience = PATIENCE if lease is None else None
        with writing(), self._turn.hold(patience), _faults(), self._writer.connect() as connection:
            if _file_of(self.path) != self._file:
                raise StoreError(
                    f"{self.path} was moved or replaced while it was open, so nothing is written any more: "
                    "put it back, or close the studio and start it again."
                )
            connection = connection.execution_options(durable=durable)
            tx = WriteTx(self, connection, act, key)
            try:
                with connection.begin():
                    self._check_version(connection)
                    if lease is not None:
                        _check_lease(connection, lease)
                    yield tx
            except BaseException:
                tx.undone()
                raise
        tx.kept()
        self.bus.publish(tx.touched())

    @staticmethod
    def _check_version(connection: Connection) -> None:
        if connection.execute(_VERSION).scalar() != HEAD:
            raise StoreError("The store was upgraded by a newer Marginalia meanwhile: close this one, start it again.")

    def _foreign_commits(self) -> int:
        """A number that another one follows when another process (never this one) has committed."""
        with _faults(), self._writer.connect() as connection:
            return int(_raw(connection).execute("PRAGMA data_version").fetchone()[0])

    def checkpoint(self) -> None:
        """Moves the write-ahead log into the file; measurements begin from there."""
        may_wait("the writer turn")
        with self._turn.hold(PATIENCE), _faults(), self._writer.connect() as connection:
            _raw(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes every connection and ends the watcher."""
        self.bus.close()
        self._reader.dispose()
        self._writer.dispose()
        self._turn.close()


_VERSION = text("SELECT version_num FROM alembic_version")
_STATE = select(tables.space.c.state).where(tables.space.c.id == bindparam("space"))
_EPOCH = select(tables.run.c.epoch).where(tables.run.c.uuid == bindparam("run"))


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _check_live(connection: Connection, space_id: int) -> None:
    if connection.execute(_STATE, {"space": space_id}).scalar() != "live":
        raise NotFound(f"The working copy {space_id} is gone: what belongs to it can't be changed any more.")


def _check_lease(connection: Connection, lease: Holding) -> None:
    if connection.execute(_EPOCH, {"run": lease.run}).scalar() != lease.epoch:
        raise LeaseLost("Another process took this run over: what this one still had in hand is dropped.")


def _file_of(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path: SQLite goes on with one that was moved away, and what it writes is lost."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        if sentence := as_store_error(error):
            raise sentence from error
        raise
    except PoolTimeout as error:
        raise StoreError("A change takes too long: wait until it is done, then try again.") from error
