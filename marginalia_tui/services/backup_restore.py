"""A backup back into the library: as a new book, or in the place of what a book holds. Each is one change.

Uuids stay what they are where the book is the one that was backed up, so that its history goes on. What would meet an
item of somebody else comes under a new uuid, and everything that names it with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import (
    KINDS,
    Annotation,
    Book,
    Entry,
    Item,
    ItemT,
    Json,
    Part,
    Shape,
    Summary,
    item_fields,
)
from marginalia_tui.services.backup_read import Backup, images_of
from marginalia_tui.services.folders import folder_of_path
from marginalia_tui.store.content import rows_in
from marginalia_tui.store.reach import books_with_lore, lore_tree
from marginalia_tui.store.space import Space, WritableSpace

_STAYS = ("uuid", "folder", "deleted", "opened", "created")
"""Fields of a book that a backup put in its place leaves alone."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored. `changed` counts the items that are other than they were."""

    book: str
    parts: int
    entries: int
    changed: int
    notes: tuple[str, ...] = ()


def restore_as_new(library: WritableSpace, backup: Backup, uuid: str) -> Restored:
    """A new book of a backup, all of its items and lorebooks under new uuids; lorebooks in the trash are left out.

    Args:
        library: the library.
        backup: what was read.
        uuid: of the new book.
    """
    clock = library.tx.store.clock
    backup = _without_trash(backup)
    names = {item.uuid: clock.new_uuid() for item in backup.items()}
    names[backup.book.uuid] = uuid
    new = _renamed(backup, names)
    folder = folder_of_path(library, list(backup.folder))
    book = replace(new.book, folder=folder.uuid if folder else None)
    _put_images(library, backup)
    changed = library.put([book, *new.items()[1:]])
    notes = list(backup.notes)
    if backup.folder and folder is None:
        notes.append(f"The folder {' / '.join(backup.folder)} is not there: the book stands at the top of the library.")
    return Restored(uuid, len(new.parts), len(new.entries), len(changed), tuple(notes))


def _without_trash(backup: Backup) -> Backup:
    """The backup without the lorebooks that were in the trash, and their entries."""
    kept = {each.uuid for each in backup.lorebooks if each.deleted is None}
    book = backup.book
    return replace(
        backup,
        book=book if book.lorebook in kept else replace(book, lorebook=None),
        lorebooks=tuple(
            replace(each, subbooks=tuple(one for one in each.subbooks if one in kept))
            for each in backup.lorebooks
            if each.uuid in kept
        ),
        entries=tuple(each for each in backup.entries if each.lorebook in kept),
    )


def restore_parts(library: WritableSpace, backup: Backup, uuid: str) -> Restored:
    """Puts the parts of a backup, with their summaries and notes, in the place of those that a book has.

    Raises:
        NotFound: the book is gone.
        Locked: an agent holds the book.
    """
    on_parts: list[Item] = [*backup.parts, *backup.summaries, *backup.annotations]
    names = _names(library, on_parts, uuid, lore=())
    names[backup.book.uuid] = uuid
    new = _renamed(replace(backup, lorebooks=(), entries=()), names)
    book = replace(library.get(Book, uuid), active_leaf=new.book.active_leaf)
    changed = _put_in_place(library, book, new)
    return Restored(uuid, len(new.parts), 0, changed, backup.notes)


def restore_all(library: WritableSpace, backup: Backup, uuid: str) -> Restored:
    """Puts what a backup holds in the place of what the book holds: its facts, its parts, its lorebooks.

    A lorebook of the backup that the book does not use any more, but that is still in the library, comes as a copy:
    who uses it now keeps it as it is. The folder of the book stays.

    Raises:
        Refused: it is the backup of another book.
        NotFound: the book is gone.
        Locked: an agent holds the book, or one that shares its lorebooks.
    """
    check_same(backup, uuid)
    now = library.get(Book, uuid)
    lore = lore_tree(library.connection, library.id, now.lorebook)
    names = _names(library, backup.items()[1:], uuid, lore)
    new = _renamed(backup, names)
    book = replace(new.book, **{name: getattr(now, name) for name in _STAYS})
    changed = _put_in_place(library, book, new)
    replaced = [each.uuid for each in new.lorebooks if each.uuid in lore]
    query = "SELECT uuid FROM entry WHERE space_id = ? AND lorebook IN"
    there = [row.uuid for row in rows_in(library.connection, query, replaced, library.id)]
    kept = {entry.uuid for entry in new.entries}
    changed += len(library.delete(Entry, [each for each in there if each not in kept]))
    notes = list(backup.notes)
    if copies := sum(names.get(each.uuid, each.uuid) != each.uuid for each in backup.lorebooks):
        notes.append(f"Lorebooks that the book does not use any more came as copies: {copies:,}.")
    return Restored(uuid, len(new.parts), len(new.entries), changed, tuple(notes))


