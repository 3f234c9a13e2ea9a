"""The statistics of a book, or of all of them: a table beside a chart, and the goals above."""

from datetime import date
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from marginalia_tui.domain.errors import Cancelled, Invalid, NotFound
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.chart import Chart, Series
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.statistics import FigureRow, GoalLine, StatisticsView
    from marginalia_tui.store.bus import Touched

EVERY_SECONDS = 5.0
"""How often it reads anew: a run that works commits many times a second, which no table of days can follow."""
GAUGE = 10
"""Cells of the bar before a goal."""
COUNTING = "Counting what was written"
NOTHING = "Nothing was done on these days."
MOST_WORDS = 100_000_000


def columns(first: str) -> list[Column]:
    """The columns, the first of which is that of days or books."""
    return [
        Column(first, grow=1, minimum=14),
        Column("You +", "right"),
        Column("-", "right", drop=6),
        Column("Agents +", "right", drop=2),
        Column("-", "right", drop=7),
        Column("Growth", "right", drop=1),
        Column("Chars +", "right", drop=10),
        Column("-", "right", drop=11),
        Column("Tokens", "right", drop=5),
        Column("Open", "right", drop=8),
        Column("Edit", "right", drop=3),
        Column("Write", "right", drop=9),
        Column("Run", "right", drop=4),
    ]


def figure_row(row: "FigureRow") -> Row:
    """A day, a book, or all, as a row of the table; nothing stands for 0."""
    counts = (*row.mine, *row.agents)
    grown = f"{row.grown:+,}" if row.grown else ""
    rest = (*row.chars, row.tokens)
    times = (row.open, row.editing, row.generating, row.running)
    cells = (
        row.label,
        *(f"{each:,}" if each else "" for each in counts),
        grown,
        *(f"{each:,}" if each else "" for each in rest),
        *(f"{each // 60}:{each % 60:02}" if each else "" for each in times),
    )
    return Row(row.key, cells, tone="strong" if not row.key else "muted" if row.gone else "plain")


def goal_words(goals: "tuple[GoalLine, ...]") -> str:
    """The goals, a line for each, with a bar of how much is reached."""
    lines = []
    for each in goals:
        done = int(each.share * GAUGE)
        lines.append(f"{'#' * done}{'-' * (GAUGE - done)} {each.share:4.0%}  {visible_line(each.text)}")
    return "\n".join(lines)


