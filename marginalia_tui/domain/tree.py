"""The tree of a book, as pure lookups over rows that carry no text.

A book is read along a branch: the parts from the root to one leaf. Siblings are swipes of one another.
Books are as deep as they are long (20,000 parts in one chain), so nothing here recurses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from marginalia_tui.domain.errors import NotFound


@dataclass(frozen=True, slots=True)
class PartRow:
    """What the outline knows of a part: everything but its text."""

    uuid: str
    parent: str | None
    created: int
    title: str
    words: int
    chars: int
    hash: bytes


class StoryTree:
    """The parts of one book with the branch that is read.

    Args:
        rows: every part of the book, in any order.
        active_leaf: the end of the active branch; None or one that is gone gives the newest leaf.
    """

    def __init__(self, rows: Iterable[PartRow], active_leaf: str | None = None) -> None:
        self.rows: dict[str, PartRow] = {}
        for row in sorted(rows, key=lambda row: (row.created, row.uuid)):
            self.rows[row.uuid] = row
        self._children: dict[str | None, list[str]] = {}
        for row in self.rows.values():
            self._children.setdefault(row.parent, []).append(row.uuid)
        self.active_leaf = self._leaf_or_newest(active_leaf)

    def _leaf_or_newest(self, wanted: str | None) -> str | None:
        if wanted in self.rows:
            return self.leaf_below(wanted)
        return self.leaves[-1] if self.leaves else None

    def children(self, uuid: str | None) -> Sequence[str]:
        """The parts that follow `uuid` (None: the first parts), oldest first."""
        return self._children.get(uuid, ())

    def swipes(self, uuid: str) -> Sequence[str]:
        """The part and its siblings, oldest first."""
        return self.children(self.row(uuid).parent)

    def row(self, uuid: str) -> PartRow:
        """The row of a part.

        Raises:
            NotFound: no part of this book has the uuid.
        """
        try:
            return self.rows[uuid]
        except KeyError:
            raise NotFound("This book has no such part: list-parts shows the parts that it has.") from None

    @cached_property
    def leaves(self) -> list[str]:
        """The ends of the branches, oldest first: branch 1 is the first."""
        return [uuid for uuid in self.rows if uuid not in self._children]

    def leaf_below(self, uuid: str) -> str:
        """The end that is reached from a part by always taking the newest child."""
        here = uuid
        while following := self.children(here):
            here = following[-1]
        return here

    def branch(self, leaf: str | None = None) -> list[str]:
        """The parts from the root to `leaf` (the active one when None), in reading order."""
        chain: list[str] = []
        here = self.active_leaf if leaf is None else leaf
        while here is not None:
            chain.append(here)
            here = self.rows[here].parent
        chain.reverse()
        return chain

    @cached_property
    def active(self) -> list[str]:
        """The active branch."""
        return self.branch()

    @cached_property
    def positions(self) -> dict[str, int]:
        """Part -> place on the active branch, from 1."""
        return {uuid: place for place, uuid in enumerate(self.active, start=1)}

    def position(self, uuid: str) -> int:
        """How deep a part stands on any branch through it; the first part is 1."""
        if place := self.positions.get(uuid):
            return place
        return len(self.branch(self.row(uuid).uuid))

    def branch_showing(self, uuid: str) -> str:
        """The leaf of the branch that shows a part: the active one if it can, else the newest below it."""
        if uuid in self.positions and self.active_leaf is not None:
            return self.active_leaf
        return self.leaf_below(self.row(uuid).uuid)

    def branch_number(self, leaf: str) -> int:
        """The number of the branch that ends in `leaf`, from 1."""
        return self.leaves.index(leaf) + 1

    def is_ancestor(self, ancestor: str, uuid: str) -> bool:
        """Whether `ancestor` stands on the way from the root to `uuid` (a part is not its own ancestor)."""
        here = self.row(uuid).parent
        while here is not None:
            if here == ancestor:
                return True
            here = self.rows[here].parent
        return False
