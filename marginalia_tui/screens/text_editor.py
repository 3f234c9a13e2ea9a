"""A text to write by hand, over the whole screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.editor import Editor


class TextEditor(ModalScreen[str | None]):
    """Ctrl+S answers with the text, Esc with None.

    Args:
        text: what stands there first.
        title: what it is.
    """

    DEFAULT_CSS = """
    TextEditor {
        & > Vertical { background: $background; align-horizontal: center; }
        & #title { height: 1; padding: 0 1; background: $panel; color: $accent; text-style: bold; }
        & #keys { height: 1; padding: 0 1; background: $panel; color: $muted; }
        & Editor { height: 1fr; max-width: 84; margin: 1 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f10", "keep", "Keep", id="text_editor.keep", priority=True),
        Binding("escape", "cancel", "Cancel", id="text_editor.cancel", priority=True),
    ]

    def __init__(self, text: str, *, title: str) -> None:
        super().__init__()
        self._title = title
        self.area = Editor(text)
        """Where it is written."""

    def compose(self) -> ComposeResult:
        """The text between two lines."""
        with Vertical():
            yield Static(visible_line(self._title), id="title", markup=False)
            yield self.area
            yield Static("Ctrl+S keeps it   Esc leaves it as it was", id="keys", markup=False)

    def on_mount(self) -> None:
        """The text has the focus."""
        self.area.focus()

    def action_keep(self) -> None:
        """Dismisses with the text."""
        self.dismiss(self.area.content)

    def action_cancel(self) -> None:
        """Dismisses with None."""
        self.dismiss(None)
