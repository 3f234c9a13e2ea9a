"""What is known of a command: its parameters, its forms, what it does to the data.

Made by `declare.define` from the functions of a suite, and read by everybody: the dispatcher, the bar, help, the
tools of an agent. Outside, a parameter is camelCase (`maxHits`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel


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


class Work(StrEnum):
    """How a command works, which decides on what thread it runs and how an agent may call it."""

    SHORT = "short"
    """At once: on the thread of its caller."""
    LONG = "long"
    """It may take long (a whole library, a file): on a thread of its own."""
    MODEL = "model"
    """It asks a model: on a thread of its own, and an agent calls it alone in an answer."""


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
    takes: str
    """What its values are: `text`, `integer`, `number`, `boolean`, `choice`, `date`, `list`, `any`."""
    type: str
    """The same, or the kind of thing that it names."""
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
    def field(self) -> str:
        """Its name in the model that checks arguments: none of pydantic's own begins so."""
        return field_of(self.python)

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
        what = "a text: " + self.description if self.names and self.takes == "text" else _FITS[self.takes]
        return what + bounds

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


_FITS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "date": "a date such as 2026-03-14",
    "list": "a list",
    "any": "anything",
}


def field_of(python: str) -> str:
    """The field of a parameter in the model that checks arguments."""
    return f"given_{python}"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a form takes."""

    parameters: tuple[Parameter, ...]
    arguments: type[BaseModel]
    """The model that checks arguments."""
    rest: Parameter | None = None
    """What stands for any number of further arguments, of a form that takes anything."""


@dataclass(frozen=True)
class Form:
    """One way to call a command: a signature and the function behind it.

    What it takes is read when it is first asked for: making the model that checks arguments takes a while, and of a
    hundred commands a program that starts calls one.
    """

    function: Callable[..., Any]
    description: str
    """What this form does; the first one's is that of the command."""
    takes: int
    """How many parameters it has, that for any number of further arguments included."""
    read: Callable[[], Shape] = field(repr=False, compare=False)
    """Reads what it takes.

    Raises:
        Invalid: the signature is not that of a command.
    """

    @cached_property
    def _shape(self) -> Shape:
        return self.read()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it takes, in order; without what stands for any number of further arguments."""
        return self._shape.parameters

    @property
    def arguments(self) -> type[BaseModel]:
        """The model that checks arguments."""
        return self._shape.arguments

    @property
    def rest(self) -> Parameter | None:
        """What stands for any number of further arguments, of a form that takes anything."""
        return self._shape.rest

    @property
    def signature(self) -> tuple[str, ...]:
        """The types that it takes: two forms of a command differ in them."""
        return ("...",) if self.rest else tuple(each.type for each in self.parameters)

    def parameter_at(self, place: int) -> Parameter | None:
        """What the argument at a place is; None behind the last."""
        return self.parameters[place] if place < len(self.parameters) else self.rest

    def usage(self, name: str) -> str:
        """The form as a line: `/name <needed> [optional]`."""
        words = [f"<{each.name}>" if each.required else f"[{each.name}]" for each in self.parameters]
        return " ".join([f"/{name}", *words, *([f"[{self.rest.name} ...]"] if self.rest else [])])


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
    work: Work
    forms: tuple[Form, ...]
    """In the order in which they were listed, the first first."""

    @property
    def read_only(self) -> bool:
        """Whether it never writes."""
        return self.severity is Severity.READ

    @property
    def long(self) -> bool:
        """Whether it is run on a thread of its own."""
        return self.work is not Work.SHORT

    @property
    def single(self) -> bool:
        """Whether an agent calls it alone in an answer."""
        return self.work is Work.MODEL

    @property
    def for_agents(self) -> bool:
        """Whether an agent can be given it."""
        return bool(self.for_model)

    @property
    def takes_something(self) -> bool:
        """Whether a form of it has a parameter."""
        return any(form.takes for form in self.forms)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of all forms, each once."""
        found: dict[str, Parameter] = {}
        for form in self.forms:
            for each in (*form.parameters, *([form.rest] if form.rest else [])):
                found.setdefault(each.name, each)
        return tuple(found.values())

    @property
    def usage(self) -> str:
        """The forms as lines."""
        return "\n".join(form.usage(self.name) for form in self.forms)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, for a model: the union of the forms that name them."""
        forms = [form.parameters for form in self.forms if form.rest is None]
        required = set.intersection(*({each.name for each in form if each.required} for form in forms))
        named = {each.name: each for form in reversed(forms) for each in form}
        return {
            "type": "object",
            "properties": {each.name: dict(named[each.name].schema) for each in self.parameters if each.name in named},
            "required": [each.name for each in self.parameters if each.name in required],
            "additionalProperties": False,
        }

    def to_json(self) -> dict[str, Any]:
        """The command as the `commands` verb shows it."""
        return {
            "name": self.name,
            "human_name": self.title,
            "description": self.description,
            "forms": [
                [each.to_json() for each in (*form.parameters, *([form.rest] if form.rest else []))]
                for form in self.forms
            ],
            "returns": self.returns,
            "example": self.example,
            "severity": self.severity.name,
            "destructive": self.destructive,
            "read_only": self.read_only,
            "batch": "single" if self.single else "any",
            "async": self.long,
            "for_agents": self.for_agents,
        }


def parameter_names(names: Iterable[str]) -> str:
    """Some parameters as they are called outside: `text, lookBack`."""
    return ", ".join(to_camel(name) for name in names)
