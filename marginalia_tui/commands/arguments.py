"""Arguments, however they were given, become a call of the form that fits them best.

Three ways: by name (a mapping; an argument left out or null takes its default), by position (a sequence), and as
the texts of a line. Of the forms that fit, the closest wins: an argument costs nothing where it has the type of the
parameter, 1 for a parameter that takes anything, 2 where it is converted (text or a number to a number, a boolean,
a choice, a date); a form that takes any arguments costs 1,000. Ties go to the form that is listed first. Where none
fits, the sentence is about the form that came nearest: it names the argument and says what would fit.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any

from pydantic import ValidationError

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.definition import CommandDefinition, Form, Parameter
from marginalia_tui.commands.registry import nearest
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.sentences import counted, listed, quoted

_HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate: JSON can write one, no file and no database can hold it."""

Arguments = Mapping[str, Any] | Sequence[Any]
"""By name, or by position."""

ANYTHING = 1
CONVERSION = 2
ANY_ARGUMENTS = 1_000
"""What an argument, or a form that takes any, adds to the cost of a form."""


@dataclass(frozen=True, slots=True)
class Call:
    """A form, and the values that it is called with."""

    form: Form
    values: Mapping[str, Any]
    """By Python name."""
    rest: tuple[Any, ...] = ()
    cost: int = 0

    def make(self, context: Context) -> object:
        """Calls the function behind the form."""
        return self.form.function(context, *self.rest, **self.values)


@dataclass(frozen=True, slots=True)
class _Misfit:
    """Why a form does not fit."""

    sentence: str
    nearness: int
    """Arguments that fit, less what is wrong; the form with the most came nearest."""


def resolve(definition: CommandDefinition, given: Arguments, *, typed: bool = False) -> Call:
    """The call of the form that fits the arguments best.

    Args:
        definition: the command.
        given: by name, or by position.
        typed: whether they are the texts of a line. An empty one (`""`) then leaves an optional argument out, unless
            that is a text that is empty by default.

    Raises:
        Invalid: no form fits: an argument is unknown, missing, one too many, or not what it should be.
    """
    best: Call | None = None
    near: tuple[int, Form, str] | None = None
    for form in definition.forms:
        tried = _try(definition.name, form, given, typed)
        if isinstance(tried, Call):
            if best is None or tried.cost < best.cost:
                best = tried
        elif near is None or tried.nearness > near[0]:
            near = tried.nearness, form, tried.sentence
    if best is not None:
        _check_whole(definition.name, best)
        return best
    assert near is not None
    _, form, sentence = near
    if typed and any(_has_a_name(form, each) for each in given):
        sentence += " Arguments of a line go by their place, without names."
    if len(definition.forms) > 1 and form.usage(definition.name) not in sentence:
        sentence += f" The closest form is: {form.usage(definition.name)}"
    raise Invalid(sentence)


def _has_a_name(form: Form, text: object) -> bool:
    """Whether an argument of a line is written as `name=value`, as many programs have it."""
    name, sign, _ = str(text).lstrip("-").partition("=")
    return bool(sign) and name.replace("_", "").replace("-", "").casefold() in {
        each.name.casefold() for each in form.parameters
    }


def _try(command: str, form: Form, given: Arguments, typed: bool) -> Call | _Misfit:
    if form.rest is not None:
        if isinstance(given, Mapping) and given:
            sentence = f"{command} takes its arguments in order, without names: {form.usage(command)}"
            return _Misfit(sentence, -len(given))
        return Call(form, {}, tuple(given), ANY_ARGUMENTS)
    named = _named(command, form, given) if isinstance(given, Mapping) else _placed(command, form, given, typed)
    if isinstance(named, _Misfit):
        return named
    try:
        checked = form.arguments.model_validate(named)
    except ValidationError as error:
        return _misfit_of(command, form, named, error)
    except (ValueError, RecursionError):
        # Python writes out neither the longest numbers nor the deepest lists, so they are no text.
        wrong = [each for each in form.parameters if each.name in named and not _can_be_written(named[each.name])]
        if not wrong:
            raise
        return _Misfit(_misfit(command, wrong[0], named[wrong[0].name]), len(named) - 2 * len(wrong))
    values = {each.python: getattr(checked, each.field) for each in form.parameters}
    return Call(form, values, (), sum(_cost(each, named[each.name]) for each in form.parameters if each.name in named))


