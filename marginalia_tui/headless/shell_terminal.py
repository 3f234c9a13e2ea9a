"""The terminal of the shell without any tricks: Ctrl-C, a line that is typed, a word on the side.

A line is edited by the terminal itself, so that it works in a dumb one and is read out by a screen reader.
"""

import os
import shutil
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

from marginalia_tui.commands.running import CommandRun
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.headless.output import say, write_aside
from marginalia_tui.widgets.text import crop

LINE = 4095
"""Bytes of a line that the line editing of a terminal takes; it drops the rest without a word."""
_SOON = 0.4
"""Seconds after which a command that still runs is spoken of."""
_SELDOM = 3.0
"""Seconds between two words about it where each is a new line."""


def is_terminal(stream: object) -> bool:
    """Whether a stream is there and is a terminal."""
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and bool(isatty())


def can_draw() -> bool:
    """Whether the cursor can be moved about in the terminal that results go to."""
    dumb = os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")
    return not dumb and is_terminal(sys.stdout) and is_terminal(sys.stderr)


def width() -> int:
    """Cells of a line of the terminal."""
    return max(20, shutil.get_terminal_size().columns)


class Interrupts:
    """What Ctrl-C does while this is entered: nothing, or what `to` says. Only for the main thread."""

    def __init__(self) -> None:
        self._action: Callable[[], object] | None = None

    def __enter__(self) -> "Interrupts":
        self._before = signal.signal(signal.SIGINT, self._caught)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self._action is not None:
            self._action()

    @contextmanager
    def to(self, action: Callable[[], object]) -> Iterator[None]:
        """Has Ctrl-C do something for a while; it is called between any two steps of this thread."""
        before, self._action = self._action, action
        try:
            yield
        finally:
            self._action = before


def interrupt() -> None:
    """Ends a wait for a line.

    Raises:
        KeyboardInterrupt: always.
    """
    raise KeyboardInterrupt


def read_typed() -> str:
    """A line that is typed, without its end.

    Raises:
        EOFError: there will be none, or the terminal is gone.
        Invalid: it is longer than a terminal takes, or no UTF-8.
    """
    try:
        data = sys.stdin.buffer.readline()
    except OSError:
        data = b""
    if not data:
        raise EOFError
    data = data.rstrip(b"\r\n")
    if len(data) >= LINE:
        raise Invalid("The line is longer than this terminal takes: send long texts through a pipe.")
    return decoded(data, "The line")


def decoded(data: bytes, what: str) -> str:
    """The text of a line.

    Raises:
        Invalid: it is no UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid(f"{what} is no UTF-8 text: send it as UTF-8.") from None


def forget_typed() -> None:
    """Drops what was typed before it was asked for, so that it answers no question."""
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


class StatusLine:
    """What a command is doing: on one line that is written over, or as a word now and then.

    Args:
        draws: whether the terminal can write over a line.
    """

    def __init__(self, *, draws: bool) -> None:
        self._draws = draws
        self._drawn = False
        self._told = ""
        self._next = 0.0

    def show(self, run: CommandRun | None) -> None:
        """Shows how far it is; nothing of one that has only begun, or where no terminal is."""
        if run is None or run.seconds < _SOON or not is_terminal(sys.stderr):
            return
        words = visible_line(run.status.words or run.command.title)
        if self._draws:
            stops = "it can't be stopped now" if run.status.uninterruptible else "Ctrl-C stops it"
            line = f"{words}, {run.seconds:.0f} s, {stops}"
            write_aside("\r\x1b[K" + crop(line, width() - 1))
            self._drawn = True
        elif words != self._told and time.monotonic() >= self._next:
            say(crop(words, width()))
            self._told, self._next = words, time.monotonic() + _SELDOM

    def clear(self) -> None:
        """Makes room for something else."""
        if self._drawn:
            write_aside("\r\x1b[K")
        self._drawn, self._told = False, ""
