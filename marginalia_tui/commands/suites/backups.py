"""Commands for backups of books: taken, listed, restored.

They write and read files, which only the author may name; to take one changes nothing of the book.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.results import BookHandle, Result, Told
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services import backup, backup_restore
from marginalia_tui.services.backup_read import Backup, read_backup, read_head
from marginalia_tui.services.books import list_books
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx

FilePath = Annotated[str, Field(max_length=4_096)]
LONGEST_NAME = 255
"""Bytes of a name that a disk takes."""
Mode = Literal["as-new", "parts-only", "all"]


class BackupTaken(Told):
    """A backup that was written."""

    file: str
    bytes: int

    def sentence(self) -> str:
        """Where it is."""
        return f"The backup is {self.file} ({counted(self.bytes, 'byte')})."


@command(
    "take-backup",
    title="Back up the book",
    severity=Severity.READ,
    work=Work.LONG,
    returns="the file that was written",
    example="/take-backup lamp.zip",
)
def take_backup(
    ctx: Context,
    file: Annotated[
        FilePath, Param("the file to write, a zip file when it ends in .zip; without it one in the home", names="file")
    ] = "",
) -> BackupTaken:
    """Writes the book with its parts, summaries, notes and lorebooks to a file that can be restored."""
    ctx.status("Writing the backup")
    path, size = backup.take(ctx.scope.store, ctx.scope.open_book, _path(file) if file.strip() else None)
    return BackupTaken(file=str(path), bytes=size)


def _path(text: str) -> Path:
    """The path that was typed.

    Raises:
        Invalid: a name in it is longer than a disk takes.
    """
    path = typed_path(text)
    if any(len(os.fsencode(name)) > LONGEST_NAME for name in path.parts):
        raise Invalid(f"{quoted(text, 30)} is no path: no name in it is longer than {LONGEST_NAME} bytes.")
    return path


class BackupRow(Result):
    """A backup in the home."""

    number: int
    made: str
    title: str
    parts: int
    words: int
    kilobytes: int
    by_itself: bool
    file: str


class BackupList(Page):
    """The backups in the home, the newest first."""

    thing = ("backup", "backups")

    backups: list[BackupRow]


@command(
    "list-backups",
    title="List the backups",
    severity=Severity.READ,
    returns="a row for each backup in the home: when, parts, words, file",
    example="/list-backups",
)
def list_backups(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> BackupList:
    """Lists the backups of the open book in the home, the newest first; those of all books when none is open."""
    store = ctx.scope.store
    found = backup.list_backups(store, ctx.scope.book)
    with store.read() as tx:
        titles = {book.uuid: book.title for book in [*list_books(tx), *list_books(tx, deleted=True)]}
    some, page = page_of(found, offset, limit)
    rows = []
    for number, each in enumerate(some, start=offset + 1):
        head = read_head(each.path)
        rows.append(
            BackupRow(
                number=number,
                made=_when(each.made),
                title=head.title if head else titles.get(each.book, "damaged"),
                parts=head.parts if head else 0,
                words=head.words if head else 0,
                kilobytes=-(-each.size // 1_000),
                by_itself=each.automatic,
                file=each.path.name,
            )
        )
    return BackupList(backups=rows, **page)


def _when(at: int) -> str:
    try:
        return datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


class BackupRestored(Told):
    """What a restore made or changed. `items` are those that are other than before."""

    mode: str
    book: BookHandle
    title: str
    parts: int
    entries: int
    items: int
    notes: list[str]

    def sentence(self) -> str:
        """What happened."""
        what = f"{quoted(self.title)}: {counted(self.parts, 'part')}"
        what += f", {counted(self.entries, 'lore entry', 'lore entries')}" if self.entries else ""
        done = "Restored as a new book" if self.mode == "as-new" else "Restored in place"
        changed = "" if self.mode == "as-new" else f"; {counted(self.items, 'item')} changed, which undo takes back"
        return " ".join([f"{done}: {what}{changed}.", *self.notes])


@command(
    "restore-backup",
    title="Restore a backup",
    severity=Severity.CHANGE,
    destructive=True,
    work=Work.LONG,
    returns="the book, its parts and how much was changed",
    example="/restore-backup latest all",
)
def restore_backup(
    ctx: Context,
    file: Annotated[FilePath, Param("a number or file of list-backups, latest, or the path of a file", names="backup")],
    mode: Annotated[
        Mode, Param("as-new: a new book; parts-only: the parts of the open book; all: everything in it")
    ] = "as-new",
) -> Effect[BackupRestored]:
    """Restores a backup as a new book, or in the place of the parts or of all that the open book holds. Asks first."""
    store = ctx.scope.store
    if not file.strip():
        raise Invalid("Name the backup: a number of list-backups, latest, or the path of a file.")
    open_book = ctx.scope.book if mode == "as-new" else ctx.scope.open_book
    _path(file)
    found = read_backup(backup.find_backup(store, file, ctx.scope.book))
    ctx.check()
    if mode == "as-new":
        uuid = store.clock.new_uuid()
        ctx.confirm("Restore this backup as a new book?", _shown(found))
    else:
        assert open_book is not None
        uuid = open_book
        ctx.confirm(*_question(ctx, found, mode, uuid))

    def apply(tx: WriteTx) -> BackupRestored:
        library = tx.space(LIBRARY)
        done = _RESTORES[mode](library, found, uuid)
        title = library.get(Book, uuid).title
        return BackupRestored(
            mode=mode,
            book=uuid,
            title=title,
            parts=done.parts,
            entries=done.entries,
            items=done.changed,
            notes=list(done.notes),
        )

    return Effect(apply, act=Act(actor="author", label="Restore a backup", book=uuid))


_RESTORES = {
    "as-new": backup_restore.restore_as_new,
    "parts-only": backup_restore.restore_parts,
    "all": backup_restore.restore_all,
}


def _shown(found: Backup) -> list[str]:
    words = [
        counted(len(found.parts), "part"),
        *([f"{len(found.summaries):,} summaries"] if found.summaries else []),
        *([counted(len(found.annotations), "note")] if found.annotations else []),
        *([counted(len(found.entries), "lore entry", "lore entries")] if found.entries else []),
    ]
    return [f"{quoted(found.book.title)} as of {_when(found.made)}: {', '.join(words)}", *found.notes]


def _question(ctx: Context, found: Backup, mode: str, uuid: str) -> tuple[str, list[str]]:
    with ctx.scope.store.read() as tx:
        library = tx.space(LIBRARY)
        book = library.get(Book, uuid)
        parts = len(library.outline(uuid))
        others = backup_restore.sharing(library, uuid) if mode == "all" else []
    what = "everything in" if mode == "all" else "the parts of"
    shows = [*_shown(found), f"in the place of {counted(parts, 'part')} that the book has now"]
    if mode == "all":
        backup_restore.check_same(found, uuid)
    if others:
        shows.append(f"its lorebooks change for other books, too: {listed([quoted(each) for each in others])}")
    return f"Replace {what} {quoted(book.title)} with this backup?", shows
