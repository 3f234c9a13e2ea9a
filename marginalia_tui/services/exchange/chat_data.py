"""What a chat says beside its prose: how it is called here, made harmless, and kept within bounds.

A chat is JSON lines of whatever program wrote it. All of a message but its text is data that this studio has no place
for: it is kept under `CHAT` in the attributes of the part, in the pieces `MESSAGE`, `VERSION` and `SWIPE_INFO`, and
written back. What this studio knows and a chat has no place for stands in the chat under `OWN`, and is read back.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.manuscript import one_line

CHAT = "chat"
"""The attribute of a book (the header of the chat) and of a part (an object of the pieces below)."""
MESSAGE = "message"
"""Piece: what holds for a message, whichever of its swipes is shown."""
VERSION = "version"
"""Piece: what holds for this swipe alone."""
SWIPE_INFO = "swipe_info"
"""Piece: what the list of swipes says of the one that is shown, where it is something else than the message says."""
OF_A_SWIPE = ("send_date", "gen_started", "gen_finished", "extra")
"""The fields of a message that belong to the swipe that is shown."""
OWN = "marginalia"
"""The key in the `extra` of a message and in the `chat_metadata` of a header."""
MADE_HERE = "made_here"
"""Under `OWN`: the message comes from a part that is from no chat, and its common fields mean nothing."""
TURN = ("title", "instructions", "scene", "pov", "present")
"""The short fields of a part that are kept under `OWN` where the message does not say them."""
ATTRIBUTES = "attributes"
"""Under `OWN`: the other attributes of a part or a book."""

MAX_DATA = 512 * 1024
"""Bytes of the data of a message, of one of its swipes, or of a header. What goes beyond is pictures and the like."""
MAX_SHARED = 16 * 1024 * 1024
"""Bytes of what holds for a whole message, times its swipes: each of them has it."""
MAX_FIELDS = 500
"""Fields of a message, those of its `extra` included."""
MAX_DEPTH = 60
"""Lists and objects inside of one another; more can't be stored."""
MAX_NAME = 300
"""Characters of a name; a longer one is cut."""
MAX_TURN = 100_000
"""Characters of a field of the turn input."""

_SEPARATORS = ("\u2028", "\u2029")
_SEPARATOR = re.compile("([\u2028\u2029])")
_LINES_NAMED = 5
_KINDS_NAMED = 20


class Problems:
    """What was left out or mended, by what it was, with the lines where it was."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}

    def add(self, what: str, line: int) -> None:
        """Notes one.

        Args:
            what: a sentence without its end, the same for all of its kind.
            line: the number of the line, from 1.
        """
        if what not in self._counts and len(self._counts) >= _KINDS_NAMED:
            what = "More was left out"
        self._counts[what] = self._counts.get(what, 0) + 1
        lines = self._found.setdefault(what, [])
        if len(lines) < _LINES_NAMED and line not in lines:
            lines.append(line)

    def sentences(self) -> list[str]:
        """A sentence for each kind, with the first lines and how many there were."""
        return [self._sentence(what) for what in self._found]

    def _sentence(self, what: str) -> str:
        lines, count = self._found[what], self._counts[what]
        named = ", ".join(f"{line:,}" for line in lines)
        where = f"line {named}" if len(lines) == 1 else f"lines {named}"
        more = f", {count:,} in all" if count > len(lines) else ""
        return f"{what} ({where}{more})."


class _TooMuch(Exception):
    """A value that can't be kept; says why."""


