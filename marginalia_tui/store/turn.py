"""The writer turn: whose turn it is to write, within the process and between processes.

SQLite lets a waiting writer poll, so that a busy process starves another. Here threads of a process queue in order,
and the one at the head takes two `flock`s: first the place of the next writer, then the turn itself. Whoever ends a
turn and wants another must stand behind the process that waits as the next, so a turn is never taken twice past it.

A process that was suspended in the middle of a turn would have everybody wait without a word. So a wait may have an
end. A `flock` has none: where the turn is not free at once, a thread of its own waits for it, and whoever wants it
waits for that thread.
"""

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from marginalia_tui.domain.errors import StoreError


class WriterTurn:
    """An exclusive, fair lock over threads and processes, on the file at `path` and `<path>.next` beside it.

    The file holds the number of the process that had the turn last.
    """

    def __init__(self, path: Path) -> None:
        self._turn = _open(path)
        self._next = _open(path.with_name(f"{path.name}.next"))
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False
        self._taker: _Taker | None = None

    @contextmanager
    def hold(self, patience: float | None = None) -> Iterator[None]:
        """Waits for the turn and gives it back at the end.

        Args:
            patience: how many seconds at most; None waits as long as it takes.

        Raises:
            StoreError: it was not free in that time.
        """
        until = None if patience is None else time.monotonic() + patience
        if not self._enter(until) or not self._take(until):
            raise StoreError(self._held(patience or 0))
        try:
            yield
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)
            self._leave()

    @property
    def waiting(self) -> int:
        """How many threads of this process wait for it."""
        with self._mutex:
            return len(self._waiting)

    # Between processes.

    def _take(self, until: float | None) -> bool:
        """Takes the turn, at the head of the queue; gives the head up when it can't."""
        try:
            taken = self._take_at_once() or self._take_by_waiting(until)
        except BaseException:
            self._leave()
            raise
        if taken:
            # Only a sentence needs it, so a full disk may refuse it.
            with suppress(OSError):
                os.pwrite(self._turn.fileno(), b"%-10d\n" % os.getpid(), 0)
        else:
            self._leave()
        return taken

    def _take_at_once(self) -> bool:
        if self._taker is not None:
            return False
        for file in (self._next, self._turn):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Where only the turn is missing the place of the next writer stays ours: the taker has it already.
                return False
        fcntl.flock(self._next, fcntl.LOCK_UN)
        return True

    def _take_by_waiting(self, until: float | None) -> bool:
        # One of an earlier wait, which was given up, may still stand in line.
        if self._taker is None or not self._taker.want():
            self._taker = _Taker(self._next, self._turn)
            self._taker.start()
        if not self._taker.wait(until):
            return False
        self._taker = None
        return True

    def _held(self, seconds: float) -> str:
        holder = os.pread(self._turn.fileno(), 20, 0).decode("ascii", "replace").strip()
        who = f"Another process ({holder})" if holder.isdigit() else "Another process"
        if holder == str(os.getpid()):
            who = "Another part of this program"
        return (
            f"{who} has been writing to the studio for more than {seconds:.0f} seconds, so nothing was written here. "
            "Wait until it is done; if it was suspended, let it go on or end it. Then try again."
        )

    # Within the process.

    def _enter(self, until: float | None) -> bool:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        try:
            handed = mine.wait(_left(until))
        except BaseException:
            # Ctrl+C while it waits: whoever stands behind must not wait for a thread that has gone.
            if not self._give_up(mine):
                self._leave()
            raise
        return handed or not self._give_up(mine)

    def _give_up(self, mine: threading.Event) -> bool:
        """Leaves the queue; False when the head was handed over in this very moment."""
        with self._mutex:
            if mine not in self._waiting:
                return False
            self._waiting.remove(mine)
            return True

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


class _Taker(threading.Thread):
    """Waits for both locks as long as it takes. When nobody wants the turn any more it gives it back at once."""

    def __init__(self, place: FileIO, turn: FileIO) -> None:
        super().__init__(name="marginalia-turn", daemon=True)
        self._files = place, turn
        self._mutex = threading.Lock()
        self._wanted = True
        self._over = False
        self._taken = threading.Event()

    def run(self) -> None:
        """Takes the turn."""
        place, turn = self._files
        try:
            fcntl.flock(place, fcntl.LOCK_EX)
            fcntl.flock(turn, fcntl.LOCK_EX)
            fcntl.flock(place, fcntl.LOCK_UN)
        except ValueError:
            # The store was closed meanwhile, and the locks went with its files: who waits finds that out.
            self._taken.set()
            return
        with self._mutex:
            if self._wanted:
                self._taken.set()
            else:
                self._give_back()

    def want(self) -> bool:
        """Wants the turn again; False when it was given back already."""
        with self._mutex:
            self._wanted = not self._over
            return self._wanted

    def wait(self, until: float | None) -> bool:
        """Whether it has the turn; it is not wanted any more when the time is over."""
        try:
            taken = self._taken.wait(_left(until))
        except BaseException:
            if not self._drop():
                with self._mutex:
                    self._give_back()
            raise
        return taken or not self._drop()

    def _drop(self) -> bool:
        """Wants it no more; False when it was taken in this very moment."""
        with self._mutex:
            self._wanted = self._taken.is_set()
            return not self._wanted

    def _give_back(self) -> None:
        self._over = True
        fcntl.flock(self._files[1], fcntl.LOCK_UN)


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


def _open(path: Path) -> FileIO:
    return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), "r+")
