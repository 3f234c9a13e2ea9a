"""The items of a book's world, as values.

An item is a frozen dataclass. Each of its fields says in its annotation what it is: AUTHORED (in the
state, merged), RUN_LOCAL (in the state, never merged), DERIVED (computed from the rest) or VIEW (where
the reader stands); the last two are outside of state, journal and lock. A new kind of item is a new
dataclass here, a table in `store.tables` and a migration: copies, restores, history and reviews follow.
"""

from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints


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
    FLAG = "flag"
    """Yes or no."""
    SET = "set"
    """Short texts, each once, in the order of their characters: merged by what each side added and took out."""
    ATTRIBUTES = "attributes"
    """A JSON object by key; each value is stored once by its hash."""
    IMAGES = "images"
    """Images in the author's order, no two of one name; their bytes are stored once by their hash."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The mark in the annotation of a field."""

    role: Role
    shape: Shape
    label: str = ""
    """The word that a person reads, such as `point of view`."""
    to: str = ""
    """The kind of the item that a REF names."""
    follows: str = ""
    """The field with which this one is taken over, since one means nothing without the other."""


@dataclass(frozen=True, slots=True)
class ItemField:
    """One field of a kind, read from its annotation."""

    name: str
    role: Role
    shape: Shape
    label: str
    default: object
    to: str = ""
    follows: str = ""

    @property
    def in_state(self) -> bool:
        """Whether the field is part of the canonical state."""
        return self.role in (Role.AUTHORED, Role.RUN_LOCAL)


def _authored(shape: Shape, label: str = "", *, to: str = "", follows: str = "") -> Spec:
    return Spec(Role.AUTHORED, shape, label, to, follows)


