"""Commands that write, remove and confirm summaries; what a meta summary took in is changed when it was unwound."""

from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import PartRef, open_book
from marginalia_tui.commands.results import PartHandle, Result, SummaryHandle, Told
from marginalia_tui.commands.suites.summaries import OUTDATED, VALID
from marginalia_tui.commands.summary_references import (
    Outdated,
    OutdatedRow,
    SummaryPlace,
    SummaryWatch,
    covers,
    find_summary,
    outdated_row,
    parts_of,
)
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Part, Summary
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import summaries
from marginalia_tui.store.store import WriteTx

LONGEST = 100_000
"""Characters of a summary."""


class SummarySet(Result):
    """What became of a summary."""

    result: str
    """`made`, `changed`, or `unchanged` when it had that text already."""
    position: int
    part: PartHandle
    summary: SummaryHandle
    covers: str
    state: str
    words: int
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What was done."""
        first, _, last = self.covers.partition("..")
        span = f"parts {first} to {last}" if last else f"part {first}"
        still = " It is outdated: revalidate-summaries says that it is right." if self.state == OUTDATED else ""
        return f"The summary of {span} is {self.result}: {counted(self.words, 'word')}.{still}"

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "position", "part", "summary", "covers", "state", "words"})


@command(
    "set-summary",
    title="Write a summary",
    severity=Severity.CHANGE,
    returns="the summary and the parts that it covers; other summaries that it made outdated",
    example='/set-summary 3 "A lamp goes out, and nobody knows why."',
    for_model="Writes the summary that stands on a part, or gives it another text. Pass part (its handle) and text "
    "(the whole summary). It covers the parts from the one behind the summary before it up to this part, as they are "
    "now. What a meta summary took in is refused.",
)
def set_summary(
    ctx: Context,
    part: PartRef,
    text: Annotated[
        Annotated[str, Field(max_length=LONGEST)],
        Param("the whole summary", for_model="The complete text of the summary."),
    ],
) -> Effect[SummarySet]:
    """Writes the summary of the parts that end in one, or gives it another text."""
    if not text.strip():
        raise Invalid("The summary is empty: write it, or remove it with remove-summary.")
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        named = known.rows.get(part.strip())
        uuid = named.part if named else opened.written_part(part)
        if named and known.heads.get(uuid) != named.uuid:
            raise Invalid("A meta summary took this summary in: unwind it first with remove-summary.")
        before = known.heads.get(uuid)
        old = opened.space.get(Summary, before).text if before else ""
        seen = opened.space.hashes(Summary, [before]) if before else {}
    if added := new_omissions(old, text):
        raise Invalid(
            f"The summary holds {quoted(added[0])}, which stands for words that are left out: write them instead."
        )

    def apply(tx: WriteTx) -> SummarySet:
        space = tx.space(ctx.scope.space)
        if uuid not in space.hashes(Part, [uuid]):
            raise NotFound("The part was deleted meanwhile: nothing was changed. list-parts shows the parts.")
        watch = SummaryWatch(space, ctx.scope.open_book)
        summary = summaries.set_summary(space, uuid, text)
        now = summaries.summaries_of(space, ctx.scope.open_book)
        block = now.block(summary)
        return SummarySet(
            result=("unchanged" if old == text else "changed") if before else "made",
            position=now.position(uuid),
            part=uuid,
            summary=summary,
            covers=covers(now, block),
            state=VALID if block.valid else OUTDATED,
            words=count_words(text),
            outdated_summaries=watch.outdated(()),
        )

    return Effect(apply, reads={("summary", key): hash for key, hash in seen.items()})


class SummaryRemoved(Result):
    """A summary that is gone. `restored` is the one that is there again in its place."""

    result: str
    position: int
    part: PartHandle
    restored: SummaryHandle | None = None
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What was done."""
        again = ": the one that it replaced is there again" if self.restored else ""
        return f"The summary of part {self.position} is {self.result}{again}. undo brings it back."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "position", "part", "restored"})


