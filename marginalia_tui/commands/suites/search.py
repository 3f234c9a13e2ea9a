"""Commands that search the book and its notes. They never write; a slow pattern is given up after half a minute."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_fields
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import MATCH, Mode, Pattern, Search, around, first_hit, in_context
from marginalia_tui.commands.references import BranchRef, OpenBook, PlaceRef, open_book, texts_of
from marginalia_tui.commands.results import AnnotationHandle, PartHandle, Result
from marginalia_tui.commands.suites.history import moment
from marginalia_tui.domain.items import Annotation
from marginalia_tui.services import annotations, searching
from marginalia_tui.services.annotations import Note
from marginalia_tui.services.searching import OldText
from marginalia_tui.services.versions import Version

CaseSensitive = Annotated[
    bool,
    Param(
        "whether capitals count",
        for_model="true: capitals count. Leave it out to find both.",
    ),
]


class HitVersion(Result):
    """An earlier version of a part."""

    number: int
    when: str | None = None
    who: str

    @classmethod
    def of(cls, version: Version) -> "HitVersion":
        """What is told of a version."""
        return cls(number=version.number, when=moment(version.act.at), who=version.act.who)

    def __str__(self) -> str:
        return f"{self.number} ({self.who}{', ' + self.when if self.when else ''})"


class SearchHit(Result):
    """A part that holds the text: how often, and the first place in its context."""

    position: int
    part: PartHandle
    title: str
    branch: int | None = None
    hits: int
    first: str
    version: HitVersion | None = None
    """There when only an earlier version of the part holds the text: the newest that does."""


class SearchHits(Page):
    """The parts that hold a text. `hits` counts the places in all of them."""

    thing = ("part", "parts")

    hits: int
    parts: list[SearchHit]


@command(
    "search-parts",
    title="Search the parts",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each part that holds the text: how often, and the first place",
    example='/search-parts "red eyes"',
    for_model="Finds the parts of the book that contain a text. Pass text: a word or a short phrase. Capitals do not "
    "count. Each row has part (the handle), hits and the words around the first hit.",
)
def search_parts(
    ctx: Context,
    text: Annotated[
        Pattern,
        Param(
            "the text to look for",
            for_model="The word or short phrase to look for, as it stands in the book.",
        ),
    ],
    branch: Annotated[
        BranchRef,
        Param(
            "only this branch; without it all of them",
            for_model="Leave it out to search all branches, or pass the number of one.",
        ),
    ] = None,
    offset: Offset = 0,
    limit: Limit = LIMIT,
    include_versions: Annotated[
        bool,
        Param(
            "whether earlier versions of the parts are searched too",
            for_model="true: also find parts that held the text earlier. Their rows have version.",
        ),
    ] = False,
    mode: Mode = "text",
) -> SearchHits:
    """Finds the parts that contain a text, a word or a regular expression, capitals or not, in all branches."""
    search = Search(text, mode, tolerant=True)
    with open_book(ctx) as opened:
        parts = opened.all_parts() if branch is None else opened.branch(branch)
    total = hits = 0
    rows: list[SearchHit] = []
    without: list[str] = []
    for uuid, body in texts_of(ctx, parts, "Searching"):
        places = [match.span() for match in search.find(body)]
        if places:
            hits += len(places)
            if offset <= total < offset + limit:
                rows.append(_hit(opened, uuid, body, places))
            total += 1
        else:
            without.append(uuid)
    for old in newest_old_hits(ctx, search, without) if include_versions else ():
        if offset <= total < offset + limit:
            rows.append(
                _hit(opened, old.part, old.text, [match.span() for match in search.find(old.text)], old.version)
            )
        total += 1
    return SearchHits(hits=hits, parts=rows, **page_fields(total, offset, len(rows)))


def newest_old_hits(ctx: Context, search: Search, parts: Sequence[str]) -> Iterator[OldText]:
    """The newest earlier version that holds the text, of each part that has one."""
    places = {uuid: place for place, uuid in enumerate(parts)}
    found = ""
    for old in searching.old_texts(ctx.reading, parts):
        ctx.check()
        place = places[old.part]
        ctx.status("Searching earlier versions", f"part {place + 1:,} of {len(parts):,}", done=place, total=len(parts))
        if old.part != found and any(search.find(old.text)):
            found = old.part
            yield old


def _hit(
    opened: OpenBook, uuid: str, body: str, places: Sequence[tuple[int, int]], version: Version | None = None
) -> SearchHit:
    return SearchHit(
        position=opened.depths[uuid],
        part=uuid,
        title=opened.row(uuid).title,
        branch=opened.off_branch(uuid),
        hits=len(places),
        first=in_context(body, *places[0]),
        version=None if version is None else HitVersion.of(version),
    )


class Occurrence(Result):
    """One place. `at` counts characters of the part from 0."""

    position: int
    part: PartHandle
    branch: int | None = None
    at: int
    before: str
    match: str
    after: str


class Occurrences(Page):
    """The places of a pattern; `total` counts all of them, `in_parts` the parts that have one."""

    thing = ("place", "places")

    in_parts: int
    occurrences: list[Occurrence]


@command(
    "find-occurrences",
    title="Find occurrences",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each place: part, character, what stands around it",
    example='/find-occurrences "red eyes"',
    for_model="Finds every place of a text or regular expression in the book. Pass pattern. Each row has part (the "
    "handle), at (the character in the part), before, match and after. Use it before you change something everywhere.",
)
def find_occurrences(
    ctx: Context,
    pattern: Annotated[
        Pattern,
        Param("the text, word or regular expression to look for", for_model="What to look for, such as red eyes."),
    ],
    mode: Mode = "text",
    part: Annotated[
        PlaceRef | None,
        Param(
            "only this part; without it all of them",
            for_model="Leave it out to search all parts, or pass the handle or position of one.",
        ),
    ] = None,
    case_sensitive: CaseSensitive = False,
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> Occurrences:
    """Finds every place of a text, a word or a regular expression, with what stands around it."""
    search = Search(pattern, mode, case_sensitive=case_sensitive, tolerant=True)
    with open_book(ctx) as opened:
        parts = opened.all_parts() if part is None else [opened.read_part(part)]
    total = in_parts = 0
    rows: list[Occurrence] = []
    for uuid, body in texts_of(ctx, parts, "Searching"):
        before_part = total
        for match in search.find(body):
            if offset <= total < offset + limit:
                rows.append(_occurrence(opened, uuid, body, match.start(), match.end()))
            total += 1
        in_parts += total > before_part
    return Occurrences(in_parts=in_parts, occurrences=rows, **page_fields(total, offset, len(rows)))


def _occurrence(opened: OpenBook, uuid: str, body: str, start: int, end: int) -> Occurrence:
    before, after = around(body, start, end)
    match = body[start:end]
    return Occurrence(
        position=opened.depths[uuid],
        part=uuid,
        branch=opened.off_branch(uuid),
        at=start,
        before=before,
        match=match if len(match) <= MATCH else match[:MATCH] + "\u2026",
        after=after,
    )


class NoteHit(Result):
    """A note that holds the text: in what it says (`text`), in the words that it was made on (`quote`), or in both.

    `position` is that of the part, `number` that of the note.
    """

    number: int
    annotation: AnnotationHandle
    status: str
    type: str
    position: int
    part: PartHandle
    branch: int | None = None
    fields: list[str]
    first: str


class NoteHits(Page):
    """The notes that hold a text, the oldest first."""

    thing = ("note", "notes")

    notes: list[NoteHit]


@command(
    "search-annotations",
    title="Search the notes",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each note that holds the text: where it stands, and the words around the first place",
    example="/search-annotations lamp",
    for_model="Finds the notes (annotations) on the book that contain a text, in what they say or in the words they "
    "are on. Pass pattern. Capitals do not count. Each row has annotation (its handle), part, status and first.",
)
def search_annotations(
    ctx: Context,
    pattern: Annotated[
        Pattern, Param("the text, word or regular expression to look for", for_model="What to look for.")
    ],
    mode: Mode = "text",
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> NoteHits:
    """Finds the notes that hold a text, capitals or not, in what they say or in the words that they are on."""
    search = Search(pattern, mode, tolerant=True)
    book = ctx.scope.open_book
    found: list[tuple[str, list[str], str]] = []
    total = 0
    for some in searching.notes(ctx.reading, [book]):
        ctx.check()
        ctx.status("Searching the notes", f"{total:,} found")
        for note in some:
            if hit := first_hit(search, {"text": note.text, "quote": note.quote}):
                if offset <= total < offset + limit:
                    found.append((note.uuid, *hit))
                total += 1
    with open_book(ctx) as opened:
        rows = _note_rows(opened, found)
    return NoteHits(notes=rows, **page_fields(total, offset, len(rows)))


def _note_rows(opened: OpenBook, found: Sequence[tuple[str, list[str], str]]) -> list[NoteHit]:
    numbers = {uuid: number for number, uuid in enumerate(annotations.note_uuids(opened.space, opened.book.uuid), 1)}
    values = opened.space.get_many(Annotation, [uuid for uuid, _, _ in found])
    texts = opened.space.texts(list({each.part for each in values.values()}))
    # A note may be deleted, with its part or without, since it was found.
    notes = annotations.placed([each for each in values.values() if each.part in texts], texts)
    known: dict[str, Note] = {note.annotation.uuid: note for note in notes}
    return [
        NoteHit(
            number=numbers[uuid],
            annotation=uuid,
            status=known[uuid].status,
            type=known[uuid].annotation.type,
            position=opened.depths[known[uuid].annotation.part],
            part=known[uuid].annotation.part,
            branch=opened.off_branch(known[uuid].annotation.part),
            fields=fields,
            first=first,
        )
        for uuid, fields, first in found
        if uuid in known
    ]
