"""Two texts side by side, sentence by sentence: what both have, what only one has.

A line break ends a sentence too. The comparison is a longest common subsequence of the sentences, and refused where
that would take too long.
"""

import re

from rapidfuzz.distance import LCSseq

from marginalia_tui.domain.diff import Kind, Segment
from marginalia_tui.domain.errors import Refused

CELLS = 4_000_000
"""The largest product of the numbers of sentences that differ."""

_CLOSERS = "\"'\u2019\u201d\u00bb\u203a\u300d)\\]"
_SENTENCE = re.compile(rf"[^\n]*?(?:[.!?\u2026]+[{_CLOSERS}]*(?=\s)|[\u3002\uff01\uff1f][{_CLOSERS}]*|(?=\n)|\Z)\s*")


def sentences(text: str) -> list[str]:
    """The sentences of a text without the space around them; lines that are empty or only break are none."""
    pieces = (match.group().strip() for match in _SENTENCE.finditer(text))
    return [each for each in pieces if each.strip("\\> ")]


def sentence_diff(before: str, after: str) -> list[Segment]:
    """The sentences of two texts in order, what is only before ahead of what is only after.

    Raises:
        Refused: there are too many of them.
    """
    old, new = sentences(before), sentences(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) * len(right) > CELLS:
        raise Refused(
            f"The texts differ in {len(left):,} and {len(right):,} sentences, which is too much to compare: "
            "compare shorter parts."
        )
    found = [Segment(Kind.SAME, each) for each in old[:head]]
    removed: list[Segment] = []
    added: list[Segment] = []
    for code in LCSseq.opcodes(left, right):
        if code.tag == "equal":
            found += [*removed, *added, *(Segment(Kind.SAME, each) for each in left[code.src_start : code.src_end])]
            removed, added = [], []
        else:
            removed += [Segment(Kind.REMOVED, each) for each in left[code.src_start : code.src_end]]
            added += [Segment(Kind.ADDED, each) for each in right[code.dest_start : code.dest_end]]
    found += [*removed, *added]
    return found + [Segment(Kind.SAME, each) for each in old[len(old) - tail :]]
