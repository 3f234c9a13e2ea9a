"""A form for all options of a command: a field for each parameter, checked while it is filled in.

It answers the line that the fields make, to be run or, when the author leaves it, to go back into the bar.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.dialogs import Form, show_error, title_text, words
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import CheckInput, ChoiceInput, LineInput

if TYPE_CHECKING:
    from marginalia_tui.commands.completion import Candidate
    from marginalia_tui.desk.sheet import Sheet, SheetField, SheetForm

PREVIEW = 200
"""Characters of a text of which the line is shown while it is made."""
PROPOSED = 4
"""Values that are shown below a field, of those that fit."""
LOW = 20
"""Rows of a terminal below which it makes itself small."""
KEYS = "Ctrl+S runs   Esc leaves it   Tab next   Ctrl+J new line"


class TextField(SubmitArea):
    """A text of any number of lines, as high as it is; Up and Down leave it at its ends."""

    def action_cursor_up(self, select: bool = False) -> None:
        """Up: in the first line, to the field before."""
        if self.cursor_location[0] == 0 and not select:
            self.screen.focus_previous()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Down: in the last line, to the next field."""
        if self.cursor_location[0] == self.document.line_count - 1 and not select:
            self.screen.focus_next()
        else:
            super().action_cursor_down(select)


class TruthField(CheckInput):
    """Yes or no, told when it is turned."""

    class Turned(Message):
        """It was turned."""

    def action_turn(self) -> None:
        """Turns it."""
        super().action_turn()
        self.post_message(self.Turned())


