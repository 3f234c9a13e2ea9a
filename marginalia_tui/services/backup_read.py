"""Backups read strictly: what is not whole is refused with a sentence, and nothing in a file is taken for a path.

A later version of the studio opens what an earlier one wrote. What a file has beside the fields that are known here
is kept in the data of its item under `unknown`, or named in the notes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import orjson

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.images import is_sound
from marginalia_tui.domain.items import (
    Annotation,
    Book,
    Entry,
    Image,
    Item,
    ItemField,
    Lorebook,
    Part,
    Shape,
    Summary,
    item_fields,
)
from marginalia_tui.services import backup_zip
from marginalia_tui.services.backup_format import FORMAT, LEFT_OUT, LISTS, SHARED, VERSION
from marginalia_tui.services.backup_zip import MAX_JSON, BackupImages
from marginalia_tui.services.books import check_title
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.files import shown

T = TypeVar("T", Part, Summary, Annotation, Lorebook, Entry)

MAX_ITEMS = 500_000
HEAD_BYTES = 64 * 1024
UNKNOWN = "unknown"
"""The key in the data of an item under which fields are kept that this version does not know."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_START = re.compile(rb'\s*\{\s*"format"\s*:\s*"marginalia-backup"')
_WORDS = {
    ("entry", "mode"): ("text", "regex"),
    ("entry", "insertion"): ("lore", "prompt"),
    ("annotation", "status"): ("open", "done", "dismissed"),
    ("annotation", "source"): ("author", "model", "agent"),
}
"""Kind and field -> the words that it may be."""
_HEAD = {"format", "version", "made", "book", "title", "parts", "words"}


@dataclass(frozen=True, slots=True)
class Head:
    """What a backup says of itself."""

    made: int
    """Microseconds since 1970."""
    book: str
    title: str
    parts: int
    words: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was read and is whole: what an item refers to is there."""

    made: int
    folder: tuple[str, ...]
    """The names of the folders that the book stood in, from the top."""
    book: Book
    parts: tuple[Part, ...]
    summaries: tuple[Summary, ...]
    annotations: tuple[Annotation, ...]
    lorebooks: tuple[Lorebook, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what was not taken over as it stands in the file."""
    images: BackupImages | None = None
    """Those that its items name; None when they name none."""

    def items(self) -> list[Item]:
        """All of them."""
        return [self.book, *self.parts, *self.summaries, *self.annotations, *self.lorebooks, *self.entries]


class _Damaged(Exception):
    """What is wrong, as the middle of a sentence."""


def read_head(path: Path) -> Head | None:
    """What a file that is a backup says of itself; None when it says nothing of the kind."""
    try:
        start = (
            backup_zip.read_json(path, HEAD_BYTES) if backup_zip.is_zip(path) else files.read_start(path, HEAD_BYTES)
        )
    except (Invalid, Refused):
        return None
    try:
        found = orjson.loads(start.split(b"\n", 1)[0].rstrip().removesuffix(b",") + b"}")
        return _head(found) if found.get("format") == FORMAT else None
    except (orjson.JSONDecodeError, _Damaged, AttributeError):
        return None


def _head(found: Mapping[str, Any]) -> Head:
    numbers = [found.get(name, 0) for name in ("made", "parts", "words")]
    words = [found.get(name, "") for name in ("book", "title")]
    if not all(map(_is_number, numbers)) or not all(isinstance(each, str) for each in words):
        raise _Damaged("its head is none")
    return Head(numbers[0], words[0], words[1], numbers[1], numbers[2])


