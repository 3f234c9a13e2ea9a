"""The box in which the author writes to an agent."""

import re
from dataclasses import dataclass

from textual.message import Message

from marginalia_tui.widgets.editor import SubmitArea

LARGE_LINES = 12
"""A paste with more lines stands as a word in the box; it is sent whole."""
LARGE_CHARACTERS = 2_000
_PLACEHOLDER = re.compile(r"\[pasted (\d+): [\d,]+ (?:lines|characters)\]")


class PromptBox(SubmitArea):
    """A box that grows to six lines. Enter posts `Sent` and empties it, Ctrl+J makes a new line.

    A large paste is shown as `[pasted 1: 240 lines]`; what is sent holds the text in its place.
    """

    DEFAULT_CSS = """
    PromptBox {
        border-top: solid $rule;
        max-height: 7;
        &:focus { border-top: solid $accent; }
    }
    """

    @dataclass
    class Sent(Message):
        """The author sent a text; never empty."""

        box: "PromptBox"
        text: str

        @property
        def control(self) -> "PromptBox":
            """The box."""
            return self.box

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id)
        self._pastes: list[str] = []

    def paste(self, text: str) -> None:
        """Inserts a text; a large one as a word that stands for it."""
        lines = text.count("\n") + 1
        if lines > LARGE_LINES or len(text) > LARGE_CHARACTERS:
            self._pastes.append(text.replace("\r\n", "\n").replace("\r", "\n"))
            size = f"{lines:,} lines" if lines > LARGE_LINES else f"{len(text):,} characters"
            text = f"[pasted {len(self._pastes)}: {size}]"
        super().paste(text)

    @property
    def message(self) -> str:
        """The text with each large paste in its place."""

        def expand(found: re.Match[str]) -> str:
            number = int(found.group(1))
            return self._pastes[number - 1] if 0 < number <= len(self._pastes) else found.group(0)

        return _PLACEHOLDER.sub(expand, self.content)

    def submit(self) -> None:
        """Posts `Sent` unless there is nothing to send."""
        text = self.message
        if text.strip():
            self.clear_message()
            self.post_message(self.Sent(self, text))

    def clear_message(self) -> None:
        """Empties the box."""
        self.content = ""
        self._pastes.clear()
