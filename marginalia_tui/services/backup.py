"""Backups of books as files: taken at will, or made by themselves after so many changes or minutes.

Those that nobody named stand in `backups/books` of the home. Their names are made of a uuid and numbers alone: the
book, the moment, how far the journal was, and whether it was made by itself. Only those that were are ever removed.
A book with images gives a zip file, one without a single JSON object.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from marginalia_tui.domain.errors import Invalid, NotFound, Refused, StoreError
from marginalia_tui.domain.items import Book, Image
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.services.backup_format import write_backup
from marginalia_tui.services.backup_zip import write_zip
from marginalia_tui.services.effective import backup_rule
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.images import images_of_book
from marginalia_tui.store import tables
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store

MINUTE = 60_000_000
"""Microseconds."""
NEWEST = "latest"
"""Stands for the newest backup of the open book."""

_NAME = re.compile(r"([0-9a-f-]{36})\.([0-9]{1,18})\.([0-9]{1,18})\.(auto|hand)\.(?:json|zip)")


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup in the home."""

    path: Path
    book: str
    made: int
    """Microseconds since 1970."""
    position: int
    """How far the journal of the library was."""
    automatic: bool
    size: int
    """Bytes."""


def folder_of(store: Store) -> Path:
    """Where the backups of books stand; it need not be there yet."""
    return store.home / "backups" / "books"


def list_backups(store: Store, book: str | None = None) -> list[BackupFile]:
    """The backups in the home, of all books or of one, the newest first.

    Raises:
        StoreError: the folder can't be read.
    """
    found = [each for each in _files(folder_of(store)) if book in (None, each.book)]
    return sorted(found, key=lambda each: (-each.made, each.path.name))


def _files(folder: Path) -> Iterator[BackupFile]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                parts = _NAME.fullmatch(entry.name)
                if parts is not None and entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    automatic = parts[4] == "auto"
                    yield BackupFile(folder / entry.name, parts[1], int(parts[2]), int(parts[3]), automatic, size)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"The backups in {folder} can't be read: {error.strerror}.") from error


def find_backup(store: Store, name: str, book: str | None) -> Path:
    """The file of a backup: a number of the list or `latest`, a name in the list, or a path.

    Raises:
        NotFound: the list has no such backup.
    """
    wanted = name.strip()
    if wanted == NEWEST or (wanted.isascii() and wanted.isdigit() and len(wanted) < 10):
        listed = list_backups(store, book)
        place = 1 if wanted == NEWEST else int(wanted)
        if not 1 <= place <= len(listed):
            there = f"there are the numbers 1 to {len(listed)}" if listed else "there is none yet"
            raise NotFound(
                f"There is no backup {wanted}: {there}. list-backups shows them; a file is given by its path."
            )
        return listed[place - 1].path
    if _NAME.fullmatch(wanted):
        return folder_of(store) / wanted
    return typed_path(wanted)


def take(store: Store, book: str, path: Path | None = None, *, force: bool = False) -> tuple[Path, int]:
    """Makes a backup of a book of the library.

    Args:
        store: the store; no transaction may be open.
        book: its uuid.
        path: the file; None puts it with the others in the home. A name that ends in `.zip` gives a zip file.
        force: replaces a file that stands there.

    Returns:
        The file and its size in bytes.

    Raises:
        NotFound: there is no such book.
        Invalid, Refused: the file can't be written there, or exists.
    """
    if path is not None and os.path.lexists(path) and not force:
        raise Refused(f"{shown(path)} exists already: choose another name.")
    if path is None:
        made = _make(store, book, automatic=False)
        return made.path, made.size
    files.check_target(path, force)
    read = _read(store, book)
    as_zip = path.suffix.lower() == ".zip"
    if read.images and not as_zip:
        raise Invalid(f"The book has images, which only a zip file holds: name it {shown(path.with_suffix('.zip'))}.")
    return path.absolute(), _write(store, path, read, as_zip=as_zip, force=force)


@dataclass(frozen=True, slots=True)
class _Read:
    """A backup, when it was made, how far the journal was, and the images that it names."""

    data: bytes
    made: int
    position: int
    images: tuple[Image, ...]


def _read(store: Store, book: str) -> _Read:
    made = store.clock.now()
    with store.read() as tx:
        space = tx.space(LIBRARY)
        named = tuple(placed.image for placed in images_of_book(space, book))
        return _Read(write_backup(space, book, made), made, space.position(), named)


def _write(store: Store, path: Path, read: _Read, *, as_zip: bool, force: bool = False) -> int:
    """Writes the file, and answers its size in bytes."""
    if as_zip:
        return files.write_stream(path, lambda file: write_zip(file, read.data, read.images, store), force)
    files.write_file(path, read.data, force)
    return len(read.data)


def _make(store: Store, book: str, *, automatic: bool) -> BackupFile:
    read = _read(store, book)
    folder = folder_of(store)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder {folder} for backups can't be made: {error.strerror}.") from error
    as_zip = bool(read.images)
    name = f"{book}.{read.made}.{read.position}.{'auto' if automatic else 'hand'}.{'zip' if as_zip else 'json'}"
    size = _write(store, folder / name, read, as_zip=as_zip)
    return BackupFile(folder / name, book, read.made, read.position, automatic, size)


# By themselves.


def due(store: Store, book: str) -> bool:
    """Whether an automatic backup of a book is to be made now: by the changes or minutes since its last backup."""
    with store.read() as tx:
        found = tx.space(LIBRARY).find(Book, book)
    if found is None or found.deleted is not None:
        return False
    every, minutes = backup_rule(store.home, found)
    if not every and not minutes:
        return False
    last = next(iter(list_backups(store, book)), None)
    with store.read() as tx:
        changes = _changes_since(tx, book, last.position if last else 0)
    if every and changes >= every:
        return True
    if not minutes or not changes:
        return False
    since = last.made if last else found.created
    return store.clock.now() - since >= minutes * MINUTE


def _changes_since(tx: ReadTx, book: str, position: int) -> int:
    row, change = tables.journal.c, tables.change.c
    query = (
        select(func.count(func.distinct(row.change_id)))
        .select_from(tables.journal.join(tables.change, change.id == row.change_id))
        .where(row.space_id == LIBRARY, row.seq > position, change.book == book)
    )
    return int(tx.connection.execute(query).scalar_one())


def make(store: Store, book: str, keep: int) -> BackupFile:
    """Makes an automatic backup of a book, then removes its oldest automatic ones but `keep`.

    Raises:
        NotFound: there is no such book.
        Invalid, Refused, StoreError: it can't be written; the older ones are all there.
    """
    made = _make(store, book, automatic=True)
    for old in [each for each in list_backups(store, book) if each.automatic][max(keep, 1) :]:
        try:
            old.path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"The old backup {old.path} can't be removed: {error.strerror}.") from error
    return made
