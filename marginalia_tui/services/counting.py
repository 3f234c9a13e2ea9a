"""Counts what the journal says was written, once for each change, into sums by day, book and side.

The sums know up to which position of the journal they count. What is newer is counted in batches: a batch is read,
its texts are compared while no transaction is open, and the sums and the position move on together, unless somebody
else moved the position meanwhile. Who only reads counts the rest for himself and keeps nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.items import Part
from marginalia_tui.domain.statistics import Calendar, Side
from marginalia_tui.domain.written import Edit, Written, is_written, written_across, written_in
from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks, decode_state, get_counts, get_states, get_texts
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store, WriteTx

BATCH = 200
"""Rows of the journal that are counted at once; a change is never counted in two batches."""


class Key(NamedTuple):
    """Whose sums they are."""

    book: str
    day: str
    side: Side


@dataclass(frozen=True, slots=True)
class Sums:
    """What was counted for a day, a book and a side. `grown` is how much larger the book became, however it did."""

    words_added: int = 0
    words_deleted: int = 0
    chars_added: int = 0
    chars_deleted: int = 0
    words_grown: int = 0
    chars_grown: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, name) + getattr(other, name) for name in NAMES))


NAMES = tuple(each.name for each in fields(Sums))
"""The sums, as the columns of the table are called."""


class _Change(NamedTuple):
    """A row of the journal with what its change says."""

    seq: int
    space: int
    part: str
    before: bytes | None
    after: bytes | None
    change: int
    actor: str
    label: str
    undoes: int | None
    at: int


class _Text(NamedTuple):
    """The text that a state names: its hash, the book, words, characters."""

    hash: bytes | None
    book: str
    words: int
    chars: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes to count together, in order, with what their states say.

    `base` and `end` are the positions between which they stand. What was set aside has left the journal, and stands
    between none.
    """

    rows: tuple[_Change, ...]
    texts: Mapping[bytes, _Text]
    of_apply: frozenset[int]
    """The changes that took an apply back, or did it again."""
    base: int
    end: int
    aside: bool

    @property
    def empty(self) -> bool:
        """Whether there is nothing to count and no position to move."""
        return not self.rows and self.base == self.end


def count_all(store: Store, closing: Callable[[], bool] = lambda: False, calendar: Calendar | None = None) -> None:
    """Counts everything that is not counted yet, and keeps the sums; ends between two texts when told to.

    Args:
        store: the store.
        closing: whether to end.
        calendar: the days; those of the machine's zone when None.
    """

    def go_on() -> None:
        if closing():
            raise _Closing

    try:
        while not closing():
            with store.read() as tx:
                batch = next_batch(tx)
            if batch.empty:
                return
            keep(store, batch, count(store, batch, calendar or Calendar(), go_on))
    except _Closing:
        return


class _Closing(Exception):
    """Whoever counts was told to end; what was counted of a batch is counted again another time."""


def count_rest(
    store: Store, calendar: Calendar, batch: Batch, between: Callable[[], None] = lambda: None
) -> dict[Key, Sums]:
    """The sums of everything from a batch on, for who only reads.

    Args:
        store: the store.
        calendar: the days.
        batch: the first one.
        between: called before each text; it may raise.
    """
    total: dict[Key, Sums] = {}
    while True:
        add_to(total, count(store, batch, calendar, between))
        # What is set aside comes first, and stays there for who keeps nothing.
        after = (batch.base, batch.rows[-1].seq) if batch.aside else (batch.end, None)
        with store.read() as tx:
            batch = next_batch(tx, *after)
        if batch.empty:
            return total


def add_to(total: dict[Key, Sums], more: Mapping[Key, Sums]) -> None:
    """Adds sums to sums."""
    for key, sums in more.items():
        total[key] = total.get(key, Sums()) + sums


def position(tx: ReadTx) -> int:
    """The position of the journal up to which all is counted."""
    return int(tx.connection.execute(select(tables.counted.c.position)).scalar_one())


# Reading a batch


