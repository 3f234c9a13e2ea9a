"""Takes over what the author picked, in place: uuids stay, everything or nothing.

The plan is made anew inside the transaction, so what is applied is compared with the book as it is at that moment.
An apply is one ordinary change of the library; undoing it is the ordinary undo.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import orjson

from marginalia_tui.agent.merge import structure
from marginalia_tui.agent.merge.choose import Taken, Values, choose, drop_dependents
from marginalia_tui.agent.merge.fields import TREE_KIND, followers
from marginalia_tui.agent.merge.json3 import NO_MERGES, JsonMerge
from marginalia_tui.agent.merge.model import PARENT, Applied, Picks
from marginalia_tui.agent.merge.plan import CIRCLE, Survey, survey
from marginalia_tui.agent.merge.structure import Picked, Placing
from marginalia_tui.domain.items import KINDS, Book, Item, Part, Shape, item_fields
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.store.content import decode_images
from marginalia_tui.store.space import LIBRARY, WritableSpace
from marginalia_tui.store.store import WriteTx

ItemKey = tuple[str, str]


def apply_merge(tx: WriteTx, space_id: int, picks: Picks, merges: Mapping[str, JsonMerge] = NO_MERGES) -> Applied:
    """Writes the picked changes of a working copy into the library; `merges` as for the plan.

    Raises:
        NotFound: there is no such copy, or its book is gone.
        Invalid: a pick or a text does not fit; nothing is written.
        Locked: another agent holds the book.
    """
    found = survey(tx, space_id, merges)
    taken = choose(found.plan, picks)
    placing = _place(found, taken)
    changed = _write(tx, found, taken, placing)
    return Applied(tuple(taken.items), tuple(taken.skipped), tuple(taken.conflicts), tuple(changed))


def _place(found: Survey, taken: Taken) -> Placing:
    """The tree that comes out; moves that would close a circle are left out, with what depends on them."""
    known = {item.id: item for item in found.plan.items}
    while True:
        picked = Picked(taken.of("added"), taken.of("deleted"), taken.of("changed", move=True))
        placing = structure.place(found.sides.trees, found.done, picked, children=found.children, parents=found.parents)
        if not placing.refused:
            return placing
        for part in placing.refused:
            taken.skip(known[f"move:{part}"], None, CIRCLE)
        drop_dependents(taken, known)


def _write(tx: WriteTx, found: Survey, taken: Taken, placing: Placing) -> list[str]:
    library = tx.space(LIBRARY)
    ours, theirs = _read(tx, found, taken, placing)
    new: dict[ItemKey, Item] = {}
    gone: dict[str, list[str]] = {}
    for item in taken.items.values():
        key = (item.kind, item.uuid)
        if item.change == "deleted":
            gone.setdefault(item.kind, []).append(item.uuid)
        elif item.change == "added":
            new[key] = _with_values(theirs[key], taken.values[item.id], theirs[key])
        elif not item.is_move:
            new[key] = _with_values(ours[key], taken.values[item.id], theirs[key])
    for part, parent in placing.parents.items():
        key = (TREE_KIND, part)
        new[key] = _changed(new.get(key) or ours[key], {PARENT: parent})
    changed = library.put(new.values())
    for kind, uuids in gone.items():
        changed += library.delete(KINDS[kind], uuids)
    _keep_leaf(library, found, taken)
    return changed


def _read(
    tx: WriteTx, found: Survey, taken: Taken, placing: Placing
) -> tuple[dict[ItemKey, Item], dict[ItemKey, Item]]:
    """The values that are written, of the library and of the copy; of what is only deleted none."""
    ours: dict[str, set[str]] = {Book.KIND: {found.plan.book}, TREE_KIND: set(placing.parents)}
    theirs: dict[str, set[str]] = {}
    for item in taken.items.values():
        if item.change != "deleted" and not item.is_move:
            theirs.setdefault(item.kind, set()).add(item.uuid)
            ours.setdefault(item.kind, set()).add(item.uuid)
    return _values(tx, LIBRARY, ours), _values(tx, found.plan.space_id, theirs)


def _values(tx: WriteTx, space_id: int, wanted: Mapping[str, set[str]]) -> dict[ItemKey, Item]:
    space = tx.space(space_id)
    return {
        (kind, uuid): item
        for kind, uuids in wanted.items()
        # A kind is one of the classes that `get_many` is written for; which one is known only when it runs.
        for uuid, item in space.get_many(cast(type[Part], KINDS[kind]), sorted(uuids)).items()
    }


def _changed(item: Item, values: Mapping[str, Any]) -> Item:
    return cast(Item, replace(cast(Any, item), **values))


def _with_values(target: Item, values: Values, source: Item) -> Item:
    """The target with some fields of the source, or with what the author wrote for them."""
    changes: dict[str, Any] = {}
    shapes = {each.name: each.shape for each in item_fields(target.KIND)}
    for full, text in values.items():
        name, _, key = full.partition(".")
        if key:
            data = changes.setdefault(name, dict(getattr(target, name)))
            theirs = getattr(source, name)
            if text is not None:
                data[key] = orjson.loads(text)
            elif key in theirs:
                data[key] = theirs[key]
            else:
                data.pop(key, None)
        elif name in shapes and name != PARENT:
            changes[name] = _value(shapes[name], getattr(source, name), text)
            changes.update((each, getattr(source, each)) for each in followers(target.KIND, name))
    return _changed(target, changes)


def _value(shape: Shape, theirs: object, text: str | None) -> object:
    """What a field becomes: the agent's value, or what was written."""
    if text is None:
        return theirs
    if shape is Shape.IMAGES:
        return decode_images(text)
    return tuple(line.strip() for line in text.splitlines() if line.strip()) if shape is Shape.SET else text


def _keep_leaf(library: WritableSpace, found: Survey, taken: Taken) -> None:
    """The active branch ends in a part that stands: below what followed the deleted end, else below the one before."""
    book = library.get(Book, found.plan.book)
    deleted, moved = taken.of("deleted"), taken.of("changed", move=True)
    if book.active_leaf is None or book.active_leaf not in deleted:
        return
    tree = StoryTree(library.outline(book.uuid))
    followed: list[str] = []
    waiting = [book.active_leaf]
    while waiting:
        for child in found.children.get(waiting.pop(), ()):
            if child in deleted:
                waiting.append(child)
            elif child not in moved:
                followed.append(child)
    here: str | None
    if followed:
        here = max((tree.row(child) for child in followed), key=lambda row: (row.created, row.uuid)).uuid
    else:
        here = found.sides.trees.above("book", book.active_leaf, lambda each: each not in deleted)[1]
    leaf = tree.active_leaf if here is None else tree.leaf_below(here)
    library.put([replace(book, active_leaf=leaf)])
