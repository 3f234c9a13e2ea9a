"""The outline of a book: its parts in reading order, one line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment

from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.text import cells, fit

NARROW = 34
"""Cells below which titles that would be cut off have the room of the words."""


@dataclass(frozen=True, slots=True)
class Part:
    """A row of the outline.

    `swipe` and `swipes` say which version it is and of how many; `changed` puts a `*` behind it; `sign` is one
    more character of the caller's (`!` for a conflict, `a` where an agent works).
    """

    key: str
    number: int
    title: str
    words: int
    swipe: int = 1
    swipes: int = 1
    changed: bool = False
    sign: str = ""


class Outline(RowView):
    """The parts of a branch. `show(parts)` fills it with any number of them at once.

    Messages: `Highlighted` when the cursor moves, `Selected` on Enter. Digits go to a part by its number.
    """

    DEFAULT_CSS = """
    Outline {
        & > .outline--number { color: $muted; }
        & > .outline--words { color: $muted; }
        & > .outline--swipe { color: $muted; }
        & > .outline--sign { color: $attention; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "outline--number",
        "outline--words",
        "outline--swipe",
        "outline--sign",
    }

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(empty=empty, id=id, classes=classes)
        self.parts: Sequence[Part] = ()
        self._digits = 1
        self._words = 1
        self._longest = 0

    def show(self, parts: Sequence[Part], *, key: str | None = None) -> None:
        """Shows parts.

        Args:
            parts: in reading order, or those that fit a search, the likeliest first.
            key: the part the cursor goes to; None keeps it on the part that it stands on.
        """
        key = self.current_key if key is None and self.parts else key
        self.parts = parts
        self._digits = len(str(max(part.number for part in parts))) if parts else 1
        self._words = len(f"{max(part.words for part in parts):,}") if parts else 1
        self._longest = max((len(part.title) + (4 if part.swipes > 1 else 0) for part in parts), default=0)
        self.rows_changed(key=key)

    def row_count(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    def row_key(self, index: int) -> str:
        """The key of a part."""
        return self.parts[index].key

    def row_words(self, index: int) -> str:
        """Its title."""
        return self.parts[index].title

    def row_numbered(self, number: int) -> int:
        """The part with a number."""
        return number - self.parts[0].number if self.parts else 0

    def row_segments(self, index: int, width: int) -> list[Segment]:
        """Number, title, swipe, words, sign."""
        part = self.parts[index]
        number = fit(str(part.number), self._digits, "right") + " "
        swipe = f" {part.swipe}/{part.swipes}" if part.swipes > 1 else ""
        words = " " + fit(f"{part.words:,}", self._words, "right")
        sign = " " + fit(part.sign or ("*" if part.changed else ""), 1)
        room = width - cells(number) - cells(swipe) - cells(words) - 2
        if room < 8 or (width < NARROW and width - cells(number) - cells(words) - 2 < self._longest):
            words = ""
            room = width - cells(number) - cells(swipe) - 2
        return [
            Segment(number, self.style("outline--number")),
            Segment(fit(part.title or "(no title)", max(0, room))),
            Segment(swipe, self.style("outline--swipe")),
            Segment(words, self.style("outline--words")),
            Segment(sign, self.style("outline--sign")),
        ]
