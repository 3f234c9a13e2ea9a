"""Whether somebody sits before a screen of this home, in whatever process: a file lock, as leases are.

The lock is shared, so that several studios may be open; who wants to know tries to have it alone. A studio that was
killed holds nothing any more.
"""

import fcntl
import os
from pathlib import Path

FILE = "screen.lock"


class Presence:
    """A screen that is open, until `close`."""

    def __init__(self, home: Path) -> None:
        self._fd: int | None = _open(home)
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def close(self) -> None:
        """The screen is gone; a second time does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def is_screen_open(home: Path) -> bool:
    """Whether a studio of this home shows a screen."""
    fd = _open(home)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def _open(home: Path) -> int:
    folder = home / "leases"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
