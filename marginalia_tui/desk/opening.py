"""Opens the studio for the screens. Importing this imports everything: done on a thread, after the first paint."""

import logging
from pathlib import Path

from marginalia_tui.agent.housekeeping import tidy
from marginalia_tui.desk.backups import BackupDesk
from marginalia_tui.desk.bar import Bar
from marginalia_tui.desk.book import BookDesk
from marginalia_tui.desk.inherited import InheritedDesk
from marginalia_tui.desk.library import LibraryDesk
from marginalia_tui.desk.lorebook import LoreDesk
from marginalia_tui.desk.news import News, read_news
from marginalia_tui.desk.panels import PanelDesk
from marginalia_tui.desk.review import ReviewDesk
from marginalia_tui.desk.runs import RunsDesk
from marginalia_tui.desk.seen import SeenDesk
from marginalia_tui.desk.settings import SettingsDesk
from marginalia_tui.desk.statistics import StatisticsDesk
from marginalia_tui.desk.trash import TrashDesk
from marginalia_tui.desk.views import Views
from marginalia_tui.desk.writing import WritingDesk
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.store.presence import Presence
from marginalia_tui.studio import Studio

log = logging.getLogger(__name__)


class Desk:
    """What the screens ask. Every method may take its time: it is called on a thread."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._presence: Presence | None = None
        self.library = LibraryDesk(studio)
        self.trash = TrashDesk(studio)
        self.inherited = InheritedDesk(studio)
        self.backups = BackupDesk(studio)
        self.book = BookDesk(studio)
        self.panels = PanelDesk(studio)
        self.lore = LoreDesk(studio)
        self.settings = SettingsDesk(studio)
        self.writing = WritingDesk(studio)
        self.views = Views(studio.home)
        self.bar = Bar(studio)
        self.runs = RunsDesk(studio)
        self.seen = SeenDesk(studio)
        self.review = ReviewDesk(studio)
        self.statistics = StatisticsDesk(studio)

    def news(self) -> News:
        """What the header of every screen tells."""
        return read_news(self.studio)

    def tidy(self) -> None:
        """What is done once after the opening, while the author already works; a fault of it is only logged."""
        try:
            tidy(self.studio.store, self.studio.runner, lambda: self.studio.closed)
        except MarginaliaError as error:
            log.warning("not tidied: %s", error)
        self.studio.activity.start()

    def appear(self) -> None:
        """The author sits before a screen from now on, until `close`."""
        self._presence = Presence(self.studio.home)

    def close(self, *, keep_working: bool = False) -> None:
        """Parks the runs, or has them go on without a terminal, and closes the studio; a second time does nothing."""
        if self._presence is not None:
            self._presence.close()
        self.studio.close(keep_working=keep_working)


def open_desk(home: Path, pace: float = 40.0) -> Desk:
    """Opens the studio of a home.

    Args:
        home: its folder.
        pace: words a second that the offline proofreader writes.

    Raises:
        StoreError: it can't be opened; the sentence says what to do.
    """
    return Desk(Studio(home, pace=pace))
