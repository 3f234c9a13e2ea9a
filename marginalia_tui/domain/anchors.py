"""Where a passage of one text stands in another: what keeps a note beside the words it speaks of.

A note keeps the whole text that it was made on (the basis). Where its passage stands now is a pure function of
that text, the passage and the text as it is, so nothing is rewritten when a part is edited, and a text that comes
back brings its notes back. The texts are compared once for all passages; the letters of a changed stretch only
where a passage touches it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from marginalia_tui.domain.diff import Kind, word_diff

CONTEXT = 60
"""Characters on each side of a passage that tell it from others with the same words."""
_TELLING = 8
"""Characters of context that must agree before several finds are told apart by it."""
_OFTEN = 100
"""A passage that stands more often than this is not looked for elsewhere."""
_SHARE = 0.5
"""The part of a passage that must survive in one stretch."""
_SHORTEST = 3
"""Fewer letters that two words share are chance, unless both begin or end with them."""
_WORD_CELLS = 4_000_000
_LETTER_CELLS = 40_000
"""The largest products of two lengths that are compared word by word, letter by letter."""
_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Anchored:
    """Where a passage stands in the text as it is, in characters. `changed`: not letter for letter as it stood."""

    start: int
    end: int
    changed: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch that both texts have: where it begins in the basis and in the text."""

    old: int
    new: int
    length: int

    @property
    def old_end(self) -> int:
        return self.old + self.length

    @property
    def new_end(self) -> int:
        return self.new + self.length

    def clipped(self, start: int, end: int) -> "_Block":
        """What of it lies between two places of the basis."""
        low = max(self.old, start)
        return _Block(low, self.new + low - self.old, min(self.old_end, end) - low)


def anchor(basis: str, start: int, end: int, text: str) -> Anchored | None:
    """Where one passage stands now; see `Anchors.place`."""
    return Anchors(basis, text).place(start, end)


class Anchors:
    """The way from one text to another, for any number of passages.

    Args:
        basis: the text on which the passages were marked.
        text: the text as it is.
    """

    def __init__(self, basis: str, text: str) -> None:
        self.basis = basis
        self.text = text
        self._pieces: list[tuple[int, int, list[_Block] | None]] | None = None
        self._starts: list[int] = []

    def place(self, start: int, end: int) -> Anchored | None:
        """Where a passage of the basis stands in the text.

        It is where the words around it lead when all of it, or at least half of it in one stretch, is still there;
        a passage that both texts have once is found wherever it went; otherwise it is looked for by its words, and
        by what stood beside them when there are several. A passage without a length is the whole part.

        Returns:
            The place; None when the passage is gone (the note is orphaned).
        """
        start, end = max(0, start), min(end, len(self.basis))
        if end <= start:
            return Anchored(0, 0, False)
        if self.basis == self.text:
            return Anchored(start, end, False)
        quote = self.basis[start:end]
        around = self._blocks(start, end)
        inside = [each.clipped(start, end) for each in around if each.old < end and each.old_end > start]
        if len(inside) == 1 and inside[0].length == len(quote):
            return Anchored(inside[0].new, inside[0].new_end, False)
        now = _places(self.text, quote)
        if len(now) == 1 and len(_places(self.basis, quote, 2)) == 1:
            return Anchored(now[0], now[0] + len(quote), False)
        stretch = _stretch(inside, len(quote))
        if sum(each.length for each in stretch) >= len(quote) * _SHARE:
            return self._between(stretch, around, start, end)
        place = self._by_context(now, start, end)
        return None if place is None else Anchored(place, place + len(quote), False)

    def _between(self, stretch: Sequence[_Block], around: Sequence[_Block], start: int, end: int) -> Anchored:
        """What stands between the ends of a passage that was changed inside, or at an end."""
        first, last = stretch[0], stretch[-1]
        low, high = first.new, last.new_end
        # What took the place of the first or last words belongs to the passage; what came beside them does not.
        if first.old > start and self._is_edge(around, start):
            low = max((each.new_end for each in around if each.old_end <= start), default=0)
        if last.old_end < end and self._is_edge(around, end):
            high = min((each.new for each in around if each.old >= end), default=len(self.text))
        quote = self.basis[start:end]
        # A passage that begins or ends inside of a word may stand there whole, beside what was joined to that word.
        first_place = max(0, low - len(quote) + 1)
        near = [first_place + each for each in _places(self.text[first_place : high + len(quote) - 1], quote)]
        whole = min(near, key=lambda each: abs(each - low), default=None)
        return Anchored(low, high, True) if whole is None else Anchored(whole, whole + len(quote), False)

    def _is_edge(self, around: Iterable[_Block], place: int) -> bool:
        """Whether a place of the basis is where a stretch that both have begins or ends."""
        return place in (0, len(self.basis)) or any(place in (each.old, each.old_end) for each in around)

    def _by_context(self, now: Sequence[int], start: int, end: int) -> int | None:
        """The one place where the words of a passage stand as they stood there, told by what is beside them."""
        quote = self.basis[start:end]
        if not now or len(now) > _OFTEN:
            return None
        rivals = [each for each in _places(self.basis, quote) if each != start]
        if len(now) == 1 and not rivals:
            return now[0]
        if len(rivals) > _OFTEN:
            return None
        length = len(quote)
        scores = {place: _alike(self.basis, start, self.text, place, length) for place in now}
        best = max(scores.values())
        found = [place for place, score in scores.items() if score == best]
        if best < _TELLING or len(found) > 1:
            return None
        theirs = max((_alike(self.basis, each, self.text, found[0], length) for each in rivals), default=0)
        return found[0] if best > theirs else None

    def _blocks(self, start: int, end: int) -> list[_Block]:
        """The common stretches of a passage and of what touches it, in order."""
        if self._pieces is None:
            self._pieces = list(_pieces(self.basis, self.text))
            self._starts = [old for old, _, _ in self._pieces]
        found: list[_Block] = []
        number = max(0, bisect_right(self._starts, max(0, start - 1)) - 1)
        while number < len(self._pieces) and self._pieces[number][0] <= end:
            found.extend(self._refined(number))
            number += 1
        return found

    def _refined(self, number: int) -> list[_Block]:
        assert self._pieces is not None
        old, new, blocks = self._pieces[number]
        if blocks is None:
            old_end = self._starts[number + 1] if number + 1 < len(self._pieces) else len(self.basis)
            new_end = self._pieces[number + 1][1] if number + 1 < len(self._pieces) else len(self.text)
            blocks = list(_common(self.basis[old:old_end], self.text[new:new_end], old, new))
            self._pieces[number] = (old, new, blocks)
        return blocks


