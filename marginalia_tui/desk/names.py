"""What of the library can be named in a command line: books, folders, what is gone, backups."""

from datetime import datetime

from marginalia_tui.services import backup, gone
from marginalia_tui.services.backup_read import read_head
from marginalia_tui.services.folders import folder_tree
from marginalia_tui.store.space import Space
from marginalia_tui.store.store import ReadTx, Store

BACKUPS = 50
"""Backups that are proposed, the newest."""


def folder_names(library: Space) -> list[tuple[str, int]]:
    """The path of each folder, and how many books are in it and below."""
    return [(line.path, line.below) for line in folder_tree(library)]


def book_names(library: Space) -> list[tuple[str, str, int]]:
    """Uuid, title and number of words of each book, by title."""
    counts = library.counts()
    found = [(book.uuid, book.title, counts.get(book.uuid, (0, 0))[1]) for book in library.books() if not book.deleted]
    return sorted(found, key=lambda each: (each[1].casefold(), each[0]))


def gone_names(tx: ReadTx, book: str | None) -> list[tuple[str, str, str, str]]:
    """Kind, uuid, name and moment of what can be brought back, while a book (or none) is open."""
    found = [*gone.in_trash(tx), *gone.lost_by(tx, book)]
    return [(each.kind, each.uuid, each.name or each.begins, moment(each.at)) for each in found]


def backup_names(store: Store, book: str | None) -> list[tuple[str, str]]:
    """When the backups of a book (None: of all) were made and what each holds, the newest first.

    Raises:
        StoreError: their folder can't be read.
    """
    found = []
    for each in backup.list_backups(store, book)[:BACKUPS]:
        head = read_head(each.path)
        found.append((moment(each.made), f"{head.title}, {head.words:,} words" if head else "damaged"))
    return found


def moment(at: int) -> str:
    """A moment (microseconds since 1970) as people write it; one from the name of a file may be any number."""
    try:
        return datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
