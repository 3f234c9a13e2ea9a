"""Fields of a form: each one value, one line (or five), worked by keys alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.editor import Editor, SubmitArea
from marginalia_tui.widgets.text import fit

FieldValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Field:
    """What a form asks for.

    `choices` are pairs of a value and the words for it. `check` answers what is wrong with a value, in one
    sentence, or None. A `number` that is left empty is None; with `whole` it has no fraction.
    """

    name: str
    label: str
    kind: Literal["text", "number", "choice", "boolean", "multiline"] = "text"
    value: FieldValue = ""
    choices: tuple[tuple[str, str], ...] = ()
    help: str = ""
    required: bool = False
    whole: bool = True
    check: Callable[[FieldValue], str | None] | None = None


class LineInput(SubmitArea):
    """An input of one line: Enter posts `Submitted`, a line feed in a paste becomes a space."""

    DEFAULT_CSS = """
    LineInput {
        height: 1; max-height: 1; width: 1fr; background: $surface; padding: 0 1;
        overflow: hidden hidden;
        &:focus { background: $cursor-background; }
        &:focus .text-area--cursor-line { background: $cursor-background; }
        & .text-area--cursor-line { background: $surface; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", "Previous", show=False, id="line.previous"),
        Binding("down", "app.focus_next", "Next", show=False, id="line.next"),
    ]

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(text.replace("\n", " "), placeholder=placeholder, id=id)
        self.soft_wrap = False

    def on_mount(self) -> None:
        """The cursor begins at the end."""
        self.move_cursor(self.document.end)

    def paste(self, text: str) -> None:
        """Inserts a text as one line."""
        super().paste(" ".join(text.splitlines()))

    def action_newline(self) -> None:
        """There is none in one line."""


class _Plain(Widget, can_focus=True):
    """One line that is drawn from a value."""

    DEFAULT_CSS = """
    _Plain {
        height: 1; width: 1fr; background: $surface; color: $foreground;
        &:focus { background: $cursor-background; color: $cursor-foreground; text-style: bold; }
    }
    """

    def words(self) -> str:
        """What the line says."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        width = self.size.width
        return Strip([Segment(fit(" " + self.words(), width), self.rich_style)], width)


class ChoiceInput(_Plain):
    """One of a few values: left and right (or space) choose, a letter goes to the next that begins with it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "Previous", show=False),
        Binding("right,space", "choose(1)", "Next", show=False),
    ]

    @dataclass
    class Changed(Message):
        """Another value."""

        value: str

    def __init__(self, choices: tuple[tuple[str, str], ...], value: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.choices = choices or (("", "(nothing to choose)"),)
        values = [each for each, _ in self.choices]
        self.place = values.index(value) if value in values else 0

    @property
    def value(self) -> str:
        """The value."""
        return self.choices[self.place][0]

    def words(self) -> str:
        """The words of the value between arrows."""
        return f"< {visible_line(self.choices[self.place][1])} >  {self.place + 1} of {len(self.choices)}"

    def action_choose(self, step: int) -> None:
        """Chooses the next or the previous value."""
        self._go((self.place + step) % len(self.choices))

    def _go(self, place: int) -> None:
        if place != self.place:
            self.place = place
            self.refresh()
            self.post_message(self.Changed(self.value))

    def on_key(self, event: events.Key) -> None:
        """A letter."""
        if event.character and event.character.isalnum():
            count = len(self.choices)
            for distance in range(1, count + 1):
                place = (self.place + distance) % count
                if self.choices[place][1].casefold().startswith(event.character.casefold()):
                    event.stop()
                    self._go(place)
                    return

    def on_click(self) -> None:
        """A click chooses the next."""
        self.action_choose(1)


class CheckInput(_Plain):
    """Yes or no: space turns it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,left,right", "turn", "Turn", show=False)]

    def __init__(self, value: bool = False, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.value = value

    def words(self) -> str:
        """The mark."""
        return "[x] yes" if self.value else "[ ] no"

    def action_turn(self) -> None:
        """Turns it."""
        self.value = not self.value
        self.refresh()

    def on_click(self) -> None:
        """A click turns it."""
        self.action_turn()


def build(field: Field, id: str) -> Widget:
    """The widget of a field."""
    match field.kind:
        case "choice":
            return ChoiceInput(field.choices, str(field.value or ""), id=id)
        case "boolean":
            return CheckInput(bool(field.value), id=id)
        case "multiline":
            area = Editor(str(field.value or ""), id=id, classes="field--area")
            area.styles.height = 5
            return area
        case "text" | "number":
            return LineInput("" if field.value is None else str(field.value), id=id)


def read(field: Field, widget: Widget) -> tuple[FieldValue, str | None]:
    """The value that stands in a widget, and what is wrong with it."""
    value: FieldValue
    match widget:
        case ChoiceInput() | CheckInput():
            value = widget.value
        case Editor():
            value = widget.content
        case _:
            raise TypeError(f"not the widget of a field: {widget!r}")
    if field.kind == "number":
        text = str(value).strip().replace(",", "").replace("\u202f", "")
        try:
            value = None if not text else int(text) if field.whole else float(text)
        except ValueError:
            return None, "Write a whole number." if field.whole else "Write a number, such as 0.7."
        if isinstance(value, float) and not -1e308 < value < 1e308:
            return None, "Write a number, such as 0.7."
    if field.required and (value is None or (isinstance(value, str) and not value.strip())):
        return value, "This is needed."
    return value, field.check(value) if field.check else None
