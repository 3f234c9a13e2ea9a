"""What went on when: a book was open, was edited, a model wrote for it, an agent worked on it.

Stretches of time are kept as rows, also those that overlap; the statistics make unions of them. A `Tracker` is told
what the author does, hears from the bus which runs work, and keeps what it knows about once a minute and at the
end, so that a process that is killed loses a minute at most.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import insert, select, update

from marginalia_tui.domain.chat import Usage
from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.domain.statistics import MINUTE, Activity, Calendar, Side
from marginalia_tui.services.counting import Key, Sums, add_sums, count_all
from marginalia_tui.store import tables
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import ReadTx, Store, WriteTx

log = logging.getLogger(__name__)

HOUR = 60 * MINUTE
"""The longest stretch of one row, so that a range of days finds what began before it."""
TYPING = MINUTE
"""After a key the author is editing for so long."""
SLEPT = 3 * MINUTE
"""Who was not asked for so long was asleep with the machine, and nothing went on."""
PERIOD = 60.0
"""Seconds between two times that stretches are kept."""
APART = 1.0
"""Seconds between two looks at the runs: one that works commits many times a second."""
BETWEEN = 1_000_000
"""Answers that are no further apart are one stretch: a day of a run is some rows, and not one for each answer."""

_SIDES = {Activity.OPEN: Side.ME, Activity.EDITING: Side.ME, Activity.RUNNING: Side.AGENTS}


def now() -> int:
    """The time of the machine in microseconds since 1970, which is no moment of the store."""
    return time.time_ns() // 1000


def note_answer(tx: WriteTx, run: str, usage: Usage, seconds: float) -> None:
    """Counts the tokens of an answer for the book of a run, and the time in which its model wrote it."""
    book = tx.connection.execute(select(tables.run.c.book).where(tables.run.c.uuid == run)).scalar_one()
    at = now()
    day = Calendar().day_of(at).isoformat()
    tokens = Sums(prompt_tokens=usage.prompt, completion_tokens=usage.completion)
    add_sums(tx, {Key(book, day, Side.AGENTS): tokens})
    began = at - min(int(seconds * 1_000_000), HOUR)
    if began < at:
        _join_or_add(tx, Side.AGENTS, book, began, at)


def _join_or_add(tx: WriteTx, side: Side, book: str, began: int, ended: int) -> None:
    """Makes the stretch of an answer part of the one before when they touch, as long as that stays short enough."""
    row = tables.activity.c
    query = (
        select(row.id, row.began, row.ended)
        .where(row.kind == Activity.GENERATING, row.side == side, row.book == book)
        .where(row.began >= ended - HOUR, row.began <= ended, row.ended >= began - BETWEEN)
        .order_by(row.began.desc())
        .limit(1)
    )
    found = tx.connection.execute(query).first()
    joined = (began, ended) if found is None else (min(found.began, began), max(found.ended, ended))
    if found is None or joined[1] - joined[0] > HOUR:
        _add_row(tx, Activity.GENERATING, side, book, began, ended)
        return
    tx.connection.execute(update(tables.activity).where(row.id == found.id).values(began=joined[0], ended=joined[1]))


def running_books(tx: ReadTx) -> set[str]:
    """The books on which agents work at this moment."""
    run = tables.run.c
    return set(tx.connection.execute(select(run.book).where(run.status == RunStatus.RUNNING)).scalars())


def _add_row(tx: WriteTx, kind: Activity, side: Side, book: str, began: int, ended: int) -> int:
    values = {"kind": kind.value, "side": side.value, "book": book, "began": began, "ended": ended}
    key = tx.connection.execute(insert(tables.activity).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


@dataclass(slots=True, eq=False)
class _Stretch:
    """One that grows, as far as it is known.

    `row` and `kept` say how much of it is in the store; `until` when it ends by itself.
    """

    kind: Activity
    book: str
    began: int
    ended: int
    row: int | None = None
    kept: int = 0
    until: int | None = None


class Tracker:
    """Keeps what goes on in this process. Safe to use from any thread; telling it something never waits.

    Args:
        store: where it is kept.
        clock: the time in microseconds.
    """

    def __init__(self, store: Store, clock: Callable[[], int] = now) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._looked_at: str | None = None
        self._running: set[str] = set()
        self._at = clock()
        self._open: dict[tuple[Activity, str], _Stretch] = {}
        self._done: list[_Stretch] = []
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._unsubscribe: Callable[[], None] | None = None

    # What it is told

    def look_at(self, book: str | None) -> None:
        """The author has this book open before him, or none."""
        with self._lock:
            self._go_on()
            self._looked_at = book
            self._go_on()

    def typed(self, book: str) -> None:
        """The author typed a key in the text of a book."""
        with self._lock:
            self._go_on()
            self._grow(Activity.EDITING, book, self._at)
            self._open[Activity.EDITING, book].until = self._at + TYPING

    def look_at_runs(self) -> None:
        """Looks which runs work now."""
        with self._store.read() as tx:
            running = running_books(tx)
        with self._lock:
            self._go_on()
            self._running = running
            self._go_on()

    def _go_on(self) -> None:
        """Takes what goes on as having gone on until now; whoever calls has the lock."""
        at = max(self._clock(), self._at)
        slept = at - self._at > SLEPT
        self._at = at
        if slept:
            self._done += self._open.values()
            self._open.clear()
        for key in list(self._open):
            kind, book = key
            until = self._open[key].until
            if until is not None:
                self._grow(kind, book, min(at, until))
            if at > until if until is not None else book not in self._going(kind):
                self._done.append(self._open.pop(key))
        for kind in (Activity.OPEN, Activity.RUNNING):
            for book in self._going(kind):
                self._grow(kind, book, at)

    def _going(self, kind: Activity) -> set[str]:
        if kind is Activity.RUNNING:
            return self._running
        return set() if self._looked_at is None else {self._looked_at}

    def _grow(self, kind: Activity, book: str, at: int) -> None:
        stretch = self._open.setdefault((kind, book), _Stretch(kind, book, at, at))
        while at - stretch.began > HOUR:
            stretch.ended = stretch.began + HOUR
            self._done.append(stretch)
            stretch = self._open[kind, book] = _Stretch(kind, book, stretch.ended, at, until=stretch.until)
        stretch.ended = max(stretch.ended, at)

    # Keeping

    def keep(self) -> None:
        """Writes what is not in the store yet, in a transaction of its own; nothing when there is nothing.

        Raises:
            StoreError: the disk refuses; what is known is kept for the next time.
        """
        with self._keeping:
            with self._lock:
                self._go_on()
                done = list(self._done)
                ends = [(each, each.ended) for each in (*done, *self._open.values()) if each.ended > each.kept]
            ends = [(stretch, ended) for stretch, ended in ends if ended > stretch.began]
            rows: list[tuple[_Stretch, int, int]] = []
            if ends:
                with self._store.write(Act(actor="studio", label="activity")) as tx:
                    rows = [(stretch, ended, _keep(tx, stretch, ended)) for stretch, ended in ends]
            with self._lock:
                for stretch, ended, row in rows:
                    stretch.row, stretch.kept = row, ended
                self._done = self._done[len(done) :]

    def catch_up(self, stopped: Callable[[], bool]) -> None:
        """Keeps what is known and counts what was written, until it is told to stop; a disk that refuses is logged."""
        self._try(self.keep)
        self._try(lambda: count_all(self._store, stopped))

    def catch_up_for(self, seconds: float) -> None:
        """The same for so many seconds at most; the rest is counted another time."""
        end = time.monotonic() + seconds
        self.catch_up(lambda: time.monotonic() > end)

    # A thread that does it

    def start(self) -> None:
        """Begins to look and to keep by itself, and to count what was written; a second time does nothing."""
        with self._lock:
            if self._thread is not None or self._closing.is_set():
                return
            self._thread = threading.Thread(target=self._work, name="marginalia-activity", daemon=True)
            self._unsubscribe = self._store.bus.subscribe(self._heard)
            self._thread.start()

    def close(self) -> None:
        """Ends, and keeps the rest; a second time does nothing."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._try(self.keep)

    def _heard(self, touched: Touched) -> None:
        if touched.runs or touched.everything:
            self._wake.set()

    def _work(self) -> None:
        self._try(self.look_at_runs)
        due = time.monotonic() + PERIOD
        while not self._closing.wait(APART):
            self._wake.wait(max(0.0, due - time.monotonic()))
            self._wake.clear()
            if self._closing.is_set():
                break
            self._try(self.look_at_runs)
            if time.monotonic() >= due:
                self.catch_up(self._closing.is_set)
                due = time.monotonic() + PERIOD

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except StoreError as error:
            # The next minute tries again with what is known until then.
            log.warning("the statistics could not be kept: %s", error)


def _keep(tx: WriteTx, stretch: _Stretch, ended: int) -> int:
    if stretch.row is None:
        return _add_row(tx, stretch.kind, _SIDES[stretch.kind], stretch.book, stretch.began, ended)
    tx.connection.execute(update(tables.activity).where(tables.activity.c.id == stretch.row).values(ended=ended))
    return stretch.row
