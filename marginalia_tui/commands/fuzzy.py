"""Ranking what could be meant by a few typed characters."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rapidfuzz import fuzz, process

T = TypeVar("T")


NAMES = 2
"""The first texts of a thing are names; in what is longer, such as a description, letters in order mean nothing."""


STRETCH = 3
"""In how many times their number the letters in order must stand; farther apart they mean nothing."""


def score(typed: str, name: str, *, scattered: bool = True) -> float:
    """How well a name fits what was typed; 0 does not. Both in one case.

    The beginning is best, then the beginning of a word, then anywhere, then (if `scattered`) the letters in order,
    the better the nearer they stand.
    """
    if not typed or name.startswith(typed):
        return 5 if name == typed else 4
    place = name.find(typed)
    if place > 0:
        return 3 if not name[place - 1].isalnum() else 2
    span = _span(typed, name) if scattered and len(typed) > 1 else 0
    return 1 - span / 10_000 if 0 < span <= STRETCH * len(typed) else 0


def _span(letters: str, name: str) -> int:
    """Over how many characters the letters stand in order; 0: they do not."""
    first = place = name.find(letters[0])
    for letter in letters[1:]:
        if place < 0:
            return 0
        place = name.find(letter, place + 1)
    return place - first + 1 if place >= 0 else 0


def ranked(typed: str, things: Iterable[T], texts: Callable[[T], Sequence[str]], limit: int) -> list[T]:
    """The things that fit what was typed, best first and otherwise in their order.

    Args:
        typed: what was typed; empty fits everything.
        things: what there is.
        texts: the texts of a thing, the first the most telling one.
        limit: the most that are given.
    """
    wanted = typed.casefold().strip()
    # Lists of what is there, and no new object for each: at thousands of things the collector would have to walk.
    found: dict[float, list[T]] = {}
    rest: list[T] = []
    rest_names: list[str] = []
    for thing in things:
        names = [text.casefold() for text in texts(thing)]
        best = max(
            (
                10 * points - rank
                for rank, name in enumerate(names)
                if (points := score(wanted, name, scattered=rank < NAMES))
            ),
            default=0,
        )
        if best:
            found.setdefault(best, []).append(thing)
        elif not found:
            rest.append(thing)
            rest_names.append(names[0])
    if found or len(wanted) > 100:
        return [thing for best in sorted(found, reverse=True) for thing in found[best]][:limit]
    near = process.extract(wanted, rest_names, scorer=fuzz.ratio, score_cutoff=60, limit=limit)
    return [rest[place] for _, _, place in near]
