"""Corrections as edits of passages: old words that stand exactly once in the part, and the new ones.

The edits are made one after another, so each is unique in the text that the one before it left. `kinds_of` reads an
edit back: it tells what was corrected from the two passages alone, since a run that is taken up knows no more.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from marginalia_tui.llm.offline.rules import Correction, apply_corrections

NEAR = 24
"""Corrections of one line that are closer than this become one edit."""
_QUOTES = '\u201c\u201d"'
_TOKEN = re.compile(r"\s+|\w+|--|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Passage:
    """An edit: `old` stands exactly once in the part when it is made. It holds these corrections."""

    old: str
    new: str
    corrections: tuple[Correction, ...]


def passages(text: str, found: Sequence[Correction], limit: int) -> list[Passage]:
    """At most `limit` edits that make the first of these corrections, in order.

    Args:
        text: the part as it stands before the first edit.
        found: its corrections, in order, none overlapping another.
        limit: edits, not corrections: near ones share an edit.
    """
    edits: list[Passage] = []
    shift = 0
    for group in _groups(text, found)[:limit]:
        start, end = group[0].start + shift, group[-1].end + shift
        moved = tuple(Correction(each.start + shift, each.end + shift, each.old, each.new, each.kind) for each in group)
        left, right = _surroundings(text, start, end)
        changed = apply_corrections(text, moved)
        longer = len(changed) - len(text)
        edits.append(Passage(text[left:right], changed[left : right + longer], group))
        text = changed
        shift += longer
    return edits


@lru_cache(maxsize=4096)
def kinds_of(old: str, new: str) -> Mapping[str, int]:
    """What an edit of ours corrected: the number of each kind."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    kinds: Counter[str] = Counter()
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            kinds[_kind("".join(before[i:j]), "".join(after[k:m]))] += 1
    return kinds


def _kind(gone: str, come: str) -> str:
    if re.search("[\u2013\u2014]|-", gone + come):
        return "mixed dash"
    if any(letter.isalnum() for letter in gone):
        return "doubled word"
    if not gone.strip() and not come.strip():
        return "doubled space" if come else "space before punctuation"
    if not gone:
        return "missing quote"
    if '"' in gone or "'" in gone:
        return "straight quote"
    return "turned quote"


def _groups(text: str, found: Sequence[Correction]) -> list[tuple[Correction, ...]]:
    groups: list[list[Correction]] = []
    for correction in found:
        last = groups[-1][-1] if groups else None
        if last and correction.start - last.end < NEAR and "\n" not in text[last.end : correction.start]:
            groups[-1].append(correction)
        else:
            groups.append([correction])
    return [tuple(group) for group in groups]


def _surroundings(text: str, start: int, end: int) -> tuple[int, int]:
    """The place with whole words around it: at least two on each side in its line, more until it is unique."""
    left, right = start, end
    for step in range(len(text)):
        line_left = text.rfind("\n", 0, start) + 1
        line_right = text.find("\n", end)
        line_right = len(text) if line_right < 0 else line_right
        if step >= 2 and _is_once(text, left, right):
            break
        inside = step < 12
        left = _word_left(text, left, line_left if inside else 0)
        right = _word_right(text, right, line_right if inside else len(text))
        if left == 0 and right == len(text):
            break
    return left, right


def _is_once(text: str, left: int, right: int) -> bool:
    passage = text[left:right]
    first = text.find(passage)
    return bool(passage.strip()) and text.find(passage, first + 1) < 0


def _word_left(text: str, at: int, floor: int) -> int:
    while at > floor and text[at - 1].isspace():
        at -= 1
    while at > floor and not text[at - 1].isspace():
        at -= 1
    return at


def _word_right(text: str, at: int, ceiling: int) -> int:
    while at < ceiling and text[at].isspace():
        at += 1
    while at < ceiling and not text[at].isspace():
        at += 1
    return at
