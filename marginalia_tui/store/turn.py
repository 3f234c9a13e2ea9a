"""The writer turn: whose turn it is to write, within the process and between processes.

SQLite lets a waiting writer poll, so that a busy process starves another. Here threads of a process queue in
order and the one at the head takes a blocking `flock`, which the kernel hands on between processes.
"""

import fcntl
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WriterTurn:
    """An exclusive, fair lock over threads and processes, on the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Waits for the turn and gives it back at the end."""
        self._enter()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Event()
            self._waiting.append(mine)
        mine.wait()

    def _leave(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def close(self) -> None:
        """Closes the file."""
        os.close(self._fd)
