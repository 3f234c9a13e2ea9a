"""What a transcript shows, as values, and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Speaker = Literal["author", "agent", "notice", "system"]
"""Who speaks; also the word at the left of the row."""


@dataclass(frozen=True, slots=True)
class EntryCall:
    """A call of a command with its result.

    `arguments` is JSON as it was written, perhaps broken. `ok` is None while there is no result yet; `seconds`
    is the time it took.
    """

    name: str
    arguments: str
    result: str = ""
    ok: bool | None = None
    seconds: float | None = None
    summary: str = ""
    """The arguments in a few words; empty lets the transcript make it from `arguments`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a transcript. `created` is in microseconds since 1970; `flag` is a word such as `summarised`."""

    id: str
    role: Speaker
    text: str = ""
    calls: tuple[EntryCall, ...] = ()
    reasoning: str = ""
    created: int = 0
    flag: str = ""
    faded: bool = False
    """Whether it is drawn dim: it is past, and read no more."""


class TranscriptSource(Protocol):
    """Where the rows live. Both are called on the screen's thread, so they answer from memory or a quick read."""

    def count(self) -> int:
        """How many rows there are."""
        ...

    def rows(self, start: int, stop: int) -> Sequence[Entry]:
        """The rows of a range, all of them."""
        ...