def _named(command: str, form: Form, given: Mapping[str, Any]) -> dict[str, Any] | _Misfit:
    known = {each.name: each for each in form.parameters}
    unknown = [name for name in given if name not in known]
    if unknown:
        near = nearest(str(unknown[0]), known, limit=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        sentence = f"{command} has no argument {quoted(unknown[0])}.{hint} "
        sentence += f"It takes: {listed(list(known)) or 'no arguments'}."
        missing = sum(each.required and each.name not in given for each in form.parameters)
        return _Misfit(sentence, len(given) - 3 * len(unknown) - missing)
    return {name: value for name, value in given.items() if value is not None or known[name].required}


def _placed(command: str, form: Form, given: Sequence[Any], typed: bool) -> dict[str, Any] | _Misfit:
    parameters = form.parameters
    if len(given) > len(parameters):
        sentence = (
            f"{command} takes {counted(len(parameters), 'argument')}, not {len(given):,} "
            f"(a text with spaces goes in quotes): {form.usage(command)}"
            if parameters
            else f"{command} takes no arguments: leave out what stands behind it."
        )
        return _Misfit(sentence, 2 * len(parameters) - len(given))
    return {
        parameter.name: value
        for parameter, value in zip(parameters, given, strict=False)
        if not _left_out(parameter, value, typed)
    }


def _left_out(parameter: Parameter, value: object, typed: bool) -> bool:
    if parameter.required:
        return False
    return value is None or (typed and value == "" and parameter.default != "")


def _cost(parameter: Parameter, given: object) -> int:
    if parameter.takes == "any":
        return ANYTHING
    return 0 if isinstance(given, _OF_TYPE[parameter.takes]) else CONVERSION


_OF_TYPE: dict[str, type | tuple[type, ...]] = {
    "text": str, "integer": int, "number": float, "boolean": bool, "list": (list, tuple), "date": date, "choice": Enum,
}  # fmt: skip
"""What needs no conversion."""


def _can_be_written(value: object) -> bool:
    try:
        str(value)
    except (ValueError, RecursionError):
        return False
    return True


def _misfit_of(command: str, form: Form, named: Mapping[str, Any], error: ValidationError) -> _Misfit:
    errors = error.errors(include_url=False, include_context=False)
    by_name = {each.name: each for each in form.parameters}
    wrong = {str(each["loc"][0]) for each in errors}
    first = errors[0]
    parameter = by_name[str(first["loc"][0])]
    nearness = len(named) - len(wrong & named.keys()) - len(wrong)
    if first["type"] == "missing":
        needs = f"{command} needs the argument {parameter.name} ({parameter.description}): {form.usage(command)}"
        return _Misfit(needs, nearness)
    return _Misfit(_misfit(command, parameter, named[parameter.name]), nearness)


def _misfit(command: str, parameter: Parameter, given: object) -> str:
    near = nearest(given, parameter.allowed, limit=1) if isinstance(given, str) else []
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{command}: the argument {parameter.name} is {parameter.fits}, not {quoted(given)}.{hint}"


def _check_whole(command: str, call: Call) -> None:
    names = {each.python: each.name for each in call.form.parameters}
    for python, value in [*call.values.items(), *(("", each) for each in call.rest)]:
        if isinstance(value, str) and _HALF.search(value):
            what = f"the argument {names[python]}" if python else "an argument"
            raise Invalid(f"{command}: {what} holds half a character: write it again.")


# While a line is typed.


def misfit(command: str, form: Form, parameter: Parameter, text: str) -> str:
    """Why a text can't be the value of a parameter, in a sentence; empty when it can."""
    if parameter is form.rest:
        return ""
    try:
        form.arguments.__pydantic_validator__.validate_assignment(
            form.arguments.model_construct(), parameter.field, text
        )
    except ValidationError:
        return _misfit(command, parameter, text)
    return ""


def form_so_far(definition: CommandDefinition, finished: Sequence[str], places: int) -> Form:
    """The form that a line which is still being typed seems to mean.

    Args:
        definition: the command.
        finished: the arguments that are typed to their end.
        places: how many there are with the one that is being typed.
    """

    def distance(form: Form) -> tuple[int, int]:
        wrong = max(0, places - len(form.parameters)) if form.rest is None else 0
        cost = ANY_ARGUMENTS if form.rest else 0
        for place, text in enumerate(finished):
            parameter = form.parameter_at(place)
            if parameter is None or parameter is form.rest or _left_out(parameter, text, typed=True):
                continue
            wrong += bool(misfit(definition.name, form, parameter, text))
            cost += _cost(parameter, text)
        return wrong, cost

    return min(definition.forms, key=distance)