def read_backup(path: Path) -> Backup:
    """The backup in a file, plain or zipped.

    Raises:
        NotFound: there is nothing at the path.
        Invalid: it is no backup, is damaged, or was made by a newer studio.
        Refused: it is too large, or built like an attack.
    """
    data = _bytes(path)
    if len(data) > MAX_JSON:
        raise Refused(f"{shown(path)} unpacks to far more than a book: it was not opened.")
    if not _START.match(data):
        raise Invalid(f"{shown(path)} is no backup of a book: import it, if it is a book of another kind.")
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Invalid(
            f"{shown(path)} is damaged at line {error.lineno}, nothing of it was taken: choose another backup."
        ) from None
    del data
    try:
        backup = _backup(found)
    except _Damaged as error:
        raise Invalid(f"{shown(path)} is damaged ({error}), nothing of it was taken: choose another backup.") from None
    return _with_images(backup, path)


def is_backup(path: Path) -> bool:
    """Whether a file begins as a backup does, plain or zipped.

    Raises:
        NotFound, Refused: there is nothing at the path, or it may not be read.
    """
    if not backup_zip.is_zip(path):
        return _START.match(files.read_start(path, HEAD_BYTES)) is not None
    try:
        return _START.match(backup_zip.read_json(path, HEAD_BYTES)) is not None
    except (Invalid, Refused):
        return False  # of another kind, or one whose reader says what is wrong with it


def _bytes(path: Path) -> bytes:
    return backup_zip.read_json(path) if backup_zip.is_zip(path) else files.read_file(path, MAX_JSON)


def _with_images(backup: Backup, path: Path) -> Backup:
    """The backup with the images that it names, each of which is there and whole."""
    # What two say of the same bytes may differ: each is held to them.
    named = {replace(image, name="", caption=""): image for item in backup.items() for image in images_of(item)}
    if not named:
        return backup
    if not backup_zip.is_zip(path):
        raise Invalid(
            f"{shown(path)} names {len(named):,} image(s), which only the zip file of a backup holds: choose that."
        )
    found = BackupImages(path, named.values())
    found.check()
    return replace(backup, images=found)


def images_of(item: Item) -> tuple[Image, ...]:
    """The images of an item."""
    return item.images if isinstance(item, Part) else item.cover if isinstance(item, Book) else ()


def _backup(found: object) -> Backup:
    if not isinstance(found, dict):
        raise _Damaged("it is no object")
    version = found.get("version")
    if not _is_number(version) or version < 1:
        raise _Damaged("its version is no number")
    if version > VERSION:
        raise Invalid("This backup was made by a newer Marginalia: update this one, then restore it.")
    reader = _Reader(_texts(found.get("texts", [])))
    head = _head(found)
    raw = found.get("fields")
    if not isinstance(raw, dict):
        raise _Damaged("the book is missing")
    book = reader.item(Book, raw, {})
    try:
        book = replace(book, title=check_title(book.title))
    except Invalid:
        raise _Damaged("the book has no title") from None
    lists = {cls.KIND: _list(found, cls.KIND) for cls in LISTS}
    if sum(map(len, lists.values())) > MAX_ITEMS:
        raise _Damaged(f"it has more than {MAX_ITEMS:,} items")
    own = {"book": book.uuid}
    backup = Backup(
        made=head.made,
        folder=tuple(_texts(found.get("folder", []))),
        book=book,
        parts=reader.items(Part, lists["part"], own),
        summaries=reader.items(Summary, lists["summary"], own),
        annotations=reader.items(Annotation, lists["annotation"], own),
        lorebooks=reader.items(Lorebook, lists["lorebook"], {}),
        entries=reader.items(Entry, lists["entry"], {}),
    )
    for key in sorted(found.keys() - _HEAD - {"texts", "fields", "folder", *lists}):
        reader.notes[f"{key[:60]!r} of the file is not known here and was left out"] += 1
    backup = _apart(_mended(backup, reader.notes))
    _check_whole(backup)
    notes = tuple(f"{note}{f' ({count:,} times)' if count > 1 else ''}." for note, count in reader.notes.items())
    return replace(backup, notes=notes)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _list(found: Mapping[str, Any], key: str) -> list[Any]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise _Damaged(f"{key} is no list")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _Damaged("a list of texts is none")
    return value


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


