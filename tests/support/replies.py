"""What a scripted model server can say: replies, their steps, and short ways to make them.

`scripted_server` serves them and offers them under its own name.
"""

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait until a test sets the event (or the client leaves)."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Mark:
    """Set the event: all steps before have been sent."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing until the client leaves."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection here, without an end of the body."""


Step = bytes | Pause | Mark | Hang | Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is sent. `before` are steps ahead of the status line; `length` sends it as one body of known length."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    steps: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    length: bool = False

    def split(self, size: int) -> "Reply":
        """The same, sent in pieces of `size` bytes."""
        steps: list[Step] = []
        for step in self.steps:
            if isinstance(step, bytes):
                steps.extend(step[at : at + size] for at in range(0, len(step), size))
            else:
                steps.append(step)
        return replace(self, steps=tuple(steps))

    def then(self, *steps: Step) -> "Reply":
        """The same with more steps at its end."""
        return replace(self, steps=self.steps + steps)

    def after(self, *steps: Step) -> "Reply":
        """The same with steps ahead of its status line."""
        return replace(self, before=steps + self.before)


Script = Sequence[Reply] | Callable[[Body], Reply]


def data(value: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def chunk(delta: Body | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of a streamed answer, as the servers of today send it."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return data({"id": "chat-1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice], **more})


def usage_chunk(prompt: int, completion: int, cached: int = 0) -> bytes:
    """The chunk that counts, which has no choice."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    counts_and = {**counts, "prompt_tokens_details": {"cached_tokens": cached}}
    return data({"id": "chat-1", "object": "chat.completion.chunk", "choices": [], "usage": counts_and})


DONE = data(b"[DONE]")


def stream(*steps: Step) -> Reply:
    """A streamed answer of these steps."""
    return Reply(steps=steps)


def text(
    *pieces: str,
    reasoning: Iterable[str] = (),
    calls: Iterable[tuple[str, Any]] = (),
    usage: tuple[int, int] | None = None,
    finish: str | None = None,
) -> Reply:
    """A whole streamed answer: thinking, text, calls (name, arguments), usage, `[DONE]`."""
    steps: list[Step] = [chunk({"role": "assistant", "content": None})]
    steps += [chunk({"reasoning_content": piece}) for piece in reasoning]
    steps += [chunk({"content": piece}) for piece in pieces]
    made = list(calls)
    for index, (name, arguments) in enumerate(made):
        steps += call_chunks(index, name, arguments)
    steps.append(chunk({}, finish or ("tool_calls" if made else "stop")))
    if usage is not None:
        steps.append(usage_chunk(*usage))
    steps.append(DONE)
    return Reply(steps=tuple(steps))


def calls(*made: tuple[str, Any], said: str = "", usage: tuple[int, int] | None = None) -> Reply:
    """A whole streamed answer of calls: (name, arguments as an object or as text)."""
    return text(*([said] if said else []), calls=made, usage=usage)


def call_chunks(index: int, name: str, arguments: Any, call_id: str | None = None) -> list[Step]:
    """A call in chunks: the name first, then the arguments in two halves."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    half = len(written) // 2
    own = f"srv-{index}-{name}" if call_id is None else call_id
    head = {"index": index, "id": own, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": part}} for part in (written[:half], written[half:]) if part]
    return [chunk({"tool_calls": [one]}) for one in (head, *rest)]


def json_reply(value: Any, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Reply:
    """A reply of one JSON text."""
    kinds = (("Content-Type", "application/json"), *headers)
    return Reply(status=status, headers=kinds, steps=(json.dumps(value).encode(),), length=True)


def whole(message: Body, finish: str | None = "stop", usage: tuple[int, int] | None = None) -> Reply:
    """An answer that is not streamed, though it was asked for as a stream."""
    value: Body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if usage is not None:
        value["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return json_reply(value)


def error(status: int, message: str, kind: str = "", headers: Iterable[tuple[str, str]] = (), **more: Any) -> Reply:
    """A refusal in JSON."""
    return json_reply({"error": {"message": message, "type": kind, "code": status, **more}}, status, headers)


def html(status: int = 200, body: str = "<!DOCTYPE html><html><body>Welcome</body></html>") -> Reply:
    """A web page where JSON was expected."""
    return Reply(status=status, headers=(("Content-Type", "text/html"),), steps=(body.encode(),), length=True)


def hang() -> Reply:
    """Not even headers."""
    return Reply(before=(Hang(),))


def cut(*pieces: str, half: bytes = b"") -> Reply:
    """Text, perhaps half a chunk, then the connection is closed."""
    steps: list[Step] = [chunk({"role": "assistant", "content": None})]
    steps += [chunk({"content": piece}) for piece in pieces]
    return Reply(steps=(*steps, half, Cut()))


def garbage(body: bytes = b"\x00\xff\x13 not a chat server \x1b[31m") -> Reply:
    """Bytes that mean nothing."""
    return Reply(headers=(("Content-Type", "application/octet-stream"),), steps=(body,), length=True)


def by_results(replies: Sequence[Reply]) -> Callable[[Body], Reply]:
    """A script that answers by how many tool results the request holds; the last reply holds for more."""

    def pick(body: Body) -> Reply:
        results = len([message for message in body["messages"] if message.get("role") == "tool"])
        return replies[min(results, len(replies) - 1)]

    return pick
