"""A line at the edge of a screen in which words are typed: hidden until it is opened, a sign before the words."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.fields import LineInput


class WordsLine(Horizontal):
    """The line. What it does with the words is its subclass's.

    Args:
        sign: what stands before the words.
        id: of the widget.
        line: in which they are typed, if it is a line of its own kind.
    """

    DEFAULT_CSS = """
    WordsLine {
        height: 1; display: none; background: $panel;
        & .sign { width: auto; color: $accent; text-style: bold; }
        & LineInput { width: 1fr; background: $panel; }
        & .count { width: auto; color: $muted; padding: 0 1; }
        &.-open { display: block; }
    }
    """

    def __init__(self, sign: str, *, id: str, line: LineInput | None = None) -> None:
        super().__init__(id=id)
        self.line = line or LineInput()
        """The words."""
        self._sign = Static(sign, classes="sign", markup=False)
        self._count = Static("", classes="count", markup=False)

    def compose(self) -> ComposeResult:
        """The sign, the words, the count."""
        yield self._sign
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
