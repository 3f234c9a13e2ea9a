"""The answer that is streaming: closed blocks that are laid out once, and the open one at its end."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from marginalia_tui.widgets.chunks import split

LIMIT = 100_000
"""Characters of the live answer that are kept; what is older is in the transcript when the answer is done."""
OPEN = 4_000
"""Characters after which an open block without a blank line is closed at a line or a space, twice as many left open."""
Voice = Literal["reasoning", "text"]
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def flush_rate(environment: Mapping[str, str] = os.environ) -> int:
    """Flushes in a second: 20, or 10 where every cell travels over SSH."""
    return 10 if environment.get("SSH_CONNECTION") else 20


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """A stretch of the live text; `fence` is set when it begins inside a fenced code block."""

    text: str
    fence: str = ""


class LiveText:
    """A text that grows at its end, kept as blocks of which only the last one still changes.

    Blocks are numbered from 0 and keep their numbers; the oldest are emptied when the text passes the limit.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self.blocks: list[LiveBlock] = []
        """The last one is open."""
        self.size = 0
        """Characters that are kept."""
        self.dropped = 0
        """How many blocks at the beginning were emptied."""

    def append(self, text: str) -> int:
        """Adds text; answers the number of the first block that changed (the one that was open)."""
        open_ = self.blocks.pop() if self.blocks else LiveBlock("")
        first = len(self.blocks)
        self.size += len(text)
        self.blocks.extend(_parted(open_.text + text, open_.fence))
        self._bound()
        return first

    def _bound(self) -> None:
        while self.size > self._limit and self.dropped < len(self.blocks) - 1:
            self.size -= len(self.blocks[self.dropped].text)
            self.blocks[self.dropped] = LiveBlock("")
            self.dropped += 1
        if self.size > self._limit:
            last = self.blocks[-1]
            self.blocks[-1] = LiveBlock(last.text[self.size - self._limit :], last.fence)
            self.size = self._limit

    @property
    def text(self) -> str:
        """What is kept, as one text."""
        return "".join(block.text for block in self.blocks)


class LiveAnswer:
    """What an agent thinks and says while it streams: texts in turns, their blocks numbered through.

    `add` gathers, `take` lays what was gathered into blocks; nothing that is closed changes again.
    """

    def __init__(self) -> None:
        self._pending: list[tuple[Voice, str]] = []
        self._texts: list[tuple[Voice, LiveText]] = []
        self._places: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    @property
    def waiting(self) -> bool:
        """Whether something was gathered."""
        return bool(self._pending)

    def add(self, voice: Voice, text: str) -> None:
        """Gathers a piece."""
        if text:
            self._pending.append((voice, text))

    def take(self) -> set[int]:
        """Lays what was gathered into blocks; answers the numbers of the earlier ones that changed."""
        pending, self._pending = self._pending, []
        before = len(self._places)
        changed: set[int] = set()
        for voice, pieces in groupby(pending, key=lambda piece: piece[0]):
            changed |= self._append(voice, "".join(text for _, text in pieces))
        return {number for number in changed if number < before}

    def _append(self, voice: Voice, text: str) -> set[int]:
        changed = {len(self._places) - 1} if self._places else set()
        if not self._texts or self._texts[-1][0] != voice:
            self._texts.append((voice, LiveText()))
        number = len(self._texts) - 1
        live = self._texts[number][1]
        base = next((at for at, (owner, _) in enumerate(self._places) if owner == number), len(self._places))
        dropped = live.dropped
        live.append(text)
        self._places.extend((number, block) for block in range(len(self._places) - base, len(live.blocks)))
        if live.dropped > dropped:
            # The first that is left carries the name of who speaks.
            changed.update(range(base + dropped, base + live.dropped + 1))
        return changed

    def block(self, number: int) -> tuple[Voice, LiveBlock, bool]:
        """A block: who speaks, its text, whether it is the first of a turn that is left."""
        owner, block = self._places[number]
        voice, live = self._texts[owner]
        return voice, live.blocks[block], block == live.dropped

    def text(self, voice: Voice) -> str:
        """What is kept of a voice, without what was only gathered."""
        return "".join(live.text for each, live in self._texts if each == voice)


def _parted(text: str, fence: str) -> list[LiveBlock]:
    """A text that was open, as closed blocks and the new open one."""
    blocks: list[LiveBlock] = []
    if fence:
        stop = _end_of_fence(text, fence)
        if stop is None:
            return _cut(text, fence)
        blocks.append(LiveBlock(text[:stop], fence))
        text = text[stop:]
    starts = [0, *(chunk.start for chunk in split(text)[1:])]
    blocks.extend(LiveBlock(text[start:stop]) for start, stop in pairwise(starts))
    last = text[starts[-1] :]
    return blocks + _cut(last, "")


def _cut(text: str, fence: str) -> list[LiveBlock]:
    """Closes what is too long to be laid out with every flush."""
    blocks: list[LiveBlock] = []
    while len(text) > 2 * OPEN:
        cut = text.rfind("\n", OPEN // 2, OPEN) + 1 or text.rfind(" ", OPEN // 2, OPEN) + 1 or OPEN
        blocks.append(LiveBlock(text[:cut], fence))
        fence = fence or _open_fence(text[:cut])
        text = text[cut:]
    return [*blocks, LiveBlock(text, fence)]


def _open_fence(text: str) -> str:
    """The mark of a fence that is still open at the end of a text."""
    fence = ""
    for found in _FENCE.finditer(text):
        mark = found.group(1)
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            fence = ""
    return fence


def _end_of_fence(text: str, fence: str) -> int | None:
    for found in _FENCE.finditer(text):
        mark = found.group(1)
        line_ends = text.find("\n", found.end())
        if mark[0] == fence[0] and len(mark) >= len(fence) and line_ends >= 0:
            return line_ends + 1
    return None
