"""A command is a plain function under one decorator; its signature gives the parameters.

    @command("get-part", title="Read a part", severity=Severity.READ, returns="the text", example="/get-part 3",
             for_model="Returns the text of one part. ...")
    def get_part(ctx: Context, part: PartRef, offset: Offset = 0) -> PartText:
        '''Shows the text of a part.'''

The same signature is the JSON schema for a model, the check by pydantic and the help for a person, so they can't
disagree. `define` refuses what is incomplete with a sentence. Outside, a parameter is camelCase (`maxHits`).
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid

F = TypeVar("F", bound=Callable[..., object])

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_MARK = "__command__"


class Severity(IntEnum):
    """What a command does to the data that exists. Held, not only told: a READ command can't write."""

    READ = 0
    ADD = 1
    CHANGE = 2
    REMOVE = 3

    @property
    def word(self) -> str:
        """The word that a person reads."""
        return ("reads", "adds", "changes", "removes")[self]


class Batch(StrEnum):
    """How an agent may call a command: among others, or alone in an answer."""

    ANY = "any"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Param:
    """The mark of a parameter in a signature."""

    description: str
    """For a person: a few words, no full stop."""
    for_model: str = ""
    """For a small model: what to pass, in plain sentences. Empty: the description serves."""
    names: str = ""
    """The kind of thing that the value names (`part`, `branch`, `command`...): completers are found by it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a form."""

    name: str
    """Outside: in a line of help, a schema, a call by name."""
    python: str
    type: str
    """`text`, `integer`, `number`, `boolean`, `choice`, or the kind of thing that it names."""
    required: bool
    default: Any
    allowed: tuple[str, ...]
    description: str
    for_model: str
    names: str
    schema: Mapping[str, Any]
    """Its JSON schema, for a model. Without the greatest length, which some servers turn into a huge grammar."""
    longest: int | None = None
    """The most characters of a text."""

    @property
    def is_text(self) -> bool:
        """Whether it takes any text, where a reference to a file or a result may stand."""
        return self.type == "text"

    @property
    def fits(self) -> str:
        """What may be given, for a sentence: `a whole number from 1 to 200`."""
        if self.allowed:
            return "one of " + ", ".join(self.allowed)
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        bounds = f" from {low:,}" if low is not None else ""
        bounds += f" {'to' if low is not None else 'up to'} {high:,}" if high is not None else ""
        if self.longest is not None:
            bounds = f" of at most {self.longest:,} characters"
        return _FITS.get(self.type, "a text: " + self.description) + bounds

    def to_json(self) -> dict[str, Any]:
        """The parameter as the `commands` verb shows it."""
        return {
            "name": self.name,
            "type": self.type,
            "required": self.required,
            "default": self.default,
            "allowed": list(self.allowed),
            "description": self.description,
        }


