"""Which entries of the lore a passage is about: by their titles and their filters, whatever else would bar them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.lore import Find, LoreRow
from marginalia_tui.domain.lore_needles import Haystack, fold, fold_needle, needles_of

Why = Literal["title", "filter"]
SHORTEST = 2
"""Characters of a passage that is looked for in titles."""


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a passage is about, and what of it fits."""

    entry: str
    why: Why


def look_up(rows: Iterable[LoreRow], passage: str, find: Find) -> list[Match]:
    """The entries whose title stands in a passage or holds it, then those whose filter fits it.

    Args:
        rows: the entries in their order.
        passage: a stretch of the text.
        find: finds a regular expression; one that is wrong or too slow fits nothing.
    """
    hay = Haystack([passage])
    said = fold(passage).strip()
    titles, filters = [], []
    for row in rows:
        name = fold(row.name).strip()
        if name and (hay.first(name, 1) is not None or (len(said) >= SHORTEST and said in name)):
            titles.append(Match(row.uuid, "title"))
        elif row.filter and _fits(row, hay, passage, find):
            filters.append(Match(row.uuid, "filter"))
    return [*titles, *filters]


def _fits(row: LoreRow, hay: Haystack, passage: str, find: Find) -> bool:
    if row.mode != "regex":
        return hay.first(fold_needle(row.filter), 1) is not None
    needles = needles_of(row.filter)
    if needles is not None and hay.composed and not hay.places(needles, 1):
        return False
    try:
        return find(row.filter, [passage]) is not None
    except (Invalid, Refused):
        return False
