"""Objects of JSON that other programs wrote, read loosely: what is of another type is taken where it can be, and told.

Nothing is repaired silently: whoever reads keeps the object as it was beside what became of it.
"""

import math
from collections.abc import Mapping
from typing import Any

import orjson

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Json
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.manuscript import one_line

LARGEST = 1_000_000
"""Of a number that an author may set, and the least below zero."""
NAME_LENGTH = 300
TAG_LENGTH = 60
DEEPEST = 100
"""Lists and objects inside one another: more than any program writes, and few enough to be kept."""

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


def load_json(data: bytes, name: str) -> Any:
    """The value that a JSON text holds.

    Args:
        data: the text, UTF-8 or with a byte order mark.
        name: what it is called in a sentence.

    Raises:
        Invalid: it is no JSON, damaged, or nested too deeply; the sentence names the place.
    """
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            found = orjson.loads(decode(data, name).text)
        except orjson.JSONDecodeError as error:
            if "depth" in error.msg:
                raise Invalid(f"{name} is nested too deeply for a file of its kind: nothing of it was taken.") from None
            raise Invalid(
                f"{name} is damaged at line {error.lineno:,}, column {error.colno:,} (it is no JSON there): mend it, "
                "or export it again. Nothing of it was taken."
            ) from None
    if _depth_exceeds(found, DEEPEST):
        raise Invalid(f"{name} is nested too deeply for a file of its kind: nothing of it was taken.")
    return found


def _depth_exceeds(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below += [one for one in each.values() if isinstance(one, dict | list)]
            elif isinstance(each, list):
                below += [one for one in each if isinstance(one, dict | list)]
        if not below:
            return False
        level = below
    return True


def same(one: object, other: object) -> bool:
    """Whether two values of JSON are equal, types included: a truth is no number."""
    if one is other:
        return True
    if type(one) is not type(other) or one != other:
        return False
    return not (one and isinstance(one, dict | list)) or orjson.dumps(one) == orjson.dumps(other)


def beyond(found: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object that another one lacks, or says something else in."""
    return {
        name: value
        for name, value in found.items()
        if name not in written or (written[name] is not value and not same(written[name], value))
    }


def name_line(text: str) -> str:
    """A text as a name of the library: one line, nothing that a terminal obeys, cut where it is too long."""
    return visible_line(one_line(clean(text)))[:NAME_LENGTH].strip()


class Loose:
    """An object that is read field by field.

    Args:
        raw: the object.
        told: field -> what its file calls it, where that is another name.
    """

    def __init__(self, raw: Mapping[str, Any], told: Mapping[str, str] | None = None) -> None:
        self.raw = raw
        self.left: list[str] = []
        """Names of fields that were not what they should be, or have no place."""
        self._told = told or {}

    def leave(self, name: str, note: str = "") -> None:
        """Notes that a field was not taken over."""
        self.left.append(self._told.get(name, name).replace("extensions/", "extensions.", 1) + note)

    def _wrong(self, name: str) -> None:
        self.leave(name, " of another type")

    def text(self, name: str, default: str = "") -> str:
        """A text, as it may stand in a book."""
        value = self.raw.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            return clean(value)
        self._wrong(name)
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else default

    def flag(self, name: str, default: bool = False) -> bool:
        """A yes or no."""
        value = self.raw.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self._wrong(name)
        if isinstance(value, int | float):
            return value != 0
        word = value.strip().lower() if isinstance(value, str) else None
        return word in _YES if word is not None and word in _YES + _NO else default

    def number(self, name: str, default: int, low: int = -LARGEST, high: int = LARGEST) -> int:
        """A whole number within bounds."""
        value = self.raw.get(name)
        if value is None:
            return default
        if isinstance(value, str) or not isinstance(value, int | float) or isinstance(value, bool):
            self._wrong(name)
            value = _number(value)
        if value is None or not math.isfinite(value):
            return default
        if not low <= value <= high:
            self.leave(name, " out of bounds")
        elif value != int(value):
            self.leave(name, " with a fraction")
        return min(max(round(value), low), high)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text is taken for several with commas between."""
        value = self.raw.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            self._wrong(name)
            return tuple(clean(each.strip()) for each in value.split(",") if each.strip())
        if not isinstance(value, list):
            self._wrong(name)
            return ()
        found = [clean(str(each)) for each in value if isinstance(each, str | int | float) and each is not True]
        if any(not isinstance(each, str) for each in value):
            self._wrong(name)
        return tuple(found)

    def tags(self, name: str) -> tuple[str, ...]:
        """A list of tags: one line each, each once."""
        found: dict[str, str] = {}
        for each in self.texts(name):
            tag = name_line(each)
            if len(tag) > TAG_LENGTH:
                self.leave(name, " too long for a tag")
            elif tag:
                found.setdefault(tag.casefold(), tag)
        return tuple(sorted(found.values()))

    def object(self, name: str) -> dict[str, Json]:
        """An object; empty when there is none."""
        value = self.raw.get(name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self._wrong(name)
        return {}


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return None
    try:
        return float(value[:30])
    except ValueError:
        return None
