"""Sends the notices of runs that need the author, on a thread of its own that lives while there is something to send.

A notice is sent to the address of the settings, and not while a screen is open, unless the author wants it so. What
fails is a line in the log and a word beside the errand; it is not tried again.
"""

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from marginalia_tui.agent import errands
from marginalia_tui.agent.errands import Errand
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.settings import Settings
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.presence import is_screen_open
from marginalia_tui.store.store import Store

log = logging.getLogger(__name__)

SEEN = "A screen was open."
CLOSING_SECONDS = 10.0
"""How long the end of the studio waits for a notice that is being sent."""


class Send(Protocol):
    """`llm.webhook.send`, which is imported at the first notice."""

    def __call__(self, url: str, form: str, title: str, text: str, *, allow_local: bool = False) -> None:
        """Sends a notice, or says why it could not."""
        ...


class Webhooks:
    """The notices of one studio.

    Args:
        store: the store.
        settings: asked each time.
        send: sends a notice.
    """

    def __init__(self, store: Store, settings: Callable[[], Settings], send: Send | None = None) -> None:
        self._store = store
        self._settings = settings
        self._send = send or _send
        self._lock = threading.Lock()
        self._wanted = False
        self._closed = False
        self._thread: threading.Thread | None = None
        self._unsubscribe = store.bus.subscribe(self._hear)

    def _hear(self, touched: Touched) -> None:
        """A run changed: perhaps it needs the author now."""
        if not touched.runs:
            return
        with self._lock:
            self._wanted = True
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="webhooks", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Looks until nothing new was committed, then ends; the next commit begins anew."""
        while True:
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    return
                self._wanted = False
            try:
                self._look()
            except MarginaliaError as error:
                log.warning("notices can't be sent now: %s", error)

    def _look(self) -> None:
        if not self._settings().webhook_url:
            return
        with self._store.read() as tx:
            waiting = errands.waiting(tx)
        for errand in waiting:
            with self._store.write(Act(actor="studio", label="notice", run=errand.run)) as tx:
                mine = errands.begin(tx, errand)
            if mine:
                outcome = self._sent(errand)
                with self._store.write(Act(actor="studio", label="notice", run=errand.run)) as tx:
                    errands.end(tx, errand, outcome)

    def _sent(self, errand: Errand) -> str:
        settings = self._settings()
        if not settings.webhook_always and is_screen_open(self._store.home):
            return SEEN
        try:
            self._send(
                settings.webhook_url,
                settings.webhook_format,
                errand.title,
                errand.text,
                allow_local=settings.webhook_local,
            )
        except MarginaliaError as error:
            log.warning("run %s: its notice was not sent: %s", errand.run, error.message)
            return error.message
        return ""

    def close(self) -> None:
        """Waits a while for what is being sent, and hears of nothing more."""
        self._unsubscribe()
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            thread.join(CLOSING_SECONDS)


def _send(url: str, form: str, title: str, text: str, *, allow_local: bool = False) -> None:
    from marginalia_tui.llm import webhook

    webhook.send(url, form, title, text, allow_local=allow_local)  # type: ignore[arg-type]
