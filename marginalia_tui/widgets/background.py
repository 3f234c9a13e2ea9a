"""Work off the screen's loop: the newest job wins.

One daemon thread at most, which ends when there is nothing left to do; a job that has not begun when the next
one comes is dropped. An exception of a job is raised on the screen's loop, where it is not overlooked.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from textual.message_pump import MessagePump

T = TypeVar("T")
_Task = tuple[Callable[[], Any], Callable[[Any], None]]


class Latest:
    """Runs jobs for a widget.

    Args:
        owner: whose loop gets the results; results for a widget that is gone are dropped.
    """

    def __init__(self, owner: MessagePump) -> None:
        self._owner = owner
        self._lock = threading.Lock()
        self._next: _Task | None = None
        self._running = False

    def ask(self, job: Callable[[], T], done: Callable[[T], None]) -> None:
        """Runs `job` on the thread, then `done` with its result on the owner's loop."""
        with self._lock:
            self._next = (job, done)
            if self._running:
                return
            self._running = True
        threading.Thread(target=self._work, name="marginalia-widget", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        with self._lock:
            return self._running

    def _work(self) -> None:
        while True:
            with self._lock:
                task, self._next = self._next, None
                if task is None:
                    self._running = False
                    return
            job, done = task
            try:
                result = job()
            except Exception as error:  # handed over whole: `_fail` raises it on the loop
                self._owner.call_later(_fail, error)
            else:
                self._owner.call_later(done, result)


def _fail(error: Exception) -> None:
    raise error
