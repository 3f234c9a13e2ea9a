"""How an argument names a part or a branch, and the open book in which it is looked up.

An agent names a part by its handle, which is the uuid when it arrives here. Readers also take a position on a
branch, which moves when parts come and go; so writers take it from the author only, who sees the outline. The
author may also give a title or the beginning of a uuid. Nothing outside of the book of the scope is found.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated

from pydantic import Field
from rapidfuzz import fuzz, process

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.definition import Param
from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.domain.tree import PartRow, StoryTree
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import Space

SHORTEST_PREFIX = 4
"""Characters of a uuid that name a part."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Reference = Annotated[str, Field(max_length=1_000)]

PartRef = Annotated[
    Reference,
    Param(
        "the part: its number, its title or its uuid",
        for_model="The handle of the part, such as h:m3. list-parts shows the handles.",
        names="part",
    ),
]
PlaceRef = Annotated[
    Reference,
    Param(
        "the part: its number, its title or its uuid",
        for_model="The handle of the part, such as h:m3, or its position on the branch: 1 is the first part.",
        names="part",
    ),
]
BranchRef = Annotated[
    Reference | None,
    Param(
        "the branch: its number, or a part on it; without it the active one",
        for_model="The number of a branch, or the handle of a part on it. Leave it out for the active branch.",
        names="branch",
    ),
]


