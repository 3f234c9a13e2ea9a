"""Commands that compare: two versions of a part word by word, two parts sentence by sentence."""

from typing import Annotated

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import around
from marginalia_tui.commands.references import PlaceRef, open_book
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.suites.history import VersionNumber
from marginalia_tui.domain.compare import sentence_diff
from marginalia_tui.domain.diff import Kind, Segment, word_diff
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import versions

SHOWN = 1_000
"""Characters of a change that are shown in a row."""


class WordChange(Result):
    """One place where two texts differ: what was taken out, what was put in, and what stands around it."""

    at: int
    """The character in the newer text."""
    before: str
    removed: str
    added: str
    after: str


class VersionsCompared(Page):
    """The places where two versions of a part differ, in the order of the text."""

    thing = ("change", "changes")

    part: PartHandle
    older: int
    newer: int
    words_removed: int
    words_added: int
    changes: list[WordChange]


@command(
    "compare-versions",
    title="Compare two versions of a part",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each place that differs: what was taken out, what was put in, the words around it",
    example="/compare-versions 3",
    for_model="Shows what changed between two versions of a part, word by word. Pass part (its handle or position). "
    "Without older and newer it compares the part as it is with the version before.",
)
def compare_versions(
    ctx: Context,
    part: PlaceRef,
    older: VersionNumber = -1,
    newer: VersionNumber = 0,
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> VersionsCompared:
    """Shows what differs between two versions of a part, word by word."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part)
        second, known = versions.find_version(opened.space, uuid, newer)
        # A part that was never changed has no version before it.
        first = second if older == -1 and len(known) == 1 else versions.find_version(opened.space, uuid, older)[0]
        texts = versions.texts_of_versions(opened.space, [first, second])
    changes = list(_changes(word_diff(texts[first.key], texts[second.key]), texts[second.key]))
    rows, page = page_of(changes, offset, limit)
    return VersionsCompared(
        part=uuid,
        older=first.number,
        newer=second.number,
        words_removed=sum(count_words(each.removed) for each in changes),
        words_added=sum(count_words(each.added) for each in changes),
        changes=[each.model_copy(update={"removed": _cut(each.removed), "added": _cut(each.added)}) for each in rows],
        **page,
    )


def _changes(segments: list[Segment], text: str) -> "list[WordChange]":
    found: list[WordChange] = []
    at = 0
    for place, segment in enumerate(segments):
        if segment.kind is Kind.SAME:
            at += len(segment.text)
            continue
        pair = segment.kind is Kind.ADDED and place and segments[place - 1].kind is Kind.REMOVED
        removed = segment.text if segment.kind is Kind.REMOVED else ""
        added = segment.text if segment.kind is Kind.ADDED else ""
        before, after = around(text, at, at + len(added), 30)
        if pair:
            removed = found.pop().removed
        found.append(WordChange(at=at, before=before, removed=removed, added=added, after=after))
        at += len(added)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN // 2] + " \u2026 " + text[-SHOWN // 2 :]


class SentenceRow(Result):
    """A sentence that only one of two parts has."""

    part: PartHandle
    position: int
    number: int
    """Its place among the sentences of its part, from 1."""
    text: str


class PartsCompared(Page):
    """The sentences that only one of two parts has, in order."""

    thing = ("sentence", "sentences")

    same: int
    """Sentences that both have."""
    only_first: int
    only_second: int
    differing: list[SentenceRow]

    def sentence(self) -> str:
        """How alike they are, in words."""
        if not self.total:
            return f"Both parts have the same {counted(self.same, 'sentence')}."
        return (
            f"{counted(self.same, 'sentence').capitalize()} in both, {self.only_first:,} only in the first part, "
            f"{self.only_second:,} only in the second. {super().sentence()}"
        )

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return super().untold() | {"same", "only_first", "only_second"}


@command(
    "compare-parts",
    title="Compare two parts",
    severity=Severity.READ,
    work=Work.LONG,
    returns="a row for each sentence that only one of the two parts has",
    example="/compare-parts 1 2",
    for_model="Compares two parts sentence by sentence, for example two swipes. Pass part and other (handles or "
    "positions). Returns how many sentences both have, and each sentence that only one of them has.",
)
def compare_parts(
    ctx: Context,
    part: PlaceRef,
    other: Annotated[
        PlaceRef,
        Param(
            "the part to compare it with: its number, its title or its uuid",
            for_model="The handle of the other part, such as h:m4, or its position.",
            names="part",
        ),
    ],
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> PartsCompared:
    """Compares two parts sentence by sentence."""
    with open_book(ctx) as opened:
        first, second = opened.read_part(part), opened.read_part(other)
        texts = opened.space.texts([first, second])
        positions = {uuid: opened.depths[uuid] for uuid in (first, second)}
    segments = sentence_diff(texts[first], texts[second])
    differing: list[SentenceRow] = []
    numbers = [0, 0]
    for each in segments:
        sides = {Kind.SAME: (0, 1), Kind.REMOVED: (0,), Kind.ADDED: (1,)}[each.kind]
        for side in sides:
            numbers[side] += 1
        if len(sides) == 1:
            uuid = (first, second)[sides[0]]
            differing.append(
                SentenceRow(part=uuid, position=positions[uuid], number=numbers[sides[0]], text=_cut(each.text))
            )
    rows, page = page_of(differing, offset, limit)
    only_first = sum(each.kind is Kind.REMOVED for each in segments)
    return PartsCompared(
        same=numbers[0] - only_first,
        only_first=only_first,
        only_second=len(differing) - only_first,
        differing=list(rows),
        **page,
    )