_FITS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "text": "a text"}


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a command: a signature, the function behind it and the model that checks arguments."""

    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]
    arguments: type[BaseModel]

    def usage(self, name: str) -> str:
        """The form as a line: `/name <needed> [optional]`."""
        words = [f"<{each.name}>" if each.required else f"[{each.name}]" for each in self.parameters]
        return " ".join([f"/{name}", *words])


@dataclass(frozen=True, kw_only=True)
class CommandDefinition:
    """Everything that is known of a command."""

    name: str
    title: str
    description: str
    for_model: str
    severity: Severity
    destructive: bool
    """Whether it removes or overwrites what can't be written again at once: it asks before it does."""
    returns: str
    example: str
    batch: Batch
    bodies: tuple[Form, ...]

    @property
    def read_only(self) -> bool:
        """Whether it never writes."""
        return self.severity is Severity.READ

    @property
    def for_agents(self) -> bool:
        """Whether an agent can be given it."""
        return bool(self.for_model)

    @property
    def forms(self) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of each form, in the order in which forms are tried."""
        return tuple(body.parameters for body in self.bodies)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of all forms, each once."""
        found: dict[str, Parameter] = {}
        for form in self.forms:
            for each in form:
                found.setdefault(each.name, each)
        return tuple(found.values())

    @property
    def usage(self) -> str:
        """The forms as lines."""
        return "\n".join(body.usage(self.name) for body in self.bodies)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, for a model."""
        everywhere = [{each.name for each in form if each.required} for form in self.forms]
        required = set.intersection(*everywhere)
        return {
            "type": "object",
            "properties": {each.name: dict(each.schema) for each in self.parameters},
            "required": [each.name for each in self.parameters if each.name in required],
            "additionalProperties": False,
        }

    def to_json(self) -> dict[str, Any]:
        """The command as the `commands` verb shows it."""
        return {
            "name": self.name,
            "human_name": self.title,
            "description": self.description,
            "forms": [[each.to_json() for each in form] for form in self.forms],
            "returns": self.returns,
            "example": self.example,
            "severity": self.severity.name,
            "destructive": self.destructive,
            "read_only": self.read_only,
            "batch": self.batch.value,
            "async": False,  # each runs on the thread of its caller, who decides which one that is
            "for_agents": self.for_agents,
        }


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
    batch: Batch


def command(
    name: str,
    *,
    title: str,
    severity: Severity,
    returns: str,
    example: str,
    for_model: str = "",
    destructive: bool = False,
    batch: Batch = Batch.ANY,
) -> Callable[[F], F]:
    """Makes a function a command. Whether it is complete is checked when it is registered.

    Args:
        name: letters, digits, `_ - .`.
        title: what a person reads, such as `Edit a passage`; it labels the change in the history.
        severity: the highest that it does.
        returns: what it answers, in a few words.
        example: a line that calls it.
        for_model: for a small model: what it does, what to pass, what comes back. Without it no agent can be
            given the command.
        destructive: it asks (`ctx.confirm`) before its effect.
        batch: whether an agent may call it among others.
    """
    declared = _Declared(name, title, severity, returns, example, for_model.strip(), destructive, batch)

    def mark(function: F) -> F:
        function.__dict__[_MARK] = declared
        return function

    return mark


def is_command(value: object) -> bool:
    """Whether a value is a function under the decorator."""
    return inspect.isfunction(value) and _MARK in value.__dict__


def define(function: Callable[..., object]) -> CommandDefinition:
    """Reads the definition off a function.

    Raises:
        Invalid: it is no command, or not complete; the sentence says what is missing.
    """
    declared = getattr(function, _MARK, None)
    if not isinstance(declared, _Declared):
        raise Invalid(f"{getattr(function, '__name__', function)!r} is no command: put @command above it.")
    description = _first_paragraph(function)
    _check_texts(declared, description)
    hints = get_type_hints(function, include_extras=True)
    _check_result(declared, hints.get("return"))
    return CommandDefinition(
        name=declared.name,
        title=declared.title,
        description=description,
        for_model=declared.for_model,
        severity=declared.severity,
        destructive=declared.destructive,
        returns=declared.returns,
        example=declared.example,
        batch=declared.batch,
        bodies=(_form(declared.name, function, hints),),
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


def _form(name: str, function: Callable[..., object], hints: Mapping[str, Any]) -> Form:
    declared = list(inspect.signature(function).parameters.values())
    if not declared or hints.get(declared[0].name) is not Context:
        raise Invalid(f"The first parameter of the command {name} must be ctx: Context.")
    fields: dict[str, Any] = {}
    for each in declared[1:]:
        if each.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise Invalid(f"The parameter {each.name} of the command {name} must be an ordinary one.")
        default = ... if each.default is inspect.Parameter.empty else each.default
        fields[each.name] = (hints[each.name], Field(default, alias=to_camel(each.name)))
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)
    arguments = create_model(f"Arguments of {name}", __config__=config, **fields)
    schemas = arguments.model_json_schema(by_alias=True)
    properties = schemas.get("properties", {})
    parameters = tuple(
        _parameter(name, python, hints[python], info, _simple(properties[info.alias], schemas.get("$defs", {})))
        for python, info in arguments.model_fields.items()
    )
    optional = False
    for parameter in parameters:
        if parameter.required and optional:
            raise Invalid(f"The command {name}: {parameter.name} is needed, so it stands before the optional ones.")
        optional = optional or not parameter.required
    if len({parameter.name.casefold() for parameter in parameters}) < len(parameters):
        raise Invalid(f"The command {name} has two parameters of one name.")
    return Form(parameters, function, arguments)


def _parameter(name: str, python: str, hint: object, info: Any, schema: dict[str, Any]) -> Parameter:
    marks = [mark for mark in _flat(hint) if isinstance(mark, Param)]
    if not marks or not marks[-1].description.strip():
        raise Invalid(f"The parameter {python} of the command {name} lacks a description: mark it with Param.")
    mark = marks[-1]
    kind = next((each.names for each in reversed(marks) if each.names), "")
    allowed = tuple(str(each) for each in schema.get("enum", ()))
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
        type=kind or ("choice" if allowed else _TYPES.get(str(schema.get("type")), "text")),
        required=required,
        default=default,
        allowed=allowed,
        description=mark.description,
        for_model=for_model,
        names=kind,
        schema=shown,
        longest=longest,
    )


_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "array": "list"}


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
