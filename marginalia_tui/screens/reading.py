"""The page of a book and the line above it."""

from dataclasses import dataclass

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.choosing import ChoosingPage
from marginalia_tui.widgets.text import cells, crop


class Reader(ChoosingPage):
    """The page of one part; what goes beyond it is the screen's."""

    @dataclass
    class Step(Message):
        """The reader wants the next hit of the book (or the next part), or the one before."""

        step: int

    @dataclass
    class Turned(Message):
        """A page key at the end (1) or the start (-1) of the part."""

        step: int

    def action_next_hit(self, step: int) -> None:
        """Asks the screen, which knows the hits of all parts."""
        self.post_message(self.Step(step))

    def action_pages(self, count: int) -> None:
        """A page on; beyond the end the next part begins."""
        end = self.max_scroll_y if count > 0 else 0
        if self.top == end:
            self.post_message(self.Turned(1 if count > 0 else -1))
        else:
            super().action_pages(count)


class PartHead(Widget):
    """One line above the page: which part, which version of it, how long."""

    DEFAULT_CSS = """
    PartHead {
        height: 1; color: $foreground;
        & > .head--title { text-style: bold; }
        & > .head--facts { color: $muted; }
        & > .head--held { color: $attention; text-style: bold; }
    }
    """
    COMPONENT_CLASSES = {"head--title", "head--facts", "head--held"}

    def __init__(self) -> None:
        super().__init__()
        self.title, self.facts, self.held = "", "", ""

    def show(self, title: str, facts: str, held: str) -> None:
        """The title, what stands at the right, and who holds the book."""
        if (title, facts, held) != (self.title, self.facts, self.held):
            self.title, self.facts, self.held = title, facts, held
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        width = self.size.width
        held = f" {visible_line(self.held)} " if self.held else ""
        facts = f" {visible_line(self.facts)} "
        if cells(held) + cells(facts) + 12 > width:
            facts = ""
        title = crop(" " + visible_line(self.title), max(0, width - cells(facts) - cells(held)))
        gap = " " * max(0, width - cells(title) - cells(facts) - cells(held))
        pieces = ((title, "title"), (gap, "facts"), (held, "held"), (facts, "facts"))
        segments = [Segment(text, self.get_component_rich_style(f"head--{kind}")) for text, kind in pieces if text]
        return Strip(segments).crop(0, width)
