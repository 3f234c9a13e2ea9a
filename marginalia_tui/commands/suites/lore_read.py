"""Commands that read the lore of the book: its lorebooks and their entries. They never write."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from marginalia_tui.commands.bounds import (
    LENGTH,
    LIMIT,
    Limit,
    Offset,
    Page,
    Slice,
    TextLength,
    TextOffset,
    page_fields,
    page_of,
    slice_of,
)
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.lore_references import EntryPlace, LorebookPlace, OpenLore, open_lore
from marginalia_tui.commands.patterns import Mode, Pattern, Search, first_hit, first_words
from marginalia_tui.commands.results import EntryHandle, LorebookHandle, Result
from marginalia_tui.domain.items import Entry
from marginalia_tui.domain.lore import LoreRow
from marginalia_tui.services import lore

AT_ONCE = 500
"""Entries whose texts are read in one transaction."""
FIELDS = ("name", "text", "comment", "filter")
"""The fields of an entry that are searched."""


class LorebookRow(Result):
    """A lorebook in the tree. `under` are the numbers of those right above it, `level` how deep it stands."""

    number: int
    lorebook: LorebookHandle
    name: str
    level: int
    under: list[int]
    entries: int
    enabled: bool
    active: bool
    """Whether it and one way to it are enabled."""
    scan_depth: int | None = None
    tags: list[str]


class LorebookList(Page):
    """The lorebooks of the book: the root, then what stands below it, level by level."""

    thing = ("lorebook", "lorebooks")

    lorebooks: list[LorebookRow]


@command(
    "list-lorebooks",
    title="List the lorebooks",
    severity=Severity.READ,
    returns="a row for each lorebook: number, handle, name, where it stands, how many entries it has",
    example="/list-lorebooks",
    for_model="Lists the lorebooks of the book: the root first, then those below it. Takes no arguments. Each row has "
    "lorebook (the handle to pass to other commands), name, entries and under (the numbers of those above it).",
)
def list_lorebooks(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> LorebookList:
    """Lists the lorebooks of the book as a tree, with their entries."""
    with open_lore(ctx) as opened:
        some, page = page_of(list(opened.tree.lorebooks.values()), offset, limit)
        counts = lore.count_entries(opened.space, [each.uuid for each in some])
        rows = [
            LorebookRow(
                number=opened.numbers[each.uuid],
                lorebook=each.uuid,
                name=each.name,
                level=opened.tree.levels[each.uuid],
                under=[opened.numbers[uuid] for uuid in opened.tree.above(each.uuid)],
                entries=counts[each.uuid],
                enabled=each.enabled,
                active=each.uuid in opened.tree.live,
                scan_depth=each.scan_depth if each is opened.tree.root else None,
                tags=list(each.tags),
            )
            for each in some
        ]
        return LorebookList(lorebooks=rows, **page)


class EntryRow(Result):
    """An entry in a list, without its text."""

    number: str
    entry: EntryHandle
    name: str
    filter: str
    order: int
    enabled: bool
    constant: bool
    tags: list[str]
    negative_tags: list[str]


class EntryList(Page):
    """Entries in the order in which they are told."""

    thing = ("entry", "entries")

    entries: list[EntryRow]


@command(
    "list-lore-entries",
    title="List the lore entries",
    severity=Severity.READ,
    returns="a row for each entry: number, handle, name, filter, order, tags",
    example="/list-lore-entries 2",
    for_model="Lists the entries of one lorebook, or of all. Pass lorebook: its handle or number, or leave it out. "
    "Each row has entry (the handle to pass to other commands), name, filter, tags. get-lore-entry reads the text.",
)
def list_lore_entries(
    ctx: Context,
    lorebook: Annotated[
        LorebookPlace | None,
        Param(
            "the lorebook: its number, its name or its uuid; without it all",
            for_model="The handle or number of the lorebook. Leave it out for all.",
            names="lorebook",
        ),
    ] = None,
    name: Annotated[Pattern, Param("only entries whose name holds this")] = "",
    tag: Annotated[Pattern, Param("only entries with this tag, or that must not have it")] = "",
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> EntryList:
    """Lists the entries of a lorebook, or of all lorebooks of the book."""
    with open_lore(ctx) as opened:
        if lorebook is None:
            rows = [row for rows in opened.entries.values() for row in rows]
        else:
            rows = opened.entries[opened.read_lorebook(lorebook).uuid]
        wanted, key = name.casefold(), tag.strip().casefold()
        rows = [
            row
            for row in rows
            if wanted in row.name.casefold()
            and (not key or key in (each.casefold() for each in (*row.tags, *row.negative_tags)))
        ]
        some, page = page_of(rows, offset, limit)
        return EntryList(entries=[_entry_row(opened, row) for row in some], **page)


def _entry_row(opened: OpenLore, row: LoreRow) -> EntryRow:
    return EntryRow(
        number=opened.entry_numbers[row.uuid],
        entry=row.uuid,
        name=row.name,
        filter=first_words(row.filter, 100),
        order=row.order,
        enabled=row.enabled,
        constant=row.constant,
        tags=list(row.tags),
        negative_tags=list(row.negative_tags),
    )


class EntryText(Slice):
    """An entry with a slice of its text."""

    number: str
    entry: EntryHandle
    lorebook: LorebookHandle
    lorebook_name: str
    name: str
    enabled: bool
    constant: bool
    order: int
    filter: str
    mode: str
    look_back: int
    first: int | None = None
    last: int | None = None
    tags: list[str]
    negative_tags: list[str]
    insertion: str
    comment: str

    def untold(self) -> frozenset[str]:
        """A lorebook has a name."""
        return super().untold() | {"lorebook"}


@command(
    "get-lore-entry",
    title="Read a lore entry",
    severity=Severity.READ,
    returns="the text of the entry, or a slice of it, with all its fields",
    example="/get-lore-entry 2.5",
    for_model="Returns the text of one lore entry and all its fields. Pass entry: its handle, such as h:e5, or its "
    "number. A long text comes in slices: when truncated is true, call again with offset set to nextOffset.",
)
def get_lore_entry(ctx: Context, entry: EntryPlace, offset: TextOffset = 0, length: TextLength = LENGTH) -> EntryText:
    """Shows a lore entry: its text, and when it is active."""
    with open_lore(ctx) as opened:
        value = opened.space.get(Entry, opened.read_entry(entry))
        return EntryText(
            number=opened.entry_numbers[value.uuid],
            entry=value.uuid,
            lorebook=value.lorebook,
            lorebook_name=opened.tree.lorebooks[value.lorebook].name,
            name=value.name,
            enabled=value.enabled,
            constant=value.constant,
            order=value.order,
            filter=value.filter,
            mode=value.mode,
            look_back=value.look_back,
            first=value.first,
            last=value.last,
            tags=list(value.tags),
            negative_tags=list(value.negative_tags),
            insertion=value.insertion,
            comment=value.comment,
            **slice_of(value.text, offset, length),
        )


class LoreHit(Result):
    """An entry that holds the text: in which fields, and the first place in its context."""

    number: str
    entry: EntryHandle
    name: str
    fields: list[str]
    first: str


class LoreHits(Page):
    """The entries that hold a text."""

    thing = ("entry", "entries")

    hits: list[LoreHit]


@command(
    "search-lore",
    title="Search the lore",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each entry that holds the text: in which fields, and the first place",
    example="/search-lore lighthouse",
    for_model="Finds the lore entries that contain a text, in their name, text, comment or filter. Pass pattern. "
    "Capitals do not count. Each row has entry (the handle), name, fields and the words around the first place.",
)
def search_lore(
    ctx: Context,
    pattern: Annotated[
        Pattern, Param("the text, word or regular expression to look for", for_model="What to look for.")
    ],
    mode: Mode = "text",
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> LoreHits:
    """Finds the lore entries that hold a text, capitals or not, in whatever field."""
    search = Search(pattern, mode, tolerant=True)
    with open_lore(ctx) as opened:
        rows = [row for rows in opened.entries.values() for row in rows]
        numbers = opened.entry_numbers
    total = 0
    hits: list[LoreHit] = []
    for row, fields in prose_of(ctx, rows, FIELDS, "Searching the lore"):
        # An expression may look for the ends of a text; all else is nowhere when it is not in all fields at once.
        if mode != "regex" and not search.fits("\0".join(fields.values())):
            continue
        if hit := first_hit(search, fields):
            if offset <= total < offset + limit:
                names, first = hit
                hits.append(LoreHit(number=numbers[row.uuid], entry=row.uuid, name=row.name, fields=names, first=first))
            total += 1
    return LoreHits(hits=hits, **page_fields(total, offset, len(hits)))


def prose_of(
    ctx: Context, rows: Sequence[LoreRow], names: Sequence[str], doing: str
) -> Iterator[tuple[LoreRow, dict[str, str]]]:
    """Entries with fields of theirs (of `FIELDS`) by name; stops when told to.

    The texts are read in batches, so that no transaction stays open.
    """
    for start in range(0, len(rows), AT_ONCE):
        ctx.check()
        ctx.status(doing, f"entry {start + 1:,} of {len(rows):,}", done=start, total=len(rows))
        some = rows[start : start + AT_ONCE]
        with ctx.reading() as space:
            prose = lore.entry_prose(space, [row.uuid for row in some])
        for row in some:
            if row.uuid in prose:
                text, comment = prose[row.uuid]
                fields = {"name": row.name, "text": text, "comment": comment, "filter": row.filter}
                yield row, {name: fields[name] for name in names}
