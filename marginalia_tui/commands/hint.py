"""What is said below a command line while it is typed: the form, the parameter under the cursor, what is wrong.

Pure and quick, like completion. An error is told as soon as it is certain: no command begins so, an argument can't
become what any form takes however it goes on, there is one too many. Of several forms the one is told that what is
typed so far can still mean.
"""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from marginalia_tui.commands.arguments import form_so_far, misfit
from marginalia_tui.commands.definition import CommandDefinition, Form, Parameter
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry, nearest
from marginalia_tui.domain.sentences import counted, either, quoted


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a line that is being typed."""

    command: CommandDefinition | None = None
    form: Form | None = None
    """The form that fits so far."""
    parameters: tuple[Parameter, ...] = ()
    """Its parameters."""
    current: int | None = None
    """The place of the parameter that is being typed; None while it is the name, or behind the last."""
    error: str = ""
    """What is certainly wrong, in a sentence."""
    missing: tuple[str, ...] = ()
    """Needed arguments that are not there yet."""
    wants_form: bool = False
    """Whether the line asks for the form of all options: `/name ?`."""

    @property
    def parameter(self) -> Parameter | None:
        """The parameter that is being typed."""
        return None if self.current is None else self.parameters[self.current]


def hint(registry: Registry, source: str) -> Hint | None:
    """What to say of a line up to the cursor; None when it is no command."""
    line = CommandLine.parse(source)
    if not line.is_command:
        return None
    definition = registry.find(line.name)
    if definition is None:
        return Hint(error=_unknown(registry, line))
    if wants_form(line):
        return Hint(definition, definition.forms[0], parameters_of(definition.forms[0]), wants_form=True)
    form = fitting_forms(definition, line)[0]
    parameters = parameters_of(form)
    current = line.current_argument
    place = None if current is None else current.index
    if place is not None and form.rest is not None:
        place = min(place, len(parameters) - 1)
    if place is not None and place >= len(parameters):
        place = None
    missing = tuple(each.name for each in form.parameters[len(line.arguments) :] if each.required)
    errors = _errors(definition, form, line)
    return Hint(definition, form, parameters, place, errors[0].sentence if errors else "", missing)


def parameters_of(form: Form) -> tuple[Parameter, ...]:
    """The parameters of a form, with what stands for any number of further ones."""
    return (*form.parameters, *([form.rest] if form.rest else []))


def wants_form(line: CommandLine) -> bool:
    """Whether a line is `/name ?`. A question mark that is meant as an argument stands in quotes."""
    return len(line.arguments) == 1 and line.source[line.arguments[0].start : line.arguments[0].end] == "?"


def fitting_forms(definition: CommandDefinition, line: CommandLine) -> list[Form]:
    """The forms that a line which is being typed can still mean, the likeliest first; the nearest when none can."""
    if len(definition.forms) == 1:
        return list(definition.forms)
    wrong = [sum(each.weight for each in _errors(definition, form, line)) for form in definition.forms]
    forms = [form for form, count in zip(definition.forms, wrong, strict=True) if count == min(wrong)]
    finished = line.values if line.trailing_separator else line.values[:-1]
    places = len(line.arguments) + line.trailing_separator
    first = form_so_far(replace(definition, forms=tuple(forms)), finished, places)
    return [first, *(form for form in forms if form is not first)]


def facts_of(parameter: Parameter) -> str:
    """What may be given for a parameter, and what it is without: `a whole number from 1 to 200, without it 50`."""
    facts = [parameter.fits] if parameter.takes in _FACTUAL else []
    if default := default_of(parameter):
        facts.append(f"without it {default}")
    return ", ".join(facts)


_FACTUAL = ("integer", "number", "boolean", "choice", "date", "any")


def default_of(parameter: Parameter) -> str:
    """The default as it would be typed; empty where there is none that says anything."""
    default = parameter.default
    if parameter.required or default is None or isinstance(default, list | tuple | dict):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def _unknown(registry: Registry, line: CommandLine) -> str:
    if line.typing_name and (not line.name or any(name.startswith(line.name) for name in registry.names)):
        return ""
    near = nearest(line.name, registry.names)
    if line.typing_name and near:
        return ""  # the list of completions shows them
    return f"There is no command {quoted(line.name, 40)}." + (f" Did you mean {either(near)}?" if near else "")


class _Error(NamedTuple):
    """What is certainly wrong with a line as a call of a form, and how far from right it is."""

    sentence: str
    weight: int


def _errors(definition: CommandDefinition, form: Form, line: CommandLine) -> list[_Error]:
    if form.rest is not None:
        return []
    errors: list[_Error] = []
    for place, (argument, parameter) in enumerate(zip(line.arguments, form.parameters, strict=False)):
        typing = place == len(line.arguments) - 1 and not line.trailing_separator
        if argument.text == "" and (typing or not parameter.required):
            continue
        sentence = misfit(definition.name, form, parameter, argument.text)
        if sentence and not (typing and _may_become(parameter, argument.text)):
            errors.append(_Error(sentence, 1 if _resembles(parameter, argument.text) else 2))
    if len(line.arguments) > len(form.parameters):
        most = max(len(each.parameters) for each in definition.forms)
        many = f"{definition.name} takes {counted(most, 'argument')}: a text with spaces goes in quotes."
        errors.insert(0, _Error(many if most else f"{definition.name} takes no arguments.", 2))
    return errors


def _resembles(parameter: Parameter, text: str) -> bool:
    """Whether a value that does not fit was meant for a parameter all the same: a day that does not exist."""
    match parameter.takes:
        case "date":
            return bool(_DATE.fullmatch(text))
        case "integer" | "number":
            return bool(_NUMBER.fullmatch(text))
        case "choice":
            return bool(nearest(text, parameter.allowed, limit=1))
    return True


_TRUTHS = ("true", "false", "yes", "no", "on", "off", "0", "1")
_NUMBER = re.compile(r"[+-]?\d*\.?\d*(?:[eE][+-]?\d*)?")
_DATE = re.compile(r"\d{0,4}|\d{4}-(?:\d{0,2}|\d{2}-\d{0,2})")


def _may_become(parameter: Parameter, text: str) -> bool:
    """Whether more characters can still make a value of what is typed so far, which is none yet."""
    if parameter.allowed:
        return any(value.startswith(text) for value in parameter.allowed)
    match parameter.takes:
        case "boolean":
            return any(word.startswith(text.lower()) for word in _TRUTHS)
        case "integer":
            return _may_be_whole(parameter, text)
        case "number":
            return bool(_NUMBER.fullmatch(text))
        case "date":
            return len(text) < len("2026-03-14") and bool(_DATE.fullmatch(text))
    return parameter.longest is None or len(text) < parameter.longest


def _may_be_whole(parameter: Parameter, text: str) -> bool:
    """Whether digits may follow so that the number is within its bounds."""
    low, high = parameter.schema.get("minimum"), parameter.schema.get("maximum")
    if text in ("", "+"):
        return True
    if text == "-":
        return low is None or low <= 0
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        return False
    number = int(text)
    if high is not None and number > high:
        return False
    if low is None or number == 0:
        return True
    # What begins with these digits and has some more of them lies between two bounds.
    return any(
        (number + 1) * 10**more - 1 >= low and (high is None or number * 10**more <= high) for more in range(1, 16)
    )
