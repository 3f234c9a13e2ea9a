"""Books into the library and out of it.

An import reads and checks everything before the store is touched; then the whole book is one change. An export
takes the branch that is read with its swipes, from one moment of the store.

Siblings stand in the order of their making, and whoever goes down a branch takes the newest: so the version that is
read is made last. Where it is not the last of its swipes, all of them keep their places in an attribute.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.words import count_words
from marginalia_tui.services.backup import take
from marginalia_tui.services.backup_read import Backup, is_backup, read_backup
from marginalia_tui.services.backup_restore import restore_as_new
from marginalia_tui.services.books import check_title
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.leftout import left_out
from marginalia_tui.services.exchange.lorelibrary import items_of_lore, lore_of_book
from marginalia_tui.services.exchange.manuscript import SWIPE, Chapter, Manuscript, Version
from marginalia_tui.services.exchange.recognise import Format, format_named
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBook:
    """What an import made. `notes` are sentences that the author should see."""

    uuid: str
    title: str
    parts: int
    """Swipes among them, as in the list of books."""
    swipes: int
    words: int
    format: Format
    notes: tuple[str, ...] = ()


def import_book(
    store: Store, path: Path, *, title: str | None = None, format: str | None = None, level: int | None = None
) -> ImportedBook:
    """Brings a book into the library as a chain of parts, in a transaction of its own: all of it or nothing.

    Args:
        store: the store; no transaction may be open.
        path: a file, or a folder of files.
        title: the title; None takes the book's own, or the name of the file. Several books may have the same.
        format: a format of `recognise.FORMATS`; None recognises it.
        level: which headings begin a part; None picks.

    Raises:
        NotFound, Invalid, Refused: as in `read_manuscript`.
        StoreError: the store can't be written.
    """
    checked = check_title(title) if title is not None else None
    wanted = format_named(format) if format is not None else None
    if wanted == "backup" or (wanted is None and os.path.isfile(path) and is_backup(path)):
        if level is not None:
            raise Invalid(f"{shown(path)} is a backup, whose parts are what they were: leave the level out.")
        return _import_backup(store, read_backup(path), checked)
    imported = read_manuscript(path, format=format, level=level, title=checked)
    book, parts = items_of(store, imported.manuscript)
    lore = items_of_lore(store.clock, imported.manuscript.lorebooks)
    if lore:
        book = replace(book, lorebook=lore[0].uuid)
    with store.write(Act(actor="author", label="import", book=book.uuid)) as tx:
        tx.space(LIBRARY).put([*lore, book, *parts])
    return ImportedBook(
        uuid=book.uuid,
        title=book.title,
        parts=len(parts),
        swipes=sum(len(chapter.swipes) for chapter in imported.manuscript.chapters),
        words=sum(count_words(part.text) for part in parts),
        format=imported.format,
        notes=imported.notes,
    )


def _import_backup(store: Store, backup: Backup, title: str | None) -> ImportedBook:
    """A new book with all that a backup holds: parts and swipes, lore, summaries, notes, images."""
    uuid = store.clock.new_uuid()
    if title is not None:
        backup = replace(backup, book=replace(backup.book, title=title))
    with store.write(Act(actor="author", label="import", book=uuid)) as tx:
        done = restore_as_new(tx.space(LIBRARY), backup, uuid)
    places = {part.parent for part in backup.parts}
    return ImportedBook(
        uuid=uuid,
        title=backup.book.title,
        parts=done.parts,
        swipes=len(backup.parts) - len(places),
        words=sum(count_words(part.text) for part in backup.parts),
        format="backup",
        notes=done.notes,
    )


_FIELDS = ("title", "text", "instructions", "scene", "pov", "present", "model")


def items_of(store: Store, manuscript: Manuscript) -> tuple[Book, list[Part]]:
    """The new items that a manuscript becomes: each part follows the one before, the last is the active leaf.

    Returns:
        The book, and its parts; the swipes of a part stand before it.
    """
    clock = store.clock
    book, created = clock.new_uuid(), clock.now()
    parts: list[Part] = []
    leaf: str | None = None
    for chapter in manuscript.chapters:
        read = len(chapter.before)
        numbered = list(enumerate(chapter.versions()))
        made = [
            Part(
                uuid=clock.new_uuid(),
                book=book,
                parent=leaf,
                created=clock.now(),
                attributes=version.attributes | ({SWIPE: place} if chapter.after else {}),
                **{name: getattr(version, name) for name in _FIELDS},
            )
            for place, version in [*numbered[:read], *numbered[read + 1 :], numbered[read]]
        ]
        parts += made
        leaf = made[-1].uuid
    return (
        Book(
            uuid=book,
            title=manuscript.title,
            author=manuscript.author,
            description=manuscript.description,
            language=manuscript.language,
            tags=manuscript.tags,
            active_leaf=leaf,
            created=created,
            attributes=manuscript.attributes,
        ),
        parts,
    )


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: where, absolute, and its size in bytes. `notes` say what is not in it."""

    path: Path
    size: int
    notes: tuple[str, ...] = ()


def export_book(store: Store, book: str, format: str, path: Path, *, force: bool = False) -> Exported:
    """Writes the active branch of a book of the library.

    Raises:
        NotFound: there is no such book.
        Invalid, Refused: as in `write_manuscript`.
    """
    wanted = format_named(format)
    if wanted == "backup":
        written, bytes_of_it = take(store, book, path, force=force)
        return Exported(written, bytes_of_it)
    with store.read() as tx:
        manuscript = manuscript_of(tx, book)
    size = write_manuscript(manuscript, wanted, path, force=force)
    return Exported(path.absolute(), size, left_out(manuscript, wanted))


def manuscript_of(tx: ReadTx, book: str) -> Manuscript:
    """The active branch of a book of the library as a manuscript, with the swipes of its parts.

    Raises:
        NotFound: there is no such book.
    """
    space = tx.space(LIBRARY)
    found = space.get(Book, book)
    tree = story_tree(space, found)
    groups = [tree.swipes(uuid) for uuid in tree.active]
    held = {uuid for group in groups for uuid in group}
    parts = space.get_many(Part, [uuid for group in groups for uuid in group])
    return Manuscript(
        title=found.title,
        author=found.author,
        language=inherited(space, found).value("language").value,
        description=found.description,
        tags=found.tags,
        chapters=tuple(
            _chapter(parts[uuid], [parts[each] for each in group])
            for uuid, group in zip(tree.active, groups, strict=True)
        ),
        lorebooks=(root,) if (root := lore_of_book(space, found)) else (),
        attributes=found.attributes,
        other_branches=sum(leaf not in held for leaf in tree.leaves),
        other_parts=len(tree.rows) - len(held),
    )


def _chapter(read: Part, group: Iterable[Part]) -> Chapter:
    """A part with its swipes: by the places that they were given, then by age."""
    ordered = sorted(group, key=lambda part: (_place(part), part.created))
    here = ordered.index(read)
    return Chapter(
        **_fields(read),
        before=tuple(Version(**_fields(part)) for part in ordered[:here]),
        after=tuple(Version(**_fields(part)) for part in ordered[here + 1 :]),
    )


def _place(part: Part) -> float:
    place = part.attributes.get(SWIPE)
    return place if isinstance(place, int) else float("inf")


def _fields(part: Part) -> dict[str, Any]:
    attributes = {key: value for key, value in part.attributes.items() if key != SWIPE}
    return {name: getattr(part, name) for name in _FIELDS} | {"attributes": attributes, "created": part.created}
