"""Who wrote which stretch of a text: its versions folded from the oldest to the newest with a word diff.

Every character of the newest text belongs to exactly one version. A text that comes back (an undo, a version that
was brought back) brings back whose it was.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from marginalia_tui.domain.diff import Kind, word_diff
from marginalia_tui.domain.words import count_words, find_words

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)
T_co = TypeVar("T_co", bound=Hashable, covariant=True)


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T_co]):
    """Characters from `start` up to `end`, never none, and whose they are."""

    start: int
    end: int
    owner: T_co


Detail = Callable[[T, str, list[Stretch[T]]], list[Stretch[T]]]
"""Owner, text and stretches of a version -> the stretches with those of the owner told more finely."""


def blame(versions: Iterable[tuple[T, str]], detail: Detail[T] | None = None) -> list[Stretch[T]]:
    """Whose every stretch of the newest text is.

    Args:
        versions: owner and text, the oldest first.
        detail: told of each version that brought something, before the next one is laid over it.

    Returns:
        Stretches in order that leave nothing out, those of one owner joined; none for an empty text.
    """
    known = list(versions)
    text, stretches = "", list[Stretch[T]]()
    for place in lasting([each for _, each in known]):
        owner, new = known[place]
        stretches = carried(stretches, text, new, owner)
        stretches = stretches if detail is None else detail(owner, new, stretches)
        text = new
    return stretches


def lasting(texts: Sequence[Hashable]) -> list[int]:
    """The places of the texts that have a say in whose the last one is; texts may be known by their keys.

    What was written between a text and its coming back has none.
    """
    first: dict[Hashable, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    found: list[int] = []
    place = len(texts) - 1
    while place >= 0:
        found.append(first[texts[place]])
        place = found[-1] - 1
    return found[::-1]


def carried(stretches: Sequence[Stretch[T]], before: str, after: str, added: U) -> list[Stretch[T | U]]:
    """What becomes of stretches of one text in another: what stays keeps its owner, what is new is of `added`."""
    if not before:
        return [Stretch(0, len(after), added)] if after else []
    return list(_joined(_carried(stretches, before, after, added)))


def laid_over(stretches: Sequence[Stretch[T]], by: Sequence[Stretch[U | None]], whose: T) -> list[Stretch[T | U]]:
    """Stretches of one text with what is of `whose` given to those who have it in `by`, where somebody does."""
    return list(_joined(_laid_over(stretches, by, whose)))


def words_of(text: str, stretches: Sequence[Stretch[T]]) -> dict[T, int]:
    """The words of each owner; a word of several is of the one that has its first letter."""
    counts: dict[T, int] = {}
    place = 0
    for number, each in enumerate(stretches):
        # A word may reach over the end of a stretch: it is looked at with all that has no space in it.
        end = len(text) if number == len(stretches) - 1 else _space_before(text, place, each.end)
        if end > place:
            counts[each.owner] = counts.get(each.owner, 0) + count_words(text[place:end])
            place = end
        if place < each.end:
            over = _space_behind(text, each.end)
            for start in _word_starts(text, place, over):
                owner = next(one.owner for one in stretches[number:] if start < one.end)
                counts[owner] = counts.get(owner, 0) + 1
            place = over
    return {owner: number for owner, number in counts.items() if number}


def _space_before(text: str, start: int, end: int) -> int:
    """The end of the last space of a stretch; its begin when it has none."""
    while end > start and not text[end - 1].isspace():
        end -= 1
    return end


def _space_behind(text: str, place: int) -> int:
    while place < len(text) and not text[place].isspace():
        place += 1
    return place


def _word_starts(text: str, start: int, end: int) -> Iterator[int]:
    for word in find_words(text[start:end]):
        start = text.index(word, start)
        yield start
        start += len(word)


def _carried(stretches: Sequence[Stretch[T]], before: str, after: str, added: U) -> Iterator[Stretch[T | U]]:
    old = new = number = 0
    for segment in word_diff(before, after):
        length = len(segment.text)
        if segment.kind is Kind.ADDED:
            yield Stretch(new, new + length, added)
            new += length
            continue
        end = old + length
        while old < end:
            while stretches[number].end <= old:
                number += 1
            step = min(end, stretches[number].end) - old
            if segment.kind is Kind.SAME:
                yield Stretch(new, new + step, stretches[number].owner)
                new += step
            old += step


def _laid_over(stretches: Sequence[Stretch[T]], by: Sequence[Stretch[U | None]], whose: T) -> Iterator[Stretch[T | U]]:
    number = 0
    for stretch in stretches:
        if stretch.owner != whose:
            yield stretch
            continue
        place = stretch.start
        while place < stretch.end:
            while by[number].end <= place:
                number += 1
            end = min(stretch.end, by[number].end)
            owner = by[number].owner
            yield Stretch(place, end, whose if owner is None else owner)
            place = end


def _joined(stretches: Iterable[Stretch[T]]) -> Iterator[Stretch[T]]:
    last: Stretch[T] | None = None
    for each in stretches:
        if last is not None and last.owner == each.owner:
            last = Stretch(last.start, each.end, last.owner)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last
