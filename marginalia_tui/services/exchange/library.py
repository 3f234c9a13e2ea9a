"""Books into the library and out of it.

An import reads and checks everything before the store is touched; then the whole book is one change. An export
takes the branch that is read with its swipes, from one moment of the store.

Siblings stand in the order of their making, and whoever goes down a branch takes the newest: so the version that is
read is made last. Where it is not the last of its swipes, all of them keep their places in an attribute.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.items import Annotation, Book, Image, Part
from marginalia_tui.domain.words import count_words
from marginalia_tui.services.annotations import BY, DONE, OPEN, made_by, notes_of_book
from marginalia_tui.services.backup import take
from marginalia_tui.services.backup_read import Backup, is_backup, read_backup
from marginalia_tui.services.backup_restore import restore_as_new
from marginalia_tui.services.books import check_title
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.files import megabytes, shown
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.leftout import WITH_IMAGES, left_out
from marginalia_tui.services.exchange.lorelibrary import items_of_lore, lore_of_book
from marginalia_tui.services.exchange.manuscript import SWIPE, Chapter, Manuscript, Picture, Remark, Version
from marginalia_tui.services.exchange.recognise import Format, format_named
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store import blobs
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx, Store, WriteTx


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


@dataclass(frozen=True, slots=True)
class ReadyBook:
    """A book that was read and checked, and waits for a transaction."""

    uuid: str
    title: str
    put: Callable[[WriteTx], ImportedBook]
    """Puts all of it into the library."""


def import_book(
    store: Store, path: Path, *, title: str | None = None, format: str | None = None, level: int | None = None
) -> ImportedBook:
    """Brings a book into the library, in a transaction of its own: all of it or nothing.

    Args:
        store: the store; no transaction may be open.
        path: a file, or a folder of files.
        title: as in `read_book`, and so are the others.
        format: as there.
        level: as there.

    Raises:
        NotFound, Invalid, Refused: as in `read_book`.
        StoreError: the store can't be written.
    """
    ready = read_book(store, path, title=title, format=format, level=level)
    with store.write(Act(actor="author", label="import", book=ready.uuid)) as tx:
        return ready.put(tx)


def read_book(
    store: Store, path: Path, *, title: str | None = None, format: str | None = None, level: int | None = None
) -> ReadyBook:
    """Reads a book that is to come into the library as a chain of parts; nothing is changed yet.

    Args:
        store: tells time and new uuids.
        path: a file, or a folder of files.
        title: the title; None takes the book's own, or the name of the file. Several books may have the same.
        format: a format of `recognise.FORMATS`; None recognises it.
        level: which headings begin a part; None picks.

    Raises:
        NotFound, Invalid, Refused: as in `read_manuscript`.
    """
    checked = check_title(title) if title is not None else None
    wanted = format_named(format) if format is not None else None
    if wanted == "backup" or (wanted is None and os.path.isfile(path) and is_backup(path)):
        if level is not None:
            raise Invalid(f"{shown(path)} is a backup, whose parts are what they were: leave the level out.")
        return _ready_backup(store.clock.new_uuid(), read_backup(path), checked)
    imported = read_manuscript(path, format=format, level=level, title=checked)
    manuscript = imported.manuscript
    book, parts = items_of(store, manuscript)
    notes = annotations_of(store.clock, manuscript, parts)
    lore = items_of_lore(store.clock, manuscript.lorebooks)
    if lore:
        book = replace(book, lorebook=lore[0].uuid)

    def put(tx: WriteTx) -> ImportedBook:
        library = tx.space(LIBRARY)
        for picture in _pictures(manuscript):
            library.put_blob(picture.data)
        library.put([*lore, book, *parts, *notes])
        return ImportedBook(
            uuid=book.uuid,
            title=book.title,
            parts=len(parts),
            swipes=sum(len(chapter.swipes) for chapter in manuscript.chapters),
            words=sum(count_words(part.text) for part in parts),
            format=imported.format,
            notes=imported.notes,
        )

    return ReadyBook(book.uuid, book.title, put)


def _pictures(manuscript: Manuscript) -> Iterator[Picture]:
    """The cover and the pictures of all versions."""
    if manuscript.cover is not None:
        yield manuscript.cover
    for chapter in manuscript.chapters:
        for version in chapter.versions():
            yield from version.images


def _ready_backup(uuid: str, backup: Backup, title: str | None) -> ReadyBook:
    """A new book with all that a backup holds: parts and swipes, lore, summaries, notes, images."""
    if title is not None:
        backup = replace(backup, book=replace(backup.book, title=title))

    def put(tx: WriteTx) -> ImportedBook:
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

    return ReadyBook(uuid, backup.book.title, put)


MAX_PICTURES = 512 * 1024 * 1024
"""Bytes of the pictures of a file that is written: they are in memory together."""
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
                images=tuple(picture.image for picture in version.images),
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
            cover=() if manuscript.cover is None else (manuscript.cover.image,),
            active_leaf=leaf,
            created=created,
            attributes=manuscript.attributes,
        ),
        parts,
    )


def annotations_of(clock: Clock, manuscript: Manuscript, parts: Sequence[Part]) -> list[Annotation]:
    """The new notes that the remarks of a manuscript become, on the parts that `items_of` made of it."""
    made: list[Annotation] = []
    place = -1
    for chapter in manuscript.chapters:
        place += 1 + len(chapter.swipes)
        part = parts[place]
        made += [
            Annotation(
                uuid=clock.new_uuid(),
                book=part.book,
                part=part.uuid,
                text=remark.text,
                quote=part.text[remark.start : remark.end],
                start=remark.start,
                end=remark.end,
                basis=part.text if remark.end > remark.start else "",
                status=DONE if remark.done else OPEN,
                created=remark.created or clock.now(),
                attributes={BY: remark.author} if remark.author else {},
            )
            for remark in chapter.remarks
        ]
    return made


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
        manuscript = manuscript_of(tx, book, pictures=wanted in WITH_IMAGES)
    size = write_manuscript(manuscript, wanted, path, force=force)
    return Exported(path.absolute(), size, left_out(manuscript, wanted))


def manuscript_of(tx: ReadTx, book: str, *, pictures: bool = True) -> Manuscript:
    """The active branch of a book of the library as a manuscript, with the swipes of its parts.

    Args:
        tx: reads the library.
        book: its uuid.
        pictures: whether the bytes of the cover and of the images on the branch are read; they are empty without.

    Raises:
        NotFound: there is no such book.
        Refused: its images are larger than a file of it may be.
    """
    space = tx.space(LIBRARY)
    found = space.get(Book, book)
    tree = story_tree(space, found)
    groups = [tree.swipes(uuid) for uuid in tree.active]
    held = {uuid for group in groups for uuid in group}
    parts = space.get_many(Part, [uuid for group in groups for uuid in group])
    shown = [*found.cover, *(image for uuid in tree.active for image in parts[uuid].images)] if pictures else []
    bodies = _bodies(space, shown)
    remarks, others = _remarks(space, book, set(tree.active))
    return Manuscript(
        title=found.title,
        author=found.author,
        language=inherited(space, found).value("language").value,
        description=found.description,
        tags=found.tags,
        chapters=tuple(
            _chapter(parts[uuid], [parts[each] for each in group], bodies, tuple(remarks.get(uuid, ())))
            for uuid, group in zip(tree.active, groups, strict=True)
        ),
        cover=next((Picture(image, bodies.get(image.hash, b"")) for image in found.cover), None),
        lorebooks=(root,) if (root := lore_of_book(space, found)) else (),
        attributes=found.attributes,
        other_branches=sum(leaf not in held for leaf in tree.leaves),
        other_parts=len(tree.rows) - len(held),
        other_remarks=others,
    )


def _remarks(space: Space, book: str, active: Collection[str]) -> tuple[dict[str, list[Remark]], dict[str, int]]:
    """The open notes on the parts that are read, and how many others there are, by what they are."""
    found: dict[str, list[Remark]] = {}
    others: dict[str, int] = {}
    for note in notes_of_book(space, book):
        each = note.annotation
        why = note.status if note.status != OPEN else "" if each.part in active else "on other parts"
        if why:
            others[why] = others.get(why, 0) + 1
            continue
        start, end = (0, 0) if note.whole or note.place is None else (note.place.start, note.place.end)
        author = made_by(each) or each.model or ("" if each.source == "author" else each.source)
        remark = Remark(text=each.text, start=start, end=end, author=author, created=each.created)
        found.setdefault(each.part, []).append(remark)
    return found, dict(sorted(others.items()))


def _bodies(space: Space, shown: Iterable[Image]) -> dict[str, bytes]:
    """Hash -> bytes of images."""
    hashes = {image.hash for image in shown}
    size = sum(blobs.sizes(space.connection, map(bytes.fromhex, hashes)).values())
    if size > MAX_PICTURES:
        raise Refused(
            f"The images of the book have {megabytes(size)}, a file of it at most {megabytes(MAX_PICTURES)}: "
            "export it as a backup, or remove some first."
        )
    return {each: space.blob(each) for each in hashes}


def _chapter(read: Part, group: Iterable[Part], bodies: Mapping[str, bytes], remarks: tuple[Remark, ...]) -> Chapter:
    """A part with its swipes: by the places that they were given, then by age."""
    ordered = sorted(group, key=lambda part: (_place(part), part.created))
    here = ordered.index(read)
    return Chapter(
        **_fields(read, bodies),
        remarks=remarks,
        before=tuple(Version(**_fields(part, {})) for part in ordered[:here]),
        after=tuple(Version(**_fields(part, {})) for part in ordered[here + 1 :]),
    )


def _place(part: Part) -> float:
    place = part.attributes.get(SWIPE)
    return place if isinstance(place, int) else float("inf")


def _fields(part: Part, bodies: Mapping[str, bytes]) -> dict[str, Any]:
    images = tuple(Picture(image, bodies.get(image.hash, b"")) for image in part.images)
    attributes = {key: value for key, value in part.attributes.items() if key != SWIPE}
    return {name: getattr(part, name) for name in _FIELDS} | {
        "attributes": attributes,
        "created": part.created,
        "images": images,
    }
