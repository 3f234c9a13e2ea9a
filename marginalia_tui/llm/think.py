"""Thinking that a server left inside of the answer, between `<think>` and `</think>`.

Some servers part a model's thinking from its answer, some send both as text. Only the very start of an answer
is looked at: a manuscript may speak of `<think>` anywhere else and is left alone. Nothing is lost: what is not
text comes out as reasoning. Two cases can only be judged at the end of the answer:

- the tag was opened and never closed: when the model stopped by itself, it was the author's literal, and all
  of it is given again as text;
- only the closing tag was there (the template of the model had opened it): `late_close` parts the whole text.
"""

import re
from typing import Literal

OPEN = "<think>"
CLOSE = "</think>"

Piece = tuple[Literal["text", "reasoning"], str]

_CLOSE_ALONE = re.compile(r"(?:\A|\n)[ \t]*</think>[ \t]*(?:\n+|\Z)")


class ThinkFilter:
    """Parts a stream of text into text and reasoning; tags may be split over pieces.

    `state` is `start` (blank, or a part of the opening tag so far), `inside`, `after` (closed: blank lines
    before the answer are dropped) or `plain` (everything is text).
    """

    def __init__(self) -> None:
        self.state: Literal["start", "inside", "after", "plain"] = "start"
        self._held = ""
        self._thought: list[str] = []

    def plain(self) -> list[Piece]:
        """The server parts the two itself: from here on all is text. Gives what was held back."""
        if self.state == "plain":
            return []
        held, self._held, self.state = self._held, "", "plain"
        return [("text", held)] if held else []

    def feed(self, text: str) -> list[Piece]:
        """The next piece of the answer, parted."""
        if self.state == "plain":
            return [("text", text)] if text else []
        self._held += text
        out: list[Piece] = []
        if self.state == "start":
            self._start(out)
        if self.state == "inside":
            self._inside(out)
        if self.state == "after":
            self._after(out)
        return out

    def close(self, *, stopped: bool) -> list[Piece]:
        """The answer is over; `stopped` when the model ended it by itself, with text and no calls."""
        held, self._held = self._held, ""
        if self.state == "inside":
            out: list[Piece] = [("reasoning", held)] if held else []
            if stopped:
                out.append(("text", OPEN + "".join(self._thought) + held))
            return out
        if self.state == "after":
            return []
        return [("text", held)] if held else []

    def _start(self, out: list[Piece]) -> None:
        body = self._held.lstrip()
        if body.startswith(OPEN):
            self._held = body[len(OPEN) :]
            self.state = "inside"
        elif not OPEN.startswith(body):
            out.extend(self.plain())

    def _inside(self, out: list[Piece]) -> None:
        thought, tag, rest = self._held.partition(CLOSE)
        if tag:
            self.state, self._held = "after", rest
        else:
            keep = _tail_of_tag(thought)
            thought, self._held = thought[: len(thought) - keep], thought[len(thought) - keep :]
        if thought:
            self._thought.append(thought)
            out.append(("reasoning", thought))

    def _after(self, out: list[Piece]) -> None:
        self._held = self._held.lstrip()
        if self._held:
            out.extend(self.plain())


def _tail_of_tag(text: str) -> int:
    """How many characters at the end could be the start of the closing tag."""
    for size in range(min(len(CLOSE) - 1, len(text)), 0, -1):
        if CLOSE.startswith(text[-size:]):
            return size
    return 0


def late_close(text: str) -> tuple[str, str] | None:
    """Part an answer that has a closing tag alone on a line and no opening one.

    Returns:
        The reasoning and the text, or None when the answer is not of that shape.
    """
    if text.count(CLOSE) != 1 or OPEN in text:
        return None
    found = _CLOSE_ALONE.search(text)
    if found is None:
        return None
    return text[: found.start()], text[found.end() :]
