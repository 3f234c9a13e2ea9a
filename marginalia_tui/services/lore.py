"""The lore of a book: its tree of lorebooks and their entries, and every change of them.

Each function works in the space and transaction that it is given, in a copy as in the library. A lorebook may stand
below several others and be used by several books, never below itself. A deleted one keeps its entries and its place,
so that reviving it brings back all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import select

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Book, Entry, Lorebook
from marginalia_tui.domain.lore import RANK, LoreRow, LoreTree
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.store import tables
from marginalia_tui.store.content import rows_in
from marginalia_tui.store.reach import books_with_lore, lore_tree
from marginalia_tui.store.space import Space, WritableSpace

NAME_LENGTH = 300
MAX_SCAN_DEPTH = 100

_COLUMNS = LoreRow._fields
_SETS = [_COLUMNS.index(name) for name in ("tags", "negative_tags")]
_FLAGS = [_COLUMNS.index(name) for name in ("enabled", "constant")]
_ROWS = "SELECT {} FROM entry WHERE space_id = ? AND lorebook IN".format(", ".join(f'"{each}"' for each in _COLUMNS))
_TEXTS = (
    "SELECT entry.uuid, text.body FROM entry JOIN text ON text.hash = entry.text "
    "WHERE entry.space_id = ? AND entry.uuid IN"
)
_PROSE = (
    "SELECT entry.uuid, coalesce(text.body, ''), coalesce(comment.body, '') FROM entry "
    "LEFT JOIN text ON text.hash = entry.text LEFT JOIN text AS comment ON comment.hash = entry.comment "
    "WHERE entry.space_id = ? AND entry.uuid IN"
)
_COUNTS = (
    "SELECT uuid, (SELECT count(*) FROM entry WHERE entry.space_id = lorebook.space_id "
    "AND entry.lorebook = lorebook.uuid) FROM lorebook WHERE space_id = ? AND uuid IN"
)


# Reading


def read_tree(space: Space, book: Book) -> LoreTree:
    """The lorebooks of a book."""
    uuids = lore_tree(space.connection, space.id, book.lorebook)
    return LoreTree(book.lorebook, space.get_many(Lorebook, uuids).values())


def entry_rows(space: Space, lorebooks: Iterable[str]) -> list[LoreRow]:
    """The entries of lorebooks without their texts, in the order in which they are told."""
    rows = []
    for found in rows_in(space.connection, _ROWS, lorebooks, space.id):
        cells: list[Any] = list(found)
        for place in _SETS:
            cells[place] = tuple(orjson.loads(cells[place])) if cells[place] else ()
        for place in _FLAGS:
            cells[place] = bool(cells[place])
        rows.append(LoreRow._make(cells))
    rows.sort(key=RANK)
    return rows


def entry_texts(space: Space, uuids: Iterable[str]) -> dict[str, str]:
    """Entry -> its text; entries without one are left out."""
    return {uuid: body for uuid, body in rows_in(space.connection, _TEXTS, uuids, space.id)}


def entry_prose(space: Space, uuids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Entry -> its text and its comment, without its other fields: what a search through thousands needs."""
    return {uuid: (text, comment) for uuid, text, comment in rows_in(space.connection, _PROSE, uuids, space.id)}


def count_entries(space: Space, lorebooks: Iterable[str]) -> dict[str, int]:
    """Lorebook -> how many entries it has."""
    return {uuid: number for uuid, number in rows_in(space.connection, _COUNTS, lorebooks, space.id)}


def other_books(space: Space, lorebook: str, book: str) -> list[Book]:
    """The books beside `book` that use a lorebook, however deep; those in the trash too."""
    found = books_with_lore(space.connection, space.id, [lorebook]) - {book}
    return sorted(space.get_many(Book, found).values(), key=lambda each: (each.title, each.uuid))


def lorebook_names(space: Space) -> dict[str, str]:
    """Every lorebook of the space by uuid, those too that no book uses or that are deleted -> its name."""
    column = tables.lorebook.c
    query = select(column.uuid, column.name).where(column.space_id == space.id).order_by(column.created, column.uuid)
    return {uuid: name for uuid, name in space.connection.execute(query)}


def is_used(space: Space, book: str, lorebook: str) -> bool:
    """Whether a book uses a lorebook."""
    return lorebook in read_tree(space, space.get(Book, book)).lorebooks


# Lorebooks


def check_name(name: str, what: str) -> str:
    """A name on one line, without the space around it.

    Raises:
        Invalid: it is empty, too long, or holds control characters.
    """
    name = " ".join(name.split())
    if not name:
        raise Invalid(f"Give the {what} a name: it may not be empty.")
    if len(name) > NAME_LENGTH:
        raise Invalid(f"The name of the {what} has {len(name):,} characters: give it at most {NAME_LENGTH}.")
    if visible_line(name) != name:
        raise Invalid(f"The name of the {what} holds control characters: write it without them.")
    return name


def ensure_root(space: WritableSpace, book: str) -> Lorebook:
    """The root lorebook of a book; a new one when the book has none, or has it in the trash."""
    owner = space.get(Book, book)
    root = space.find(Lorebook, owner.lorebook) if owner.lorebook else None
    if root is not None and root.deleted is None:
        return root
    root = _new_lorebook(space, "Lore")
    space.put([root, replace(owner, lorebook=root.uuid)])
    return root


