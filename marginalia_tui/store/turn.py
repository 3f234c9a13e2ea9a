"""The writer turn: whose turn it is to write, within the process and between processes.

SQLite lets a waiting writer poll, so that a busy process starves another. Here threads of a process queue in order,
and the one at the head takes two blocking `flock`s: first the place of the next writer, then the turn itself. Whoever
ends a turn and wants another must stand behind the process that waits as the next, so a turn is never taken twice
past it.
"""

import fcntl
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path


class WriterTurn:
    """An exclusive, fair lock over threads and processes, on the file at `path` and `<path>.next` beside it."""

    def __init__(self, path: Path) -> None:
        self._turn = _open(path)
        self._next = _open(path.with_name(f"{path.name}.next"))
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Waits for the turn and gives it back at the end."""
        self._enter()
        try:
            self._take()
            try:
                yield
            finally:
                fcntl.flock(self._turn, fcntl.LOCK_UN)
        finally:
            self._leave()

    @property
    def waiting(self) -> int:
        """How many threads of this process wait for it."""
        with self._mutex:
            return len(self._waiting)

    def _take(self) -> None:
        fcntl.flock(self._next, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._turn, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._next, fcntl.LOCK_UN)

    def _enter(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Event()
            self._waiting.append(mine)
        try:
            mine.wait()
        except BaseException:
            # Ctrl+C while it waits: whoever stands behind must not wait for a thread that has gone.
            with self._mutex:
                handed = mine not in self._waiting
                if not handed:
                    self._waiting.remove(mine)
            if handed:
                self._leave()
            raise

    def _leave(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def close(self) -> None:
        """Closes the files; a second time does nothing."""
        for file in (self._turn, self._next):
            file.close()


def _open(path: Path) -> FileIO:
    return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), "r+")
