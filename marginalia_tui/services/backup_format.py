"""A book as the studio's own format: one JSON object with all that belongs to the book, written in one pass.

    {"format": "marginalia-backup", "version": 1, "made": ..., "book": ..., "title": ..., "parts": 3, "words": 900,
    "folder": ["Series", "Winter"],
    "fields": {...}, "part": [...], "summary": [...], "annotation": [...], "lorebook": [...], "entry": [...],
    "texts": [...]}

The first line alone, closed by a brace, is the head: lists of backups read no more. An item is an object with its
uuid and the fields that are not as they are by default; a field that is derived, or where somebody reads, is left out.
Long texts that several notes share (the text that a passage was marked in) stand in `texts`, and are numbers there.
An image is what its item says of it; its bytes stand beside this object, in a zip file (`backup_zip`).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from marginalia_tui.domain.items import Annotation, Book, Entry, Item, Lorebook, Part, Summary, item_fields
from marginalia_tui.services.folders import path_names
from marginalia_tui.store.content import chunks, rows_in
from marginalia_tui.store.reach import lore_tree
from marginalia_tui.store.space import LIBRARY, Space

FORMAT = "marginalia-backup"
VERSION = 1
LISTS: tuple[type[Item], ...] = (Part, Summary, Annotation, Lorebook, Entry)
"""The kinds of which a backup has a list, under the name of the kind."""
SHARED = {"annotation": ("basis",)}
"""Kind -> its fields that are numbers of `texts`."""
LEFT_OUT = {"book": ("folder", "deleted")}
"""Kind -> fields that say where a book stands, not what it is."""


def write_backup(space: Space, uuid: str, made: int) -> bytes:
    """A book of a space with its lorebooks, as it is in the transaction that is open.

    Args:
        space: the library.
        uuid: of the book.
        made: microseconds since 1970.

    Raises:
        NotFound: there is no such book.
    """
    book = space.get(Book, uuid)
    lore = lore_tree(space.connection, space.id, book.lorebook)
    uuids: dict[type[Item], list[str]] = {cls: _of_book(space, cls, uuid) for cls in (Part, Summary, Annotation)}
    uuids[Lorebook] = lore
    query = "SELECT uuid FROM entry WHERE space_id = ? AND lorebook IN"
    uuids[Entry] = sorted(row.uuid for row in rows_in(space.connection, query, lore, space.id))
    texts: dict[str, int] = {}
    pieces = [_head(space, book, made, len(uuids[Part]))]
    pieces += [b'"folder":', orjson.dumps(path_names(space.tx.space(LIBRARY), book.folder)), b",\n"]
    pieces += [b'"fields":', orjson.dumps(_plain(book, texts))]
    for cls in LISTS:
        pieces.append(b',\n"%s":[' % cls.KIND.encode())
        pieces += _rows(_plain(item, texts) for item in _items(space, cls, uuids[cls]))
        pieces.append(b"]")
    pieces += [b',\n"texts":[', *_rows(texts), b"]}\n"]
    return b"".join(pieces)


def _head(space: Space, book: Book, made: int, parts: int) -> bytes:
    head = {
        "format": FORMAT,
        "version": VERSION,
        "made": made,
        "book": book.uuid,
        "title": book.title,
        "parts": parts,
        "words": space.counts().get(book.uuid, (0, 0))[1],
    }
    return orjson.dumps(head).removesuffix(b"}") + b",\n"


def _of_book(space: Space, cls: type[Item], book: str) -> list[str]:
    query = f'SELECT uuid FROM "{cls.KIND}" WHERE space_id = ? AND book IN'
    return sorted(row.uuid for row in rows_in(space.connection, query, [book], space.id))


def _items(space: Space, cls: type[Any], uuids: Sequence[str]) -> Iterator[Item]:
    """The items some at a time, so that a long book is not in memory twice."""
    for some in chunks(uuids):
        yield from space.get_many(cls, some).values()


def _plain(item: Item, texts: dict[str, int]) -> dict[str, Any]:
    """The fields of an item that are not as they are by default."""
    fields: dict[str, Any] = {"uuid": item.uuid}
    shared, left_out = SHARED.get(item.KIND, ()), (*LEFT_OUT.get(item.KIND, ()), "book")
    for each in item_fields(item.KIND):
        value = getattr(item, each.name)
        if not each.in_state or each.name in left_out or value == each.default:
            continue
        fields[each.name] = texts.setdefault(value, len(texts)) if each.name in shared else value
    return fields


def _rows(values: Iterable[Any]) -> Iterator[bytes]:
    for place, value in enumerate(values):
        yield (b",\n" if place else b"\n") + orjson.dumps(value)