class OpenBook:
    """The book of a scope. The tree is read when it is first needed: a handle that is a uuid needs none.

    Args:
        ctx: of the command.
        space: of the read transaction that is open.
        book: as it is now.
    """

    def __init__(self, ctx: Context, space: Space, book: Book) -> None:
        self.scope = ctx.scope
        self.space = space
        self.book = book
        self._ctx = ctx
        self.in_transaction = True

    @cached_property
    def tree(self) -> StoryTree:
        """The parts of the book."""
        if self.in_transaction:
            return story_tree(self.space, self.book)
        with self._ctx.reading() as space:
            return story_tree(space, self.book)

    @property
    def tree_is_read(self) -> bool:
        """Whether positions are known without another query."""
        return "tree" in self.__dict__

    @cached_property
    def depths(self) -> dict[str, int]:
        """Part -> how deep it stands; the first part is 1."""
        found: dict[str, int] = {}
        waiting = [(uuid, 1) for uuid in self.tree.children(None)]
        while waiting:
            uuid, depth = waiting.pop()
            found[uuid] = depth
            waiting.extend((child, depth + 1) for child in self.tree.children(uuid))
        return found

    @cached_property
    def branch_numbers(self) -> dict[str, int]:
        """Leaf -> the number of its branch."""
        return {leaf: number for number, leaf in enumerate(self.tree.leaves, start=1)}

    def read_part(self, text: str, branch: str | None = None) -> str:
        """The uuid of the part that a reader was given; a position counts on `branch` (a leaf).

        Raises:
            NotFound, Ambiguous: no part, or several, fit; the sentence shows what would.
        """
        wanted = text.strip()
        if self._is_uuid(wanted):
            return wanted
        if _UUID.fullmatch(wanted):
            raise NotFound("This part was deleted, or is of another book: list-parts shows the parts there are.")
        if wanted.isascii() and wanted.isdigit():
            return self._at_position(wanted, branch)
        if wanted.startswith("h:"):
            raise NotFound(f"No part of this book has the handle {quoted(wanted)}: list-parts shows the handles.")
        return self._named(wanted)

    def written_part(self, text: str) -> str:
        """The uuid of the part that a writer was given: an agent must name it by its handle.

        Raises:
            Invalid: an agent gave a position or a title.
            NotFound, Ambiguous: as `read_part`.
        """
        wanted = text.strip()
        if self.scope.is_agent and not wanted.startswith("h:") and not _UUID.fullmatch(wanted):
            raise Invalid(
                f"Give the handle of the part, such as h:m3, not {quoted(text)}: positions and titles can move. "
                "list-parts shows the handle of each part."
            )
        return self.read_part(text)

    def leaf(self, text: str | None) -> str | None:
        """The end of the branch that was named, of the active one for None; None in an empty book."""
        if text is None:
            return self.tree.active_leaf
        wanted = text.strip()
        if not (wanted.isascii() and wanted.isdigit()):
            return self.tree.branch_showing(self.read_part(text))
        leaves = self.tree.leaves
        if len(wanted) > 9 or not 1 <= int(wanted) <= len(leaves):
            raise NotFound(
                f"There is no branch {quoted(wanted, 20)}: this book has {counted(len(leaves), 'branch', 'branches')}, "
                "which list-branches shows."
            )
        return leaves[int(wanted) - 1]

    def branch(self, text: str | None) -> list[str]:
        """The parts of the branch that was named, in reading order."""
        leaf = self.leaf(text)
        return [] if leaf is None else self.tree.branch(leaf)

    def all_parts(self) -> list[str]:
        """Every part: the active branch in reading order, then the others by depth."""
        rest = (uuid for uuid in self.depths if uuid not in self.tree.positions)
        return [*self.tree.active, *sorted(rest, key=lambda uuid: (self.depths[uuid], self.tree.rows[uuid].created))]

    def row(self, uuid: str) -> PartRow:
        """What the outline knows of a part."""
        return self.tree.rows[uuid]

    def off_branch(self, uuid: str) -> int | None:
        """The number of the branch that shows a part; None when the active one does."""
        return None if uuid in self.tree.positions else self.branch_numbers[self.tree.branch_showing(uuid)]

    def label(self, uuid: str) -> str:
        """A part for a sentence: `part 3, 'The Lamp'`."""
        title = self.row(uuid).title
        off = self.off_branch(uuid)
        place = f"part {self.depths[uuid]}" + (f" of branch {off}" if off else "")
        return place + (f" ({quoted(title, 40)})" if title else "")

    def load(self, uuid: str) -> tuple[Part, bytes]:
        """A part as it is now, and the hash of its state; inside the transaction.

        Raises:
            NotFound: it was deleted since the tree was read.
        """
        part = self.space.find(Part, uuid)
        if part is None:
            raise NotFound("The part was deleted meanwhile: list-parts shows the parts.")
        return part, self.space.hashes(Part, [uuid])[uuid]

    def known_position(self, uuid: str) -> int | None:
        """How deep a part stands, when the tree was read anyway."""
        return self.depths[uuid] if self.tree_is_read else None

    def _is_uuid(self, wanted: str) -> bool:
        if self.tree_is_read or not self.in_transaction:
            return wanted in self.tree.rows
        if not _UUID.fullmatch(wanted):
            return False
        part = self.space.find(Part, wanted)
        return part is not None and part.book == self.book.uuid

    def _at_position(self, wanted: str, branch: str | None) -> str:
        chain = self.tree.active if branch is None else self.tree.branch(branch)
        if len(wanted) <= 9 and 1 <= int(wanted) <= len(chain):
            return chain[int(wanted) - 1]
        if not chain:
            raise NotFound("This book has no part yet: create-part adds the first.")
        raise NotFound(f"There is no part {quoted(wanted, 20)}: this branch has the parts 1 to {len(chain)}.")

    def _named(self, wanted: str) -> str:
        rows = list(self.tree.rows.values())
        key = wanted.casefold()
        found = [row for row in rows if row.title.casefold() == key and key]
        if not found and len(key) >= SHORTEST_PREFIX:
            found = [row for row in rows if row.uuid.startswith(key)]
        if not found and key:
            found = [row for row in rows if row.title.casefold().startswith(key)]
        on_branch = [row for row in found if row.uuid in self.tree.positions]
        found = on_branch or found
        if len(found) == 1:
            return found[0].uuid
        if found:
            shown = listed([self.label(row.uuid) for row in found])
            raise Ambiguous(f"Several parts fit {quoted(wanted)}: {shown}. Give the number of the part.")
        titles = {row.uuid: row.title.casefold() for row in rows if row.title}
        near = process.extract(key, titles, scorer=fuzz.WRatio, score_cutoff=70, limit=3) if len(key) < 200 else []
        hint = f" Near are: {listed([self.label(uuid) for _, _, uuid in near])}." if near else ""
        raise NotFound(f"This book has no part {quoted(wanted)}.{hint} list-parts shows the parts.")


@contextmanager
def open_book(ctx: Context) -> Iterator[OpenBook]:
    """The book of the scope, and a read transaction that is open for as long as the block.

    Raises:
        Invalid: no book is open.
        NotFound: the book is gone.
    """
    uuid = ctx.scope.open_book
    with ctx.reading() as space:
        book = space.find(Book, uuid)
        if book is None:
            raise NotFound("This book is gone: open another one.")
        opened = OpenBook(ctx, space, book)
        try:
            yield opened
        finally:
            opened.in_transaction = False


def texts_of(ctx: Context, parts: Sequence[str], doing: str, at_once: int = 200) -> Iterator[tuple[str, str]]:
    """The texts of parts, in order, read in batches so that no transaction stays open; stops when told to.

    Args:
        ctx: is told how far it is.
        parts: their uuids.
        doing: what is done with them, as the status says it: `Searching`.
        at_once: parts in a batch.
    """
    for start in range(0, len(parts), at_once):
        some = parts[start : start + at_once]
        with ctx.reading() as space:
            texts = space.texts(some)
        for place, uuid in enumerate(some, start=start + 1):
            ctx.check()
            ctx.status(doing, f"part {place:,} of {len(parts):,}", done=place - 1, total=len(parts))
            if uuid in texts:
                yield uuid, texts[uuid]
