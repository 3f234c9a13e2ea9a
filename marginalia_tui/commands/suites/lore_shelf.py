"""Commands for what lies beyond the lore of one book: all lorebooks of the library, linking them, copying entries.

They are the author's: an agent sees the lore of its book and nothing else.
"""

from typing import Annotated

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.lore_references import EntryRef, OpenLore, open_lore
from marginalia_tui.commands.references import Reference
from marginalia_tui.commands.results import EntryHandle, LorebookHandle, Result, Told
from marginalia_tui.commands.suites.lore_write import still_there
from marginalia_tui.domain.errors import Ambiguous, NotFound, Refused
from marginalia_tui.domain.items import Lorebook
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services import lore_shelf
from marginalia_tui.services.lore import count_entries, delete_lorebook, other_books
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import Space
from marginalia_tui.store.store import WriteTx

AnyLorebook = Annotated[
    Reference, Param("the lorebook: its name or its uuid, whichever book uses it", names="lorebook")
]


class ShelfRow(Result):
    """A lorebook of the library. `under` are the names of those right above it."""

    lorebook: LorebookHandle
    name: str
    entries: int
    enabled: bool
    books: list[str]
    """The titles of the books that use it; none: it is unused."""
    under: list[str]


class Shelf(Page):
    """The lorebooks of the library, by name."""

    thing = ("lorebook", "lorebooks")

    lorebooks: list[ShelfRow]


