"""Search and replace over the parts of a book, with a limit, a dry run and a question."""

from dataclasses import replace
from typing import Annotated

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import Mode, Search
from marginalia_tui.commands.references import OpenBook, PartRef, open_book, texts_of
from marginalia_tui.commands.replacing import (
    MAX_HITS,
    SHOWN,
    DryRun,
    ExactPattern,
    IgnoreCase,
    MaxHits,
    Preview,
    Replacement,
    Replacing,
    ShowPlaces,
    SkipPlaces,
    check_omissions,
    window,
)
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.summary_references import Outdated, SummaryWatch
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.store.store import WriteTx


class Sample(Result):
    """One of the places, as it is and as it becomes. `branch` is there when the active one lacks the part."""

    position: int
    part: PartHandle
    branch: int | None = None
    before: str
    after: str


class Replaced(Preview):
    """What a search and replace did, or would do to the parts."""

    parts: int
    samples: list[Sample]
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """The numbers in words."""
        return self.told(counted(self.parts, "part"))

    def untold(self) -> frozenset[str]:
        """The sentence says the numbers."""
        return super().untold() | {"parts"}


@command(
    "search-replace-parts",
    title="Search and replace",
    severity=Severity.CHANGE,
    work=Work.LONG,
    destructive=True,
    returns="how many places in how many parts, and the places before and after: a page of them, or the first five",
    example="/search-replace-parts Renfeld Renfield word",
    for_model="Replaces every place of a text in the parts of the active branch. Pass pattern and replacement. Call it "
    "first with dryRun true: it then changes nothing and returns hits and samples. It refuses more than maxHits.",
)
def search_replace_parts(
    ctx: Context,
    pattern: ExactPattern,
    replacement: Replacement,
    mode: Mode = "text",
    max_hits: MaxHits = MAX_HITS,
    dry_run: DryRun = False,
    part: Annotated[
        PartRef | None,
        Param(
            "only this part; without it the active branch",
            for_model="Leave it out for all parts of the active branch, or pass the handle of one part.",
        ),
    ] = None,
    ignore_case: IgnoreCase = False,
    offset: SkipPlaces = 0,
    limit: ShowPlaces = SHOWN,
) -> Effect[Replaced] | Replaced:
    """Replaces every place of a text, a word or a regular expression in the parts of the active branch."""
    replacing = Replacing(pattern, replacement, mode, window(dry_run, offset, limit), ignore_case=ignore_case)
    with open_book(ctx) as opened:
        chain = opened.tree.active if part is None else [opened.written_part(part)]
    texts, samples = _replace_all(ctx, opened, chain, replacing)
    hits = replacing.hits
    changes = {uuid: text for uuid, (old, text) in texts.items() if old != text}
    if not hits:
        note = _nothing_found(ctx, chain, pattern, mode)
        return Replaced(dry_run=dry_run, hits=0, parts=0, samples=[], note=note)
    page = replacing.page(dry_run, len(samples))
    result = Replaced(dry_run=dry_run, hits=hits, parts=len(texts), samples=samples, **page)
    if dry_run:
        return result
    replacing.check_limit(max_hits)
    for old, text in texts.values():
        check_omissions(old, text)
    more = [f"and {counted(hits - len(samples), 'further place')}"] if hits > len(samples) else []
    ctx.confirm(
        f"Replace {quoted(pattern)} by {quoted(replacement)}: {counted(hits, 'place')} in "
        f"{counted(len(texts), 'part')}?",
        [f"part {each.position}: {each.before}  ->  {each.after}" for each in samples] + more,
    )

    def apply(tx: WriteTx) -> Replaced:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, ctx.scope.open_book)
        parts = space.get_many(Part, list(changes))
        done = space.put([replace(value, text=changes[uuid]) for uuid, value in parts.items()])
        return result.model_copy(update={"outdated_summaries": watch.outdated(done)})

    return Effect(apply, reads={("part", uuid): opened.row(uuid).hash for uuid in changes})


def _replace_all(
    ctx: Context, opened: OpenBook, chain: list[str], replacing: Replacing
) -> tuple[dict[str, tuple[str, str]], list[Sample]]:
    """The texts with a place, before and after; the first samples."""
    texts: dict[str, tuple[str, str]] = {}
    samples: list[Sample] = []
    for uuid, body in texts_of(ctx, chain, "Searching"):
        if done := replacing.replace(body):
            new, places = done
            texts[uuid] = (body, new)
            depth, off = opened.depths[uuid], opened.off_branch(uuid)
            samples += [
                Sample(position=depth, part=uuid, branch=off, before=each.before, after=each.after) for each in places
            ]
    return texts, samples


def _nothing_found(ctx: Context, chain: list[str], pattern: str, mode: str) -> str:
    """The sentence for a pattern that is not there as it was typed, with what is there instead."""
    near = Search(pattern, mode, tolerant=True)
    for _, body in texts_of(ctx, chain, "Searching otherwise"):
        for match in near.find(body):
            return (
                f"{quoted(pattern)} is nowhere in these parts as you typed it, but {quoted(match.group())} is: "
                "type it exactly so, or give ignoreCase."
            )
    return f"{quoted(pattern)} is nowhere in these parts: nothing was changed. find-occurrences searches all branches."
