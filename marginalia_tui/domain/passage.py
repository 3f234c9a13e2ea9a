"""A passage of a text in Markdown that somebody chose by what is shown of it."""

import re
from itertools import product

_WRITTEN = re.compile(r"&#?\w{1,31};|\\[!-/:-@\[-`{-~]")
"""One sign that is written with several: an entity, a sign behind a backslash."""
_SIGNS = "*_`~"
_CONTEXT = 20


def whole(source: str, start: int, end: int) -> tuple[int, int]:
    """The passage with the signs of emphasis at its ends that pair with signs inside it.

    The signs are not shown, so a choice of `the oil` in `the *oil*` ends before the second one. A sign that is
    written with several is taken whole.
    """
    if end > start and (written := _WRITTEN.match(source, end - 1)):
        end = written.end()
    low, high = start, end
    while low > 0 and source[low - 1] in _SIGNS:
        low -= 1
    while high < len(source) and source[high] in _SIGNS:
        high += 1
    wanted = sorted(product((start, low), (end, high)), key=lambda pair: pair[1] - pair[0])
    return next((pair for pair in wanted if _paired(source[pair[0] : pair[1]])), (start, end))


def _paired(text: str) -> bool:
    return all(text.count(sign) % 2 == 0 for sign in _SIGNS)


def unique(source: str, start: int, end: int) -> tuple[int, int]:
    """The passage with as much of what stands around it as makes it the only one of its kind."""
    low, high = start, end
    while (low, high) != (0, len(source)) and (not source[low:high].strip() or _again(source, source[low:high])):
        low, high = max(0, low - _CONTEXT), min(len(source), high + _CONTEXT)
    return low, high


def _again(source: str, said: str) -> bool:
    """Whether a passage stands at a second place, be it over the first."""
    return source.find(said, source.find(said) + 1) >= 0