def next_batch(tx: ReadTx, base: int | None = None, aside_after: int | None = 0) -> Batch:
    """The next changes to count.

    Args:
        tx: of one moment.
        base: the position to go on from; None: that of the sums.
        aside_after: the last row that was set aside and is counted; None: all of them are.
    """
    base = position(tx) if base is None else base
    rows = [] if aside_after is None else _whole_changes(tx, _ASIDE, aside_after)
    aside = bool(rows)
    end = base
    if not aside:
        rows = _whole_changes(tx, _JOURNAL, base)
        # Rows of other kinds behind the last one need no counting.
        end = rows[-1].seq if _more_behind(tx, rows) else max(base, tx.position())
    return Batch(tuple(rows), _texts(tx, rows), _of_apply(tx, rows), base, end, aside)


_COLUMNS = "space_id, uuid, before, after, change_id, actor, label, undoes, at"
_ASIDE = f"SELECT seq, {_COLUMNS} FROM uncounted WHERE seq > ? ORDER BY seq LIMIT ?"
_JOURNAL = (
    "SELECT j.seq, j.space_id, j.uuid, j.before, j.after, j.change_id, c.actor, c.label, c.undoes, c.at "
    f"FROM journal j JOIN change c ON c.id = j.change_id WHERE j.kind = '{Part.KIND}' AND j.seq > ? "
    "ORDER BY j.seq LIMIT ?"
)


def _whole_changes(tx: ReadTx, query: str, after: int) -> list[_Change]:
    """The first rows, up to the end of a change."""
    limit = BATCH
    while True:
        rows = [_Change(*row) for row in tx.connection.exec_driver_sql(query, (after, limit + 1))]
        if len(rows) <= limit:
            return rows
        last = rows[-1].change
        while rows and rows[-1].change == last:
            rows.pop()
        if rows:
            return rows
        limit *= 4


def _more_behind(tx: ReadTx, rows: list[_Change]) -> bool:
    return bool(rows) and tx.connection.exec_driver_sql(_JOURNAL, (rows[-1].seq, 1)).first() is not None


def _texts(tx: ReadTx, rows: Iterable[_Change]) -> dict[bytes, _Text]:
    hashes = {each for row in rows for each in (row.before, row.after) if each is not None}
    cells = {key: decode_state(Part.KIND, data) for key, data in get_states(tx.connection, hashes).items()}
    counts = get_counts(tx.connection, {each["text"] for each in cells.values()} - {None})
    return {key: _Text(each["text"], each["book"], *counts.get(each["text"], (0, 0))) for key, each in cells.items()}


def _of_apply(tx: ReadTx, rows: Iterable[_Change]) -> frozenset[int]:
    """The changes among those of the rows that take back an apply, whether directly or a taking back of one."""
    waiting = {row.change: row.undoes for row in rows if row.undoes is not None}
    found: set[int] = set()
    change = tables.change.c
    while waiting:
        query = select(change.id, change.actor, change.undoes)
        known = {
            row.id: row
            for some in chunks(sorted(set(waiting.values())))
            for row in tx.connection.execute(query.where(change.id.in_(some)))
        }
        ends = {mine: known[of] for mine, of in waiting.items() if of in known}
        found.update(mine for mine, row in ends.items() if row.actor == "apply")
        # A change takes back an older one, so that this ends.
        waiting = {mine: row.undoes for mine, row in ends.items() if row.undoes is not None}
    return frozenset(found)


# Counting


def count(
    store: Store, batch: Batch, calendar: Calendar, between: Callable[[], None] = lambda: None
) -> dict[Key, Sums]:
    """The sums of a batch. It reads texts, in short transactions, and writes nothing.

    Args:
        store: the store.
        batch: the changes.
        calendar: the days.
        between: called before each text; it may raise.
    """
    total: dict[Key, Sums] = {}
    for _, of_change in groupby(batch.rows, key=lambda row: row.change):
        rows = list(of_change)
        head = rows[0]
        day = calendar.day_of(head.at).isoformat()
        in_copy = head.space != LIBRARY
        if not in_copy:
            side = Side.AGENTS if head.actor == "apply" or head.change in batch.of_apply else Side.ME
            for book, words, chars in _growth(batch, rows):
                add_to(total, {Key(book, day, side): Sums(words_grown=words, chars_grown=chars)})
        if is_written(head.actor, head.label, head.undoes, in_copy=in_copy):
            side = Side.AGENTS if in_copy else Side.ME
            for book, sums in _written(store, batch, rows, between):
                add_to(total, {Key(book, day, side): _as_sums(sums)})
    return {key: sums for key, sums in total.items() if sums != Sums()}