Json = None | bool | int | float | str | list[Any] | dict[str, Any]
"""A value of an attribute: anything that JSON can write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture of an item. Its bytes are in the store under `hash`; what it is was read from them."""

    hash: str
    """SHA-256 of the bytes, as hex."""
    type: str
    """The media type, such as `image/png`."""
    name: str
    """How a text names it, `![words](name)`: one name of a file, never a path."""
    caption: str = ""
    width: int
    height: int
    """Pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of the library. What is empty in it, or in a book, is inherited from the folder above."""

    KIND: ClassVar[str] = "folder"
    LETTER: ClassVar[str] = "f"

    uuid: str
    name: Annotated[str, _authored(Shape.STRING, "name")]
    parent: Annotated[str | None, _authored(Shape.REF, "folder above", to="folder")] = None
    language: Annotated[str, _authored(Shape.STRING, "language")] = ""
    pov: Annotated[str, _authored(Shape.STRING, "point of view")] = ""
    tense: Annotated[str, _authored(Shape.STRING, "tense")] = ""
    style: Annotated[str, _authored(Shape.STRING, "style")] = ""
    prompts: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "prompt")] = field(default_factory=dict)
    """Name of a prompt (`domain.prompts`) -> its template."""
    model: Annotated[str, _authored(Shape.STRING, "model")] = ""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    """Microseconds since 1970; folders beside each other stand in the order of their names."""
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lorebook:
    """A book of facts: entries, and lorebooks below it that several may share. One deleted lies in the trash."""

    KIND: ClassVar[str] = "lorebook"
    LETTER: ClassVar[str] = "l"

    uuid: str
    name: Annotated[str, _authored(Shape.STRING, "name")]
    enabled: Annotated[bool, _authored(Shape.FLAG, "enabled")] = True
    scan_depth: Annotated[int, _authored(Shape.NUMBER, "scan depth")] = 0
    """Further passes in which what was found makes other entries active; that of the root counts."""
    tags: Annotated[tuple[str, ...], _authored(Shape.SET, "tags")] = ()
    subbooks: Annotated[tuple[str, ...], _authored(Shape.SET, "lorebooks below", to="lorebook")] = ()
    """Uuids; lorebooks beside each other stand in the order of their making."""
    deleted: Annotated[int | None, _authored(Shape.NUMBER, "in the trash since")] = None
    """Microseconds since 1970; its entries stay what they are."""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A fact of a lorebook, and when the model is told it."""

    KIND: ClassVar[str] = "entry"
    LETTER: ClassVar[str] = "e"

    uuid: str
    lorebook: Annotated[str, _authored(Shape.REF, "lorebook", to="lorebook")]
    name: Annotated[str, _authored(Shape.STRING, "name")] = ""
    text: Annotated[str, _authored(Shape.LONG, "text")] = ""
    """What the model is told, a template."""
    comment: Annotated[str, _authored(Shape.LONG, "comment")] = ""
    """The author's own note, which no model reads."""
    enabled: Annotated[bool, _authored(Shape.FLAG, "enabled")] = True
    constant: Annotated[bool, _authored(Shape.FLAG, "always active")] = False
    order: Annotated[int, _authored(Shape.NUMBER, "order")] = 100
    """Entries are told in this order, the older first."""
    filter: Annotated[str, _authored(Shape.STRING, "filter")] = ""
    """What must be found for it to be active; empty: nothing must."""
    mode: Annotated[str, _authored(Shape.STRING, "kind of filter")] = "text"
    """`text` (capitals or not, anywhere) or `regex`."""
    look_back: Annotated[int, _authored(Shape.NUMBER, "recent parts")] = 0
    """How many of the parts before the turn the filter is looked for in, beside the turn itself."""
    first: Annotated[int | None, _authored(Shape.NUMBER, "first part")] = None
    last: Annotated[int | None, _authored(Shape.NUMBER, "last part")] = None
    """The positions from 1 between which the turn must stand, both included."""
    tags: Annotated[tuple[str, ...], _authored(Shape.SET, "tags")] = ()
    """The book must have one of them, or of those of its lorebook, when there are any."""
    negative_tags: Annotated[tuple[str, ...], _authored(Shape.SET, "negative tags")] = ()
    """The book may have none of them."""
    insertion: Annotated[str, _authored(Shape.STRING, "insertion")] = "lore"
    """`lore` (in the block of lore) or `prompt` (before the prompt of the turn)."""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)


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
    """Empty: inherited from the folder."""
    pov: Annotated[str, _authored(Shape.STRING, "point of view")] = ""
    tense: Annotated[str, _authored(Shape.STRING, "tense")] = ""
    style: Annotated[str, _authored(Shape.STRING, "style")] = ""
    prompts: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "prompt")] = field(default_factory=dict)
    """Name of a prompt (`domain.prompts`) -> its template; those that are missing are inherited."""
    tags: Annotated[tuple[str, ...], _authored(Shape.SET, "tags")] = ()
    folder: Annotated[str | None, _authored(Shape.STRING, "folder")] = None
    """The uuid of a folder of the library: a working copy has no folders, and reads those of its original."""
    lorebook: Annotated[str | None, _authored(Shape.REF, "lorebook", to="lorebook")] = None
    active_leaf: Annotated[str | None, _authored(Shape.REF, "active branch", to="part")] = None
    history_limit: Annotated[int | None, _authored(Shape.NUMBER, "versions kept")] = None
    """Versions of a part that are listed; None: as the user's defaults say."""
    backup_changes: Annotated[int | None, _authored(Shape.NUMBER, "changes between backups")] = None
    backup_minutes: Annotated[int | None, _authored(Shape.NUMBER, "minutes between backups")] = None
    """A backup is made after so many of them; 0: not by that; None: as the user's defaults say."""
    cover: Annotated[tuple[Image, ...], _authored(Shape.IMAGES, "cover")] = ()
    """None or one, whose name is `cover`."""
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
    book: Annotated[str, _authored(Shape.REF, "book", to="book")]
    parent: Annotated[str | None, _authored(Shape.REF, "place", to="part")] = None
    """The part it follows; None for the first part of the book."""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    """Microseconds since 1970; siblings stand in this order, never two with the same in one book."""
    title: Annotated[str, _authored(Shape.STRING, "title")] = ""
    text: Annotated[str, _authored(Shape.LONG, "text")] = ""
    instructions: Annotated[str, _authored(Shape.STRING, "instructions")] = ""
    scene: Annotated[str, _authored(Shape.STRING, "scene setting")] = ""
    pov: Annotated[str, _authored(Shape.STRING, "point of view")] = ""
    present: Annotated[str, _authored(Shape.STRING, "present characters")] = ""
    model: Annotated[str, _authored(Shape.STRING, "written by")] = ""
    """The name of the model that wrote the text; empty when a person did."""
    images: Annotated[tuple[Image, ...], _authored(Shape.IMAGES, "images")] = ()
    """Those that the text names stand there, the others behind it."""
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)
    words: Annotated[int, Spec(Role.DERIVED, Shape.NUMBER, "words")] = 0
    chars: Annotated[int, Spec(Role.DERIVED, Shape.NUMBER, "characters")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a model is told instead of the parts of a block: from the part behind the block before up to `part`."""

    KIND: ClassVar[str] = "summary"
    LETTER: ClassVar[str] = "s"

    uuid: str
    book: Annotated[str, _authored(Shape.REF, "book", to="book")]
    part: Annotated[str, _authored(Shape.REF, "part", to="part")]
    """The newest part of the block."""
    text: Annotated[str, _authored(Shape.LONG, "text")] = ""
    covered: Annotated[str, _authored(Shape.STRING, "covered text", follows="text")] = ""
    """The hash of what it covers, when it was written: another one now, and it is outdated."""
    until: Annotated[str | None, _authored(Shape.REF, "reaches back to", to="summary", follows="text")] = None
    """Of a meta summary: the newest older summary that it does not take in; None: it reaches to the first part."""
    meta: Annotated[bool, _authored(Shape.FLAG, "meta summary")] = False
    under: Annotated[str | None, _authored(Shape.REF, "taken in by", to="summary")] = None
    """The meta summary on the same part that stands in its place."""
    model: Annotated[str, _authored(Shape.STRING, "written by")] = ""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A note on a passage of a part. Where the passage stands now follows from `basis` and the text as it is."""

    KIND: ClassVar[str] = "annotation"
    LETTER: ClassVar[str] = "a"

    uuid: str
    book: Annotated[str, _authored(Shape.REF, "book", to="book")]
    part: Annotated[str, _authored(Shape.REF, "part", to="part")]
    text: Annotated[str, _authored(Shape.LONG, "note")] = ""
    quote: Annotated[str, _authored(Shape.LONG, "passage")] = ""
    """The passage as it stood."""
    start: Annotated[int, _authored(Shape.NUMBER, "begin", follows="quote")] = 0
    end: Annotated[int, _authored(Shape.NUMBER, "end", follows="quote")] = 0
    """Where it stood in `basis`, in characters; equal: the note is on the whole part."""
    basis: Annotated[str, _authored(Shape.LONG, "text of the part", follows="quote")] = ""
    """The text of the part when the passage was marked; stored once with it."""
    type: Annotated[str, _authored(Shape.STRING, "type")] = "note"
    status: Annotated[str, _authored(Shape.STRING, "status")] = "open"
    """`open`, `done` or `dismissed`; whether it is orphaned follows from the text."""
    to_prompt: Annotated[bool, _authored(Shape.FLAG, "sent to the prompt")] = False
    source: Annotated[str, _authored(Shape.STRING, "source")] = "author"
    """`author`, `model` or `agent`."""
    model: Annotated[str, _authored(Shape.STRING, "written by")] = ""
    created: Annotated[int, _authored(Shape.NUMBER, "created")] = 0
    attributes: Annotated[dict[str, Json], _authored(Shape.ATTRIBUTES, "data")] = field(default_factory=dict)


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


Item = Folder | Lorebook | Entry | Book | Part | Summary | Annotation | Plan
ItemT = TypeVar("ItemT", Folder, Lorebook, Entry, Book, Part, Summary, Annotation, Plan)

KINDS: dict[str, type[Item]] = {
    cls.KIND: cls for cls in (Folder, Lorebook, Entry, Book, Part, Summary, Annotation, Plan)
}
"""Kind name -> class, in the order in which a space writes them (what is referred to first)."""

OWNED: dict[str, tuple[str, ...]] = {"part": ("summary", "annotation"), "lorebook": ("entry",)}
"""Kind -> the kinds whose items go with an item of it: each has a field of the name of the kind."""


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
        label = spec.label or each.name
        found.append(ItemField(each.name, spec.role, spec.shape, label, default, spec.to, spec.follows))
    return tuple(found)


@cache
def state_fields(kind: str) -> tuple[ItemField, ...]:
    """The fields that make up the canonical state of a kind."""
    return tuple(each for each in item_fields(kind) if each.in_state)
