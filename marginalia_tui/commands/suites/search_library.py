"""The search through all books of the library: their parts, old versions, notes, and all lore. For the author only.

It works without an open book. What was found is kept as places; the words around them, the position of a part and the
branch that shows it are read for the page that is shown, once for each book on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_fields
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import Mode, Pattern, Search, first_hit, in_context
from marginalia_tui.commands.references import OpenBook
from marginalia_tui.commands.results import Result
from marginalia_tui.commands.suites.lore_read import FIELDS, prose_of
from marginalia_tui.commands.suites.search import HitVersion, newest_old_hits
from marginalia_tui.domain.items import Book
from marginalia_tui.services import lore, searching
from marginalia_tui.services.searching import PartPlace

Where = Literal["parts", "versions", "annotations", "lore", "all"]


@dataclass(frozen=True, slots=True)
class _Found:
    """Something that holds the text. `book` is empty for lore, which books share."""

    kind: str
    book: str
    uuid: str
    part: str
    hits: int
    first: str = ""
    """The first place in its context, but of a part, where that is read for the page that is shown."""
    name: str = ""
    version: HitVersion | None = None


class LibraryHit(Result):
    """Something in the library that holds the text. What has no book is lore; `name` then has the lorebook before it.

    `branch` is there when the active branch of the book lacks the part, `hits` counts the places.
    """

    kind: str
    """`part`, `version`, `annotation` or `entry`."""
    book: str
    item: str
    """The uuid."""
    position: int | None = None
    branch: int | None = None
    name: str
    hits: int
    first: str
    version: HitVersion | None = None

    def untold(self) -> frozenset[str]:
        """A person goes by names and positions."""
        return frozenset({"item"})


class LibraryHits(Page):
    """What holds a text, book by book; then the lore."""

    thing = ("hit", "hits")

    books: int
    """The books that have some of it."""
    found: list[LibraryHit]


@command(
    "search-library",
    title="Search all books",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each part, old version, note or entry that holds the text: book, position, the first place",
    example='/search-library "red eyes"',
)
def search_library(
    ctx: Context,
    pattern: Annotated[Pattern, Param("the text, word or regular expression to look for")],
    where: Annotated[Where, Param("parts, versions (old texts of parts), annotations, lore, or all of them")] = "parts",
    mode: Mode = "text",
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> LibraryHits:
    """Finds what holds a text, capitals or not, in all books that are not in the trash."""
    search = Search(pattern, mode, tolerant=True)
    with ctx.reading() as space:
        books = searching.searched_books(space)
        parts = searching.part_places(space, list(books)) if where != "lore" else []
    found: list[_Found] = []
    if where in ("parts", "all"):
        found += _in_parts(ctx, search, parts)
    if where in ("versions", "all"):
        found += _in_versions(ctx, search, parts)
    if where in ("annotations", "all"):
        found += _in_notes(ctx, search, list(books))
    order = {uuid: number for number, uuid in enumerate(books)}
    found.sort(key=lambda each: order[each.book])
    if where in ("lore", "all"):
        found += _in_lore(ctx, search)
    rows = _page(ctx, search, books, found, offset, limit)
    with_hits = len({each.book for each in found if each.book})
    return LibraryHits(books=with_hits, found=rows, **page_fields(len(found), offset, len(rows)))


def _in_parts(ctx: Context, search: Search, parts: Sequence[PartPlace]) -> Iterator[_Found]:
    done = 0
    for some in searching.batches(parts, lambda each: each.chars):
        ctx.check()
        ctx.status(
            "Searching the parts of all books", f"part {done + 1:,} of {len(parts):,}", done=done, total=len(parts)
        )
        with ctx.reading() as space:
            texts = space.texts([each.uuid for each in some])
        for each in some:
            if hits := sum(1 for _ in search.find(texts.get(each.uuid, ""))):
                yield _Found("part", each.book, each.uuid, each.uuid, hits)
        done += len(some)


def _in_versions(ctx: Context, search: Search, parts: Sequence[PartPlace]) -> Iterator[_Found]:
    with ctx.reading() as space:
        changed = {each.uuid: each.book for each in searching.changed_parts(space, parts)}
    for old in newest_old_hits(ctx, search, list(changed)):
        spans = [match.span() for match in search.find(old.text)]
        first, version = in_context(old.text, *spans[0]), HitVersion.of(old.version)
        yield _Found("version", changed[old.part], old.part, old.part, len(spans), first, version=version)


def _in_notes(ctx: Context, search: Search, books: Sequence[str]) -> Iterator[_Found]:
    done = 0
    for some in searching.notes(ctx.reading, books):
        ctx.check()
        ctx.status("Searching the notes of all books", f"note {done + 1:,}")
        for note in some:
            if hit := first_hit(search, {"text": note.text, "quote": note.quote}):
                fields, first = hit
                yield _Found("annotation", note.book, note.uuid, note.part, len(fields), first)
        done += len(some)


def _in_lore(ctx: Context, search: Search) -> Iterator[_Found]:
    with ctx.reading() as space:
        names = searching.searched_lorebooks(space)
        rows = lore.entry_rows(space, names)
    order = {uuid: number for number, uuid in enumerate(names)}
    rows.sort(key=lambda row: order[row.lorebook])
    for row, fields in prose_of(ctx, rows, FIELDS, "Searching all lore"):
        found = [(name, match) for name, text in fields.items() if (match := next(search.find(text), None))]
        if found:
            name, match = found[0]
            first = in_context(fields[name], match.start(), match.end())
            named = f"{names[row.lorebook]}: {row.name}"
            yield _Found("entry", "", row.uuid, "", len(found), first, name=named)


def _page(
    ctx: Context, search: Search, books: Mapping[str, Book], found: Sequence[_Found], offset: int, limit: int
) -> list[LibraryHit]:
    """The rows of a page, those of a book in its reading order."""
    rows: list[LibraryHit] = []
    place = 0
    for uuid, of_book in groupby(found, key=lambda each: each.book):
        some = list(of_book)
        begin, end = max(offset - place, 0), min(offset + limit - place, len(some))
        place += len(some)
        if begin >= end:
            continue
        if not uuid:
            rows += [_row(each, "") for each in some[begin:end]]
            continue
        with ctx.reading() as space:
            rows += _rows_of_book(OpenBook(ctx, space, books[uuid]), search, some, begin, end)
    return rows


def _rows_of_book(opened: OpenBook, search: Search, some: list[_Found], begin: int, end: int) -> list[LibraryHit]:
    order = {uuid: number for number, uuid in enumerate(opened.all_parts())}
    # A part may be gone since it was found.
    some = sorted((each for each in some if each.part in order), key=lambda each: order[each.part])[begin:end]
    texts = opened.space.texts([each.part for each in some if not each.first])
    rows = []
    for each in some:
        first = each.first
        if not first and (match := next(search.find(texts[each.part]), None)):
            first = in_context(texts[each.part], match.start(), match.end())
        name = opened.row(each.part).title
        position, branch = opened.depths[each.part], opened.off_branch(each.part)
        rows.append(_row(each, opened.book.title, first, name, position, branch))
    return rows


def _row(
    each: _Found, book: str, first: str = "", name: str = "", position: int | None = None, branch: int | None = None
) -> LibraryHit:
    return LibraryHit(
        kind=each.kind,
        book=book,
        item=each.uuid,
        position=position,
        branch=branch,
        name=name or each.name,
        hits=each.hits,
        first=first or each.first,
        version=each.version,
    )
