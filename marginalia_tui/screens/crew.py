"""Threads that do the work which the screens must not wait for.

Daemon threads of our own: they grow with what is asked at once (a question to the author may hold one for hours),
and the end of the program waits for none of them.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)

IDLE_SECONDS = 30.0
"""How long a thread without work stays."""


class Crew:
    """Runs functions on threads for a loop."""

    def __init__(self) -> None:
        self._jobs: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._idle = 0
        self._busy = 0

    @property
    def busy(self) -> int:
        """How many jobs run or wait, or have not told their value yet."""
        with self._wake:
            return self._busy

    async def call(self, fn: Callable[..., T], *args: Any) -> T:
        """The value of `fn(*args)`, run on a thread; what it raises is raised here.

        A caller that is cancelled stops waiting; the function runs to its end, and its value is dropped.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                value = fn(*args)
            except BaseException as error:  # handed over whole to whoever waits
                self._tell(loop, future, partial(future.set_exception, _fitting(error)))
            else:
                self._tell(loop, future, partial(future.set_result, value))

        self._add(job)
        return await future

    def start(self, fn: Callable[[], None]) -> None:
        """Runs a function for which nobody waits; what it raises is logged."""

        def job() -> None:
            try:
                fn()
            except Exception:
                log.exception("work off the screen failed")
            self._ended()

        self._add(job)

    def _add(self, job: Callable[[], None]) -> None:
        with self._wake:
            self._busy += 1
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._wake.notify()
                return
        threading.Thread(target=self._work, name="marginalia-crew", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._wake:
                if not self._jobs:
                    self._idle += 1
                    self._wake.wait_for(lambda: bool(self._jobs), IDLE_SECONDS)
                    self._idle -= 1
                if not self._jobs:
                    return
                job = self._jobs.popleft()
            job()

    def _ended(self) -> None:
        with self._wake:
            self._busy -= 1

    def _tell(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", settle: Callable[[], None]) -> None:
        def on_loop() -> None:
            self._ended()
            if not future.done():
                settle()

        try:
            loop.call_soon_threadsafe(on_loop)
        except RuntimeError:
            # The loop has ended: nobody waits for the value any more.
            log.debug("work ended after the screens")
            self._ended()


def _fitting(error: BaseException) -> BaseException:
    """A future takes any exception but this one, which would end the coroutine that waits as if it had returned."""
    return RuntimeError("the work raised StopIteration") if isinstance(error, StopIteration) else error
