"""Takes old versions of parts out of the journal, of books that list only so many: what `doctor --compact` does.

A version goes only when nothing can miss it. Left alone are books with a working copy; what undo still reaches; what
the statistics or the backups that are made by themselves have not counted; the making, the deletion and the bringing
back of a part; and each version without which blame would tell another writer of any character, or the list that is
left another text or author. The last is tried out, part by part, before anything is written.

The row behind one that goes then says that it followed the one before: its place in the journal stays, and so do the
heads of changes. Work is done in batches; between two of them no transaction is open.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import delete, insert, select, update

from marginalia_tui.domain.blame import Stretch
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services import backup
from marginalia_tui.services.blame import History, Steps, Writer, steps_of
from marginalia_tui.services.counting import position
from marginalia_tui.services.effective import backup_rule, versions_listed
from marginalia_tui.services.versions import Version, agents_of, fold_rows, rows_of, sizes_of, texts_of_versions
from marginalia_tui.store import history, tables
from marginalia_tui.store.content import chunks
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx, Store, WriteTx

PARTS = 20
"""Parts whose histories are read at once."""
CHARS = 200_000_000
"""Characters of the versions of one part that are compared; one that has more keeps them."""
TRIES = 40
"""How often it is tried which old versions of one part blame can do without."""


class JournalRow(NamedTuple):
    """A row of the journal for a part, with its change; `free` when undo and the statistics are done with it."""

    seq: int
    before: bytes | None
    after: bytes | None
    change: int
    actor: str
    run: str | None
    call: str | None
    label: str
    at: int
    free: bool


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What becomes of the rows of one part: those that go, and the new `before` of those behind them."""

    part: str
    rows: tuple[JournalRow, ...]
    """As they were read."""
    gone: frozenset[int]
    versions: int
    """The versions that go."""

    @property
    def kept(self) -> list[JournalRow]:
        """The rows as they will be."""
        return without(self.rows, self.gone)


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was done with a book. `held` says why nothing was, when that has a reason."""

    book: str
    title: str
    versions: int = 0
    parts: int = 0
    held: str = ""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Up to where the journal of a book is free."""

    limit: int
    """Versions of a part that are listed."""
    changes: frozenset[int]
    """The changes of the book that undo does not reach any more."""
    position: int
    """Rows behind it are still to be counted."""


def compact(store: Store, closing: Callable[[], bool] = lambda: False) -> Iterator[Compacted]:
    """Compacts the books of a library that list only so many versions, one after the other.

    Args:
        store: the store.
        closing: whether to end; it is asked between two batches.
    """
    with store.read() as tx:
        books = [each for each in tx.space(LIBRARY).books() if each.deleted is None]
    for book in books:
        limit = versions_listed(store.home, book)
        if limit is None:
            continue
        if closing():
            return
        yield _compact_book(store, book, limit, closing)


def _compact_book(store: Store, book: Book, limit: int, closing: Callable[[], bool]) -> Compacted:
    done = Compacted(book.uuid, book.title)
    counted = _counted_by_backups(store, book)
    with store.read() as tx:
        if _has_copy(tx, book.uuid):
            return replace(done, held="an agent has a working copy of it")
        bounds = _bounds(tx, book, limit, counted)
        parts = [] if bounds is None else _long_histories(tx, book, limit)
    if bounds is None:
        return done
    for start in range(0, len(parts), PARTS):
        if closing():
            break
        rewrites = list(_plan(store, parts[start : start + PARTS], bounds))
        if rewrites and _write(store, book, rewrites):
            versions = sum(each.versions for each in rewrites)
            done = replace(done, versions=done.versions + versions, parts=done.parts + len(rewrites))
    return done


# What is free


def _has_copy(tx: ReadTx, book: str) -> bool:
    space = tables.space.c
    query = select(space.id).where(space.kind == "copy", space.book == book, space.state != "dropped").limit(1)
    return tx.connection.execute(query).first() is not None


