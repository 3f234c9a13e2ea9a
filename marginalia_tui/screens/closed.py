"""What is shown when the studio can't be opened: one sentence, and what to do."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.widgets.dialogs import BOX, words


class ClosedScreen(ModalScreen[bool]):
    """Answers whether to try again; quitting answers no.

    Args:
        sentence: why the studio is not open.
    """

    DEFAULT_CSS = f"ClosedScreen {{ {BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "answer(True)", "Try again", id="closed.again"),
        Binding("q,escape,ctrl+q", "answer(False)", "Quit", id="closed.quit"),
    ]

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence

    def compose(self) -> ComposeResult:
        """The sentence and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = "The studio is not open"
            yield words(self.sentence + "\n")
            yield words("r try again   q quit", "dialog--keys")

    def action_answer(self, again: bool) -> None:
        """Dismisses with the answer."""
        self.dismiss(again)
