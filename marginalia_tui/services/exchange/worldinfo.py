"""World info, the lorebooks of SillyTavern: one JSON file with a flat set of entries.

A tree of lorebooks goes out as one set: each entry says which lorebook it is of, and the file what the lorebooks are,
both under `extensions.marginalia`, which other programs keep and do not read.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.looseread import Loose, name_line, same
from marginalia_tui.services.exchange.lorefile import Left, LoreEntry, LoreFile, counted, from_below
from marginalia_tui.services.exchange.worldentry import EXTENSIONS, KEPT, OURS, read_entry, write_entry

MAX_ENTRIES = 200_000
MAX_LOREBOOKS = 1_000
MAX_SCAN_DEPTH = 100
UNREADABLE = "an entry that is none"
_NOTHING: tuple[Json, ...] = (None, "", [], {})
_RAW = "entries"
"""Of what is kept of a file: the entries that are none."""
_LOREBOOKS = "lorebooks"
_LOREBOOK = "lorebook"

ReadEntry = Callable[[Mapping[str, Any], int, str], tuple[LoreEntry, list[str]]]
"""(entry of the file, its place, a name for one that says none) -> the entry, and what was left."""


# In


def read_worldinfo(
    data: Mapping[str, Any], title: str = "", *, read: ReadEntry | None = None, known: Container[str] = ()
) -> LoreFile:
    """A lorebook with those below it.

    Args:
        data: what the file holds.
        title: for a file that says none.
        read: reads an entry; without it one of world info.
        known: fields of the file that the caller takes over.

    Raises:
        Invalid: it has no entries, or far too many.
    """
    entries, unreadable, left = read_entries(data.get("entries"), read or _read)
    loose = Loose(data)
    rest = {name: value for name, value in data.items() if name not in ("entries", "name", "description", EXTENSIONS)}
    left += [f"{name} of the lorebook" for name, value in rest.items() if name not in known and value not in _NOTHING]
    ours: dict[str, Json] = {}
    if isinstance(extensions := data.get(EXTENSIONS), dict):
        ours = Loose(extensions).object(OURS)
        others = {name: value for name, value in extensions.items() if name != OURS}
        rest |= {EXTENSIONS: others} if others or OURS not in extensions else {}
        left += [f"extensions.{name} of the lorebook" for name in others]
    elif EXTENSIONS in data:
        rest[EXTENSIONS] = extensions
    kept: dict[str, Json] = {**rest, **({_RAW: unreadable} if unreadable else {})}
    name = loose.text("name")
    if not isinstance(data.get("name"), str | None):
        kept["name"] = data["name"]
    root = LoreFile(
        title=name_line(name) or title,
        description=loose.text("description"),
        attributes={KEPT: kept} if kept else {},
    )
    left += [f"{each} of the lorebook" for each in loose.left]
    return _tree(root, ours, entries, left)


def read_entries(
    found: object, read: ReadEntry
) -> tuple[list[tuple[LoreEntry, Mapping[str, Any]]], dict[str, Json], list[str]]:
    """The entries of a file, which are an object by number or a list.

    Returns:
        The entries, each with the object that it was; those that are none, by number; and what was left.

    Raises:
        Invalid: there are none, or far too many.
    """
    if isinstance(found, dict):
        rows = list(found.items())
    elif isinstance(found, list):
        rows = [(str(place), row) for place, row in enumerate(found)]
    else:
        raise Invalid("The file has no entries: give a lorebook.")
    if len(rows) > MAX_ENTRIES:
        raise Invalid(f"The lorebook has {len(rows):,} entries, at most {MAX_ENTRIES:,} are read: part it.")
    entries: list[tuple[LoreEntry, Mapping[str, Any]]] = []
    unreadable: dict[str, Json] = {}
    left: list[str] = []
    for place, (number, row) in enumerate(rows):
        if not isinstance(row, dict):
            unreadable[number] = row
            left.append(UNREADABLE)
            continue
        entry, names = read(row, place, "" if number.isdecimal() else clean(number))
        entries.append((entry, row))
        left += names
    return entries, unreadable, left


def _read(row: Mapping[str, Any], place: int, called: str) -> tuple[LoreEntry, list[str]]:
    return read_entry(row, place, called=called)


@dataclass(frozen=True, slots=True)
class _Below:
    """A lorebook of a file as it says it, with the places of those below it."""

    lorebook: LoreFile
    below: tuple[int, ...]


def _tree(
    root: LoreFile,
    ours: Mapping[str, Json],
    entries: Iterable[tuple[LoreEntry, Mapping[str, Any]]],
    left: list[str],
) -> LoreFile:
    """The lorebooks with their entries in them; one that would stand below itself stands there no more."""
    books = _lorebooks(root, ours, left)
    of: list[list[LoreEntry]] = [[] for _ in books]
    for entry, row in entries:
        of[_place(row, len(books))].append(entry)
    made: dict[int, LoreFile] = {}
    for place, below, cut in from_below([book.below for book in books]):
        left += ["a lorebook below itself"] * cut
        made[place] = replace(
            books[place].lorebook, entries=tuple(of[place]), below=tuple(made[each] for each in below)
        )
    lost = [entry for place, some in enumerate(of) if place not in made for entry in some]
    if lost:
        left += ["an entry whose lorebook stands nowhere"] * len(lost)
    return replace(made[0], entries=(*made[0].entries, *lost), left=counted(left))


def _place(row: Mapping[str, Any], count: int) -> int:
    extensions = row.get(EXTENSIONS)
    ours = extensions.get(OURS) if isinstance(extensions, dict) else None
    place = ours.get(_LOREBOOK, 0) if isinstance(ours, dict) else 0
    return place if type(place) is int and 0 <= place < count else 0


def _lorebooks(root: LoreFile, ours: Mapping[str, Json], left: list[str]) -> list[_Below]:
    rows = ours.get(_LOREBOOKS)
    found = rows[:MAX_LOREBOOKS] if isinstance(rows, list) else []
    if isinstance(rows, list) and len(rows) > MAX_LOREBOOKS:
        left += ["a lorebook beyond the limit"] * (len(rows) - MAX_LOREBOOKS)
    books = []
    for place, row in enumerate(found or [{}]):
        loose = Loose(row if isinstance(row, dict) else {})
        below = [each for each in _list(loose.raw.get("below")) if type(each) is int and 0 <= each < len(found)]
        name = name_line(loose.text("name"))
        book = replace(
            root
            if place == 0
            else LoreFile(title=name or f"Lorebook {place + 1}", description=loose.text("description")),
            enabled=loose.flag("enabled", True),
            scan_depth=loose.number("scanDepth", 0, 0, MAX_SCAN_DEPTH),
            tags=loose.tags("tags"),
        )
        attributes = {**loose.object("attributes"), **book.attributes}
        books.append(_Below(replace(book, attributes=attributes), tuple(dict.fromkeys(below))))
        left += [f"{each} of the lorebook" for each in loose.left]
    return books


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# Out


def write_worldinfo(lorebook: LoreFile) -> tuple[bytes, tuple[Left, ...]]:
    """The file of a lorebook, with the entries of those below it.

    Returns:
        The file, and what other programs can't know of it: they keep it, and do not read it.
    """
    made = worldinfo_of(lorebook, write_entry)
    return orjson.dumps(made, option=orjson.OPT_INDENT_2) + b"\n", counted(_unread(made, lorebook))


def worldinfo_of(
    lorebook: LoreFile, write: Callable[[LoreEntry, int], dict[str, Any]], *, as_list: bool = False
) -> dict[str, Any]:
    """What the file of a lorebook holds, its entries written by `write`: by number, or as a list."""
    books = list(lorebook.lorebooks())
    entries: list[dict[str, Any]] = []
    for number, book in enumerate(books):
        for entry in book.entries:
            row = write(entry, len(entries))
            entries.append(_of_lorebook(row, number) if number else row)
    kept = lorebook.attributes.get(KEPT)
    rest: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
    unreadable = rest.pop(_RAW, None)
    others = unreadable if isinstance(unreadable, dict) else {}
    found: dict[str, Any] | list[Any] = [*entries, *others.values()]
    if not as_list:
        found = _numbered(entries)
        found |= {_free(number, found): value for number, value in others.items()}
    made: dict[str, Any] = {"name": lorebook.title} if lorebook.title else {}
    if lorebook.description:
        made["description"] = lorebook.description
    made |= {"entries": found, **rest}
    ours = _told(books)
    if ours:
        extensions = rest.get(EXTENSIONS)
        made[EXTENSIONS] = {**(extensions if isinstance(extensions, dict) else {}), OURS: {_LOREBOOKS: ours}}
    return made


def _of_lorebook(row: dict[str, Any], number: int) -> dict[str, Any]:
    extensions = row.get(EXTENSIONS)
    extensions = extensions if isinstance(extensions, dict) else {}
    return {**row, EXTENSIONS: {**extensions, OURS: {**extensions.get(OURS, {}), _LOREBOOK: number}}}


def _numbered(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The entries by number: each keeps its own where no other has it."""
    entries = list(entries)
    wanted = [row.get("uid") for row in entries]
    taken = {each for each in wanted if type(each) is int}
    keyed: dict[str, Any] = {}
    fresh = 0
    for row, uid in zip(entries, wanted, strict=True):
        if type(uid) is not int or str(uid) in keyed:
            while fresh in taken:
                fresh += 1
            taken.add(fresh)
            row, uid = {**row, "uid": fresh}, fresh
        keyed[str(uid)] = row
    return keyed


