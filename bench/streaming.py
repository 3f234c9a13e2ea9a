"""Key press to screen while a long answer streams: the running app in a pseudo-terminal, against a server over HTTP.

A server sends 100,000 characters at 2,000 characters a second. The app shows the console of the run, the author
types into the box all the while, and each key is timed until it comes back as a letter that is drawn. The reference is
the same typing in the same app before the answer begins. After its end the typing goes on, so that the moment at
which the answer becomes a row counts too; then the stored answer is compared with what was sent.
"""

import fcntl
import multiprocessing
import os
import pty
import random
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pyte

from bench.measure import Figure, keep
from marginalia_tui.agent import transcript
from marginalia_tui.agent.runs import find_run
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.resources import sample_book
from marginalia_tui.services.models import save_model
from marginalia_tui.studio import Studio
from tests.support.runs import add_book
from tests.support.scripted_server import Pause, Reply, ScriptedServer, Step, call_chunks, chunk, stream, usage_chunk

LENGTH = 100_000
"""Characters of the answer."""
RATE = 2_000
"""Characters a second."""
PIECE = 20
"""Characters of a chunk: a hundred chunks a second, as quick servers send them."""
SIZE = (120, 40)
BEFORE = 60
"""Keys of the reference."""
AFTER_SECONDS = 3.0
"""How long is typed on after the end."""
APART = (0.05, 0.15)
"""Seconds between two keys."""
WANTED = {"p95": 50.0, "max": 150.0}
"""Milliseconds."""
QUESTION = "What next?"
"""A call that ends the turn, so that the author is asked."""
LETTERS = "\u0416\u0429\u042e\u042f\u0426\u0427\u0428\u042d\u0424\u0411\u0413\u0414\u0418\u041b\u041f\u0423"
"""What is typed, one after the other: letters that stand nowhere else on the screen."""


def answer() -> str:
    """The text that is streamed: the sample book, from its beginning, as often as it takes."""
    pages = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(sample_book().glob("*.md")))
    return (pages * (LENGTH // len(pages) + 1))[:LENGTH]


def _serve(text: str, pipe: Connection) -> None:
    """In a process of its own: sends the text in pieces, each at its time, once it is told to begin."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    gates = [threading.Event() for _ in pieces]
    steps: list[Step] = []
    for piece, gate in zip(pieces, gates, strict=True):
        steps += [Pause(gate), chunk({"content": piece})]
    asking = call_chunks(0, "ask_user", {"question": QUESTION})
    reply: Reply = stream(*steps, *asking, chunk({}, "tool_calls"), usage_chunk(1_000, len(text) // 4))
    with ScriptedServer([reply]) as server:
        pipe.send(server.url)
        pipe.recv()
        begun = time.perf_counter()
        for number, gate in enumerate(gates):
            time.sleep(max(0.0, begun + number * PIECE / RATE - time.perf_counter()))
            gate.set()
        pipe.send(time.perf_counter() - begun)
        pipe.recv()


class Terminal:
    """The app in a pseudo-terminal. What it draws is read at once and looked at as bytes, which takes no time.

    An emulator (which does) is used only to read a whole screen, before and after what is measured.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._pid, self._fd = 0, -1
        self._tail = b""
        self.bytes_read = 0

    def __enter__(self) -> "Terminal":
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PYTHONPATH=os.getcwd())
            os.environ.pop("SSH_CONNECTION", None)
            os.execv(sys.executable, [sys.executable, "-m", "marginalia_tui", "--home", str(self._home)])
        self._resize(SIZE)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)
        os.close(self._fd)
        os.waitpid(self._pid, 0)

    def _resize(self, size: tuple[int, int]) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def send(self, keys: str) -> float:
        """Presses keys; answers the moment. What was drawn until then is forgotten."""
        self._tail = b""
        at = time.perf_counter()
        os.write(self._fd, keys.encode())
        return at

    def read(self, seconds: float) -> bytes:
        """What is drawn next within a time; nothing when that is over."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        if not ready:
            return b""
        drawn = os.read(self._fd, 1 << 20)
        self.bytes_read += len(drawn)
        return drawn

    def see(self, words: str, seconds: float = 20.0) -> float:
        """Reads until something is drawn; answers the moment it was.

        Raises:
            TimeoutError: it was not drawn in time.
        """
        wanted = words.encode()
        end = time.perf_counter() + seconds
        while wanted not in self._tail:
            if time.perf_counter() > end:
                raise TimeoutError(f"{words!r} was not drawn. The screen:\n{self.screen()}")
            self._tail = self._tail[-len(wanted) :] + self.read(0.5)
        return time.perf_counter()

    def pass_time(self, seconds: float) -> None:
        """Reads for a while."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def screen(self) -> str:
        """The whole screen, drawn again for an emulator."""
        emulator = pyte.Screen(SIZE[0], SIZE[1] - 1)
        stream = pyte.ByteStream(emulator)
        self._resize((SIZE[0], SIZE[1] - 1))
        end = time.perf_counter() + 1.0
        while (left := end - time.perf_counter()) > 0:
            stream.feed(self.read(left))
        return "\n".join(emulator.display)


