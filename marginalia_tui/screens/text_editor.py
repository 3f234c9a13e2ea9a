"""A text to write by hand, over the whole screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line


class TextEditor(ModalScreen[str | None]):
    """Ctrl+S answers with the text, Esc with None.

    Args:
        text: what stands there first.
        title: what it is.
    """

    DEFAULT_CSS = """
    TextEditor {
        & > Vertical { background: $background; padding: 0 1; }
        & #title { height: 1; color: $accent; text-style: bold; }
        & #keys { height: 1; color: $muted; }
        & TextArea { height: 1fr; border: none; max-width: 84; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f10", "keep", "Keep", id="text_editor.keep", priority=True),
        Binding("escape", "cancel", "Cancel", id="text_editor.cancel", priority=True),
    ]

    def __init__(self, text: str, *, title: str) -> None:
        super().__init__()
        self._text, self._title = text, title

    def compose(self) -> ComposeResult:
        """The text between two lines."""
        with Vertical():
            yield Static(visible_line(self._title), id="title", markup=False)
            yield TextArea(self._text, soft_wrap=True)
            yield Static("Ctrl+S keeps it, Esc leaves it as it was", id="keys", markup=False)

    def on_mount(self) -> None:
        """The text has the focus."""
        self.query_one(TextArea).focus()

    def action_keep(self) -> None:
        """Dismisses with the text."""
        self.dismiss(self.query_one(TextArea).text)

    def action_cancel(self) -> None:
        """Dismisses with None."""
        self.dismiss(None)
