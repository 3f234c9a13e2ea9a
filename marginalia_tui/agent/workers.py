"""The workers of this process, and what is heard of those of others.

A run that is worked here is looked at by its worker. The answers of one that another process works come over that
process's socket while somebody watches it; its row says the same a moment later.
"""

import threading
import time
from collections.abc import Iterator, Sequence

from marginalia_tui.agent.elsewhere import Elsewhere
from marginalia_tui.agent.live import LiveAnswer, LiveBuffer
from marginalia_tui.agent.serving import WireServer
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.worker import Observer, Worker
from marginalia_tui.store import lease
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.store import Store

PARK_SECONDS = 5.0
"""How long the end of the studio waits for its workers."""


class Workers:
    """Those who work the runs of one studio, each on a thread of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()
        self._closing = False
        self._wire = WireServer(store.home, self._live_here, self._hurried)
        self._elsewhere = Elsewhere(store)

    def _begin(
        self, setup: RunSetup, held: lease.Lease, observers: Sequence[Observer], *, errand: bool = False
    ) -> None:
        worker = Worker(setup, held, observers, errand=errand)
        worker.live.hear(self._wire.wake)
        with self._lock:
            self._workers[held.run] = worker
            closing = self._closing
        if closing:
            worker.park()
        worker.start()

    def _drop(self, run: str, *, unbegun: bool) -> bool:
        """Forgets a worker that never began, if `unbegun` says so; False when one works the run."""
        with self._lock:
            worker = self._workers.get(run)
            if worker is not None and worker.began:
                return False
            if unbegun:
                self._workers.pop(run, None)
            return True

    def worker(self, run: str) -> Worker | None:
        """The worker of a run, when this process works it."""
        with self._lock:
            worker = self._workers.get(run)
            if worker is not None and worker.done.is_set():
                del self._workers[run]
                return None
            return worker

    def live(self, run: str, seen: int = -1) -> LiveAnswer | None:
        """The answer that is being written, when it is newer than version `seen`; of a run that is watched too."""
        live = self._live_here(run) or self._elsewhere.live(run)
        return live.look(seen) if live is not None else None

    def is_live(self, run: str) -> bool:
        """Whether an answer is being written, as far as it is seen here."""
        live = self._live_here(run) or self._elsewhere.live(run)
        return live is not None and live.is_open

    def _live_here(self, run: str) -> LiveBuffer | None:
        worker = self.worker(run)
        return worker.live if worker is not None else None

    def watch(self, run: str) -> bool:
        """Has the answers of a run that another process works be seen while they are written.

        Returns:
            Whether they are: not when the run is worked here or by nobody, or its process can't be heard.
        """
        return self.worker(run) is None and self._elsewhere.watch(run)

    def forget(self, run: str) -> None:
        """Nobody looks at a run any more."""
        self._elsewhere.forget(run)

    def hurry(self, run: str, *, now: bool) -> None:
        """Has whoever works the run see at once what its row says, here or in another process."""
        if (worker := self.worker(run)) is None:
            self._elsewhere.hurry(run)
        elif now:
            worker.stop_call()

    def _hurried(self, run: str) -> None:
        """Another process changed the row of a run that is worked here."""
        if self.worker(run) is not None:
            self._store.bus.publish(Touched(everything=True))

    def working(self) -> list[str]:
        """The runs that are worked here."""
        with self._lock:
            return [run for run, worker in self._workers.items() if not worker.done.is_set()]

    def leave(self, runs: Sequence[str], seconds: float) -> Iterator[str]:
        """Lets go of runs, RUNNING as they are, so that another process takes them up.

        Args:
            runs: their uuids.
            seconds: how long an answer or call that goes on may come to its end before it is given up.

        Yields:
            Each run that is free now. One that comes to its own end meanwhile, or does not end at all, is not.
        """
        found = [worker for run in runs if (worker := self.worker(run)) is not None]
        for worker in found:
            worker.leave()
        end = time.monotonic() + seconds
        for worker in found:
            if not worker.done.wait(max(0.0, end - time.monotonic())):
                worker.park()
        end = time.monotonic() + PARK_SECONDS
        for worker in found:
            if worker.done.wait(max(0.0, end - time.monotonic())) and worker.rested is None:
                yield worker.run

    def park(self, seconds: float = PARK_SECONDS) -> None:
        """Has every worker of this process give up what goes on and pause; waits for that, but not for ever."""
        with self._lock:
            self._closing = True
            workers = list(self._workers.values())
        for worker in workers:
            worker.park()
        end = time.monotonic() + seconds
        for worker in workers:
            worker.done.wait(max(0.0, end - time.monotonic()))
        self._wire.close()
        self._elsewhere.close()
