"""The margin of a page: marks on passages, notes beside them, and how notes share the lines there are."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from marginalia_tui.domain.visible import visible
from marginalia_tui.widgets.text import cells, crop, wrap

MEASURE = 80
"""The widest line of prose, in cells."""
GUTTER = 4
_MARGIN = range(24, 41)
"""How wide a margin may be; narrower, it folds."""
_COMFORTABLE = 52
"""The margin takes no column that brings the prose under this."""
NOTE_LINES = 8
"""Lines of a note in the margin; the rest is shown when the note is current."""


class Columns(NamedTuple):
    """Where things stand on a line: blank cells, gutter, prose, gap, margin."""

    left: int
    measure: int
    margin: int


def columns(width: int, with_notes: bool) -> Columns:
    """How a page divides a width; `margin` is 0 when it is folded or there is nothing to show in it."""
    gutter = GUTTER if width >= 30 else 2
    room = width - gutter
    margin = 0
    if with_notes:
        margin = min(_MARGIN.stop - 1, room - 2 - min(MEASURE, max(_COMFORTABLE, room * 2 // 3)))
        margin = margin if margin in _MARGIN else 0
    measure = min(MEASURE, room - (margin + 2 if margin else 1))
    spare = width - gutter - measure - (margin + 2 if margin else 1)
    return Columns(max(0, spare // 2), max(1, measure), margin)


class MarkKind(Enum):
    """What a mark says; the value is the sign in the gutter."""

    NOTE = "*"
    ADDED = "+"
    REMOVED = "-"
    CHANGED = "~"
    CONFLICT = "!"
    LORE = "="
    AGENT = "a"
    AUTHOR = "w"
    ATTENTION = "?"
    PLACE = ">"


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage: offsets in the source text, what it is, and words that stand in the margin where no note does."""

    start: int
    end: int
    kind: MarkKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a passage of the source. `id` comes back in messages; `head` stands before the text, such as `open`."""

    id: str
    start: int
    end: int
    text: str
    head: str = ""
    kind: MarkKind = MarkKind.NOTE


class Marks:
    """Marks that are found by their place.

    Args:
        marks: in any order; they may overlap.
    """

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self._marks = sorted(marks, key=lambda mark: mark.start)
        self._reach = max((mark.end - mark.start for mark in self._marks), default=0)
        self.have_labels = any(mark.label for mark in self._marks)

    def within(self, start: int, end: int) -> Iterator[Mark]:
        """The marks that touch a stretch of the source, in order; an empty mark touches the place where it is."""
        number = bisect_left(self._marks, start - self._reach, key=lambda mark: mark.start)
        while number < len(self._marks) and self._marks[number].start <= end:
            mark = self._marks[number]
            if mark.end > start or mark.start >= start:
                yield mark
            number += 1

    def kind_on(self, start: int, end: int) -> MarkKind | None:
        """What the gutter says of a line: the first mark on it, notes after all others."""
        found: MarkKind | None = None
        for mark in self.within(start, end):
            if mark.start < end or mark.start == start:
                found = mark.kind
                if found is not MarkKind.NOTE:
                    break
        return found

    def label_on(self, start: int, end: int) -> Mark | None:
        """The first mark with words that begins on a line."""
        if not self.have_labels:
            return None
        return next((mark for mark in self.within(start, end) if mark.label and start <= mark.start < end), None)


class MarginLine(NamedTuple):
    """One line in the margin: a number when a note begins here, its text, which note it is."""

    number: int
    text: str
    note: int


def note_lines(note: Note, number: int, width: int) -> list[str]:
    """The lines of a note in a margin of `width` cells, the first with its number; at most `NOTE_LINES`."""
    text = visible(" ".join(part for part in (str(number), note.head, note.text) if part))
    stretches = wrap(text, width)
    lines = [text[start:end] for start, end in stretches[:NOTE_LINES]]
    if len(stretches) > NOTE_LINES:
        lines[-1] = crop(lines[-1] + " …", width) if cells(lines[-1]) + 2 <= width else crop(lines[-1] + "……", width)
    return lines


@dataclass(slots=True)
class _Column:
    """The margin beside one block: a line or None for each of its lines, and what runs over its end."""

    lines: list[MarginLine | None]
    over: list[MarginLine]


class Margin:
    """Notes laid beside the blocks of a page, each from the line of its passage or the first free one below.

    Args:
        notes: sorted by `start`.
        first_of: block -> the number of the first note in it or behind it.
        line_of: (block, note number) -> the line of the block on which the passage begins.
        height_of: block -> its lines.
        width: cells of the margin.
    """

    def __init__(
        self,
        notes: Sequence[Note],
        *,
        first_of: Callable[[int], int],
        line_of: Callable[[int, int], int],
        height_of: Callable[[int], int],
        width: int,
    ) -> None:
        self._notes = notes
        self._first_of = first_of
        self._line_of = line_of
        self._height_of = height_of
        self._width = width
        self._columns: dict[int, _Column] = {}

    def line(self, block: int, line: int) -> MarginLine | None:
        """What stands in the margin beside a line."""
        column = self._column(block)
        return column.lines[line] if line < len(column.lines) else None

    def _column(self, block: int) -> _Column:
        start = block
        # What runs over into this block comes from notes not further up than they are long.
        while start > 0 and start not in self._columns and self._reaches(start):
            start -= 1
        for each in range(start, block + 1):
            if each not in self._columns:
                above = self._columns.get(each - 1)
                self._columns[each] = self._fill(each, above.over if above else [])
        return self._columns[block]

    def _reaches(self, block: int) -> bool:
        """Whether a note above a block could run over into it."""
        return self._first_of(block) > self._first_of(max(0, block - NOTE_LINES))

    def _fill(self, block: int, over: list[MarginLine]) -> _Column:
        waiting = list(over)
        height = self._height_of(block)
        lines: list[MarginLine | None] = []
        number, last = self._first_of(block), self._first_of(block + 1)
        for line in range(height):
            while number < last and self._line_of(block, number) <= line:
                texts = note_lines(self._notes[number], number + 1, self._width)
                waiting.extend(
                    MarginLine(number + 1 if first == 0 else 0, text, number) for first, text in enumerate(texts)
                )
                number += 1
            lines.append(waiting.pop(0) if waiting else None)
        return _Column(lines, waiting)
