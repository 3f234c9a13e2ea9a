"""The page: prose as lines on demand, with marks on passages and notes in the margin beside them.

Offsets that come in and go out are offsets in the source text. The prose stands in a measure of at most 80
columns; a gutter at its left shows the sign of each mark and the number of each note; the notes stand in a
margin at its right, or, in a narrow terminal, the current one on the last line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from marginalia_tui.widgets import prose
from marginalia_tui.widgets.blocks import BlockView, Layout, Span
from marginalia_tui.widgets.finding import Hit, find_all
from marginalia_tui.widgets.margin import GUTTER, Margin, Mark, MarkKind, Marks, Note, columns
from marginalia_tui.widgets.text import fit


class Page(BlockView):
    """Prose with a gutter and a margin.

    `show(text, marks, notes)` fills it; `find(query)` marks what it finds and goes to the first hit at or after
    the top; `scroll_to_offset` and `top_offset` speak of places in the source. Keys: n and N walk through the
    hits, ] and [ through the notes; Enter on a note posts `NoteSelected`. A key that finds nothing to do is left to
    the screen.
    """

    DEFAULT_CSS = f"""
    Page {{
        {prose.RULES}
        & > .page--find {{ background: $find-background; color: $find-foreground; }}
        & > .page--found {{ background: $found-background; color: $found-foreground; text-style: bold; }}
        & > .page--margin {{ color: $muted; }}
        & > .page--current {{ color: $note; text-style: bold; }}
        & > .page--rule {{ color: $rule; }}
        & > .mark--note {{ background: $mark-background; color: $note; }}
        & > .mark--added {{ color: $added; text-style: underline; }}
        & > .mark--removed {{ color: $removed; text-style: strike; }}
        & > .mark--changed {{ color: $changed; }}
        & > .mark--conflict {{ color: $conflict; text-style: bold; }}
        & > .mark--lore {{ color: $lore; }}
        & > .mark--agent {{ color: $by-agent; }}
        & > .mark--author {{ color: $by-author; }}
        & > .mark--attention {{ color: $attention; }}
        & > .mark--place {{ background: $mark-background; }}
    }}
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *prose.CLASSES,
        *(f"page--{part}" for part in ("find", "found", "margin", "current", "rule")),
        *(f"mark--{kind.name.lower()}" for kind in MarkKind),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "next_hit(1)", "next hit", id="page.next_hit"),
        Binding("N", "next_hit(-1)", "Previous hit", show=False, id="page.previous_hit"),
        Binding("right_square_bracket", "next_note(1)", "Next note", show=False, id="page.next_note"),
        Binding("left_square_bracket", "next_note(-1)", "Previous note", show=False, id="page.previous_note"),
        Binding("enter", "select_note", "Open note", show=False, id="page.select_note"),
    ]
    SEPARATOR = "\n\n"

    @dataclass
    class Found(Message):
        """A search has another hit: `count` hits, `current` from 1, 0 when there is none."""

        count: int
        current: int

    @dataclass
    class NoteHighlighted(Message):
        """A note became the current one."""

        id: str

    @dataclass
    class NoteSelected(Message):
        """The reader wants to see the current note."""

        id: str

    @dataclass
    class PlaceClicked(Message):
        """The prose was clicked at an offset of the source."""

        offset: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.source = ""
        self._chunks: list[prose.Chunk] = [prose.Chunk(0, 0, 0)]
        self._starts: list[int] = [0]
        self._read: dict[int, prose.Prose] = {}
        self._below: tuple[str, ...] = ()
        self._marks = Marks()
        self._notes: list[Note] = []
        self._note_starts: list[int] = []
        self.hits: list[Hit] = []
        self.hit = -1
        self.note = -1
        self._margin: Margin | None = None
        self._wanted: int | None = None
        self._columns = columns(80, False)

    # What is shown

    def show(
        self,
        text: str,
        marks: Iterable[Mark] = (),
        notes: Iterable[Note] = (),
        *,
        offset: int = 0,
        below: Sequence[str] = (),
    ) -> None:
        """Shows a text.

        Args:
            text: Markdown source; it may hold anything, nothing of it is obeyed.
            marks: passages; they may overlap.
            notes: what stands in the margin.
            offset: the place in the source that comes to the top.
            below: lines that stand below the text and are no part of it.
        """
        self.source = text
        self._below = tuple(below)
        self._chunks = prose.split(text)
        if self._below:
            last = self._chunks[-1]
            end = prose.Chunk(len(text), len(text), 0)
            self._chunks = [*self._chunks[:-1], last._replace(gap=1), end] if text.strip() else [end]
        self._starts = [chunk.start for chunk in self._chunks]
        self._read.clear()
        self.hits, self.hit = [], -1
        self._set_marks(marks, notes)
        self._divide()
        self.reset_blocks()
        self.scroll_to_offset(offset)

    def mark(self, marks: Iterable[Mark] = (), notes: Iterable[Note] = ()) -> None:
        """Other marks and notes on the same text; the reader stays where they are."""
        here = self.top_offset
        folded = self._columns
        self._set_marks(marks, notes)
        self._divide()
        if self._columns != folded:
            self.reset_blocks()
            self.scroll_to_offset(here)
        self.restyle()

    def _set_marks(self, marks: Iterable[Mark], notes: Iterable[Note]) -> None:
        self._notes = sorted(notes, key=lambda note: note.start)
        self._note_starts = [note.start for note in self._notes]
        passages = [Mark(note.start, note.end, note.kind) for note in self._notes]
        self._marks = Marks([*marks, *passages])
        self.note = -1

    def _divide(self) -> None:
        beside = bool(self._notes) or self._marks.have_labels
        self._columns = columns(max(10, self.room.width), beside)
        self._margin = None
        if self._columns.margin and self._notes:
            self._margin = Margin(
                self._notes,
                first_of=self._first_note,
                line_of=self._note_line,
                height_of=lambda block: len(self.layout_of(block).lines),
                width=self._columns.margin,
            )

    def on_resize(self, event: events.Resize) -> None:
        """Textual: divides the new width."""
        event.prevent_default()
        self._divide()
        super().on_resize(event)
        self.redraw()
        if self._wanted is not None and self.size:
            self.scroll_to_offset(self._wanted)
            self._wanted = None

    # Blocks

    def block_count(self) -> int:
        """How many chunks the text has."""
        return len(self._chunks)

    def text_width(self) -> int:
        """The measure."""
        return self._columns.measure

    def estimate(self, index: int) -> int:
        """By its length."""
        chunk = self._chunks[index]
        return 1 + (chunk.end - chunk.start) // self._columns.measure + chunk.gap

    def prose(self, index: int) -> prose.Prose:
        """A chunk, read; kept, since marks ask for it again."""
        found = self._read.get(index)
        if found is None:
            chunk = self._chunks[index]
            last = self._below and index == len(self._chunks) - 1
            found = prose.beside(self._below, chunk.start) if last else prose.read(self.source, chunk.start, chunk.end)
            self._read[index] = found
        return found

    def lay_out(self, index: int, width: int) -> Layout:
        """A chunk, wrapped for the measure."""
        last = index == len(self._chunks) - 1
        return prose.lay_out(self.prose(index), width, 0 if last else self._chunks[index].gap)

    def spans_of(self, index: int, layout: Layout) -> Iterable[Span]:
        """What the Markdown says, then marks, then hits."""
        yield from layout.spans
        chunk, read = self._chunks[index], self.prose(index)
        for mark in self._marks.within(chunk.start, chunk.end):
            yield Span(read.to_shown(mark.start), read.to_shown(mark.end), f"mark--{mark.kind.name.lower()}")
        low = bisect_left(self.hits, chunk.start, key=lambda hit: hit.end)
        high = bisect_right(self.hits, chunk.end, key=lambda hit: hit.start)
        for number in range(low, high):
            hit = self.hits[number]
            style = "page--found" if number == self.hit else "page--find"
            yield Span(read.to_shown(hit.start), read.to_shown(hit.end), style)

    # Places

    def block_at(self, offset: int) -> int:
        """The chunk that holds a place of the source, or the last one before it."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def place_of(self, offset: int) -> tuple[int, int]:
        """The chunk of a place in the source and the line of that chunk on which it is shown."""
        block = self.block_at(offset)
        return block, self.layout_of(block).line_of(self.prose(block).to_shown(offset))

    def line_of(self, offset: int) -> int:
        """The line of the page on which a place of the source is shown (guessed as long as what is above is)."""
        block, line = self.place_of(offset)
        self.measure(block)
        return self.heights.start(block) + line

    @property
    def top_offset(self) -> int:
        """The place in the source at the top of the window: what to store as the reader's position."""
        block, line = self.position()
        layout = self.layout_of(block)
        if not layout.lines:
            return self._chunks[block].start
        return self.prose(block).to_source(layout.lines[min(line, len(layout.lines) - 1)].start)

    def scroll_to_offset(self, offset: int, row: int = 0) -> None:
        """Brings a place of the source to a row of the window; 0 is the top."""
        if not self.size:
            # Not laid out yet: the first resize comes back here.
            self._wanted = offset
            return
        block, line = self.place_of(max(0, min(offset, len(self.source))))
        self.place(block, line, row)

    def reveal(self, offset: int) -> None:
        """Brings a place into sight, in the upper third when it was not."""
        block, line = self.place_of(offset)
        self.measure(block)
        seen = self.heights.start(block) + line - self.top
        if not 0 <= seen < self.page - 1:
            self.place(block, line, self.page // 3)

    # Finding

    def find(self, query: str, *, offset: int | None = None) -> list[Hit]:
        """Marks every place that has the words of a query, whatever their case, quotes or emphasis.

        Args:
            query: what is looked for; empty takes the marks away.
            offset: the first hit at or after this place becomes the current one; None is the top of the window.

        Returns:
            The hits in order, offsets in the source.
        """
        self.hits = find_all(query, self.source)
        here = self.top_offset if offset is None else offset
        self.hit = -1
        if self.hits:
            number = bisect_left(self.hits, here, key=lambda hit: hit.start)
            self.hit = number if number < len(self.hits) else 0
        self._show_hit()
        return self.hits

    def _show_hit(self) -> None:
        if self.hit >= 0:
            self.reveal(self.hits[self.hit].start)
        self.restyle()
        if self.is_attached:
            self.refresh_bindings()
        self.post_message(self.Found(len(self.hits), self.hit + 1))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of hits and notes are keys of the screen while there is none."""
        needed = {"next_hit": bool(self.hits), "next_note": bool(self._notes), "select_note": self.note >= 0}
        return needed.get(action, True)

    def action_next_hit(self, step: int) -> None:
        """Goes to the next or the previous hit, round the end."""
        self.hit = (self.hit + step) % len(self.hits)
        self._show_hit()

    # Notes

    def _first_note(self, block: int) -> int:
        if block >= len(self._chunks):
            return len(self._notes)
        return bisect_left(self._note_starts, self._starts[block]) if block else 0

    def _note_line(self, block: int, number: int) -> int:
        return self.layout_of(block).line_of(self.prose(block).to_shown(self._notes[number].start))

    def action_next_note(self, step: int) -> None:
        """Goes to the next or the previous note; the first one is the next below the top."""
        if self.note < 0:
            below = bisect_left(self._note_starts, self.top_offset)
            self.note = (below if step > 0 else below - 1) % len(self._notes)
        else:
            self.note = (self.note + step) % len(self._notes)
        self.go_to_note(self._notes[self.note].id)

    def go_to_note(self, id: str) -> None:
        """Makes a note the current one and brings its passage into sight."""
        for number, note in enumerate(self._notes):
            if note.id == id:
                self.note = number
                self.reveal(note.start)
                self.redraw()
                self.post_message(self.NoteHighlighted(id))

    def action_select_note(self) -> None:
        """Asks whoever listens to open the current note."""
        self.post_message(self.NoteSelected(self._notes[self.note].id))

    def on_click(self, event: events.Click) -> None:
        """A click in the margin or the gutter makes the note current; one in the prose tells its place."""
        line = self.top + event.y
        if line >= self.heights.total:
            return
        block, inside = self.heights.find(line)
        left, measure, _ = self._columns
        x = event.x - left - self._gutter
        number = self._note_beside(block, inside, x >= measure, x < 0)
        if number is not None:
            self.go_to_note(self._notes[number].id)
            return
        offset = event.style.meta.get("offset")
        if isinstance(offset, tuple) and 0 <= x < measure:
            place = min(max(0, offset[0]), len(self.layout_of(block).text))
            self.post_message(self.PlaceClicked(self.prose(block).to_source(place)))

    def _note_beside(self, block: int, inside: int, in_margin: bool, in_gutter: bool) -> int | None:
        if in_margin and self._margin is not None:
            line = self._margin.line(block, inside)
            return None if line is None else line.note
        if in_gutter:
            numbers = self._notes_on(block, inside)
            return numbers[0] if numbers else None
        return None

    def _notes_on(self, block: int, inside: int) -> Sequence[int]:
        numbers = range(self._first_note(block), self._first_note(block + 1))
        return [number for number in numbers if self._note_line(block, number) == inside]

    # Drawing

    @property
    def _gutter(self) -> int:
        return GUTTER if self.room.width >= 30 else 2

    def render_line(self, y: int) -> Strip:
        """Textual: the last row tells the current note where there is no margin."""
        if self.note >= 0 and not self._columns.margin and y == self.room.height - 1:
            width = self.room.width
            note = self._notes[self.note]
            text = " ".join(part for part in (str(self.note + 1), note.head, note.text) if part)
            return self.finish([Segment(fit(" " + text, width), self.style("page--current"))], width)
        return super().render_line(y)

    def draw(self, index: int, layout: Layout, number: int, width: int) -> Strip:
        """A line between its gutter and its margin."""
        left, measure, margin = self._columns
        line = layout.lines[number]
        body = self.line_segments(index, layout, line, measure)
        whole = self.style(line.style) if line.style else Style.null()
        text = self.finish(body, measure, whole)
        segments = [*self._gutter_segments(index, layout, number, left), *text]
        if margin:
            segments.extend(self._margin_segments(index, layout, number, margin))
        return self.finish(segments, width)

    def _gutter_segments(self, index: int, layout: Layout, number: int, left: int) -> list[Segment]:
        size = self._gutter
        line, read = layout.lines[number], self.prose(index)
        kind = self._marks.kind_on(read.to_source(line.start), read.to_source(line.end))
        sign, style = (kind.value, f"mark--{kind.name.lower()}") if kind else ("", "")
        numbers = self._notes_on(index, number) if self._notes else ()
        text = str(numbers[0] + 1) if numbers else ""
        if numbers and self.note in numbers:
            text, style = str(self.note + 1), "page--current"
        if sign == MarkKind.NOTE.value:
            sign = "" if text else "|" if line.end > line.start else ""
        label = (text + sign)[: size - 1]
        base = self.style("page--margin") if not style else self._sign_style(style)
        return [Segment(" " * left + label.rjust(size - 1) + " ", base)]

    def _sign_style(self, name: str) -> Style:
        return self.style(name).without_color + Style(color=self.style(name).color, underline=False, strike=False)

    def _margin_segments(self, index: int, layout: Layout, number: int, margin: int) -> list[Segment]:
        beside = self._margin.line(index, number) if self._margin is not None else None
        if beside is not None:
            style = self.style("page--current" if beside.note == self.note else "page--margin")
            return [Segment("│ ", self.style("page--rule")), Segment(fit(beside.text, margin), style)]
        line, read = layout.lines[number], self.prose(index)
        mark = self._marks.label_on(read.to_source(line.start), read.to_source(line.end))
        if mark is None:
            return [Segment(" " * (margin + 2))]
        return [Segment("  "), Segment(fit(mark.label, margin), self._sign_style(f"mark--{mark.kind.name.lower()}"))]