class Typist:
    """Types letters, one after the other, and tells for each how long it took to be seen."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._random = random.Random(7)
        self._count = 0

    def key(self) -> float:
        """Types a letter; answers the milliseconds until it was seen."""
        letter = LETTERS[self._count % len(LETTERS)]
        if letter == LETTERS[0] and self._count:
            self._terminal.send("\x15")  # Ctrl+U empties the line
            self._terminal.see("agent: Enter sends")
        self._count += 1
        sent = self._terminal.send(letter)
        seen = self._terminal.see(letter)
        self._terminal.pass_time(self._random.uniform(*APART))
        return (seen - sent) * 1000


def _prepare(home: Path, url: str) -> None:
    studio = Studio(home, pace=0)
    try:
        save_model(studio.store, ModelDefinition(name="streaming", base_url=url, model="scripted", context=128_000))
        book = add_book(studio.store, ["A short part."], "The Book")
        studio.add_agent(name="Streamer", book=book, model="streaming", instructions="Say something long.")
    finally:
        studio.close()


def _stored(home: Path) -> str:
    studio = Studio(home, pace=0)
    try:
        with studio.store.read() as tx:
            rows = transcript.entries(tx, find_run(tx, "latest").uuid)
        return next(row.message.text for row in rows if row.message.role == "assistant")
    finally:
        studio.close()


@dataclass
class Measured:
    """Milliseconds from key to screen, and what else was seen."""

    before: list[float]
    streaming: list[float]
    after: list[float]
    seconds: float
    bytes_drawn: int
    complete: bool
    seen_to_the_end: bool


def measure() -> Measured:
    """Runs the app once."""
    text = answer()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(text, there), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory(prefix="marginalia-bench-") as folder:
        home = Path(folder)
        _prepare(home, here.recv())
        with Terminal(home) as terminal:
            measured = _drive(terminal, here, text)
        measured.complete = _stored(home) == text
    here.send("end")
    server.join(5)
    return measured


def _drive(terminal: Terminal, server: Connection, text: str) -> Measured:
    terminal.see("The Book")
    terminal.send("\x1bOS")  # F4
    terminal.see("never ran")
    terminal.send("s")
    terminal.see("waits for the model")
    terminal.send("\t")
    terminal.pass_time(0.5)
    typist = Typist(terminal)
    before = [typist.key() for _ in range(BEFORE)]
    server.send("begin")
    drawn, streaming = terminal.bytes_read, []
    while not server.poll():
        streaming.append(typist.key())
    seconds = server.recv()
    drawn = terminal.bytes_read - drawn
    after: list[float] = []
    end = time.perf_counter() + AFTER_SECONDS
    while time.perf_counter() < end:
        after.append(typist.key())
    screen = terminal.screen()
    last = text.rstrip().split("\n")[-1].split()[-3:]
    seen = "waits for you" in screen and QUESTION in screen and all(word.strip("*") in screen for word in last)
    terminal.send("\x1b")
    terminal.pass_time(0.5)
    terminal.send("q")
    with suppress(OSError):  # it has ended: so a pseudo-terminal says that nobody writes to it any more
        terminal.pass_time(10.0)
    return Measured(before, streaming, after, seconds, drawn, False, seen)


def quantile(times: list[float], share: float) -> float:
    """The value below which a share of them lies."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _verdict(held: bool, words: str) -> str:
    return f"{'held  ' if held else 'MISSED'} {words}"


def main() -> None:
    """Measures and prints the figures and the verdicts."""
    found = measure()
    rows = (
        ("before the answer (the reference)", found.before),
        ("while it streams", found.streaming),
        ("its end, and after", found.after),
        ("streaming and end together", found.streaming + found.after),
    )
    print(f"\nKey press to screen, milliseconds; {LENGTH:,} characters at {LENGTH / found.seconds:,.0f} a second")
    print(f"  {'':36}{'keys':>6}{'p50':>8}{'p95':>8}{'max':>8}")
    for name, times in rows:
        p50, p95 = statistics.median(times), quantile(times, 0.95)
        print(f"  {name:36}{len(times):6}{p50:8.1f}{p95:8.1f}{max(times):8.1f}")
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(
        f"  drawn: {found.bytes_drawn / found.seconds / 1024:.0f} KB a second; load of the machine: {load:.1f} a core"
    )
    together = rows[-1][1]
    values = {"p95": quantile(together, 0.95), "max": max(together)}
    verdicts = [
        _verdict(values[name] <= wanted, f"{name}: {values[name]:.1f} ms (wanted at most {wanted:g} ms)")
        for name, wanted in WANTED.items()
    ]
    verdicts.append(_verdict(found.complete, "the stored text is the text that was sent"))
    verdicts.append(_verdict(found.seen_to_the_end, "the screen shows its last words"))
    print("\n" + "\n".join(verdicts))
    figures = [Figure(name, times, found.before) for name, times in rows]
    print(f"\nKept in bench/out/{keep('streaming', {'key press to screen': figures}, verdicts).name}")


if __name__ == "__main__":
    main()
