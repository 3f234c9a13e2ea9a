"""The base of every full screen: a line at the top, a body, a line of keys, and the way it reads itself anew.

A screen shows values that it read off the loop. `read` is called when the screen comes to the front and when
something that it `wants` was committed; while one reading is under way the next waits for it, and those between are
dropped, so the newest state is shown in the end and the loop waits for nothing.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from marginalia_tui.screens.chrome import SMALLEST, HeaderLine, KeyLine, TooSmall
from marginalia_tui.screens.host import Host
from marginalia_tui.screens.workpanel import Progress, WorkPanel

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.store.bus import Touched

T = TypeVar("T")


@dataclass
class Looked(Message, bubble=False):
    """Something was committed; the app posts it to the screens at most about seven times a second."""

    touched: "Touched"


class BaseScreen(Screen[None]):
    """A full screen. A subclass gives `body` and `read`, and says what it `wants` to hear of."""

    DEFAULT_CSS = """
    BaseScreen {
        background: $background;
        & TooSmall { display: none; }
        &.-cramped > * { display: none; }
        &.-flat > * { display: none; }
        &.-cramped > TooSmall { display: block; }
        &.-flat > TooSmall { display: block; }
    }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (SMALLEST[0], "-narrow"), (76, "-normal"), (110, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST[1], "-low"), (30, "-high")]
    AUTO_FOCUS = None

    mode_name = "library"
    """The mode whose tab is marked."""
    run: str | None = None
    """The run that the screen shows, so that no notice tells of it."""

    def __init__(self) -> None:
        super().__init__()
        # Kept, and not looked for: a reading may come to its end when the screen is being taken apart.
        self._header = HeaderLine()
        self._work = WorkPanel()
        self._up_to_date = asyncio.Event()
        self._up_to_date.set()
        self._again = False
        self.has_read = False
        """Whether it was read once, or could not be."""
        self._had_focus: Widget | None = None

    def compose(self) -> ComposeResult:
        """The header, the body, the keys."""
        self._header.mode = self.mode_name
        yield self._header
        yield from self.body()
        yield self._work
        yield KeyLine()
        yield TooSmall()

    # What a subclass gives

    def body(self) -> ComposeResult:
        """The widgets between the two lines."""
        raise NotImplementedError

    async def read(self, desk: "Desk") -> None:
        """Reads by `self.host.call` and shows it. An error for people becomes a notice."""

    def wants(self, touched: "Touched") -> bool:
        """Whether a commit may have changed what is shown."""
        return True

    async def before_quit(self) -> None:
        """Puts away what must not be lost, before the studio closes."""

    @property
    def keeps_keys(self) -> bool:
        """Whether keys wait until what they are about is shown."""
        return False

    # What it may use

    @property
    def host(self) -> Host:
        """The app."""
        host = self.app
        assert isinstance(host, Host)
        return host

    @property
    def desk(self) -> "Desk":
        """The desk; only when the studio is open."""
        desk = self.host.desk
        assert desk is not None
        return desk

    async def call(self, fn: Callable[..., T], *args: Any) -> T:
        """`host.call`."""
        return await self.host.call(fn, *args)

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        """`host.do`."""
        self.host.do(work)

    def say_where(self, place: str, facts: str = "") -> None:
        """Writes the header: where the author is, and facts about it such as words."""
        self._header.say(place, facts)

    def show_work(self, work: tuple[Progress, ...], key: str) -> None:
        """Shows how far the commands are that take long, and the key that stops the last."""
        self._work.show(work, key)

    # Reading

    def look_again(self) -> None:
        """Reads anew, now or as soon as the reading that is under way is done."""
        if self.host.desk is None or self.host.leaving or not self.is_attached:
            return
        self._again = True
        if self._up_to_date.is_set():
            self._up_to_date.clear()
            self.do(self._read_until_current())

    async def read_again(self) -> None:
        """Reads anew and comes back when it is shown; never beside another reading, whose older state came last."""
        self.look_again()
        await self._up_to_date.wait()

    async def _read_until_current(self) -> None:
        try:
            while self._again and self.is_attached:
                self._again = False
                desk = self.host.desk
                if desk is not None:
                    await self.read(desk)
        finally:
            self.has_read = True
            self._up_to_date.set()

    def on_screen_resume(self) -> None:
        """Textual: it is seen again."""
        if self.run is not None:
            self.host.seen(self.run)
        self._tell_what_is_open()
        self.look_again()

    def _tell_what_is_open(self) -> None:
        """For the statistics: which book the author has before him, if any."""
        if self.host.desk is not None and self.is_current:
            self.host.desk.studio.activity.look_at(self.host.opened if self.mode_name == "book" else None)

    def on_looked(self, event: Looked) -> None:
        """Something was committed."""
        if self.wants(event.touched):
            self.look_again()

    def on_mount(self) -> None:
        """The header tells what the app knows."""
        self.watch(self.app, "news", self._refresh_header, init=False)
        self.watch(self.app, "running", self._refresh_header, init=False)
        self.watch(self.app, "opened", self._tell_what_is_open, init=False)
        self.watch(self, "focused", self._remember_focus, init=False)

    def _remember_focus(self, focused: Widget | None) -> None:
        if focused is not None:
            self._had_focus = focused

    def on_resize(self) -> None:
        """A terminal that was too small took the focus away with everything else."""
        if self.focused is None and self.is_mounted:
            self.call_after_refresh(self._focus_again)

    def _focus_again(self) -> None:
        if self.focused is None and not (self.has_class("-cramped") or self.has_class("-flat")):
            had = self._had_focus
            if had is not None and had.is_attached and had.focusable:
                had.focus()
            else:
                self.focus_next()

    def _refresh_header(self) -> None:
        self._header.refresh()