_NO_TEXT = _Text(None, "", 0, 0)


def _sides(batch: Batch, row: _Change) -> tuple[_Text, _Text]:
    before = _NO_TEXT if row.before is None else batch.texts.get(row.before, _NO_TEXT)
    after = _NO_TEXT if row.after is None else batch.texts.get(row.after, _NO_TEXT)
    return before, after


def _growth(batch: Batch, rows: Iterable[_Change]) -> Iterator[tuple[str, int, int]]:
    for row in rows:
        before, after = _sides(batch, row)
        if before.hash != after.hash or before.book != after.book:
            yield from ((text.book, sign * text.words, sign * text.chars) for text, sign in ((before, -1), (after, 1)))


def _written(
    store: Store, batch: Batch, rows: list[_Change], between: Callable[[], None]
) -> Iterator[tuple[str, Written]]:
    changed = [(row.part, *_sides(batch, row)) for row in rows]
    changed = [(part, before, after) for part, before, after in changed if before.hash != after.hash]
    several = len({part for part, _, _ in changed}) > 1
    loses, gains = any(before.hash for _, before, _ in changed), any(after.hash for _, _, after in changed)
    if several and loses and gains:
        # All parts of a change are of one book.
        _, before, after = changed[0]
        book = after.book or before.book
        yield book, written_across(_edit(store, before, after, between) for _, before, after in changed)
        return
    for _, before, after in changed:
        if before.hash is None or after.hash is None:
            # What is new or gone as a whole was counted when it was stored.
            yield before.book or after.book, Written(after.words, before.words, after.chars, before.chars)
        else:
            yield after.book, written_in(*_edit(store, before, after, between))


def _edit(store: Store, before: _Text, after: _Text, between: Callable[[], None]) -> Edit:
    between()
    with store.read() as tx:
        bodies = get_texts(tx.connection, [each for each in (before.hash, after.hash) if each is not None])
    return bodies.get(before.hash or b"", ""), bodies.get(after.hash or b"", "")


def _as_sums(written: Written) -> Sums:
    return Sums(written.words_added, written.words_deleted, written.chars_added, written.chars_deleted)


# Keeping


def keep(store: Store, batch: Batch, sums: Mapping[Key, Sums]) -> bool:
    """Adds the sums of a batch to those of the store; False, and nothing is written, when it was counted meanwhile."""
    try:
        with store.write(Act(actor="studio", label="statistics")) as tx:
            if not (_take_aside(tx, batch) if batch.aside else _move_on(tx, batch)):
                raise _CountedMeanwhile
            add_sums(tx, sums)
    except _CountedMeanwhile:
        return False
    return True


class _CountedMeanwhile(Exception):
    """Another process counted the same."""


def _move_on(tx: WriteTx, batch: Batch) -> bool:
    column, row, aside = tables.counted.c, tables.journal.c, tables.uncounted.c
    moved = tx.connection.execute(
        update(tables.counted).where(column.position == batch.base).values(position=batch.end)
    )
    # What was set aside since the batch was read is counted with it, unless it was counted there already.
    taken = tx.connection.execute(delete(tables.uncounted).where(aside.seq > batch.base, aside.seq <= batch.end))
    there = select(func.count()).where(row.seq > batch.base, row.seq <= batch.end, row.kind == Part.KIND)
    known = taken.rowcount + int(tx.connection.execute(there).scalar_one())
    return moved.rowcount == 1 and known == len(batch.rows)


def _take_aside(tx: WriteTx, batch: Batch) -> bool:
    taken = 0
    for some in chunks([row.seq for row in batch.rows]):
        taken += tx.connection.execute(delete(tables.uncounted).where(tables.uncounted.c.seq.in_(some))).rowcount
    return taken == len(batch.rows)


def add_sums(tx: WriteTx, sums: Mapping[Key, Sums]) -> None:
    """Adds to the sums of days."""
    rows = [
        {"book": key.book, "day": key.day, "side": key.side.value, **{name: getattr(each, name) for name in NAMES}}
        for key, each in sums.items()
    ]
    if rows:
        tx.connection.execute(_ADD, rows)


_INSERT = insert(tables.daily)
_ADD = _INSERT.on_conflict_do_update(
    index_elements=["book", "day", "side"],
    set_={name: tables.daily.c[name] + _INSERT.excluded[name] for name in NAMES},
)
