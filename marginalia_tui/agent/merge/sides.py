"""The three sides of what an agent touched, read from two journals' worth of states and never from a whole book.

The base of an item is the first `before` in the journal of the copy; what the agent did not touch stands in the copy
as it was in the base. The author's side is the library as it is now.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, bindparam, select

from marginalia_tui.agent.merge.fields import TREE_KIND, is_merged
from marginalia_tui.agent.merge.structure import Standing, Tree, Trees
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import KINDS, Book, Shape, item_fields
from marginalia_tui.store import journal, tables
from marginalia_tui.store.content import Cells, chunks, decode_state, get_states
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """An item that the agent left in another state than it found it; None is a side that does not have it."""

    kind: str
    uuid: str
    base: Cells | None
    agent: Cells | None
    book: Cells | None
    version: str
    """Names the states of agent and book."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared."""

    book: str
    base: int
    items: tuple[Touched, ...]
    trees: Trees
    standing: frozenset[tuple[str, str]] = frozenset()
    """The items that are no parts, are named by what the agent left, and are in the library."""

    @property
    def made(self) -> frozenset[tuple[str, str]]:
        """Kind and uuid of what only the agent has."""
        return frozenset(
            (each.kind, each.uuid) for each in self.items if each.base is None and each.book is None and each.agent
        )

    def of_kind(self, kind: str) -> list[Touched]:
        """The touched items of a kind."""
        return [each for each in self.items if each.kind == kind]


def read_sides(tx: ReadTx, space_id: int) -> Sides:
    """Reads what the agent of a working copy touched.

    Raises:
        NotFound: there is no such copy, or its book is gone from the library.
    """
    row = tx.connection.execute(_COPY, {"space": space_id}).first()
    if row is None:
        raise NotFound("The working copy is gone: it was applied or discarded, so nothing can be merged from it.")
    if row.book not in tx.space(LIBRARY).hashes(Book, [row.book]):
        raise NotFound("The book is gone from the library, so nothing can be merged into it.")
    spans = {
        key: span
        for key, span in journal.fold(tx.connection, space_id, 0).items()
        if span.before != span.after and is_merged(key[0])
    }
    by_kind: dict[str, list[str]] = {}
    for kind, uuid in spans:
        by_kind.setdefault(kind, []).append(uuid)
    library = tx.space(LIBRARY)
    now = {kind: library.hashes(KINDS[kind], uuids) for kind, uuids in by_kind.items()}
    hashes = {each for span in spans.values() for each in (span.before, span.after) if each is not None}
    states = get_states(tx.connection, hashes.union(*(of_kind.values() for of_kind in now.values())))

    @cache
    def cells(kind: str, key: bytes | None) -> Cells | None:
        return None if key is None else decode_state(kind, states[key])

    items = []
    for (kind, uuid), span in spans.items():
        ours = now[kind].get(uuid)
        items.append(
            Touched(
                kind=kind,
                uuid=uuid,
                base=cells(kind, span.before),
                agent=cells(kind, span.after),
                book=cells(kind, ours),
                version=f"{_short(span.after)}-{_short(ours)}",
            )
        )
    sides = Sides(
        book=row.book,
        base=row.base,
        items=tuple(items),
        trees=_trees(tx, space_id),
        standing=_standing(tx, items),
    )
    _learn(sides)
    return sides


def _standing(tx: ReadTx, items: Iterable[Touched]) -> frozenset[tuple[str, str]]:
    named: dict[str, set[str]] = {}
    for each in items:
        for one in item_fields(each.kind):
            if each.agent and one.shape is Shape.REF and one.to not in ("", TREE_KIND) and each.agent[one.name]:
                named.setdefault(one.to, set()).add(each.agent[one.name])
    library = tx.space(LIBRARY)
    return frozenset((kind, uuid) for kind, uuids in named.items() for uuid in library.hashes(KINDS[kind], uuids))


def _short(key: bytes | None) -> str:
    return "none" if key is None else key.hex()[:16]


def _trees(tx: ReadTx, space_id: int) -> Trees:
    def read(parts: Collection[str]) -> Mapping[str, Standing]:
        found: dict[str, dict[Tree, str | None]] = {}
        for some in chunks(list(parts)):
            for space, uuid, parent in tx.connection.execute(
                _STANDING, {"spaces": (LIBRARY, space_id), "some": some}
            ).all():
                standing = found.setdefault(uuid, {})
                if space == LIBRARY:
                    standing["book"] = parent
                else:
                    standing["base"] = standing["agent"] = parent
        return found

    def followers(part: str) -> list[str]:
        return children_of(tx, [part], space_id).get(part, [])

    return Trees(read, followers)


def _learn(sides: Sides) -> None:
    """Tells the trees what the states say, and has them read what stands above the parts that moved in one go."""
    known: dict[str, Standing] = {}
    for each in sides.of_kind(TREE_KIND):
        three: tuple[tuple[Tree, Cells | None], ...] = (
            ("base", each.base),
            ("agent", each.agent),
            ("book", each.book),
        )
        known[each.uuid] = {tree: cells["parent"] for tree, cells in three if cells is not None}
    sides.trees.learn(known)
    # A part that all three have at one place says all there is to know; the most are such.
    apart = [standing for standing in known.values() if len(standing) < 3 or len(set(standing.values())) > 1]
    sides.trees.load(parent for standing in apart for parent in standing.values())


def parents_of_book(tx: ReadTx, book: str) -> dict[str, str | None]:
    """Part -> parent for a whole book of the library: read only when a part was really moved."""
    part = tables.part.c
    query = select(part.uuid, part.parent).where(part.space_id == LIBRARY, part.book == book)
    return {uuid: parent for uuid, parent in tx.connection.execute(query)}


def children_of(tx: ReadTx, parts: Collection[str], space_id: int = LIBRARY) -> dict[str, list[str]]:
    """The parts that follow some parts in a space."""
    found: dict[str, list[str]] = {}
    for some in chunks(list(parts)):
        for parent, uuid in tx.connection.execute(_CHILDREN, {"space": space_id, "some": some}):
            found.setdefault(parent, []).append(uuid)
    return found


# Made once: to build a statement takes longer than to run it.
_part, _space = tables.part.c, tables.space.c
_COPY = select(_space.book, _space.base).where(
    _space.id == bindparam("space"), _space.kind == "copy", _space.state == "live"
)
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_SPACES: BindParameter[Any] = bindparam("spaces", expanding=True)
_STANDING = select(_part.space_id, _part.uuid, _part.parent).where(_part.space_id.in_(_SPACES), _part.uuid.in_(_SOME))
# Asked for an order, SQLite walks the whole space instead of the index on parents.
_CHILDREN = select(_part.parent, _part.uuid).where(_part.space_id == bindparam("space"), _part.parent.in_(_SOME))
