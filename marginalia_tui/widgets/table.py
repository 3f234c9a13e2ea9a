"""A table of values: columns with rules for their width, a cursor row, marks to pick rows.

Sorting is the caller's; `HeaderClicked` tells which column was asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.text import cells, fit

Check = Literal["", "on", "off", "conflict"]
"""The mark before a row: none, `[x]`, `[ ]` or `[!]`."""
SIGNS: dict[Check, str] = {"": "", "on": "[x]", "off": "[ ]", "conflict": "[!]"}
TONES = ("plain", "muted", "attention", "added", "removed", "changed", "conflict", "strong")
"""What a row or a cell can say by its colour, beside its words."""
Tone = Literal["plain", "muted", "attention", "added", "removed", "changed", "conflict", "strong"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    `width` is in cells; 0 takes what its widest cell among the first 200 rows needs. A column with `grow` above 0
    shares what is left by that weight and gives cells away, down to `minimum`, when there are too few. Columns
    with the highest `drop` vanish first in a narrow terminal, before all those that are empty; 0 stays.
    """

    title: str
    align: Literal["left", "right", "center"] = "left"
    width: int = 0
    grow: int = 0
    minimum: int = 3
    drop: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its key, a cell for each column, its mark, its tone (and the tone of single cells by column number)."""

    key: str
    cells: tuple[str, ...]
    check: Check = ""
    tone: Tone = "plain"
    tones: tuple[tuple[int, Tone], ...] = ()


def widths(columns: Sequence[Column], rows: Sequence[Row], room: int) -> list[int]:
    """How many cells each column gets of `room`, one blank between two of them; 0 is not shown."""
    wanted: list[int] = []
    for number, column in enumerate(columns):
        need = column.width or max(
            [cells(visible_line(column.title)), *(cells(visible_line(row.cells[number])) for row in rows[:200])]
        )
        wanted.append(max(column.minimum if column.grow else 1, need))
    shown = list(range(len(columns)))
    if sum(wanted) + len(shown) - 1 > room:
        shown = [number for number in shown if not columns[number].drop or _says_something(rows, number)]

    def least(number: int) -> int:
        return min(wanted[number], columns[number].minimum) if columns[number].grow else wanted[number]

    while len(shown) > 1 and sum(map(least, shown)) + len(shown) - 1 > room:
        worst = max(shown, key=lambda number: (columns[number].drop, number))
        if not columns[worst].drop:
            break
        shown.remove(worst)
    given = [0] * len(columns)
    for number in shown:
        given[number] = least(number)
    spare = room - sum(given) - max(0, len(shown) - 1)
    growing = [number for number in shown if columns[number].grow]
    while spare > 0 and growing:
        total = sum(columns[number].grow for number in growing)
        for number in growing:
            share = max(1, spare * columns[number].grow // total)
            share = min(share, room - sum(given) - max(0, len(shown) - 1))
            given[number] += max(0, share)
        spare = room - sum(given) - max(0, len(shown) - 1)
    return _levelled(wanted, given)


def _says_something(rows: Sequence[Row], number: int) -> bool:
    """Whether a column is more than its title; it is when there are no rows yet."""
    return not rows or any(row.cells[number].strip() for row in rows)


def _levelled(wanted: Sequence[int], given: Sequence[int]) -> list[int]:
    """The same cells: what a column has and does not need goes to those that are cut off."""
    lacking = [number for number, size in enumerate(given) if 0 < size < wanted[number]]
    if not lacking:
        return list(given)
    levelled = [min(size, need) for size, need in zip(given, wanted, strict=True)]
    spare = sum(given) - sum(levelled)
    while spare and lacking:
        for number in lacking[:spare]:
            levelled[number] += 1
        spare -= len(lacking[:spare])
        lacking = [number for number in lacking if levelled[number] < wanted[number]]
    if spare:
        widest = max(range(len(given)), key=lambda number: given[number] - levelled[number])
        levelled[widest] += spare
    return levelled


class Table(RowView):
    """Rows of cells. `show(rows)` fills it; Space posts `Toggled` for a row that has a mark."""

    DEFAULT_CSS = """
    Table {
        & > .table--header { color: $muted; }
        & > .tone--plain { color: $foreground; }
        & > .tone--muted { color: $muted; }
        & > .tone--attention { color: $attention; text-style: bold; }
        & > .tone--added { color: $added; }
        & > .tone--removed { color: $removed; }
        & > .tone--changed { color: $changed; }
        & > .tone--conflict { color: $conflict; text-style: bold; }
        & > .tone--strong { text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", *(f"tone--{tone}" for tone in TONES)}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", "Pick", show=False, id="table.toggle", priority=False),
    ]

    @dataclass
    class Toggled(Message):
        """Space on a row that has a mark: whoever owns the rows decides what it becomes."""

        table: "Table"
        key: str

        @property
        def control(self) -> "Table":
            """The table."""
            return self.table

    @dataclass
    class HeaderClicked(Message):
        """The title of a column was clicked."""

        table: "Table"
        column: int

        @property
        def control(self) -> "Table":
            """The table."""
            return self.table

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        header: bool = True,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Makes a table.

        Args:
            columns: from left to right.
            header: whether the titles stand at the top.
            empty: what an empty table says.
            id: of the widget.
            classes: of the widget.
        """
        super().__init__(empty=empty, id=id, classes=classes)
        self.columns = tuple(columns)
        self.rows: Sequence[Row] = ()
        self.fixed_lines = 1 if header else 0
        self._widths: tuple[int, list[int]] | None = None
        self._checks = False

    def show(self, rows: Sequence[Row], *, key: str | None = None) -> None:
        """Shows rows.

        Args:
            rows: each with as many cells as there are columns.
            key: the row the cursor goes to; None keeps it on the row that it stands on, by its key.
        """
        key = self.current_key if key is None and self.rows else key
        self.rows = rows
        self._widths = None
        self._checks = any(row.check for row in rows)
        self.rows_changed(key=key)

    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def row_key(self, index: int) -> str:
        """The key of a row."""
        return self.rows[index].key

    def row_words(self, index: int) -> str:
        """Every cell."""
        return " ".join(self.rows[index].cells)

    def _column_widths(self, room: int) -> list[int]:
        if self._widths is None or self._widths[0] != room:
            self._widths = (room, widths(self.columns, self.rows, room))
        return self._widths[1]

    def _room(self, width: int) -> int:
        return width - (4 if self._checks else 0) - 1

    def row_segments(self, index: int, width: int) -> list[Segment]:
        """The mark and the cells."""
        row = self.rows[index]
        tones = dict(row.tones)
        segments: list[Segment] = []
        if self._checks:
            tone = "conflict" if row.check == "conflict" else row.tone
            segments.append(Segment(fit(SIGNS[row.check], 4), self.style(f"tone--{tone}")))
        for number, size in enumerate(self._column_widths(self._room(width))):
            if size:
                text = fit(row.cells[number], size, self.columns[number].align)
                segments.append(Segment(text + " ", self.style(f"tone--{tones.get(number, row.tone)}")))
        return segments

    def make_fixed(self, line: int, width: int) -> Strip:
        """The titles."""
        segments = [Segment("     " if self._checks else " ")]
        for column, size in zip(self.columns, self._column_widths(self._room(width - 1)), strict=True):
            if size:
                segments.append(Segment(fit(column.title, size, column.align) + " ", self.style("table--header")))
        return self.finish(segments, width)

    def action_pick(self) -> None:
        """Posts `Toggled`."""
        if self.rows and self.rows[self.cursor].check:
            self.post_message(self.Toggled(self, self.rows[self.cursor].key))

    def on_click(self, event: events.Click) -> None:
        """A click on a mark picks, one on a title asks for an order."""
        x = event.x - 1 - (4 if self._checks else 0)
        if event.y < self.fixed_lines:
            for number, size in enumerate(self._column_widths(self._room(self.room.width - 1))):
                if size and 0 <= x <= size:
                    self.post_message(self.HeaderClicked(self, number))
                x -= size + 1 if size else 0
            event.prevent_default()
            return
        event.prevent_default()
        super().on_click(event)
        if self._checks and x < 0 and self.top + event.y - self.fixed_lines == self.cursor:
            self.action_pick()
