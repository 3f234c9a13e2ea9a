"""Finding words in all parts of the branch: the line at the bottom, and where the finding stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.wordsline import WordsLine

if TYPE_CHECKING:
    from marginalia_tui.desk.book import Place


class FindLine(WordsLine):
    """The line in which words are typed; `Wanted` tells them, `Closed` that the finding is over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "end the search", id="find.close"),
        Binding("down,ctrl+f", "step(1)", "next", show=False, id="find.next", priority=True),
        Binding("up", "step(-1)", "previous", show=False, id="find.previous", priority=True),
    ]

    @dataclass
    class Wanted(Message):
        """Words to find."""

        query: str

    @dataclass
    class Step(Message):
        """The next place, or the one before."""

        step: int

    @dataclass
    class Closed(Message):
        """The search is over."""

    def __init__(self, id: str) -> None:
        super().__init__("find ", id=id)

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter."""
        event.stop()
        if event.text.strip():
            self.post_message(self.Wanted(event.text.strip()))

    def action_step(self, step: int) -> None:
        """Up and down."""
        self.post_message(self.Step(step))

    def action_close(self) -> None:
        """Esc."""
        self.post_message(self.Closed())


class Finding:
    """The places that a search found, and the one that is shown.

    Args:
        query: the words.
        places: in reading order.
    """

    def __init__(self, query: str, places: "Sequence[Place]") -> None:
        self.query = query
        self.places = places
        self.at = -1

    def begin(self, order: Sequence[str], part: str | None, offset: int) -> "Place | None":
        """The first place at or behind an offset of a part, else the first of all."""
        rank = {uuid: number for number, uuid in enumerate(order)}
        here = (rank.get(part or "", 0), offset)
        following = (
            number for number, place in enumerate(self.places) if (rank.get(place.part, 0), place.start) >= here
        )
        self.at = next(following, 0)
        return self.current

    def step(self, step: int) -> "Place | None":
        """The next place or the one before, round the end."""
        if self.places:
            self.at = (self.at + step) % len(self.places)
        return self.current

    @property
    def current(self) -> "Place | None":
        """The place that is shown."""
        return self.places[self.at] if 0 <= self.at < len(self.places) else None

    def words(self) -> str:
        """Where the finding stands: `3 of 17`."""
        return f"{self.at + 1:,} of {len(self.places):,}" if self.places else "not in this branch"
