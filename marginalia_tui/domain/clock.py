"""Time and ids, injected where a test must hold them."""

import secrets
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
        """A new uuid as text; where it can be, one that sorts behind those made before."""
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
        """A uuid that begins with the time (version 7 of RFC 9562), then 62 random bits.

        What is made together then lies together in every table: reading the parts of a book costs the same
        however many other books there are.
        """
        milliseconds, rest = divmod(self.now(), 1000)
        bits = milliseconds << 80 | 0x7 << 76 | (rest << 12) // 1000 << 64 | 0b10 << 62 | secrets.randbits(62)
        return str(uuid.UUID(int=bits))
