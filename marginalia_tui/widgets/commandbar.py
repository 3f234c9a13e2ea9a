"""The command bar: a line that completes while it is typed.

It knows no command. A `BarModel` from outside answers what fits and which parameter is being typed; it is asked
off the screen's loop, the newest question wins, and an answer for a line that has changed since is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.lines import LineView
from marginalia_tui.widgets.text import cells, fit, visible_line

ROWS = 8
"""Completions that are seen at once."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A completion: `text` takes the place of `line[start:end]`.

    `label` is what the list shows, `severity` a word such as `changes`; `danger` marks what removes.
    """

    label: str
    text: str
    start: int
    end: int
    description: str = ""
    severity: str = ""
    danger: bool = False


@dataclass(frozen=True, slots=True)
class HintPart:
    """A word of the form of a command; `current` is the one that is being typed."""

    text: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class Hint:
    """What is said of the line: the form of the command, the parameter in words, or what is wrong."""

    form: tuple[HintPart, ...] = ()
    description: str = ""
    severity: str = ""
    danger: bool = False
    error: str = ""


class BarModel(Protocol):
    """What the bar asks. Called on another thread, one call at a time."""

    def complete(self, text: str, cursor: int) -> Sequence[Choice]:
        """What fits at a place of a line, best first."""
        ...

    def hint(self, text: str, cursor: int) -> Hint:
        """What is said of a place of a line."""
        ...

    def history(self) -> Sequence[str]:
        """Lines that were run, the newest last."""
        ...


class Choices(LineView, can_focus=False):
    """The list of completions above the line."""

    DEFAULT_CSS = """
    Choices {
        overlay: screen;
        constrain: inside inside;
        background: $panel;
        display: none;
        width: 100%;
        & > .choices--current { background: $cursor-background; color: $cursor-foreground; text-style: bold; }
        & > .choices--name { color: $foreground; text-style: bold; }
        & > .choices--description { color: $muted; }
        & > .choices--danger { color: $removed; text-style: bold; }
        & > .choices--severity { color: $muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "choices--current", "choices--name", "choices--description", "choices--danger", "choices--severity",
    }
    ALLOW_SELECT = False

    @dataclass
    class Picked(Message):
        """A completion was clicked."""

        index: int

    def __init__(self) -> None:
        super().__init__()
        self.choices: Sequence[Choice] = ()
        self.current = 0
        self.moved = False

    def show(self, choices: Sequence[Choice]) -> None:
        """Shows completions; none hides the list."""
        self.choices = choices
        self.current = 0
        self.moved = False
        rows = min(ROWS, len(choices), max(1, self.app.size.height - 4))
        self.display = bool(choices)
        self.styles.height = rows
        self.styles.offset = (0, -rows)
        self.set_height(len(choices))
        self.go_to(0)
        self.redraw()

    def move(self, step: int) -> None:
        """Moves to another completion, round the end."""
        if self.choices:
            self.current = (self.current + step) % len(self.choices)
            self.moved = True
            if not self.top <= self.current < self.top + self.page:
                self.go_to(self.current if self.current < self.top else self.current - self.page + 1)
            self.redraw()

    def make_strip(self, line: int, width: int) -> Strip:
        """Name, description, severity."""
        choice = self.choices[line]
        here = line == self.current
        severity = f" {choice.severity} " if choice.severity else ""
        longest = max(cells(visible_line(each.label)) for each in self.choices[:50])
        name = min(longest, max(8, width // 2))
        room = width - 2 - name - 2 - cells(severity)
        if room < 16:
            name, room = max(1, width - 2 - cells(severity)), 0
        body = [
            Segment("> " if here else "  "),
            Segment(fit(choice.label, name), self.style("choices--name")),
            Segment("  " + fit(choice.description, room) if room else "", self.style("choices--description")),
            Segment(severity, self.style("choices--danger" if choice.danger else "choices--severity")),
        ]
        if here:
            body = [Segment(text, style.without_color if style else None) for text, style, _ in body]
        return self.finish(body, width, self.style("choices--current") if here else None)

    def on_click(self, event: events.Click) -> None:
        """A click picks."""
        index = self.top + event.y
        if index < len(self.choices):
            self.post_message(self.Picked(index))


class HintLine(Widget):
    """Two lines: the form of the command with the current parameter marked, and words about it."""

    DEFAULT_CSS = """
    HintLine {
        height: 2;
        background: $panel;
        color: $foreground;
        & > .hint--form { color: $muted; }
        & > .hint--current { color: $accent; text-style: bold underline; }
        & > .hint--error { color: $removed; }
        & > .hint--danger { color: $removed; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"hint--form", "hint--current", "hint--error", "hint--danger"}

    hint = Hint()

    def show(self, hint: Hint) -> None:
        """Shows a hint; without a form it takes one line, without words none."""
        self.hint = hint
        self.styles.height = 2 if hint.form else 1
        self.display = bool(hint.form or hint.description or hint.error)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: one of the two lines."""
        width = self.size.width
        hint = self.hint
        if y == 1 or not hint.form:
            text = f"error: {hint.error}" if hint.error else hint.description
            style = self.get_component_rich_style("hint--error" if hint.error else "hint--form")
            return Strip([Segment(fit(" " + text, width), style)], width)
        severity = f" {hint.severity} " if hint.severity else ""
        room = max(0, width - cells(severity))
        segments = self._form(room)
        used = sum(cells(segment.text) for segment in segments)
        style = self.get_component_rich_style("hint--danger" if hint.danger else "hint--form")
        return Strip([*segments, Segment(" " * (room - used), self.rich_style), Segment(severity, style)]).crop(0, width)

    def _form(self, room: int) -> list[Segment]:
        plain = self.get_component_rich_style("hint--form")
        current = self.get_component_rich_style("hint--current")
        words = [f"[{visible_line(part.text)}]" if part.current else visible_line(part.text) for part in self.hint.form]
        marks = [part.current for part in self.hint.form]
        # The parameter that is being typed must be seen: words before it give way.
        while sum(map(cells, words)) + len(words) > room and len(words) > 1 and not marks[0]:
            del words[0], marks[0]
        segments: list[Segment] = []
        left = room
        for word, mark in zip(words, marks, strict=True):
            text = fit(" " + word, min(left, cells(word) + 1))
            left -= cells(text)
            if text:
                segments.append(Segment(text[:1], plain))
                segments.append(Segment(text[1:], current if mark else plain))
        return segments


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
        """Args:
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

    def _cursor(self) -> int:
        return self.line.document.get_index_from_location(self.line.cursor_location)

    def _ask(self) -> None:
        text, cursor = self.line.content, self._cursor()
        model = self.model
        self._asked.ask(
            lambda: (text, cursor, tuple(model.complete(text, cursor)), model.hint(text, cursor)), self._answer
        )

    def _answer(self, answer: tuple[str, int, tuple[Choice, ...], Hint]) -> None:
        text, cursor, choices, hint = answer
        if not self.is_open or text != self.line.content or cursor != self._cursor():
            return
        self.query_one(HintLine).show(hint)
        self.choices.show(choices)
        self._suggest()

    def _suggest(self) -> None:
        text, cursor = self.line.content, self._cursor()
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
        document = self.line.document
        start = document.get_location_from_index(choice.start)
        end = document.get_location_from_index(choice.end)
        self.line.replace(choice.text, start, end)
        self.line.move_cursor(document.get_location_from_index(choice.start + len(choice.text)))

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
