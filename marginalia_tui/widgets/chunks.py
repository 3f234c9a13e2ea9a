"""Parting a manuscript into chunks: what stands between blank lines, never too much at once."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_CHUNK = 4_000
"""Characters after which a chunk without a blank line ends at the next line."""
LONG_LINE = 10_000
"""A line of twice as many characters is parted here, and shown without a look at its Markdown."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?: |$)")


class Chunk(NamedTuple):
    """A stretch of the source that is parsed by itself."""

    start: int
    end: int
    gap: int
    """Empty lines that are shown after it."""


def split(source: str) -> list[Chunk]:
    """The chunks of a source, in order; at least one, blank lines belong to none."""
    chunks: list[Chunk] = []
    start = end = -1
    fence = ""
    for here, stop, blank in _lines(source):
        if start >= 0 and not fence and blank:
            if not (_LIST.match(source, start) and _continues(source, stop)):
                chunks.append(Chunk(start, end, 1))
                start = -1
            continue
        if start >= 0 and not fence and here - start > _CHUNK:
            chunks.append(Chunk(start, end, 0))
            start = -1
        if blank and start < 0:
            continue
        if start < 0:
            start = here
        end = stop
        if found := _FENCE.match(source, here, stop):
            mark = found.group(1)
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
    if start >= 0:
        chunks.append(Chunk(start, end, 1))
    return [part for chunk in chunks for part in _bounded(source, chunk)] or [Chunk(0, 0, 0)]


def _bounded(source: str, chunk: Chunk) -> Iterator[Chunk]:
    """A chunk in parts that are laid out quickly: a line that goes on for pages is parted at a space."""
    start, end, gap = chunk
    while end - start > 2 * LONG_LINE:
        cut = source.rfind(" ", start + LONG_LINE // 2, start + LONG_LINE) + 1 or start + LONG_LINE
        yield Chunk(start, cut, 0)
        start = cut
    yield Chunk(start, end, gap)


def _lines(source: str) -> Iterator[tuple[int, int, bool]]:
    here = 0
    size = len(source)
    while here <= size:
        stop = source.find("\n", here)
        stop = size if stop < 0 else stop
        yield here, stop, not source[here:stop].strip() if stop - here < 200 else False
        here = stop + 1


def _continues(source: str, stop: int) -> bool:
    """Whether a list goes on after a blank line that ends at `stop`."""
    return source.startswith(("  ", "\t"), stop + 1) and bool(source[stop + 1 : stop + 80].strip())