class RunButton(Static, can_focus=True):
    """Enter runs the line."""

    DEFAULT_CSS = """
    RunButton {
        width: auto; height: 1; margin: 0 0 0 0; padding: 0 2; background: $surface; color: $accent; text-style: bold;
        &:focus { background: $cursor-background; color: $cursor-foreground; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "Run", show=False)]

    class Pressed(Message):
        """It was pressed."""

    def __init__(self) -> None:
        super().__init__("Run", markup=False)

    def action_press(self) -> None:
        """Enter."""
        self.post_message(self.Pressed())

    def on_click(self) -> None:
        """A click."""
        self.action_press()


class CommandForm(Form):
    """The form. Answers `line` and whether to `run` it; None when nothing was changed and nothing is to be run.

    Args:
        sheet: the command.
    """

    DEFAULT_CSS = """
    CommandForm {
        & .dialog--box { width: 84; }
        & TextField { background: $surface; width: 1fr; padding: 0 1; }
        & TextField:focus { background: $cursor-background; }
        & TextField:focus .text-area--cursor-line { background: $cursor-background; }
        & TextField .text-area--cursor-line { background: $surface; }
        & #form-fields { height: auto; width: 1fr; }
        & #form-line { color: $muted; height: auto; max-height: 2; width: 1fr; }
        & #form-foot { height: auto; }
        & .form--proposed { color: $accent; height: 1; width: 1fr; display: none; }
        & .form--keys { color: $muted; height: 1; width: 1fr; }
        &.-low .form--about { display: none; }
        &.-low #form-line { max-height: 1; }
    }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "right", "right", "Take what is proposed, at the end of a field", show=False, priority=True, id="form.take"
        )
    ]

    def __init__(self, sheet: "Sheet") -> None:
        super().__init__(f"/{sheet.name}  {sheet.severity}", ())
        self._sheet = sheet
        self._form = sheet.form
        self._texts = dict(zip((each.name for each in sheet.forms[sheet.form].fields), sheet.texts, strict=True))
        """What stands in the fields, by the names of parameters: another form keeps those that it has too."""
        self._begun = ""
        self._made = 0
        self._asked = Latest(self)
        self._proposed: tuple[int, str, list[Candidate]] | None = None
        """The place and the text of the field that was asked about, and what could stand there."""

    def compose(self) -> ComposeResult:
        """What it does, which form, the fields, the line, the button."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            with VerticalScroll(classes="dialog--scroll", can_focus=False):
                yield words(self._shape.about, "dialog--help form--about")
                if len(self._sheet.forms) > 1:
                    usages = tuple((str(number), form.usage) for number, form in enumerate(self._sheet.forms))
                    with Horizontal(classes="dialog--field"):
                        yield words("form", "dialog--label")
                        yield ChoiceInput(usages, str(self._form), id="form-which")
                with Vertical(id="form-fields"):
                    yield from self._rows()
            with Vertical(id="form-foot"):
                yield Static("", markup=False, id="form-line")
                yield RunButton()
                yield words(KEYS, "form--keys")

    @property
    def _shape(self) -> "SheetForm":
        return self._sheet.forms[self._form]

    def _rows(self) -> Iterator[Widget]:
        """A label, a widget, a place for an error and words about it for each field of the form."""
        self._made += 1
        for place, field in enumerate(self._shape.fields):
            label = words(field.name + (" *" if field.required else ""), "dialog--label")
            error = words("", "dialog--error")
            error.id = self._named("error", place)
            yield Horizontal(label, self._widget(place, field), classes="dialog--field")
            yield error
            proposed = words("", "form--proposed")
            proposed.id = self._named("proposed", place)
            yield proposed
            yield words(field.about, "dialog--help")

    def _named(self, kind: str, place: int) -> str:
        # Those of the form before may not be gone yet when the next ones come.
        return f"{kind}-{self._made}-{place}"

    def _widget(self, place: int, field: "SheetField") -> Widget:
        text, id = self._texts.get(field.name, ""), self._named("field", place)
        without = f"without it {field.default}" if field.default else ""
        match field.kind:
            case "boolean":
                return TruthField((text or field.default) == "true", id=id)
            case "choice":
                shown = tuple((value, value or "(not given)") for value in field.choices)
                return ChoiceInput(shown, text or field.default, id=id)
            case "number":
                return LineInput(text, placeholder=without, id=id)
            case "text":
                return TextField(text, placeholder=without, id=id)

    def on_mount(self) -> None:
        """The first field that is needed and empty has the focus, else the first behind those that were typed."""
        fields = self._shape.fields
        needed = (place for place, field in enumerate(fields) if field.required and not self._text(place))
        place = next(needed, min(self._sheet.typed, len(fields) - 1))
        if fields:
            self._field(place).focus()
        else:
            self.query_one(RunButton).focus()
        self._begun = self._line()
        self._look()
        self._fit()

    def on_resize(self) -> None:
        """The foot stays in sight, the fields scroll above it."""
        self._fit()

    def _fit(self) -> None:
        border, foot = 2, 3 if self.size.height < LOW else 4
        self.query_one(".dialog--scroll").styles.max_height = max(3, self.size.height - border - foot)

    # Reading

    def _field(self, place: int) -> Widget:
        return self.query_one(f"#{self._named('field', place)}")

    def _text(self, place: int) -> str:
        """What stands in a field, as it would be typed."""
        match self._field(place):
            case CheckInput(value=value):
                return "true" if value else "false"
            case ChoiceInput(value=value):
                return value
            case SubmitArea(content=content):
                return content
        raise TypeError("not the widget of a field")

    def _line(self, most: int | None = None) -> str:
        texts = [self._text(place)[:most] for place in range(len(self._shape.fields))]
        return self._sheet.write(self._form, texts)

    def _look(self, *, whole: bool = False) -> list[int]:
        """Says what is wrong, and shows the line; answers the places of the wrong fields.

        Args:
            whole: whether what is needed and still missing is wrong, too.
        """
        wrong: list[int] = []
        for place in range(len(self._shape.fields)):
            text = self._text(place)
            error = self._sheet.wrong(self._form, place, text) if text or whole else ""
            show_error(self.query_one(f"#{self._named('error', place)}", Static), error)
            if error:
                wrong.append(place)
        self.query_one("#form-line", Static).update(visible_line(self._line(PREVIEW)))
        return wrong

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Another text."""
        event.stop()
        if event.text_area.id and event.text_area.id.startswith(f"field-{self._made}-"):
            self._look()
            self._propose()

    def on_truth_field_turned(self, event: TruthField.Turned) -> None:
        """Another truth."""
        event.stop()
        self._look()

    async def on_choice_input_changed(self, event: ChoiceInput.Changed) -> None:
        """Another value, or another form."""
        event.stop()
        which = self.query("#form-which")
        if which and isinstance(chosen := which.first(), ChoiceInput) and int(chosen.value) != self._form:
            await self._change_form(int(chosen.value))
        self._look()

    async def _change_form(self, form: int) -> None:
        for place, field in enumerate(self._shape.fields):
            self._texts[field.name] = self._text(place)
        self._form = form
        rows = self.query_one("#form-fields")
        with self.app.batch_update():
            await rows.remove_children()
            await rows.mount(*self._rows())
        self.query_one(".form--about", Static).update(visible_line(self._shape.about))

    # Proposing

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The field that has the focus says what could stand in it."""
        self._propose()

    def _propose(self) -> None:
        """Asks what could stand in the field that has the focus."""
        place = self._focused_place()
        if self._proposed is not None and self._proposed[0] != place:
            self._show_proposed(self._proposed[0], [])
            self._proposed = None
        if place is not None:
            form, text = self._form, self._text(place)
            self._asked.ask(lambda: (place, text, self._sheet.proposals(form, place, text)), self._take_proposed)

    def _focused_place(self) -> int | None:
        """The place of the field of text that has the focus."""
        places = range(len(self._shape.fields))
        return next(
            (each for each in places if (field := self._field(each)).has_focus and isinstance(field, SubmitArea)), None
        )

    def _take_proposed(self, answer: "tuple[int, str, list[Candidate]]") -> None:
        place, text, found = answer
        if place == self._focused_place() and text == self._text(place):
            self._proposed = answer
            self._show_proposed(place, [each for each in found if each.value != text])

    def _show_proposed(self, place: int, found: "list[Candidate]") -> None:
        for line in self.query(f"#{self._named('proposed', place)}").results(Static):
            names = [" ".join(filter(None, [each.label or each.value, each.description])) for each in found[:PROPOSED]]
            line.update(visible_line("Right takes " + "  |  ".join(names)) if names else "")
            line.display = bool(names)

    def action_right(self) -> None:
        """Right: at the end of a field it takes what is proposed first, else it does what it does there."""
        field, place = self.focused, self._focused_place()
        if place is None or not isinstance(field, SubmitArea):
            if isinstance(field, ChoiceInput):
                field.action_choose(1)
            elif isinstance(field, TruthField):
                field.action_turn()
            return
        fits = self._proposed if self._proposed and self._proposed[:2] == (place, field.content) else None
        found = [each for each in fits[2] if each.value != field.content] if fits else []
        if found and field.cursor_location == field.document.end and field.selection.is_empty:
            field.content = found[0].value
            field.move_cursor(field.document.end)
        else:
            field.action_cursor_right()

    # Ending

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter in a field: the next one, the button behind the last."""
        event.stop()
        # What the base does with it would follow.
        event.prevent_default()
        self.focus_next()

    def on_run_button_pressed(self, event: RunButton.Pressed) -> None:
        """Enter on the button."""
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Answers the line when all is right, else says what is wrong and goes to the first."""
        wrong = self._look(whole=True)
        if wrong:
            self._field(wrong[0]).focus()
        else:
            self.dismiss({"line": self._line(), "run": True})

    def action_cancel(self) -> None:
        """Esc: what was filled in goes back into the bar."""
        line = self._line()
        self.dismiss(None if line == self._begun else {"line": line, "run": False})
