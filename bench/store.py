"""The store: what a run does to a book, from the copy to the drop, at two sizes and beside twenty other books."""

import gc
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert, select

from bench.books import Author
from bench.measure import Figure, keep, show
from bench.plain import Plain, marks, written_since
from marginalia_tui.agent.merge.apply import apply_merge
from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.merge.plan import plan_merge
from marginalia_tui.domain.items import Part
from marginalia_tui.store import history, lease, tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store

SIZES = (2_000, 20_000)
REPEATS = 9
CHANGES = 150
"""Parts that the agent changes."""
AUTHORS = 20
"""Parts of those in which the author changes something else meanwhile."""
OTHERS = 20
OTHER_SIZE = 2_000
BOOK = "book"
WANTED = {"plan": 10.0, "apply": 100.0, "restore to the start": 100.0, "a call of its own": 5.0}
"""Milliseconds."""
GROWTH = 3.0
"""How many times the time at 2,000 parts a work may take at 20,000."""
BESIDE = 1.25
"""How many times its time without them a work may take beside other books: deeper trees, and nothing else."""
PLAIN = 3.0
"""How many times the plain work a copy and a drop may take."""


@contextmanager
def _store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder, closing(Store.open(Path(folder) / "home")) as store:
        yield store


def _import(size: int, repeats: int) -> Figure:
    """Imports into a new store each time, so that no text is there before."""
    figure = Figure("import", note="" if repeats == REPEATS else f"of {repeats}")
    items = Author(size).book(BOOK, size)
    for _ in range(repeats):
        with _store() as store, tempfile.TemporaryDirectory() as folder:
            plain = Plain(store, Path(folder) / "plain.db")
            since = marks(store)
            store.checkpoint()

            def work(store: Store = store) -> None:
                with store.write(Act(actor="author", label="import", book=BOOK)) as tx:
                    tx.space(LIBRARY).put(items)

            gc.collect()
            figure.time(work)
            rows = written_since(store, since)
            figure.time_plain(lambda plain=plain, rows=rows: plain.write(rows))  # type: ignore[misc]
            plain.close()
    return figure


class Life:
    """The life of one working copy after another, each step measured beside the plain work."""

    def __init__(self, store: Store, plain: Plain, size: int) -> None:
        self.store = store
        self.plain = plain
        self.author = Author(7)
        with store.read() as tx:
            rows = tx.space(LIBRARY).outline(BOOK)
        self.parts = [row.uuid for row in sorted(rows, key=lambda row: row.created)]
        step = len(self.parts) // CHANGES
        self.changed = self.parts[::step][:CHANGES]
        self.copy = Figure("copy")
        self.changes = Figure(f"{CHANGES} changes")
        self.call = Figure("a call of its own")
        self.plan = Figure("plan", note=f"{CHANGES + 1} parts, {AUTHORS} changed by the author too")
        self.apply = Figure("apply")
        self.restore = Figure("restore to the start")
        self.drop = Figure("drop")

    @property
    def figures(self) -> list[Figure]:
        return [self.copy, self.changes, self.call, self.plan, self.apply, self.restore, self.drop]

    def ready(self) -> None:
        """Both logs are in their files, and nothing is left for the collector of Python to do."""
        self.store.checkpoint()
        self.plain.checkpoint()
        gc.collect()

    def live(self) -> None:
        space = self._copied()
        held = self._leased()
        start = marks(self.store).journal
        self._changed(space)
        self._called(space, held)
        held.release()
        self._author_changes()
        self._planned(space)
        self._applied(space)
        self._restored(space, start)
        self._dropped(space)

    def _copied(self) -> int:
        self.ready()

        def work() -> int:
            with self.store.write(Act(actor="studio", label="copy")) as tx:
                return copy_book(tx, BOOK)

        space = self.copy.time(work)
        with self.store.read() as tx:
            row = tx.connection.execute(select(tables.space).where(tables.space.c.id == space)).one()
        self.copy.time_plain(lambda: self.plain.copy(tuple(row), BOOK))
        return space

    def _leased(self) -> lease.Lease:
        """A run that works the copy; its rows are the same in both stores and not measured."""
        with self.store.write(Act(actor="studio", label="start")) as tx:
            tx.connection.execute(tables.run.delete())
            tx.connection.execute(
                insert(tables.run).values(
                    uuid="run",
                    agent="agent",
                    agent_name="Agent",
                    book="elsewhere",
                    status="RUNNING",
                    created=1,
                    changed=1,
                )
            )
            return lease.take(tx, "run")

    def _changed(self, space: int) -> None:
        texts = {uuid: self.author.text() for uuid in self.changed}
        since = marks(self.store)
        self.ready()

        def work() -> None:
            with self.store.write(Act(actor="agent", label="edit", book=BOOK, run="run")) as tx:
                parts = tx.space(space).get_many(Part, self.changed)
                tx.space(space).put([replace(part, text=texts[uuid]) for uuid, part in parts.items()])

        self.changes.time(work)
        rows = written_since(self.store, since)
        self.changes.time_plain(lambda: self.plain.write(rows, read=(space, self.changed)))

    def _called(self, space: int, held: lease.Lease) -> None:
        """One call of the agent: reads a part, changes it, in a transaction under its lease."""
        uuid = self.parts[1]
        text = self.author.text()
        since = marks(self.store)
        self.ready()

        def work() -> None:
            with self.store.write(Act(actor="agent", label="edit-part", book=BOOK, run="run"), lease=held) as tx:
                part = tx.space(space).get(Part, uuid)
                tx.space(space).put([replace(part, text=text)])

        self.call.time(work)
        rows = written_since(self.store, since)
        self.call.time_plain(lambda: self.plain.write(rows, durable=False, read=(space, [uuid])))

    def _author_changes(self) -> None:
        since = marks(self.store)
        with self.store.write(Act(actor="author", label="edit", book=BOOK)) as tx:
            parts = tx.space(LIBRARY).get_many(Part, self.changed[:AUTHORS])
            titles = [replace(part, title=self.author.text()[:20]) for part in parts.values()]
            tx.space(LIBRARY).put(titles)
        self.plain.write(written_since(self.store, since))

    def _planned(self, space: int) -> None:
        self.ready()

        def work() -> int:
            with self.store.read() as tx:
                return len(plan_merge(tx, space).items)

        assert self.plan.time(work) == CHANGES + 1
        assert len(self.plan.time_plain(lambda: self.plain.plan(space))) == CHANGES + 1

    def _applied(self, space: int) -> None:
        with self.store.read() as read:
            picks = Picks.of_plan(plan_merge(read, space))
        since = marks(self.store)
        self.ready()

        def work() -> int:
            with self.store.write(Act(actor="apply", label="apply", book=BOOK, run="run"), key="run") as tx:
                return len(apply_merge(tx, space, picks).applied)

        assert self.apply.time(work) == CHANGES + 1
        rows = written_since(self.store, since)

        def plain_work() -> None:
            uuids = list(self.plain.plan(space))
            self.plain.write(rows, read=(space, uuids))

        self.apply.time_plain(plain_work)

    def _restored(self, space: int, start: int) -> None:
        since = marks(self.store)
        self.ready()

        def work() -> int:
            with self.store.write(Act(actor="restore", label="restore", book=BOOK, run="run")) as tx:
                return len(history.restore(tx, space, start))

        assert self.restore.time(work) == CHANGES + 1
        rows = written_since(self.store, since)

        def plain_work() -> None:
            self.plain.plan(space)
            self.plain.write(rows)

        self.restore.time_plain(plain_work)

    def _dropped(self, space: int) -> None:
        self.ready()

        def work() -> None:
            with self.store.write(Act(actor="studio", label="drop")) as tx:
                drop_space(tx, space)

        self.drop.time(work)
        self.drop.time_plain(lambda: self.plain.drop(space))


