"""The tree of a book in three versions, and what was done to it as operations.

Pure rules. A part has a PLACE: the part that it follows. Adding a part between two others or deleting one changes
the parent of those around it but not their place, which is compared "as far as both trees know": from a part up, the
first one that the other tree has too. So only what the agent really moved is a move; the rest belongs to the added
or the deleted part, is picked with it, and is done anew on the book as it is now: what the author put there
meanwhile stays.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Tree = Literal["base", "agent", "book"]
TREES: tuple[Tree, ...] = ("base", "agent", "book")
Standing = Mapping[Tree, str | None]
"""Tree -> the parent of a part; a tree that does not have the part is left out."""


class Trees:
    """The parents of parts in the three trees, read as they are asked for.

    Args:
        read: gives the standing of parts; those that no tree has may be left out.
        followers: gives the parts that follow a part in the agent's tree.
    """

    def __init__(
        self, read: Callable[[Collection[str]], Mapping[str, Standing]], followers: Callable[[str], Sequence[str]]
    ) -> None:
        self._read = read
        self.followers = followers
        self._standing: dict[str, Standing] = {}

    def learn(self, standing: Mapping[str, Standing]) -> None:
        """Takes over what is known already."""
        self._standing.update(standing)

    def load(self, parts: Iterable[str | None]) -> None:
        """Reads the parts that are not known yet in one go."""
        missing = [part for part in dict.fromkeys(parts) if part is not None and part not in self._standing]
        if missing:
            found = self._read(missing)
            self._standing.update((part, found.get(part, {})) for part in missing)

    def has(self, tree: Tree, part: str) -> bool:
        """Whether a tree has a part."""
        return tree in self._of(part)

    def parent(self, tree: Tree, part: str) -> str | None:
        """The part that `part`, which the tree has, follows."""
        return self._of(part)[tree]

    def _of(self, part: str) -> Standing:
        if part not in self._standing:
            self.load([part])
        return self._standing[part]

    def above(self, tree: Tree, part: str, stop: Callable[[str], bool]) -> tuple[list[str], str | None]:
        """Goes up from a part to the first one that `stop` accepts.

        Returns:
            The parts passed, nearest first, and the one reached; None is above the first part of a book.
        """
        passed: list[str] = []
        here = self.parent(tree, part)
        while here is not None and not stop(here):
            passed.append(here)
            here = self.parent(tree, here)
        return passed, here

    def place(self, part: str, tree: Tree, other: Tree) -> str | None:
        """The nearest part above `part` in `tree` that `other` has too."""
        return self.above(tree, part, lambda each: self.has(other, each))[1]

    def same_place(self, part: str, one: Tree, two: Tree) -> bool:
        """Whether a part that both trees have stands at the same place in them."""
        if self.parent(one, part) == self.parent(two, part):
            return True
        return self.place(part, one, two) == self.place(part, two, one)


@dataclass(frozen=True, slots=True)
class Operations:
    """What the agent did to the tree and the book does not have yet."""

    added: tuple[str, ...]
    """New parts, each after the new part that it follows."""
    deleted: tuple[str, ...]
    """Parts that the book still has."""
    moved: tuple[str, ...]
    taken: Mapping[str, tuple[str, ...]]
    """A part of the book -> the new parts that the agent's tree has between it and the next part of the book above."""


def operations(trees: Trees, touched: Iterable[str]) -> Operations:
    """Reads operations off the parts that the agent touched."""
    added, deleted, moved, placed = [], [], [], []
    for part in touched:
        base, agent, book = (trees.has(tree, part) for tree in TREES)
        if not agent:
            if book:
                deleted.append(part)
        elif not base and not book:
            added.append(part)
        elif not (base and trees.same_place(part, "base", "agent")) and not (
            book and trees.same_place(part, "agent", "book")
        ):
            moved.append(part)
            if not book:
                placed.append(part)
        else:
            placed.append(part)
    taken = {part: new for part in _in_book(trees, placed, frozenset(moved)) if (new := _new_above(trees, part))}
    return Operations(_parents_first(trees, added), tuple(deleted), tuple(moved), taken)


def _in_book(trees: Trees, placed: Sequence[str], moved: Collection[str]) -> Iterable[str]:
    """The parts themselves, or for one that the author deleted those that followed it and moved up."""
    waiting = list(reversed(placed))
    while waiting:
        part = waiting.pop()
        if trees.has("book", part):
            yield part
        elif trees.has("base", part) and _new_above(trees, part):
            waiting.extend(child for child in trees.followers(part) if child not in moved)


def _new_above(trees: Trees, part: str) -> tuple[str, ...]:
    """The parts above one that only the agent has, nearest first, up to the next one that the book has."""
    if trees.has("book", part) and trees.parent("book", part) == trees.parent("agent", part):
        return ()
    passed, _ = trees.above("agent", part, lambda each: trees.has("book", each))
    return tuple(each for each in passed if not trees.has("base", each))


def _parents_first(trees: Trees, added: Sequence[str]) -> tuple[str, ...]:
    waiting = set(added)
    ordered: list[str] = []
    for part in added:
        chain = []
        here: str | None = part
        while here in waiting:
            assert here is not None
            waiting.discard(here)
            chain.append(here)
            here = trees.parent("agent", here)
        ordered.extend(reversed(chain))
    return tuple(ordered)


