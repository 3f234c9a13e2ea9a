"""A line view over blocks of text: paragraphs of a book, rows of a transcript.

A block is laid out (wrapped) only when it is looked at; until then its height is a guess. Where the reader
stands is kept while guesses become heights: the line that was at a row stays at that row. Selections count in
(offset in the text of the block, number of the block), so neither scrolling nor wrapping moves them.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.widgets.heights import HeightIndex
from marginalia_tui.widgets.lines import LineView, offset_style
from marginalia_tui.widgets.text import cells, fit


class Span(NamedTuple):
    """A stretch of the text of a block with a component class."""

    start: int
    end: int
    style: str


class Run(NamedTuple):
    """A stretch in which the same component classes hold."""

    start: int
    end: int
    styles: tuple[str, ...]


class Line(NamedTuple):
    """One line of a block: a stretch of its text with what stands beside it."""

    start: int
    end: int
    indent: int = 0
    """Cells before the text; `lead` is drawn in them, filled or cut to fit."""
    lead: str = ""
    lead_style: str = ""
    tail: str = ""
    """Stands at the right end of the line; the text is cut before it."""
    tail_style: str = ""
    style: str = ""
    """A component class of the whole line."""


@dataclass(frozen=True)
class Layout:
    """A block, wrapped for a width."""

    text: str
    """What is shown, control characters already made visible; lines are stretches of it."""
    lines: Sequence[Line]
    spans: Sequence[Span] = field(default_factory=tuple)

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [line.start for line in self.lines]

    def line_of(self, offset: int) -> int:
        """The line that shows an offset of the text."""
        return max(0, bisect_right(self.starts, offset) - 1)


def flatten(spans: Iterable[Span]) -> list[Run]:
    """Spans that may overlap, as stretches in order; later spans come last in each."""
    edges: dict[int, tuple[list[int], list[int]]] = {}
    kept = [span for span in spans if span.end > span.start]
    for number, span in enumerate(kept):
        edges.setdefault(span.start, ([], []))[0].append(number)
        edges.setdefault(span.end, ([], []))[1].append(number)
    runs: list[Run] = []
    active: set[int] = set()
    before = 0
    for place in sorted(edges):
        if active and place > before:
            runs.append(Run(before, place, tuple(kept[number].style for number in sorted(active))))
        opened, closed = edges[place]
        active.difference_update(closed)
        active.update(opened)
        before = place
    return runs


class BlockView(LineView):
    """Blocks of text, laid out when they are looked at.

    A subclass gives `block_count`, `estimate` and `lay_out`, and calls `reset_blocks` or `grow_blocks`.
    """

    SEPARATOR = "\n"
    """What parts two blocks in text that is copied."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.heights = HeightIndex()
        self._known = bytearray()
        self._layouts: LRUCache[int, Layout] = LRUCache(512)
        self._runs: LRUCache[int, list[Run]] = LRUCache(512)
        self._laid_width = 0
        self._settling = False
        self.laid_out = 0
        """How many blocks were laid out since the start: what a test counts instead of time."""

    # What a subclass gives

    def block_count(self) -> int:
        """How many blocks there are."""
        raise NotImplementedError

    def estimate(self, index: int) -> int:
        """A guess of the height of a block, at least 1, without a look at its content."""
        raise NotImplementedError

    def lay_out(self, index: int, width: int) -> Layout:
        """The block wrapped for `text_width` cells."""
        raise NotImplementedError

    def spans_of(self, index: int, layout: Layout) -> Iterable[Span]:
        """The spans of a block, those that may change without a new layout at the end."""
        return layout.spans

    # Geometry

    def text_width(self) -> int:
        """Cells that a block is wrapped for."""
        return max(1, self.room.width)

    def layout_of(self, index: int) -> Layout:
        """The block as it is wrapped now."""
        found = self._layouts.get(index)
        if found is None:
            self.laid_out += 1
            found = self.lay_out(index, self.text_width())
            self._layouts[index] = found
        return found

    def runs(self, index: int) -> list[Run]:
        """The flattened spans of a block."""
        found = self._runs.get(index)
        if found is None:
            found = self._runs[index] = flatten(self.spans_of(index, self.layout_of(index)))
        return found

    def restyle(self) -> None:
        """The spans changed, the lines did not."""
        self._runs.clear()
        self.redraw()

    def reset_blocks(self) -> None:
        """Other blocks: everything is guessed anew. The position is the caller's (`place`)."""
        self._layouts.clear()
        self._runs.clear()
        count = self.block_count()
        self._known = bytearray(count)
        self._laid_width = self.text_width()
        self.heights = HeightIndex(self.estimate(index) for index in range(count))
        self._publish()
        self.redraw()

    def grow_blocks(self) -> None:
        """Blocks were added at the end; the cost follows their number only."""
        for index in range(len(self.heights), self.block_count()):
            self._known.append(0)
            self.heights.append(self.estimate(index))
        self._publish()

    def changed_block(self, index: int) -> None:
        """One block is to be laid out again."""
        self._layouts.discard(index)
        self._runs.discard(index)
        self.forget_lines(self.heights.start(index))
        self._known[index] = 0

    def cut_blocks(self, count: int) -> None:
        """Only the first `count` blocks are left."""
        for index in range(count, len(self.heights)):
            self._layouts.discard(index)
            self._runs.discard(index)
        self.heights.truncate(count)
        del self._known[count:]
        self.forget_lines(self.heights.total)

    def measure(self, index: int) -> bool:
        """Lays a block out if its height is a guess; answers whether the height changed."""
        if self._known[index]:
            return False
        self._known[index] = 1
        changed = self.heights.set(index, len(self.layout_of(index).lines)) != 0
        if changed:
            self.forget_lines(self.heights.start(index))
        return changed

    def _measure_lines(self, top: int, count: int) -> bool:
        changed = False
        index, _ = self.heights.find(top)
        start = self.heights.start(index)
        while index < len(self.heights) and start < top + count:
            changed = self.measure(index) or changed
            start += self.heights[index]
            index += 1
        return changed

    def _publish(self) -> None:
        settling, self._settling = self._settling, True
        self.set_height(self.heights.total)
        self._settling = settling

    def place(self, index: int, line: int, row: int = 0) -> None:
        """Scrolls so that a line of a block is seen at a row of the window (0 is the top; may be outside)."""
        if not len(self.heights) or not self.size:
            return
        index = max(0, min(index, len(self.heights) - 1))
        while True:
            self.measure(index)
            inside = max(0, min(line, self.heights[index] - 1))
            top = self.heights.start(index) + inside - row
            top = max(0, min(top, self.heights.total - self.page))
            if not self._measure_lines(top, self.page):
                break
        self._stand_at(top)

    def _stand_at(self, top: int) -> None:
        settling, self._settling = self._settling, True
        self.set_height(self.heights.total)
        if round(self.scroll_y) != top:
            self.scroll_target_y = self.scroll_y = top
        self._settling = settling

    def position(self) -> tuple[int, int]:
        """The block at the top of the window and the line of it."""
        return self.heights.find(self.top)

    def place_text(self, index: int, offset: int, row: int = 0) -> None:
        """The same as `place` for an offset in the text of a block."""
        if 0 <= index < len(self.heights):
            self.place(index, self.layout_of(index).line_of(offset), row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Textual: the reader moved; what has come into sight is measured."""
        super().watch_scroll_y(old_value, new_value)
        if self._settling or not len(self.heights):
            return
        old, new = round(old_value), round(new_value)
        if abs(new - old) <= 2 * self.page:
            index, line = self.heights.find(old)
            self.place(index, line, old - new)
        else:
            index, line = self.heights.find(new)
            self.place(index, line)

    def on_resize(self, event: events.Resize) -> None:
        """Textual: wraps anew where the reader stands when the width changed."""
        if not len(self.heights):
            return
        width = self.text_width()
        index, line = self.position()
        if width == self._laid_width:
            self.place(index, line)
            return
        kept = self._layouts.get(index)
        offset = kept.lines[min(line, len(kept.lines) - 1)].start if kept and kept.lines else 0
        self.reset_blocks()
        self.place_text(index, offset)

    # Movement

    def action_go_end(self) -> None:
        """Goes to the last line."""
        if count := len(self.heights):
            self.measure(count - 1)
            self.place(count - 1, self.heights[count - 1] - 1, self.page - 1)

    # Drawing

    def make_strip(self, line: int, width: int) -> Strip:
        """The strip of a line: what stands before it, its text with styles, what stands after it."""
        index, inside = self.heights.find(line)
        self.measure(index)
        layout = self.layout_of(index)
        if inside >= len(layout.lines):
            return Strip.blank(width, self.rich_style)
        return self.draw(index, layout, inside, width)

    def draw(self, index: int, layout: Layout, number: int, width: int) -> Strip:
        """The strip of line `number` of a block."""
        line = layout.lines[number]
        whole = self.style(line.style) if line.style else None
        return self.finish(self.line_segments(index, layout, line, width), width, whole)

    def line_segments(self, index: int, layout: Layout, line: Line, width: int) -> list[Segment]:
        """The segments of a line, `width` cells wide when it has a tail."""
        segments: list[Segment] = []
        if line.indent:
            lead = fit(line.lead, line.indent)
            style = self.style(line.lead_style) if line.lead_style else Style.null()
            segments.append(Segment(lead, style + offset_style(line.start - len(lead), index)))
        segments.extend(self._text_segments(index, layout, line))
        if line.tail:
            used = sum(cells(segment.text) for segment in segments)
            room = width - cells(line.tail)
            if used > room:
                segments = list(Strip(segments, used).crop(0, max(0, room - 2)))
                segments.append(Segment("… "))
                used = room
            segments.append(Segment(" " * (room - used)))
            segments.append(Segment(line.tail, self.style(line.tail_style) if line.tail_style else None))
        return segments

    def _text_segments(self, index: int, layout: Layout, line: Line) -> list[Segment]:
        text, start, end = layout.text, line.start, line.end
        runs = self.runs(index)
        here = start
        segments: list[Segment] = []
        number = max(0, bisect_right(runs, start, key=lambda run: run.start) - 1)
        while here < end:
            while number < len(runs) and runs[number].end <= here:
                number += 1
            if number < len(runs) and runs[number].start < end:
                run = runs[number]
                if run.start > here:
                    segments.extend(self._chosen(index, text, here, run.start, Style.null()))
                    here = run.start
                stop = min(run.end, end)
                segments.extend(self._chosen(index, text, here, stop, self.style(*run.styles)))
                here = stop
            else:
                segments.extend(self._chosen(index, text, here, end, Style.null()))
                here = end
        return segments

    def _chosen(self, index: int, text: str, start: int, end: int, style: Style) -> list[Segment]:
        """A stretch of one style, parted where the selection of the mouse begins or ends."""
        selection = self.text_selection
        span = selection.get_span(index) if selection is not None else None
        if span is None:
            return [Segment(text[start:end], style + offset_style(start, index))]
        low = max(start, min(end, span[0]))
        high = end if span[1] < 0 else max(low, min(end, span[1]))
        chosen = style + self.style("lines--selection")
        parts = ((start, low, style), (low, high, chosen), (high, end, style))
        return [Segment(text[a:b], own + offset_style(a, index)) for a, b, own in parts if b > a]

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Textual: the text that is selected."""
        if not len(self.heights):
            return None
        first = 0 if selection.start is None else max(0, selection.start.y)
        last = len(self.heights) - 1 if selection.end is None else min(len(self.heights) - 1, selection.end.y)
        parts = []
        for index in range(first, last + 1):
            text = self.layout_of(index).text
            start = max(0, selection.start.x) if selection.start is not None and index == first else 0
            end = max(0, selection.end.x) if selection.end is not None and index == last else len(text)
            parts.append(text[start:end])
        return self.SEPARATOR.join(parts), "\n"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Textual: asked only where a parent gives an automatic height."""
        return self.heights.total


__all__ = ["BlockView", "Layout", "Line", "Run", "Span", "Widget", "flatten"]