def create_lorebook(
    space: WritableSpace, book: str, name: str, parent: str | None = None
) -> tuple[Lorebook, str | None]:
    """A new lorebook below another one; without `parent` below the root, or as the root of a book that has none.

    Returns:
        The lorebook, and the one above it.

    Raises:
        NotFound: the parent is gone.
    """
    lorebook = _new_lorebook(space, name)
    space.put([lorebook])
    return lorebook, link_lorebook(space, book, lorebook.uuid, parent)


def link_lorebook(space: WritableSpace, book: str, lorebook: str, parent: str | None = None) -> str | None:
    """Puts a new lorebook below another one; without `parent` below the root, or as the root of a book without one.

    Returns:
        The one above it.

    Raises:
        NotFound: the parent is gone.
    """
    owner = space.get(Book, book)
    above = space.find(Lorebook, parent or owner.lorebook or "")
    if above is not None and above.deleted is None:
        space.put([replace(above, subbooks=(*above.subbooks, lorebook))])
        return above.uuid
    if parent is not None:
        raise NotFound("The lorebook that it should stand below was deleted meanwhile: nothing was changed.")
    space.put([replace(owner, lorebook=lorebook)])
    return None


def change_lorebook(space: WritableSpace, uuid: str, wanted: Mapping[str, Any]) -> list[str]:
    """Sets fields of a lorebook and returns the names of those that are another value now."""
    before = space.get(Lorebook, uuid)
    changed = _differing(before, wanted)
    space.put([replace(before, **{name: wanted[name] for name in changed})])
    return changed


def check_below(space: Space, parent: str, child: str) -> None:
    """Whether a lorebook may stand below another one.

    Raises:
        Refused: it would stand below itself.
    """
    # Through deleted ones too: reviving one must not close a circle.
    if parent in lore_tree(space.connection, space.id, child):
        above, below = (_short(space.get(Lorebook, uuid).name) for uuid in (parent, child))
        where = "is itself" if parent == child else f"stands below {below} already"
        raise Refused(f"{below} can't stand below {above}, which {where}: a lorebook is never below itself.")


def add_subbook(space: WritableSpace, parent: str, child: str) -> str:
    """Puts a lorebook below another one, and brings it back when it is deleted.

    Returns:
        `added`, `revived` (it was deleted) or `unchanged`.

    Raises:
        Refused: it would stand below itself.
    """
    check_below(space, parent, child)
    above, below = space.get(Lorebook, parent), space.get(Lorebook, child)
    changed = space.put([replace(above, subbooks=(*above.subbooks, child)), replace(below, deleted=None)])
    if below.deleted is not None:
        return "revived"
    return "added" if changed else "unchanged"


def remove_subbook(space: WritableSpace, parent: str, child: str) -> None:
    """Takes a lorebook from below another one; it stays where else it stands.

    Raises:
        NotFound: it does not stand right below it.
    """
    above = space.get(Lorebook, parent)
    if child not in above.subbooks:
        raise NotFound(f"It does not stand right below {_short(above.name)}: list-lorebooks shows what stands where.")
    space.put([replace(above, subbooks=tuple(each for each in above.subbooks if each != child))])


def delete_lorebook(space: WritableSpace, uuid: str) -> None:
    """Marks a lorebook as deleted, everywhere that it is used; its entries stay with it."""
    space.put([replace(space.get(Lorebook, uuid), deleted=space.tx.store.clock.now())])


def _new_lorebook(space: WritableSpace, name: str) -> Lorebook:
    clock = space.tx.store.clock
    return Lorebook(uuid=clock.new_uuid(), name=name, created=clock.now())


# Entries


def create_entry(space: WritableSpace, lorebook: str, wanted: Mapping[str, Any]) -> Entry:
    """A new entry of a lorebook."""
    clock = space.tx.store.clock
    entry = Entry(uuid=clock.new_uuid(), lorebook=lorebook, created=clock.now(), **wanted)
    space.put([entry])
    return entry


def change_entry(space: WritableSpace, uuid: str, wanted: Mapping[str, Any]) -> list[str]:
    """Sets fields of an entry and returns the names of those that are another value now."""
    before = space.get(Entry, uuid)
    changed = _differing(before, wanted)
    space.put([replace(before, **{name: wanted[name] for name in changed})])
    return changed


def change_entries(space: WritableSpace, wanted: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sets fields of many entries and returns those that were changed."""
    entries = space.get_many(Entry, wanted)
    return space.put([replace(entry, **wanted[uuid]) for uuid, entry in entries.items()])


def move_entry(space: WritableSpace, uuid: str, lorebook: str) -> bool:
    """Puts an entry into another lorebook; whether it stood elsewhere."""
    return bool(space.put([replace(space.get(Entry, uuid), lorebook=lorebook)]))


def delete_entries(space: WritableSpace, uuids: Sequence[str]) -> list[str]:
    """Deletes entries and returns those that were there."""
    return space.delete(Entry, uuids)


def _short(name: str) -> str:
    """A name for a sentence, control characters written out."""
    return repr(name if len(name) <= 40 else name[:39] + "\u2026")


def _differing(item: Entry | Lorebook, wanted: Mapping[str, Any]) -> list[str]:
    def settled(value: object) -> object:
        return tuple(sorted(set(value))) if isinstance(value, tuple) else value

    return [name for name, value in wanted.items() if settled(getattr(item, name)) != settled(value)]
