"""Time and ids, injected where a test must hold them."""

import threading
import time
import uuid
from typing import Protocol


class Clock(Protocol):
    """Where times and new uuids come from."""

    def now(self) -> int:
        """Microseconds since 1970, strictly rising within a process."""
        ...

    def new_uuid(self) -> str:
        """A new uuid as text."""
        ...


class SystemClock:
    """The real one."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> int:
        """Microseconds since 1970; two calls never give the same."""
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last

    def new_uuid(self) -> str:
        """A random uuid."""
        return str(uuid.uuid4())
