"""What a person sees of a plan: titles, the order of the book, and, when asked for, texts and places."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import BindParameter, bindparam, case, func, select

from marginalia_tui.agent.merge.fields import TREE_KIND
from marginalia_tui.agent.merge.model import FieldChange, FieldType, Hashes, MergeItem, MergePlan, Value
from marginalia_tui.agent.merge.sides import Sides
from marginalia_tui.agent.merge.text3 import merge_words
from marginalia_tui.domain.items import KINDS, Book, Shape, item_fields
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks, get_texts
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx

FIRST_WORDS = 60
"""Characters of a text that stand for a title."""
NO_TITLE = "(empty part)"

_KIND_ORDER = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class _Name:
    title: str
    created: int


def name_and_sort(
    tx: ReadTx, space_id: int, sides: Sides, items: Iterable[MergeItem]
) -> tuple[list[MergeItem], dict[str, str]]:
    """Gives items their titles and the order of the book, near enough without reading the book.

    Parts are old or follow something old: they stand in the order in which the old ones were written, which for an
    imported or written book is the order of its chapters.

    Returns:
        The items, and the names of all parts that they mention.
    """
    items = list(items)
    anchors = {item.uuid: _anchor(sides, item.uuid) for item in items if item.kind == TREE_KIND}
    mentioned = {uuid for item in items if item.kind == TREE_KIND for uuid in (item.uuid, *item.children)}
    mentioned.update(uuid for uuid, _ in anchors.values() if uuid is not None)
    for item in items:
        for each in item.fields:
            if each.type is FieldType.REF:
                mentioned.update(str(value) for value in (each.base, each.agent, each.book) if value is not None)
    names = _read_names(tx, space_id, mentioned)
    titles = {uuid: name.title for uuid, name in names.items()}
    titles |= _other_names(tx, space_id, sides, titles)

    def order(item: MergeItem) -> tuple[int, int, int, int, bool]:
        anchor, depth = anchors.get(item.uuid, (None, 0))
        created = names[anchor].created if anchor in names else 0
        own = names[item.uuid].created if item.uuid in names else 0
        return _KIND_ORDER[item.kind], created, depth, own, item.is_move

    named = []
    for item in items:
        children = tuple(sorted(item.children, key=lambda child: (names[child].created, child)))
        named.append(replace(item, title=titles.get(item.uuid, ""), children=children))
    return sorted(named, key=order), titles


def _other_names(tx: ReadTx, space_id: int, sides: Sides, known: Mapping[str, str]) -> dict[str, str]:
    """What the items that are no parts are called, and those that they name: a title, a name, or the first words."""
    found: dict[str, str] = {}
    texts: dict[str, bytes] = {}
    named: dict[str, set[str]] = {}
    for one in sides.items:
        cells = one.book or one.base or one.agent
        if one.kind == TREE_KIND or cells is None:
            continue
        found[one.uuid] = str(cells.get("title") or cells.get("name") or "")
        if not found[one.uuid] and cells.get("text") is not None:
            texts[one.uuid] = cells["text"]
        for each in item_fields(one.kind):
            if each.to not in ("", TREE_KIND):
                sides_of = [side[each.name] for side in (one.base, one.agent, one.book) if side is not None]
                for value in sides_of:
                    uuids = json.loads(value or "[]") if each.shape is Shape.SET else [value]
                    named.setdefault(each.to, set()).update(uuid for uuid in uuids if uuid and uuid not in known)
    bodies = get_texts(tx.connection, texts.values())
    found.update((uuid, _first_words(bodies[key])) for uuid, key in texts.items())
    for space in (LIBRARY, space_id):
        for kind, uuids in named.items():
            # A kind is one of the classes that `get_many` is written for; which one is known only when it runs.
            for uuid, item in tx.space(space).get_many(cast(type[Book], KINDS[kind]), uuids - found.keys()).items():
                found[uuid] = (
                    getattr(item, "title", "")
                    or getattr(item, "name", "")
                    or _first_words(str(getattr(item, "text", "")))
                )
    return found


def _anchor(sides: Sides, part: str) -> tuple[str | None, int]:
    """The nearest part above that is not new, itself perhaps, and how many new ones stand between."""
    trees = sides.trees
    if trees.has("base", part) or not trees.has("agent", part):
        return part, 0
    passed, reached = trees.above("agent", part, lambda each: trees.has("base", each))
    return reached, len(passed) + 1


def _read_names(tx: ReadTx, space_id: int, uuids: Iterable[str]) -> dict[str, _Name]:
    """A part is called as the author knows it; the copy is asked for those that only it has."""
    names: dict[str, _Name] = {}
    missing = list(uuids)
    for space in (LIBRARY, space_id):
        for some in chunks(missing):
            for uuid, title, created, start in tx.connection.execute(_NAMES, {"space": space, "some": some}).all():
                names[uuid] = _Name(title.strip() or _first_words(start or ""), created)
        missing = [uuid for uuid in missing if uuid not in names]
    return names


# Made once: to build a statement takes longer than to run it. The text is read only where there is no title.
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_part, _text = tables.part.c, tables.text.c
_START = select(func.substr(_text.body, 1, 4 * FIRST_WORDS)).where(_text.hash == _part.text).scalar_subquery()
_NAMES = select(_part.uuid, _part.title, _part.created, case((func.trim(_part.title) == "", _START))).where(
    _part.space_id == bindparam("space"), _part.uuid.in_(_SOME)
)


def _first_words(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        return NO_TITLE
    if len(line) <= FIRST_WORDS:
        return line
    cut = line[:FIRST_WORDS]
    return (cut[: cut.rfind(" ")] if " " in cut else cut) + "…"


def load_texts(tx: ReadTx, items: Iterable[MergeItem]) -> tuple[MergeItem, ...]:
    """Items with their long texts and data filled in, and a proposal where both sides' words fit together."""
    items = tuple(items)
    bodies = get_texts(
        tx.connection,
        {
            key
            for item in items
            for each in item.fields
            if each.hashes is not None
            for key in (each.hashes.base, each.hashes.agent, each.hashes.book)
            if key is not None
        },
    )
    return tuple(item.with_fields(tuple(_loaded(each, bodies) for each in item.fields)) for item in items)


