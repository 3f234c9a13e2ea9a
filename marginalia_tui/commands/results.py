"""What commands answer: typed values, written as JSON for models and scripts.

Fields are camelCase outside. A field that holds an item is marked with the letter of its kind; whoever writes the
JSON gives the function that names items (an agent reads `h:m17`, a script the uuid), so that a command knows
nothing of handles.
"""

import json
import types
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


@dataclass(frozen=True, slots=True)
class HandleMark:
    """Marks a field (or the elements of a list) as the uuid of an item; `letter` is that of its kind."""

    letter: str


@dataclass(frozen=True, slots=True)
class ProseMark:
    """Marks a field as prose: shown as a block of its own."""


PartHandle = Annotated[str, HandleMark("m")]
LorebookHandle = Annotated[str, HandleMark("l")]
EntryHandle = Annotated[str, HandleMark("e")]
SummaryHandle = Annotated[str, HandleMark("s")]
AnnotationHandle = Annotated[str, HandleMark("a")]
FolderHandle = Annotated[str, HandleMark("f")]
BookHandle = Annotated[str, HandleMark("b")]
Prose = Annotated[str, ProseMark()]

Naming = Callable[[str, str], str]
"""(letter of the kind, uuid) -> what the reader calls the item."""


class Result(BaseModel):
    """The base of every answer. Lists in it hold results or plain values."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def sentence(self) -> str:
        """The answer in a sentence for a person; empty when the fields say it."""
        return ""

    def untold(self) -> frozenset[str]:
        """The fields that a person is not shown, since the sentence or another field says it."""
        return frozenset()


class Told(Result):
    """An answer whose sentence says all of it."""

    def untold(self) -> frozenset[str]:
        """Each field."""
        return frozenset(type(self).model_fields)


def by_uuid(letter: str, uuid: str) -> str:
    """The naming for scripts and tests: the uuid itself."""
    return uuid


@dataclass(frozen=True, slots=True)
class ResultField:
    """One field of a result."""

    name: str
    alias: str
    letter: str
    """The kind of item that it holds, or empty."""
    bulk: bool
    """Whether it is prose or a list of rows."""
    prose: bool


@cache
def result_fields(cls: type[Result]) -> tuple[ResultField, ...]:
    """The fields of a result: its own, those of its base, then rows and prose."""
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for name, info in cls.model_fields.items():
        marks = list(_marks(hints[name]))
        letter = next((mark.letter for mark in marks if isinstance(mark, HandleMark)), "")
        prose = any(isinstance(mark, ProseMark) for mark in marks)
        bulk = prose or _holds_rows(hints[name])
        found.append(ResultField(name, info.alias or name, letter, bulk, prose))
    return tuple(sorted(found, key=lambda each: (each.bulk, each.name not in cls.__annotations__)))


def to_data(result: Result, name: Naming = by_uuid) -> dict[str, Any]:
    """The result as JSON values, items named by `name`; what is None is left out."""
    data = {}
    for each in result_fields(type(result)):
        value = getattr(result, each.name)
        if value is not None:
            data[each.alias] = _plain(value, each.letter, name)
    return data


def to_json(result: Result, name: Naming = by_uuid) -> str:
    """The result as JSON text, items named by `name`."""
    return json.dumps(to_data(result, name), ensure_ascii=False, allow_nan=False)


def _plain(value: object, letter: str, name: Naming) -> Any:
    if isinstance(value, Result):
        return to_data(value, name)
    if isinstance(value, list | tuple):
        return [_plain(each, letter, name) for each in value]
    if isinstance(value, Enum):
        return value.value
    if letter and isinstance(value, str):
        return name(letter, value)
    return value


def _holds_rows(hint: object) -> bool:
    return get_origin(hint) in (list, tuple) and any(
        isinstance(each, type) and issubclass(each, Result) for each in get_args(hint)
    )


def _marks(hint: object) -> list[object]:
    """The marks of an annotation, those of its union members and elements included."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *marks = get_args(hint)
        return [*marks, *_marks(inner)]
    if origin in (Union, types.UnionType, list, tuple):
        return [mark for each in get_args(hint) for mark in _marks(each)]
    return []
