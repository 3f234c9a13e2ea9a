"""Answers have bounds: lists come in pages, texts in slices, and each says how much there is.

A list takes `offset` and `limit` (50, at most 200), a text `offset` and `length` (6,000 characters, at most
20,000). The parameter types, the helpers that cut, and the bases of the results stand here together.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.results import Prose, Result
from marginalia_tui.domain.sentences import counted

T = TypeVar("T")

LIMIT = 50
MAX_LIMIT = 200
LENGTH = 6_000
MAX_LENGTH = 20_000

Offset = Annotated[
    int,
    Field(ge=0),
    Param(
        "how many rows to skip",
        for_model="Rows to skip.",
    ),
]
Limit = Annotated[
    int,
    Field(ge=1, le=MAX_LIMIT),
    Param(
        f"how many rows to show, at most {MAX_LIMIT}",
        for_model="Rows to return.",
    ),
]
TextOffset = Annotated[
    int,
    Field(ge=0),
    Param(
        "at which character to begin",
        for_model="The character to begin at: nextOffset of the last answer reads on.",
    ),
]
TextLength = Annotated[
    int,
    Field(ge=1, le=MAX_LENGTH),
    Param(
        f"how many characters to show, at most {MAX_LENGTH:,}",
        for_model="Characters to return.",
    ),
]


class Page(Result):
    """A part of a list. A subclass adds the rows, and the word for one of them."""

    thing: ClassVar[tuple[str, str]] = ("row", "rows")

    total: int
    """Rows there are."""
    offset: int
    truncated: bool
    """Whether rows follow that are not here."""
    next_offset: int | None = None
    """The offset that reads on, when rows follow."""

    def sentence(self) -> str:
        """How many there are, and how to see the rest."""
        one, many = self.thing
        if self.total and self.offset >= self.total:
            return f"There are only {counted(self.total, one, many)}."
        if not self.offset and not self.truncated:
            return f"{counted(self.total, one, many).capitalize()}."
        end = self.next_offset or self.total
        more = f": offset {self.next_offset} shows more" if self.truncated else ""
        return f"{many.capitalize()} {self.offset + 1:,} to {end:,} of {self.total:,}{more}."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"total", "offset", "truncated", "next_offset"})


class Slice(Result):
    """A part of a text; positions count characters from 0."""

    text: Prose
    offset: int
    total_length: int
    truncated: bool
    """Whether text follows that is not here."""
    next_offset: int | None = None

    def untold(self) -> frozenset[str]:
        """A short text is shown without the numbers of its slice."""
        return frozenset() if self.truncated or self.offset else frozenset({"offset", "total_length", "truncated"})


def page_fields(total: int, offset: int, shown: int) -> dict[str, Any]:
    """The fields of `Page` for `shown` rows of `total` that begin at `offset`."""
    end = offset + shown
    truncated = shown > 0 and end < total
    return {"total": total, "offset": offset, "truncated": truncated, "next_offset": end if truncated else None}


def page_of(rows: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], dict[str, Any]]:
    """The rows of a page, and the fields of `Page` that go with them."""
    shown = rows[offset : offset + limit]
    return shown, page_fields(len(rows), offset, len(shown))


def slice_of(text: str, offset: int, length: int) -> dict[str, Any]:
    """The fields of `Slice` for a text."""
    end = min(offset + length, len(text))
    truncated = end < len(text)
    return {
        "text": text[offset:end],
        "offset": offset,
        "total_length": len(text),
        "truncated": truncated,
        "next_offset": end if truncated else None,
    }
