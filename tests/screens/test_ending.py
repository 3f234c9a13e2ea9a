"""How the program ends in a real pseudo-terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest
from textual.worker import WorkerFailed

from marginalia_tui.services.editing import drafts
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.screens.rig import Rig, lamp_home, play

ROOT = Path(__file__).parents[2]
SECONDS = 30


@pytest.fixture
def studio(home: Path) -> Iterator[pexpect.spawn]:
    """The program on a home with a book, when its list is there."""
    lamp_home(home)
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    program = pexpect.spawn(
        sys.executable,
        ["-m", "marginalia_tui", "--home", str(home)],
        env=environment,
        dimensions=(24, 80),
        timeout=SECONDS,
        encoding="utf-8",
    )
    program.expect("The Lamp")
    yield program
    program.close(force=True)


def ended(program: pexpect.spawn) -> int:
    """The exit code."""
    program.expect(pexpect.EOF)
    program.wait()
    assert program.signalstatus is None
    status = program.exitstatus
    assert isinstance(status, int)
    return status


def test_q_ends_with_0(studio: pexpect.spawn) -> None:
    studio.send("q")
    assert ended(studio) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_with_its_number(studio: pexpect.spawn, number: signal.Signals) -> None:
    studio.kill(number)
    assert ended(studio) == 128 + number


def test_the_terminal_that_goes_away_keeps_what_was_typed(home: Path) -> None:
    lamp_home(home)
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "marginalia_tui", "--home", str(home)], environment)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        for keys, answer in ((b"", b"The Lamp"), (b"\r", b"went out at nine"), (b"e", b"editing part")):
            os.write(terminal, keys)
            _read_until(terminal, answer)
        os.write(terminal, b"Kept. ")
        _read_until(terminal, b"not saved")
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    assert os.waitstatus_to_exitcode(status) == 129
    with closing(Store.open(home)) as store, store.read() as tx:
        book = tx.space(LIBRARY).books()[0].uuid
        assert [draft.text[:9] for draft in drafts(tx, book)] == ["Kept. The"]


def _read_until(terminal: int, answer: bytes) -> None:
    written = b""
    while answer not in written:
        if not select.select([terminal], [], [], SECONDS)[0]:
            raise AssertionError(f"{answer!r} was never written: {written[-500:]!r}")
        written += os.read(terminal, 65_536)


def test_what_still_reads_while_the_studio_is_closed_is_no_fault(home: Path) -> None:
    """A commit of the runs that are parked has the screens read a store that is being closed."""

    async def fails() -> None:
        raise RuntimeError("the store is closed")

    async def steps(rig: Rig) -> None:
        rig.app.leaving = True
        rig.app.do(fails())
        await rig.settle()
        assert not rig.app.return_code

    play(home, steps)

    async def steps_before(rig: Rig) -> None:
        rig.app.do(fails())
        await rig.settle()

    with pytest.raises(WorkerFailed, match="the store is closed"):
        play(home, steps_before)