def _put_images(library: WritableSpace, backup: Backup) -> None:
    if backup.images is not None:
        backup.images.put(library, (image for item in backup.items() for image in images_of(item)))


def check_same(backup: Backup, uuid: str) -> None:
    """Refuses to put a backup in the place of another book.

    Raises:
        Refused: the sentence says what can be done.
    """
    if backup.book.uuid != uuid:
        raise Refused(
            f"This is a backup of another book, {backup.book.title!r}: restore it as a new book, or its parts only."
        )


def sharing(space: Space, uuid: str) -> list[str]:
    """The titles of the other books that use lorebooks of a book, which a restore changes for them, too."""
    book = space.get(Book, uuid)
    lore = lore_tree(space.connection, space.id, book.lorebook)
    others = books_with_lore(space.connection, space.id, lore) - {uuid}
    return sorted(each.title for each in space.get_many(Book, others).values())


def _put_in_place(library: WritableSpace, book: Book, new: Backup) -> int:
    """Writes the items of a book and deletes those of it that are no more; answers how many are other than before."""
    _put_images(library, new)
    changed = len(library.put([book, *new.items()[1:]]))
    kept = {item.uuid for item in new.items()}
    # Notes and summaries first: one that moved to another part has moved by now.
    for cls in (Annotation, Summary, Part):
        query = f'SELECT uuid FROM "{cls.KIND}" WHERE space_id = ? AND book IN'
        there = [row.uuid for row in rows_in(library.connection, query, [book.uuid], library.id)]
        changed += len(library.delete(cls, [uuid for uuid in there if uuid not in kept]))
    return changed


_OWNERS = {Entry.KIND: "lorebook", Part.KIND: "book", Summary.KIND: "book", Annotation.KIND: "book"}
"""Kind -> whose its items are; of the others: their own."""


def _names(library: WritableSpace, items: Iterable[Item], book: str, lore: Iterable[str]) -> dict[str, str]:
    """Uuid -> a new one, for the items that would meet one in the library that is no part of the book or its lore."""
    wanted = {item.uuid: item.KIND for item in items}
    own = {book, *lore}
    names: dict[str, str] = {}
    for kind in KINDS:
        query = f'SELECT uuid, "{_OWNERS.get(kind, "uuid")}" AS owner FROM "{kind}" WHERE space_id = ? AND uuid IN'
        for row in rows_in(library.connection, query, wanted, library.id):
            if wanted[row.uuid] != kind or row.owner not in own:
                names[row.uuid] = library.tx.store.clock.new_uuid()
    return names


def _renamed(backup: Backup, names: Mapping[str, str]) -> Backup:
    """The backup with other uuids, wherever they are named: in fields, and alone as a text in data."""
    return replace(
        backup,
        book=_rename(backup.book, names),
        parts=tuple(_rename(each, names) for each in backup.parts),
        summaries=tuple(_rename(each, names) for each in backup.summaries),
        annotations=tuple(_rename(each, names) for each in backup.annotations),
        lorebooks=tuple(_rename(each, names) for each in backup.lorebooks),
        entries=tuple(_rename(each, names) for each in backup.entries),
    )


def _rename(item: ItemT, names: Mapping[str, str]) -> ItemT:
    if not names:
        return item
    fields: dict[str, Any] = {"uuid": names.get(item.uuid, item.uuid)}
    for each in item_fields(item.KIND):
        value = getattr(item, each.name)
        if each.shape is Shape.REF and value is not None:
            fields[each.name] = names.get(value, value)
        elif each.shape is Shape.SET and each.to:
            fields[each.name] = tuple(names.get(one, one) for one in value)
        elif each.shape is Shape.ATTRIBUTES and value:
            fields[each.name] = _in_data(value, names)
    return replace(item, **fields)


def _in_data(value: Json, names: Mapping[str, str]) -> Json:
    """Data with other uuids; it is no deeper than JSON can be written."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_in_data(each, names) for each in value]
    if isinstance(value, dict):
        return {names.get(key, key): _in_data(each, names) for key, each in value.items()}
    return value
