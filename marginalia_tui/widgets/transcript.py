"""The transcript of a run: rows on demand, calls folded to a line, the live answer at its end.

The rows live in a `TranscriptSource`; a row is asked for when it is looked at. The live answer is gathered and
laid out at most 20 times a second, and then only its open block: what an append costs depends neither on the
rows above nor on the length of the answer.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from marginalia_tui.widgets import prose
from marginalia_tui.widgets.blocks import BlockView, Layout, Span
from marginalia_tui.widgets.entries import Entry, TranscriptSource
from marginalia_tui.widgets.folding import EntryLayout, OpenLayout, lay_out_entry, lay_out_live
from marginalia_tui.widgets.live import LiveAnswer, flush_rate
from marginalia_tui.widgets.text import fit

_GUESS = 4
"""Lines of a row that nobody has looked at."""
_AHEAD = 32
"""Rows asked for at once."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the cursor can stand: on a row, or on one of its calls."""

    row: int
    call: int | None = None


class _NoRows:
    def count(self) -> int:
        return 0

    def rows(self, start: int, stop: int) -> list[Entry]:
        return []


class Transcript(BlockView):
    """Rows of a run and its live answer.

    `open(source)` shows a run from its end; `refresh_rows(first)` after rows were added or changed;
    `live(reasoning, text)` adds to the live answer, `end_live()` takes it away (call it together with
    `refresh_rows` when the answer is a row). Keys: n and p walk over rows and calls, Enter unfolds a call or
    those of a row, x unfolds every call, t shows what the agent thought, End pins to the end.
    """

    DEFAULT_CSS = f"""
    Transcript {{
        {prose.RULES}
        & > .role--author {{ color: $accent; text-style: bold; }}
        & > .role--agent {{ color: $by-agent; text-style: bold; }}
        & > .role--notice {{ color: $attention; }}
        & > .role--system {{ color: $muted; }}
        & > .call--name {{ text-style: bold; }}
        & > .call--muted {{ color: $muted; }}
        & > .call--argument {{ color: $muted; }}
        & > .call--result {{ color: $foreground; }}
        & > .call--ok {{ color: $added; }}
        & > .call--error {{ color: $removed; text-style: bold; }}
        & > .call--waits {{ color: $attention; }}
        & > .transcript--cursor {{ background: $cursor-background; }}
        & > .transcript--found {{ background: $found-background; color: $found-foreground; text-style: bold; }}
        & > .transcript--more {{ background: $accent; color: $background; text-style: bold; }}
    }}
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *prose.CLASSES,
        *(f"role--{role}" for role in ("author", "agent", "notice", "system")),
        *(f"call--{part}" for part in ("name", "muted", "argument", "result", "ok", "error", "waits")),
        *("transcript--cursor", "transcript--found", "transcript--more"),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "step(1)", "Next", show=False, id="transcript.next"),
        Binding("p", "step(-1)", "Previous", show=False, id="transcript.previous"),
        Binding("enter", "choose", "Unfold", show=False, id="transcript.unfold"),
        Binding("x", "unfold_all", "Unfold all", show=False, id="transcript.unfold_all"),
        Binding("t", "thoughts", "Thoughts", show=False, id="transcript.thoughts"),
    ]

    @dataclass
    class Selected(Message):
        """Enter on a row: the author points at it."""

        id: str

    @dataclass
    class Highlighted(Message):
        """The cursor stands on another row or call."""

        id: str
        call: int | None

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        """Makes a transcript.

        Args:
            empty: what a transcript without rows says.
            id: of the widget.
            classes: of the widget.
        """
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self._source: TranscriptSource = _NoRows()
        self._count = 0
        self._entries: LRUCache[int, Entry] = LRUCache(1024)
        self._unfolded: dict[str, set[int]] = {}
        self._all = False
        self._thoughts = False
        self._sought: re.Pattern[str] | None = None
        self._live = LiveAnswer()
        self._timer: Timer | None = None
        self.pinned = True
        self.cursor: Stop | None = None

    # Rows

    def open(self, source: TranscriptSource) -> None:
        """Shows another run, from its end."""
        self._source = source
        self._unfolded.clear()
        self.cursor = None
        self.end_live()
        self._entries.clear()
        self._count = source.count()
        self.reset_blocks()
        self.pinned = True
        self._follow()

    def refresh_rows(self, first: int | None = None) -> None:
        """Looks at the source again.

        Args:
            first: the first row that changed; None when rows were only added. Fewer rows than before (a rewind)
                are noticed.
        """
        count, place = self._source.count(), self.position()
        start = min(self._count if first is None else first, count, self._count)
        for index in [index for index in list(self._entries.keys()) if index >= start]:
            self._entries.discard(index)
        self.cut_blocks(start)
        self._count = count
        if self.cursor is not None and self.cursor.row >= count:
            self.cursor = None
        self.grow_blocks()
        self._follow(place)

    def entry(self, index: int) -> Entry:
        """A row; asked for with its neighbours."""
        found = self._entries.get(index)
        if found is None:
            start = max(0, min(index - _AHEAD // 2, self._count - _AHEAD))
            for number, entry in enumerate(self._source.rows(start, min(self._count, start + _AHEAD)), start):
                self._entries[number] = entry
            found = self._entries[index]
        return found

    # Blocks: rows, then the blocks of the live answer

    def block_count(self) -> int:
        """Rows and blocks of the live answer."""
        return self._count + len(self._live)

    def estimate(self, index: int) -> int:
        """The same for every row: a guess must not ask for it."""
        return _GUESS if index < self._count else 1

    def lay_out(self, index: int, width: int) -> Layout:
        """A row, or a block of the live answer."""
        if index >= self._count:
            voice, block, first = self._live.block(index - self._count)
            last = index == self.block_count() - 1
            return lay_out_live(voice, block, first=first, last=last, width=width)
        entry = self.entry(index)
        unfolded: Iterable[int] = range(len(entry.calls)) if self._all else self._unfolded.get(entry.id, ())
        layout = lay_out_entry(entry, width, set(unfolded), thoughts=self._thoughts)
        if self._sought is None:
            return layout
        found = [Span(*hit.span(), "transcript--found") for hit in self._sought.finditer(layout.text)]
        return replace(layout, spans=[*layout.spans, *found])

    # The live answer

    def live(self, reasoning: str = "", text: str = "") -> None:
        """Adds to the live answer; it is drawn with the next flush.

        Args:
            reasoning: what the agent thought aloud since the last call.
            text: what it said since the last call.
        """
        self._live.add("reasoning", reasoning)
        self._live.add("text", text)
        if self._live.waiting and self._timer is None:
            self._timer = self.set_timer(1 / flush_rate(), self.flush)

    def flush(self) -> None:
        """Lays out what was gathered: the open block and what follows it."""
        self._stop_timer()
        if not self._live.waiting:
            return
        place = self.position()
        for block in self._live.take():
            self.changed_block(self._count + block)
            if not self._live.block(block)[1].text:
                self.measure(self._count + block)
        self.grow_blocks()
        self._follow(place)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def end_live(self) -> None:
        """Takes the live answer away."""
        self._stop_timer()
        shown = len(self._live)
        self._live = LiveAnswer()
        if shown:
            self.cut_blocks(self._count)
            self._publish()
            self.redraw()

    @property
    def is_live(self) -> bool:
        """Whether an answer is streaming."""
        return bool(len(self._live) or self._live.waiting)

    @property
    def live_text(self) -> str:
        """What is kept of the live answer, reasoning left out."""
        return self._live.text("text")

    # Position

    def _follow(self, place: tuple[int, int] | None = None) -> None:
        if self.pinned:
            super().action_go_end()
        elif len(self.heights):
            self.place(*(place or self.position()))
        self.refresh()

    def action_go_end(self) -> None:
        """Goes to the end and stays there."""
        self.pinned = True
        super().action_go_end()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Textual: scrolling up lets go of the end, reaching it pins again."""
        super().watch_scroll_y(old_value, new_value)
        if not self._settling:
            self.pinned = self.top >= self.max_scroll_y

    def on_resize(self, event: events.Resize) -> None:
        """Textual: a pinned transcript stays at its end."""
        event.prevent_default()
        pinned = self.pinned
        super().on_resize(event)
        self.pinned = pinned
        self._follow()

    # Cursor

    def _stops_of(self, row: int) -> list[Stop]:
        calls = self.entry(row).calls
        return [Stop(row), *(Stop(row, call) for call in range(len(calls)))]

    def _seen_row(self) -> int:
        index, _ = self.heights.find(self.top + self.page - 1)
        return max(0, min(index, self._count - 1))

    def action_step(self, step: int) -> None:
        """Moves the cursor to the next or the previous row or call."""
        if not self._count:
            return
        if self.cursor is None:
            row = self._seen_row()
            self._stand(self._stops_of(row)[-1 if step < 0 else 0])
            return
        stops = self._stops_of(self.cursor.row)
        place = stops.index(self.cursor) + step if self.cursor in stops else 0
        if 0 <= place < len(stops):
            self._stand(stops[place])
        elif 0 <= self.cursor.row + step < self._count:
            self._stand(self._stops_of(self.cursor.row + step)[0 if step > 0 else -1])

    def _stand(self, stop: Stop) -> None:
        self.cursor = stop
        self.measure(stop.row)
        line = self._line_of(stop)
        seen = self.heights.start(stop.row) + line - self.top
        if not 0 <= seen < self.page:
            self.place(stop.row, line, 1 if seen < 0 else self.page - 2)
            self.pinned = self.top >= self.max_scroll_y
        self.redraw()
        self.post_message(self.Highlighted(self.entry(stop.row).id, stop.call))

    def _line_of(self, stop: Stop) -> int:
        layout = self.layout_of(stop.row)
        if stop.call is not None and isinstance(layout, EntryLayout):
            return layout.call_lines[stop.call]
        return 0

    def action_choose(self) -> None:
        """Unfolds or folds the call under the cursor; on a row all of its calls, and posts `Selected`."""
        if self.cursor is None:
            return
        if self.cursor.call is None:
            self._toggle_row(self.cursor.row)
            self.post_message(self.Selected(self.entry(self.cursor.row).id))
        else:
            self.toggle(self.cursor.row, self.cursor.call)

    def _toggle_row(self, row: int) -> None:
        """Unfolds every call of a row, or folds them when none is folded."""
        entry = self.entry(row)
        calls, unfolded = set(range(len(entry.calls))), self._unfolded.get(entry.id, set())
        for call in calls if calls == unfolded else calls - unfolded:
            self.toggle(row, call)

    def seek(self, words: str) -> None:
        """Marks words wherever they stand; empty: none."""
        self._sought = re.compile(re.escape(words), re.IGNORECASE) if words else None
        self._anew()

    def stand_on(self, stop: Stop) -> None:
        """Stands on a row or a call, which is unfolded."""
        if stop.call is not None and not self._all and stop.call not in self._unfolded.get(self.entry(stop.row).id, ()):
            self.toggle(stop.row, stop.call)
        self.pinned = False
        self._stand(stop)

    def toggle(self, row: int, call: int) -> None:
        """Unfolds a call, or folds it again; the line of the call stays where it is."""
        unfolded = self._unfolded.setdefault(self.entry(row).id, set())
        unfolded.symmetric_difference_update({call})
        stop = Stop(row, call)
        seen = self.heights.start(row) + self._line_of(stop) - self.top
        self.changed_block(row)
        self.measure(row)
        self.place(row, self._line_of(stop), seen)
        self.pinned = self.top >= self.max_scroll_y
        self.redraw()

    def action_unfold_all(self) -> None:
        """Unfolds every call, or folds them again."""
        self._all = not self._all
        self._anew()

    def action_thoughts(self) -> None:
        """Shows or hides what the agent thought."""
        self._thoughts = not self._thoughts
        self._anew()

    def _anew(self) -> None:
        index, _ = self.position()
        self.reset_blocks()
        if self.pinned:
            super().action_go_end()
        else:
            self.place(index, 0)

    def on_click(self, event: events.Click) -> None:
        """A click on a call unfolds it, one on `more below` goes to the end."""
        if self._shows_more and event.y == self.room.height - 1:
            self.action_go_end()
            return
        line = self.top + event.y
        if line >= self.heights.total:
            return
        row, inside = self.heights.find(line)
        if row >= self._count:
            return
        layout = self.layout_of(row)
        if isinstance(layout, EntryLayout) and inside in layout.call_lines:
            call = layout.call_lines.index(inside)
            self.cursor = Stop(row, call)
            self.toggle(row, call)

    # Drawing

    @property
    def _shows_more(self) -> bool:
        return not self.pinned and self.top < self.max_scroll_y

    def render_line(self, y: int) -> Strip:
        """Textual: the words of an empty transcript, and what is below while the reader looks further up."""
        width = self.room.width
        if not len(self.heights):
            lines = self.empty.split("\n")
            text = fit(" " + lines[y], width) if y < len(lines) else ""
            return self.finish([Segment(text, self.style("call--muted"))], width)
        if self._shows_more and y == self.room.height - 1:
            text = " more below: End "
            strip = super().render_line(y).crop(0, max(0, width - len(text)))
            more = self.rich_style + self.style("transcript--more")
            return Strip([*strip, Segment(text[: max(0, width)], more)], width)
        return super().render_line(y)

    def draw(self, index: int, layout: Layout, number: int, width: int) -> Strip:
        """A line, with the cursor and the caret of the live answer."""
        if isinstance(layout, OpenLayout) and number == len(layout.lines) - 1:
            segments = self.line_segments(index, layout, layout.lines[number], width)
            return self.finish([*segments, Segment("▌", self.style("role--agent"))], width)
        strip = super().draw(index, layout, number, width)
        stop = self.cursor
        if stop is not None and stop.row == index and number == self._line_of(stop):
            style, found = self.style("transcript--cursor"), self.style("transcript--found").bgcolor
            return Strip(
                [
                    Segment(text, own if own and own.bgcolor == found else own + style if own else style)
                    for text, own, _ in strip
                ],
                strip.cell_length,
            )
        return strip