class StatisticsScreen(BaseScreen):
    """The statistics.

    Args:
        book: the uuid of the book; None: all books.
    """

    CSS_PATH = "statistics.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,right", "range(1)", "other days", id="statistics.range"),
        Binding("R,left", "range(-1)", "days before", show=False, id="statistics.range_before"),
        Binding("d", "days", "days by date", show=False, id="statistics.days"),
        Binding("p", "plot(1)", "chart", id="statistics.plot"),
        Binding("P", "plot(-1)", "chart before", show=False, id="statistics.plot_before"),
        Binding("b", "books", "days / books", id="statistics.books"),
        Binding("w", "day_goal", "words a day", id="statistics.day_goal"),
        Binding("t", "book_goal", "goal of the book", id="statistics.book_goal"),
        Binding("escape,number_sign", "back", "back", id="statistics.back"),
    ]

    def __init__(self, book: str | None) -> None:
        super().__init__()
        self.book = book
        self.mode_name = "library" if book is None else "book"
        self._view: StatisticsView | None = None
        self._chart = 0
        self._by_book = False
        self._reads = 0
        self.table = Table(columns("Day"), empty=COUNTING, id="figures")
        """The figures."""
        self.chart = Chart(id="statistics-chart")
        """The chart."""
        self._head = Static("", markup=False, id="statistics-head")
        self._goals = Static("", markup=False, id="statistics-goals")

    def body(self) -> ComposeResult:
        """The days, the goals, the table and the chart."""
        yield self._head
        yield self._goals
        with Container(id="statistics-spread"):
            yield self.chart
            yield self.table

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.set_interval(EVERY_SECONDS, self._look_if_seen)

    def _look_if_seen(self) -> None:
        if self.is_current:
            self.look_again()

    def wants(self, touched: "Touched") -> bool:
        """Nothing: it reads by itself every few seconds."""
        return False

    async def read(self, desk: "Desk") -> None:
        """Reads the range that is looked at."""
        wanted = self.desk.statistics.range
        self._reads += 1
        mine = self._reads

        def stopped() -> bool:
            return not self.is_attached or self._reads != mine or desk.studio.closed

        try:
            view = await self.call(desk.statistics.look, self.book, wanted, stopped)
        except Cancelled:
            return
        except NotFound:
            self.dismiss()
            raise
        if self.is_attached:
            self._show(view)

    # Showing

    def _show(self, view: "StatisticsView") -> None:
        self._view = view
        span = f"{view.first} to {view.last}" if view.first != view.last else f"{view.last}"
        words = view.range.replace("-", " ") if view.range[0].isalpha() else ""
        self._head.update(f"{words.capitalize()}: {span}" if words else span)
        none = (
            f"No goals: {self.host.key_of(StatisticsScreen, 'statistics.day_goal')} sets words a day"
            + (
                f", {self.host.key_of(StatisticsScreen, 'statistics.book_goal')} how long the book is to be"
                if self.book
                else ""
            )
            + "."
        )
        self._goals.update(goal_words(view.goals) or none)
        self.say_where(f"{view.title} > statistics" if view.title else "Statistics")
        self.table.empty = NOTHING
        self.table.columns = tuple(columns("Book" if self._by_book else "Day"))
        self.table.enter = "open" if self._by_book else ""
        rows = view.books if self._by_book else view.days
        self.table.show([figure_row(row) for row in (view.total, *rows)] if rows else [])
        self._show_chart()
        self.refresh_bindings()

    def _show_chart(self) -> None:
        view = self._view
        if view is None:
            return
        self._chart %= len(view.charts)
        each = view.charts[self._chart]
        self.chart.show(
            Series(each.title, each.names, view.first, view.last, each.values, each.held, each.before, each.goal)
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Books are those of the library, a goal is that of the book."""
        if action == "books":
            return self.book is None
        if action == "book_goal":
            return self.book is not None
        return True

    # Choosing

    def action_range(self, step: int) -> None:
        """Goes to the next range that has a name, or to the one before."""
        from marginalia_tui.desk.statistics import SHOWN_RANGES

        here = self.desk.statistics.range
        at = SHOWN_RANGES.index(here) if here in SHOWN_RANGES else -1 if step > 0 else 0
        self._look_at(SHOWN_RANGES[(at + step) % len(SHOWN_RANGES)])

    def _look_at(self, range: str) -> None:
        self.desk.statistics.range = range
        # A reading of other days that is under way is given up.
        self._reads += 1
        self.look_again()

    def action_days(self) -> None:
        """Asks for days by date."""
        self.do(self._ask_days())

    async def _ask_days(self) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        desk = self.desk.statistics

        def check(text: str) -> str | None:
            try:
                desk.check_range(text)
            except Invalid as error:
                return error.message
            return None

        shown = f"{self._view.first}..{self._view.last}" if self._view else ""
        help = "A day, or two with .. between them; or a name such as last-30-days."
        days = await self.host.ask(Ask("Days", shown, help=help, check=check))
        if days:
            self._look_at(days.strip().casefold())

    def action_plot(self, step: int) -> None:
        """Shows another chart."""
        self._chart += step
        self._show_chart()

    def action_books(self) -> None:
        """Shows books instead of days, or days again."""
        self._by_book = not self._by_book
        if self._view is not None:
            self._show(self._view)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter on a book: its own statistics; on a day: that day."""
        event.stop()
        row = next((row for row in self._view.books if row.key == event.key), None) if self._view else None
        if self._by_book and row is not None and not row.gone:
            self.app.push_screen(StatisticsScreen(row.key))

    # Goals

    def action_day_goal(self) -> None:
        """Asks for the words of a day."""
        self.do(self._ask_day_goal())

    async def _ask_day_goal(self) -> None:
        from marginalia_tui.widgets.dialogs import Form
        from marginalia_tui.widgets.fields import Field

        if self._view is None:
            return
        words = Field("words", "Words a day", "number", self._view.day_goal or None, check=_a_goal, help=NO_GOAL)
        answer = await self.host.ask(Form("Goal of a day", [words]))
        if answer is not None:
            await self.call(self.desk.statistics.set_day_goal, _number(answer["words"]))
            await self.read_again()

    def action_book_goal(self) -> None:
        """Asks how long the book is to be, and until when."""
        self.do(self._ask_book_goal())

    async def _ask_book_goal(self) -> None:
        from marginalia_tui.widgets.dialogs import Form
        from marginalia_tui.widgets.fields import Field

        if self._view is None or self.book is None:
            return
        words, by = self._view.book_goal
        today = await self.call(self.desk.statistics.today)

        def a_day(value: object) -> str | None:
            text = str(value or "").strip()
            try:
                return "This day is over." if text and date.fromisoformat(text) < today else None
            except ValueError:
                return "Give a day such as 2026-12-31, or nothing."

        fields = [
            Field("words", "Words", "number", words or None, check=_a_goal, help=NO_GOAL),
            Field("by", "Last day", "text", by, check=a_day, help="Such as 2026-12-31; empty: whenever."),
        ]
        answer = await self.host.ask(Form("Goal of the book", fields))
        if answer is None:
            return
        last = str(answer["by"] or "").strip()
        until = date.fromisoformat(last) if last else None
        await self.call(self.desk.statistics.set_book_goal, self.book, _number(answer["words"]), until)
        await self.read_again()

    def action_back(self) -> None:
        """Back to where the author came from."""
        self.dismiss()


NO_GOAL = "Empty: no goal."


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _a_goal(value: object) -> str | None:
    return None if 0 <= _number(value) <= MOST_WORDS else f"Give a number up to {MOST_WORDS:,}."
