"""What changed between two texts, word by word.

A diff is a list of segments. Joining what is SAME or REMOVED gives the text before, joining what is SAME or
ADDED the text after, always and to the character. Paragraphs are aligned first, words only inside of those that
changed, so the cost follows the change and not the length of the book. Unrelated texts are told as one removal
and one addition: a script that saves three common words of a page can't be read.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from rapidfuzz.distance import LCSseq

# Han and kana are written without spaces: each is a word.
_SINGLE = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_LETTERS = rf"[^\W_{_SINGLE}]+"
_TOKEN = re.compile(rf"[{_SINGLE}]|{_LETTERS}(?:['\u2019\u2010\u2011-]{_LETTERS})*|\n|[^\S\n]+|.", re.DOTALL)
_CELLS = 30_000_000
"""The largest product of two lengths that is compared word by word (the matrix takes an eighth of it in bytes)."""
_ALIKE = 0.33
"""Stretches that share less than this part of their words are told as replaced."""
_HUGE = 10_000_000_000
"""The largest product of two lengths in characters that is looked at as one: beyond it line is paired with line, and
words are counted and not put in order."""
_SURELY_ALIKE = 0.75
"""The part of the words that huge texts share, in any order, when they are told word by word."""
_NEAR = 60
"""Characters beside what differs that are looked at with it, for where a change had best begin."""
_ISLAND = 2
"""As few common words between two larger changes are told as changed too."""


class Kind(Enum):
    """What a segment is; the value is the sign of a diff."""

    SAME = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text that is in both, only in the text before, or only in the text after."""

    kind: Kind
    text: str


def word_diff(before: str, after: str) -> list[Segment]:
    """The segments that lead from one text to another.

    Args:
        before: the text as it was.
        after: the text as it is.

    Returns:
        Segments in order, never two of a kind in a row, none empty, what was removed before what was added.
    """
    script = _Script()
    if before == after:
        script.same(before)
        return script.segments()
    left, right = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for same, old, new in _runs(_merged(_aligned(left, right))):
        if same:
            script.same("".join(old))
        else:
            _diff_words("".join(old), "".join(new), script)
    return script.segments()


def _runs(parts: list["Part"]) -> Iterator["Part"]:
    """The same script of lines where a blank line does not part a change in which paragraphs came or went.

    Blank lines are all the same, so that they would pair any paragraph with any other.
    """
    place = 0
    while place < len(parts):
        end = place + 1
        while not parts[place][0] and end + 1 < len(parts) and not "".join(parts[end][1]).strip():
            end += 2
        run = parts[place:end]
        if _paragraphs(old for _, old, _ in run) != _paragraphs(new for _, _, new in run):
            run = _merged((False, old, new) for _, old, new in run)
        yield from run
        place = end


def _paragraphs(parts: Iterable[Sequence[str]]) -> int:
    return sum(not line.isspace() for lines in parts for line in lines)


def _compare_texts(old: str, new: str) -> Iterator[tuple[bool, slice, slice]]:
    """Stretches of two strings, the same or different in turns."""
    a = b = 0
    for code in LCSseq.opcodes(old, new):
        if code.tag != "equal":
            continue
        if code.src_start > a or code.dest_start > b:
            yield False, slice(a, code.src_start), slice(b, code.dest_start)
        yield True, slice(code.src_start, code.src_end), slice(code.dest_start, code.dest_end)
        a, b = code.src_end, code.dest_end
    if a < len(old) or b < len(new):
        yield False, slice(a, len(old)), slice(b, len(new))


def _aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """Stretches of two sequences in order: the same in both, or different."""
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    if head:
        yield True, left[:head], right[:head]
    old, new = left[head : len(left) - tail], right[head : len(right) - tail]
    if not old or not new or len(old) * len(new) > _CELLS:
        yield from _anchored(old, new) if old and new else ((False, old, new),)
    else:
        one, two = _encoded(old, new)
        for same, a, b in _compare_texts(one, two):
            yield same, old[a], new[b]
    if tail:
        yield True, left[len(left) - tail :], right[len(right) - tail :]


def _common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    count = 0
    for one, two in zip(left, right, strict=False):
        if one != two:
            break
        count += 1
    return count


