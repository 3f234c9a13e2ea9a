"""What the screen of statistics asks: tables, charts and goals, of one book or of all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.statistics import Activity, Calendar, Days, Side, days_of, minutes
from marginalia_tui.services import goals, statistics
from marginalia_tui.services.goals import Progress
from marginalia_tui.services.statistics import BookName, Line, Report
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

SHOWN_RANGES = ("last-7-days", "last-30-days", "this-month", "this-year", "all-time", "today", "yesterday")
"""The ranges in the order in which a key goes through them."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row of the table: a day, a book, or all together. Times are whole minutes."""

    key: str
    """The day, the uuid of the book, or empty."""
    label: str
    mine: tuple[int, int]
    """Words that the author added, and deleted."""
    agents: tuple[int, int]
    grown: int
    chars: tuple[int, int]
    """Characters that both added, and deleted."""
    tokens: int
    open: int
    editing: int
    generating: int
    running: int
    gone: bool = False
    """Whether the book is in the trash, or deleted for good."""


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart as values; the fields are those of the widget."""

    title: str
    names: tuple[str, ...]
    values: Mapping[date, tuple[int, int]]
    held: bool = False
    before: int = 0
    goal: int = 0


@dataclass(frozen=True, slots=True)
class GoalLine:
    """A goal in words, and how much of it is reached, from 0 to 1."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class StatisticsView:
    """The statistics of a range."""

    title: str
    """Of the book; empty: all of them."""
    range: str
    """The range as it was asked for."""
    first: date
    last: date
    days: tuple[FigureRow, ...]
    """The newest first."""
    books: tuple[FigureRow, ...]
    total: FigureRow
    charts: tuple[ChartView, ...]
    goals: tuple[GoalLine, ...]
    day_goal: int
    """Words; 0: none."""
    book_goal: tuple[int, str]
    """Words (0: none) and the last day, or empty."""


