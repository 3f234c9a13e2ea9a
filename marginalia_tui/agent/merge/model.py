"""The values of a merge: what an agent changed, what the author picks of it, what was applied.

Nothing here knows the database. A plan holds no long text until `shown.load_texts` fills it in.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from marginalia_tui.domain.images import image_words
from marginalia_tui.domain.items import Image

Change = Literal["added", "changed", "deleted"]
Side = Literal["agent", "book"]
Value = str | int | None
"""A value of a field: JSON and images are text, a set a line for each value; None is nothing there."""

PARENT = "parent"
"""The field that says where a part stands; only operations of the structure have it."""


class FieldType(StrEnum):
    """How the values of a field are read and shown."""

    TEXT = "text"
    STRING = "string"
    NUMBER = "number"
    REF = "ref"
    JSON = "json"
    FLAG = "flag"
    SET = "set"
    """One value on each line."""
    IMAGES = "images"

    @property
    def editable(self) -> bool:
        """Whether the author may write a value of their own."""
        return self in (FieldType.TEXT, FieldType.STRING, FieldType.JSON, FieldType.SET)


@dataclass(frozen=True, slots=True)
class Hashes:
    """Where the three values of a long text or of JSON are stored; None is an empty one."""

    base: bytes | None
    agent: bytes | None
    book: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field: as it was when the run began, as the agent has it, as the book has it now."""

    name: str
    label: str
    type: FieldType
    base: Value = None
    agent: Value = None
    book: Value = None
    conflict: bool = False
    """Both sides changed it, to different values: it is applied only when it is named."""
    note: str = ""
    """What to know of it, a sentence."""
    problem: str | None = None
    """Why this field can't be applied, a sentence."""
    depends_on: tuple[str, ...] = ()
    """Ids of the items without which this field can't be applied."""
    proposal: str | None = None
    """Both sides' changes in one. A text that is no conflict is applied so; in a conflict it is an offer."""
    hashes: Hashes | None = None
    """Where the values are as long as they are not loaded."""

    @property
    def loaded(self) -> bool:
        """Whether `base`, `agent` and `book` are there."""
        return self.hashes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeItem:
    """One pick: an item that was added, changed or deleted, or a part that was moved.

    The id is `<kind>:<uuid>`, or `move:<uuid>` for a part that stands elsewhere, which is an operation of its own
    beside what was changed inside the part.
    """

    id: str
    kind: str
    uuid: str
    change: Change
    fields: tuple[FieldChange, ...] = ()
    title: str = ""
    """The title of a part or book, else the first words."""
    place: int | None = None
    """The place on its branch from 1, when `shown.load_places` filled it in."""
    problem: str | None = None
    """Why it can't be applied at all, a sentence."""
    depends_on: tuple[str, ...] = ()
    """Ids of the items without which this one can't be applied."""
    children: tuple[str, ...] = ()
    """The parts that come to follow an added part, or that move up from a deleted one."""
    version: str = ""
    """Names the two states that were compared; it changes when either side is changed."""

    @property
    def is_move(self) -> bool:
        """Whether it is the move of a part."""
        return self.id.startswith("move:")

    @property
    def conflicts(self) -> tuple[FieldChange, ...]:
        """The fields that both sides changed to different values."""
        return tuple(each for each in self.fields if each.conflict)

    def field(self, name: str) -> FieldChange | None:
        """The field of that name."""
        return next((each for each in self.fields if each.name == name), None)

    def with_fields(self, fields: tuple[FieldChange, ...]) -> "MergeItem":
        """The item with other fields."""
        return replace(self, fields=fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """All that an agent changed and the book does not have yet, in the order of the book."""

    book: str
    space_id: int
    base: int
    """The position of the library when the copy was made."""
    position: int
    """The position at which the plan was made."""
    items: tuple[MergeItem, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """Uuid -> what a person reads for it, for the parts that are named by the items."""

    def item(self, item_id: str) -> MergeItem | None:
        """The item of that id."""
        return next((each for each in self.items if each.id == item_id), None)

    @property
    def conflicts(self) -> tuple[tuple[str, str], ...]:
        """Item and field of every conflict."""
        return tuple((item.id, each.name) for item in self.items for each in item.conflicts)


def value_words(names: Mapping[str, str], each: FieldChange, value: object) -> str:
    """A value of a field as a person reads it; `names` are those of the items that are named."""
    if value is None:
        return ""
    match each.type:
        case FieldType.REF:
            return names.get(str(value), str(value))
        case FieldType.SET:
            return "\n".join(names.get(line, line) for line in str(value).splitlines())
        case FieldType.FLAG:
            return "yes" if value else "no"
        case FieldType.IMAGES:
            return "\n".join(image_words(Image(**each)) for each in json.loads(str(value or "[]")))
    return str(value)


def split_pick(pick: str) -> tuple[str, str | None]:
    """The item and the field that `part:<uuid>:<field>` names; without a field the whole item."""
    kind, _, rest = pick.partition(":")
    uuid, colon, name = rest.partition(":")
    return f"{kind}:{uuid}", name if colon else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picks:
    """What the author takes over.

    `items` names the picked items; None stands for all fields, a set for some (only of changed items: what is
    added, deleted or moved is taken whole). `take` decides conflicts by (item, field); every conflict of an added,
    deleted or moved item must be named. `texts` are values that the author wrote, JSON for the data of an item.
    `versions` are those of the items as they were reviewed: what was decided about another version is not applied.
    """

    items: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    take: Mapping[tuple[str, str], Side] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_plan(cls, plan: MergePlan, take: Side | None = None) -> "Picks":
        """Everything that can be applied; conflicts go to `take`, or stay open."""
        return cls(
            items={item.id: None for item in plan.items if item.problem is None},
            take={} if take is None else dict.fromkeys(plan.conflicts, take),
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was picked and not applied. `field` is None for a whole item."""

    id: str
    field: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of the picks."""

    applied: tuple[str, ...]
    """Ids of the items of which something was taken over."""
    skipped: tuple[Skipped, ...]
    conflicts: tuple[tuple[str, str], ...]
    """Item and field of each conflict that was picked and not decided: untouched."""
    changed: tuple[str, ...]
    """Uuids of everything that was written, the parts that only moved along too."""
