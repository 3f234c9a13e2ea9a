"""Two texts in one: what was removed and what was added, word by word, in place.

A removed stretch is written `[-so-]` and struck through, an added one `{+so+}` and underlined: the signs carry
the meaning where colours and styles do not. Spaces alone are written as dots. Stretches without a change are folded
to a few lines of context.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from marginalia_tui.domain.diff import Kind, Segment
from marginalia_tui.domain.visible import visible
from marginalia_tui.widgets.blocks import BlockView, Layout, Line, Span
from marginalia_tui.widgets.text import wrap

CONTEXT = 2
"""Unchanged paragraphs that stay on either side of a change."""
_SIGNS = {Kind.SAME: ("", ""), Kind.REMOVED: ("[-", "-]"), Kind.ADDED: ("{+", "+}")}
_STYLES = {Kind.REMOVED: "diff--removed", Kind.ADDED: "diff--added"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One paragraph of the diff as it is shown, or `folded` ones that are not."""

    text: str
    spans: tuple[Span, ...] = ()
    folded: int = 0

    @property
    def changed(self) -> bool:
        """Whether something in it was removed or added."""
        return bool(self.spans)


def diff_lines(segments: Iterable[Segment]) -> list[DiffLine]:
    """A diff as paragraphs with signs. A line feed that was removed or added is shown as `¶` and obeyed."""
    lines: list[DiffLine] = []
    parts: list[str] = []
    spans: list[Span] = []
    length = 0

    def close() -> None:
        nonlocal parts, spans, length
        lines.append(DiffLine("".join(parts), tuple(spans)))
        parts, spans, length = [], [], 0

    for segment in segments:
        opening, closing = _SIGNS[segment.kind]
        pieces = visible(segment.text).split("\n")
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            shown = piece if segment.kind is Kind.SAME else _signed(piece) + ("" if last else "¶")
            if shown:
                shown = f"{opening}{shown}{closing}"
                if style := _STYLES.get(segment.kind):
                    spans.append(Span(length, length + len(shown), style))
                parts.append(shown)
                length += len(shown)
            if not last:
                close()
    close()
    return lines


def _signed(piece: str) -> str:
    """What was removed or added, spaces that stand alone as dots: they would be lost at the end of a line."""
    return "·" * len(piece) if piece and not piece.strip(" ") else piece


def fold(lines: Sequence[DiffLine], context: int = CONTEXT) -> list[DiffLine]:
    """The same with long unchanged stretches as one line each."""
    near = [False] * len(lines)
    for number, line in enumerate(lines):
        if line.changed:
            low, high = max(0, number - context), min(len(lines), number + context + 1)
            near[low:high] = [True] * (high - low)
    folded: list[DiffLine] = []
    start = 0
    while start < len(lines):
        stop = start
        while stop < len(lines) and not near[stop]:
            stop += 1
        if stop - start > 2:
            folded.append(DiffLine("", (), stop - start))
        else:
            folded.extend(lines[start:stop])
        if stop < len(lines):
            folded.append(lines[stop])
        start = stop + 1
    return folded


class WordDiff(BlockView):
    """Segments of a diff. `show(segments)` fills it; n and p walk through the changes, u unfolds what is the same."""

    DEFAULT_CSS = """
    WordDiff {
        & > .diff--removed { color: $removed; text-style: strike; }
        & > .diff--added { color: $added; text-style: underline; }
        & > .diff--folded { color: $muted; }
        & > .diff--sign { color: $changed; text-style: bold; }
        & > .diff--here { color: $accent; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "diff--removed",
        "diff--added",
        "diff--folded",
        "diff--sign",
        "diff--here",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "step(1)", "Next change", show=False, id="diff.next"),
        Binding("p", "step(-1)", "Previous change", show=False, id="diff.previous"),
        Binding("u", "unfold", "Unfold", show=False, id="diff.unfold"),
    ]

    @dataclass
    class Stepped(Message):
        """Another change is the current one, from 1, of so many."""

        current: int
        count: int

    def __init__(self, *, empty: str = "No difference.", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self._all: list[DiffLine] = []
        self._shown: list[DiffLine] = []
        self._changes: list[int] = []
        self.unfolded = False
        self.current = -1

    def show(self, segments: Iterable[Segment], *, unfolded: bool = False) -> None:
        """Shows a diff.

        Args:
            segments: from `domain.diff.word_diff`.
            unfolded: whether what is the same is shown whole.
        """
        self._all = diff_lines(segments)
        self.unfolded = unfolded
        self.current = -1
        self._arrange()
        self.go_to(0)

    def _arrange(self) -> None:
        if not any(line.changed for line in self._all) and not self.unfolded:
            self._shown = [DiffLine(self.empty, (), -1)]
        else:
            self._shown = list(self._all) if self.unfolded else fold(self._all)
        self._changes = [number for number, line in enumerate(self._shown) if line.changed]
        self.reset_blocks()
        if len(self.heights):
            self.place(0, 0)

    @property
    def changes(self) -> int:
        """How many paragraphs hold a change."""
        return len(self._changes)

    def action_unfold(self) -> None:
        """Shows or hides what is the same."""
        self.unfolded = not self.unfolded
        current = self.current
        self._arrange()
        if 0 <= current < len(self._changes):
            self.place(self._changes[current], 0, self.page // 3)
        self.redraw()

    def action_step(self, step: int) -> None:
        """Goes to the next or the previous change."""
        if self._changes:
            self.current = max(0, min(self.current + step, len(self._changes) - 1)) if self.current >= 0 else 0
            self.place(self._changes[self.current], 0, min(3, self.page // 3))
            self.redraw()
            self.post_message(self.Stepped(self.current + 1, len(self._changes)))

    def on_click(self, event: events.Click) -> None:
        """A click on a folded stretch unfolds."""
        line = self.top + event.y
        if line < self.heights.total and self._shown[self.heights.find(line)[0]].folded > 0:
            self.action_unfold()

    # Blocks

    def block_count(self) -> int:
        """Paragraphs that are shown."""
        return len(self._shown)

    def text_width(self) -> int:
        """The measure of a page, or less."""
        return max(8, min(80, self.room.width - 3))

    def estimate(self, index: int) -> int:
        """By its length."""
        return 1 + len(self._shown[index].text) // self.text_width()

    def lay_out(self, index: int, width: int) -> Layout:
        """A paragraph, with `|` at the left of each line that holds a change."""
        line = self._shown[index]
        if line.folded:
            text = line.text or f"··· {line.folded:,} lines unchanged ···"
            return Layout(text, [Line(0, len(text), 2, style="diff--folded")])
        stretches = wrap(line.text, width)
        return Layout(line.text, [self._line(index, line, a, b) for a, b in stretches], line.spans)

    def _line(self, index: int, line: DiffLine, start: int, end: int) -> Line:
        changed = any(span.start < end and span.end > start for span in line.spans)
        return Line(start, end, 2, "|" if changed else "", "diff--sign")

    def draw(self, index: int, layout: Layout, number: int, width: int) -> Strip:
        """A line; the sign of the current change is `>`."""
        line = layout.lines[number]
        if line.lead and 0 <= self.current < len(self._changes) and self._changes[self.current] == index:
            line = line._replace(lead=">", lead_style="diff--here")
        whole = self.style(line.style) if line.style else None
        return self.finish(self.line_segments(index, layout, line, width), width, whole)