class StatisticsDesk:
    """The statistics of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._store = studio.store
        self._activity = studio.activity
        self.range = SHOWN_RANGES[0]
        """What is looked at, whichever book it is."""

    def today(self) -> date:
        """The day that it is."""
        return Calendar().day_of(self._store.clock.now())

    def check_range(self, text: str) -> None:
        """Looks whether a text is a range of days.

        Raises:
            Invalid: it is none; the sentence says what is.
        """
        days_of(text, self.today())

    def look(self, book: str | None, range: str, stopped: Callable[[], bool]) -> StatisticsView:
        """The statistics of a book, or of all of them.

        Args:
            book: its uuid; None: all.
            range: a name, a day, or two.
            stopped: whether nobody waits for the answer any more.

        Raises:
            Cancelled: nobody does.
            NotFound: the book is gone.
            Invalid: it is no range.
        """

        def between() -> None:
            if stopped():
                raise Cancelled("The statistics are not looked at any more.")

        # Counted once and kept, so that the next look, a few seconds later, need not count the same again.
        self._activity.catch_up(stopped)
        between()
        today = self.today()
        days = days_of(range, today)
        with self._store.read() as tx:
            title = "" if book is None else tx.space(LIBRARY).get(Book, book).title
            names = statistics.book_names(tx) if book is None else {}
        report = statistics.read_report(self._store, days, book=book, between=between)
        progress = goals.read_progress(self._store, today, book=book, between=between)
        first = _first(days, report)
        goal = next((each.goal for each in progress.books if each.book == book), None)
        pace = (goal.pace if goal else 0) if book else progress.day.goal
        of_days = [_row(day.isoformat(), f"{day:%a} {day}", line) for day, line in report.days.items()]
        of_books = [] if book else [_book_row(uuid, names.get(uuid), line) for uuid, line in report.books.items()]
        return StatisticsView(
            title=title,
            range=range,
            first=first,
            # A range may end when it likes; nothing was done after today.
            last=max(first, min(days.last, today)),
            days=tuple(reversed(of_days)),
            books=tuple(of_books),
            total=_row("", "all", report.total),
            charts=_charts(report, pace, of_book=book is not None),
            goals=_goal_lines(progress, of_book=book is not None),
            day_goal=progress.day.goal,
            book_goal=(goal.words, goal.by.isoformat() if goal.by else "") if goal else (0, ""),
        )

    def set_day_goal(self, words: int) -> None:
        """Sets the words of a day; 0 takes the goal away."""
        with self._store.write(Act(actor="author", label="Set the goal of a day")) as tx:
            goals.set_day_goal(tx, words, self.today())

    def set_book_goal(self, book: str, words: int, by: date | None) -> None:
        """Sets how long a book is to be, and until when; 0 takes the goal away.

        Raises:
            NotFound: the book is gone.
        """
        with self._store.write(Act(actor="author", label="Set the goal of the book")) as tx:
            goals.set_book_goal(tx, tx.space(LIBRARY).get(Book, book), words, by if words else None, self.today())


def _first(days: Days, report: Report) -> date:
    """The first day of a chart: of a range without a beginning, that of the first work."""
    return days.first or min(report.days, default=days.last - timedelta(days=6))


def _row(key: str, label: str, line: Line, *, gone: bool = False) -> FigureRow:
    mine, agents, both = line.side(Side.ME), line.side(Side.AGENTS), line.sums
    return FigureRow(
        key=key,
        label=label,
        mine=(mine.words_added, mine.words_deleted),
        agents=(agents.words_added, agents.words_deleted),
        grown=both.words_grown,
        chars=(both.chars_added, both.chars_deleted),
        tokens=both.prompt_tokens + both.completion_tokens,
        open=minutes(line.times.get(Activity.OPEN, 0)),
        editing=minutes(line.times.get(Activity.EDITING, 0)),
        generating=minutes(line.times.get(Activity.GENERATING, 0)),
        running=minutes(line.times.get(Activity.RUNNING, 0)),
        gone=gone,
    )


def _book_row(uuid: str, name: BookName | None, line: Line) -> FigureRow:
    if name is None:
        return _row(uuid, "(deleted for good)", line, gone=True)
    folder = f"{name.folder} / " if name.folder else ""
    return _row(uuid, folder + name.title + (" (in the trash)" if name.deleted else ""), line, gone=name.deleted)


def _charts(report: Report, pace: int, *, of_book: bool) -> tuple[ChartView, ...]:
    sides = ("you", "agents")

    def of_sides(name: str) -> dict[date, tuple[int, int]]:
        return {
            day: (getattr(line.side(Side.ME), name), getattr(line.side(Side.AGENTS), name))
            for day, line in report.days.items()
        }

    def of_times(one: Activity, other: Activity) -> dict[date, tuple[int, int]]:
        return {
            day: (minutes(line.times.get(one, 0)), minutes(line.times.get(other, 0)))
            for day, line in report.days.items()
        }

    tokens = {day: (line.sums.prompt_tokens, line.sums.completion_tokens) for day, line in report.days.items()}
    charts = [
        ChartView("Words added", sides, of_sides("words_added"), goal=pace),
        ChartView("Words deleted", sides, of_sides("words_deleted")),
        ChartView("Minutes", ("you edit", "agents run"), of_times(Activity.EDITING, Activity.RUNNING)),
        ChartView("Tokens", ("read", "written"), tokens),
    ]
    if of_book:
        size, sizes = report.before, {}
        for day, line in report.days.items():
            size += line.sums.words_grown
            sizes[day] = (max(0, size), 0)
        charts.insert(2, ChartView("Words of the book", ("words",), sizes, held=True, before=max(0, report.before)))
    return tuple(charts)


def _goal_lines(progress: Progress, *, of_book: bool) -> tuple[GoalLine, ...]:
    lines = []
    day = progress.day
    if day.goal:
        text = f"Today {day.written:,} of {day.goal:,} words{_in_a_row(day.streak)}"
        lines.append(GoalLine(text, min(1.0, day.written / day.goal)))
    for each in progress.books:
        text = f"{'The book' if of_book else each.title}: {each.words:,} of {each.goal.words:,} words"
        if each.goal.by is not None:
            text += f", {each.needed:,} a day until {each.goal.by}" if each.needed else ", reached"
            text += _in_a_row(each.streak)
        lines.append(GoalLine(text, min(1.0, each.words / each.goal.words)))
    return tuple(lines)


def _in_a_row(days: int) -> str:
    return f", {days:,} {'day' if days == 1 else 'days'} in a row" if days else ""
