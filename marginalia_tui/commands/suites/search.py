"""Commands that search the book. They never write, and a slow pattern is given up after half a minute."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_fields
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import Mode, Pattern, Search, around
from marginalia_tui.commands.references import BranchRef, OpenBook, PlaceRef, open_book, texts_of
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.suites.history import moment
from marginalia_tui.services.versions import Version, earlier_texts

MATCH = 200
"""Characters of a match that are shown."""
AT_ONCE = 50
"""Parts whose versions are searched in one transaction."""

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
) -> SearchHits:
    """Finds the parts that contain a text, capitals or not, in all branches."""
    search = Search(text, tolerant=True)
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
    for uuid, version, body in _earlier(ctx, search, without) if include_versions else ():
        if offset <= total < offset + limit:
            rows.append(_hit(opened, uuid, body, [match.span() for match in search.find(body)], version))
        total += 1
    return SearchHits(hits=hits, parts=rows, **page_fields(total, offset, len(rows)))


def _earlier(ctx: Context, search: Search, parts: Sequence[str]) -> Iterator[tuple[str, Version, str]]:
    """The newest earlier version that holds the text, of each part that has one, and the text of it."""
    for start in range(0, len(parts), AT_ONCE):
        with ctx.reading() as space:
            found = earlier_texts(space, parts[start : start + AT_ONCE])
        ctx.status("Searching earlier versions", f"part {start + 1:,} of {len(parts):,}", done=start, total=len(parts))
        for uuid, known in found.items():
            ctx.check()
            for version, text in known:
                if any(search.find(text)):
                    yield uuid, version, text
                    break


def _hit(
    opened: OpenBook, uuid: str, body: str, places: Sequence[tuple[int, int]], version: Version | None = None
) -> SearchHit:
    start, end = places[0]
    before, after = around(body, start, end)
    return SearchHit(
        position=opened.depths[uuid],
        part=uuid,
        title=opened.row(uuid).title,
        branch=opened.off_branch(uuid),
        hits=len(places),
        first=" ".join(f"{before}{body[start:end][:MATCH]}{after}".split()),
        version=None
        if version is None
        else HitVersion(number=version.number, when=moment(version.act.at), who=version.act.who),
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
