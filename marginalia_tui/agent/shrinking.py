"""Making a conversation fit into one request that asks for its summary.

Pure and deterministic. First the results of older calls are shortened; when that is not enough the conversation is
taken in pieces of whole rounds, so that no piece has a call without its result; a round that is too large alone is
shortened further. Arguments stay JSON: what is inside of them is shortened, never their text. There is always a piece
to go on with. A model that goes on working instead of summarising gets the conversation as one text, without tools.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.resources import prompt

OLD_RESULT = 1_000
"""Characters that are left of the result of an older call."""
KEPT = 2
"""Rounds at the end whose results are not old."""
_LIMITS = (2_000, 500, 100, 20)
"""Characters of each text of a round that is too large alone, from mild to hard."""

Unit = tuple[Message, ...]
"""What is never parted: an answer with the results of its calls, or one message beside them."""
Count = Callable[[Sequence[Message]], int]
"""Tokens of some messages."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one request summarises: `messages`, which stand for the first `units` of those that were left."""

    messages: tuple[Message, ...]
    units: int


def units_of(messages: Sequence[Message]) -> list[Unit]:
    """The messages in what is never parted; together they are all of them, in order."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and found:
            found[-1].append(message)
        else:
            found.append([message])
    return [tuple(each) for each in found]


def next_piece(units: Sequence[Unit], room: int, part: int, count: Count) -> Piece:
    """What the next request summarises of what is left.

    Args:
        units: what is left, at least one.
        room: tokens that it may have when it is all that is left.
        part: tokens that it may have otherwise; not more than `room`.
        count: counts tokens.
    """
    if count(whole := _joined(units)) <= room:
        return Piece(whole, len(units))
    old = max(0, len(units) - KEPT)
    shrunk = [tuple(map(_short_result, unit)) if at < old else unit for at, unit in enumerate(units)]
    if count(whole := _joined(shrunk)) <= room:
        return Piece(whole, len(units))
    taken: list[Unit] = []
    total = 0
    for unit in shrunk:
        if (size := count(unit)) > part and total * 2 <= part:
            unit = squeeze(unit, part - total, count)
            size = part - total
        if total + size > part:
            break
        taken.append(unit)
        total += size
    return Piece(_joined(taken), len(taken))


def squeeze(unit: Unit, part: int, count: Count) -> Unit:
    """A round that fits into so many tokens, whatever is left of it."""
    for limit in _LIMITS:
        unit = tuple(shorten(message, limit) for message in unit)
        if count(unit) <= part:
            return unit
    return (Message(role="user", text=prompt("left-out-round")),)


def shorten(message: Message, limit: int) -> Message:
    """A message none of whose texts has many more than `limit` characters; arguments stay what JSON they are."""
    return replace(
        message,
        text=shorten_text(message.text, limit),
        reasoning=shorten_text(message.reasoning, limit),
        calls=tuple(_short_call(call, limit) for call in message.calls),
    )


def shorten_text(text: str, limit: int) -> str:
    """The beginning and the end of a text, and how much is missing between them."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    mark = prompt("left-out").format(count=len(text) - limit)
    return f"{text[:head].rstrip()}\n{mark}\n{text[-tail:].lstrip()}"


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as one text, for a request without tools: a model has nothing to call, and no call to imitate."""
    lines = []
    for message in messages:
        if message.role == "user":
            lines.append(f"Told to the agent: {message.text}")
        elif message.role == "tool":
            lines.append(f"Result: {message.text}")
        else:
            lines += [f"The agent: {message.text}"] if message.text.strip() else []
            lines += [f"The agent calls {call.name} with {call.arguments or '{}'}" for call in message.calls]
    return "\n\n".join(lines)


def _joined(units: Sequence[Unit]) -> tuple[Message, ...]:
    return tuple(message for unit in units for message in unit)


def _short_result(message: Message) -> Message:
    return replace(message, text=shorten_text(message.text, OLD_RESULT)) if message.role == "tool" else message


def _short_call(call: Call, limit: int) -> Call:
    if len(call.arguments) <= limit:
        return call
    value = read_arguments(call.arguments)
    if value is None:
        # It is sent as an empty object whatever stands there.
        return replace(call, arguments="{}")
    short = json.dumps({shorten_text(name, limit): _short_value(each, limit) for name, each in value.items()})
    if len(short) > 4 * limit:
        short = json.dumps({"shortened": shorten_text(call.arguments, limit)})
    return replace(call, arguments=short)


def _short_value(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return shorten_text(value, limit)
    written = json.dumps(value, ensure_ascii=False)
    return value if len(written) <= limit else shorten_text(written, limit)
