"""What the screen of the backups of a book asks."""

from dataclasses import dataclass

from marginalia_tui.desk.names import moment
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book
from marginalia_tui.services import backup
from marginalia_tui.services.backup_read import read_head
from marginalia_tui.services.effective import backup_rule
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio


@dataclass(frozen=True, slots=True)
class BackupLine:
    """A backup in the home."""

    file: str
    """The name of the file, by which the commands know it."""
    made: str
    title: str
    """Of the book then; empty of a file that is damaged."""
    parts: int
    words: int
    size: str
    by_itself: bool


@dataclass(frozen=True, slots=True)
class BackupView:
    """The backups of a book, the newest first, and when one is made by itself."""

    lines: tuple[BackupLine, ...]
    changes: int
    minutes: int
    """0: not by that."""
    own: bool
    """Whether the book says so, and not the defaults of the user."""


class BackupDesk:
    """The backups of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._store = studio.store

    def look(self, book: str) -> BackupView:
        """The backups of a book of the library.

        Raises:
            NotFound: the book is gone.
            StoreError: the folder of the backups can't be read.
        """
        with self._store.read() as tx:
            found = tx.space(LIBRARY).find(Book, book)
        if found is None:
            raise NotFound("This book is not in the library any more.")
        changes, minutes = backup_rule(self._store.home, found)
        own = found.backup_changes is not None or found.backup_minutes is not None
        return BackupView(tuple(map(_line, backup.list_backups(self._store, book))), changes, minutes, own)


def _line(each: backup.BackupFile) -> BackupLine:
    head = read_head(each.path)
    return BackupLine(
        file=each.path.name,
        made=moment(each.made),
        title=head.title if head else "",
        parts=head.parts if head else 0,
        words=head.words if head else 0,
        size=f"{-(-each.size // 1_000):,} kB",
        by_itself=each.automatic,
    )
