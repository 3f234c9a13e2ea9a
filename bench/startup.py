"""How long the first picture takes, and how much memory, beside an empty Textual app in the same terminal.

Each start is a new process in a pseudo-terminal of 120x40. The stopwatch runs from the fork to the first output that
holds a word of the picture; the terminal answers no question. The two programs take turns, so that what else the
machine does hits both.

    python -m bench.startup [--starts N]
"""

import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

EMPTY = """
from textual.app import App
from textual.widgets import Static

class Empty(App):
    def compose(self):
        yield Static("Library")

Empty().run()
"""
STUDIO = "import sys; from pathlib import Path; from marginalia_tui.app import run_app; run_app(Path(sys.argv[1]))"
COLUMNS, LINES = 120, 40
SECONDS = 60.0
"""Longer than this no start takes."""
WANTED = 1.75
"""The first picture may take this many times that of the empty app."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds to the first picture, to the list of books, to every key; megabytes at the end of it."""

    painted: float
    listed: float
    whole: float
    megabytes: float


def start(code: str, arguments: Sequence[str], words: Sequence[str]) -> Start:
    """Starts a program, and waits until each word was written to the terminal, in order."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execve(sys.executable, [sys.executable, "-c", code, *arguments], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    written = b""
    times: list[float] = []
    try:
        for word in words:
            while word.encode() not in written:
                if time.perf_counter() - began > SECONDS:
                    raise TimeoutError(f"{word!r} was never written: {written[-500:]!r}")
                if select.select([terminal], [], [], 1.0)[0]:
                    written += os.read(terminal, 65_536)
            times.append(time.perf_counter() - began)
        memory = _megabytes(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return Start(times[0], times[min(1, len(times) - 1)], times[-1], memory)


def _megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel tells no memory of a process")


def make_home(home: Path, parts: int) -> None:
    """A home with one book of so many parts of 4 KB, `Bench`; with none the library is empty."""
    home.mkdir(mode=0o700)
    with closing(Store.open(home)) as store:
        if not parts:
            return
        clock = store.clock
        book = clock.new_uuid()
        made: list[Part] = []
        for number in range(1, parts + 1):
            parent = made[-1].uuid if made else None
            text = f"Part {number}. " + "The lamp went out at nine, and nobody lit it again. " * 80
            made.append(
                Part(uuid=clock.new_uuid(), book=book, parent=parent, created=clock.now(), title=f"{number}", text=text)
            )
        with store.write(Act(actor="author", label="import", book=book)) as tx:
            tx.space(LIBRARY).put(
                [Book(uuid=book, title="Bench", created=clock.now(), active_leaf=made[-1].uuid), *made]
            )


def main(arguments: Sequence[str] = ()) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=7, help="of each program")
    starts = parser.parse_args(arguments).starts
    with tempfile.TemporaryDirectory() as folder:
        homes = {"empty library": (Path(folder) / "empty", 0), "2,000 parts": (Path(folder) / "long", 2_000)}
        for home, parts in homes.values():
            make_home(home, parts)
        programs = {
            "empty Textual app": (EMPTY, [], ["Library"]),
            "studio, empty library": (STUDIO, [str(homes["empty library"][0])], ["Library", "is empty", "trash"]),
            "studio, 2,000 parts": (STUDIO, [str(homes["2,000 parts"][0])], ["Library", "Bench", "trash"]),
        }
        found: dict[str, list[Start]] = {name: [] for name in programs}
        for turn in range(starts + 1):
            for name, program in programs.items():
                measured = start(*program)
                # The first turn fills the caches of the disk.
                if turn:
                    found[name].append(measured)
    _print(found)


def _print(found: dict[str, list[Start]]) -> None:
    base = statistics.median(each.painted for each in found["empty Textual app"])
    print(f"{'':24}{'first picture':>22}{'ratio':>8}{'books':>12}{'every key':>12}{'memory':>10}")
    for name, starts in found.items():
        painted = [each.painted for each in starts]
        median = statistics.median(painted)
        spread = f"{median * 1000:.0f} ms (worst {max(painted) * 1000:.0f})"
        listed = statistics.median(each.listed for each in starts)
        whole = statistics.median(each.whole for each in starts)
        memory = statistics.median(each.megabytes for each in starts)
        row = f"{name:24}{spread:>22}{median / base:>8.2f}{listed * 1000:>9.0f} ms{whole * 1000:>9.0f} ms"
        print(f"{row}{memory:>7.0f} MB")
    print(f"Wanted: a ratio under {WANTED}.")


if __name__ == "__main__":
    main(sys.argv[1:])
