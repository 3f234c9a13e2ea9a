"""A command is a plain function under one decorator; its signature gives the parameters.

    @command("get-part", title="Read a part", severity=Severity.READ, returns="the text", example="/get-part 3",
             for_model="Returns the text of one part. ...")
    def get_part(ctx: Context, part: PartRef, offset: Offset = 0) -> PartText:
        '''Shows the text of a part.'''

The same signature is the JSON schema for a model, the check by pydantic and the help for a person, so they can't
disagree. Several functions of one name in a suite are the forms of one command. A parameter `*arguments` takes
anything. `define` refuses what is incomplete with a sentence.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.definition import (
    CommandDefinition,
    Form,
    Param,
    Parameter,
    Severity,
    Shape,
    Work,
    field_of,
)
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid

F = TypeVar("F", bound=Callable[..., object])

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_MARK = "__command__"


@dataclass(frozen=True, slots=True)
class _Declared:
    """What the decorator was given."""

    name: str
    title: str
    severity: Severity
    returns: str
    example: str
    for_model: str
    destructive: bool
    work: Work


def command(
    name: str,
    *,
    title: str,
    severity: Severity,
    returns: str,
    example: str,
    for_model: str = "",
    destructive: bool = False,
    work: Work = Work.SHORT,
) -> Callable[[F], F]:
    """Makes a function a command, or one form of it. Whether it is complete is checked when it is registered.

    Args:
        name: letters, digits, `_ - .`.
        title: what a person reads, such as `Edit a passage`; it labels the change in the history.
        severity: the highest that it does.
        returns: what it answers, in a few words.
        example: a line that calls it.
        for_model: for a small model: what it does, what to pass, what comes back. Without it no agent can be
            given the command.
        destructive: it asks (`ctx.confirm`) before its effect.
        work: how it works; one that may take long is run on a thread of its own.
    """
    return _marked(_Declared(name, title, severity, returns, example, for_model.strip(), destructive, work))


def form(of: Callable[..., object]) -> Callable[[F], F]:
    """Makes a function another form of a command: the same name, other parameters.

    Args:
        of: the function that has the command's texts; its form is listed first.
    """
    return _marked(_declared(of))


def _marked(declared: "_Declared") -> Callable[[F], F]:
    def mark(function: F) -> F:
        function.__dict__[_MARK] = declared
        return function

    return mark


def _declared(function: Callable[..., object]) -> "_Declared":
    declared = getattr(function, _MARK, None)
    if not isinstance(declared, _Declared):
        raise Invalid(f"{getattr(function, '__name__', function)!r} is no command: put @command above it.")
    return declared


def name_of(function: Callable[..., object]) -> str:
    """The name of the command that a function is, or is a form of.

    Raises:
        Invalid: it is none.
    """
    return _declared(function).name


def is_command(value: object) -> bool:
    """Whether a value is a function under the decorator."""
    return inspect.isfunction(value) and _MARK in value.__dict__


def define(*functions: Callable[..., object]) -> CommandDefinition:
    """Reads the definition off the functions that are its forms, the first listed first.

    Raises:
        Invalid: one is no command or not complete, or they do not go together; the sentence says it.
    """
    definition = outline(*functions)
    for each in definition.forms:
        each.read()
    _check_apart(definition.name, definition.forms)
    if definition.for_model and all(each.rest for each in definition.forms):
        raise Invalid(
            f"The command {definition.name} takes anything, so no agent can be given it: leave out for_model."
        )
    return definition


def outline(*functions: Callable[..., object]) -> CommandDefinition:
    """The same where the functions are known to be complete: what a form takes is read when it is first asked for.

    Raises:
        Invalid: one is no command, or its texts are not complete.
    """
    declared = _declared(functions[0])
    for other in map(_declared, functions[1:]):
        _check_same(declared, other)
    _check_texts(declared, _first_paragraph(functions[0]))
    forms = tuple(_form(declared, function) for function in functions)
    return CommandDefinition(
        name=declared.name,
        title=declared.title,
        description=forms[0].description,
        for_model=declared.for_model,
        severity=declared.severity,
        destructive=declared.destructive,
        returns=declared.returns,
        example=declared.example,
        work=declared.work,
        forms=forms,
    )


def _check_same(first: _Declared, other: _Declared) -> None:
    for what in ("title", "severity", "destructive", "work", "for_model"):
        if getattr(first, what) != getattr(other, what):
            raise Invalid(f"The forms of the command {first.name} differ in their {what.replace('_', ' ')}.")


def _check_apart(name: str, forms: tuple[Form, ...]) -> None:
    for place, one in enumerate(forms):
        for other in forms[:place]:
            if one.signature == other.signature:
                raise Invalid(
                    f"The command {name} has two forms that take the same: {other.usage(name)} and {one.usage(name)}."
                )


def _first_paragraph(function: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _check_texts(declared: _Declared, description: str) -> None:
    name = declared.name
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r} is no name of a command: use letters, digits and _ - . only.")
    needed = {
        "a title": declared.title,
        "a description (the first paragraph of its docstring)": description,
        "what it returns": declared.returns,
        "an example": declared.example,
    }
    for what, text in needed.items():
        if not text.strip():
            raise Invalid(f"The command {name} lacks {what}.")
    if declared.destructive and declared.severity <= Severity.ADD:
        raise Invalid(f"The command {name} is destructive, so its severity is CHANGE or REMOVE.")


def _check_result(declared: _Declared, hint: object) -> None:
    answers = get_args(hint) if get_origin(hint) not in (None, Effect) else (hint,)
    effects = [each for each in answers if get_origin(each) is Effect]
    plain = [each for each in answers if isinstance(each, type) and issubclass(each, Result)]
    if not answers or len(effects) + len(plain) != len(answers):
        raise Invalid(f"The command {declared.name} must say that it returns a Result or an Effect of one.")
    if declared.severity is Severity.READ and effects:
        raise Invalid(f"The command {declared.name} is READ, so it has no effect: give it its severity.")
    if declared.severity is not Severity.READ and not effects:
        raise Invalid(f"The command {declared.name} changes something, so it returns an Effect.")


def _form(declared: _Declared, function: Callable[..., object]) -> Form:
    name = declared.name
    description = _first_paragraph(function)
    if not description:
        raise Invalid(f"A form of the command {name} lacks a description (the first paragraph of its docstring).")
    taken = max(0, len(inspect.signature(function).parameters) - 1)
    return Form(function, description, taken, partial(_shape, declared, function))


def _shape(declared: _Declared, function: Callable[..., object]) -> Shape:
    name = declared.name
    hints = get_type_hints(function, include_extras=True)
    _check_result(declared, hints.get("return"))
    taken = list(inspect.signature(function).parameters.values())
    if not taken or hints.get(taken[0].name) is not Context:
        raise Invalid(f"The first parameter of the command {name} must be ctx: Context.")
    fields: dict[str, Any] = {}
    rest: str | None = None
    for each in taken[1:]:
        if each.kind is inspect.Parameter.VAR_POSITIONAL and not fields:
            rest = each.name
        elif each.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise Invalid(f"The parameter {each.name} of the command {name} must be an ordinary one.")
        if each.name not in hints:
            raise Invalid(f"The parameter {each.name} of the command {name} lacks a type.")
        default = ... if each.default is inspect.Parameter.empty and rest is None else each.default
        fields[field_of(each.name)] = (
            _checked(hints[each.name]),
            Field(None if rest else default, alias=to_camel(each.name)),
        )
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)
    arguments = create_model(f"Arguments of {name}", __config__=config, **fields)
    schemas = arguments.model_json_schema(by_alias=True)
    properties = schemas.get("properties", {})
    parameters = tuple(
        _parameter(name, each.name, hints[each.name], info, _simple(properties[info.alias], schemas.get("$defs", {})))
        for each, info in zip(taken[1:], arguments.model_fields.values(), strict=True)
    )
    if rest is not None:
        return Shape((), arguments, rest=parameters[0])
    optional = False
    for parameter in parameters:
        if parameter.required and optional:
            raise Invalid(f"The command {name}: {parameter.name} is needed, so it stands before the optional ones.")
        optional = optional or not parameter.required
    if len({parameter.name.casefold() for parameter in parameters}) < len(parameters):
        raise Invalid(f"The command {name} has two parameters of one name.")
    return Shape(parameters, arguments)


def _parameter(name: str, python: str, hint: object, info: Any, schema: dict[str, Any]) -> Parameter:
    marks = [mark for mark in _flat(hint) if isinstance(mark, Param)]
    if not marks or not marks[-1].description.strip():
        raise Invalid(f"The parameter {python} of the command {name} lacks a description: mark it with Param.")
    mark = marks[-1]
    kind = next((each.names for each in reversed(marks) if each.names), "")
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if not all(isinstance(each, str) for each in choices):
        raise Invalid(f"The parameter {python} of the command {name} has choices that are no texts.")
    takes = "choice" if choices else _type(schema)
    for_model = mark.for_model or f"{mark.description[0].upper()}{mark.description[1:]}."
    required = info.is_required()
    shown = {**schema, "description": for_model}
    longest = shown.pop("maxLength", None)
    default = None if required else info.default
    if default is None:
        shown.pop("default", None)
    return Parameter(
        name=info.alias,
        python=python,
        takes=takes,
        type=kind or takes,
        required=required,
        default=default,
        allowed=tuple(choices),
        description=mark.description,
        for_model=for_model,
        names=kind,
        schema=shown,
        longest=longest,
    )


_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "array": "list"}


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("format") == "date":
        return "date"
    if not schema.keys() & {"type", "anyOf", "$ref"}:
        return "any"
    return _TYPES.get(str(schema.get("type")), "text")


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _checked(hint: object) -> object:
    """The type of an argument, without what pydantic would take for it that a person did not mean."""
    types = set(_types(hint)) - {type(None)}
    if types == {date}:
        return Annotated[hint, BeforeValidator(_day)]
    if types and types <= {int, float}:
        return Annotated[hint, BeforeValidator(_number)]
    return hint


def _types(hint: object) -> list[object]:
    if get_origin(hint) is Annotated:
        return _types(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [each for member in get_args(hint) for each in _types(member)]
    return [hint]


def _day(value: object) -> object:
    """A number is no day (for pydantic it is the seconds since 1970), and neither is a moment."""
    if isinstance(value, str) and not _DAY.fullmatch(value):
        raise ValueError("not written as a day")
    if isinstance(value, datetime) or not isinstance(value, date | str | None):
        raise ValueError("no day")
    return value


def _number(value: object) -> object:
    """A truth is a number only for Python."""
    if isinstance(value, bool):
        raise ValueError("no number")
    return value


def _flat(hint: object) -> list[object]:
    """The marks of an annotation, outer ones last."""
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        return [*_flat(inner), *marks]
    return [mark for each in get_args(hint) for mark in _flat(each)]


def _simple(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without titles, references and the null of an optional value, which confuse small models."""
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rsplit("/", 1)[-1]], **{k: v for k, v in schema.items() if k != "$ref"}}
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(options) == 1:
        schema = {**_simple(options[0], definitions), **{k: v for k, v in schema.items() if k != "anyOf"}}
    return {key: value for key, value in schema.items() if key not in ("title", "description")}