@command(
    "list-all-lorebooks",
    title="List all lorebooks",
    severity=Severity.READ,
    returns="a row for each lorebook of the library: name, entries, the books that use it",
    example="/list-all-lorebooks",
)
def list_all_lorebooks(
    ctx: Context,
    unused: Annotated[bool, Param("whether only those are listed that no book uses")] = False,
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> Shelf:
    """Lists all lorebooks of the library with the books that use them, or those that none uses."""
    with ctx.reading() as space:
        found = [each for each in lore_shelf.lorebook_shelf(space) if not (unused and each.books)]
    some, page = page_of(found, offset, limit)
    rows = [
        ShelfRow(
            lorebook=each.lorebook.uuid,
            name=each.lorebook.name,
            entries=each.entries,
            enabled=each.lorebook.enabled,
            books=[book.title for book in each.books],
            under=list(each.above),
        )
        for each in some
    ]
    return Shelf(lorebooks=rows, **page)


class LorebookLinked(Told):
    """A lorebook that is the root of the lore of the book now."""

    result: str
    lorebook: LorebookHandle
    name: str
    entries: int

    def sentence(self) -> str:
        """What it is."""
        entries = counted(self.entries, "entry", "entries")
        return f"{quoted(self.name)} is the root of the lore of this book, with {entries}."


@command(
    "link-lorebook",
    title="Link a lorebook to the book",
    severity=Severity.CHANGE,
    returns="the lorebook, which is the root of the lore of the book now",
    example='/link-lorebook "The coast"',
)
def link_lorebook(ctx: Context, lorebook: AnyLorebook) -> Effect[LorebookLinked]:
    """Makes a lorebook the root of the lore of a book that has none; other books may use it too."""
    with open_lore(ctx) as opened:
        if opened.tree.root is not None:
            raise Refused(
                f"This book has lore, with the root {quoted(opened.tree.root.name)}: add-subbook puts a lorebook "
                "below it, and unlink-lorebook takes it away."
            )
        value = opened.any_lorebook(lorebook)
        _check_not_in_trash(value)
        seen = opened.load_lorebook(value.uuid)

    def apply(tx: WriteTx) -> LorebookLinked:
        space = tx.space(ctx.scope.space)
        lore_shelf.link_root(space, ctx.scope.open_book, value.uuid)
        entries = count_entries(space, [value.uuid])[value.uuid]
        return LorebookLinked(result="linked", lorebook=value.uuid, name=value.name, entries=entries)

    return Effect(apply, reads={("lorebook", value.uuid): seen})


class LorebookUnlinked(Told):
    """The lore that the book does not use any more."""

    result: str
    lorebook: LorebookHandle
    name: str

    def sentence(self) -> str:
        """What was done."""
        return f"This book does not use {quoted(self.name)} any more; link-lorebook links it again."


@command(
    "unlink-lorebook",
    title="Take its lore away from the book",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the lorebook that was the root",
    example="/unlink-lorebook",
)
def unlink_lorebook(ctx: Context) -> Effect[LorebookUnlinked]:
    """Takes its root lorebook, and all below it, away from the book; the lorebooks and entries stay."""
    with open_lore(ctx) as opened:
        root = opened.tree.root
        if root is None:
            raise NotFound("This book has no lore: link-lorebook links a lorebook, create-lore-entry begins one.")
        books, book = len(opened.tree.lorebooks), opened.book
        seen = {("book", book.uuid): opened.space.hashes(type(book), [book.uuid])[book.uuid]}
    ctx.confirm(
        f"Take the lore {quoted(root.name)} away from this book?",
        [f"The {counted(books, 'lorebook')} and their entries stay: link-lorebook links them again."],
    )

    def apply(tx: WriteTx) -> LorebookUnlinked:
        lore_shelf.unlink_root(tx.space(ctx.scope.space), ctx.scope.open_book)
        return LorebookUnlinked(result="unlinked", lorebook=root.uuid, name=root.name)

    return Effect(apply, reads=seen)


class LorebookTrashed(Told):
    """A lorebook that is in the trash."""

    result: str
    lorebook: LorebookHandle
    name: str
    entries: int

    def sentence(self) -> str:
        """What was done."""
        entries = counted(self.entries, "entry", "entries")
        return f"{quoted(self.name)} is in the trash with its {entries}. restore-from-trash brings it back."


@command(
    "delete-unused-lorebook",
    title="Delete an unused lorebook",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the lorebook, which is in the trash now",
    example='/delete-unused-lorebook "Old notes"',
)
def delete_unused_lorebook(ctx: Context, lorebook: AnyLorebook) -> Effect[LorebookTrashed]:
    """Moves a lorebook that no book uses to the trash, with its entries."""
    with ctx.reading() as space:
        found = _shelved(space, lorebook)
        value = found.lorebook
        seen = {("lorebook", value.uuid): space.hashes(Lorebook, [value.uuid])[value.uuid]}
        trashed = [quoted(book.title, 40) for book in other_books(space, value.uuid, "")]
    _check_unused(found)
    ctx.confirm(
        f"Move {quoted(value.name)} with its {counted(found.entries, 'entry', 'entries')} to the trash?",
        [f"Books in the trash use it: {listed(trashed, 5)}."] if trashed else [],
    )

    def apply(tx: WriteTx) -> LorebookTrashed:
        space = tx.space(ctx.scope.space)
        if not lore_shelf.is_unused(space, value.uuid):
            raise Refused("A book uses the lorebook now: nothing was changed.")
        delete_lorebook(space, value.uuid)
        return LorebookTrashed(result="deleted", lorebook=value.uuid, name=value.name, entries=found.entries)

    return Effect(apply, reads=seen, act=Act(actor=ctx.scope.actor, label="Delete an unused lorebook"))


class EntryCopied(Told):
    """A new entry that is like another one."""

    result: str
    entry: EntryHandle
    name: str
    lorebook: LorebookHandle
    lorebook_name: str

    def sentence(self) -> str:
        """Where it is."""
        return f"A copy of {quoted(self.name)} is in {quoted(self.lorebook_name)}."


@command(
    "copy-lore-entry",
    title="Copy a lore entry",
    severity=Severity.ADD,
    returns="the new entry and the lorebook that it is in",
    example="/copy-lore-entry 1.5 Places",
)
def copy_lore_entry(ctx: Context, entry: EntryRef, lorebook: AnyLorebook) -> Effect[EntryCopied]:
    """Copies a lore entry, with all its fields, into a lorebook of this book or of another one."""
    with open_lore(ctx) as opened:
        value, seen = opened.load_entry(opened.written_entry(entry))
        into = _lorebook_of(opened, lorebook)

    def apply(tx: WriteTx) -> EntryCopied:
        space = tx.space(ctx.scope.space)
        where = still_there(space, into.uuid)
        copied = lore_shelf.copy_entry(space, value.uuid, where.uuid)
        return EntryCopied(
            result="copied", entry=copied.uuid, name=copied.name, lorebook=where.uuid, lorebook_name=where.name
        )

    return Effect(apply, reads={("entry", value.uuid): seen})


def _lorebook_of(opened: OpenLore, text: str) -> Lorebook:
    found = opened.any_lorebook(text)
    _check_not_in_trash(found)
    return found


def _check_not_in_trash(lorebook: Lorebook) -> None:
    if lorebook.deleted is not None:
        raise NotFound(f"{quoted(lorebook.name)} is in the trash: restore-from-trash brings it back.")


def _shelved(space: Space, text: str) -> lore_shelf.ShelvedLorebook:
    """A lorebook of the library by its uuid or its name.

    Raises:
        NotFound, Ambiguous: none fits, or several do.
    """
    shelf, wanted = lore_shelf.lorebook_shelf(space), text.strip().casefold()
    found = [each for each in shelf if wanted in (each.lorebook.uuid, each.lorebook.name.casefold())]
    if not found:
        raise NotFound(f"There is no lorebook {quoted(text)}: list-all-lorebooks shows them all.")
    if len(found) > 1:
        shown = listed([each.lorebook.uuid for each in found])
        raise Ambiguous(f"Several lorebooks have the name {quoted(text)}: give the uuid, one of {shown}.")
    return found[0]


def _check_unused(found: lore_shelf.ShelvedLorebook) -> None:
    if found.books:
        books = listed([quoted(book.title, 40) for book in found.books], 3)
        raise Refused(f"{quoted(found.lorebook.name)} is used by {books}: delete-lorebook deletes it there.")
