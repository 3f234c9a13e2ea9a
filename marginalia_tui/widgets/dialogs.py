"""Small modal screens: a question, one line, a message, a form.

Each is pushed with `push_screen(dialog, callback)` and dismissed with its answer; Esc answers no, or None.
Everything shown is text: no markup in it is read.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.markup import escape
from textual.screen import ModalScreen
from textual.widgets import Static

from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import Field, FieldValue, LineInput, build, read

BOX = """
    align: center middle;
    background: $background 60%;
    & .dialog--box {
        width: 72; max-width: 100%; height: auto; max-height: 100%;
        background: $panel; padding: 0 1; border: round $rule;
        border-title-color: $accent; border-title-style: bold;
    }
    & .dialog--scroll { height: auto; max-height: 100%; width: 1fr; scrollbar-size-vertical: 1; }
    & .dialog--words { height: auto; width: 1fr; }
    & .dialog--shows { color: $muted; height: auto; width: 1fr; padding: 0 0 0 2; }
    & .dialog--keys { color: $muted; height: 1; width: 1fr; dock: bottom; }
    & .dialog--field { height: auto; width: 1fr; }
    & .dialog--label { color: $muted; height: auto; width: 30%; padding: 0 1 0 0; }
    & .dialog--help { color: $muted; height: auto; width: 1fr; }
    & .dialog--error { color: $removed; height: auto; width: 1fr; display: none; }
    & .dialog--error.-shown { display: block; }
    & .field--area { background: $surface; }
    & .field--area:focus { background: $cursor-background; }
    & .field--area:focus .text-area--cursor-line { background: $cursor-background; }
    & .field--area .text-area--cursor-line { background: $surface; }
"""
"""Rules of every dialog, to be put between the braces of its own."""


def words(text: str, classes: str = "dialog--words") -> Static:
    """A text that is no markup."""
    return Static(visible(text), markup=False, classes=classes)


def title_text(text: str) -> str:
    """A text for the border of a box, where Textual reads markup."""
    return escape(visible_line(text))


class Confirm(ModalScreen[bool]):
    """A question: y answers yes, n and Esc no.

    Args:
        question: one sentence or a few.
        shows: what a yes would change, a line for each.
        severity: what a yes does, in a word such as `removes`.
        yes: the word of the answer yes.
        no: the word of the answer no.
    """

    DEFAULT_CSS = f"Confirm {{ {BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes"),
        Binding("n,escape", "answer(False)", "No", id="confirm.no"),
    ]

    def __init__(
        self, question: str, *, shows: Sequence[str] = (), severity: str = "", yes: str = "yes", no: str = "no"
    ) -> None:
        super().__init__()
        self.question, self.shows, self.severity, self.yes, self.no = question, tuple(shows), severity, yes, no

    def compose(self) -> ComposeResult:
        """The question and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(f"This {self.severity}" if self.severity else "Sure?")
            with VerticalScroll(classes="dialog--scroll"):
                yield words(self.question + "\n")
                for line in self.shows:
                    yield words(visible_line(line), "dialog--shows")
                if self.shows:
                    yield words("")
            yield words(f"y {self.yes}   n {self.no}", "dialog--keys")

    def action_answer(self, answer: bool) -> None:
        """Dismisses with the answer."""
        self.dismiss(answer)


