"""From commits to screens: the app hears of every commit, and tells the screens a few times a second at most.

A commit is announced on the thread that made it. What it touched is gathered until the screens are told; nothing
else travels.
"""

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message
from textual.screen import Screen

from marginalia_tui.screens.bar import BarHost
from marginalia_tui.screens.base import BaseScreen, Looked
from marginalia_tui.widgets.terminalnotice import sequence

if TYPE_CHECKING:
    from marginalia_tui.desk.news import Asking, News
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.store.bus import Touched

LOOKS_APART = 0.15
"""Seconds between two times that the screens are told to look again."""
NOTICE_READ = 1.0
"""Seconds after which a notice gives way to a dialog."""
T = TypeVar("T")


class NewsHost(BarHost):
    """The part of the app that hears of commits."""

    class Rang(Message):
        """The bus told of a commit."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._bell_lock = threading.Lock()
        self._rung: Touched | None = None
        self._rang_at = 0.0
        self._told: dict[str, str] = {}
        self._news_read = False
        self._news_wanted = False

    def on_commit(self, touched: "Touched") -> None:
        """On the thread that committed."""
        with self._bell_lock:
            waiting = self._rung is not None
            self._rung = touched if self._rung is None else _both(self._rung, touched)
        if not waiting:
            self.post_message(self.Rang())

    def on_news_host_rang(self) -> None:
        """Tells the screens, now or when the last time is long enough ago."""
        wait = self._rang_at + LOOKS_APART - time.monotonic()
        if wait > 0:
            self.set_timer(wait, self._pass_on)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        with self._bell_lock:
            touched, self._rung = self._rung, None
        desk = self.desk
        if touched is None or desk is None:
            return
        self._rang_at = time.monotonic()
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.post_message(Looked(touched))
        if touched.everything or touched.runs or touched.agents:
            self.do(self.read_news(desk))

    async def read_news(self, desk: "Desk") -> None:
        """Reads which runs work and which need the author, and tells of those that begin to."""
        self._news_wanted = True
        if self._news_read:
            return
        self._news_read = True
        try:
            while self._news_wanted:
                self._news_wanted = False
                news: News = await self.call(desk.news)
                self._tell_news(news)
        finally:
            self._news_read = False

    def _tell_news(self, news: "News") -> None:
        asking = {each.run: each for each in news.asking}
        for run in self._told.keys() - asking.keys():
            self.seen(run)
            del self._told[run]
        for run in asking.keys() - self._told.keys():
            self._told[run] = self._tell_of(asking[run])
        self.news = news

    def _tell_of(self, asking: "Asking") -> str:
        """Tells that a run needs the author, who does not see it; answers the words."""
        words = f"{asking.agent} {asking.why}. F8 goes there."
        here = self.screen
        if not (isinstance(here, BaseScreen) and here.run == asking.run):
            self._call_the_author(asking)
            self.tell(words)
        return words

    def _call_the_author(self, asking: "Asking") -> None:
        """Who looks elsewhere hears or sees it, as the settings say."""
        if self.desk is None:
            return
        settings = self.desk.studio.settings
        if settings.bell:
            self.bell()
        notice = sequence(settings.terminal_notice, asking.agent, asking.why, tmux=bool(os.environ.get("TMUX")))
        if notice and self._driver is not None:
            self._driver.write(notice)

    @property
    def screen_keeps_keys(self) -> bool:
        """Whether the screen in front shows not yet what a key may be about."""
        stack = self._screen_stacks.get(self._current_mode)
        here = stack[-1] if stack else None
        return isinstance(here, BaseScreen) and here.keeps_keys

    async def ask(self, dialog: Screen[T]) -> T | None:
        """As every dialog, with nothing over it that was told before."""
        self._drop_old_notices()
        return await super().ask(dialog)

    def _drop_old_notices(self) -> None:
        """Takes back what was told a while ago, and not what a run waits for."""
        for notice in list(self._notifications):
            if notice.message not in self._told.values() and time.time() - notice.raised_at > NOTICE_READ:
                self._unnotify(notice)

    def seen(self, run: str) -> None:
        """Takes back the notice of a run: the author is there, or it needs nobody any more."""
        words = self._told.get(run)
        for notice in list(self._notifications):
            if notice.message == words:
                self._unnotify(notice)


def _both(one: "Touched", other: "Touched") -> "Touched":
    return type(one)(
        books=one.books | other.books,
        runs=one.runs | other.runs,
        agents=one.agents | other.agents,
        everything=one.everything or other.everything,
    )