def _free(number: str, keyed: Mapping[str, Any]) -> str:
    while number in keyed:
        number += "-"
    return number


def _told(books: list[LoreFile]) -> list[dict[str, Json]]:
    """What the lorebooks are, where world info has no place for it; empty for one alone that says nothing more."""
    places = {id(book): place for place, book in enumerate(books)}
    rows: list[dict[str, Json]] = []
    for book in books:
        row: dict[str, Json] = {"name": book.title}
        others = {name: value for name, value in book.attributes.items() if name != KEPT or book is not books[0]}
        for name, value, usual in (
            ("description", book.description, ""),
            ("enabled", book.enabled, True),
            ("scanDepth", book.scan_depth, 0),
            ("tags", list(book.tags), []),
            ("below", [places[id(each)] for each in book.below], []),
            ("attributes", others, {}),
        ):
            if not same(value, usual):
                row[name] = value
        rows.append(row)
    nothing = len(rows) == 1 and not rows[0].keys() - {"name", "description"}
    return [] if nothing else rows


def _unread(made: Mapping[str, Any], lorebook: LoreFile) -> Iterator[str]:
    for place, book in enumerate(lorebook.lorebooks()):
        yield from ["lorebooks below"] if place else []
        yield from [] if book.enabled else ["a lorebook that is disabled"]
        yield from ["tags of a lorebook"] if book.tags else []
        yield from ["scan depth"] if book.scan_depth else []
    for row in made["entries"].values():
        yield from unread_fields(row)


def unread_fields(row: object) -> Iterator[str]:
    """The fields of an entry that went out beside the ones that other programs read."""
    extensions = row.get(EXTENSIONS) if isinstance(row, dict) else None
    ours = extensions.get(OURS) if isinstance(extensions, dict) else None
    fields = ours.get("fields") if isinstance(ours, dict) else None
    yield from (_WORDS.get(name, name) for name in fields or () if name != "mode")


_WORDS = {
    "look_back": "recent parts",
    "first": "first part",
    "last": "last part",
    "negative_tags": "negative tags",
}
"""Field -> the words for it, where it is another one."""
