"""The answer that is being written: in memory only, bounded, read by a screen at its own pace."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass

MAX_LIVE = 100_000
"""Characters kept of the text, and of the reasoning."""

_numbers = itertools.count(1)
_versions = itertools.count(1)
"""Of all buffers: a run that is paused and goes on has another one, and no number may come twice."""


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """A look at the answer.

    `number` is another one for each answer, `version` rises with every change; the totals count what was cut off too.
    """

    number: int
    version: int
    place: int
    """The ordinal that its row of the transcript will have: once that row is there, this is the same said twice."""
    text: str
    reasoning: str
    text_total: int
    reasoning_total: int
    call: str
    """The tool whose call is being written; empty while none is."""
    call_size: int
    """Characters of that call so far."""
    note: str
    """What the studio waits for before anything arrives, such as another try."""


class _Tail:
    """The last characters of a text that grows."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.total = 0

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
        self.total += len(piece)
        if self._length > 2 * MAX_LIVE:
            self._join()

    def _join(self) -> str:
        text = "".join(self._pieces)[-MAX_LIVE:]
        self._pieces = [text]
        self._length = len(text)
        return text

    def text(self) -> str:
        return self._join()


class LiveBuffer:
    """Written by the thread of the models, read by any other.

    Args:
        heard: called after every change, on the thread that made it, and must be quick.
    """

    def __init__(self, heard: Callable[[], None] | None = None) -> None:
        self._heard = heard
        self._lock = threading.Lock()
        self._version = 0
        self._number = 0
        self._place = 0
        self._open = False
        self._text, self._reasoning = _Tail(), _Tail()
        self._call, self._call_size, self._note = "", 0, ""

    def hear(self, heard: Callable[[], None]) -> None:
        """Has `heard` called after every change from now on."""
        self._heard = heard

    def _tell(self) -> None:
        if self._heard is not None:
            self._heard()

    def begin(self, place: int = 0) -> None:
        """An answer begins, which will be the row of this ordinal."""
        with self._lock:
            self._text, self._reasoning = _Tail(), _Tail()
            self._call, self._call_size, self._note = "", 0, ""
            self._place = place
            self._open = True
            self._number = next(_numbers)
            self._version = next(_versions)
        self._tell()

    def add(self, text: str = "", reasoning: str = "") -> None:
        """A piece arrives."""
        with self._lock:
            if text:
                self._text.add(text)
            if reasoning:
                self._reasoning.add(reasoning)
            self._note = ""
            self._version = next(_versions)
        self._tell()

    def add_call(self, name: str = "", arguments: str = "") -> None:
        """A call begins, by its name, or its arguments grow."""
        with self._lock:
            if name:
                self._call, self._call_size = name, 0
            self._call_size += len(arguments)
            self._note = ""
            self._version = next(_versions)
        self._tell()

    def wait(self, note: str) -> None:
        """Nothing arrives yet: what is waited for, in a sentence."""
        with self._lock:
            self._note = note
            self._version = next(_versions)
        self._tell()

    def copy(self, *, text: str, reasoning: str, totals: tuple[int, int], call: tuple[str, int], note: str) -> None:
        """Takes over what the same answer gained in another process.

        Args:
            text: the new piece, or the end of it where more was missed than is kept.
            reasoning: the same of what it thought.
            totals: characters of the text and of the reasoning since the answer began.
            call: the tool whose call is being written, and its characters so far.
            note: what is waited for.
        """
        with self._lock:
            self._text.add(text)
            self._reasoning.add(reasoning)
            self._text.total, self._reasoning.total = totals
            (self._call, self._call_size), self._note = call, note
            self._version = next(_versions)
        self._tell()

    def end(self) -> None:
        """The answer is in the transcript, or given up."""
        with self._lock:
            self._open = False
            self._version = next(_versions)
        self._tell()

    def look(self, seen: int = -1) -> LiveAnswer | None:
        """What has arrived; None when no answer is being written, or nothing is newer than version `seen`."""
        with self._lock:
            if not self._open or self._version == seen:
                return None
            return LiveAnswer(
                self._number,
                self._version,
                self._place,
                self._text.text(),
                self._reasoning.text(),
                self._text.total,
                self._reasoning.total,
                self._call,
                self._call_size,
                self._note,
            )

    @property
    def is_open(self) -> bool:
        """Whether an answer is being written."""
        with self._lock:
            return self._open
