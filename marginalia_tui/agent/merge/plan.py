"""The merge plan: what the agent changed that the book does not have yet.

Its cost follows the number of changes, not the size of the book; only where parts were really moved, the parents of
the book's parts are read to see circles. The plan holds no long text.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from marginalia_tui.agent.merge import fields, shown, sides, structure
from marginalia_tui.agent.merge.fields import TREE_KIND
from marginalia_tui.agent.merge.json3 import NO_MERGES, Gone, JsonMerge, merge_json
from marginalia_tui.agent.merge.model import PARENT, Change, FieldChange, FieldType, MergeItem, MergePlan
from marginalia_tui.agent.merge.sides import Sides, Touched
from marginalia_tui.agent.merge.structure import Operations, Picked
from marginalia_tui.domain.items import item_fields
from marginalia_tui.store.content import encode_json, get_texts
from marginalia_tui.store.store import ReadTx

log = logging.getLogger(__name__)

GONE = "The author deleted it meanwhile, so there is nothing left to change."
NAMED_GONE = "The {kind} that it names is not in the book any more."
CIRCLE = "Its new place now stands below it: moving it there would close a circle."
FOLLOWS_GONE = "The part that it follows was deleted from the book meanwhile; taken, it follows the part before that."


@dataclass(frozen=True, slots=True)
class Survey:
    """A plan with what it was made from: what an apply needs of it."""

    plan: MergePlan
    sides: Sides
    done: Operations
    children: dict[str, list[str]]
    """Each part that the agent deleted -> the parts that follow it in the book."""
    parents: dict[str, str | None]
    """The parents of the whole book, when anything was moved."""


def plan_merge(tx: ReadTx, space_id: int, merges: Mapping[str, JsonMerge] = NO_MERGES) -> MergePlan:
    """What an agent changed in its working copy, item by item, against the book as it is now.

    Args:
        tx: reads copy and library.
        space_id: of the copy.
        merges: key of the attributes -> how its data are merged, where that is not place by place.

    Raises:
        NotFound: there is no such copy, or its book is gone.
    """
    return survey(tx, space_id, merges).plan


def survey(tx: ReadTx, space_id: int, merges: Mapping[str, JsonMerge] = NO_MERGES) -> Survey:
    """The plan with what it was made from.

    Raises:
        NotFound: there is no such copy, or its book is gone.
    """
    found = sides.read_sides(tx, space_id)
    done = structure.operations(found.trees, [each.uuid for each in found.of_kind(TREE_KIND)])
    children = sides.children_of(tx, done.deleted)
    parents = sides.parents_of_book(tx, found.book) if done.moved else {}
    planner = _Planner(found, done, children, parents)
    items = [item for each in found.items if (item := planner.item(each))]
    items += planner.moves()
    items = _settle_json(tx, items, merges)
    items, names = shown.name_and_sort(tx, space_id, found, items)
    plan = MergePlan(
        book=found.book, space_id=space_id, base=found.base, position=tx.position(), items=tuple(items), names=names
    )
    return Survey(plan, found, done, children, parents)


class _Planner:
    """Makes the items of a plan from the three sides."""

    def __init__(
        self, found: Sides, done: Operations, children: dict[str, list[str]], parents: dict[str, str | None]
    ) -> None:
        self.trees = found.trees
        self.touched = {(each.kind, each.uuid): each for each in found.items}
        self.done = done
        self.added = frozenset(done.added)
        self.found = found
        self.children = children
        self.parents = parents

    def item(self, each: Touched) -> MergeItem | None:
        """What was changed in an item; None when the book has it already."""
        if each.agent is None:
            return None if each.book is None else self._deleted(each)
        if each.book is None:
            if each.base is None:
                return self._added(each)
            changes = fields.changed_fields(each.kind, each.base, each.agent, each.base)
            return _made(each, "changed", fields=tuple(changes), problem=GONE) if changes else None
        changes = [
            self._ref(each.kind, one) for one in fields.changed_fields(each.kind, each.base, each.agent, each.book)
        ]
        return _made(each, "changed", fields=tuple(changes)) if changes else None

    def _ref(self, kind: str, one: FieldChange) -> FieldChange:
        """A field that names an item needs that item."""
        if one.type is not FieldType.REF or one.agent is None:
            return one
        to = next(each.to for each in item_fields(kind) if each.name == one.name)
        needs, problem = self._named(to, str(one.agent))
        return replace(one, depends_on=needs, problem=problem)

    def _named(self, kind: str, uuid: str) -> tuple[tuple[str, ...], str | None]:
        """What is needed for an item that is named: its own pick when the agent made it; a problem when it is gone."""
        if kind == TREE_KIND:
            made, there = uuid in self.added, self.trees.has("book", uuid)
        else:
            made, there = (kind, uuid) in self.found.made, (kind, uuid) in self.found.standing
        if made:
            return (f"{kind}:{uuid}",), None
        return (), None if there else NAMED_GONE.format(kind=kind)

    def _added(self, each: Touched) -> MergeItem:
        assert each.agent is not None
        own = fields.added_fields(each.kind, each.agent)
        if each.kind != TREE_KIND:
            named = [self._named(one.to, each.agent[one.name]) for one in fields.owners(each.kind)]
            needs = tuple(need for needed, _ in named for need in needed)
            problem = next((why for _, why in named if why), None)
            return _made(each, "added", fields=tuple(own), depends_on=needs, problem=problem)
        place = self._place(each.uuid, conflict=False)
        return _made(
            each,
            "added",
            fields=(place, *own),
            depends_on=self._needs_part(each.uuid),
            children=tuple(child for child, chain in self.done.taken.items() if chain[0] == each.uuid),
        )

    def _deleted(self, each: Touched) -> MergeItem:
        assert each.book is not None
        own = fields.deleted_fields(each.kind, each.base, each.book)
        if each.kind == TREE_KIND and (each.base is None or not self.trees.same_place(each.uuid, "base", "book")):
            base = None if each.base is None else each.base[PARENT]
            own.insert(0, replace(_PLACE, base=base, book=each.book[PARENT], conflict=True))
        return _made(each, "deleted", fields=tuple(own), children=tuple(self.children.get(each.uuid, ())))

    def moves(self) -> list[MergeItem]:
        """The parts that the agent moved elsewhere."""
        targets = {part: structure.target(self.trees, part, self.added) for part in self.done.moved}
        needed = structure.needed_moves(targets, self.parents)
        here = frozenset(part for part in self.done.moved if self.trees.has("book", part))
        everything = Picked(self.added, frozenset(self.done.deleted), here)
        placing = structure.place(self.trees, self.done, everything, children=self.children, parents=self.parents)
        items = []
        for part in self.done.moved:
            both = not self.trees.has("base", part)
            problem = GONE if part not in here else CIRCLE if part in placing.refused else None
            conflict = part in here and (both or not self.trees.same_place(part, "base", "book"))
            before = (f"move:{needed[part]}",) if part in needed else ()
            items.append(
                MergeItem(
                    id=f"move:{part}",
                    kind=TREE_KIND,
                    uuid=part,
                    change="changed",
                    fields=(self._place(part, conflict=conflict),),
                    problem=problem,
                    depends_on=(*self._needs_part(part), *before),
                    version=self.touched[TREE_KIND, part].version,
                )
            )
        return items

    def _place(self, part: str, *, conflict: bool) -> FieldChange:
        """The field that says which part it follows; one that the book has no more is for the author to decide."""
        parent = self.trees.parent("agent", part)
        lost = parent is not None and parent not in self.added and not self.trees.has("book", parent)
        return replace(
            _PLACE,
            base=self.trees.parent("base", part) if self.trees.has("base", part) else None,
            agent=parent,
            book=self.trees.parent("book", part) if self.trees.has("book", part) else None,
            conflict=conflict or lost,
            note=FOLLOWS_GONE if lost else "",
        )

    def _needs_part(self, part: str) -> tuple[str, ...]:
        parent = self.trees.parent("agent", part)
        return (f"{TREE_KIND}:{parent}",) if parent in self.added else ()


def _made(each: Touched, change: Change, **more: Any) -> MergeItem:
    return MergeItem(
        id=f"{each.kind}:{each.uuid}", kind=each.kind, uuid=each.uuid, change=change, version=each.version, **more
    )


_PLACE = FieldChange(
    name=PARENT,
    label=next(each.label for each in item_fields(TREE_KIND) if each.name == PARENT),
    type=FieldType.REF,
)


def _settle_json(tx: ReadTx, items: list[MergeItem], merges: Mapping[str, JsonMerge]) -> list[MergeItem]:
    """Data that both sides changed are merged by place; a conflict is only what both changed at one place."""

    def both_changed(item: MergeItem, each: FieldChange) -> bool:
        mergeable = item.change == "changed" and item.problem is None
        return mergeable and each.conflict and each.type is FieldType.JSON

    wanted = {key for item in items for each in item.fields if both_changed(item, each) for key in _keys(each) if key}
    if not wanted:
        return items
    bodies = get_texts(tx.connection, wanted)
    settled = []
    for item in items:
        made = [_merged(each, bodies, merges) if both_changed(item, each) else each for each in item.fields]
        if kept := tuple(each for each in made if each is not None):
            settled.append(item.with_fields(kept))
    return settled


def _keys(each: FieldChange) -> tuple[bytes | None, bytes | None, bytes | None]:
    assert each.hashes is not None
    return each.hashes.base, each.hashes.agent, each.hashes.book


def _merged(each: FieldChange, bodies: dict[bytes, str], merges: Mapping[str, JsonMerge]) -> FieldChange | None:
    base, agent, book = (Gone if key is None else orjson.loads(bodies[key]) for key in _keys(each))
    merge = merges.get(each.name.partition(".")[2], merge_json)
    try:
        value, clean = merge(base, agent, book)
    except Exception:
        # A rule of an extension that fails leaves the conflict to the author.
        log.exception("the data under %s could not be merged", each.name)
        return each
    if not clean:
        return each
    proposal = encode_json(value, each.label)
    # The author may have made the agent's change too, and more.
    return (
        None if proposal == encode_json(book, each.label) else replace(each, conflict=False, proposal=proposal.decode())
    )
