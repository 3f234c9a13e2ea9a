"""What holds for a book: its own values and those that it inherits, read from where they stand.

A working copy has no folders: it reads those of its original through the library, and never writes there.
"""

from functools import cache
from pathlib import Path

from marginalia_tui.domain.inherit import INHERITED, Inherited, Level, Source, folders_above, inherit
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.domain.prompts import PROMPTS
from marginalia_tui.resources import prompt
from marginalia_tui.settings import load_settings
from marginalia_tui.store.space import LIBRARY, Space

LANGUAGE = "en"
"""The language of a book when nobody says another."""


def inherited(space: Space, book: Book) -> Inherited:
    """What holds for a book of a space.

    Args:
        space: the library, or a working copy.
        book: as it stands there.

    Raises:
        StoreError: the settings of the user can't be read.
    """
    library = space.tx.space(LIBRARY)
    # A copy keeps the folder that it was made in; its original may have been moved since.
    original = book if space.id == LIBRARY else library.find(Book, book.uuid) or book
    folders = chain_of(library, original.folder)
    return inherit(book, folders, user_defaults(space.tx.store.home), built_in())


def inherited_in(space: Space, folder: str | None) -> Inherited:
    """What holds for a book that stands in a folder of the library (None: at the top) and says nothing itself.

    Raises:
        StoreError: the settings of the user can't be read.
    """
    silent = Book(uuid="", title="", language="")
    folders = chain_of(space.tx.space(LIBRARY), folder)
    return inherit(silent, folders, user_defaults(space.tx.store.home), built_in()).without_book()


def chain_of(library: Space, folder: str | None) -> list[Folder]:
    """A folder of the library and those above it, the nearest first."""
    known: dict[str, Folder] = {}
    here = folder
    while here is not None and here not in known and (found := library.find(Folder, here)) is not None:
        known[here] = found
        here = found.parent
    return folders_above(known, folder)


def user_defaults(home: Path) -> Level:
    """What the user set for all books.

    Raises:
        StoreError: the settings can't be read.
    """
    settings = load_settings(home)
    values = {name: getattr(settings, f"default_{name}") for name in INHERITED}
    return Level(Source.DEFAULTS, values=values, prompts=settings.default_prompts)


def backup_rule(home: Path, book: Book) -> tuple[int, int]:
    """After how many changes and minutes a book is backed up by itself; 0: not by that.

    Raises:
        StoreError: the settings of the user can't be read.
    """
    settings = load_settings(home)
    changes, minutes = book.backup_changes, book.backup_minutes
    return (
        settings.default_backup_changes if changes is None else changes,
        settings.default_backup_minutes if minutes is None else minutes,
    )


def versions_listed(home: Path, book: Book) -> int | None:
    """How many versions of a part are listed; None: all.

    Raises:
        StoreError: the settings of the user can't be read.
    """
    return book.history_limit or load_settings(home).default_history_limit or None


@cache
def built_in() -> Level:
    """What the studio brings: a language and the prompts. It has no opinion of point of view, tense and style."""
    prompts = {name: prompt(f"default-{name}") for name in PROMPTS}
    return Level(Source.BUILT_IN, values={"language": LANGUAGE}, prompts=prompts)
