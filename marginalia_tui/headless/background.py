"""The process that goes on with runs when their terminal is gone: started by `agent.detached`, ends when they rest.

    python -m marginalia_tui.headless.background HOME RUN...

It says "ready" when the studio is open, takes up each run whose uuid is a line of its input, and at the end of the
input those that it was named and not told: whoever worked them has ended then, in whatever way. It belongs to no
terminal; SIGTERM parks the runs.
"""

import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from marginalia_tui.agent.detached import READY
from marginalia_tui.agent.runs import get_run
from marginalia_tui.domain.errors import Busy, MarginaliaError
from marginalia_tui.headless.signals import catch_signals, signal_behind
from marginalia_tui.logs import start_log
from marginalia_tui.store import lease
from marginalia_tui.studio import Studio

log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> NoReturn:
    """Works the runs to their rest, and exits."""
    catch_signals()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    home, *runs = arguments
    code = 0
    try:
        _go_on(Path(home), runs)
    except BaseException as fault:
        number = signal_behind(fault)
        if number is None:
            log.exception("the process without a terminal broke")
            raise
        signal.signal(number, signal.SIG_IGN)
        code = 128 + number
    sys.exit(code)


def _go_on(home: Path, runs: Sequence[str]) -> None:
    start_log(home)
    studio = Studio(home)
    try:
        studio.activity.start()
        studio.runner  # noqa: B018  # put together before it is needed
        _say_ready()
        told = set()
        for line in sys.stdin:
            told.add(line.strip())
            _take_up(studio, line.strip())
        for run in runs:
            if run not in told:
                _take_up(studio, run)
        for run in studio.runner.working():
            if (worker := studio.runner.worker(run)) is not None:
                worker.done.wait()
        log.info("the runs rest: the process without a terminal ends")
    finally:
        studio.close()


def _say_ready() -> None:
    """Tells who started this; then nothing is written to them any more, who may end at any moment."""
    os.write(1, READY)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.close(silence)


def _take_up(studio: Studio, run: str) -> None:
    try:
        try:
            studio.runner.work(run)
        except Busy:
            # Whoever works it is about to end.
            with studio.store.read() as tx:
                epoch = get_run(tx, run).epoch
            lease.wait_until_free(studio.store, run, epoch)
            studio.runner.work(run)
    except MarginaliaError as error:
        log.info("run %s is not taken up: %s", run, error.message)


if __name__ == "__main__":
    main(sys.argv[1:])
