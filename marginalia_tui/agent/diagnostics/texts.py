"""What is found in texts: errors that are the same but for a number, long arguments, texts written off.

`Recent` answers whether a text stood in one of the last results. It looks for pieces of it at known places, so that
a run of thousands of long texts costs what its texts cost to read, and not sixty times that.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import orjson

from marginalia_tui.agent.diagnostics.values import LONG
from marginalia_tui.domain.chat import Call
from marginalia_tui.llm.calls import read_arguments

SAMPLE = 80
"""Characters of the middle of a long text that are looked for."""
LOOKED_BACK = 60
"""Results before a call in which they are looked for."""
START = 120
"""Characters of arguments and texts that are shown."""
_ERROR_LENGTH = 300
_PIECE = 40
"""Of a sample of 80 characters one piece of 40 stands at a multiple of 40, wherever the sample begins."""

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def normal_error(text: str) -> str:
    """An error with its numbers replaced by N, so that the same error counts as one."""
    shown = " ".join(text[: 4 * _ERROR_LENGTH].split())
    return _NUMBER.sub("N", _UUID.sub("N", shown))[:_ERROR_LENGTH]


def start_of(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * START].split())
    return line if len(line) <= START else line[: START - 1] + "…"


def key_of(call: Call, arguments: dict[str, Any] | None) -> tuple[str, bytes]:
    """What two calls have in common that are the same: the order and the spaces of their JSON do not count."""
    if arguments is None:
        return call.name, call.arguments.encode("utf-8", "replace")
    try:
        return call.name, orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number of more than 64 bits, half a character
        return call.name, call.arguments.encode("utf-8", "replace")


def arguments_of(call: Call) -> dict[str, Any] | None:
    """The arguments; None when they are broken."""
    return read_arguments(call.arguments)


def long_texts(arguments: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """The long texts among arguments, wherever they stand in them: the name of the argument, the text."""
    waiting: deque[tuple[str, Any]] = deque((arguments or {}).items())
    while waiting:
        name, value = waiting.popleft()
        if isinstance(value, str):
            if len(value) >= LONG:
                yield name, value
        elif isinstance(value, dict):
            waiting.extend((name, each) for each in value.values())
        elif isinstance(value, list):
            waiting.extend((name, each) for each in value)


def sample_of(text: str) -> str:
    """The middle of a long text."""
    middle = max(0, (len(text) - SAMPLE) // 2)
    return text[middle : middle + SAMPLE]


class Recent:
    """The last results that a model had read."""

    def __init__(self) -> None:
        self._unread: deque[tuple[int, str]] = deque(maxlen=LOOKED_BACK)
        """Results whose pieces nobody has needed yet."""
        self._kept: deque[tuple[int, str]] = deque()
        self._places: dict[str, list[int]] = {}
        """Piece -> the numbers of the results that have it, in order."""
        self._count = 0

    def add(self, text: str) -> None:
        """One more result."""
        self._unread.append((self._count, text))
        self._count += 1

    def has(self, sample: str) -> bool:
        """Whether a sample of 80 characters stands in one of them."""
        self._read()
        held = dict(self._kept)
        tried: set[int] = set()
        for shift in range(_PIECE):
            for number in self._places.get(sample[shift : shift + _PIECE], ()):
                if number not in tried:
                    tried.add(number)
                    if sample in held[number]:
                        return True
        return False

    def _read(self) -> None:
        while self._kept and self._kept[0][0] < self._count - LOOKED_BACK:
            self._forget(*self._kept.popleft())
        while self._unread:
            number, text = self._unread.popleft()
            self._kept.append((number, text))
            for piece in _pieces(text):
                numbers = self._places.setdefault(piece, [])
                if not numbers or numbers[-1] != number:
                    numbers.append(number)

    def _forget(self, number: int, text: str) -> None:
        for piece in _pieces(text):
            numbers = self._places.get(piece)
            if numbers and numbers[0] == number:
                del numbers[0]
                if not numbers:
                    del self._places[piece]


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text) - _PIECE + 1, _PIECE))