def _loaded(each: FieldChange, bodies: Mapping[bytes, str]) -> FieldChange:
    if each.hashes is None:
        return each
    base, agent, book = _bodies(each, each.hashes, bodies)
    proposal = each.proposal
    if each.conflict and each.type is FieldType.TEXT and None not in (base, agent, book):
        proposal = merge_words(str(base), str(agent), str(book)).text
    return replace(each, base=base, agent=agent, book=book, proposal=proposal, hashes=None)


def _bodies(each: FieldChange, hashes: Hashes, bodies: Mapping[bytes, str]) -> tuple[Value, Value, Value]:
    return (
        each.base if hashes.base is None else bodies[hashes.base],
        each.agent if hashes.agent is None else bodies[hashes.agent],
        each.book if hashes.book is None else bodies[hashes.book],
    )


def load_places(tx: ReadTx, plan: MergePlan) -> MergePlan:
    """The plan with the place of each part on its branch. It reads both outlines: for a screen, not for an apply."""
    places = _depths(tx, plan.space_id, plan.book) | _depths(tx, LIBRARY, plan.book)
    return replace(plan, items=tuple(replace(item, place=places.get(item.uuid)) for item in plan.items))


def _depths(tx: ReadTx, space_id: int, book: str) -> dict[str, int]:
    tree = StoryTree(tx.space(space_id).outline(book))
    places: dict[str, int] = {}
    waiting = [(first, 1) for first in tree.children(None)]
    while waiting:
        part, place = waiting.pop()
        places[part] = place
        waiting.extend((child, place + 1) for child in tree.children(part))
    return places
