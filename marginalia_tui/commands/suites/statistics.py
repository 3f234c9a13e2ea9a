"""Commands for the statistics, and for the goals that the author sets.

An agent sees the figures of its own book only: what the author does elsewhere is none of its business, and goals
are the author's.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.results import BookHandle, Result, Told
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.domain.statistics import DEFAULT_RANGE, RANGES, Activity, Calendar, Days, Side, days_of, minutes
from marginalia_tui.services import goals, statistics
from marginalia_tui.services.goals import BookProgress
from marginalia_tui.services.statistics import Line, Report
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx

MOST_WORDS = 100_000_000
"""The largest goal."""

Range = Annotated[
    str,
    Field(max_length=60),
    Param(
        f"the days: {', '.join(RANGES)}, a day such as 2026-03-14, or two with .. between them",
        for_model=f"The days: {', '.join(RANGES)}, a day (2026-03-14), or two days (2026-03-01..2026-03-14).",
    ),
]
OneSide = Annotated[
    Literal["all", "me", "agents"],
    Param("whose work: yours, that of the agents, or both", for_model="Whose work: me is the author."),
]
Words = Annotated[int, Field(ge=0, le=MOST_WORDS), Param("how many words; 0 takes the goal away")]

R = TypeVar("R", bound=Result)


def today(ctx: Context) -> date:
    """The day that it is, in the zone of the machine."""
    return Calendar().day_of(ctx.scope.store.clock.now())


class Figures(Result):
    """What was counted. A figure that is 0 in all rows of an answer stands only in its sums."""

    words_added: int | None = None
    words_deleted: int | None = None
    words_grown: int | None = None
    """How much larger the book became, however it did: by an import, the apply of a review, an undo."""
    chars_added: int | None = None
    chars_deleted: int | None = None
    chars_grown: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    minutes_open: int | None = None
    minutes_editing: int | None = None
    minutes_generating: int | None = None
    minutes_agents_running: int | None = None

    def untold(self) -> frozenset[str]:
        """Words say it to a person."""
        return frozenset({"chars_added", "chars_deleted", "chars_grown"})


class DayFigures(Figures):
    """The figures of a day."""

    day: str


class BookFigures(Figures):
    """The figures of a book. One that was deleted for good has no name any more."""

    name: str | None = None
    folder: str | None = None
    deleted: bool | None = None
    """There and true for a book in the trash, or one that is gone."""
    book: BookHandle

    def untold(self) -> frozenset[str]:
        """The name says it to a person."""
        return super().untold() | {"book"}


class Statistics(Page):
    """What was done in a range of days; a subclass has the rows."""

    first: str | None = None
    """The range begins here; not there for all-time."""
    last: str
    side: str
    sums: Figures
    """Of the whole range."""

    def sentence(self) -> str:
        """The range, and how many rows."""
        whose = {"me": ", your work", "agents": ", the work of agents"}.get(self.side, "")
        since = "until " if self.first is None else f"{self.first} to "
        span = self.last if self.first == self.last else since + self.last
        return f"{super().sentence()} Counted: {span}{whose}."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return super().untold() | {"first", "last", "side"}


class DayStatistics(Statistics):
    """The days of a range on which something was done, in order."""

    thing = ("day", "days")

    days: list[DayFigures]


class BookStatistics(Statistics):
    """The books on which something was done in a range, those with the most words added first."""

    thing = ("book", "books")

    books: list[BookFigures]


@command(
    "get-book-statistics",
    title="Statistics of the book",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each day on which something was done: words, growth, tokens, minutes; and the sums",
    example="/get-book-statistics last-30-days me",
    for_model="Returns what was written in the book, day by day: words and characters added and deleted, growth, "
    "tokens, minutes. All arguments are optional. Figures that are 0 on every day stand only in sums.",
)
def get_book_statistics(
    ctx: Context, range: Range = DEFAULT_RANGE, side: OneSide = "all", offset: Offset = 0, limit: Limit = LIMIT
) -> DayStatistics:
    """Shows what was done in the book day by day: words, growth, tokens, minutes."""
    book = ctx.scope.open_book
    with ctx.reading() as space:
        space.get(Book, book)
    days = days_of(range, today(ctx))
    return _by_day(_read(ctx, days, side, book), days, side, offset, limit)


@command(
    "get-statistics",
    title="Statistics of all books",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each day, or each book, with what was done: words, growth, tokens, minutes; and the sums",
    example="/get-statistics this-month book",
)
def get_statistics(
    ctx: Context,
    range: Range = DEFAULT_RANGE,
    by: Annotated[Literal["day", "book"], Param("a row for each day, or for each book")] = "day",
    side: OneSide = "all",
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> Statistics:
    """Shows what was done in all books, day by day or book by book; also in those that are gone."""
    days = days_of(range, today(ctx))
    report = _read(ctx, days, side, None)
    if by == "day":
        return _by_day(report, days, side, offset, limit)
    some, page = page_of(list(report.books.items()), offset, limit)
    with ctx.scope.store.read() as tx:
        names = statistics.book_names(tx)
    rows = []
    for uuid, figures in some:
        known = names.get(uuid)
        rows.append(
            BookFigures(
                book=uuid,
                name=known.title if known else None,
                folder=known.folder or None if known else None,
                deleted=True if known is None or known.deleted else None,
                **_figures(figures),
            )
        )
    return BookStatistics(books=_slim(rows), sums=_sums(report), **_head(days, side), **page)


def _read(ctx: Context, days: Days, side: str, book: str | None) -> Report:
    ctx.status("Counting what was written")
    whose = None if side == "all" else Side(side)
    return statistics.read_report(ctx.scope.store, days, book=book, side=whose, between=ctx.check)


def _by_day(report: Report, days: Days, side: str, offset: int, limit: int) -> DayStatistics:
    some, page = page_of(list(report.days.items()), offset, limit)
    rows = [DayFigures(day=day.isoformat(), **_figures(line)) for day, line in some]
    return DayStatistics(days=_slim(rows), sums=_sums(report), **_head(days, side), **page)


def _head(days: Days, side: str) -> dict[str, Any]:
    return {"first": days.first and days.first.isoformat(), "last": days.last.isoformat(), "side": side}


def _figures(line: Line) -> dict[str, Any]:
    sums = line.sums
    counts = {name: getattr(sums, name) for name in COUNTS}
    return counts | {name: minutes(line.times.get(kind, 0)) for name, kind in MINUTES.items()}


def _sums(report: Report) -> Figures:
    return Figures(**_figures(report.total))


def _slim(rows: Sequence[R]) -> list[R]:
    """The rows without the figures that are 0 in each of them."""
    needless = {name: None for name in (*COUNTS, *MINUTES) if not any(getattr(row, name) for row in rows)}
    return [row.model_copy(update=needless) for row in rows]


COUNTS = (
    "words_added",
    "words_deleted",
    "words_grown",
    "chars_added",
    "chars_deleted",
    "chars_grown",
    "prompt_tokens",
    "completion_tokens",
)
MINUTES: Mapping[str, Activity] = {
    "minutes_open": Activity.OPEN,
    "minutes_editing": Activity.EDITING,
    "minutes_generating": Activity.GENERATING,
    "minutes_agents_running": Activity.RUNNING,
}


# Goals


class BookGoalRow(Result):
    """The goal of a book. `words` are those of the branch that is read."""

    title: str
    words: int
    goal: int
    by: str | None = None
    needed_a_day: int | None = None
    """From today on, to be there in time."""
    written_today: int
    streak: int | None = None
    """Days in a row that reached what was needed when the goal was set."""
    book: BookHandle


class Goals(Result):
    """The goals and how far the author is."""

    words_a_day: int
    """0: none."""
    written_today: int
    streak: int
    books: list[BookGoalRow]

    def sentence(self) -> str:
        """The goal of the day."""
        if not self.words_a_day:
            return f"No goal for a day. {counted(self.written_today, 'word').capitalize()} today."
        so_far = f"{self.written_today:,} of {counted(self.words_a_day, 'word')} today"
        return f"{so_far}, {counted(self.streak, 'day')} in a row."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"words_a_day", "written_today", "streak"})


@command(
    "get-goals",
    title="The goals",
    severity=Severity.READ,
    work=Work.LONG,
    returns="the words of today against the goal of a day, the days in a row, and each book with a goal",
    example="/get-goals",
)
def get_goals(ctx: Context) -> Goals:
    """Shows the goals for a day and for books, how far you are, and how many days in a row."""
    ctx.status("Counting what was written")
    found = goals.read_progress(ctx.scope.store, today(ctx), between=ctx.check)
    return Goals(
        words_a_day=found.day.goal,
        written_today=found.day.written,
        streak=found.day.streak,
        books=[_goal_row(each) for each in found.books],
    )


def _goal_row(each: BookProgress) -> BookGoalRow:
    dated = each.goal.by is not None
    return BookGoalRow(
        book=each.book,
        title=each.title,
        words=each.words,
        goal=each.goal.words,
        by=each.goal.by.isoformat() if each.goal.by else None,
        needed_a_day=each.needed if dated else None,
        written_today=each.written,
        streak=each.streak if dated else None,
    )


class GoalSet(Told):
    """A goal that was set or taken away."""

    result: str
    goal: int
    by: str | None = None
    title: str | None = None
    """Of the book; not there for the goal of a day."""
    needed_a_day: int | None = None

    def sentence(self) -> str:
        """The goal."""
        whose = "a day" if self.title is None else quoted(self.title)
        if not self.goal:
            return f"There is no goal for {whose} any more."
        until = f" by {self.by}: {counted(self.needed_a_day or 0, 'word')} a day" if self.by else ""
        return f"The goal for {whose} is {counted(self.goal, 'word')}{until}."


@command(
    "set-day-goal",
    title="Set the goal of a day",
    severity=Severity.CHANGE,
    returns="the goal",
    example="/set-day-goal 500",
)
def set_day_goal(ctx: Context, words: Words) -> Effect[GoalSet]:
    """Sets how many words you want to add on a day, whatever the book; 0 takes the goal away."""
    day = today(ctx)

    def apply(tx: WriteTx) -> GoalSet:
        goals.set_day_goal(tx, words, day)
        return GoalSet(result="set" if words else "removed", goal=words)

    return Effect(apply, act=_act("Set the goal of a day"))


@command(
    "set-book-goal",
    title="Set the goal of the book",
    severity=Severity.CHANGE,
    returns="the goal, and the words a day that it needs",
    example="/set-book-goal 80000 2026-12-31",
)
def set_book_goal(
    ctx: Context, words: Words, by: Annotated[date | None, Param("the last day for it, such as 2026-12-31")] = None
) -> Effect[GoalSet]:
    """Sets how long the branch of the book which is read is to be, and until when; 0 takes the goal away."""
    uuid, day = ctx.scope.open_book, today(ctx)
    if by is not None and by < day:
        raise Invalid(f"{by.isoformat()} is over: give today or a later day, or none.")

    def apply(tx: WriteTx) -> GoalSet:
        book = tx.space(LIBRARY).get(Book, uuid)
        goal = goals.set_book_goal(tx, book, words, by if words else None, day)
        return GoalSet(
            result="set" if words else "removed",
            goal=words,
            by=goal.by.isoformat() if goal.by else None,
            title=book.title,
            needed_a_day=goal.pace if goal.by else None,
        )

    return Effect(apply, act=_act("Set the goal of the book"))


def _act(label: str) -> Act:
    """A goal is no change of the book: undo does not meet it."""
    return Act(actor="author", label=label)
