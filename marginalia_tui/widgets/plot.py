"""A plot of values by number, such as the rounds of a run: two values that stand on each other, or one with a mark.

Like a chart of days it is made of blocks and shades that every terminal has. Where there are more values than
columns, a column shows the largest of those that it stands for, so that no peak is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.widgets.measure import Measure
from marginalia_tui.widgets.text import cells, fit

WIDEST = 4
"""Cells of a column with the space behind it, at most."""
FULL, HALF, SHADE, LIGHT, RULE = "\u2588", "\u2584", "\u2592", "\u2591", "\u2500"
Piece = tuple[str, str]
"""What a piece of a line shows (the name of a style), and its text."""
_KINDS = ("title", "muted", "below", "above", "split", "mark")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a plot: their values, the points that each stands for, and how many cells it takes."""

    values: Sequence[tuple[float, float]]
    firsts: Sequence[int]
    """The number of the first point of each column, from 0."""
    pace: int


def columns_of(measure: Measure, room: int) -> Columns:
    """The columns that fit into so many cells."""
    points = len(measure.values)
    count = min(points, max(1, room))
    firsts = [points * place // count for place in range(count)]
    groups = [measure.values[first:end] for first, end in zip(firsts, [*firsts[1:], points], strict=True)]
    if measure.marks:
        values = [(max(below for below, _ in group), max(above for _, above in group)) for group in groups]
    else:
        values = [max(group, key=sum) for group in groups]
    return Columns(values, firsts, max(1, min(WIDEST, room // count)))


def top_of(value: float) -> float:
    """The end of the scale: the next of 0.1, 0.2, 0.5, 1, 2, 5, 10... that is no less than a value."""
    top = 0.1
    while True:
        for factor in (1, 2, 5):
            if top * factor >= value * 0.999_999:
                return round(top * factor, 1)
        top *= 10


def label(value: float) -> str:
    """A value beside the scale."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def draw(measure: Measure, width: int, height: int) -> list[list[Piece]]:
    """The lines of a plot: title and legend, the columns beside their scale, the numbers below."""
    heading = _heading(measure)
    rows = height - 2
    if rows < 1 or not measure.values:
        return [heading, *([[("muted", fit(measure.empty, width))]] if height > 1 and not measure.values else [])]
    most = max(max(pair) if measure.marks else sum(pair) for pair in measure.values)
    top = top_of(most)
    margin = len(label(top)) + 1
    columns = columns_of(measure, width - margin)
    if (shared := -(-len(measure.values) // len(columns.values))) > 1:
        heading.append(("muted", f"  the most of {shared} in a column"))
    drawn = [_column(pair, top, rows, marks=measure.marks) for pair in columns.values]
    lines = [heading]
    for row in reversed(range(rows)):
        scale = label(top) if row == rows - 1 else "0" if row == 0 else ""
        line: list[Piece] = [("muted", fit(scale, margin - 1, "right") + " ")]
        bar = max(1, columns.pace - 1)
        for column in drawn:
            kind, sign = column[row]
            line.append((kind, sign * bar))
            line.append(("muted", " " * (columns.pace - bar)))
        lines.append([piece for piece in line if piece[1]])
    lines.append([("muted", " " * margin + _numbers(columns))])
    return lines


def _column(pair: tuple[float, float], top: float, rows: int, *, marks: bool) -> list[Piece]:
    """The cells of a column from the bottom up."""
    below, above = pair

    def halves(value: float) -> int:
        # What is there is seen, however little it is.
        return min(rows * 2, max(1, round(value * rows * 2 / top))) if value else 0

    first = halves(below)
    whole = first if marks else max(halves(below + above), first + 1 if above and first < rows * 2 else first)
    cells_up = [_cell(min(2, max(0, first - 2 * row)), min(2, max(0, whole - 2 * row))) for row in range(rows)]
    if marks and above:
        cells_up[min(rows - 1, int(above * rows / top))] = ("mark", RULE)
    return cells_up


def _cell(below: int, whole: int) -> Piece:
    if not whole:
        return "muted", " "
    if below == whole:
        return "below", FULL if whole == 2 else HALF
    if below:
        return "split", HALF
    return "above", SHADE if whole == 2 else LIGHT


def _heading(measure: Measure) -> list[Piece]:
    first, second = measure.names
    kind, sign = ("mark", RULE) if measure.marks else ("above", SHADE)
    return [
        ("title", measure.title),
        ("muted", "  "),
        ("below", FULL),
        ("muted", f" {first}  "),
        (kind, sign),
        ("muted", f" {second}"),
    ]


def _numbers(columns: Columns) -> str:
    """The numbers of points under their columns, as far as they have room, the first always."""
    text = ""
    for place, first in enumerate(columns.firsts):
        at = place * columns.pace
        if not text or at >= cells(text) + 4:
            text = text.ljust(at) + f"{first + 1:,}"
    return text


class Plot(Widget):
    """Draws a measure as large as it is; `show` gives it another one."""

    DEFAULT_CSS = """
    Plot {
        height: 1fr; width: 1fr; background: $background; color: $foreground;
        & > .plot--title { text-style: bold; }
        & > .plot--muted { color: $muted; }
        & > .plot--below { color: $accent; }
        & > .plot--above { color: $by-agent; }
        & > .plot--split { color: $accent; background: $by-agent; }
        & > .plot--mark { color: $attention; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"plot--{kind}" for kind in _KINDS}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.measure: Measure | None = None
        self._drawn: tuple[int, int, list[list[Piece]]] | None = None

    def show(self, measure: Measure) -> None:
        """Shows a measure."""
        if measure != self.measure:
            self.measure, self._drawn = measure, None
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: a line."""
        width, height = self.size
        if self._drawn is None or self._drawn[:2] != (width, height):
            self._drawn = (width, height, draw(self.measure, width, height) if self.measure else [])
        lines = self._drawn[2]
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        segments = [Segment(text, self.get_component_rich_style(f"plot--{kind}")) for kind, text in lines[y]]
        return Strip(segments).extend_cell_length(width, self.rich_style).crop(0, width)
