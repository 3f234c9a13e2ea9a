"""The time that a worker works, booked in the transactions that it writes anyway."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from marginalia_tui.agent.runs import add_worked
from marginalia_tui.store.store import WriteTx


class Worked:
    """Counts from when it is made; what was not committed is counted with the next transaction."""

    def __init__(self, run: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._since = clock()

    @contextmanager
    def booked(self, transaction: AbstractContextManager[WriteTx]) -> Iterator[WriteTx]:
        """The transaction, which also adds the time since the last one."""
        with transaction as tx:
            yield tx
            now = self._clock()
            add_worked(tx, self._run, now - self._since)
        self._since = now