def _counted_by_backups(store: Store, book: Book) -> int | None:
    """The position behind which changes count for the next backup of a book; None when none is made by itself."""
    if not any(backup_rule(store.home, book)):
        return None
    last = next(iter(backup.list_backups(store, book.uuid)), None)
    return last.position if last else 0


def _bounds(tx: ReadTx, book: Book, limit: int, counted: int | None) -> _Bounds | None:
    """None when nothing of the book is free."""
    change = tables.change.c
    of_book = (change.space_id == LIBRARY, change.book == book.uuid)
    reached = select(change.id).where(*of_book, change.undoes.is_(None)).order_by(change.id.desc())
    oldest = tx.connection.execute(reached.limit(1).offset(history.UNDO_REACH - 1)).scalar()
    if oldest is None:
        return None
    free = frozenset(tx.connection.execute(select(change.id).where(*of_book, change.id < oldest)).scalars())
    last = position(tx) if counted is None else min(position(tx), counted)
    return _Bounds(limit, free, last)


def _long_histories(tx: ReadTx, book: Book, limit: int) -> list[str]:
    """The parts of a book with more rows in the journal than versions are listed."""
    part = tables.part.c
    mine = set(
        tx.connection.execute(select(part.uuid).where(part.space_id == LIBRARY, part.book == book.uuid)).scalars()
    )
    query = "SELECT uuid FROM journal WHERE space_id = ? AND kind = ? GROUP BY uuid HAVING count(*) > ?"
    rows = tx.connection.exec_driver_sql(query, (LIBRARY, Part.KIND, limit)).scalars()
    return sorted(mine.intersection(rows))


# What goes


def _plan(store: Store, parts: Sequence[str], bounds: _Bounds) -> Iterator[Rewrite]:
    """What can go of parts. The histories are read at once and compared while no transaction is open."""
    with store.read() as tx:
        space = tx.space(LIBRARY)
        rows = {part: _rows(some, bounds) for part, some in rows_of(space, parts).items()}
        trials = [trial for part, some in rows.items() if (trial := _trial(space, part, some, bounds.limit))]
    for trial in trials:
        with store.read() as tx:
            trial.read(tx.space(LIBRARY))
        if gone := trial.most():
            versions = len(trial.versions) - len(trial.fold(gone))
            yield Rewrite(trial.part, trial.rows, gone, versions)


def _rows(some: Sequence[Any], bounds: _Bounds) -> list[JournalRow]:
    return [
        JournalRow(
            row.seq, row.before, row.after, row.change, row.actor, row.run, row.call, row.label, row.at,
            free=row.change in bounds.changes and row.seq <= bounds.position,
        )
        for row in some
    ]  # fmt: skip


def without(rows: Sequence[JournalRow], gone: frozenset[int]) -> list[JournalRow]:
    """Rows of a part without some of them: the next one takes over what was before."""
    kept: list[JournalRow] = []
    before: bytes | None = None
    bridged = False
    for row in rows:
        if row.seq in gone:
            before, bridged = (before if bridged else row.before), True
            continue
        kept.append(row._replace(before=before) if bridged else row)
        bridged = False
    return kept


def candidates(rows: Sequence[JournalRow], before: int) -> list[int]:
    """The rows that may go as far as the journal itself goes: an edit before a position that is followed by an edit.

    The making of a part, its deletion and what stands before a deletion stay, and so does what is not free.
    """
    return [
        row.seq
        for row, following in zip(rows, rows[1:], strict=False)
        if row.seq < before
        and row.free
        and following.free
        and None not in (row.before, row.after, following.after)
        and row.after == following.before
    ]


