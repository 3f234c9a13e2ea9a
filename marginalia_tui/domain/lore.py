"""Which lore is active: the rules, with a verdict and its reason for every entry.

The preview and the generation of a turn ask `activate`, and nobody else decides. It knows no store and no engine of
regular expressions: the caller gives the entries without their texts, a function that finds a regular expression in
texts within a limit of time, and one that reads the texts of entries that were found.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.items import Lorebook
from marginalia_tui.domain.lore_needles import Haystack, fold_needle, needles_of

Find = Callable[[str, Sequence[str]], int | None]
"""(regular expression, texts) -> the place of the first text in which it fits, capitals or not, a dot being any
character. Raises Invalid for what is no regular expression, and Refused when it takes too long."""

ReadTexts = Callable[[Sequence[str]], Mapping[str, str]]
"""Uuids of entries -> their texts."""


class Reason(StrEnum):
    """Why an entry is active or not."""

    CONSTANT = "CONSTANT"
    """It is always active, or has no filter."""
    FILTER_MATCHED = "FILTER_MATCHED"
    LORE_MATCHED = "LORE_MATCHED"
    """Its filter was found in the text of an entry that is active."""
    DISABLED = "DISABLED"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    """The turn stands outside of the parts that it is limited to."""
    NEGATIVE_TAG = "NEGATIVE_TAG"
    MISSING_TAG = "MISSING_TAG"
    FILTER_NOT_MATCHED = "FILTER_NOT_MATCHED"

    @property
    def active(self) -> bool:
        """Whether the entry is told to the model."""
        return self in _ACTIVE


_ACTIVE = (Reason.CONSTANT, Reason.FILTER_MATCHED, Reason.LORE_MATCHED)


class LoreRow(NamedTuple):
    """An entry without its texts: a tuple, since a book may have thousands and each look makes them anew."""

    uuid: str
    lorebook: str
    name: str
    enabled: bool
    constant: bool
    order: int
    filter: str
    mode: str
    look_back: int
    first: int | None
    last: int | None
    tags: tuple[str, ...]
    negative_tags: tuple[str, ...]
    insertion: str
    created: int
    hash: bytes = b""


RANK = attrgetter("order", "created", "uuid")
"""Entries are told in this order."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What entries are measured against."""

    text: str
    """What the turn is asked to tell, or any other text."""
    parts: Sequence[str] = ()
    """The texts of the parts before it, the newest first; as many as `parts_needed` says."""
    position: int = 1
    """Its place on the branch; the first part is 1."""
    tags: Iterable[str] = ()
    """Those of the book."""


class Verdict(NamedTuple):
    """Whether an entry is active, and why."""

    entry: str
    reason: Reason
    back: int | None = None
    """FILTER_MATCHED: 0, the turn holds it; 1, the part before; and so on."""
    scan: int | None = None
    """LORE_MATCHED: the pass, from 1."""
    by: str | None = None
    """LORE_MATCHED: the entry whose text holds its filter."""
    note: str = ""
    """A sentence: the regular expression is wrong or too slow; it is the lorebook that is disabled."""


class LoreTree:
    """The lorebooks of a book: the root, then those below it level by level, each once, none that is deleted.

    Args:
        root: the uuid of the lorebook of the book.
        lorebooks: at least those that are reached from it, in any order, deleted ones and cycles allowed.
    """

    def __init__(self, root: str | None, lorebooks: Iterable[Lorebook]) -> None:
        ordered = sorted(lorebooks, key=lambda each: (each.created, each.uuid))
        there = {each.uuid: each for each in ordered if each.deleted is None}
        self.levels = _levels(root, there)
        self.lorebooks = {uuid: there[uuid] for uuid in self.levels}
        self.live = frozenset(_levels(root, {uuid: each for uuid, each in there.items() if each.enabled}))
        """Those that are enabled and reached through enabled ones."""
        self.root = there.get(root) if root is not None else None

    def above(self, uuid: str) -> list[str]:
        """The lorebooks right above one, in the order of the tree."""
        return [each.uuid for each in self.lorebooks.values() if uuid in each.subbooks]


def _levels(root: str | None, there: Mapping[str, Lorebook]) -> dict[str, int]:
    """Lorebook -> how deep it stands, the root 0; in the order of the tree."""
    if root is None or root not in there:
        return {}
    rank = {uuid: place for place, uuid in enumerate(there)}
    found, level, depth = {root: 0}, [root], 0
    while level:
        depth += 1
        below = {each for uuid in level for each in there[uuid].subbooks if each in rank and each not in found}
        level = sorted(below, key=rank.__getitem__)
        found.update(dict.fromkeys(level, depth))
    return found


