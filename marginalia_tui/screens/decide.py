"""A question with a few answers, each by its key."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.dialogs import BOX, words


@dataclass(frozen=True, slots=True)
class Way:
    """One answer: its key, the words for it, the value."""

    key: str
    words: str
    value: str


class Decide(ModalScreen[str | None]):
    """Dismissed with the value of the answer; Esc answers None.

    Args:
        title: of the box.
        question: one sentence or a few.
        ways: the answers.
        stay: what Esc means, in a word or two.
    """

    DEFAULT_CSS = f"Decide {{ {BOX} }}"

    def __init__(self, title: str, question: str, ways: Sequence[Way], *, stay: str = "go back") -> None:
        super().__init__()
        self.heading, self.question, self.ways, self.stay = title, question, tuple(ways), stay

    def compose(self) -> ComposeResult:
        """The question and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = visible_line(self.heading)
            with VerticalScroll(classes="dialog--scroll"):
                yield words(self.question + "\n")
                for way in self.ways:
                    yield words(f"{way.key}  {way.words}")
                yield words(f"Esc  {self.stay}\n")

    def on_key(self, event: events.Key) -> None:
        """A key answers."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)
            return
        for way in self.ways:
            if event.character == way.key:
                event.stop()
                self.dismiss(way.value)