class _Trial:
    """The history of one part, and what it would be without some rows."""

    def __init__(
        self,
        part: str,
        rows: Sequence[JournalRow],
        states: Mapping[bytes, Mapping[str, Any]],
        agents: Mapping[str, str],
        limit: int,
    ) -> None:
        self.part = part
        self.rows = tuple(rows)
        self.limit = limit
        self._states = states
        self._agents = agents
        self.versions = self.fold(frozenset())
        self.texts: Mapping[bytes | None, str] = {}
        self.steps: Mapping[int, Steps] = {}

    def read(self, space: Space) -> None:
        """Reads the texts, and how applied ones came about."""
        self.texts = texts_of_versions(space, self.versions)
        self.steps = steps_of(space, {self.part: self.versions}).get(self.part, {})

    def fold(self, gone: frozenset[int]) -> list[Version]:
        """The versions without some rows, each numbered by its position in the journal, which stays."""
        found = fold_rows(without(self.rows, gone), self._states, self._agents)
        return [replace(each, number=each.seq) for each in found]

    def most(self) -> frozenset[int]:
        """As many rows as can go with everything that is told of the part the same as before."""
        listed = self.versions[-self.limit :]
        whole = self._told(self.versions)
        needed = {each.owner.version for each in whole}
        waiting = [[seq for seq in candidates(self.rows, listed[0].seq) if seq not in needed]]
        gone: frozenset[int] = frozenset()
        for _ in range(TRIES):
            if not waiting:
                break
            some = waiting.pop()
            if not some:
                continue
            left = self.fold(gone.union(some))
            if left[-self.limit :] == listed and self._told(left) == whole:
                gone = gone.union(some)
            elif len(some) > 1:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
        return gone

    def _told(self, versions: Sequence[Version]) -> list[Stretch[Writer]]:
        return History(self.part, tuple(versions), self.texts, self.steps).stretches()


def _trial(space: Space, part: str, rows: Sequence[JournalRow], limit: int) -> _Trial | None:
    """The history of a part; None when none of it can go."""
    states = space.states(Part, {key for row in rows for key in (row.before, row.after) if key is not None})
    trial = _Trial(part, rows, states, agents_of(space, (row.run for row in rows)), limit)
    if len(trial.versions) <= limit or not candidates(rows, trial.versions[-limit].seq):
        return None
    if sum(chars for _, chars in sizes_of(space, trial.versions).values()) > CHARS:
        return None
    return trial


# Writing


def _write(store: Store, book: Book, rewrites: Sequence[Rewrite]) -> bool:
    """Writes a batch; False, and nothing is written, when the book is not as it was when that was planned."""
    with store.write(Act(actor="studio", label="compact", book=book.uuid)) as tx:
        now = tx.space(LIBRARY).find(Book, book.uuid)
        if now is None or now.history_limit != book.history_limit or _has_copy(tx, book.uuid):
            return False
        if any(_seqs(tx, each) != [row.seq for row in each.rows] for each in rewrites):
            return False
        for each in rewrites:
            _rewrite(tx, each)
        tx.touch("book", book.uuid)
    return True


def _seqs(tx: ReadTx, each: Rewrite) -> list[int]:
    row = tables.journal.c
    last = each.rows[-1].seq
    query = select(row.seq).where(row.space_id == LIBRARY, row.uuid == each.part, row.seq <= last).order_by(row.seq)
    return list(tx.connection.execute(query).scalars())


def _rewrite(tx: WriteTx, each: Rewrite) -> None:
    row, library = tables.journal.c, update(tables.space).where(tables.space.c.id == LIBRARY)
    old = {one.seq: one for one in each.rows}
    changed = [one for one in each.kept if one.before != old[one.seq].before]
    # Rows of a journal go only while their space says that it is changed in bulk.
    tx.connection.execute(library.values(state="moving"))
    for some in chunks([*each.gone, *(one.seq for one in changed)]):
        tx.connection.execute(delete(tables.journal).where(row.seq.in_(some)))
    tx.connection.execute(library.values(state="live"))
    if not changed:
        return
    tx.connection.execute(
        insert(tables.journal),
        [
            {"seq": one.seq, "space_id": LIBRARY, "kind": Part.KIND, "uuid": each.part, "before": one.before,
             "after": one.after, "change_id": one.change}
            for one in changed
        ],
    )  # fmt: skip
