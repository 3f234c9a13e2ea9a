"""Asking for a key by having it pressed."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.host import key_words
from marginalia_tui.widgets.dialogs import BOX, words


class KeyPress(ModalScreen[str | None]):
    """Dismissed with the name of the key that was pressed and then kept by Enter; Esc answers None.

    Args:
        what: what the key is to do.
        now: the keys that do it now.
        judge: a sentence about a key, such as what else has it; empty for none.
    """

    DEFAULT_CSS = f"KeyPress {{ {BOX} }}"

    def __init__(self, what: str, now: str, judge: Callable[[str], str]) -> None:
        super().__init__()
        self.what, self.now, self.judge = what, now, judge
        self.key = ""

    def compose(self) -> ComposeResult:
        """The question, the key, what is said of it."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = visible_line(self.what)
            yield words(f"Now: {self.now}\n\nPress the key that shall do it.")
            yield Static("\n\n", id="pressed", markup=False)
            yield words("Enter keeps the pressed key   Esc leaves it", "dialog--keys")

    def on_key(self, event: events.Key) -> None:
        """A key: the answer to the question, or the end of it."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter" and self.key:
            self.dismiss(self.key)
        elif event.key != "enter":
            self.key = event.key
            judged = self.judge(event.key)
            self.query_one("#pressed", Static).update(f"\n{key_words(event.key)}{'  ' + judged if judged else ''}\n")
