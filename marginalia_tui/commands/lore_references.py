"""How an argument names a lorebook or an entry, and the lore of the open book in which it is looked up.

Numbers are those of the lists: a lorebook has the place in the tree (1 is the root), an entry that of its lorebook and
its own, such as `2.5`; a plain number is an entry of the root. Only the tree of the book of the scope is found: what
another book uses, or what lies in the trash, does not exist here. Numbers move, so an agent writes by handles.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated

from rapidfuzz import fuzz, process

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.references import SHORTEST_PREFIX, OpenBook, Reference, open_book
from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound
from marginalia_tui.domain.items import Entry, Lorebook
from marginalia_tui.domain.lore import LoreRow, LoreTree
from marginalia_tui.domain.sentences import listed, quoted
from marginalia_tui.services import lore
from marginalia_tui.store.space import Space

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ENTRY_NUMBER = re.compile(r"(?:([0-9]{1,9})\.)?([0-9]{1,9})", re.ASCII)

LorebookPlace = Annotated[
    Reference,
    Param(
        "the lorebook: its number, its name or its uuid",
        for_model="The handle of the lorebook, such as h:l2, or its number: 1 is the root.",
        names="lorebook",
    ),
]
LorebookRef = Annotated[
    Reference,
    Param(
        "the lorebook: its number, its name or its uuid",
        for_model="The handle of the lorebook, such as h:l2. list-lorebooks shows the handles.",
        names="lorebook",
    ),
]
EntryPlace = Annotated[
    Reference,
    Param(
        "the entry: its number such as 2.5, its name or its uuid",
        for_model="The handle of the entry, such as h:e5, or its number, such as 2.5.",
        names="entry",
    ),
]
EntryRef = Annotated[
    Reference,
    Param(
        "the entry: its number such as 2.5, its name or its uuid",
        for_model="The handle of the entry, such as h:e5. list-lore-entries shows the handles.",
        names="entry",
    ),
]


class OpenLore:
    """The lore of a book. Entries are read when they are first needed: a handle that is a uuid needs none."""

    def __init__(self, ctx: Context, opened: OpenBook) -> None:
        self._ctx = ctx
        self.opened = opened
        self.book = opened.book
        self.tree: LoreTree = lore.read_tree(opened.space, opened.book)

    @property
    def space(self) -> Space:
        """Of the read transaction that is open."""
        return self.opened.space

    @cached_property
    def rows(self) -> dict[str, LoreRow]:
        """The entries of the tree by uuid, in the order in which they are told."""
        return {row.uuid: row for row in lore.entry_rows(self.space, self.tree.lorebooks)}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Lorebook -> its number."""
        return {uuid: number for number, uuid in enumerate(self.tree.lorebooks, start=1)}

    @cached_property
    def entries(self) -> dict[str, list[LoreRow]]:
        """Lorebook -> its entries in order."""
        found: dict[str, list[LoreRow]] = {uuid: [] for uuid in self.tree.lorebooks}
        for row in self.rows.values():
            found[row.lorebook].append(row)
        return found

    @cached_property
    def entry_numbers(self) -> dict[str, str]:
        """Entry -> its number, such as `2.5`."""
        return {
            row.uuid: f"{self.numbers[lorebook]}.{number}"
            for lorebook, rows in self.entries.items()
            for number, row in enumerate(rows, start=1)
        }

    # Lorebooks

    def read_lorebook(self, text: str) -> Lorebook:
        """The lorebook that a reader was given.

        Raises:
            NotFound, Ambiguous: none of the tree, or several, fit; the sentence shows what would.
        """
        wanted = text.strip()
        if found := self.tree.lorebooks.get(wanted):
            return found
        if _UUID.fullmatch(wanted) or wanted.startswith("h:"):
            raise NotFound(
                "This lorebook was deleted, or this book does not use it: list-lorebooks shows those that it uses."
            )
        known = list(self.tree.lorebooks.values())
        if wanted.isascii() and wanted.isdigit():
            if len(wanted) <= 9 and 1 <= int(wanted) <= len(known):
                return known[int(wanted) - 1]
            raise NotFound(f"There is no lorebook {quoted(wanted, 20)}: {self._there_are()}")
        uuid = pick({each.uuid: each.name for each in known}, wanted, "lorebook", self.lorebook_label)
        if uuid is None:
            raise NotFound(f"This book has no lorebook {quoted(wanted)}: {self._there_are()}")
        return self.tree.lorebooks[uuid]

    def written_lorebook(self, text: str) -> Lorebook:
        """The lorebook that a writer was given: an agent must name it by its handle.

        Raises:
            Invalid: an agent gave a number or a name.
            NotFound, Ambiguous: as `read_lorebook`.
        """
        self._must_be_handle(text, "lorebook", "h:l2", "list-lorebooks")
        return self.read_lorebook(text)

    def any_lorebook(self, text: str) -> Lorebook:
        """A lorebook that need not be in the tree: taken out, deleted, or of another book of the author.

        The space is the cage: in that of an agent there is only what belongs to its book.

        Raises:
            Invalid, NotFound, Ambiguous: as `written_lorebook`.
        """
        wanted = text.strip()
        if _UUID.fullmatch(wanted) and (found := self.space.find(Lorebook, wanted)):
            return found
        try:
            return self.written_lorebook(text)
        except NotFound:
            if self._ctx.scope.is_agent:
                raise
            uuid = pick(lore.lorebook_names(self.space), wanted, "lorebook", self.lorebook_label)
            if uuid is None:
                raise
            return self.space.get(Lorebook, uuid)

    def lorebook_label(self, uuid: str) -> str:
        """A lorebook for a sentence: `lorebook 2 ('Places')`; one outside of the tree by its uuid."""
        if found := self.tree.lorebooks.get(uuid):
            return f"lorebook {self.numbers[uuid]} ({quoted(found.name, 40)})"
        return f"{quoted(self.space.get(Lorebook, uuid).name, 40)} ({uuid})"

    def _there_are(self) -> str:
        if not self.tree.lorebooks:
            return "This book has no lore yet: create-lore-entry begins it."
        return f"there are {listed([self.lorebook_label(uuid) for uuid in self.tree.lorebooks], 5)}."

    # Entries

    def read_entry(self, text: str) -> str:
        """The uuid of the entry that a reader was given.

        Raises:
            NotFound, Ambiguous: none of the tree, or several, fit; the sentence shows what would.
        """
        wanted = text.strip()
        if _UUID.fullmatch(wanted):
            entry = self.space.find(Entry, wanted)
            if entry is not None and entry.lorebook in self.tree.lorebooks:
                return wanted
        if _UUID.fullmatch(wanted) or wanted.startswith("h:"):
            raise NotFound(
                "This entry was deleted, or is not in the lore of this book: list-lore-entries shows the entries."
            )
        if wanted in self.rows:
            return wanted
        if number := _ENTRY_NUMBER.fullmatch(wanted):
            return self._at_number(wanted, int(number[1] or 1), int(number[2]))
        uuid = pick({each.uuid: each.name for each in self.rows.values()}, wanted, "entry", self.entry_label)
        if uuid is None:
            raise NotFound(f"The lore of this book has no entry {quoted(wanted)}: search-lore looks through all of it.")
        return uuid

    def written_entry(self, text: str) -> str:
        """The uuid of the entry that a writer was given: an agent must name it by its handle.

        Raises:
            Invalid: an agent gave a number or a name.
            NotFound, Ambiguous: as `read_entry`.
        """
        self._must_be_handle(text, "entry", "h:e5", "list-lore-entries")
        return self.read_entry(text)

    def load_entry(self, uuid: str) -> tuple[Entry, bytes]:
        """An entry as it is now, and the hash of its state."""
        return self.space.get(Entry, uuid), self.space.hashes(Entry, [uuid])[uuid]

    def load_lorebook(self, uuid: str) -> bytes:
        """The hash of the state of a lorebook."""
        return self.space.hashes(Lorebook, [uuid])[uuid]

    def entry_label(self, uuid: str) -> str:
        """An entry for a sentence: `entry 2.5 ('The lamp')`."""
        return f"entry {self.entry_numbers[uuid]} ({quoted(self.rows[uuid].name, 40)})"

    def _at_number(self, wanted: str, lorebook: int, number: int) -> str:
        known = list(self.tree.lorebooks)
        if not known or not 1 <= lorebook <= len(known):
            raise NotFound(f"There is no entry {quoted(wanted, 30)}: {self._there_are()}")
        rows = self.entries[known[lorebook - 1]]
        if not 1 <= number <= len(rows):
            count = f"has the entries {lorebook}.1 to {lorebook}.{len(rows)}" if rows else "has no entry yet"
            label = self.lorebook_label(known[lorebook - 1])
            raise NotFound(f"There is no entry {quoted(wanted, 30)}: {label} {count}.")
        return rows[number - 1].uuid

    def _must_be_handle(self, text: str, what: str, such: str, shown_by: str) -> None:
        wanted = text.strip()
        if self._ctx.scope.is_agent and not wanted.startswith("h:") and not _UUID.fullmatch(wanted):
            raise Invalid(
                f"Give the handle of the {what}, such as {such}, not {quoted(text)}: numbers and names can move. "
                f"{shown_by} shows the handle of each {what}."
            )


