"""Search and replace over the parts of a book, with a limit, a dry run and a question."""

from dataclasses import replace
from typing import Annotated

import regex
from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import Mode, Pattern, Search, around
from marginalia_tui.commands.references import OpenBook, PartRef, open_book, texts_of
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.sentences import counted, quoted
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.items import Part
from marginalia_tui.store.store import WriteTx

MAX_HITS = 1_000
SAMPLES = 5


class Sample(Result):
    """One of the places, as it is and as it becomes."""

    position: int
    part: PartHandle
    before: str
    after: str


class Replaced(Result):
    """What a search and replace did, or would do."""

    dry_run: bool
    hits: int
    parts: int
    note: str | None = None
    samples: list[Sample]

    def sentence(self) -> str:
        """The numbers in words."""
        if self.note:
            return self.note
        numbers = f"{counted(self.hits, 'place')} in {counted(self.parts, 'part')}"
        return f"Nothing was changed (a dry run): {numbers} would be." if self.dry_run else f"Changed {numbers}."

    def untold(self) -> frozenset[str]:
        """The sentence says the numbers."""
        return frozenset({"dry_run", "hits", "parts", "note"})


@command(
    "search-replace-parts",
    title="Search and replace",
    severity=Severity.CHANGE,
    work=Work.LONG,
    destructive=True,
    returns="how many places in how many parts, and five of them before and after",
    example="/search-replace-parts Renfeld Renfield word",
    for_model="Replaces every place of a text in the parts of the active branch. Pass pattern and replacement. Call it "
    "first with dryRun true: it then changes nothing and returns hits and samples. It refuses more than maxHits.",
)
def search_replace_parts(
    ctx: Context,
    pattern: Annotated[
        Pattern, Param("what to look for, capitals and all", for_model="The exact text to look for. Capitals count.")
    ],
    replacement: Annotated[
        str,
        Field(max_length=10_000),
        Param(
            r"what to put there; with regex \1 is the first group",
            for_model=r"The text to put there. With mode regex, \1 is what the first group found.",
        ),
    ],
    mode: Mode = "text",
    max_hits: Annotated[
        int,
        Field(ge=1, le=1_000_000),
        Param(
            "refuse when there are more places than this",
            for_model="The most places to change. When there are more, nothing is changed. Leave it out for 1000.",
        ),
    ] = MAX_HITS,
    dry_run: Annotated[
        bool,
        Param(
            "only count, and show five places",
            for_model="true: change nothing, only return hits and samples.",
        ),
    ] = False,
    part: Annotated[
        PartRef | None,
        Param(
            "only this part; without it the active branch",
            for_model="Leave it out for all parts of the active branch, or pass the handle of one part.",
        ),
    ] = None,
    ignore_case: Annotated[
        bool, Param("whether capitals do not count", for_model="true: capitals do not count.")
    ] = False,
) -> Effect[Replaced] | Replaced:
    """Replaces every place of a text, a word or a regular expression in the parts of the active branch."""
    search = Search(pattern, mode, case_sensitive=not ignore_case)
    with open_book(ctx) as opened:
        chain = opened.tree.active if part is None else [opened.written_part(part)]
    texts, samples, hits = _replace_all(
        ctx, opened, chain, search, replacement if mode == "regex" else None, replacement
    )
    changes = {uuid: text for uuid, (old, text) in texts.items() if old != text}
    if not hits:
        note = _nothing_found(ctx, chain, pattern, mode)
        return Replaced(dry_run=dry_run, hits=0, parts=0, samples=[], note=note)
    result = Replaced(dry_run=dry_run, hits=hits, parts=len(texts), samples=samples)
    if dry_run:
        return result
    if hits > max_hits:
        raise Refused(
            f"{quoted(pattern)} is there {hits:,} times, more than maxHits ({max_hits:,}): nothing was changed. "
            f"Make the pattern narrower, or give maxHits {hits}."
        )
    for old, text in texts.values():
        if added := new_omissions(old, text):
            raise Invalid(
                f"The replacement would leave {quoted(added[0])} in the text, which stands for words that are left "
                "out: nothing was changed."
            )
    more = [f"and {counted(hits - len(samples), 'further place')}"] if hits > len(samples) else []
    ctx.confirm(
        f"Replace {quoted(pattern)} by {quoted(replacement)}: {counted(hits, 'place')} in "
        f"{counted(len(texts), 'part')}?",
        [f"part {each.position}: {each.before}  ->  {each.after}" for each in samples] + more,
    )

    def apply(tx: WriteTx) -> Replaced:
        space = tx.space(ctx.scope.space)
        parts = space.get_many(Part, list(changes))
        space.put([replace(value, text=changes[uuid]) for uuid, value in parts.items()])
        return result

    return Effect(apply, reads={("part", uuid): opened.row(uuid).hash for uuid in changes})


def _replace_all(
    ctx: Context,
    opened: OpenBook,
    chain: list[str],
    search: Search,
    template: str | None,
    replacement: str,
) -> tuple[dict[str, tuple[str, str]], list[Sample], int]:
    """The texts with a place, before and after; the first samples; the number of places."""
    texts: dict[str, tuple[str, str]] = {}
    samples: list[Sample] = []
    hits = 0
    for uuid, body in texts_of(ctx, chain, "Searching"):
        pieces: list[str] = []
        end = 0
        for match in search.find(body):
            new = replacement if template is None else _expanded(match, template)
            pieces += [body[end : match.start()], new]
            end = match.end()
            hits += 1
            if len(samples) < SAMPLES:
                before, after = around(body, match.start(), match.end(), 25)
                samples.append(
                    Sample(
                        position=opened.depths[uuid],
                        part=uuid,
                        before=before + _short(match.group()) + after,
                        after=before + _short(new) + after,
                    )
                )
        if pieces:
            texts[uuid] = (body, "".join([*pieces, body[end:]]))
    return texts, samples, hits


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "\u2026"


def _expanded(match: "regex.Match[str]", template: str) -> str:
    try:
        return match.expand(template)
    except (regex.error, IndexError, KeyError) as error:
        raise Invalid(
            f"The replacement {quoted(template)} names a group that the pattern does not have ({error}): "
            r"\1 is the first pair of brackets in it."
        ) from None


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
