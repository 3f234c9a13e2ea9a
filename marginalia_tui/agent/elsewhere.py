"""The runs that other processes work, as this one sees and hurries them by their sockets.

The rows of the store are the truth. A socket only makes it quick: the live answer is seen while it is written, and
whoever works a run looks at once at a row that was changed here. Without one, all of it is seen when it is stored.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from marginalia_tui.agent import doors, wire
from marginalia_tui.agent.doors import NoDoor
from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.agent.runs import get_run
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.store import lease
from marginalia_tui.store.store import Store

log = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds for a word to a process that may hang."""


class Watch:
    """The live answer of one run of another process, read by a thread of its own until either side ends it.

    Raises:
        NoDoor: the process does not listen.
    """

    def __init__(self, run: str, address: str, heard: Callable[[], None]) -> None:
        self.address = address
        self.live = LiveBuffer(heard)
        self.over = threading.Event()
        self._heard = heard
        self._number = 0
        self._connection = doors.knock(address, PATIENCE)
        try:
            self._connection.sendall(wire.write_wish(wire.WATCH, run))
            self._connection.settimeout(None)
        except OSError as error:
            self._connection.close()
            raise NoDoor(f"nobody reads at {address}: {error}") from error
        threading.Thread(target=self._main, name=f"watch-{run[-8:]}", daemon=True).start()

    def close(self) -> None:
        """Watches no more."""
        with suppress(OSError):
            # Closing alone would leave the thread in its read.
            self._connection.shutdown(2)

    def _main(self) -> None:
        try:
            with self._connection, self._connection.makefile("rb") as lines:
                while line := lines.readline(wire.LONGEST_FRAME):
                    self._take(line)
        except (OSError, Invalid) as error:
            log.info("a run of another process is not watched any more: %s", error)
        finally:
            self.over.set()
            self.live.end()

    def _take(self, line: bytes) -> None:
        gained = wire.read_answer(line)
        if gained is None:
            self.live.end()
            return
        if gained.number != self._number:
            self._number = gained.number
            self.live.begin(gained.place)
        self.live.copy(
            text=gained.text,
            reasoning=gained.reasoning,
            totals=(gained.text_total, gained.reasoning_total),
            call=(gained.call, gained.call_size),
            note=gained.note,
        )


class Elsewhere:
    """Sees and hurries the runs of other processes. May be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._watches: dict[str, Watch] = {}

    def hurry(self, run: str) -> bool:
        """Has the process that works a run look at its row now; whether it was told."""
        if not (address := self._address(run)):
            return False
        try:
            with doors.knock(address, PATIENCE) as connection:
                connection.sendall(wire.write_wish(wire.LOOK, run))
        except (NoDoor, OSError) as error:
            log.info("run %s: its process was not told at once: %s", run, error)
            return False
        return True

    def watch(self, run: str, heard: Callable[[], None] = lambda: None) -> bool:
        """Watches the live answer of a run from now on, if another process works it and it is not watched yet.

        Args:
            run: the uuid.
            heard: called when something arrives, or nothing does any more.

        Returns:
            Whether it is watched.
        """
        address = self._address(run)
        with self._lock:
            old = self._watches.get(run)
            if old is not None and old.address == address and not old.over.is_set():
                return True
            if old is not None:
                del self._watches[run]
                old.close()
            if not address:
                return False
            try:
                self._watches[run] = Watch(run, address, heard)
            except NoDoor as error:
                log.info("run %s: its answers are seen when they are whole: %s", run, error)
                return False
        return True

    def forget(self, run: str) -> None:
        """Watches a run no more."""
        with self._lock:
            watch = self._watches.pop(run, None)
        if watch is not None:
            watch.close()

    def live(self, run: str) -> LiveBuffer | None:
        """The live answer of a run that is watched. Quick."""
        watch = self._watches.get(run)
        return watch.live if watch is not None else None

    def close(self) -> None:
        """Watches nothing any more."""
        for run in list(self._watches):
            self.forget(run)

    def _address(self, run: str) -> str:
        try:
            with self._store.read() as tx:
                epoch = get_run(tx, run).epoch
        except NotFound:
            return ""
        return "" if lease.is_free(self._store, run, epoch) else lease.address(self._store, run, epoch)
