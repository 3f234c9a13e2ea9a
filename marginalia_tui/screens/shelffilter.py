"""A line in which words are typed that restrict what a list shows, at every key.

The focus moves while the key is handled that moves it: the next key, which may have come with it, is for the list.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.fields import LineInput


class WordsInput(LineInput):
    """The words; Enter leaves the line at once."""

    def submit(self) -> None:
        """Enter: to the list."""
        place = self.parent
        assert isinstance(place, ShelfFilter)
        place.action_leave()


class ShelfFilter(Horizontal):
    """The line; `Changed` tells the words.

    Args:
        list: what has the keys when the line is left.
        id: of the widget.
    """

    DEFAULT_CSS = """
    ShelfFilter {
        height: 1; display: none; background: $panel;
        & #shelf-sign { width: auto; color: $accent; text-style: bold; }
        & #shelf-words { width: 1fr; background: $panel; }
        & #shelf-count { width: auto; color: $muted; padding: 0 1; }
        &.-open { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "show all again", id="shelf.close"),
        Binding("down,tab", "leave", "to the list", show=False, id="shelf.leave", priority=True),
    ]

    @dataclass
    class Changed(Message):
        """Other words."""

        words: str

    def __init__(self, list: Widget, *, id: str) -> None:
        super().__init__(id=id)
        self._list = list
        self.line = WordsInput(id="shelf-words")
        """The words."""
        self._count = Static("", id="shelf-count", markup=False)

    def compose(self) -> ComposeResult:
        """The sign, the words, the count."""
        yield Static("show ", id="shelf-sign", markup=False)
        yield self.line
        yield self._count

    @property
    def words(self) -> str:
        """What is typed; empty when the line is closed."""
        return self.line.content.strip() if self.has_class("-open") else ""

    def open(self) -> None:
        """Shows the line and gives it the focus."""
        self.add_class("-open")
        self.screen.set_focus(self.line)

    def say(self, text: str) -> None:
        """What stands behind the words."""
        self._count.update(visible_line(text))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """At every key."""
        event.stop()
        self.post_message(self.Changed(self.words))

    def action_leave(self) -> None:
        """To the list; one without words goes away."""
        if self.words:
            self.screen.set_focus(self._list)
        else:
            self.action_close()

    def action_close(self) -> None:
        """Shows everything again."""
        self.remove_class("-open")
        self.line.load_text("")
        self.post_message(self.Changed(""))
        self.screen.set_focus(self._list)
