"""Commands for the summaries of a book: which there are, what they cover, and whether they still say it.

None of them asks a model. What a meta summary took in can be read, and changed only after it was unwound.
"""

from collections.abc import Sequence
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
    page_of,
    slice_of,
)
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import BranchRef, open_book
from marginalia_tui.commands.results import PartHandle, Result, SummaryHandle
from marginalia_tui.commands.summary_references import (
    OutdatedRow,
    SummaryPlace,
    covers,
    find_summary,
    outdated_row,
    parts_of,
)
from marginalia_tui.domain.items import Summary
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.summaries import BookSummaries
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import summaries
from marginalia_tui.store.space import Space

VALID, OUTDATED = "valid", "outdated"


class SummaryRow(Result):
    """A summary in a list. `covers` are the positions of its parts, the last of which it stands on."""

    position: int
    part: PartHandle
    summary: SummaryHandle
    covers: str
    state: str
    """`valid`, or `outdated`: its parts do not say any more what they said when it was written."""
    meta: bool | None = None
    """There and true for a meta summary."""
    taken_in: int | None = None
    """How many summaries it took in."""
    words: int
    begins: str


class SummaryList(Page):
    """The summaries of a branch, in reading order."""

    thing = ("summary", "summaries")

    branch: int | None
    uncovered: int
    """Parts at the end of the branch that no summary covers."""
    summaries: list[SummaryRow]


@command(
    "list-summaries",
    title="List the summaries",
    severity=Severity.READ,
    returns="a row for each summary: its part, the parts it covers, whether it is outdated",
    example="/list-summaries",
    for_model="Lists the summaries of a branch in reading order. Each row has part (the handle to pass on), covers "
    "(the positions of the parts it tells of), state (valid or outdated), meta, words and how it begins. uncovered "
    "is the number of parts behind the last summary.",
)
def list_summaries(ctx: Context, branch: BranchRef = None, offset: Offset = 0, limit: Limit = LIMIT) -> SummaryList:
    """Lists the summaries of a branch: what each covers, and whether it is outdated."""
    with open_book(ctx) as opened:
        leaf = opened.leaf(branch)
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        blocks = known.branch(leaf)
        covered = sum(len(block.parts) for block in blocks)
        rows, page = page_of([block.summary for block in blocks], offset, limit)
        return SummaryList(
            branch=opened.branch_numbers[leaf] if leaf else None,
            uncovered=opened.depths[leaf] - covered if leaf else 0,
            summaries=_rows(opened.space, known, rows),
            **page,
        )


def _rows(space: Space, known: BookSummaries, uuids: Sequence[str]) -> list[SummaryRow]:
    values = space.get_many(Summary, uuids)
    rows = []
    for uuid, value in values.items():
        block = known.block(uuid)
        rows.append(
            SummaryRow(
                position=known.position(value.part),
                part=value.part,
                summary=uuid,
                covers=covers(known, block),
                state=VALID if block.valid else OUTDATED,
                meta=value.meta or None,
                taken_in=len(block.taken_in) or None,
                words=count_words(value.text),
                begins=first_words(value.text),
            )
        )
    return rows


class SummaryText(Slice):
    """A summary with a slice of its text; `summaries` are those that it took in, and `taken_by` what took it in."""

    position: int
    part: PartHandle
    summary: SummaryHandle
    covers: str
    state: str
    meta: bool | None = None
    taken_by: SummaryHandle | None = None
    words: int
    written_by: str | None = None
    """The model that wrote it; left out for a person."""
    summaries: list[SummaryRow] | None = None


@command(
    "get-summary",
    title="Read a summary",
    severity=Severity.READ,
    returns="the text, or a slice of it, what it covers and which summaries it took in",
    example="/get-summary 3",
    for_model="Returns the text of one summary with covers (the positions of its parts) and state (valid or outdated). "
    "Pass part: the handle of the part it stands on, or the handle of the summary itself, also of one that a meta "
    "summary took in.",
)
def get_summary(ctx: Context, part: SummaryPlace, offset: TextOffset = 0, length: TextLength = LENGTH) -> SummaryText:
    """Shows the text of a summary, the parts that it covers and the summaries that it took in."""
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        uuid = find_summary(opened, known, part)
        value = opened.space.get(Summary, uuid)
        block = known.block(uuid)
        return SummaryText(
            position=known.position(value.part),
            part=value.part,
            summary=uuid,
            covers=covers(known, block),
            state=VALID if block.valid else OUTDATED,
            meta=value.meta or None,
            taken_by=known.inner.get(uuid),
            words=count_words(value.text),
            written_by=value.model or None,
            summaries=_rows(opened.space, known, block.taken_in) or None,
            **slice_of(value.text, offset, length),
        )


