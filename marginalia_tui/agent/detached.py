"""Runs that go on without a terminal, in a process of their own of the same program.

It is started first and opens the studio; when it is ready, each run is let go of at a stable point and taken up
there. A run has one owner at any moment, by its lease, and none for the moment between. Whatever fails leaves a run
that the next studio recovers: the process that begins tries every run that it was named once more when the other
one has ended.
"""

import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import marginalia_tui
from marginalia_tui.agent.runner import Runner

log = logging.getLogger(__name__)

READY = b"ready\n"
START_SECONDS = 15.0
"""How long the other process may take to be ready."""
GRACE_SECONDS = 3.0
"""How long an answer that is being written may come to its end before it is given up, to be asked for again."""
WORST_SECONDS = START_SECONDS + GRACE_SECONDS + 5.0
"""How long a hand-over takes at most."""
_MODULE = "marginalia_tui.headless.background"


def hand_over(home: Path, runner: Runner) -> list[str]:
    """Has the runs of this process go on in another one; those that can't be handed over still work here.

    Returns:
        The runs that were let go of.
    """
    runs = runner.working()
    if not runs:
        return []
    try:
        process = start(home, runs)
    except OSError as error:
        log.error("the runs can't go on without a terminal: %s", error)
        return []
    assert process.stdin is not None
    with process.stdin as told:
        if not is_ready(process):
            log.error("the process that was to go on with the runs does not begin")
            process.terminate()
            return []
        given = []
        for run in runner.leave(runs, GRACE_SECONDS):
            _tell(told, run)
            given.append(run)
    log.info("%d runs go on in process %d", len(given), process.pid)
    return given


def start(home: Path, runs: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Starts a process that takes up runs as it is told their uuids, a line each, and at the end of that all others.

    Raises:
        OSError: the system refuses.
    """
    root = str(Path(marginalia_tui.__file__).parents[1])
    search = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    folder = home / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    fd = os.open(folder / "background.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as errors:
        process = subprocess.Popen(
            # -P: the folder in which the author happens to be is no place for modules.
            [sys.executable, "-P", "-m", _MODULE, str(home), *runs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=home,
            env={**os.environ, "PYTHONPATH": search},
            start_new_session=True,
        )
    # It outlives this process as a rule; where it does not, nothing of it is left behind.
    threading.Thread(target=process.wait, name="marginalia-detached", daemon=True).start()
    return process


def is_ready(process: "subprocess.Popen[bytes]", seconds: float = START_SECONDS) -> bool:
    """Waits until the process has opened the studio; whether it did."""
    assert process.stdout is not None
    with process.stdout as out:
        end, heard = time.monotonic() + seconds, b""
        while READY not in heard:
            found, _, _ = select.select([out], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(out.fileno(), 4096) if found else b""
            if not piece:
                return False
            heard += piece
    return True


def _tell(told: IO[bytes], run: str) -> None:
    try:
        told.write(run.encode() + b"\n")
        told.flush()
    except BrokenPipeError:
        log.error("run %s: the process that was to go on with it has ended", run)
