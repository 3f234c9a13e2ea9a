"""The two-way line between a running command and whoever called it: its status out, the wish that it stops in.

Nested commands share the line of the command that called them, so they are stopped with it and are as
uninterruptible as it is.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from marginalia_tui.domain.errors import Cancelled

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Status:
    """What a command is doing."""

    text: str = ""
    """The main line: `Searching the parts`."""
    detail: str = ""
    """How far it is: `part 40 of 120`."""
    done: int | None = None
    """Steps done, where it is known."""
    total: int | None = None
    """Steps there are."""
    uninterruptible: bool = False
    """Whether a stop would do nothing now."""

    @property
    def words(self) -> str:
        """Both lines as one."""
        return " ".join(part for part in (self.text, self.detail) if part)


Listener = Callable[[Status], object]


class Control:
    """The line. Safe to use from any thread.

    Args:
        listener: as `listen` adds it.
        uninterruptible: whether the caller wants the command never to be stopped, which the command can't lift.
    """

    def __init__(self, listener: Listener | None = None, *, uninterruptible: bool = False) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._held = 1 if uninterruptible else 0
        self._status = Status(uninterruptible=uninterruptible)
        self._listeners: dict[object, Listener] = {} if listener is None else {object(): listener}
        self._wakers: dict[object, Callable[[], None]] = {}

    # Out

    @property
    def status(self) -> Status:
        """What the command is doing now."""
        return self._status

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Has each change told on the thread of the command; what it answers ends that.

        A listener hears nothing of what was before: it reads `status` once it is added. One that raises is
        ignored from then on.
        """
        ticket = object()
        with self._lock:
            self._listeners[ticket] = listener
        return lambda: self._leave(ticket)

    def _leave(self, ticket: object) -> None:
        with self._lock:
            self._listeners.pop(ticket, None)

    def tell(self, text: str, detail: str = "", done: int | None = None, total: int | None = None) -> None:
        """Keeps what the command is doing, and passes it on."""
        self._say(text=text, detail=detail, done=done, total=total)

    def _say(self, **changes: Any) -> None:
        with self._lock:
            status = replace(self._status, **changes, uninterruptible=self._held > 0)
            self._status = status
            listeners = list(self._listeners.items())
        for ticket, listener in listeners:
            try:
                listener(status)
            except Exception:
                # Whoever looks on is no part of the command.
                log.exception("a listener of a command failed and hears no more")
                self._leave(ticket)

    # In

    def stop(self) -> bool:
        """Asks the command to stop: it does at its next check, and a wait of it ends at once.

        Returns:
            False when it can't be interrupted now; then nothing was asked.
        """
        with self._lock:
            if self._held:
                return False
            self._stop.set()
            wakers, self._wakers = self._wakers, {}
        for waker in wakers.values():
            waker()
        return True

    @property
    def stopped(self) -> bool:
        """Whether the command was asked to stop."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits, and answers whether the command was asked to stop meanwhile."""
        return self._stop.wait(seconds)

    @contextmanager
    def woken(self, waker: Callable[[], None]) -> Iterator[None]:
        """Has a wait of another kind ended by `waker` when the command is stopped; at once when it was already."""
        ticket = object()
        with self._lock:
            late = self._stop.is_set()
            if not late:
                self._wakers[ticket] = waker
        if late:
            waker()
        try:
            yield
        finally:
            with self._lock:
                self._wakers.pop(ticket, None)

    @contextmanager
    def uninterruptible(self, what: str) -> Iterator[None]:
        """Marks work that can't be left half done: until its end a stop does nothing.

        Raises:
            Cancelled: the command `what` was stopped just before; the work did not begin.
        """
        self.hold(what)
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1
            self._say()

    def hold(self, what: str) -> None:
        """From here on a stop does nothing any more: what is written now is written, and can't be called stopped.

        Raises:
            Cancelled: the command `what` was stopped just before.
        """
        with self._lock:
            if self._stop.is_set():
                raise Cancelled(f"{what} was stopped: nothing was changed.")
            self._held += 1
        self._say()
