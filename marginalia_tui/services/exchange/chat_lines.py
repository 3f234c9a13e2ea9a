"""The lines of a chat: bytes to JSON objects, line by line, so that one that is broken costs no other.

Bounded: a file of at most `files.MAX_TEXT_BYTES`, a line of at most `MAX_LINE` bytes; longer ones are skipped unread.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.chat_data import Problems

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line: a message with all of its swipes."""
MAX_BROKEN = 10_000
"""Lines that can't be read; a file with more is no chat."""

_LOOKED_AT = 5
"""Lines in which a file must show that it is a chat."""
_LINE = re.compile(rb"[^\r\n]+")
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def looks_like_chat(data: bytes) -> bool:
    """Whether a file is a chat, by its first lines."""
    data = _as_utf8(data)
    if data.lstrip()[:1] != b"{":
        return False
    for place, (_, line) in enumerate(_lines(data)):
        if place >= _LOOKED_AT:
            break
        found = _parse(line) if len(line) <= MAX_LINE else None
        if isinstance(found, dict) and (is_header(found) or is_message(found)):
            return True
    return False


def is_header(found: dict[str, Any]) -> bool:
    """Whether an object is what a chat begins with."""
    return "mes" not in found and ("chat_metadata" in found or {"user_name", "character_name"} <= found.keys())


def is_message(found: dict[str, Any]) -> bool:
    """Whether an object is a message."""
    return isinstance(found.get("mes"), str) and bool(found.keys() & {"is_user", "name", "swipes"})


def objects(data: bytes, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file, each with the number of its line, from 1; others are told.

    Raises:
        Invalid: hardly a line of it can be read.
    """
    broken = 0
    data = _as_utf8(data)
    last = data.count(b"\n", 0, len(data.rstrip())) + 1
    for number, line in _lines(data):
        if len(line) > MAX_LINE:
            problems.add(f"Left out, as it is longer than {MAX_LINE // 1_048_576} MB", number)
        elif isinstance(found := _parse(line), dict):
            yield number, found
            continue
        elif found is None and number == last:
            problems.add("Left out, as it is no JSON; the file may have been cut off there", number)
        else:
            problems.add("Left out, as it is no JSON" if found is None else "Left out, as it is no JSON object", number)
        broken += 1
        if broken > MAX_BROKEN:
            raise Invalid(
                f"More than {MAX_BROKEN:,} lines of it are no messages: give the file of a chat (JSON lines)."
            )


def _as_utf8(data: bytes) -> bytes:
    for mark, encoding in _UTF16.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank. Those between are jumped over: a file may consist of nothing else."""
    number, counted = 1, 0
    for found in _LINE.finditer(data):
        number += data.count(b"\n", counted, found.start())
        counted = found.start()
        line = found.group().strip()
        if line:
            yield number, line


def _parse(line: bytes) -> Any:
    """The value of a line, None when it is no JSON (or null, which is no message either)."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        pass
    if b"\\u" not in line:
        return None
    try:
        # Half of a character that was cut in two is no reason to lose a message: `clean` shows that it is broken.
        return json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)
