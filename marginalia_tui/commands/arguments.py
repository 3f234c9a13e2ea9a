"""Arguments, however they were given, become the values that a command's function takes.

Three ways: by name (a mapping; an argument left out or null takes its default), by position (a list), and as the
texts of a line. Text becomes a number or a boolean where the signature wants one. What does not fit is refused
with a sentence that names the argument and says what would fit.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from marginalia_tui.commands.definition import CommandDefinition, Form, Parameter
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import nearest
from marginalia_tui.commands.sentences import counted, listed, quoted
from marginalia_tui.domain.errors import Invalid

_HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate: JSON can write one, no file and no database can hold it."""

Arguments = Mapping[str, Any] | Sequence[Any]
"""By name, or by position."""


def convert(definition: CommandDefinition, given: Arguments) -> tuple[Form, dict[str, Any]]:
    """The form that is called, and its values by Python name.

    Raises:
        Invalid: an argument is unknown, missing, one too many, or does not fit.
    """
    form = definition.bodies[0]
    named = _by_name(definition, form, given) if isinstance(given, Mapping) else _by_place(definition, form, given)
    try:
        checked = form.arguments.model_validate(named)
    except ValidationError as error:
        raise Invalid(_sentence(definition, form, error)) from None
    values = {each.python: getattr(checked, each.python) for each in form.parameters}
    for name, value in values.items():
        if isinstance(value, str) and _HALF.search(value):
            raise Invalid(f"{definition.name}: the argument {to_camel(name)} holds half a character: write it again.")
    return form, values


def of_line(definition: CommandDefinition, line: CommandLine) -> list[Any]:
    """The arguments of a line by position.

    An empty argument (`""`) leaves an optional one out, unless it is a text that is empty by default.
    """
    parameters = definition.bodies[0].parameters
    values: list[Any] = list(line.values)
    for place, parameter in enumerate(parameters[: len(values)]):
        if values[place] == "" and not parameter.required and parameter.default != "":
            values[place] = None
    return values


def _by_name(definition: CommandDefinition, form: Form, given: Mapping[str, Any]) -> dict[str, Any]:
    known = {each.name: each for each in form.parameters}
    for name in given:
        if name not in known:
            near = nearest(str(name), known, limit=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise Invalid(
                f"{definition.name} has no argument {quoted(name)}.{hint} "
                f"It takes: {listed(list(known)) or 'no arguments'}."
            )
    return {name: value for name, value in given.items() if value is not None or known[name].required}


def _by_place(definition: CommandDefinition, form: Form, given: Sequence[Any]) -> dict[str, Any]:
    if len(given) > len(form.parameters):
        raise Invalid(
            f"{definition.name} takes {counted(len(form.parameters), 'argument')}, not {len(given):,}: "
            f"{form.usage(definition.name)} (a text with spaces goes in quotes)"
        )
    pairs = zip(form.parameters, given, strict=False)
    return {each.name: value for each, value in pairs if value is not None or each.required}


def _sentence(definition: CommandDefinition, form: Form, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0])
    parameter = next(each for each in form.parameters if each.name == name)
    usage = form.usage(definition.name)
    if first["type"] == "missing":
        return f"{definition.name} needs the argument {name} ({parameter.description}): {usage}"
    return _misfit(definition.name, parameter, first["input"])


def _misfit(command: str, parameter: Parameter, given: object) -> str:
    near = nearest(given, parameter.allowed, limit=1) if isinstance(given, str) else []
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{command}: the argument {parameter.name} is {parameter.fits}, not {quoted(given)}.{hint}"


def misfit(definition: CommandDefinition, parameter: Parameter, text: str) -> str:
    """Why a text can't be the value of a parameter, in a sentence; empty when it can."""
    form = definition.bodies[0]
    try:
        form.arguments.__pydantic_validator__.validate_assignment(
            form.arguments.model_construct(), parameter.python, text
        )
    except ValidationError:
        return _misfit(definition.name, parameter, text)
    return ""
