"""The calls of one answer, put together from what servers really send.

Arguments come in pieces, as an object, or whole; an index may be missing or always 0; ids may be missing,
repeated, restarted, or new with every piece. The rules, in order:

1. an id that is known continues its call, unless that call is whole and its name comes again: then it is the
   same call repeated (dropped) or another one under the same id (a call of its own);
2. a new id with a name is a new call; without a name it continues the call of its index, or the last one;
3. without an id, an index that is new and has a name is a new call; a known one continues its call, unless that
   is whole and a name comes again;
4. without id and index, a name begins a new call unless the last one is unfinished and has the same name.

The position in a chunk never counts.
"""

import itertools
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.domain.chat import CallArguments, CallStarted
from marginalia_tui.llm.surrogates import clean_text

NAMELESS = "unnamed"
"""The name of a call that came without one: no tool has it, so the model is told so."""


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a call as an object.

    Args:
        text: the JSON text as it was written. Empty is an empty object; JSON inside of a JSON string is read.

    Returns:
        The object, or None when the text is broken or no object.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
        if isinstance(value, str):
            value = json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def strict_arguments(text: str) -> str:
    """The arguments of a call as JSON text of an object that every server takes; broken ones as `{}`."""
    value = read_arguments(text)
    if value is None:
        return "{}"
    stripped = text.strip()
    return stripped if stripped.startswith("{") else json.dumps(value, ensure_ascii=False)


def new_call_id() -> str:
    """An id of our own."""
    return f"call_{secrets.token_hex(8)}"


CallEvent = CallStarted | CallArguments


@dataclass(slots=True)
class _Building:
    """A call that is being written. `place` is its number in the answer, None while it is held back."""

    wire_id: str
    index: int | None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    sent: int = 0
    place: int | None = None
    twin: "_Building | None" = None
    """The whole call that has the same id: until this one is seen to differ it is held back."""

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def whole(self) -> bool:
        """Whether the arguments are a whole object; the cheap look at the end comes first."""
        if not self.pieces or not self.pieces[-1].rstrip().endswith("}"):
            return False
        return read_arguments(self.arguments) is not None


class CallAssembler:
    """Turns the `tool_calls` of chunks into events; see the rules above."""

    def __init__(self) -> None:
        self._calls: list[_Building] = []
        self._wire_ids: set[str] = set()
        self._ids: set[str] = set()
        self._places = itertools.count()

    @property
    def any(self) -> bool:
        """Whether a call has begun."""
        return bool(self._calls)

    def feed(self, entries: Any) -> Iterator[CallEvent]:
        """Take the `tool_calls` list of a chunk (or anything else, which holds no call)."""
        if isinstance(entries, dict):
            entries = [entries]
        if not isinstance(entries, list):
            return
        for entry in entries:
            if isinstance(entry, dict):
                yield from self._entry(entry)

    def close(self) -> Iterator[CallEvent]:
        """The answer is over: what was held back comes out, repeated calls do not."""
        for call in self._calls:
            call.name = call.name or NAMELESS
            yield from self._release(call, last=True)

    def _entry(self, entry: dict[str, Any]) -> Iterator[CallEvent]:
        function = entry.get("function")
        if not isinstance(function, dict):
            function = entry
        wire_id, name = _word(entry.get("id")), _word(function.get("name"))
        index = entry.get("index") if isinstance(entry.get("index"), int) else None
        written = _written(function.get("arguments"))
        if not (wire_id or name or written):
            return
        call = self._find(wire_id, index, name, written)
        if name and not call.name:
            call.name = name
        if written:
            call.pieces.append(written)
        yield from self._release(call, last=False)

    def _find(self, wire_id: str, index: int | None, name: str, written: str) -> _Building:
        """The call that an entry belongs to, begun when there is none."""
        if wire_id in self._wire_ids:
            return self._find_known(wire_id, index, name)
        at_index = _last(c for c in self._calls if index is not None and c.index == index)
        known = at_index or (self._calls[-1] if self._calls else None)
        if known is None:
            return self._begin(wire_id, index)
        new_index = index is not None and at_index is None
        if wire_id and name:
            resumed = known.name == name and known.pieces and not known.whole() and not written.lstrip().startswith("{")
            begins = new_index or not resumed
        elif wire_id:
            begins = new_index
        elif new_index:
            begins = bool(name)
        elif index is not None:
            begins = bool(name) and known.whole()
        else:
            begins = bool(name) and (known.whole() or bool(known.name and known.name != name))
        return self._begin(wire_id, index) if begins else known

    def _find_known(self, wire_id: str, index: int | None, name: str) -> _Building:
        """The call of an id that was seen, or another call under the same id."""
        bearers = [call for call in self._calls if call.wire_id == wire_id]
        here = [call for call in bearers if index is None or call.index is None or call.index == index]
        call = (here or bearers)[-1]
        if name and (not here or call.whole()):
            return self._begin(wire_id, index, call)
        return call

    def _begin(self, wire_id: str, index: int | None, twin: _Building | None = None) -> _Building:
        call = _Building(wire_id, index, twin=twin)
        self._calls.append(call)
        if wire_id:
            self._wire_ids.add(wire_id)
        return call

    def _release(self, call: _Building, *, last: bool) -> Iterator[CallEvent]:
        """The events that may be given now: none before the name, none of a call that may be a repeat."""
        if not call.name:
            return
        if call.twin is not None:
            if not last:
                return
            if (call.twin.name, call.twin.arguments) == (call.name, call.arguments):
                return
            call.twin = None
        if call.place is None:
            call.place = next(self._places)
            own = call.wire_id if call.wire_id and call.wire_id not in self._ids else new_call_id()
            self._ids.add(own)
            yield CallStarted(call.place, own, call.name)
        if call.sent < len(call.pieces):
            text = "".join(call.pieces[call.sent :])
            call.sent = len(call.pieces)
            yield CallArguments(call.place, text)


def _last(calls: Iterator[_Building]) -> _Building | None:
    return max(enumerate(calls), default=(0, None), key=lambda pair: pair[0])[1]


def _word(value: Any) -> str:
    """An id or a name; some servers send numbers."""
    return clean_text(value) if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _written(arguments: Any) -> str:
    """Arguments as text: some servers send the object itself."""
    if isinstance(arguments, str):
        return clean_text(arguments)
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
