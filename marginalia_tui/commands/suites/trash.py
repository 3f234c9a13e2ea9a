"""Commands for what is gone: the trash, what was deleted from the open book lately, the way back and out for good."""

from datetime import datetime
from typing import Annotated, Literal

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.references import Reference
from marginalia_tui.commands.results import Result, Told
from marginalia_tui.domain.errors import NotFound, Refused
from marginalia_tui.domain.items import Book, Lorebook
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.services import gone, trash
from marginalia_tui.services.gone import Gone
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx

Kind = Literal["book", "lorebook", "part", "entry", "annotation", "summary", "folder"]
_TRASHED = (Book.KIND, Lorebook.KIND)
_HISTORY = "the history of a book keeps what it lost, and goes with the book"


class GoneRow(Result):
    """Something that is gone. `item` is its uuid."""

    kind: str
    name: str
    begins: str
    when: str
    by: str
    """`author`, or the name of an agent."""
    item: str


class TrashList(Page):
    """What can be brought back: what is in the trash, what the open book lost lately, what no book has lost."""

    thing = ("thing that is gone", "things that are gone")

    gone: list[GoneRow]


@command(
    "list-trash",
    title="What is gone",
    severity=Severity.READ,
    returns="a row for each book and lorebook in the trash, and for what was deleted lately: when and by whom",
    example="/list-trash",
)
def list_trash(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> TrashList:
    """Lists the trash, the parts, entries, notes and summaries that the open book lost lately, and folders."""
    with ctx.scope.store.read() as tx:
        found = [*gone.in_trash(tx), *gone.lost_by(tx, ctx.scope.book)]
    some, page = page_of(found, offset, limit)
    rows = [
        GoneRow(
            kind=each.kind,
            name=each.name,
            begins=each.begins,
            when=_when(each.at),
            by=each.who or "author",
            item=each.uuid,
        )
        for each in some
    ]
    return TrashList(gone=rows, **page)


def _when(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")


class Restored(Told):
    """What was brought back."""

    kind: str
    name: str
    item: str
    items: int
    """How many items came back with it."""
    notes: list[str]

    def sentence(self) -> str:
        """What it is."""
        more = f", with {counted(self.items - 1, 'thing')} that went with it" if self.items > 1 else ""
        return " ".join([f"Brought back: the {self.kind} {quoted(self.name)}{more}.", *self.notes])


WhatRef = Annotated[Reference, Param("its name, the beginning of its text, or its uuid", names="gone")]
KindRef = Annotated[Kind | None, Param("of what kind it is, where several have the name")]


@command(
    "restore-from-trash",
    title="Bring back what is gone",
    severity=Severity.CHANGE,
    returns="what was brought back",
    example='/restore-from-trash "Chapter 3" part',
)
def restore_from_trash(ctx: Context, what: WhatRef, kind: KindRef = None) -> Effect[Restored]:
    """Brings back a book or lorebook from the trash, a folder, or what the open book lost lately, as it was last."""
    with ctx.scope.store.read() as tx:
        found = gone.find_gone(tx, what, ctx.scope.book, kind)
    name = found.name or found.begins

    def apply(tx: WriteTx) -> Restored:
        _check_still(tx, found)
        back = trash.take_out(tx, found) if found.kind in _TRASHED else trash.bring_back(tx, found)
        return Restored(kind=found.kind, name=name, item=found.uuid, items=len(back.uuids), notes=list(back.notes))

    if found.kind in _TRASHED:
        act = Act(actor="author", label="Restore from the trash", book=found.uuid if found.kind == Book.KIND else None)
        return Effect(apply, act=act)
    if found.book is None:
        return Effect(apply, act=Act(actor="author", label="Bring back what is gone"))
    return Effect(apply)


def _check_still(tx: WriteTx, found: Gone) -> None:
    there = gone.in_trash(tx) if found.kind in _TRASHED else gone.lost(tx, found.book)
    if found not in there:
        raise NotFound(
            f"The {found.kind} {quoted(found.name or found.begins)} is not gone any more: nothing was changed."
        )


class Deleted(Result):
    """What was deleted for good."""

    books: int
    lorebooks: int
    names: list[str]

    def sentence(self) -> str:
        """How much."""
        words = [
            *([counted(self.books, "book")] if self.books else []),
            *([counted(self.lorebooks, "lorebook")] if self.lorebooks else []),
        ]
        return f"Deleted for good: {' and '.join(words)}." if words else "The trash was empty."


@command(
    "delete-for-good",
    title="Delete for good",
    severity=Severity.REMOVE,
    destructive=True,
    work=Work.LONG,
    returns="what is gone for good",
    example='/delete-for-good "An old draft"',
)
def delete_for_good(ctx: Context, what: WhatRef, kind: KindRef = None) -> Effect[Deleted]:
    """Deletes a book or lorebook in the trash for good, with all that belongs to it. Nothing brings it back."""
    with ctx.scope.store.read() as tx:
        found = gone.find_gone(tx, what, None, kind)
    if found.kind not in _TRASHED:
        raise Refused(f"Only books and lorebooks are deleted for good: {_HISTORY}.")
    return _delete(ctx, [found], f"Delete the {found.kind} {quoted(found.name)} for good? Nothing brings it back.")


@command(
    "empty-trash",
    title="Empty the trash",
    severity=Severity.REMOVE,
    destructive=True,
    work=Work.LONG,
    returns="what is gone for good",
    example="/empty-trash",
)
def empty_trash(ctx: Context) -> Effect[Deleted]:
    """Deletes everything that is in the trash for good. Nothing brings it back."""
    with ctx.scope.store.read() as tx:
        found = gone.in_trash(tx)
    if not found:
        raise Refused("The trash is empty.")
    return _delete(
        ctx, found, f"Delete the {counted(len(found), 'thing')} in the trash for good? Nothing brings it back."
    )


def _delete(ctx: Context, found: list[Gone], question: str) -> Effect[Deleted]:
    with ctx.scope.store.read() as tx:
        counts = tx.space(LIBRARY).counts()
    shows = [_shown(counts, each) for each in found]
    ctx.confirm(question, shows)

    def apply(tx: WriteTx) -> Deleted:
        for each in found:
            _check_still(tx, each)
        # Books first: what their runs copied holds back the lorebooks.
        for each in sorted(found, key=lambda one: one.kind != Book.KIND):
            if each.kind == Book.KIND:
                trash.delete_book_for_good(tx, each.uuid)
            else:
                trash.delete_lorebook_for_good(tx, each.uuid)
        books = sum(each.kind == Book.KIND for each in found)
        return Deleted(books=books, lorebooks=len(found) - books, names=[each.name for each in found])

    return Effect(apply, act=Act(actor="author", label="Delete for good"))


def _shown(counts: dict[str, tuple[int, int]], each: Gone) -> str:
    if each.kind != Book.KIND:
        return f"the lorebook {quoted(each.name)} with its entries and their history"
    parts, words = counts.get(each.uuid, (0, 0))
    return (
        f"the book {quoted(each.name)}: {counted(parts, 'part')}, {counted(words, 'word')}, "
        "its history, its agents with their runs, its drafts"
    )
