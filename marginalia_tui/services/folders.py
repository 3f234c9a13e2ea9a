"""The folders of the library: a tree that holds books and what they inherit.

They stand in the library alone; a working copy has none. Names are one line without `/`, and no two folders beside
each other have the same, so that a path names one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select

from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound, Refused
from marginalia_tui.domain.inherit import folders_above
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.store import tables
from marginalia_tui.store.space import LIBRARY, Space, WritableSpace

NAME_LENGTH = 200
SHORTEST_PREFIX = 4
"""Characters of a uuid that name a folder."""


@dataclass(frozen=True, slots=True)
class FolderLine:
    """A folder in the tree."""

    folder: Folder
    path: str
    """The names from the top, with ` / ` between them."""
    depth: int
    """1 at the top."""
    books: int
    """Books in it; those in the trash are not counted."""
    below: int
    """Books in it and in all folders below."""


def all_folders(library: Space) -> dict[str, Folder]:
    """The folders by uuid, in the order of their names."""
    column = tables.folder.c
    query = select(column.uuid).where(column.space_id == LIBRARY).order_by(func.lower(column.name), column.uuid)
    return library.get_many(Folder, library.connection.execute(query).scalars())


def folder_tree(library: Space) -> list[FolderLine]:
    """The folders as a tree, each before those in it, beside each other by name."""
    folders = all_folders(library)
    held = _books(library)
    below: dict[str, int] = dict.fromkeys(folders, 0)
    for uuid, count in held.items():
        for above in folders_above(folders, uuid):
            below[above.uuid] += count
    inside: dict[str | None, list[Folder]] = {}
    for folder in folders.values():
        inside.setdefault(folder.parent if folder.parent in folders else None, []).append(folder)
    lines: list[FolderLine] = []
    waiting = [(folder, "", 1) for folder in reversed(inside.get(None, []))]
    while waiting:
        folder, above_path, depth = waiting.pop()
        path = f"{above_path} / {folder.name}" if above_path else folder.name
        lines.append(FolderLine(folder, path, depth, held.get(folder.uuid, 0), below[folder.uuid]))
        waiting.extend((each, path, depth + 1) for each in reversed(inside.get(folder.uuid, [])))
    return lines


def _books(library: Space) -> dict[str, int]:
    """Folder -> the books in it."""
    column = tables.book.c
    query = select(column.folder, func.count()).where(
        column.space_id == LIBRARY, column.folder.is_not(None), column.deleted.is_(None)
    )
    return {folder: count for folder, count in library.connection.execute(query.group_by(column.folder))}


def find_folder(library: Space, name: str) -> Folder:
    """The folder of a uuid, a path (`Series / Winter`), a name, or a unique beginning of a name or uuid.

    Raises:
        NotFound: none fits; the sentence lists the folders.
        Ambiguous: several do.
    """
    lines = folder_tree(library)
    wanted = _folded(name)
    found = [line for line in lines if line.folder.uuid == name.strip()]
    found = found or [line for line in lines if _folded(line.path) == wanted]
    found = found or [line for line in lines if line.folder.name.casefold() == wanted]
    if not found and len(wanted) >= SHORTEST_PREFIX:
        found = [line for line in lines if line.folder.uuid.startswith(wanted) or _folded(line.path).startswith(wanted)]
        found = found or [line for line in lines if line.folder.name.casefold().startswith(wanted)]
    if len(found) == 1:
        return found[0].folder
    if found:
        shown = ", ".join(shortly(line.path, 60) for line in found[:3])
        raise Ambiguous(f"Several folders fit {shortly(name)}: {shown}. Give the path, or the uuid.")
    listed = ", ".join(shortly(line.path, 60) for line in lines[:3]) + (
        f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    )
    raise NotFound(
        f"There is no folder {shortly(name)}. "
        + (f"There are: {listed}." if lines else "create-folder makes the first.")
    )


def shortly(name: str, longest: int = 40) -> str:
    """A name that somebody gave, for a sentence: short, in quotes, control characters written out."""
    shown = repr(name if len(name) <= longest else name[: longest - 1] + "\u2026")
    return shown if len(shown) <= 3 * longest else shortly(name, longest // 2)


def _folded(path: str) -> str:
    """A path as it is compared: spaces around `/` and the case of letters are of no matter."""
    return " / ".join(" ".join(name.split()) for name in path.split("/")).casefold()


def path_names(library: Space, folder: str | None) -> list[str]:
    """The names of a folder and those above it, from the top."""
    return [each.name for each in reversed(folders_above(all_folders(library), folder))]


def folder_of_path(library: Space, names: list[str]) -> Folder | None:
    """The folder at a path of names from the top, letter by letter; None when there is none."""
    here: Folder | None = None
    folders = list(all_folders(library).values())
    for name in names:
        parent = here.uuid if here else None
        here = next((each for each in folders if each.parent == parent and each.name == name), None)
        if here is None:
            return None
    return here


def check_name(name: str) -> str:
    """A name without the space around it.

    Raises:
        Invalid: it is empty, too long, or holds a `/`.
    """
    name = " ".join(name.split())
    if not name:
        raise Invalid("Give the folder a name: it may not be empty.")
    if "/" in name:
        raise Invalid("The name of a folder holds no /, which stands between the names of a path: leave it out.")
    if len(name) > NAME_LENGTH:
        raise Invalid(f"The name has {len(name)} characters: give it at most {NAME_LENGTH}.")
    return name


def create_folder(library: WritableSpace, name: str, parent: str | None) -> Folder:
    """A new folder in another one (None: at the top).

    Raises:
        Invalid: the name does not fit, or one beside it has it.
        NotFound: the other folder is gone.
    """
    clock = library.tx.store.clock
    folder = Folder(uuid=clock.new_uuid(), name=check_name(name), parent=parent, created=clock.now())
    if parent is not None:
        library.get(Folder, parent)
    _check_apart(library, folder)
    library.put([folder])
    return folder


def change_folder(library: WritableSpace, uuid: str, fields: Mapping[str, Any]) -> tuple[Folder, Folder]:
    """Changes fields of a folder; answers what it was and what it is.

    Raises:
        Invalid: the name does not fit, or one beside it has it.
        Locked: an agent holds a book below, and more than the name is changed.
    """
    before = library.get(Folder, uuid)
    after = replace(before, **fields)
    after = replace(after, name=check_name(after.name))
    _check_apart(library, after)
    library.put([after])
    return before, after


def move_folder(library: WritableSpace, uuid: str, parent: str | None) -> Folder:
    """Moves a folder, with all in it, into another one (None: to the top).

    Raises:
        Refused: the other one is the folder itself, or is below it.
        Invalid: a folder there has its name.
        Locked: an agent holds a book below.
    """
    folders = all_folders(library)
    folder = library.get(Folder, uuid)
    if any(above.uuid == uuid for above in folders_above(folders, parent)):
        raise Refused(f"{shortly(folder.name)} can't be moved into itself or a folder below it: choose another place.")
    if parent is not None:
        library.get(Folder, parent)
    moved = replace(folder, parent=parent)
    _check_apart(library, moved)
    library.put([moved])
    return moved


def delete_folder(library: WritableSpace, uuid: str) -> Folder:
    """Deletes an empty folder. Books of it that are in the trash come back to the top when they are restored.

    Raises:
        Refused: books or folders are in it.
    """
    folder = check_empty(library, uuid)
    library.delete(Folder, [uuid])
    return folder


def check_empty(library: Space, uuid: str) -> Folder:
    """The folder, when nothing is in it.

    Raises:
        Refused: books or folders are in it; the sentence says what to do.
    """
    folder = library.get(Folder, uuid)
    inside = [each.name for each in all_folders(library).values() if each.parent == uuid]
    books = _books(library).get(uuid, 0)
    if inside or books:
        words = [f"{books} book{'s' if books != 1 else ''}"] if books else []
        words += [f"{len(inside)} folder{'s' if len(inside) != 1 else ''}"] if inside else []
        raise Refused(
            f"The folder {shortly(folder.name)} holds {' and '.join(words)}: move what is in it elsewhere first "
            "(move-book, move-folder), then delete it."
        )
    return folder


def move_book(library: WritableSpace, book: str, folder: str | None) -> bool:
    """Puts a book into a folder (None: to the top); answers whether it stood elsewhere.

    Raises:
        Locked: an agent holds the book.
    """
    if folder is not None:
        library.get(Folder, folder)
    return bool(library.put([replace(library.get(Book, book), folder=folder)]))


def _check_apart(library: Space, folder: Folder) -> None:
    for each in all_folders(library).values():
        if each.uuid != folder.uuid and each.parent == folder.parent and each.name.casefold() == folder.name.casefold():
            raise Invalid(f"There is a folder {shortly(each.name)} at that place already: give this one another name.")
