"""Search and replace over the lore of a book, with a limit, a dry run and a question."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.lore_references import LorebookRef, open_lore
from marginalia_tui.commands.patterns import Mode, Search
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
from marginalia_tui.commands.results import EntryHandle, Result
from marginalia_tui.commands.suites.lore_read import FIELDS, prose_of
from marginalia_tui.commands.suites.lore_write import LONGEST_FILTER, check_filter
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.lore import LoreRow
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.services import lore
from marginalia_tui.store.store import WriteTx


class EntrySample(Result):
    """One of the places, as it is and as it becomes."""

    number: str
    entry: EntryHandle
    name: str
    field: str
    before: str
    after: str


class LoreReplaced(Preview):
    """What a search and replace did, or would do to the lore. `changed` are the entries, at most a hundred."""

    entries: int
    changed: list[EntryHandle]
    samples: list[EntrySample]

    def sentence(self) -> str:
        """The numbers in words."""
        return self.told(counted(self.entries, "entry", "entries"))

    def untold(self) -> frozenset[str]:
        """The sentence says the numbers."""
        return super().untold() | {"entries", "changed"}


TOLD = 100
"""Entries that the answer names."""


@command(
    "search-replace-lore-entries",
    title="Search and replace in the lore",
    severity=Severity.CHANGE,
    work=Work.LONG,
    destructive=True,
    returns="how many places in how many entries, and the places before and after: a page of them, or the first five",
    example="/search-replace-lore-entries Renfeld Renfield word all",
    for_model="Replaces every place of a text in the lore entries. Pass pattern and replacement. Call it first with "
    "dryRun true: it then changes nothing and returns hits and samples. It refuses more than maxHits.",
)
def search_replace_lore_entries(
    ctx: Context,
    pattern: ExactPattern,
    replacement: Replacement,
    mode: Mode = "text",
    where: Annotated[
        Literal["text", "name", "comment", "filter", "all"],
        Param(
            "the field: text, name, comment, filter or all of them",
            for_model="The field to change: text, name, comment, filter or all. Leave it out for text.",
        ),
    ] = "text",
    max_hits: MaxHits = MAX_HITS,
    dry_run: DryRun = False,
    lorebook: Annotated[
        LorebookRef | None,
        Param(
            "only this lorebook; without it all",
            for_model="Leave it out for all lorebooks, or pass the handle of one.",
            names="lorebook",
        ),
    ] = None,
    ignore_case: IgnoreCase = False,
    offset: SkipPlaces = 0,
    limit: ShowPlaces = SHOWN,
) -> Effect[LoreReplaced] | LoreReplaced:
    """Replaces every place of a text, a word or a regular expression in the lore entries of the book."""
    replacing = Replacing(pattern, replacement, mode, window(dry_run, offset, limit), ignore_case=ignore_case)
    with open_lore(ctx) as opened:
        of = opened.tree.lorebooks if lorebook is None else [opened.written_lorebook(lorebook).uuid]
        rows = [row for each in of for row in opened.entries[each]]
        numbers = opened.entry_numbers
    names = FIELDS if where == "all" else (where,)
    found, samples = _replace_all(ctx, rows, names, numbers, replacing)
    hits, changed = replacing.hits, {uuid: fields for uuid, fields in found.items() if fields}
    if not hits:
        note = _nothing_found(ctx, rows, names, pattern, mode)
        return LoreReplaced(dry_run=dry_run, hits=0, entries=0, changed=[], samples=[], note=note)
    page = replacing.page(dry_run, len(samples))
    result = LoreReplaced(
        dry_run=dry_run, hits=hits, entries=len(found), changed=list(changed)[:TOLD], samples=samples, **page
    )
    if dry_run:
        return result
    replacing.check_limit(max_hits)
    more = [f"and {counted(hits - len(samples), 'further place')}"] if hits > len(samples) else []
    ctx.confirm(
        f"Replace {quoted(pattern)} by {quoted(replacement)}: {counted(hits, 'place')} in "
        f"{counted(len(found), 'entry', 'entries')}?",
        [f"{each.number} {each.name}, {each.field}: {each.before}  ->  {each.after}" for each in samples] + more,
    )

    def apply(tx: WriteTx) -> LoreReplaced:
        lore.change_entries(tx.space(ctx.scope.space), changed)
        return result

    return Effect(apply, reads={("entry", row.uuid): row.hash for row in rows if row.uuid in changed})


def _replace_all(
    ctx: Context, rows: Sequence[LoreRow], names: Sequence[str], numbers: Mapping[str, str], replacing: Replacing
) -> tuple[dict[str, dict[str, str]], list[EntrySample]]:
    """The entries with a place, and their fields that become other ones; the first samples."""
    found: dict[str, dict[str, str]] = {}
    samples: list[EntrySample] = []
    for entry, fields in prose_of(ctx, rows, names, "Searching the lore"):
        for name, old in fields.items():
            if done := replacing.replace(old):
                new, places = done
                changes = found.setdefault(entry.uuid, {})
                if new != old:
                    check_omissions(old, new)
                    changes[name] = new
                samples += [
                    EntrySample(
                        number=numbers[entry.uuid],
                        entry=entry.uuid,
                        name=entry.name,
                        field=name,
                        before=was,
                        after=becomes,
                    )
                    for was, becomes in places
                ]
        if changes := found.get(entry.uuid, {}):
            _check(entry, changes)
    return found, samples


def _check(entry: LoreRow, changes: dict[str, str]) -> None:
    """Refuses what a field can't hold after the replacement."""
    if "name" in changes:
        changes["name"] = lore.check_name(changes["name"], "entry")
    if "filter" in changes:
        if not changes["filter"].strip():
            raise Invalid(
                f"{quoted(entry.name)} would have no filter and so be always active: nothing was changed. Set "
                "constant with update-lore-entry if that is meant."
            )
        if len(changes["filter"]) > LONGEST_FILTER:
            raise Invalid(
                f"The filter of {quoted(entry.name)} would have more than {LONGEST_FILTER:,} characters: nothing was "
                "changed."
            )
        check_filter(changes["filter"], entry.mode)


def _nothing_found(ctx: Context, rows: Sequence[LoreRow], names: Sequence[str], pattern: str, mode: str) -> str:
    """The sentence for a pattern that is not there as it was typed, with what is there instead."""
    near = Search(pattern, mode, tolerant=True)
    for _, fields in prose_of(ctx, rows, names, "Searching otherwise"):
        for text in fields.values():
            for match in near.find(text):
                return (
                    f"{quoted(pattern)} is nowhere in the lore as you typed it, but {quoted(match.group())} is: "
                    "type it exactly so, or give ignoreCase."
                )
    return f"{quoted(pattern)} is nowhere in the lore: nothing was changed. search-lore looks through all fields."