@dataclass(frozen=True, slots=True)
class Picked:
    """The operations that are to be done."""

    added: frozenset[str]
    deleted: frozenset[str]
    moved: frozenset[str]


@dataclass(frozen=True, slots=True)
class Placing:
    """What the operations make of the tree of the book."""

    parents: Mapping[str, str | None]
    """The parent of every new part and of every part that stands elsewhere than now."""
    refused: frozenset[str]
    """Moves that would close a circle."""


def target(trees: Trees, part: str, added: Collection[str]) -> str | None:
    """Where a part that the agent placed goes: below the nearest part above it that the book has or gets."""
    return trees.above("agent", part, lambda each: each in added or trees.has("book", each))[1]


def place(
    trees: Trees,
    done: Operations,
    picked: Picked,
    *,
    children: Mapping[str, Sequence[str]],
    parents: Mapping[str, str | None],
) -> Placing:
    """Does the picked operations on the tree of the book.

    Args:
        trees: the three trees.
        done: all operations of the agent.
        picked: those to be done; a new part is picked with the new part that it follows.
        children: each deleted part -> the parts that follow it in the book now.
        parents: part -> parent for the whole book, when anything is moved (else it may be empty).
    """
    new: dict[str, str | None] = {}
    for part in done.added:
        if part in picked.added:
            new[part] = target(trees, part, picked.added)
    _take_over(trees, done, picked, new)
    moves = {part: target(trees, part, picked.added) for part in done.moved if part in picked.moved}
    refused = _move(moves, new, parents)
    for gone in picked.deleted:
        for child in children.get(gone, ()):
            if child not in picked.deleted and child not in new:
                new[child] = trees.above("book", child, lambda each: each not in picked.deleted)[1]
    return Placing(new, refused)


def _take_over(trees: Trees, done: Operations, picked: Picked, new: dict[str, str | None]) -> None:
    """Puts the new parts between the parts that they were put between, as near to what follows as they can be."""
    ways: dict[str, list[tuple[str, str, list[str]]]] = {}
    for child, chain in done.taken.items():
        if (nearest := next((part for part in chain if part in picked.added), None)) is None:
            continue
        top = nearest
        while (above := new[top]) in picked.added:
            assert above is not None
            top = above
        passed, reached = trees.above("book", child, lambda each: trees.has("agent", each))
        # A child that the author moved away stays where the author wants it.
        if reached == new[top]:
            way = [part for part in reversed(passed) if part not in picked.deleted]
            ways.setdefault(top, []).append((child, nearest, way))
    for top, group in ways.items():
        shared = _shared_start([way for _, _, way in group])
        if shared:
            new[top] = shared[-1]
        for child, nearest, way in group:
            new[[*way, child][len(shared)]] = nearest


def _shared_start(ways: Sequence[Sequence[str]]) -> list[str]:
    shared = []
    for parts in zip(*ways, strict=False):
        if any(part != parts[0] for part in parts):
            break
        shared.append(parts[0])
    return shared


def _move(
    moves: Mapping[str, str | None], new: dict[str, str | None], parents: Mapping[str, str | None]
) -> frozenset[str]:
    """Writes the moves that leave a tree into `new`, in the order in which they are possible; returns the others."""
    if _leaves_a_tree(moves, new, parents):
        new.update(moves)
        return frozenset()
    waiting = dict(moves)
    while possible := next((part for part in waiting if not _stands_below(waiting[part], part, new, parents)), None):
        new[possible] = waiting.pop(possible)
    return frozenset(waiting)


def _leaves_a_tree(
    moves: Mapping[str, str | None], new: Mapping[str, str | None], parents: Mapping[str, str | None]
) -> bool:
    safe: set[str] = set()
    for part in moves:
        way: set[str] = set()
        here: str | None = part
        while here is not None and here not in safe:
            if here in way:
                return False
            way.add(here)
            here = moves[here] if here in moves else new[here] if here in new else parents.get(here)
        safe |= way
    return True


def _stands_below(
    part: str | None, above: str, new: Mapping[str, str | None], parents: Mapping[str, str | None]
) -> bool:
    here = part
    while here is not None:
        if here == above:
            return True
        here = new[here] if here in new else parents.get(here)
    return False


def needed_moves(moves: Mapping[str, str | None], parents: Mapping[str, str | None]) -> dict[str, str]:
    """The move that must come before another one, for those whose new place stands below them now.

    Args:
        moves: moved part -> the part that it is to follow.
        parents: part -> parent for the whole book as it is.
    """
    nearest: dict[str | None, str | None] = {None: None}

    def moved_above(part: str | None) -> str | None:
        """The nearest moved part from `part` up; each part is passed once, however many ask."""
        way = []
        while part not in nearest and part not in moves:
            way.append(part)
            part = parents.get(part) if part else None
        found = nearest.get(part, part)
        nearest.update(dict.fromkeys(way, found))
        return found

    needed: dict[str, str] = {}
    for part, to in moves.items():
        first = here = moved_above(to)
        while here is not None and here != part:
            here = moved_above(parents.get(here))
        if here == part and first is not None and first != part:
            needed[part] = first
    return needed
