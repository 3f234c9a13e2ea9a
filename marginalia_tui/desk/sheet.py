"""A command as a sheet to fill in: a field for each parameter of a form, and the line that the fields make.

What stands in a field is what would be typed in a line. An optional field that is empty, or says what holds without
it, is left out of the line: at the end of it altogether, before others as `""`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from marginalia_tui.commands import completion
from marginalia_tui.commands.arguments import misfit
from marginalia_tui.commands.definition import CommandDefinition, Form, Parameter
from marginalia_tui.commands.hint import default_of, fitting_forms, parameters_of, wants_form
from marginalia_tui.commands.line import CommandLine

Kind = Literal["text", "number", "boolean", "choice"]

TRUTHS = ("true", "yes", "on", "1", "t", "y")
"""What is read as true."""


@dataclass(frozen=True, slots=True)
class SheetField:
    """A parameter."""

    name: str
    kind: Kind
    required: bool
    default: str
    """What holds when it is left empty, as it would be typed; empty when nothing is said of that."""
    about: str
    choices: tuple[str, ...] = ()
    """Of a choice; an empty one leaves it out."""


@dataclass(frozen=True, slots=True)
class SheetForm:
    """A form of the command."""

    usage: str
    about: str
    fields: tuple[SheetField, ...]


class Sheet:
    """A command to fill in.

    Args:
        definition: of the command.
        line: what is typed of it; it chooses the form, and fills it.
        completers: what the fields propose.
    """

    def __init__(self, definition: CommandDefinition, line: CommandLine, completers: completion.Completers) -> None:
        self._definition = definition
        self._completers = completers
        self.name = definition.name
        self.severity = definition.severity.word + (", asks first" if definition.destructive else "")
        self.forms = tuple(
            SheetForm(form.usage(definition.name), form.description, tuple(map(_field, parameters_of(form))))
            for form in definition.forms
        )
        asks = wants_form(line)
        fitting = definition.forms[0] if asks else fitting_forms(definition, line)[0]
        self.form = definition.forms.index(fitting)
        """The place of the form that fits what is typed."""
        typed = [] if asks else line.values
        self.texts = tuple(_filled(fitting, self.forms[self.form].fields, typed, line))
        """What is typed, by the fields of that form."""
        self.typed = len(typed)
        """How many arguments are typed."""

    def wrong(self, form: int, place: int, text: str) -> str:
        """What is wrong with the text of a field, in a sentence; empty when nothing is."""
        one = self._definition.forms[form]
        parameter = parameters_of(one)[place]
        if text == "":
            may_be_empty = not parameter.required or parameter is one.rest or parameter.type == "text"
            return "" if may_be_empty else "This is needed."
        return misfit(self.name, one, parameter, text)

    def proposals(self, form: int, place: int, text: str) -> list[completion.Candidate]:
        """What could stand in a field in which a text is being typed, best first."""
        parameter = parameters_of(self._definition.forms[form])[place]
        return list(completion.values(parameter, self._completers, text))

    def write(self, form: int, texts: Sequence[str]) -> str:
        """The line that calls a form with the texts of its fields."""
        one = self._definition.forms[form]
        if one.rest is not None:
            return CommandLine.write(self.name, CommandLine.parse(f"/{self.name} {texts[0]}").values)
        given = [
            "" if not each.required and text == each.default else text
            for each, text in zip(self.forms[form].fields, texts, strict=True)
        ]
        while given and given[-1] == "" and not one.parameters[len(given) - 1].required:
            given.pop()
        return CommandLine.write(self.name, given)


def _field(parameter: Parameter) -> SheetField:
    default = default_of(parameter)
    # What can be chosen, and what holds without it, is seen in the field itself.
    facts = parameter.fits if parameter.takes in ("integer", "number", "date", "any") else ""
    about = parameter.description + (f" ({facts})" if facts else "")
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    if parameter.takes == "boolean" and (default or parameter.required):
        kind = "boolean"
    elif parameter.takes == "boolean":
        kind, choices = "choice", ("", "true", "false")
    elif parameter.allowed:
        # One that is needed begins with none chosen, so that nothing is called that nobody chose.
        kind, choices = "choice", (*([] if default else [""]), *parameter.allowed)
    elif parameter.takes in ("integer", "number"):
        kind = "number"
    return SheetField(parameter.name, kind, parameter.required, default, about, choices)


def _filled(form: Form, fields: Sequence[SheetField], typed: Sequence[str], line: CommandLine) -> list[str]:
    if form.rest is not None:
        return [line.source[line.name_end :].strip() if typed else ""]
    texts = [*typed[: len(fields)], *([""] * (len(fields) - len(typed)))]
    return [start_of(each, text) for each, text in zip(fields, texts, strict=True)]


def start_of(field: SheetField, text: str) -> str:
    """What stands in a field at first: what was typed, as far as it can stand there."""
    match field.kind:
        case "boolean":
            return "true" if (text or field.default).lower() in TRUTHS else "false"
        case "choice":
            return text if text in field.choices else field.default or field.choices[0]
    return text
