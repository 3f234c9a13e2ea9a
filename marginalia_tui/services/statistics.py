"""Reads the statistics: what was written, grew and took time, by day and by book.

What is not counted yet is counted for who asks, and nothing is written. Times are unions: what went on in two books
at once is counted once for the day.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import Select, func, select

from marginalia_tui.domain.statistics import Activity, Calendar, Days, Side, Stretch, by_day, minutes
from marginalia_tui.services.activity import HOUR
from marginalia_tui.services.counting import NAMES, Sums, count_rest, next_batch
from marginalia_tui.services.folders import path_names
from marginalia_tui.store import tables
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store

K = TypeVar("K", date, str)


@dataclass(frozen=True)
class Line:
    """The figures of a day, a book, or of all: sums of each side, and microseconds of each activity that there was."""

    sides: Mapping[Side, Sums] = field(default_factory=dict)
    times: Mapping[Activity, int] = field(default_factory=dict)

    @cached_property
    def sums(self) -> Sums:
        """Those of both sides."""
        return sum(self.sides.values(), Sums())

    def side(self, side: Side) -> Sums:
        """Those of one."""
        return self.sides.get(side, Sums())


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a range of days; days and books in which nothing was done are not in it."""

    days: Mapping[date, Line]
    """In order."""
    books: Mapping[str, Line]
    """By uuid; those with the most words added first."""
    total: Line
    before: int
    """How many words larger all became before the range began: with what grew in it, the size at the end of a day."""


@dataclass(frozen=True, slots=True)
class BookName:
    """What is known of a book beside its figures; of one that was deleted for good nothing is."""

    title: str
    folder: str
    deleted: bool


def read_report(
    store: Store,
    days: Days,
    *,
    book: str | None = None,
    side: Side | None = None,
    calendar: Calendar | None = None,
    between: Callable[[], None] = lambda: None,
) -> Report:
    """The figures of a range of days.

    Args:
        store: the store.
        days: the range.
        book: the one book; None: all.
        side: whose work; None: all.
        calendar: the days; those of the machine's zone when None.
        between: called before each text of the rest that is counted; it may raise.
    """
    calendar = calendar or Calendar()
    with store.read() as tx:
        column = tables.daily.c
        of_days, of_books = (_sums(tx, by, days, book, side) for by in (column.day, column.book))
        before = _grown_before(tx, days, book, side)
        went = _went_on(tx, calendar.bounds(days), book, side)
        batch = next_batch(tx)
    for key, more in count_rest(store, calendar, batch, between).items():
        if book in (None, key.book) and side in (None, key.side):
            day = date.fromisoformat(key.day)
            if day in days:
                _add(of_days, key.day, key.side, more)
                _add(of_books, key.book, key.side, more)
            elif days.first is not None and day < days.first:
                before += more.words_grown
    sums = {date.fromisoformat(day): sides for day, sides in of_days.items()}
    lines = _lines(sums, _times_of_days(went, calendar))
    books = _lines(of_books, _times_of_books(went))
    ranked = sorted(_told(books).items(), key=lambda each: (-each[1].sums.words_added, each[0]))
    return Report(dict(sorted(_told(lines).items())), dict(ranked), _total(lines.values()), before)


def words_by_day(tx: ReadTx, book: str | None = None) -> dict[date, int]:
    """Day -> the words that the author added, as far as they are counted."""
    column = tables.daily.c
    query = select(column.day, func.sum(column.words_added)).where(column.side == Side.ME).group_by(column.day)
    if book is not None:
        query = query.where(column.book == book)
    return {date.fromisoformat(day): words for day, words in tx.connection.execute(query)}


def book_names(tx: ReadTx) -> dict[str, BookName]:
    """The books that there are, those in the trash too."""
    space = tx.space(LIBRARY)
    paths: dict[str | None, str] = {}
    found: dict[str, BookName] = {}
    for book in space.books():
        if book.folder not in paths:
            paths[book.folder] = " / ".join(path_names(space, book.folder))
        found[book.uuid] = BookName(book.title, paths[book.folder], book.deleted is not None)
    return found


# Sums


def _asked(query: Select[Any], column: Any, book: str | None, side: Side | None) -> Select[Any]:
    if book is not None:
        query = query.where(column.book == book)
    if side is not None:
        query = query.where(column.side == side)
    return query


