"""The one announcement: after a commit, which books, runs and agents to look at again.

Nothing travels with it. Commits of this process are told by the transaction that made them; commits of another
process are noticed by asking the connection that writes for its `PRAGMA data_version` five times a second (its own
commits leave that as it is), and then everything is to be looked at again.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from marginalia_tui.domain.errors import StoreError

log = logging.getLogger(__name__)

WATCH_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Touched:
    """What a commit changed: uuids, or everything when another process committed."""

    books: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    everything: bool = False

    def run(self, uuid: str) -> bool:
        """Whether the run is to be looked at again."""
        return self.everything or uuid in self.runs

    def book(self, uuid: str) -> bool:
        """Whether the book is to be looked at again."""
        return self.everything or uuid in self.books


Listener = Callable[[Touched], None]


class Bus:
    """Listeners of one process. They are called on the committing (or the watching) thread and must be quick."""

    def __init__(self, foreign_commits: Callable[[], int]) -> None:
        self._foreign_commits = foreign_commits
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._seen = 0
        self._watcher: threading.Thread | None = None

    def mark(self) -> None:
        """Takes what other processes have committed so far as seen."""
        self._seen = self._foreign_commits()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` after every commit, until the returned function is called."""
        with self._lock:
            self._listeners.append(listener)
            if self._watcher is None and not self._closed.is_set():
                self._watcher = threading.Thread(target=self._watch, name="store-watch", daemon=True)
                self._watcher.start()

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    def publish(self, touched: Touched) -> None:
        """Tells every listener; one that fails is logged and does not stop the others."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            try:
                listener(touched)
            except Exception:
                log.exception("a listener of the bus failed")

    def close(self) -> None:
        """Ends the watcher."""
        self._closed.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join()

    def _watch(self) -> None:
        failing = False
        while not self._closed.wait(WATCH_SECONDS):
            try:
                now = self._foreign_commits()
            except StoreError:
                # Told once; it goes on when the disk does.
                if not failing:
                    log.exception("commits of other processes can't be noticed")
                failing = True
                continue
            failing = False
            if now != self._seen:
                self._seen = now
                self.publish(Touched(everything=True))
