"""Runs the program and has it die, or stop, at the n-th moment: before a statement or a commit of any transaction.

    python -m tests.support.killer --at 57 --signal KILL -- --home DIR run start Corrector

With `--at 0` nothing happens to it, and the number of moments is the last line on stderr.
"""

import argparse
import os
import signal
import sys
import threading
from typing import Any

from sqlalchemy import Engine, event

from marginalia_tui import cli
from marginalia_tui.domain import guard


class Moments:
    """Counts, and sends the signal to this very process when the count is reached."""

    def __init__(self, at: int, number: int) -> None:
        self.seen = 0
        self._at = at
        self._number = number
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            # A stopped process that holds the writer turn stops the others too; that is not what is tried here.
            if self._number == signal.SIGSTOP and guard._writing.get():
                return
            self.seen += 1
            if self.seen != self._at:
                return
            if self._number in (signal.SIGKILL, signal.SIGSTOP):
                # To this thread: sent to the process, it may go on for a while before it dies or stops.
                signal.pthread_kill(threading.get_ident(), self._number)
            else:
                # To the process, whose main thread it wakes.
                os.kill(os.getpid(), self._number)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--at", type=int, required=True)
    parser.add_argument("--signal", default="KILL")
    parser.add_argument("rest", nargs="+")
    options = parser.parse_args()
    moment = Moments(options.at, signal.Signals[f"SIG{options.signal}"])

    @event.listens_for(Engine, "before_cursor_execute")
    def _statement(*_: Any) -> None:
        moment()

    @event.listens_for(Engine, "commit")
    def _commit(_: Any) -> None:
        moment()

    try:
        cli.main(options.rest)
    finally:
        print(moment.seen, file=sys.stderr)


if __name__ == "__main__":
    main()
