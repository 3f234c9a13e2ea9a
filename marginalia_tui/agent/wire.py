"""What two processes of this user say to each other about a run: small JSON objects, one a line.

To the process that works it: `{"do": "watch", "run": U}` (its live answer, from now on) and `{"do": "look", "run": U}`
(its row says something new). Back: `{"live": null}` (no answer is being written), or what the live answer gained.
Whoever missed more of an answer than is kept gets its end, marked by totals that are ahead of the text: the whole of
it will be in its row. Everything that counts is a row of the store; nothing is lost with a line.
"""

from dataclasses import dataclass
from typing import Any

import orjson

from marginalia_tui.agent.live import LiveAnswer
from marginalia_tui.domain.errors import Invalid

LONGEST_REQUEST = 1_000
"""Bytes of a line to the process that works."""
LONGEST_FRAME = 8_000_000
"""Bytes of a line back: two texts of the live answer, each sign escaped at worst."""
LONGEST_RUN = 64

WATCH, LOOK = "watch", "look"
NOTHING = b'{"live":null}\n'


@dataclass(frozen=True, slots=True)
class Wish:
    """What another process asks for."""

    do: str
    run: str


def write_wish(do: str, run: str) -> bytes:
    """The line of a wish."""
    return orjson.dumps({"do": do, "run": run}) + b"\n"


def read_wish(line: bytes) -> Wish:
    """The wish of a line.

    Raises:
        Invalid: it is none.
    """
    found = _object(line)
    do, run = found.get("do"), found.get("run")
    if do not in (WATCH, LOOK) or not isinstance(run, str) or not 0 < len(run) <= LONGEST_RUN:
        raise Invalid("A wish is {do: watch or look, run: a uuid}.")
    return Wish(do, run)


def refusal(sentence: str) -> bytes:
    """The line that answers bad input, before the connection is closed."""
    return orjson.dumps({"error": sentence}) + b"\n"


@dataclass(slots=True)
class Sent:
    """How much of which answer the other side has."""

    version: int = -1
    number: int = 0
    text: int = 0
    reasoning: int = 0


def write_answer(answer: LiveAnswer, sent: Sent) -> bytes:
    """The line with what an answer gained; notes in `sent` that the other side has it."""
    if answer.number != sent.number:
        sent.number, sent.text, sent.reasoning = answer.number, 0, 0
    gained: dict[str, int | str] = {
        "number": answer.number,
        "place": answer.place,
        "text": newest(answer.text, answer.text_total - sent.text),
        "text_total": answer.text_total,
        "reasoning": newest(answer.reasoning, answer.reasoning_total - sent.reasoning),
        "reasoning_total": answer.reasoning_total,
        "call": answer.call,
        "call_size": answer.call_size,
        "note": answer.note,
    }
    sent.version, sent.text, sent.reasoning = answer.version, answer.text_total, answer.reasoning_total
    # A piece of a stream may end in the middle of a pair of surrogates, which is no UTF-8.
    return orjson.dumps({"live": {key: _whole(value) for key, value in gained.items()}}) + b"\n"


def _whole(value: int | str) -> int | str:
    return value if isinstance(value, int) else value.encode("utf-8", "replace").decode("utf-8")


def newest(text: str, count: int) -> str:
    """The last characters of a text; all of it when more arrived than is kept."""
    return text[max(0, len(text) - count) :] if count > 0 else ""


@dataclass(frozen=True, slots=True)
class Gained:
    """What a live answer gained, as it was told by the process that writes it; its number there."""

    number: int
    place: int
    text: str
    text_total: int
    reasoning: str
    reasoning_total: int
    call: str
    call_size: int
    note: str


def read_answer(line: bytes) -> Gained | None:
    """What a line tells of the live answer; None when none is being written.

    Raises:
        Invalid: it is no such line.
    """
    found = _object(line)
    live = found.get("live", ...)
    if live is None:
        return None
    if not isinstance(live, dict) or any(not isinstance(live.get(name), kind) for name, kind in _SHAPE.items()):
        raise Invalid("The process that works the run says what nobody understands: it may be another version.")
    return Gained(**{name: live[name] for name in _SHAPE})


_SHAPE: dict[str, type] = {
    "number": int,
    "place": int,
    "text": str,
    "text_total": int,
    "reasoning": str,
    "reasoning_total": int,
    "call": str,
    "call_size": int,
    "note": str,
}


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise Invalid("A line is one JSON object.") from None
    if not isinstance(found, dict):
        raise Invalid("A line is one JSON object.")
    return found
