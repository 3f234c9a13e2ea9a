"""The library as the rows of a table: books, then folders as a tree with what is in them; or only what fits words.

Pure: what is shown follows from the library, the folders that are closed, and the words.
"""

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from marginalia_tui.widgets.table import Column, Row, Tone

if TYPE_CHECKING:
    from marginalia_tui.desk.shelf import BookLine, FolderLine, Shelf

DEEPEST = 8
"""Steps to the right at most, so that there is room for the names in a folder that lies deeper."""
STEP = "  "


def columns(shelf: "Shelf") -> list[Column]:
    """The columns; that of the tags is there when a book has one."""
    tags = [Column("Tags", grow=1, minimum=8, drop=4)] if _has_tags(shelf) else []
    return [
        Column("Title", grow=3, minimum=12),
        *tags,
        Column("Parts", "right", drop=3),
        Column("Words", "right", drop=1),
        Column("Last opened", width=16, drop=5),
        Column("Agent", drop=2),
    ]


def _has_tags(shelf: "Shelf") -> bool:
    return any(book.tags for book in shelf.books)


def shelf_rows(shelf: "Shelf", closed: Set[str], words: str = "") -> list[Row]:
    """The rows from the top, with the uuid of a book or folder as key.

    Args:
        shelf: the library.
        closed: the folders whose content is not shown.
        words: what is looked for; with any, all folders are open and only what fits is there.
    """
    wanted = words.casefold().split()
    books = found_books(shelf, words)
    kept = _kept(shelf, books, wanted)
    inside: dict[str | None, list[BookLine]] = {}
    for book in books:
        inside.setdefault(book.folder, []).append(book)
    tags = _has_tags(shelf)
    rows = [_book_row(book, 0, tags) for book in inside.get(None, ())]
    hidden: set[str | None] = set()
    for folder in shelf.folders:
        if folder.parent in hidden or (not wanted and folder.uuid in closed):
            hidden.add(folder.uuid)
        if folder.uuid not in kept or folder.parent in hidden:
            continue
        rows.append(_folder_row(folder, folder.uuid not in hidden, tags))
        if folder.uuid not in hidden:
            rows.extend(_book_row(book, folder.depth + 1, tags) for book in inside.get(folder.uuid, ()))
    return rows


def found_books(shelf: "Shelf", words: str) -> "list[BookLine]":
    """The books in whose title, author, tags or folders every word stands; `#word` begins a tag."""
    wanted = words.casefold().split()
    paths = {folder.uuid: folder.path for folder in shelf.folders}
    return [book for book in shelf.books if _fits(book, paths.get(book.folder or "", ""), wanted)]


def _fits(book: "BookLine", path: str, wanted: Sequence[str]) -> bool:
    tags = [tag.casefold() for tag in book.tags]
    words = "\n".join((book.title, book.author, path, *tags)).casefold()
    return all(
        any(tag.startswith(each[1:]) for tag in tags) if each.startswith("#") else each in words for each in wanted
    )


def _kept(shelf: "Shelf", books: "Sequence[BookLine]", wanted: Sequence[str]) -> set[str]:
    """The folders that are shown: all, or those that fit with those above what is found."""
    if not wanted:
        return {folder.uuid for folder in shelf.folders}
    holding = {book.folder for book in books if book.folder}
    kept: set[str] = set()
    # Each folder stands behind the one that it is in.
    for folder in reversed(shelf.folders):
        if folder.uuid in holding or all(each in folder.path.casefold() for each in wanted):
            kept.add(folder.uuid)
        if folder.uuid in kept and folder.parent:
            holding.add(folder.parent)
    return kept


def _book_row(book: "BookLine", depth: int, tags: bool) -> Row:
    cells = [
        STEP * (min(depth, DEEPEST) + (depth > 0)) + book.title,
        *([", ".join(book.tags)] if tags else []),
        f"{book.parts:,}",
        f"{book.words:,}",
        book.when,
        f"* {book.agent}" if book.agent else "",
    ]
    return Row(book.uuid, tuple(cells), tones=_tones(len(cells)))


def _folder_row(folder: "FolderLine", is_open: bool, tags: bool) -> Row:
    held = f"* {folder.agents[0]}" if folder.agents else ""
    held += f" and {len(folder.agents) - 1} more" if len(folder.agents) > 1 else ""
    books = "empty" if not folder.books else "1 book" if folder.books == 1 else f"{folder.books:,} books"
    name = f"{STEP * min(folder.depth, DEEPEST)}{'-' if is_open else '+'} {folder.name}  ({books})"
    cells = [name, *([""] if tags else []), "", f"{folder.words:,}" if folder.books else "", "", held]
    return Row(folder.uuid, tuple(cells), tone="strong", tones=_tones(len(cells)))


def _tones(cells: int) -> tuple[tuple[int, Tone], ...]:
    """The title as its row, numbers and dates dim, who holds it not."""
    return (*((place, "muted") for place in range(1, cells - 1)), (cells - 1, "attention"))
