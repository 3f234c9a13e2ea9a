"""The bar below an editor in which words are found and replaced."""

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput
from marginalia_tui.widgets.text import cells


class Toggle(Widget, can_focus=True):
    """A word that is on or off: space, Enter or a click turns it."""

    DEFAULT_CSS = """
    Toggle {
        height: 1; color: $muted; margin: 0 1 0 0;
        &:focus { background: $cursor-background; color: $cursor-foreground; text-style: bold; }
        &.-on { color: $accent; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "turn", "Turn", show=False)]

    @dataclass
    class Turned(Message):
        """It was turned."""

        toggle: "Toggle"

    def __init__(self, word: str, *, id: str) -> None:
        super().__init__(id=id)
        self.word = word
        self.on = False
        self.styles.width = cells(word) + 4

    def render_line(self, y: int) -> Strip:
        """Textual: the mark and the word."""
        return Strip([Segment(f"[{'x' if self.on else ' '}] {self.word}", self.rich_style)])

    def action_turn(self) -> None:
        """Turns it."""
        self.on = not self.on
        self.set_class(self.on, "-on")
        self.refresh()
        self.post_message(self.Turned(self))

    def on_click(self) -> None:
        """A click turns it."""
        self.action_turn()


class ReplaceBar(Vertical):
    """Two lines: what is found, and what is put there. It tells what is wanted; the screen does it."""

    DEFAULT_CSS = """
    ReplaceBar {
        height: 2; display: none; background: $panel;
        & Horizontal { height: 1; }
        & .replace--sign { width: 6; color: $accent; text-style: bold; }
        & LineInput { background: $panel; width: 1fr; }
        & #replace-count { width: auto; color: $muted; padding: 0 1; }
        &.-open { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "end the search", id="replace.close"),
        Binding("down", "step(1)", "next", id="replace.next", priority=True),
        Binding("up", "step(-1)", "previous", id="replace.previous", priority=True),
        Binding("alt+a,ctrl+a", "all", "replace all", id="replace.all", priority=True),
        Binding("alt+c", "turn('case')", "capitals count", show=False, id="replace.case", priority=True),
        Binding("alt+w", "turn('word')", "whole words", show=False, id="replace.word", priority=True),
        Binding("alt+r", "turn('regex')", "regular expression", show=False, id="replace.regex", priority=True),
    ]

    @dataclass
    class Wanted(Message):
        """Something else is looked for."""

    @dataclass
    class Step(Message):
        """The next place, or the one before."""

        step: int

    @dataclass
    class Replace(Message):
        """The place that is shown, or every one, is to be replaced."""

        everything: bool

    @dataclass
    class Closed(Message):
        """The search is over."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.line = LineInput(id="replace-find")
        """What is looked for."""
        self.new = LineInput(id="replace-new")
        """What is put there."""
        self.toggles = {
            "case": Toggle("Case", id="replace-case"),
            "word": Toggle("Words", id="replace-word"),
            "regex": Toggle("Regex", id="replace-regex"),
        }
        self._count = Static("", id="replace-count", markup=False)

    def compose(self) -> ComposeResult:
        """What, with what, how."""
        with Horizontal():
            yield Static("find", classes="replace--sign", markup=False)
            yield self.line
            yield self._count
        with Horizontal():
            yield Static("with", classes="replace--sign", markup=False)
            yield self.new
            yield from self.toggles.values()

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.has_class("-open")

    @property
    def mode(self) -> str:
        """`text`, `word` or `regex`."""
        if self.toggles["regex"].on:
            return "regex"
        return "word" if self.toggles["word"].on else "text"

    @property
    def case(self) -> bool:
        """Whether capitals count."""
        return self.toggles["case"].on

    def open(self, words: str = "") -> None:
        """Shows it, with words to look for."""
        self.add_class("-open")
        if words:
            self.line.content = words
        self.line.select_all()
        self.line.focus()

    def close(self) -> None:
        """Hides it."""
        self.remove_class("-open")
        self.say("")

    def say(self, text: str) -> None:
        """What stands behind the words."""
        self._count.update(visible_line(text))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A key in one of the lines."""
        event.stop()
        if event.text_area is self.line:
            self.post_message(self.Wanted())

    def on_toggle_turned(self, event: Toggle.Turned) -> None:
        """Another way to look; whole words and expressions exclude one another."""
        event.stop()
        word, regex = self.toggles["word"], self.toggles["regex"]
        if word.on and regex.on:
            (regex if event.toggle is word else word).action_turn()
        self.post_message(self.Wanted())

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter: the next place, or this one is replaced."""
        event.stop()
        self.post_message(self.Step(1) if event.area is self.line else self.Replace(False))

    def action_step(self, step: int) -> None:
        """Up and down."""
        self.post_message(self.Step(step))

    def action_all(self) -> None:
        """Every place."""
        self.post_message(self.Replace(True))

    def action_turn(self, name: str) -> None:
        """A way to look."""
        self.toggles[name].action_turn()

    def action_close(self) -> None:
        """Esc."""
        self.post_message(self.Closed())
