"""What the command bar shows of a line: completions above it, the form of the command and words about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.lines import LineView
from marginalia_tui.widgets.text import cells, fit, wrap

ROWS = 8
"""Completions that are seen at once."""
WORD_ROWS = 3
"""Rows that words about a line, or what is wrong with it, take at most."""
LOW = 14
"""Rows of a terminal below which they take one."""


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
    count: str = ""
    """Which of several forms it is."""


class BarModel(Protocol):
    """What the bar asks. Called on another thread, one call at a time."""

    def complete(self, text: str, cursor: int) -> Sequence[Choice]:
        """What fits at a place of a line, best first."""
        ...

    def hint(self, text: str, cursor: int) -> Hint:
        """What is said of a place of a line."""
        ...

    def searching(self) -> Hint:
        """What is said while the lines that were run are searched."""
        ...

    def history(self) -> Sequence[str]:
        """Lines that were run, in the order in which Up walks through them, the first last."""
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
        "choices--current",
        "choices--name",
        "choices--description",
        "choices--danger",
        "choices--severity",
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
        severity = f" {visible_line(choice.severity)} " if choice.severity else ""
        longest = max(cells(visible_line(each.label)) for each in self.choices[:50])
        described = any(each.description for each in self.choices[:50])
        name = min(longest, max(8, width // 2) if described else max(1, width - 2 - cells(severity)))
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
    """The form of the command with the current parameter marked, and below it words about it, in a few rows."""

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
    _rows: Sequence[str] = ()

    def show(self, hint: Hint) -> None:
        """Shows a hint in as many rows as it needs; one without words has none."""
        self.hint = hint
        self._lay_out()

    def on_resize(self) -> None:
        """The same in another width."""
        self._lay_out()

    def _lay_out(self) -> None:
        hint, size = self.hint, self.app.size
        text = visible_line(f"error: {hint.error}" if hint.error else hint.description)
        places = wrap(text, max(8, size.width - 2)) if text else []
        most = 1 if size.height < LOW else WORD_ROWS
        self._rows = [text[start:end] for start, end in places[:most]]
        if len(places) > most:
            # Drawn with a sign that there is more.
            self._rows[-1] = text[places[most - 1][0] :]
        height = len(self._rows) + bool(hint.form)
        self.display = height > 0
        self.styles.height = max(1, height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: a row."""
        width = self.size.width
        row = y - bool(self.hint.form)
        if row < 0:
            return self._form_row(width)
        text = self._rows[row] if row < len(self._rows) else ""
        style = self.get_component_rich_style("hint--error" if self.hint.error else "hint--form")
        return Strip([Segment(fit(" " + text, width), style)], width)

    def _form_row(self, width: int) -> Strip:
        hint = self.hint
        severity = f" {visible_line(hint.severity)} " if hint.severity else ""
        count = f" {visible_line(hint.count)} " if hint.count and width >= 60 else ""
        room = max(0, width - cells(severity) - cells(count))
        segments = self._form(room)
        used = sum(cells(segment.text) for segment in segments)
        style = self.get_component_rich_style("hint--danger" if hint.danger else "hint--form")
        muted = self.get_component_rich_style("hint--form")
        gap = Segment(" " * (room - used), self.rich_style)
        return Strip([*segments, gap, Segment(count, muted), Segment(severity, style)]).crop(0, width)

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
