"""Three versions of a text, merged word by word.

The result is a list of regions. Joining what each holds for a version gives that version back, to the character: no
word of either side is ever lost, it is in the merged text or in a region of conflict. The agent stands before the
book wherever both are shown.
"""

from dataclasses import dataclass, replace
from enum import Enum

from marginalia_tui.domain.diff import Kind, word_diff
from marginalia_tui.domain.words import find_words

TWICE = 4
"""So many equal words, added by both sides at two places, are one passage that the merge would double."""


class Origin(Enum):
    """Who changed a region."""

    SAME = "same"
    AGENT = "agent"
    BOOK = "book"
    BOTH = "both"
    """Both, in the same way."""
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the text in its three versions."""

    origin: Origin
    base: str
    agent: str
    book: str

    @property
    def merged(self) -> str | None:
        """What the stretch becomes; None in a conflict."""
        if self.origin is Origin.CONFLICT:
            return None
        return self.agent if self.origin in (Origin.AGENT, Origin.BOTH) else self.book


@dataclass(frozen=True, slots=True)
class MergedWords:
    """The regions of a merge, in order."""

    regions: tuple[Region, ...]

    @property
    def text(self) -> str | None:
        """The merged text; None when there is a conflict."""
        pieces = [each.merged for each in self.regions]
        return None if None in pieces else "".join(piece for piece in pieces if piece is not None)

    @property
    def conflicts(self) -> tuple[Region, ...]:
        """The regions that both sides changed in different ways."""
        return tuple(each for each in self.regions if each.origin is Origin.CONFLICT)


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Characters `start` to `end` of the base become `text`."""

    start: int
    end: int
    text: str
    of_agent: bool


def merge_words(base: str, agent: str, book: str) -> MergedWords:
    """Merges two changes of a text.

    What both changed in the same way is taken once. A conflict is what they changed differently at one place, two
    insertions at one point among it, and a passage that both added at different places.

    Args:
        base: the text before both changes.
        agent: as the agent left it.
        book: as it stands in the book.
    """
    hunks = [*_hunks(base, agent, of_agent=True), *_hunks(base, book, of_agent=False)]
    hunks.sort(key=lambda hunk: (hunk.start, hunk.end, not hunk.of_agent))
    regions: list[Region] = []
    here = 0
    for group in _groups(hunks):
        start, end = group[0].start, max(hunk.end for hunk in group)
        if start > here:
            regions.append(_same(base[here:start]))
        regions.append(_region(base, start, end, group))
        here = end
    if here < len(base):
        regions.append(_same(base[here:]))
    return MergedWords(tuple(_without_doubles(regions)))


def _same(text: str) -> Region:
    return Region(Origin.SAME, text, text, text)


def _hunks(base: str, after: str, *, of_agent: bool) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    here = 0
    for segment in word_diff(base, after):
        end = here if segment.kind is Kind.ADDED else here + len(segment.text)
        if segment.kind is Kind.REMOVED:
            hunks.append(_Hunk(here, end, "", of_agent))
        elif segment.kind is Kind.ADDED and hunks and hunks[-1].end == here:
            hunks[-1] = replace(hunks[-1], text=segment.text)
        elif segment.kind is Kind.ADDED:
            hunks.append(_Hunk(here, here, segment.text, of_agent))
        here = end
    return hunks


def _groups(hunks: list[_Hunk]) -> list[list[_Hunk]]:
    """Hunks that can't be told apart: they overlap, or something was inserted where the other side changed."""
    groups: list[list[_Hunk]] = []
    end = 0
    for hunk in hunks:
        if groups and (hunk.start < end or (hunk.start == end and _touches(groups[-1], hunk))):
            groups[-1].append(hunk)
            end = max(end, hunk.end)
        else:
            groups.append([hunk])
            end = hunk.end
    return groups


def _touches(group: list[_Hunk], hunk: _Hunk) -> bool:
    return any(
        other.of_agent != hunk.of_agent
        and other.end == hunk.start
        and (other.start == other.end or hunk.start == hunk.end)
        for other in group
    )


def _region(base: str, start: int, end: int, group: list[_Hunk]) -> Region:
    before = base[start:end]
    agent = _applied(base, start, end, [hunk for hunk in group if hunk.of_agent])
    book = _applied(base, start, end, [hunk for hunk in group if not hunk.of_agent])
    if agent == book:
        origin = Origin.BOTH
    elif book == before:
        origin = Origin.AGENT
    else:
        origin = Origin.BOOK if agent == before else Origin.CONFLICT
    return Region(origin, before, agent, book)


def _applied(base: str, start: int, end: int, hunks: list[_Hunk]) -> str:
    pieces = []
    for hunk in hunks:
        pieces += [base[start : hunk.start], hunk.text]
        start = hunk.end
    return "".join([*pieces, base[start:end]])


def _without_doubles(regions: list[Region]) -> list[Region]:
    """A passage that each side put at another place is a conflict at both: merged it would stand there twice."""
    added: dict[Origin, list[tuple[int, str]]] = {Origin.AGENT: [], Origin.BOOK: []}
    for number, region in enumerate(regions):
        if region.origin in added:
            text = region.agent if region.origin is Origin.AGENT else region.book
            words = find_words(text)
            if len(words) >= TWICE:
                added[region.origin].append((number, f" {' '.join(words)} "))
    doubled = {
        number
        for one, agent in added[Origin.AGENT]
        for two, book in added[Origin.BOOK]
        if agent in book or book in agent
        for number in (one, two)
    }
    return [
        replace(region, origin=Origin.CONFLICT) if number in doubled else region
        for number, region in enumerate(regions)
    ]
