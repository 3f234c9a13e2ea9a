"""The program as a person has it: in a pseudo-terminal of some size, with keys that are sent and a screen that is read.

    with Terminal(home, size=(80, 24)) as seen:
        seen.until("There is no book yet")
        seen.send("n")

Whoever waits, waits for what is to be seen, and reads what the program writes meanwhile. What stands on the screen is
worked out by pyte, a terminal of its own.
"""

import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pexpect
import pyte

from tests.support import warm
from tests.support.warm import ROOT as ROOT
from tests.support.warm import environment as environment

SECONDS = 45.0
"""How long a test waits for what must happen."""

QUIET = 0.05
"""Seconds without a byte after which a picture is whole."""
LONGEST_PICTURE = 1.0
"""Seconds after which one that is changed all the time is taken as it is."""

ENTER, ESCAPE, TAB, BACKSPACE = "\r", "\x1b", "\t", "\x7f"
UP, DOWN, LEFT, RIGHT = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
F8, CTRL_C, CTRL_S, CTRL_Q = "\x1b[19~", "\x03", "\x13", "\x11"


def program(*arguments: object) -> list[str]:
    """The command that runs the program with these arguments."""
    return [sys.executable, "-m", "marginalia_tui", *map(str, arguments)]


def say(home: Path, *verb: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a verb answers as JSON, in a process of its own."""
    command = program("--home", home, "--json", *verb)
    answered = warm.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment(), **options)
    assert isinstance(answered, subprocess.CompletedProcess)
    return answered


class _Warm(pexpect.spawn):  # type: ignore[misc]
    """A child in a terminal, of which all but its start is that of pexpect."""

    def _spawnpty(self, args: list[str], **options: Any) -> Any:
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, options["dimensions"])
        modes = termios.tcgetattr(its)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(its, termios.TCSANOW, modes)
        pid = warm.start(args, [its] * 3, options["env"], terminal=True)
        os.close(its)
        return pexpect.pty_spawn.ptyprocess.PtyProcess(pid, ours)


class Terminal:
    """The program in a pseudo-terminal.

    Args:
        arguments: those of the program.
        size: columns and lines.
        env: what its environment has more.
        under: a program that starts it, and has its command as arguments.
        cold: whether it is started as a person does. Otherwise it is forked from one that has imported everything,
            where its environment allows it: the toolkit reads its own when it is imported.
    """

    def __init__(
        self,
        *arguments: object,
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str] | None = None,
        under: Sequence[str] = (),
        cold: bool | None = None,
    ) -> None:
        columns, lines = size
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.written = b""
        """Everything that the program wrote."""
        command, *rest = [*under, *program(*arguments)]
        if cold is None:
            cold = bool(env or under)
        spawn = pexpect.spawn if cold or command != sys.executable or sys.platform != "linux" else _Warm
        self._child = spawn(
            command, rest, env=environment(**(env or {})), dimensions=(lines, columns), timeout=SECONDS, echo=False
        )
        self._child.delaybeforesend = None
        self._open = True

    @property
    def pid(self) -> int:
        """The process."""
        pid = self._child.pid
        assert isinstance(pid, int)
        return pid

    def send(self, *keys: str) -> None:
        """Presses keys."""
        for key in keys:
            self._child.send(key)

    def resize(self, columns: int, lines: int) -> None:
        """Gives the terminal another size."""
        self.screen.resize(lines, columns)
        self._child.setwinsize(lines, columns)

    def signal(self, number: signal.Signals) -> None:
        """Sends the program a signal."""
        os.kill(self.pid, number)

    # What is seen

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without the space at their ends."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The whole screen, each line on one of its own."""
        return "\n".join(self.lines)

    def sees(self, *texts: str) -> bool:
        """Whether all the texts stand on the screen."""
        return all(text in self.text for text in texts)

    def until(self, *texts: str, gone: Iterable[str] = (), seconds: float = SECONDS) -> None:
        """Reads on until all the texts stand on the screen, and none of those that are to be gone.

        A picture comes in pieces: the texts are looked for again when it is whole.
        """
        absent = tuple(gone)
        what = f"{texts}" + (f" without {absent}" if absent else "")

        def seen() -> bool:
            return self.sees(*texts) and not any(text in self.text for text in absent)

        self.wait(seen, what, seconds)
        while self._open and self._settle() and not seen():
            self.wait(seen, what, seconds)

    def _settle(self) -> bool:
        """Reads on until nothing comes for a moment, or something has come for long; whether anything did."""
        end = time.monotonic() + LONGEST_PICTURE
        came = False
        while self._open and time.monotonic() < end and self._read(QUIET):
            came = True
        return came

    def wait(self, condition: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
        """Reads on until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            assert self._open, f"the program ended before: {what}\n{self.text}\n{self.written[-3000:]!r}"
            assert left > 0, f"never: {what}\n{self.text}"
            self._read(min(left, 0.5))

    def _read(self, seconds: float) -> bool:
        """Reads what has come, or comes within so many seconds; whether anything did."""
        try:
            piece = self._child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            self._open = False
            return False
        self.written += piece
        self._stream.feed(piece)
        return True

    # The end

    def ended(self) -> int:
        """Reads to the end of the program and answers its exit code; a signal that killed it is negative."""
        end = time.monotonic() + SECONDS
        while self._open:
            assert time.monotonic() < end, f"the program does not end\n{self.text}"
            self._read(0.5)
        self._child.wait()
        if self._child.signalstatus is not None:
            return -int(self._child.signalstatus)
        return int(self._child.exitstatus)

    def hang_up(self) -> int:
        """Takes the terminal away, as a line that breaks does, and answers the exit code."""
        pid = self.pid
        # Whoever owns the file closes it: a second time its number may be that of another one.
        self._child.ptyproc.fileobj.close()
        _, status = os.waitpid(pid, 0)
        self._open = False
        self._child.closed, self._child.child_fd, self._child.terminated = True, -1, True
        return os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        """Kills it without a chance to do anything."""
        if self._child.isalive():
            self._child.kill(signal.SIGKILL)
        self._child.close(force=True)
        self._open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._child.closed:
            self.kill()
