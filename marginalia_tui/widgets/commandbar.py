"""The command bar: a line that completes while it is typed.

It knows no command. A `BarModel` from outside answers what fits and which parameter is being typed; it is asked
off the screen's loop, the newest question wins, and an answer for a line that has changed since is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.completion import BarModel, Choice, Choices, Hint, HintLine
from marginalia_tui.widgets.editor import SubmitArea


class BarLine(SubmitArea):
    """The line itself."""

    DEFAULT_CSS = """
    BarLine { background: $panel; max-height: 4; width: 1fr; & .text-area--cursor-line { background: $panel; } }
    """


class CommandBar(Vertical):
    """The bar. `open()` shows it with what was typed before, `Submitted` tells the line that Enter sent.

    Tab completes, up and down choose a completion or, in an empty line, walk through the history; Esc closes and
    keeps what was typed. Closing gives the focus back to where it was.
    """

    DEFAULT_CSS = """
    CommandBar {
        dock: bottom;
        height: auto;
        display: none;
        background: $panel;
        & > Horizontal { height: auto; background: $panel; }
        & #bar-sign { width: 2; height: 1; color: $accent; text-style: bold; background: $panel; }
        &.-open { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "accept", "Complete", show=False, priority=True, id="bar.accept"),
        Binding("up", "move(-1)", "Previous", show=False, priority=True, id="bar.up"),
        Binding("down", "move(1)", "Next", show=False, priority=True, id="bar.down"),
        Binding("escape", "close", "Close", show=False, priority=True, id="bar.close"),
    ]

    @dataclass
    class Submitted(Message):
        """A line to run."""

        line: str

    @dataclass
    class Closed(Message):
        """The bar went away without a line."""

    def __init__(self, model: BarModel, *, id: str | None = None) -> None:
        """Makes a bar.

        Args:
            model: what is asked.
            id: of the widget.
        """
        super().__init__(id=id)
        self.model = model
        self._asked = Latest(self)
        self._past = Latest(self)
        self._history: Sequence[str] = ()
        self._walk = 0
        self._draft = ""
        self._before: Widget | None = None
        self._setting = False

    def compose(self) -> ComposeResult:
        """The list, the hint, the line."""
        yield Choices()
        yield HintLine()
        with Horizontal():
            yield Static("> ", id="bar-sign", markup=False)
            yield BarLine(id="bar-line")

    @property
    def line(self) -> BarLine:
        """The line."""
        return self.query_one(BarLine)

    @property
    def choices(self) -> Choices:
        """The list of completions."""
        return self.query_one(Choices)

    @property
    def is_open(self) -> bool:
        """Whether the bar is seen."""
        return self.has_class("-open")

    def open(self, text: str | None = None) -> None:
        """Shows the bar and gives it the focus.

        Args:
            text: what stands in the line; None keeps what was typed before, `/` when that was nothing.
        """
        if not self.is_open:
            self._before = self.screen.focused
        self.add_class("-open")
        if text is not None or not self.line.content:
            self._write(text or "/")
        self.line.focus()
        self._walk = 0
        self._past.ask(lambda: list(self.model.history()), self._remember)
        self._ask()

    def close(self) -> None:
        """Hides the bar; what was typed stays for the next time."""
        if self.is_open:
            self.remove_class("-open")
            self.choices.show(())
            if self._before is not None and self._before.is_attached and self.line.has_focus:
                self._before.focus()
            self._before = None

    def _remember(self, lines: list[str]) -> None:
        self._history = lines

    def _write(self, text: str) -> None:
        self._setting = True
        self.line.content = text
        self.line.move_cursor(self.line.document.end)

    # Asking

    def _ask(self) -> None:
        text, cursor = self.line.content, self.line.cursor_index
        model = self.model
        self._asked.ask(
            lambda: (text, cursor, tuple(model.complete(text, cursor)), model.hint(text, cursor)), self._answer
        )

    def _answer(self, answer: tuple[str, int, tuple[Choice, ...], Hint]) -> None:
        text, cursor, choices, hint = answer
        if not self.is_open or text != self.line.content or cursor != self.line.cursor_index:
            return
        self.query_one(HintLine).show(hint)
        self.choices.show(choices)
        self._suggest()

    def _suggest(self) -> None:
        text, cursor = self.line.content, self.line.cursor_index
        ghost = ""
        choices = self.choices
        if choices.choices and cursor == len(text):
            choice = choices.choices[choices.current]
            typed = text[choice.start : cursor]
            if typed and choice.text.startswith(typed):
                ghost = choice.text[len(typed) :].rstrip()
        self.line.suggestion = visible_line(ghost)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Another text: what fits now?"""
        event.stop()
        if not self._setting:
            self._walk = 0
        self._setting = False
        self.line.suggestion = ""
        if self.is_open:
            self._ask()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Another place in the same text."""
        event.stop()
        if self.is_open:
            self._ask()

    # Keys

    def action_accept(self) -> None:
        """Puts the current completion into the line."""
        if self.choices.choices:
            self._accept(self.choices.choices[self.choices.current])

    def _accept(self, choice: Choice) -> None:
        line = self.line
        line.replace(choice.text, line.location_of(choice.start), line.location_of(choice.end))
        line.move_cursor(line.location_of(choice.start + len(choice.text)))

    def on_choices_picked(self, event: Choices.Picked) -> None:
        """A click on a completion."""
        event.stop()
        self._accept(self.choices.choices[event.index])
        self.line.focus()

    def action_move(self, step: int) -> None:
        """Up and down: lines of the text, completions, or the history."""
        row = self.line.cursor_location[0]
        if not 0 <= row + step < self.line.document.line_count:
            if self._walk or self.line.content.strip() in ("", "/"):
                self._step_back(-step)
            else:
                self.choices.move(step)
                self._suggest()
        elif step < 0:
            self.line.action_cursor_up()
        else:
            self.line.action_cursor_down()

    def _step_back(self, step: int) -> None:
        if self._walk == 0:
            self._draft = self.line.content
        walk = max(0, min(self._walk + step, len(self._history)))
        if walk != self._walk:
            self._walk = walk
            self._write(self._history[-walk] if walk else self._draft)

    def action_close(self) -> None:
        """Esc."""
        self.close()
        self.post_message(self.Closed())

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter: a completion that was chosen, or the line."""
        event.stop()
        if self.choices.moved and self.choices.choices:
            self.action_accept()
            return
        if event.text.strip() in ("", "/"):
            return
        self._write("")
        self.close()
        self.post_message(self.Submitted(event.text))