class _Reader:
    """Objects of a file as items, with what was noted on the way."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.notes: Counter[str] = Counter()

    def items(self, cls: type[T], rows: list[Any], fixed: Mapping[str, Any]) -> tuple[T, ...]:
        return tuple(self.item(cls, row, fixed) for row in rows)

    def item(self, cls: type[Any], row: object, fixed: Mapping[str, Any]) -> Any:
        """One item; `fixed` are fields that the file does not say."""
        kind = cls.KIND
        if not isinstance(row, dict):
            raise _Damaged(f"{_a(kind)} is no object")
        uuid = row.get("uuid")
        if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
            raise _Damaged(f"{_a(kind)} has no uuid")
        left_out = (*LEFT_OUT.get(kind, ()), *fixed)
        known = {each.name: each for each in item_fields(kind) if each.in_state and each.name not in left_out}
        values = {name: self._value(kind, known[name], row[name]) for name in row if name in known}
        if unknown := {name: value for name, value in row.items() if name not in known and name != "uuid"}:
            if not _fits(Shape.ATTRIBUTES, unknown):
                raise _Damaged(f"a field of {_a(kind)} does not fit")
            data = values.get("attributes", {})
            before = data.get(UNKNOWN)
            values["attributes"] = {**data, UNKNOWN: {**before, **unknown} if isinstance(before, dict) else unknown}
            for name in unknown:
                self.notes[f"The field {name[:60]!r} of {_a(kind)} is not known here and was kept in its data"] += 1
        needed = {each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING}
        if missing := needed - values.keys() - {"uuid", *fixed}:
            raise _Damaged(f"{_a(kind)} lacks its {min(missing)}")
        return cls(uuid=uuid, **values, **fixed)

    def _value(self, kind: str, field: ItemField, value: Any) -> Any:
        wrong = _Damaged(f"the {field.name} of {_a(kind)} does not fit")
        if field.name in SHARED.get(kind, ()):
            if not _is_number(value) or not 0 <= value < len(self._texts):
                raise wrong
            return self._texts[value]
        if value is None and field.default is None:
            return None
        if not _fits(field.shape, value):
            raise wrong
        if field.shape is Shape.IMAGES:
            return self._images(kind, value)
        if field.shape is Shape.SET:
            if not all(isinstance(each, str) and each.strip() and "\n" not in each for each in value):
                raise wrong
            return tuple(sorted(set(value)))
        words = _WORDS.get((kind, field.name))
        if words and value not in words:
            self.notes[f"The {field.label} {value[:60]!r} of {_a(kind)} is not known here: it became {words[0]!r}"] += 1
            return words[0]
        return value

    def _images(self, kind: str, rows: list[Any]) -> tuple[Image, ...]:
        """The images of an item; what they say of themselves is only believed where the bytes say it too."""
        found: list[Image] = []
        for row in rows:
            if not isinstance(row, dict) or not all(type(row.get(name)) is kept for name, kept in _OF_IMAGE.items()):
                raise _Damaged(f"an image of {_a(kind)} does not fit")
            for name in row.keys() - _OF_IMAGE.keys():
                self.notes[f"The field {name[:60]!r} of an image is not known here and was left out"] += 1
            image = Image(**{name: row[name] for name in _OF_IMAGE})
            if not is_sound(image) or image.name in {each.name for each in found}:
                raise _Damaged(f"an image of {_a(kind)} does not fit")
            found.append(image)
        return tuple(found)


_OF_IMAGE: Mapping[str, type] = {
    "hash": str,
    "type": str,
    "name": str,
    "caption": str,
    "width": int,
    "height": int,
}
"""The fields of an image, and what they are."""
_TYPES: Mapping[Shape, type] = {
    Shape.STRING: str,
    Shape.LONG: str,
    Shape.REF: str,
    Shape.NUMBER: int,
    Shape.FLAG: bool,
    Shape.SET: list,
    Shape.ATTRIBUTES: dict,
    Shape.IMAGES: list,
}


def _fits(shape: Shape, value: object) -> bool:
    """Whether a value is of a shape, and can be written again: orjson reads deeper lists than it writes."""
    if shape is Shape.NUMBER:
        return _is_number(value)
    if shape is Shape.ATTRIBUTES and value:
        try:
            orjson.dumps(value)
        except TypeError:
            return False
    return isinstance(value, _TYPES[shape])


def _mended(backup: Backup, notes: Counter[str]) -> Backup:
    """What names something that may be gone, as in the library, names nothing when it is."""
    there = {item.uuid for item in backup.items()}
    summaries = tuple(
        replace(
            each, until=each.until if each.until in there else None, under=each.under if each.under in there else None
        )
        for each in backup.summaries
    )
    lore = {each.uuid for each in backup.lorebooks}
    lorebooks = tuple(
        replace(each, subbooks=tuple(one for one in each.subbooks if one in lore)) for each in backup.lorebooks
    )
    book = backup.book
    if book.lorebook is not None and book.lorebook not in lore:
        notes["The lorebook of the book is not in the backup"] += 1
        book = replace(book, lorebook=None)
    if book.active_leaf not in {part.uuid for part in backup.parts}:
        book = replace(book, active_leaf=None)
    return replace(backup, book=book, summaries=summaries, lorebooks=lorebooks)


def _apart(backup: Backup) -> Backup:
    """The parts with a moment of making each, which orders swipes."""
    taken: set[int] = set()
    parts = []
    for part in sorted(backup.parts, key=lambda each: (each.created, each.uuid)):
        created = part.created
        while created in taken:
            created += 1
        taken.add(created)
        parts.append(part if created == part.created else replace(part, created=created))
    return replace(backup, parts=tuple(parts))


def _check_whole(backup: Backup) -> None:
    items = backup.items()
    if len({item.uuid for item in items}) < len(items):
        raise _Damaged("two items have one uuid")
    parts = {part.uuid: part.parent for part in backup.parts}
    if any(parent is not None and parent not in parts for parent in parts.values()):
        raise _Damaged("a part follows one that is missing")
    _check_tree({uuid: [parent] if parent else [] for uuid, parent in parts.items()}, "the parts")
    on_parts: list[Summary | Annotation] = [*backup.summaries, *backup.annotations]
    for each in on_parts:
        if each.part not in parts:
            raise _Damaged(f"the part of {_a(each.KIND)} is missing")
    for note in backup.annotations:
        if not 0 <= note.start <= note.end <= len(note.basis):
            raise _Damaged("a note is about a passage that is not there")
    lore = {each.uuid: each.subbooks for each in backup.lorebooks}
    _check_tree(lore, "the lorebooks")
    if any(entry.lorebook not in lore for entry in backup.entries):
        raise _Damaged("the lorebook of an entry is missing")
    if any(one.under == one.uuid for one in backup.summaries):
        raise _Damaged("a summary stands under itself")


def _check_tree(next_to: Mapping[str, Iterable[str]], what: str) -> None:
    """Refuses a circle: what is left when everything that leads nowhere further is taken away, again and again."""
    waiting_for = {uuid: set(others) for uuid, others in next_to.items()}
    behind: dict[str, list[str]] = {}
    for uuid, others in waiting_for.items():
        for other in others:
            behind.setdefault(other, []).append(uuid)
    free = [uuid for uuid, others in waiting_for.items() if not others]
    left = len(waiting_for)
    while free:
        here = free.pop()
        left -= 1
        for uuid in behind.get(here, ()):
            waiting_for[uuid].discard(here)
            if not waiting_for[uuid]:
                free.append(uuid)
    if left:
        raise _Damaged(f"{what} stand in a circle")