@contextmanager
def _life(size: int, others: int) -> Iterator[Life]:
    """A new store with the book and so many other books, and its plain double."""
    with _store() as store, tempfile.TemporaryDirectory() as folder:
        for number in range(others):
            with store.write(Act(actor="author", label="import")) as tx:
                tx.space(LIBRARY).put(Author(number + 100).book(f"other-{number}", OTHER_SIZE))
        with store.write(Act(actor="author", label="import", book=BOOK)) as tx:
            tx.space(LIBRARY).put(Author(size).book(BOOK, size))
        store.checkpoint()
        with closing(Plain(store, Path(folder) / "plain.db")) as plain:
            yield Life(store, plain, size)


def _measure(size: int) -> tuple[list[Figure], list[Figure]]:
    """The book alone and beside the others. They take turns, so that a slow moment of the machine meets both."""
    with _life(size, 0) as alone, _life(size, OTHERS) as beside:
        for number in range(REPEATS):
            for life in (alone, beside) if number % 2 else (beside, alone):
                life.live()
        assert same(alone.store, alone.plain)
        assert same(beside.store, beside.plain)
        return alone.figures, beside.figures


def same(store: Store, plain: Plain) -> bool:
    """Whether both did the same work: every item and every row of the journal is equal."""
    with closing(sqlite3.connect(store.path)) as ours:
        for query in ("SELECT space_id, uuid, hash FROM part ORDER BY 1, 2", "SELECT * FROM journal ORDER BY seq"):
            if ours.execute(query).fetchall() != plain.connection.execute(query).fetchall():
                return False
    return True


def _verdicts(alone: dict[int, list[Figure]], beside: dict[int, list[Figure]]) -> list[str]:
    small, large = SIZES
    lines = []

    def tell(what: str, value: float, wanted: float, unit: str) -> None:
        word = "held  " if value <= wanted else "MISSED"
        lines.append(f"{word} {what}: {value:.1f}{unit} (wanted at most {wanted:g}{unit})")

    for size, figures in alone.items():
        for each in figures:
            if each.name in WANTED:
                tell(f"{each.name}, {size:,} parts", each.median, WANTED[each.name], " ms")
            if each.name in ("copy", "drop"):
                tell(f"{each.name} against plain, {size:,} parts", each.ratio, PLAIN, "x")
    for one, two in zip(alone[small], alone[large], strict=True):
        if one.name in WANTED:
            tell(f"{one.name}, {large:,} against {small:,} parts", two.median / one.median, GROWTH, "x")
    for size in SIZES:
        for one, two in zip(alone[size], beside[size], strict=True):
            tell(f"{one.name} beside {OTHERS} other books, {size:,} parts", two.median / one.median, BESIDE, "x")
    return lines


def main() -> None:
    """Measures, prints the tables and the verdicts, and keeps the figures."""
    tables_shown: dict[str, list[Figure]] = {}
    alone, beside = {}, {}
    for size in SIZES:
        title = f"A book of {size:,} parts of 4 KB, milliseconds, {REPEATS} times"
        alone[size], beside[size] = _measure(size)
        imported = _import(size, REPEATS if size < 10_000 else 3)
        tables_shown[title] = [imported, *alone[size]]
        show(title, tables_shown[title])
        title += f", beside {OTHERS} other books"
        tables_shown[title] = beside[size]
        show(title, beside[size])
    verdicts = _verdicts(alone, beside)
    print("\n" + "\n".join(verdicts))
    print(f"\nKept in bench/out/{keep('store', tables_shown, verdicts).name}")
