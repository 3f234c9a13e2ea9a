"""One line that tells where a run stands; what matters least gives way in a narrow terminal."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.runwords import Tone
from marginalia_tui.widgets.text import cells, crop

GAP = "   "
LEAST = 16
"""Cells below which the right end says nothing."""


class Fact(NamedTuple):
    """A word of the line, a shorter one for it, and its tone."""

    words: str
    short: str = ""
    tone: Tone = "plain"


def fitting(facts: Sequence[Fact], room: int) -> list[tuple[str, Tone]]:
    """The facts that there is room for: the last ones are shortened first, then left out."""
    shown = [[fact.words, fact.tone] for fact in facts if fact.words]
    shorts = [fact.short or fact.words for fact in facts if fact.words]

    def size() -> int:
        return sum(cells(words) for words, _ in shown) + len(GAP) * max(0, len(shown) - 1)

    for number in range(len(shown) - 1, 0, -1):
        if size() > room:
            shown[number][0] = shorts[number]
    while len(shown) > 1 and size() > room:
        shown.pop()
    return [(words, tone) for words, tone in shown]  # type: ignore[misc]


class RunLine(Widget):
    """`show(facts, now)`: facts at the left, what goes on in this moment at the right."""

    DEFAULT_CSS = """
    RunLine {
        height: 1; background: $background; color: $foreground;
        & > .run--plain { color: $foreground; }
        & > .run--muted { color: $muted; }
        & > .run--attention { color: $attention; text-style: bold; }
        & > .run--added { color: $added; }
        & > .run--removed { color: $removed; text-style: bold; }
        & > .run--strong { text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"run--{tone}" for tone in ("plain", "muted", "attention", "added", "removed", "strong")
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.facts: tuple[Fact, ...] = ()
        self.now = ""

    def show(self, facts: Sequence[Fact], now: str = "") -> None:
        """Tells something else; nothing is drawn when it is the same."""
        if (tuple(facts), now) != (self.facts, self.now):
            self.facts, self.now = tuple(facts), now
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        width = max(0, self.size.width - 2)
        facts = fitting([Fact(visible_line(each.words), each.short, each.tone) for each in self.facts], width)
        segments = [Segment(" ", self.rich_style)]
        for number, (words, tone) in enumerate(facts):
            if number:
                segments.append(Segment(GAP, self.rich_style))
            segments.append(Segment(words, self.get_component_rich_style(f"run--{tone}")))
        used = sum(cells(segment.text) for segment in segments) - 1
        room = width - used - len(GAP)
        now = crop(visible_line(self.now), room) if room >= LEAST else ""
        if now:
            muted = self.get_component_rich_style("run--muted")
            segments.append(Segment(" " * (width - used - cells(now)) + now, muted))
        return Strip(segments).extend_cell_length(self.size.width, self.rich_style).crop(0, self.size.width)