@command(
    "remove-summary",
    title="Remove a summary",
    severity=Severity.REMOVE,
    destructive=True,
    returns="what was removed, and what is there again",
    example="/remove-summary 3",
    for_model="Removes the summary that stands on a part. Pass part (its handle). The parts stay. For a meta summary "
    "pass unwind true: the summary that it replaced and those that it took in are then there again; without unwind "
    "the one that it replaced is removed too.",
)
def remove_summary(
    ctx: Context,
    part: SummaryPlace,
    unwind: Annotated[
        bool,
        Param(
            "of a meta summary: bring back the one that it replaced",
            for_model="true: of a meta summary, bring back the summary that it replaced.",
        ),
    ] = False,
) -> Effect[SummaryRemoved]:
    """Removes the summary of a part, or unwinds a meta summary into those that it took in."""
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        uuid = find_summary(opened, known, part, writes=True)
        summaries.check_removable(known, uuid, unwind=unwind)
        value, seen = opened.space.get(Summary, uuid), opened.space.hashes(Summary, [uuid])
    block, position = known.block(uuid), known.position(value.part)
    verb = "Unwind the meta summary" if unwind else "Remove the summary"
    also = "" if unwind or uuid not in known.kept else " The one that it replaced goes with it; unwind would keep it."
    ctx.confirm(f"{verb} of {parts_of(known, block)}?{also}", [f"It begins: {first_words(value.text)}"])

    def apply(tx: WriteTx) -> SummaryRemoved:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, ctx.scope.open_book)
        restored = summaries.remove_summary(space, uuid, unwind=unwind)
        return SummaryRemoved(
            result="unwound" if unwind else "removed",
            position=position,
            part=value.part,
            restored=restored,
            outdated_summaries=watch.outdated(()),
        )

    return Effect(apply, reads={("summary", key): hash for key, hash in seen.items()})


class Revalidated(Told):
    """The summaries that count as right again."""

    result: str
    summaries: list[OutdatedRow]

    def sentence(self) -> str:
        """Which they are."""
        if not self.summaries:
            return "Nothing was changed: no such summary is outdated."
        places = listed([f"part {row.position}" for row in self.summaries])
        return f"{counted(len(self.summaries), 'summary', 'summaries')} valid again ({places})."


@command(
    "revalidate-summaries",
    title="Say that summaries are right",
    severity=Severity.CHANGE,
    returns="the summaries that are valid again",
    example="/revalidate-summaries 3",
    for_model="Says that outdated summaries are still right, so that they count as valid again. Their texts stay as "
    "they are. Pass part (the handle of the part that one stands on), or leave it out for all of the book. Read a "
    "summary and its parts before you say so.",
)
def revalidate_summaries(
    ctx: Context,
    part: Annotated[
        SummaryPlace | None,
        Param(
            "the part that has the summary; without it all that are outdated",
            for_model="The handle of the part that the summary stands on. Leave it out for all that are outdated.",
            names="part",
        ),
    ] = None,
) -> Effect[Revalidated]:
    """Says that a summary, or all of the book, are still right though their parts were changed."""
    with open_book(ctx) as opened:
        known = summaries.summaries_of(opened.space, opened.book.uuid)
        named = None if part is None else find_summary(opened, known, part, writes=True)

    def apply(tx: WriteTx) -> Revalidated:
        space = tx.space(ctx.scope.space)
        now = summaries.summaries_of(space, ctx.scope.open_book)
        wanted = [block.summary for block in now.outdated()] if named is None else [named]
        changed = summaries.revalidate(space, ctx.scope.open_book, wanted)
        rows = sorted((outdated_row(now, now.block(uuid)) for uuid in changed), key=lambda row: row.position)
        return Revalidated(result="revalidated" if changed else "unchanged", summaries=rows)

    return Effect(apply)