def _pieces(basis: str, text: str) -> Iterator[tuple[int, int, list[_Block] | None]]:
    """The stretches of a diff by where they begin in both: one common block, or None for what was changed."""
    old = new = 0
    changed = False
    for segment in word_diff(basis, text):
        length = len(segment.text)
        if segment.kind is Kind.SAME:
            yield old, new, [_Block(old, new, length)]
            old, new, changed = old + length, new + length, False
            continue
        if not changed:
            yield old, new, None
        changed = True
        if segment.kind is Kind.REMOVED:
            old += length
        else:
            new += length


def _common(old: str, new: str, old_start: int, new_start: int) -> Iterator[_Block]:
    """What two stretches that differ have in common: words, and letters of the words that differ."""
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    if not left or not right or len(left) * len(right) > _WORD_CELLS:
        return
    old_at, new_at = _offsets(left, old_start), _offsets(right, new_start)
    for code in LCSseq.opcodes(left, right):
        a, b = old_at[code.src_start], new_at[code.dest_start]
        length, other = old_at[code.src_end] - a, new_at[code.dest_end] - b
        if code.tag == "equal":
            if any(char.isalnum() for char in old[a - old_start : a - old_start + length]):
                yield _Block(a, b, length)
        elif length and other and length * other <= _LETTER_CELLS:
            one, two = old[a - old_start :][:length], new[b - new_start :][:other]
            yield from _letters(one, two, a, b)


def _letters(old: str, new: str, old_start: int, new_start: int) -> Iterator[_Block]:
    for code in LCSseq.opcodes(old, new):
        if code.tag != "equal":
            continue
        length = code.src_end - code.src_start
        begins = code.src_start == code.dest_start == 0
        ends = code.src_end == len(old) and code.dest_end == len(new)
        if length >= _SHORTEST or begins or ends:
            yield _Block(old_start + code.src_start, new_start + code.dest_start, length)


def _offsets(tokens: Sequence[str], start: int) -> list[int]:
    offsets = [start]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets


def _stretch(blocks: Sequence[_Block], length: int) -> list[_Block]:
    """The stretch with the most of a passage: blocks that nothing longer than the passage parts in the text."""
    best: list[_Block] = []
    here: list[_Block] = []
    for block in blocks:
        if here and block.new - here[-1].new_end > length:
            here = []
        here.append(block)
        if sum(each.length for each in here) > sum(each.length for each in best):
            best = list(here)
    return best


def _places(text: str, quote: str, most: int = _OFTEN + 1) -> list[int]:
    """Where a quote stands, overlapping ones too; not more than `most`."""
    found: list[int] = []
    here = text.find(quote)
    while here >= 0 and len(found) < most:
        found.append(here)
        here = text.find(quote, here + 1)
    return found


def _alike(basis: str, start: int, text: str, place: int, length: int) -> int:
    """How many characters before and behind a passage agree; the begin or end of both texts counts as many."""
    end, behind = start + length, place + length
    before = _shared(basis[max(0, start - CONTEXT) : start][::-1], text[max(0, place - CONTEXT) : place][::-1])
    after = _shared(basis[end : end + CONTEXT], text[behind : behind + CONTEXT])
    if before == start == place:
        before = CONTEXT
    if end + after == len(basis) and behind + after == len(text):
        after = CONTEXT
    return before + after


def _shared(one: str, two: str) -> int:
    count = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        count += 1
    return count
