"""Finding words in all parts of the branch: the line at the bottom, and where the finding stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput

if TYPE_CHECKING:
    from marginalia_tui.desk.book import Place


class FindLine(Horizontal):
    """The line in which words are typed; `Wanted` tells them, `Closed` that the finding is over."""

    DEFAULT_CSS = """
    FindLine {
        height: 1; display: none; background: $panel;
        & #find-sign { width: auto; color: $accent; text-style: bold; }
        & #find-words { width: 1fr; background: $panel; }
        & #find-count { width: auto; color: $muted; padding: 0 1; }
        &.-open { display: block; }
    }
    """
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
        super().__init__(id=id)
        self.line = LineInput(id="find-words")
        """The words."""
        self._count = Static("", id="find-count", markup=False)

    def compose(self) -> ComposeResult:
        """The sign, the words, the count."""
        yield Static("find ", id="find-sign", markup=False)
        yield self.line
        yield self._count

    def open(self) -> None:
        """Shows the line and gives it the focus."""
        self.add_class("-open")
        self.line.select_all()
        self.line.focus()

    def close(self) -> None:
        """Hides the line."""
        self.remove_class("-open")
        self.say("")

    def say(self, text: str) -> None:
        """What stands behind the words."""
        self._count.update(visible_line(text))

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
