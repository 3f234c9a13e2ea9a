"""A chart of days: a bar for each day, week, month or year, of two values that stand on each other.

Bars are made of whole and half blocks and of shades, which every terminal has; the second value differs from the
first by its shade, so that no colour is needed to tell them apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import ClassVar, Literal

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.widgets.text import cells, fit

Step = Literal["day", "week", "month", "year"]
STEPS: tuple[Step, ...] = ("day", "week", "month", "year")
"""What a bar may stand for, the shortest first."""
WIDEST = 8
"""Cells of a bar with the space behind it, at most."""
SCALE = 8
"""Cells that the scale may need at the left, as a rule."""
FULL, HALF, SHADE, LIGHT, RULE = "\u2588", "\u2584", "\u2592", "\u2591", "\u2500"
BELOW, ABOVE, SPLIT, GOAL, SPACE = "below", "above", "split", "goal", "space"
"""What a cell shows: of the first value, of the second, of both, the goal, nothing."""


@dataclass(frozen=True, slots=True)
class Series:
    """What a chart shows.

    Values are 0 or more. `held` values stay until the next day that has one, and a bar shows the last of its days;
    others are added up. `goal` is a value for one day; 0: none.
    """

    title: str
    names: tuple[str, ...]
    """Of the two values, or of the one."""
    first: date
    last: date
    values: Mapping[date, tuple[int, int]] = field(default_factory=dict)
    held: bool = False
    before: int = 0
    """What is held before the first day."""
    goal: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: the day with which it begins, and its two values."""

    start: date
    below: int
    above: int


def start_of(day: date, step: Step) -> date:
    """The first day of the day, week, month or year in which a day lies."""
    if step == "week":
        return day - timedelta(days=day.weekday())
    if step == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if step == "year" else day


def _following(start: date, step: Step) -> date:
    days = {"day": 1, "week": 7, "month": 31, "year": 366}[step]
    return start_of(start + timedelta(days=days), step)


def bars_of(series: Series, most: int) -> tuple[Step, list[Bar]]:
    """The bars of a series, at most `most` where years are few enough, and what each stands for."""
    step = next((each for each in STEPS if _count(series.first, series.last, each) <= most), STEPS[-1])
    begins = [start_of(series.first, step)]
    while (after := _following(begins[-1], step)) <= series.last:
        begins.append(after)
    begins = begins[-max(1, most) :]
    added: dict[date, tuple[int, int]] = {}
    for day, (below, above) in sorted(series.values.items()):
        at = start_of(day, step)
        before = (0, 0) if series.held else added.get(at, (0, 0))
        added[at] = (before[0] + below, before[1] + above)
    bars, held = [], (series.before, 0)
    if series.held:
        held = next((added[at] for at in sorted(added, reverse=True) if at < begins[0]), held)
    for at in begins:
        held = added.get(at, held if series.held else (0, 0))
        bars.append(Bar(at, *held))
    return step, bars


def _count(first: date, last: date, step: Step) -> int:
    if step == "month":
        return (last.year - first.year) * 12 + last.month - first.month + 1
    if step == "year":
        return last.year - first.year + 1
    days = (last - start_of(first, step)).days
    return days // (7 if step == "week" else 1) + 1


def nice_top(value: int) -> int:
    """The end of the scale: the next of 1, 2, 5, 10, 20, 50... that is no less than a value, at least 2."""
    power = int("1" + "0" * (len(str(max(value, 1))) - 1))
    return max(2, next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value))


def column_of(bar: Bar, top: int, rows: int) -> list[tuple[str, str]]:
    """The cells of a bar from the bottom up: (what it shows, the sign).

    Args:
        bar: the bar.
        top: the value that fills all rows.
        rows: cells of the height.
    """

    def halves(value: int) -> int:
        # What is there is seen, however little it is.
        return max(1, round(value * rows * 2 / top)) if value else 0

    below, whole = halves(bar.below), halves(bar.below + bar.above)
    if bar.above:
        # Rounding, or a value that fills everything, does not make the other one vanish.
        whole = min(rows * 2, max(whole, below + 1))
        below = min(below, whole - 1)
    return [_cell(min(2, max(0, below - 2 * row)), min(2, max(0, whole - 2 * row))) for row in range(rows)]


