"""From events to an answer.

The accumulator can be asked at any moment what has come so far. It judges what only the end can tell: whether
the answer is whole, whether a call was cut off by the output limit, whether thinking stood in the text.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, assert_never

from marginalia_tui.domain.chat import (
    Answer,
    Call,
    CallArguments,
    CallStarted,
    Finished,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
    UsageReported,
)
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.llm.think import OPEN, late_close


@dataclass(slots=True)
class _Part:
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)


class Accumulator:
    """Gathers the events of one request.

    Args:
        cap: the limit of tokens that the request set for its answer; 0 when it set none.
        clock: seconds, for the times of the answer.
    """

    def __init__(self, cap: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._cap = cap
        self._clock = clock
        self._asked = self._began = clock()
        self._first: float | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._field = ""
        self._calls: dict[int, _Part] = {}
        self._usage: Usage | None = None
        self._finish: Literal["stop", "calls", "length", "other"] | None = None

    @property
    def usage(self) -> Usage | None:
        """What the server counted, None when it has not."""
        return self._usage

    @property
    def begun(self) -> bool:
        """Whether anything of the answer has come."""
        return self._first is not None

    def restart(self) -> None:
        """The request is sent anew: times count from here."""
        self._began = self._clock()

    def add(self, event: StreamEvent) -> None:
        """Take an event."""
        match event:
            case TextDelta(text):
                self._touch()
                self._text.append(text)
            case ReasoningDelta(text, name):
                self._touch()
                self._reasoning.append(text)
                self._field = self._field or name
            case CallStarted(index, call_id, name):
                self._touch()
                self._calls[index] = _Part(call_id, name)
            case CallArguments(index, text):
                self._calls[index].pieces.append(text)
            case UsageReported(usage):
                self._usage = usage
            case Finished(reason):
                self._finish = reason
            case _:
                assert_never(event)

    def answer(self) -> Answer:
        """What has come so far; `complete` only when the model said that it was done."""
        text, reasoning, name = "".join(self._text), "".join(self._reasoning), self._field
        if reasoning and not name and text == OPEN + reasoning:
            reasoning = ""
        parted = late_close(text) if not reasoning else None
        if parted is not None:
            reasoning, text = parted
        calls = tuple(Call(part.id, part.name, "".join(part.pieces)) for _, part in sorted(self._calls.items()))
        now = self._clock()
        return Answer(
            text=text,
            reasoning=reasoning,
            reasoning_field=name if reasoning else "",
            calls=calls,
            finish=self._judge(calls),
            complete=self._finish is not None,
            usage=self._usage or Usage(),
            usage_estimated=self._usage is None,
            first_token=(now if self._first is None else self._first) - self._began,
            seconds=now - self._began,
            waited=self._began - self._asked,
        )

    def _judge(self, calls: tuple[Call, ...]) -> Literal["stop", "calls", "length", "other"]:
        """How it ended. Calls decide against `stop`; a broken call at the output limit was cut off there."""
        finish = self._finish
        if finish is None:
            return "other"
        at_cap = bool(self._cap) and self._usage is not None and self._usage.completion >= self._cap
        if at_cap and _broken(calls, cut=True):
            return "length"
        if calls and finish == "stop":
            return "calls"
        return finish

    def _touch(self) -> None:
        if self._first is None:
            self._first = self._clock()


def broken_calls(answer: Answer) -> tuple[Call, ...]:
    """The calls of an answer that may not be carried out: cut off, or unreadable.

    A call whose arguments were still blank when the answer was cut off is broken too, though a blank elsewhere
    means no arguments.
    """
    return _broken(answer.calls, cut=is_cut(answer))


def is_cut(answer: Answer) -> bool:
    """Whether the answer broke off: at the output limit, or because its stream ended."""
    return answer.finish == "length" or not answer.complete


def _broken(calls: tuple[Call, ...], *, cut: bool) -> tuple[Call, ...]:
    return tuple(
        call
        for at, call in enumerate(calls)
        if read_arguments(call.arguments) is None or (cut and at == len(calls) - 1 and not call.arguments.strip())
    )