def parts_needed(tree: LoreTree, rows: Iterable[LoreRow]) -> int:
    """How many of the parts before the turn are looked into."""
    return max((row.look_back for row in rows if row.enabled and row.lorebook in tree.live), default=0)


def activate(tree: LoreTree, rows: Iterable[LoreRow], turn: Turn, find: Find, texts: ReadTexts) -> list[Verdict]:
    """The verdict for every entry, in the order in which entries are told.

    Args:
        tree: the lorebooks; the scan depth of its root counts.
        rows: the entries of the tree, in any order.
        turn: what they are measured against.
        find: finds a regular expression; its refusals become notes, and the entry is not active.
        texts: reads the texts of entries that were found; not asked for without a scan depth.
    """
    tags = _tags(turn.tags)
    hay = Haystack([turn.text, *turn.parts])
    ordered = sorted(rows, key=RANK)
    verdicts: dict[str, Verdict] = {}
    missed: list[LoreRow] = []
    for row in ordered:
        verdict = _barred(row, tree, turn.position, tags)
        if verdict is None and (row.constant or not row.filter):
            verdict = Verdict(row.uuid, Reason.CONSTANT)
        if verdict is None:
            back, note = _found(row, hay, 1 + max(row.look_back, 0), find)
            reason = Reason.FILTER_NOT_MATCHED if back is None else Reason.FILTER_MATCHED
            verdict = Verdict(row.uuid, reason, back=back, note=note)
            if back is None and not note:
                missed.append(row)
        verdicts[row.uuid] = verdict
    if tree.root is not None:
        _scan(verdicts, missed, tree.root.scan_depth, find, texts)
    return [verdicts[row.uuid] for row in ordered]


def _scan(verdicts: dict[str, Verdict], missed: list[LoreRow], depth: int, find: Find, texts: ReadTexts) -> None:
    """The passes: what was found in the last one is looked through for the filters of what was not.

    Each entry is looked through once, so that it ends however deep it is to go and whatever the entries say.
    """
    found = [uuid for uuid, verdict in verdicts.items() if verdict.reason.active]
    for scan in range(1, depth + 1):
        if not found or not missed:
            return
        known = texts(found)
        sources = [uuid for uuid in found if known.get(uuid)]
        hay = Haystack([known[uuid] for uuid in sources])
        found, still = [], []
        for row in missed:
            place, note = _found(row, hay, len(sources), find)
            if place is not None:
                verdicts[row.uuid] = Verdict(row.uuid, Reason.LORE_MATCHED, scan=scan, by=sources[place])
                found.append(row.uuid)
            elif note:
                verdicts[row.uuid] = Verdict(row.uuid, Reason.FILTER_NOT_MATCHED, note=note)
            else:
                still.append(row)
        missed = still


def _barred(row: LoreRow, tree: LoreTree, position: int, tags: frozenset[str]) -> Verdict | None:
    """The verdict for an entry whose filter need not be looked at."""
    if not row.enabled:
        return Verdict(row.uuid, Reason.DISABLED)
    if row.lorebook not in tree.live:
        return Verdict(row.uuid, Reason.DISABLED, note="Its lorebook, or one above it, is disabled.")
    if (row.first is not None and position < row.first) or (row.last is not None and position > row.last):
        return Verdict(row.uuid, Reason.OUT_OF_RANGE)
    if row.negative_tags and not tags.isdisjoint(_tags(row.negative_tags)):
        return Verdict(row.uuid, Reason.NEGATIVE_TAG)
    of_lorebook = tree.lorebooks[row.lorebook].tags
    if (row.tags or of_lorebook) and tags.isdisjoint(_tags((*row.tags, *of_lorebook))):
        return Verdict(row.uuid, Reason.MISSING_TAG)
    return None


def _tags(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.strip().casefold() for word in words)


def _found(row: LoreRow, hay: Haystack, within: int, find: Find) -> tuple[int | None, str]:
    """The place of the first of some texts that the filter fits; or a note why it could not be told."""
    within = min(within, len(hay.texts))
    if row.mode != "regex":
        return hay.first(fold_needle(row.filter), within), ""
    needles = needles_of(row.filter)
    plain = needles is not None and hay.composed
    places = hay.places(needles, within) if needles is not None and plain else range(within)
    if not places and plain:
        return None, ""
    try:
        place = find(row.filter, [hay.texts[each] for each in places])
    except (Invalid, Refused) as error:
        return None, error.message
    return None if place is None else places[place], ""
