"""Commands that tell who wrote what: the stretches of a part, and the shares of the book."""

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Severity, Work
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import BranchRef, PlaceRef, open_book
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.suites.history import moment
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import blame as services
from marginalia_tui.services.versions import Act

AT_ONCE = 200
"""Parts that are read in one transaction."""


class BlameRow(Result):
    """A stretch of a part that one version brought: characters `start` up to `end`, and who wrote it."""

    start: int
    end: int
    words: int
    who: str
    when: str | None = None
    version: int
    label: str
    run: str | None = None
    call: str | None = None
    begins: str


class BlameSpans(Page):
    """Who wrote which stretch of a part, in the order of the text; nothing is left out."""

    thing = ("stretch", "stretches")

    part: PartHandle
    position: int
    spans: list[BlameRow]


@command(
    "blame",
    title="Who wrote a part",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each stretch of the text: who wrote it, when, by what",
    example="/blame 3",
    for_model="Shows who wrote which stretch of a part. Pass part: its handle or position. Each row has start and end "
    "(characters), who (author, or the name of an agent or model), when, version, and how the stretch begins.",
)
def blame(ctx: Context, part: PlaceRef, offset: Offset = 0, limit: Limit = LIMIT) -> BlameSpans:
    """Shows who wrote which stretch of a part, when and by what."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part)
        found = services.histories(opened.space, [uuid])
        position = opened.depths[uuid]
    text = found[0].text if found else ""
    stretches = found[0].stretches() if found else []
    some, page = page_of(stretches, offset, limit)
    rows = [_row(text[each.start : each.end], each.start, each.owner) for each in some]
    return BlameSpans(part=uuid, position=position, spans=rows, **page)


def _row(text: str, start: int, writer: services.Writer) -> BlameRow:
    act: Act = writer.act
    return BlameRow(
        start=start,
        end=start + len(text),
        words=count_words(text),
        who=act.who,
        when=moment(act.at),
        version=writer.version,
        label=act.label,
        run=act.run,
        call=act.call,
        begins=first_words(text),
    )


class ShareRow(Result):
    """What one writer has of the words. `kind` is author, agent, model or unknown (older than the journal)."""

    who: str
    kind: str
    words: int
    percent: float


class Shares(Result):
    """How many words of the book are whose, the most first."""

    parts: int
    words: int
    shares: list[ShareRow]

    def sentence(self) -> str:
        """What was counted."""
        return f"{counted(self.words, 'word').capitalize()} in {counted(self.parts, 'part')}."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"parts", "words"})


@command(
    "blame-book",
    title="Who wrote the book",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each writer: words, and their share of the book",
    example="/blame-book",
    for_model="Shows how many words of the book the author, each agent and each model wrote. All arguments are "
    "optional: without branch it counts the parts of all branches. Each row has who, kind, words and percent.",
)
def blame_book(ctx: Context, branch: BranchRef = None) -> Shares:
    """Shows how many words of the book are the author's, each agent's and each model's."""
    with open_book(ctx) as opened:
        parts = opened.all_parts() if branch is None else opened.branch(branch)
        words = {uuid: opened.row(uuid).words for uuid in parts}
    counts: dict[tuple[str, str], int] = {}
    for start in range(0, len(parts), AT_ONCE):
        ctx.check()
        ctx.status("Comparing versions", f"part {start + 1:,} of {len(parts):,}", done=start, total=len(parts))
        with ctx.reading() as space:
            found = services.histories(space, parts[start : start + AT_ONCE], compared=True)
        for key, number in services.count_words(found, words).items():
            counts[key] = counts.get(key, 0) + number
    total = sum(counts.values())
    rows = [
        ShareRow(who=each.who, kind=each.kind, words=each.words, percent=round(100 * each.words / total, 1))
        for each in services.ranked(counts)
    ]
    return Shares(parts=len(parts), words=total, shares=rows)
