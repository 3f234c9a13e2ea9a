"""The rows of a transcript as rounds: an answer of the model, its calls, and what became of each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from marginalia_tui.agent.transcript import CUT, Entry
from marginalia_tui.domain.chat import Call

_SEARCHING = {"find", "search", "grep"}
_WORDS = re.compile(r"[-_]")


@dataclass(slots=True)
class Made:
    """A call and its result."""

    call: Call
    result: Entry | None = None

    @property
    def interrupted(self) -> bool:
        """It was not made, or cut off: the studio wrote its result. The kind of the row says so, never its text."""
        return self.result is not None and not self.result.message.ok and self.result.notice is not None

    @property
    def failed(self) -> bool:
        """It was made, and its tool refused it."""
        return self.result is not None and not self.result.message.ok and self.result.notice is None

    @property
    def cut(self) -> bool:
        """The model got the beginning of its result only."""
        return self.result is not None and self.result.message.ok and self.result.notice == CUT

    @property
    def text(self) -> str:
        """Its result; empty without one."""
        return self.result.message.text if self.result else ""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.result.seconds if self.result else 0.0


@dataclass(slots=True)
class Round:
    """One answer with its calls."""

    number: int
    answer: Entry
    calls: tuple[Made, ...]

    @property
    def tools(self) -> frozenset[str]:
        """The names that were called."""
        return frozenset(each.call.name for each in self.calls)

    @property
    def searches(self) -> bool:
        """Whether something was looked for in it."""
        words = [_WORDS.split(name) for name in self.tools]
        return any(each[0] in _SEARCHING and "replace" not in each for each in words)


def rounds_of(rows: Sequence[Entry]) -> list[Round]:
    """The rounds of a transcript.

    A result belongs to the nearest answer before it that has its call: ids are the studio's own, but an old or
    foreign transcript may have one twice.
    """
    found: list[Round] = []
    open_calls: dict[str, Made] = {}
    for entry in rows:
        message = entry.message
        if message.role == "assistant" and not entry.summary:
            calls = tuple(Made(call) for call in message.calls)
            open_calls = {each.call.id: each for each in calls}
            found.append(Round(len(found) + 1, entry, calls))
        elif message.role == "tool" and message.call_id in open_calls:
            open_calls.pop(message.call_id).result = entry
    return found
