"""Conversations that grow: each message is brought into its wire form once, and kept.

A run asks thousands of times, with one round more each time. What is kept is the beginning that no later message
changes (`history.closed`); the bytes that are sent are those of a conversation that is seen for the first time.
"""

from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any

import orjson

from marginalia_tui.domain.chat import Message, Request
from marginalia_tui.llm.history import closed, legal
from marginalia_tui.llm.openai_chat import wire_message, wire_system

MOST = 8
"""Conversations that are kept: those of the runs that work at once, and a few more."""


class _Conversation:
    """One conversation, as far as nothing changes it any more."""

    def __init__(self) -> None:
        self._seen: list[Message] = []
        self._calls = 0
        self._kept: list[bytes] = []

    def begins(self, messages: Sequence[Message]) -> bool:
        """Whether what is kept is the beginning of these messages: the very same objects."""
        return len(self._seen) <= len(messages) and all(map(is_, self._seen, messages))

    def grown(self, messages: Sequence[Message]) -> list[bytes]:
        """The messages in wire form; keeps what will not change."""
        start = len(self._seen)
        end = closed(messages, start)
        if end > start:
            more = messages[start:end]
            self._kept.extend(_wire(legal(more, calls=self._calls if start else None)))
            self._seen.extend(more)
            self._calls += sum(len(each.calls) for each in more)
        rest = messages[end:]
        return [*self._kept, *_wire(legal(rest, calls=self._calls if end else None))]


class Conversations:
    """The conversations that were asked about last. For one thread."""

    def __init__(self) -> None:
        self._latest: list[_Conversation] = []

    def messages(self, request: Request) -> orjson.Fragment:
        """The messages of a request as JSON: the same as `openai_chat.wire_messages`."""
        found = next((each for each in self._latest if each.begins(request.messages)), None) or _Conversation()
        self._latest = [found, *(each for each in self._latest if each is not found)][:MOST]
        return orjson.Fragment(
            b"[" + b",".join([*_dump(wire_system(request.system)), *found.grown(request.messages)]) + b"]"
        )


def _wire(messages: Iterable[Message]) -> list[bytes]:
    return _dump(map(wire_message, messages))


def _dump(messages: Iterable[dict[str, Any]]) -> list[bytes]:
    return [orjson.dumps(each) for each in messages]
