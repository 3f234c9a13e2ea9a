"""A line in which words are typed that restrict what a list shows, at every key.

The focus moves while the key is handled that moves it: the next key, which may have come with it, is for the list.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from marginalia_tui.widgets.fields import LineInput
from marginalia_tui.widgets.wordsline import WordsLine


class WordsInput(LineInput):
    """The words; Enter leaves the line at once."""

    def submit(self) -> None:
        """Enter: to the list."""
        place = self.parent
        assert isinstance(place, ShelfFilter)
        place.action_leave()


class ShelfFilter(WordsLine):
    """The line; `Changed` tells the words.

    Args:
        list: what has the keys when the line is left.
        id: of the widget.
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
        super().__init__("show ", id=id, line=WordsInput())
        self._list = list

    @property
    def words(self) -> str:
        """What is typed; empty when the line is closed."""
        return self.line.content.strip() if self.has_class("-open") else ""

    def open(self) -> None:
        """Shows the line and gives it the focus."""
        self.add_class("-open")
        self.screen.set_focus(self.line)

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
