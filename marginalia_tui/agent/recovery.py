"""Runs whose process died: they are given a status, and whoever waits for one of them is not left waiting."""

import threading
import time
from collections.abc import Callable

from marginalia_tui.agent import runs
from marginalia_tui.agent.runs import Run, get_run, transition
from marginalia_tui.domain.errors import Busy, StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import lease
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store

LOOK_SECONDS = 1.0
"""After so long without a commit it is asked whether the process that works a run still lives."""
RECOVERED = "The studio ended while it worked. Resume it, and it goes on exactly where it was."


def recover(store: Store, only: str | None = None) -> list[str]:
    """Gives the runs a status whose process died: nobody works them.

    Args:
        store: the store.
        only: the one run that is looked at.

    Returns:
        The runs that were recovered.
    """
    with store.read() as look:
        found = [run for run in runs.list_runs(look, limit=1_000) if only in (None, run.uuid)]
    left = [run for run in found if run.status.active and run.status is not RunStatus.WAITING_APPROVAL]
    recovered = []
    for run in left:
        if lease.is_free(store, run.uuid, run.epoch):
            try:
                _recover(store, run.uuid)
                recovered.append(run.uuid)
            except (Busy, StatusConflict):
                continue  # another studio was quicker
    return recovered


def _recover(store: Store, uuid: str) -> None:
    with store.write(Act(actor="studio", label="recovery", run=uuid)) as tx:
        held = lease.take(tx, uuid)
        run = get_run(tx, uuid)
        if run.status is RunStatus.STOPPING:
            end = RunStatus.STOPPED_DISCARDED if run.wish == "discard" else RunStatus.STOPPED_KEPT
            transition(tx, run, end)
        elif run.status is RunStatus.RUNNING:
            transition(tx, run, RunStatus.PAUSED, RECOVERED, wish="recovered")
        else:
            transition(tx, run, RunStatus.PAUSED, expected=(RunStatus.PAUSING,))
    held.release()


def wait_for(store: Store, run: str, until: Callable[[Run], bool], seconds: float | None = None) -> Run:
    """Waits until a run of any process fulfils a condition, and returns it as it is then.

    A run whose process dies meanwhile is given its status here.

    Raises:
        Busy: it did not in time.
    """
    changed = threading.Event()
    end = float("inf") if seconds is None else time.monotonic() + seconds

    def heard(touched: Touched) -> None:
        if touched.run(run):
            changed.set()

    unsubscribe = store.bus.subscribe(heard)
    try:
        while True:
            changed.clear()
            with store.read() as tx:
                seen = get_run(tx, run)
            if until(seen):
                return seen
            if (left := end - time.monotonic()) <= 0:
                raise Busy(f"The run is still {seen.status.value}: the process that works it does not answer.")
            if not changed.wait(min(LOOK_SECONDS, left)):
                recover(store, run)
    finally:
        unsubscribe()