def pick(names: Mapping[str, str], wanted: str, what: str, label: Callable[[str], str]) -> str | None:
    """The uuid that a name, or the beginning of a name or uuid, means; None when nothing is like it.

    Raises:
        Ambiguous: several fit; the sentence lists them.
        NotFound: none fits, but some are near; the sentence lists them.
    """
    key = wanted.casefold()
    if not key:
        return None
    found = [uuid for uuid, name in names.items() if name.casefold() == key]
    if not found and len(key) >= SHORTEST_PREFIX:
        found = [uuid for uuid in names if uuid.startswith(key)]
    found = found or [uuid for uuid, name in names.items() if name.casefold().startswith(key)]
    if len(found) == 1:
        return found[0]
    if found:
        shown = listed([label(uuid) for uuid in found])
        raise Ambiguous(f"Several {_PLURALS[what]} fit {quoted(wanted)}: {shown}. Give the number, or the uuid.")
    near = _near(names, key)
    if near:
        raise NotFound(f"There is no {what} {quoted(wanted)}. Near are: {listed([label(uuid) for uuid in near])}.")
    return None


_PLURALS = {"lorebook": "lorebooks", "entry": "entries"}


def _near(names: Mapping[str, str], key: str) -> Sequence[str]:
    if len(key) >= 200:
        return []
    folded = {uuid: name.casefold() for uuid, name in names.items() if name}
    return [uuid for _, _, uuid in process.extract(key, folded, scorer=fuzz.WRatio, score_cutoff=70, limit=3)]


@contextmanager
def open_lore(ctx: Context) -> Iterator[OpenLore]:
    """The lore of the book of the scope, and a read transaction that is open for as long as the block.

    Raises:
        Invalid: no book is open.
        NotFound: the book is gone.
    """
    with open_book(ctx) as opened:
        yield OpenLore(ctx, opened)
