"""All lorebooks of the library, those too that no book uses; lore linked to a book, and entries copied.

A book uses the lorebook that it is linked to and all below that. One that is taken out of every book stays, with its
entries, until somebody links it again or puts it into the trash.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import select

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Book, Entry, Lorebook
from marginalia_tui.services.lore import count_entries
from marginalia_tui.store import tables
from marginalia_tui.store.reach import closure
from marginalia_tui.store.space import Space, WritableSpace


@dataclass(frozen=True, slots=True)
class ShelvedLorebook:
    """A lorebook of the library, with where it is used."""

    lorebook: Lorebook
    entries: int
    books: tuple[Book, ...]
    """Those that use it, however deep, by title; those in the trash are no use."""
    above: tuple[str, ...]
    """The names of the lorebooks that it stands right below, the oldest first."""
    roots: tuple[str, ...]
    """The uuids of the books of which it is the root."""


def lorebook_shelf(space: Space) -> list[ShelvedLorebook]:
    """Every lorebook that is not in the trash, by name."""
    column, book = tables.lorebook.c, tables.book.c
    uuids = space.connection.execute(
        select(column.uuid).where(column.space_id == space.id, column.deleted.is_(None))
    ).scalars()
    there = space.get_many(Lorebook, uuids)
    linked = space.connection.execute(
        select(book.uuid).where(book.space_id == space.id, book.lorebook.is_not(None), book.deleted.is_(None))
    ).scalars()
    books = sorted(space.get_many(Book, linked).values(), key=lambda each: (each.title.casefold(), each.uuid))
    below = {uuid: [each for each in found.subbooks if each in there] for uuid, found in there.items()}
    users = _users(books, below)
    counts = count_entries(space, there)
    ordered = sorted(there.values(), key=lambda each: (each.created, each.uuid))
    above: dict[str, list[str]] = {}
    for each in ordered:
        for child in below[each.uuid]:
            above.setdefault(child, []).append(each.name)
    return [
        ShelvedLorebook(
            each,
            counts[each.uuid],
            tuple(users.get(each.uuid, ())),
            tuple(above.get(each.uuid, ())),
            tuple(book.uuid for book in books if book.lorebook == each.uuid),
        )
        for each in sorted(ordered, key=lambda each: (each.name.casefold(), each.created, each.uuid))
    ]


def _users(books: Iterable[Book], below: dict[str, list[str]]) -> dict[str, list[Book]]:
    """Lorebook -> the books that use it, in the order of the books."""
    reached: dict[str, set[str]] = {}
    found: dict[str, list[Book]] = {}
    for each in books:
        root = each.lorebook
        if root is None or root not in below:
            continue
        if root not in reached:
            reached[root] = closure([root], below)
        for uuid in reached[root]:
            found.setdefault(uuid, []).append(each)
    return found


def is_unused(space: Space, uuid: str) -> bool:
    """Whether no book of the library uses a lorebook."""
    return any(each.lorebook.uuid == uuid and not each.books for each in lorebook_shelf(space))


def link_root(space: WritableSpace, book: str, lorebook: str) -> None:
    """Makes a lorebook the root of the lore of a book that has none.

    Raises:
        Refused: the book has a root.
    """
    owner = space.get(Book, book)
    root = space.find(Lorebook, owner.lorebook) if owner.lorebook else None
    if root is not None and root.deleted is None:
        raise Refused(
            "This book has lore: add-subbook puts a lorebook below the root, and unlink-lorebook takes the root away."
        )
    space.put([replace(owner, lorebook=lorebook)])


def unlink_root(space: WritableSpace, book: str) -> None:
    """Takes its lore away from a book; the lorebooks and their entries stay."""
    space.put([replace(space.get(Book, book), lorebook=None)])


def copy_entry(space: WritableSpace, uuid: str, lorebook: str) -> Entry:
    """A new entry of a lorebook that is like another one in all but its uuid and its age."""
    clock = space.tx.store.clock
    entry = replace(space.get(Entry, uuid), uuid=clock.new_uuid(), lorebook=lorebook, created=clock.now())
    space.put([entry])
    return entry