class SummaryCheck(Page):
    """Whether the summaries of all branches still say what their parts say; the rows are those that do not."""

    thing = ("outdated summary", "outdated summaries")

    valid: int
    summaries: list[OutdatedRow]

    def sentence(self) -> str:
        """The numbers in words."""
        if not self.total and not self.valid:
            return "This book has no summary."
        if not self.total:
            return f"Nothing is outdated: {counted(self.valid, 'summary', 'summaries')} valid."
        return f"{super().sentence()[:-1]}, {self.valid:,} valid."

    def untold(self) -> frozenset[str]:
        """The sentence says the number too."""
        return super().untold() | {"valid"}


@command(
    "check-summaries",
    title="Check the summaries",
    severity=Severity.READ,
    returns="how many summaries are valid, and a row for each that is outdated",
    example="/check-summaries",
    for_model="Checks the summaries of all branches. total is the number of outdated ones, and summaries has a row for "
    "each of them: its part and what it covers. valid is the number of the others. Takes no arguments.",
)
def check_summaries(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> SummaryCheck:
    """Checks on all branches which summaries do not say any more what their parts say."""
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
    outdated = sorted(known.outdated(), key=lambda block: known.position(block.parts[-1]))
    rows, page = page_of(outdated, offset, limit)
    return SummaryCheck(
        valid=len(known.standing) - len(outdated), summaries=[outdated_row(known, block) for block in rows], **page
    )


class SummariesExported(Slice):
    """Summaries as Markdown, a heading for each; those that one took in stand below it."""

    summaries: int
    """How many there are in the whole text."""


@command(
    "export-summaries",
    title="Export the summaries",
    severity=Severity.READ,
    returns="the texts of the summaries with those that they took in, as Markdown",
    example="/export-summaries",
    for_model="Returns the summaries of the active branch as one Markdown text, each under a heading with the parts "
    "it covers, and below each meta summary those that it took in. Pass part for one summary with what it took in, or "
    "leave it out for all. A long text comes in slices.",
)
def export_summaries(
    ctx: Context,
    part: Annotated[
        SummaryPlace | None,
        Param(
            "the part that has the summary; without it all of the active branch",
            for_model="The handle of the part that one summary stands on. Leave it out for all.",
            names="part",
        ),
    ] = None,
    offset: TextOffset = 0,
    length: TextLength = LENGTH,
) -> SummariesExported:
    """Writes the summaries of the branch as Markdown, with those that meta summaries took in."""
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        if part is None:
            roots = [block.summary for block in known.branch(opened.leaf(None))]
        else:
            roots = [find_summary(opened, known, part)]
        order = _with_inner(known, roots)
        values = opened.space.get_many(Summary, [uuid for uuid, _ in order])
    pieces = []
    for uuid, level in order:
        block = known.block(uuid)
        marks = [word for word, holds in (("meta", values[uuid].meta), (OUTDATED, not block.valid)) if holds]
        head = parts_of(known, block).capitalize() + (f" ({', '.join(marks)})" if marks else "")
        pieces.append(f"{'#' * min(level, 6)} {head}\n\n{values[uuid].text}")
    return SummariesExported(summaries=len(order), **slice_of("\n\n".join(pieces), offset, length))


def _with_inner(known: BookSummaries, roots: Sequence[str]) -> list[tuple[str, int]]:
    """Summaries with those that they took in below them, each once, and the levels of their headings from 1."""
    order: list[tuple[str, int]] = []
    seen: set[str] = set()
    waiting = [(uuid, 1) for uuid in reversed(roots)]
    while waiting:
        uuid, level = waiting.pop()
        if uuid in seen:
            continue
        seen.add(uuid)
        order.append((uuid, level))
        taken = known.block(uuid).taken_in
        # What the one that it replaced had taken in stands below that.
        deeper = {inner for each in taken for inner in known.block(each).taken_in}
        waiting += [(each, level + 1) for each in reversed(taken) if each not in deeper]
    return order
