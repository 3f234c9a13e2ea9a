"""Field by field: what one item is in the base, with the agent and in the book. Pure rules on cells."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import orjson

from marginalia_tui.agent.merge.images3 import merge_images
from marginalia_tui.agent.merge.model import PARENT, FieldChange, FieldType, Hashes, Value
from marginalia_tui.domain.items import OWNED, ItemField, Role, Shape, item_fields
from marginalia_tui.store.content import Cells

NEVER = frozenset({"book", "created"})
"""Authored fields that are given once: no difference of them is a change."""
TREE_KIND = "part"
"""The kind whose `parent` is merged as operations of the structure."""

_TYPES = {
    Shape.STRING: FieldType.STRING,
    Shape.LONG: FieldType.TEXT,
    Shape.NUMBER: FieldType.NUMBER,
    Shape.REF: FieldType.REF,
    Shape.FLAG: FieldType.FLAG,
    Shape.SET: FieldType.SET,
    Shape.ATTRIBUTES: FieldType.JSON,
    Shape.IMAGES: FieldType.IMAGES,
}
_STORED = (Shape.LONG, Shape.ATTRIBUTES)
"""Shapes whose cells are hashes of what is stored elsewhere."""
_LISTS = (Shape.SET, Shape.IMAGES)
"""Shapes of which none is an empty text."""


@cache
def merged_fields(kind: str) -> tuple[ItemField, ...]:
    """The fields of a kind that are merged field by field."""
    return tuple(
        each
        for each in item_fields(kind)
        if each.role is Role.AUTHORED and each.name not in NEVER and (kind, each.name) != (TREE_KIND, PARENT)
    )


@cache
def owners(kind: str) -> tuple[ItemField, ...]:
    """The fields that say on what an item stands: without that it can't be."""
    return tuple(each for each in item_fields(kind) if kind in OWNED.get(each.to, ()) and each.name == each.to)


@cache
def is_merged(kind: str) -> bool:
    """Whether a kind has anything that is merged; the plan of a run has not."""
    return any(each.role is Role.AUTHORED for each in item_fields(kind))


def changed_fields(kind: str, base: Cells | None, agent: Cells, book: Cells) -> list[FieldChange]:
    """What the agent changed and the book does not have yet. None as base: both sides made the item."""
    found = []
    for each in merged_fields(kind):
        theirs = agent[each.name]
        if theirs == book[each.name] or (base is not None and theirs == base[each.name]):
            continue
        for name, label, three in _values(each, base, agent, book):
            before, theirs, ours = three
            if theirs == ours or (base is not None and theirs == before):
                continue
            conflict = base is None or ours != before
            there = (base is not None, True, True)
            merged, clean = _merged(each, three)
            if merged is None or not clean:
                found.append(_change(each, name, label, three, there, conflict))
            elif merged != ours:
                found.append(replace(_change(each, name, label, three, there, False), proposal=merged))
    names = {each.name for each in found}
    return [each for each in found if _leader(kind, each.name) not in names]


def _merged(each: ItemField, three: "_Three") -> tuple[str | None, bool]:
    """Both sides' changes of a field in one, and whether that is clean; None where a field is taken from one side."""
    if each.shape is Shape.SET:
        return merge_sets(*three), True
    return merge_images(*three) if each.shape is Shape.IMAGES else (None, False)


@cache
def followers(kind: str, name: str) -> tuple[str, ...]:
    """The fields that are taken over with a field."""
    return tuple(each.name for each in item_fields(kind) if each.follows == name)


@cache
def _leader(kind: str, name: str) -> str:
    """The field with which a field is taken over; empty when it stands for itself."""
    return next((each.follows for each in item_fields(kind) if each.name == name), "")


def merge_sets(base: object, agent: object, book: object) -> str:
    """What the book has, with what the agent put in and without what it took out; a value on each line."""
    before, theirs, ours = (set(str(each or "").splitlines()) for each in (base, agent, book))
    return "\n".join(sorted((ours - (before - theirs)) | (theirs - before)))


def added_fields(kind: str, agent: Cells) -> list[FieldChange]:
    """What a new item holds."""
    return [
        _change(each, name, label, three, (False, True, False), False)
        for each in merged_fields(kind)
        for name, label, three in _values(each, None, agent, None)
        if three[1] not in (None, _default(each)) and not each.follows
    ]


def deleted_fields(kind: str, base: Cells | None, book: Cells) -> list[FieldChange]:
    """What goes with a deleted item; what the author changed in it since is a conflict."""
    return [
        _change(each, name, label, three, (base is not None, False, True), three[0] != three[2])
        for each in merged_fields(kind)
        for name, label, three in _values(each, base, None, book)
        if (three[0] != three[2] or three[2] not in (None, _default(each))) and not each.follows
    ]


_Three = tuple[object, object, object]


def _values(
    each: ItemField, base: Cells | None, agent: Cells | None, book: Cells | None
) -> Iterable[tuple[str, str, _Three]]:
    sides = (base, agent, book)
    if each.shape is not Shape.ATTRIBUTES:
        values = [_default(each) if side is None else _plain(each, side[each.name]) for side in sides]
        yield each.name, each.label, (values[0], values[1], values[2])
        return
    keys = [orjson.loads(side[each.name]) if side and side[each.name] else {} for side in sides]
    for key in dict.fromkeys(key for side in keys for key in side):
        yield f"{each.name}.{key}", f"{each.label} {key}", (keys[0].get(key), keys[1].get(key), keys[2].get(key))


def _default(each: ItemField) -> object:
    return None if each.shape is Shape.LONG else "" if each.shape in _LISTS else each.default


def _plain(each: ItemField, cell: object) -> object:
    if each.shape is Shape.SET:
        return "\n".join(orjson.loads(str(cell or "[]")))
    return cell or "" if each.shape is Shape.IMAGES else cell


def _change(
    each: ItemField, name: str, label: str, three: _Three, there: tuple[bool, bool, bool], conflict: bool
) -> FieldChange:
    base, agent, book = (
        _as_value(each, value) if is_there else None for value, is_there in zip(three, there, strict=True)
    )
    return FieldChange(
        name=name,
        label=label,
        type=_TYPES[each.shape],
        base=base,
        agent=agent,
        book=book,
        conflict=conflict,
        hashes=Hashes(*(_as_hash(value) for value in three)) if each.shape in _STORED else None,
    )


def _as_value(each: ItemField, value: object) -> Value:
    if each.shape is Shape.ATTRIBUTES:
        return None
    if each.shape is Shape.LONG:
        return ""
    assert value is None or isinstance(value, str | int)
    return value


def _as_hash(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    assert isinstance(value, str)
    return bytes.fromhex(value)
