"""The tools of an agent as the proofreader uses them: how a call is written, how an answer is read.

The one place that knows their names, parameters and results. The reader is tolerant: fields that are missing or of
another type make an answer unreadable, never an error; text around the JSON is passed over.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LIST_PARTS = "list-parts"
GET_PART = "get-part"
EDIT_PART = "edit-part"
UPDATE_PLAN = "update_plan"
ASK_USER = "ask_user"
FINISH = "finish"

ROWS = 100
"""Rows of a list that are asked for at once."""
CHARACTERS = 12_000
"""Characters of a text that are asked for at once: as JSON they stay below what an agent is shown of a result."""

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part in the list: what it is called by, where it stands, its title."""

    handle: str
    position: int
    title: str


@dataclass(frozen=True, slots=True)
class PartPage:
    """Some rows of the list of parts; `following` is the offset that reads on, None at the end."""

    rows: tuple[PartRow, ...]
    following: int | None


@dataclass(frozen=True, slots=True)
class PartSlice:
    """A piece of the text of a part; `following` is the offset that reads on, None at the end."""

    text: str
    offset: int
    following: int | None


def list_parts(offset: int, limit: int) -> Arguments:
    """The arguments that ask for rows of the list."""
    return {"offset": offset, "limit": limit}


def get_part(handle: str, offset: int, length: int) -> Arguments:
    """The arguments that ask for a piece of a part."""
    return {"part": handle, "offset": offset, "length": length}


def edit_part(handle: str, old: str, new: str) -> Arguments:
    """The arguments that change a passage."""
    return {"part": handle, "old": old, "new": new}


def update_plan(steps: Sequence[tuple[str, str]]) -> Arguments:
    """The arguments that keep a plan of (step, status)."""
    return {"steps": [{"step": step, "status": status} for step, status in steps]}


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments of a call; empty when they are no JSON object."""
    return _object(text) or {}


def read_parts(text: str, offset: int) -> PartPage | None:
    """The answer of list-parts to a question that began at `offset`; None when it can't be read."""
    data = _object(text)
    if data is None or not isinstance(data.get("parts"), list):
        return None
    rows: list[PartRow] = []
    for row in data["parts"]:
        handle = _first(row, "part", "handle") if isinstance(row, dict) else None
        if not isinstance(handle, str):
            return None
        rows.append(PartRow(handle, number(row.get("position"), offset + len(rows) + 1), str(row.get("title") or "")))
    end = number(data.get("offset"), offset) + len(rows)
    more = bool(rows) and _goes_on(data, end, _first(data, "total"))
    return PartPage(tuple(rows), number(data.get("nextOffset"), end) if more else None)


def read_slice(text: str, offset: int) -> PartSlice | None:
    """The answer of get-part to a question that began at `offset`; None when it can't be read."""
    data = _object(text)
    if data is None or not isinstance(data.get("text"), str):
        return None
    piece = data["text"]
    start = number(data.get("offset"), offset)
    end = start + len(piece)
    more = bool(piece) and _goes_on(data, end, _first(data, "totalLength", "total"))
    return PartSlice(piece, start, end if more else None)


def edit_went_well(text: str, new: str) -> bool:
    """Whether an edit left exactly what was wanted, as far as its answer shows the place as it reads now."""
    data = _object(text)
    passage = data.get("passage") if data else None
    return not isinstance(passage, str) or new in passage or "\u2026" in passage


def read_steps(arguments: Arguments) -> list[tuple[str, str]]:
    """The (step, status) pairs of an update_plan call."""
    steps = arguments.get("steps")
    rows = [each for each in steps if isinstance(each, dict)] if isinstance(steps, list) else []
    return [(str(each.get("step")), str(each.get("status"))) for each in rows]


def is_error(text: str) -> bool:
    """Whether an answer is a refusal."""
    return text.lstrip().startswith("Error:")


def _goes_on(data: Mapping[str, Any], end: int, total: object) -> bool:
    if isinstance(data.get("truncated"), bool):
        return bool(data["truncated"])
    return isinstance(total, int) and end < total


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, whatever stands around it."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _first(data: Mapping[str, Any], *names: str) -> Any:
    return next((data[name] for name in names if name in data), None)


def number(value: object, otherwise: int) -> int:
    """A whole number that is not negative; `otherwise` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise
