"""Server-sent events, read as they arrive.

A pure machine: bytes go in, in pieces of any size, whole events come out. It follows the format of the HTML
standard (three kinds of line ends, comments, a byte order mark, several `data` lines in one event) and adds
bounds, since the other side is not trusted: a line or an event that never ends is an error and not memory.
"""

from dataclasses import dataclass

from marginalia_tui.llm.errors import ModelFault, Reason

MAX_LINE = 8 * 1024 * 1024
"""Bytes of one line; a whole answer that is sent as one event still fits."""
MAX_EVENT = 16 * 1024 * 1024
"""Bytes of the data of one event."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its type (`message` unless the server named one) and its data, lines joined by a newline."""

    name: str
    data: str


class EventParser:
    """Bytes to events. `feed` what arrives, `close` at the end of the stream.

    `comments` counts the comment lines so far: a stream of nothing else is told apart from an empty one.
    """

    def __init__(self) -> None:
        self.comments = 0
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []
        self._data_size = 0

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Take a piece of the stream.

        Returns:
            The events that became whole, in order.

        Raises:
            ModelFault: a line or an event passed its bound.
        """
        if self._after_cr and piece:
            self._after_cr = False
            if piece.startswith(b"\n"):
                piece = piece[1:]
        lines = piece.splitlines(keepends=True)
        events: list[ServerEvent] = []
        for line in lines:
            body = line.rstrip(b"\r\n")
            if len(body) == len(line):
                self._keep(line)
                continue
            self._take(self._whole(body), events)
        if lines and lines[-1].endswith(b"\r"):
            self._after_cr = True
        return events

    def close(self) -> list[ServerEvent]:
        """End the stream: what is left is given as an event, though its blank line never came."""
        events: list[ServerEvent] = []
        if self._tail:
            self._take(self._whole(b""), events)
        self._dispatch(events)
        return events

    def _keep(self, piece: bytes) -> None:
        self._tail_size += len(piece)
        if self._tail_size > MAX_LINE:
            raise ModelFault(Reason.BROKEN, "The server sent a line that does not end: the answer was given up.")
        self._tail.append(piece)

    def _whole(self, body: bytes) -> bytes:
        if self._tail:
            self._keep(body)
            body = b"".join(self._tail)
            self._tail.clear()
            self._tail_size = 0
        if self._first:
            self._first = False
            body = body.removeprefix(_BOM)
        return body

    def _take(self, line: bytes, events: list[ServerEvent]) -> None:
        if not line:
            self._dispatch(events)
            return
        if line.startswith(b":"):
            self.comments += 1
            return
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data_size += len(line)
            if self._data_size > MAX_EVENT:
                raise ModelFault(Reason.BROKEN, "The server sent an event without an end: the answer was given up.")
            self._data.append(value)

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._data:
            events.append(ServerEvent(self._name or "message", "\n".join(self._data)))
        self._name = ""
        self._data = []
        self._data_size = 0