class _Walk:
    """Makes a value of a file harmless: clean texts, numbers that fit. It ends when it has seen too much."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def harmless(self, value: Any, depth: int = 0) -> Json:
        """A value as it may be stored.

        Raises:
            _TooMuch: it is nested too deep, or larger than the limit.
        """
        self._left -= len(value) + 2 if isinstance(value, str) else 2
        if self._left < 0:
            raise _TooMuch("too large")
        if isinstance(value, str):
            return _clean(value)
        if isinstance(value, bool | None):
            return value
        if isinstance(value, list | dict):
            if depth >= MAX_DEPTH:
                raise _TooMuch("nested too deep")
            if isinstance(value, list):
                return [self.harmless(each, depth + 1) for each in value]
            return {_clean(key): self.harmless(each, depth + 1) for key, each in value.items()}
        fits = -(2**63) <= value < 2**63 if isinstance(value, int) else math.isfinite(value)
        number: int | float = value
        return number if fits else str(value)


def _clean(text: str) -> str:
    """A text of the data: as it is, but for what steers a terminal. It is not prose, which knows one end of lines."""
    if text.isprintable():
        return text
    return "".join(piece if piece in _SEPARATORS else clean(piece) for piece in _SEPARATOR.split(text))


def data_of(fields: Mapping[str, Any], line: int, problems: Problems, limit: int = MAX_DATA) -> dict[str, Json]:
    """The fields of a message that are kept as data.

    Args:
        fields: as the file says them; `extra` is an object or missing.
        line: the number of the line they are from.
        problems: takes what is left out: what is nested too deep, the largest ones when they are too large, and what
            comes behind the first `MAX_FIELDS`.
        limit: bytes of all together, as JSON.
    """
    kept: dict[str, Json] = {}
    extra: dict[str, Json] = {}
    sizes: list[tuple[int, str, str | None]] = []
    for key, inner, value in _pieces(fields, line, problems):
        try:
            safe = _Walk(limit).harmless(value)
        except _TooMuch as error:
            problems.add(f"Left out, as it is {error}: {_named(key, inner)}", line)
            continue
        name = _clean(key if inner is None else inner)
        (kept if inner is None else extra)[name] = safe
        sizes.append((_size(safe) + len(name) + 4, key, inner))
    if isinstance(fields.get("extra"), dict):
        kept["extra"] = extra
    total = sum(size for size, _, _ in sizes)
    # The largest ones go until the rest fits.
    for size, key, inner in sorted(sizes, key=lambda piece: piece[0], reverse=True) if total > limit else ():
        (kept if inner is None else extra).pop(_clean(key if inner is None else inner), None)
        problems.add(f"Left out, as it is too large: {_named(key, inner)}", line)
        total -= size
        if total <= limit:
            break
    return kept


def _pieces(fields: Mapping[str, Any], line: int, problems: Problems) -> list[tuple[str, str | None, Any]]:
    """The fields, those of `extra` one by one: key, key inside of it, value."""
    given = fields.get("extra")
    inner = given.items() if isinstance(given, dict) else ()
    outer = [(key, None, value) for key, value in fields.items() if key != "extra"]
    if len(outer) + len(inner) > MAX_FIELDS:
        problems.add(f"Left out, as there are more than {MAX_FIELDS:,} fields", line)
    return [*outer, *(("extra", key, value) for key, value in inner)][:MAX_FIELDS]


def _size(value: Json) -> int:
    """Bytes of a value as JSON; about those, of what is short anyway."""
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    return 8 if value is None or isinstance(value, bool | int | float) else len(orjson.dumps(value))


def _named(key: str, inner: str | None) -> str:
    name = clean(key if inner is None else f"{key}.{inner}").replace("\n", " ")
    return repr(name if len(name) <= 60 else name[:59] + "…")


def name_of(value: Any) -> str:
    """A name in a file: its text on one line, or empty when it is none."""
    return one_line(clean(value))[:MAX_NAME].rstrip() if isinstance(value, str) else ""


def key_counts(parts: Iterable[Mapping[str, Json]]) -> dict[str, int]:
    """Which data the parts hold, by the names of a chat (`extra.model`), with the number of parts, by name."""
    counts: dict[str, int] = {}
    for attributes in parts:
        pieces = attributes.get(CHAT)
        if not isinstance(pieces, dict):
            continue
        names: set[str] = set()
        for piece in pieces.values():
            for key, value in piece.items() if isinstance(piece, dict) else ():
                names.update(
                    [f"extra.{each}" for each in value] if key == "extra" and isinstance(value, dict) else [key]
                )
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
