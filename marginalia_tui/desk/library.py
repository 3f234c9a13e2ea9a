"""What the library screen asks: the books in their folders, import and export."""

from dataclasses import dataclass
from pathlib import Path

from marginalia_tui.desk.shelf import Shelf, list_shelf
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted
from marginalia_tui.services import books
from marginalia_tui.studio import Studio

FORMATS = (
    ("markdown", "Markdown, one file"),
    ("epub", "EPUB"),
    ("docx", "Word document"),
    ("chat", "chat of SillyTavern, with swipes"),
    ("card", "character card (V2)"),
    ("text", "plain text"),
    ("backup", "backup, with all of the book"),
    ("folder", "Markdown, a file for each part"),
    ("longform", "a project of Longform"),
)
"""The formats by name, with the words for them."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A book that was imported, with what was noticed on the way."""

    uuid: str
    sentence: str
    notes: tuple[str, ...]


class LibraryDesk:
    """The library of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._store = studio.store

    def shelf(self) -> Shelf:
        """The books in their folders."""
        return list_shelf(self._store)

    def create(self, title: str) -> str:
        """A new, empty book; answers its uuid."""
        return books.create_book(self._store, title).uuid

    def to_trash(self, book: str) -> None:
        """Moves a book to the trash."""
        books.trash_book(self._store, book)

    def import_folder(self) -> Path:
        """Where the file picker begins."""
        return _folder(self._studio.settings.import_folder)

    def export_folder(self) -> Path:
        """Where exports go."""
        return _folder(self._studio.settings.export_folder)

    def bring_in(self, path: Path, *, title: str, format: str, level: int | None) -> Imported:
        """Imports a file or a folder; an empty title or format is recognised from the content.

        Raises:
            MarginaliaError: it can't be read as a book; the sentence says what to do.
        """
        # The readers of all formats are a seventh of what the opening would import.
        from marginalia_tui.services.exchange.library import import_book

        made = import_book(self._store, path, title=title.strip() or None, format=format or None, level=level)
        sentence = f"Imported {made.title!r}: {counted(made.parts, 'part')}, {counted(made.words, 'word')}."
        return Imported(made.uuid, sentence, tuple(made.notes))

    def formats(self) -> tuple[tuple[str, str], ...]:
        """The formats of an export by name, with the words for them."""
        return FORMATS

    def take_out(self, book: str, path: Path, *, format: str, force: bool) -> str:
        """Exports a book; answers what was written, in a sentence. A path without a suffix gets that of the format.

        Raises:
            MarginaliaError: it can't be written there; the sentence says what to do.
        """
        from marginalia_tui.services.exchange.library import export_book
        from marginalia_tui.services.exchange.recognise import SUFFIXES

        suffix = next((suffix for suffix, name in SUFFIXES.items() if name == format), "")
        path = path.with_name(path.name + suffix) if suffix and not path.suffix else path
        written = export_book(self._store, book, format, path, force=force)
        return " ".join((f"Wrote {written.path} ({written.size:,} bytes).", *written.notes))


def _folder(setting: str) -> Path:
    wanted = typed_path(setting) if setting else Path.cwd()
    return wanted if wanted.is_dir() else Path.home()