def _cell(below: int, whole: int) -> tuple[str, str]:
    """One cell, of which `below` halves are of the first value and `whole` of both."""
    if not whole:
        return SPACE, " "
    if below == whole:
        return BELOW, FULL if whole == 2 else HALF
    if below:
        return SPLIT, HALF
    return ABOVE, SHADE if whole == 2 else LIGHT


class Chart(Widget):
    """Draws a series as large as it is; `show` gives it another one."""

    DEFAULT_CSS = """
    Chart {
        height: 1fr; width: 1fr; background: $background; color: $foreground;
        & > .chart--title { text-style: bold; }
        & > .chart--muted { color: $muted; }
        & > .chart--below { color: $accent; }
        & > .chart--above { color: $by-agent; }
        & > .chart--split { color: $accent; background: $by-agent; }
        & > .chart--goal { color: $attention; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "chart--title",
        "chart--muted",
        "chart--below",
        "chart--above",
        "chart--split",
        "chart--goal",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._series: Series | None = None
        self._drawn: tuple[int, int, list[list[tuple[str, str]]]] | None = None

    def show(self, series: Series) -> None:
        """Shows a series."""
        if series != self._series:
            self._series, self._drawn = series, None
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: a line."""
        width, height = self.size
        if self._drawn is None or self._drawn[:2] != (width, height):
            lines = [] if self._series is None else draw(self._series, width, height)
            self._drawn = (width, height, lines)
        lines = self._drawn[2]
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        segments = [
            Segment(text, self.rich_style if kind == SPACE else self.get_component_rich_style(f"chart--{kind}"))
            for kind, text in lines[y]
        ]
        return Strip(segments).extend_cell_length(width, self.rich_style).crop(0, width)


Piece = tuple[str, str]
"""What a piece of a line shows (the name of a style), and its text."""


def draw(series: Series, width: int, height: int) -> list[list[Piece]]:
    """The lines of a chart: title and legend, the bars beside their scale, the days below."""
    rows = height - 2
    if rows < 1:
        return [[("title", fit(series.title, width))]]
    step, bars = bars_of(series, width - SCALE)
    goal = series.goal if step == "day" else 0
    top = nice_top(max(goal, *(bar.below + bar.above for bar in bars)))
    margin = len(f"{top:,}") + 1
    room = max(1, width - margin)
    bars = bars[-room:]
    pace = max(1, min(WIDEST, room // len(bars)))
    columns = [column_of(bar, top, rows) for bar in bars]
    at_goal = min(rows - 1, goal * rows // top) if goal else -1
    lines = [_heading(series, step)]
    for row in reversed(range(rows)):
        scale = f"{top:,}" if row == rows - 1 else "0" if row == 0 else ""
        if row == rows // 2 and rows > 3 and not (rows % 2 or top % 2):
            scale = f"{top // 2:,}"
        line: list[Piece] = [("muted", fit(scale, margin - 1, "right") + " ")]
        for column in columns:
            kind, sign = column[row]
            fill = (GOAL, RULE) if row == at_goal else (SPACE, " ")
            bar = max(1, pace - 1)
            line.append((kind, sign * bar) if kind != SPACE else (fill[0], fill[1] * bar))
            line.append((fill[0], fill[1] * (pace - bar)))
        lines.append([piece for piece in line if piece[1]])
    lines.append([("muted", " " * margin + _days_below(bars, step, pace))])
    return lines


def _heading(series: Series, step: Step) -> list[Piece]:
    line: list[Piece] = [
        ("title", series.title),
        ("muted", f"  {'at the end of' if series.held else 'by'} each {step}"),
    ]
    if len(series.names) > 1:
        for name, (kind, sign) in zip(series.names, ((BELOW, FULL), (ABOVE, SHADE)), strict=True):
            line += [(SPACE, "  "), (kind, sign), ("muted", f" {name}")]
    if series.goal and step == "day":
        line += [(SPACE, "  "), (GOAL, RULE), ("muted", f" goal {series.goal:,}")]
    return line


def _days_below(bars: list[Bar], step: Step, pace: int) -> str:
    """The beginnings of bars as far as they have room, the first always."""
    shape = {"day": "%d %b", "week": "%d %b", "month": "%b %y", "year": "%Y"}[step]
    text = ""
    for number, bar in enumerate(bars):
        at = number * pace
        if not text or at >= cells(text) + 2:
            text = text.ljust(at) + f"{bar.start:{shape}}"
    return text