def _encoded(left: Sequence[str], right: Sequence[str]) -> tuple[str, str]:
    """Each token as one character, the same for the same token: what rapidfuzz compares fastest."""
    different = dict.fromkeys(chain(left, right))
    codes = {token: chr(number if number < 0xD800 else number + 0x800) for number, token in enumerate(different)}
    return "".join(map(codes.__getitem__, left)), "".join(map(codes.__getitem__, right))


def _anchored(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """The same for sequences too long to compare whole: parted at what stands once in both."""
    anchors = _anchors(left, right)
    if not anchors:
        yield False, left, right
        return
    a = b = 0
    for one, two in [*anchors, (len(left), len(right))]:
        if one > a or two > b:
            old, new = left[a:one], right[b:two]
            if old and new and len(old) * len(new) <= _CELLS:
                yield from _aligned(old, new)
            else:
                yield False, old, new
        if one < len(left):
            yield True, left[one : one + 1], right[two : two + 1]
        a, b = one + 1, two + 1


def _anchors(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places of tokens that stand once in each, rising on both sides (patience)."""
    places = _once(right)
    pairs = [(place, places[token]) for token, place in _once(left).items() if token in places]
    pairs.sort()
    piles: list[int] = []
    tops: list[int] = []
    back: list[int] = []
    for number, (_, two) in enumerate(pairs):
        low, high = 0, len(tops)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if tops[middle] < two else (low, middle)
        back.append(piles[low - 1] if low else -1)
        if low == len(piles):
            piles.append(number)
            tops.append(two)
        else:
            piles[low], tops[low] = number, two
    chain: list[tuple[int, int]] = []
    here = piles[-1] if piles else -1
    while here >= 0:
        chain.append(pairs[here])
        here = back[here]
    return chain[::-1]


def _once(tokens: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places[token] = -1 if token in places else place
    return {token: place for token, place in places.items() if place >= 0}


def _diff_words(before: str, after: str, script: "_Script") -> None:
    """The words of two stretches that are not equal."""
    if len(before) * len(after) > _HUGE:
        lines, others = before.splitlines(keepends=True), after.splitlines(keepends=True)
        if len(lines) == len(others) > 1:
            for one, two in zip(lines, others, strict=True):
                if one == two:
                    script.same(one)
                else:
                    _diff_words(one, two, script)
            return
    head, tail = _ends(before, after)
    known = head + tail >= _ALIKE * min(len(before), len(after))
    if known:
        script.same(before[:head])
        end = before[len(before) - tail :]
        before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    left, right = _TOKEN.findall(before), _TOKEN.findall(after)
    if not left or not right or not (known or _alike(left, right)):
        script.change(before, after)
    else:
        for same, old, new in _slid(_joined(_merged(_aligned(left, right)))):
            if same:
                script.same("".join(old))
            else:
                script.change("".join(old), "".join(new))
    if known:
        script.same(end)


def _ends(before: str, after: str) -> tuple[int, int]:
    """How many characters both begin and end with, whole words, without those nearest to what differs."""
    head = _longest(min(len(before), len(after)), lambda count: before[:count] == after[:count])
    most = min(len(before), len(after)) - head
    tail = _longest(most, lambda count: before[len(before) - count :] == after[len(after) - count :])
    head = before.rfind(" ", 0, max(0, head - _NEAR)) + 1
    place = before.find(" ", len(before) - tail + _NEAR)
    while place >= 0 and before[place + 1 : place + 2].isspace():
        place = before.find(" ", place + 1)
    while head and before[head].isspace():
        head = before.rfind(" ", 0, head - 1) + 1
    return head, 0 if place < 0 else len(before) - place - 1


def _longest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest count up to `most` for which it holds; it holds for all below that."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if holds(middle) else (low, middle - 1)
    return low


Part = tuple[bool, Sequence[str], Sequence[str]]
"""Whether it is the same in both, its tokens before, its tokens after."""


def _joined(parts: list[Part]) -> list[Part]:
    """The same script with every small island of common words between two changes made part of them."""
    changed = _merged(
        (same and not _is_island(parts, number), old, new) for number, (same, old, new) in enumerate(parts)
    )
    return _merged(each for part in changed for each in ([part] if part[0] else _trimmed(*part[1:])))


def _merged(parts: Iterable[Part]) -> list[Part]:
    """The same script with neither empty parts nor two of a kind in a row."""
    merged: list[tuple[bool, list[str], list[str]]] = []
    for same, old, new in parts:
        if not old and not new:
            continue
        if not merged or merged[-1][0] != same:
            merged.append((same, [], []))
        merged[-1][1].extend(old)
        merged[-1][2].extend(new)
    return list(merged)


def _trimmed(old: Sequence[str], new: Sequence[str]) -> Iterator[Part]:
    """A change without what both of its sides begin and end with."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    yield True, old[:head], new[:head]
    yield False, old[head : len(old) - tail], new[head : len(new) - tail]
    yield True, old[len(old) - tail :], new[len(new) - tail :]


def _is_island(parts: Sequence[Part], number: int) -> bool:
    """Whether a few common words, or only a space, stand between two changes."""
    old = parts[number][1]
    if not 0 < number < len(parts) - 1 or len(old) > 2 * _ISLAND + 1 or "\n" in old:
        return False
    words = [token for token in old if not token.isspace()]
    if not words:
        return True
    if len(words) > _ISLAND:
        return False
    beside = min(max(len("".join(a)), len("".join(b))) for _, a, b in (parts[number - 1], parts[number + 1]))
    return beside > 4 * len("".join(words)) + 8


def _slid(parts: list[Part]) -> list[Part]:
    """The same script with what was only added or only removed moved to begin at a line, or else at a word."""
    for number in range(1, len(parts) - 1):
        same, old, new = parts[number]
        if same or (old and new) or not (parts[number - 1][0] and parts[number + 1][0]):
            continue
        head, body, tail = parts[number - 1][1], old or new, parts[number + 1][1]
        shift = _best_shift(head, body, tail)
        if shift:
            whole = [*head, *body, *tail]
            start = len(head) + shift
            head, body, tail = whole[:start], whole[start : start + len(body)], whole[start + len(body) :]
            parts[number - 1] = (True, head, head)
            parts[number] = (False, body, []) if old else (False, [], body)
            parts[number + 1] = (True, tail, tail)
    return parts


def _best_shift(head: Sequence[str], body: Sequence[str], tail: Sequence[str]) -> int:
    """By how many tokens a stretch moves: later when positive. What it says stays the same."""
    whole = [*head, *body, *tail]
    start, size = len(head), len(body)
    low = 0
    while start + low > 0 and whole[start + low - 1] == whole[start + low + size - 1]:
        low -= 1
    high = 0
    while start + high + size < len(whole) and whole[start + high] == whole[start + high + size]:
        high += 1

    def worth(shift: int) -> tuple[int, int]:
        before = whole[start + shift - 1] if start + shift else " "
        last = whole[start + shift + size - 1]
        return (3 if before == "\n" else 2 if last == "\n" else 1 if before.isspace() else 0, shift)

    return max(range(low, high + 1), key=worth)


def _alike(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two stretches share enough words to be told word by word."""
    old = [token for token in left if not token.isspace()]
    new = [token for token in right if not token.isspace()]
    shorter = min(len(old), len(new))
    if not shorter:
        return False
    if len(old) * len(new) > _HUGE // 10:
        return (Counter(old) & Counter(new)).total() >= shorter * _SURELY_ALIKE
    one, two = _encoded(old, new)
    # Similarity alone needs no matrix. What was only added to or cut down is alike.
    return LCSseq.similarity(one, two, score_cutoff=int(shorter * _ALIKE)) >= shorter * _ALIKE


class _Script:
    """Segments under way: equal kinds that follow each other are joined, removals come before additions."""

    def __init__(self) -> None:
        self._done: list[Segment] = []
        self._same: list[str] = []
        self._removed: list[str] = []
        self._added: list[str] = []

    def same(self, text: str) -> None:
        """Text that is in both."""
        if text:
            self._flush_change()
            self._same.append(text)

    def change(self, removed: str, added: str) -> None:
        """Text that was replaced; either may be empty."""
        if removed or added:
            self._flush_same()
            self._removed.append(removed)
            self._added.append(added)

    def _flush_same(self) -> None:
        if self._same:
            self._done.append(Segment(Kind.SAME, "".join(self._same)))
            self._same = []

    def _flush_change(self) -> None:
        for kind, parts in ((Kind.REMOVED, self._removed), (Kind.ADDED, self._added)):
            if text := "".join(parts):
                self._done.append(Segment(kind, text))
        self._removed, self._added = [], []

    def segments(self) -> list[Segment]:
        """The whole script."""
        self._flush_same()
        self._flush_change()
        return self._done
