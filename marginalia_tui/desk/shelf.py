"""The books in their folders, read with the store alone: they are there before the rest of the studio is imported."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from marginalia_tui.services import books
from marginalia_tui.services.folders import folder_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store


@dataclass(frozen=True, slots=True)
class BookLine:
    """A book in the list."""

    uuid: str
    title: str
    author: str
    parts: int
    words: int
    when: str
    """When it was opened last, as a date."""
    agent: str
    """The agent that holds it; empty when none does."""
    folder: str | None = None
    """The uuid of its folder; None at the top."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderLine:
    """A folder in the tree. `books`, `words` and `agents` count those of the folders below, too."""

    uuid: str
    name: str
    parent: str | None
    path: str
    """The names from the top, with ` / ` between them."""
    depth: int
    """0 at the top."""
    books: int
    words: int
    agents: tuple[str, ...]
    """The agents that hold a book in it, and so what its books inherit and its place."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The library: books by title, folders each before those in it."""

    books: tuple[BookLine, ...] = ()
    folders: tuple[FolderLine, ...] = ()


def list_shelf(store: Store) -> Shelf:
    """The library as it is now; what is in the trash is left out."""
    with store.read() as tx:
        rows = books.list_books(tx)
        tree = folder_tree(tx.space(LIBRARY))
    lines = tuple(
        BookLine(
            row.uuid,
            row.title,
            row.author,
            row.parts,
            row.words,
            _date(row.opened),
            row.locked_by or "",
            row.folder_uuid,
            row.tags,
        )
        for row in rows
    )
    parents = {each.folder.uuid: each.folder.parent for each in tree}
    words: Counter[str] = Counter()
    agents: dict[str, dict[str, None]] = {}
    for book in lines:
        for folder in _above(parents, book.folder):
            words[folder] += book.words
            if book.agent:
                agents.setdefault(folder, {})[book.agent] = None
    folders = tuple(
        FolderLine(
            each.folder.uuid,
            each.folder.name,
            each.folder.parent if each.folder.parent in parents else None,
            each.path,
            each.depth - 1,
            each.below,
            words[each.folder.uuid],
            tuple(agents.get(each.folder.uuid, ())),
        )
        for each in tree
    )
    return Shelf(lines, folders)


def _above(parents: dict[str, str | None], folder: str | None) -> list[str]:
    """A folder and those above it, the nearest first."""
    found: dict[str, None] = {}
    while folder in parents and folder not in found:
        found[folder] = None
        folder = parents[folder]
    return list(found)


def read_shelf(home: Path) -> Shelf:
    """The library of a home that nobody has opened yet.

    Raises:
        StoreError: the store can't be opened; the sentence says what to do.
    """
    with closing(Store.open(home)) as store:
        return list_shelf(store)


def _date(moment: int | None) -> str:
    """A moment (microseconds since 1970) as people write it; empty for none."""
    return "" if moment is None else datetime.fromtimestamp(moment / 1_000_000).strftime("%Y-%m-%d %H:%M")