class Notice(ModalScreen[None]):
    """A message that Enter or Esc takes away.

    Args:
        text: what happened, and what to do.
        title: of the box.
    """

    DEFAULT_CSS = f"Notice {{ {BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,escape,q", "close", "Close", id="notice.close")]

    def __init__(self, text: str, *, title: str = "") -> None:
        super().__init__()
        self.text, self.heading = text, title

    def compose(self) -> ComposeResult:
        """The message and the key."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            with VerticalScroll(classes="dialog--scroll"):
                yield words(self.text + "\n")
            yield words("Enter closes", "dialog--keys")

    def action_close(self) -> None:
        """Dismisses."""
        self.dismiss(None)


class Ask(ModalScreen[str | None]):
    """One line: Enter answers it, Esc None.

    Args:
        question: what is asked.
        value: what stands in the line.
        help: a line below.
        check: what is wrong with an answer, in one sentence, or None.
    """

    DEFAULT_CSS = f"Ask {{ {BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", id="ask.cancel")]

    def __init__(
        self, question: str, value: str = "", *, help: str = "", check: Callable[[str], str | None] | None = None
    ) -> None:
        super().__init__()
        self.question, self.value, self.help_text, self.check = question, value, help, check

    def compose(self) -> ComposeResult:
        """The question, the line, the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.question)
            yield LineInput(self.value, id="ask-line")
            yield words("", "dialog--error")
            yield words(self.help_text + "\n" if self.help_text else "\n", "dialog--help")
            yield words("Enter answers   Esc leaves it", "dialog--keys")

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter."""
        event.stop()
        wrong = self.check(event.text) if self.check else None
        if wrong is None:
            self.dismiss(event.text)
        else:
            show_error(self.query_one(".dialog--error", Static), wrong)

    def action_cancel(self) -> None:
        """Esc."""
        self.dismiss(None)


class Form(ModalScreen[dict[str, FieldValue] | None]):
    """Several fields: Ctrl+S answers their values by name, Esc None. What is wrong stands below its field.

    Args:
        title: of the box.
        fields: from top to bottom.
        does: what Ctrl+S does, as a word.
        check: looks at all values and answers what is wrong by the name of a field.
    """

    DEFAULT_CSS = f"Form {{ {BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "save", "Save", priority=True, id="form.save"),
        Binding("escape", "cancel", "Cancel", id="form.cancel"),
        Binding("up", "app.focus_previous", "Previous", show=False, id="form.previous"),
        Binding("down", "app.focus_next", "Next", show=False, id="form.next"),
    ]

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        *,
        does: str = "saves",
        check: Callable[[Mapping[str, FieldValue]], Mapping[str, str]] | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.fields, self.does, self.check = title, tuple(fields), does, check

    def compose(self) -> ComposeResult:
        """A label, a widget and a place for an error for each field."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            with VerticalScroll(classes="dialog--scroll", can_focus=False):
                for number, field in enumerate(self.fields):
                    with Horizontal(classes="dialog--field"):
                        yield words(field.label + (" *" if field.required else ""), "dialog--label")
                        yield build(field, f"field-{number}")
                    error = words("", "dialog--error")
                    error.id = f"error-{number}"
                    yield error
                    if field.help:
                        yield words(field.help, "dialog--help")
                yield words("", "dialog--help")
            yield words(f"Ctrl+S {self.does}   Esc leaves it   Tab next", "dialog--keys")

    def on_mount(self) -> None:
        """The first field has the focus."""
        if self.fields:
            self.query_one("#field-0").focus()

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter in a line: the next field, or the answer in the last one."""
        event.stop()
        if event.area.id == f"field-{len(self.fields) - 1}":
            self.action_save()
        else:
            self.focus_next()

    def action_save(self) -> None:
        """Dismisses with the values when all are right, else shows what is wrong and goes to the first."""
        values: dict[str, FieldValue] = {}
        wrong: dict[str, str] = {}
        for number, field in enumerate(self.fields):
            value, error = read(field, self.query_one(f"#field-{number}"))
            values[field.name] = value
            if error:
                wrong[field.name] = error
        if not wrong and self.check:
            wrong.update(self.check(values))
        for number, field in reversed(list(enumerate(self.fields))):
            show_error(self.query_one(f"#error-{number}", Static), wrong.get(field.name, ""))
            if field.name in wrong:
                self.query_one(f"#field-{number}").focus()
        if not wrong:
            self.dismiss(values)

    def action_cancel(self) -> None:
        """Esc."""
        self.dismiss(None)


def show_error(place: Static, text: str) -> None:
    """Writes what is wrong, or takes it away when `text` is empty."""
    place.update(visible(f"error: {text}") if text else "")
    place.set_class(bool(text), "-shown")
