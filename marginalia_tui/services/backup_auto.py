"""Makes the automatic backups: listens to commits, and looks on a thread of its own which books are due.

Commits of other processes are theirs to back up. A fault is logged and does not end the thread; the book is looked at
again at its next change.
"""

import logging
import threading
from collections.abc import Callable

from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.services import backup
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.store import Store

log = logging.getLogger(__name__)

PAUSE = 5.0
"""Seconds between a commit and the look at its book, so that many commits cost one look."""


class AutoBackups:
    """The automatic backups of one studio.

    Args:
        store: the store.
        keep: how many automatic backups of a book are kept; asked each time.
        pause: seconds between a commit and the look.
    """

    def __init__(self, store: Store, keep: Callable[[], int], pause: float = PAUSE) -> None:
        self._store = store
        self._keep = keep
        self._pause = pause
        self._lock = threading.Lock()
        self._touched: set[str] = set()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._unsubscribe = store.bus.subscribe(self._hear)

    def _hear(self, touched: Touched) -> None:
        """Notes the books; the thread begins with the first of them."""
        if not touched.books or self._closed.is_set():
            return
        with self._lock:
            self._touched |= touched.books
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="backups", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Looks at the books until none is left that waits, then ends; the next commit begins anew."""
        while not self._closed.wait(self._pause):
            if not self._look():
                with self._lock:
                    if not self._touched:
                        self._thread = None
                        return

    def _look(self) -> bool:
        """Backs up the books that are due; answers whether there were any to look at."""
        with self._lock:
            books, self._touched = self._touched, set()
        for book in sorted(books):
            try:
                if backup.due(self._store, book):
                    backup.make(self._store, book, self._keep())
            except MarginaliaError as error:
                log.warning("no backup of %s: %s", book, error)
        return bool(books)

    def close(self) -> None:
        """Ends the thread, and looks a last time at the books that were changed."""
        self._unsubscribe()
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
        self._look()
