"""The items of a book's world, as values.

An item is a frozen dataclass. Each of its fields says in its annotation what it is: AUTHORED (in the
state, merged), RUN_LOCAL (in the state, never merged), DERIVED (computed from the rest) or VIEW (where
the reader stands); the last two are outside of state, journal and lock. A new kind of item is a new
dataclass here, a table in `store.tables` and a migration: copies, restores, history and reviews follow.
"""

from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints


class Role(Enum):
    """What a field is to the journal and the merge."""

    AUTHORED = "authored"
    RUN_LOCAL = "run_local"
    DERIVED = "derived"
    VIEW = "view"


class Shape(Enum):
    """How a field is stored, compared and shown."""

    STRING = "string"
    """One line or a short text, in the row."""
    LONG = "long"
    """A long text, stored once by its hash."""
    NUMBER = "number"
    REF = "ref"
    """The uuid of another item of the same space, or None."""
    ATTRIBUTES = "attributes"
    """A JSON object by key; each value is stored once by its hash."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The mark in the annotation of a field."""

    role: Role
    shape: Shape
    label: str = ""
    """The word that a person reads, such as `point of view`."""


@dataclass(frozen=True, slots=True)
class ItemField:
    """One field of a kind, read from its annotation."""

    name: str
    role: Role
    shape: Shape
    label: str
    default: object

    @property
    def in_state(self) -> bool:
        """Whether the field is part of the canonical state."""
        return self.role in (Role.AUTHORED, Role.RUN_LOCAL)


def _authored(shape: Shape, label: str = "") -> Spec:
    return Spec(Role.AUTHORED, shape, label)


Json = None | bool | int | float | str | list[Any] | dict[str, Any]
"""A value of an attribute: anything that JSON can write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A book: a tree of parts and what holds for the whole; `active_leaf` ends the branch that is read."""

    KIND: ClassVar[str] = "book"
    LETTER: ClassVar[str] = "b"

    uuid: str
    title: Annotated[str, _authored(Shape.STRING, "title")]
    author: Annotated[str, _authored(Shape.STRING, "author")] = ""
    description: Annotated[str, _authored(Shape.STRING, "description")] = ""
    language: Annotated[str, _authored(Shape.STRING, "language")] = "en"
    pov: Annotated[str, _authored(Shape.STRING, "point of view")] = ""
    tense: Annotated[str, _authored(Shape.STRING, "tense")] = ""
    style: Annotated[str, _authored(Shape.STRING, "style")] = ""
    active_leaf: Annotated[str | None, _authored(Shape.REF, "active branch")] = None
    deleted: Annotated[int | None, _authored(Shape.NUMBER, "in the trash since")] = None
    """Microseconds since 1970 when it went to the trash; None while it stands in the library."""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    """Microseconds since 1970."""
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)
    model: Annotated[str | None, Spec(Role.RUN_LOCAL, Shape.STRING, "model")] = None
    opened: Annotated[int | None, Spec(Role.VIEW, Shape.NUMBER, "last opened")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a book, a node of its tree. Siblings are swipes of one another, ordered by `created`."""

    KIND: ClassVar[str] = "part"
    LETTER: ClassVar[str] = "m"

    uuid: str
    book: Annotated[str, _authored(Shape.REF, "book")]
    parent: Annotated[str | None, _authored(Shape.REF, "place")] = None
    """The part it follows; None for the first part of the book."""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    """Microseconds since 1970; siblings stand in this order, never two with the same in one book."""
    title: Annotated[str, _authored(Shape.STRING, "title")] = ""
    text: Annotated[str, _authored(Shape.LONG, "text")] = ""
    instructions: Annotated[str, _authored(Shape.STRING, "instructions")] = ""
    scene: Annotated[str, _authored(Shape.STRING, "scene setting")] = ""
    pov: Annotated[str, _authored(Shape.STRING, "point of view")] = ""
    present: Annotated[str, _authored(Shape.STRING, "present characters")] = ""
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)
    words: Annotated[int, Spec(Role.DERIVED, Shape.NUMBER, "words")] = 0
    chars: Annotated[int, Spec(Role.DERIVED, Shape.NUMBER, "characters")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan that an agent keeps while it works, an item of the copy so that a restore takes it back."""

    KIND: ClassVar[str] = "plan"
    LETTER: ClassVar[str] = "p"

    uuid: str
    """The uuid of the run."""
    book: Annotated[str, Spec(Role.RUN_LOCAL, Shape.REF, "book")]
    steps: Annotated[str, Spec(Role.RUN_LOCAL, Shape.STRING, "steps")] = "[]"
    """JSON: a list of objects with `step` and `status`."""


Item = Book | Part | Plan

KINDS: dict[str, type[Book] | type[Part] | type[Plan]] = {Book.KIND: Book, Part.KIND: Part, Plan.KIND: Plan}
"""Kind name -> class, in the order in which a space writes them (what is referred to first)."""


@cache
def item_fields(kind: str) -> tuple[ItemField, ...]:
    """The fields of a kind, `uuid` left out, in the order of the class."""
    cls = KINDS[kind]
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for each in fields(cls):
        hint = hints[each.name]
        if get_origin(hint) is not Annotated:
            continue
        spec = next(mark for mark in get_args(hint) if isinstance(mark, Spec))
        default: object = {} if spec.shape is Shape.ATTRIBUTES else each.default
        found.append(ItemField(each.name, spec.role, spec.shape, spec.label or each.name, default))
    return tuple(found)


@cache
def state_fields(kind: str) -> tuple[ItemField, ...]:
    """The fields that make up the canonical state of a kind."""
    return tuple(each for each in item_fields(kind) if each.in_state)