Sided = dict[Side, Sums]


def _sums(tx: ReadTx, by: Any, days: Days, book: str | None, side: Side | None) -> dict[str, Sided]:
    """Day or book -> the sums of each side. SQL adds them up: a year of many books is thousands of rows."""
    column = tables.daily.c
    query = select(by, column.side, *(func.sum(column[name]) for name in NAMES)).group_by(by, column.side)
    query = _asked(query, column, book, side).where(column.day <= days.last.isoformat())
    if days.first is not None:
        query = query.where(column.day >= days.first.isoformat())
    found: dict[str, Sided] = {}
    for key, who, *sums in tx.connection.execute(query).all():
        found.setdefault(key, {})[Side(who)] = Sums(*sums)
    return found


def _add(found: dict[str, Sided], key: str, side: Side, more: Sums) -> None:
    sides = found.setdefault(key, {})
    sides[side] = sides.get(side, Sums()) + more


def _grown_before(tx: ReadTx, days: Days, book: str | None, side: Side | None) -> int:
    if days.first is None:
        return 0
    column = tables.daily.c
    query = _asked(select(func.sum(column.words_grown)), column, book, side)
    return tx.connection.execute(query.where(column.day < days.first.isoformat())).scalar() or 0


def _lines(sums: Mapping[K, Sided], times: Mapping[K, Mapping[Activity, int]]) -> dict[K, Line]:
    return {key: Line(sums.get(key, {}), times.get(key, {})) for key in {**sums, **times}}


def _told(lines: Mapping[K, Line]) -> dict[K, Line]:
    """Without those in which everything is 0: a book that was open for some seconds."""
    return {
        key: line
        for key, line in lines.items()
        if line.sums != Sums() or any(minutes(time) for time in line.times.values())
    }


def _added(some: list[Sums]) -> Sums:
    if len(some) == 1:
        return some[0]
    return Sums(*(sum(getattr(each, name) for each in some) for name in NAMES))


# Times

_Went = dict[Activity, list[tuple[str, str, int, int]]]
"""What went on, by kind: the kind, the book, from, up to; inside of the range, in the order of the beginnings."""


def _went_on(tx: ReadTx, bounds: Stretch, book: str | None, side: Side | None) -> _Went:
    column = tables.activity.c
    query = select(
        column.kind, column.book, func.max(column.began, bounds[0]), func.min(column.ended, bounds[1])
    ).where(column.began >= bounds[0] - HOUR, column.began < bounds[1], column.ended > bounds[0])
    result = tx.connection.execute(_asked(query, column, book, side).order_by(column.began))
    cursor = result.cursor
    assert cursor is not None
    found: dict[str, list[tuple[str, str, int, int]]] = {kind.value: [] for kind in Activity}
    # A year has tens of thousands of these: plain tuples, and not the rows of the library.
    for row in cursor.fetchall():
        found[row[0]].append(row)
    return {Activity(kind): each for kind, each in found.items()}


def _times_of_days(went: _Went, calendar: Calendar) -> dict[date, dict[Activity, int]]:
    found: dict[date, dict[Activity, int]] = {}
    for kind, stretches in went.items():
        for day, time in by_day(((began, ended) for _, _, began, ended in stretches), calendar).items():
            found.setdefault(day, {})[kind] = time
    return found


def _times_of_books(went: _Went) -> dict[str, dict[Activity, int]]:
    found: dict[str, dict[Activity, int]] = {}
    for kind, stretches in went.items():
        untils: dict[str, int] = {}
        for _, book, began, ended in stretches:
            until = untils.get(book, 0)
            if ended > until:
                times = found.setdefault(book, {})
                times[kind] = times.get(kind, 0) + ended - (began if began > until else until)
                untils[book] = ended
    return found


def _total(lines: Iterable[Line]) -> Line:
    """Days do not overlap, so that their times add up."""
    sides: dict[Side, list[Sums]] = {}
    times = dict.fromkeys(Activity, 0)
    for line in lines:
        for side, each in line.sides.items():
            sides.setdefault(side, []).append(each)
        for kind, time in line.times.items():
            times[kind] += time
    return Line({side: _added(some) for side, some in sides.items()}, times)
