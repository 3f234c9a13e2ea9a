"""What a book does not say itself, it inherits: from its folder, the folders above, the user's defaults, the studio.

Pure. A level is one place where a value may stand; the first level that says something wins, and empty (or only
spaces) says nothing. The last level is what is built in, where empty is an answer too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from marginalia_tui.domain.items import Book, Folder, Json

INHERITED = ("language", "pov", "tense", "style", "model")
"""The fields of a book and of a folder that are inherited; `prompts` are, each by its name."""


class Source(Enum):
    """Where a value comes from."""

    BOOK = "book"
    FOLDER = "folder"
    DEFAULTS = "defaults"
    BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class Level:
    """One place where values may stand."""

    source: Source
    name: str = ""
    """Of a folder."""
    values: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effective:
    """The value that holds, and where it comes from."""

    value: str
    source: Source
    folder: str = ""
    """The name of the folder that says it."""

    @property
    def own(self) -> bool:
        """Whether the book says it itself."""
        return self.source is Source.BOOK

    @property
    def where(self) -> str:
        """Where it comes from, in words."""
        if self.source is Source.FOLDER:
            return f"the folder {self.folder!r}"
        return _WORDS[self.source]


_WORDS = {Source.BOOK: "the book", Source.DEFAULTS: "your defaults", Source.BUILT_IN: "built in"}


@dataclass(frozen=True, slots=True)
class Inherited:
    """What holds for one book: its levels, the nearest first."""

    levels: Sequence[Level]

    def value(self, name: str) -> Effective:
        """The value of a field of `INHERITED`."""
        return self._first(lambda level: level.values.get(name, ""))

    def values(self) -> dict[str, Effective]:
        """Every field of `INHERITED` with its value."""
        return {name: self.value(name) for name in INHERITED}

    def prompt(self, name: str) -> Effective:
        """The template of a prompt (`domain.prompts.PROMPTS`)."""
        return self._first(lambda level: level.prompts.get(name, ""))

    def without_book(self) -> "Inherited":
        """What the book would inherit if it said nothing."""
        return Inherited([level for level in self.levels if level.source is not Source.BOOK])

    def _first(self, read: Callable[[Level], Json]) -> Effective:
        for level in self.levels:
            value = read(level)
            if isinstance(value, str) and value.strip():
                return Effective(value, level.source, level.name)
        return Effective("", Source.BUILT_IN)


def inherit(book: Book, folders: Sequence[Folder], defaults: Level, built_in: Level) -> Inherited:
    """The levels of a book.

    Args:
        book: the book, or its working copy.
        folders: its folder and those above, the nearest first.
        defaults: of the user.
        built_in: of the studio.
    """
    own = Level(Source.BOOK, values=_values(book), prompts=book.prompts)
    above = [Level(Source.FOLDER, each.name, _values(each), each.prompts) for each in folders]
    return Inherited([own, *above, defaults, built_in])


def _values(item: Book | Folder) -> dict[str, str]:
    return {name: getattr(item, name) or "" for name in INHERITED}


def folders_above(folders: Mapping[str, Folder], start: str | None) -> list[Folder]:
    """A folder and those above it, the nearest first; ends where one is missing or would come again.

    Args:
        folders: by uuid.
        start: the uuid of the first; None: there is none.
    """
    found: dict[str, Folder] = {}
    here = start
    while here is not None and here not in found and (folder := folders.get(here)) is not None:
        found[here] = folder
        here = folder.parent
    return list(found.values())
