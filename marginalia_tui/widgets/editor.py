"""Text areas that move by grapheme clusters, show control characters and lose no character.

Textual's `TextArea` moves by code points, writes control characters to the terminal as they are, and takes
form feeds and line separators for line ends. `Editor` mends these three; `SubmitArea` is one that Enter sends.
"""

import re
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Location
from wcwidth import iter_graphemes

from marginalia_tui.domain.visible import CONTROLS

_SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\r"
_HIDDEN = {ord(sign): chr(0xF0000 + number) for number, sign in enumerate(_SEPARATORS)}
"""What `str.splitlines` takes for a line end, as private characters while it is edited."""
_BACK = {ord(hidden): chr(sign) for sign, hidden in _HIDDEN.items()}
_SHOWN = {code: sign for code, sign in CONTROLS.items() if code not in (0x09, 0x0A)}
_SHOWN.update({ord(hidden): CONTROLS[sign] for sign, hidden in _HIDDEN.items()})
_UNSAFE = re.compile("[" + re.escape("".join(map(chr, _SHOWN))) + "]")


class Editor(TextArea):
    """A text area for prose. `content` is the text, exactly as it was given (`text` may differ in line ends)."""

    DEFAULT_CSS = """
    Editor {
        border: none;
        padding: 0 1;
        background: $background;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & .text-area--cursor-line { background: $background; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "go_document(False)", "Start", show=False, id="editor.home"),
        Binding("ctrl+end", "go_document(True)", "End", show=False, id="editor.end"),
    ]

    def __init__(
        self,
        text: str = "",
        *,
        placeholder: str = "",
        id: str | None = None,
        classes: str | None = None,
        read_only: bool = False,
    ) -> None:
        """Makes an editor.

        Args:
            text: what it begins with.
            placeholder: what an empty one says.
            id: of the widget.
            classes: of the widget.
            read_only: whether it may only be read.
        """
        super().__init__(
            text.translate(_HIDDEN),
            id=id,
            classes=classes,
            read_only=read_only,
            placeholder=placeholder,
            highlight_cursor_line=False,
        )
        # A blinking cursor is a write to the terminal twice a second, over SSH too.
        self.cursor_blink = False

    @property
    def content(self) -> str:
        """The text."""
        return self.text.translate(_BACK)

    @content.setter
    def content(self, text: str) -> None:
        self.load_text(text.translate(_HIDDEN))

    @property
    def cursor_index(self) -> int:
        """The place of the cursor in `content`."""
        return self.index_of(self.cursor_location)

    def index_of(self, location: Location) -> int:
        """The place in `content` of a row and column."""
        row, column = location
        return sum(len(self.document.get_line(each)) + 1 for each in range(row)) + column

    def location_of(self, index: int) -> Location:
        """The row and column of a place in `content`."""
        before = self.content[:index]
        return before.count("\n"), len(before) - (before.rfind("\n") + 1)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: control characters as signs, one for one."""
        line = super().get_line(line_index)
        if _UNSAFE.search(line.plain):
            line.plain = line.plain.translate(_SHOWN)
        return line

    def _recompute_cursor_offset(self) -> None:
        # An undo that takes a scrollbar away asks for the cursor before it moved back into the shorter text.
        if self.cursor_location[0] < self.document.line_count:
            super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]

    def get_cursor_left_location(self) -> Location:
        """The beginning of the cluster before the cursor."""
        row, column = self.cursor_location
        if column == 0:
            return super().get_cursor_left_location()
        # A cluster is short, but what stands before decides where it begins: a window is enough.
        start = max(0, column - 64)
        clusters = list(iter_graphemes(self.document.get_line(row)[start:column]))
        return row, column - len(clusters[-1])

    def get_cursor_right_location(self) -> Location:
        """The end of the cluster after the cursor."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if column >= len(line):
            return super().get_cursor_right_location()
        return row, column + len(next(iter_graphemes(line[column : column + 64])))

    def action_go_document(self, end: bool) -> None:
        """Goes to the first or the last place of the text."""
        self.move_cursor(self.document.end if end else (0, 0))

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if not self.read_only:
            self.paste(event.text)

    def paste(self, text: str) -> None:
        """Inserts a text at the cursor as one edit, which one undo takes back."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_HIDDEN)
        self.history.checkpoint()
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)
        self.history.checkpoint()

    def put(self, start: Location, end: Location, text: str) -> None:
        """Puts a text in the place of another as one edit, which one undo takes back; the cursor stands behind it."""
        self.history.checkpoint()
        result = self.replace(text.translate(_HIDDEN), start, end, maintain_selection_offset=False)
        self.move_cursor(result.end_location)
        self.history.checkpoint()


_BURST = 12
"""Keys within `_BURST_TIME` seconds: no person types like this, so an Enter among them is part of a paste."""
_BURST_TIME = 0.04


class SubmitArea(Editor):
    """An editor that Enter sends; Ctrl+J makes a new line. It grows with its text."""

    DEFAULT_CSS = """
    SubmitArea {
        height: auto;
        max-height: 6;
        padding: 0;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter", "newline", "New line", show=False, id="submit.newline"),
    ]

    takes_bursts: ClassVar[bool] = True
    """Whether an Enter among keys that come faster than anybody types is a new line: a text was pasted by a terminal
    that does not say so. Where lines are short it is an Enter: a slow connection brings many keys at once."""

    @dataclass
    class Submitted(Message):
        """Enter was pressed; the text is still in the area."""

        area: "SubmitArea"
        text: str

        @property
        def control(self) -> "SubmitArea":
            """The area."""
            return self.area

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(text, placeholder=placeholder, id=id)
        self._times: deque[float] = deque(maxlen=_BURST)

    async def _on_key(self, event: events.Key) -> None:
        self._times.append(event.time)
        if event.key != "enter":
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if self.takes_bursts and len(self._times) == _BURST and event.time - self._times[0] < _BURST_TIME:
            self.action_newline()
        else:
            self.submit()

    def submit(self) -> None:
        """Posts `Submitted`."""
        self.post_message(self.Submitted(self, self.content))

    def action_newline(self) -> None:
        """Inserts a line feed."""
        self._replace_via_keyboard("\n", *self.selection)
