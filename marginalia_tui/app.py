"""The app: modes, keys, the opening and closing of the studio, and the bridge from commits to screens.

It paints first. The studio (and with it the store, the models, every command) is opened on a thread after the first
picture; screens show what they know until then. Nothing here waits for a thread, a query or a model.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from marginalia_tui.desk.look import read_look, usable_keymap
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.screens.announcing import NewsHost
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.keys import load_all
from marginalia_tui.screens.library import LibraryScreen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.command import Provider

    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.shelf import Shelf
    from marginalia_tui.extensions import AddedScreen
    from marginalia_tui.studio import Studio

log = logging.getLogger(__name__)

PARK_SECONDS = 5.0
"""How long the end waits for the runs to be parked."""
HAND_OVER_SECONDS = 25.0
"""How much longer it waits when the runs are to go on without a terminal: a process has to start for them."""
TWICE_SECONDS = 2.0
TERMINAL_SECONDS = 1.0
"""How often it is looked whether the terminal is still there."""

_ALWAYS = frozenset({"ctrl+c", "ctrl+q"})
_AT_ONCE = _ALWAYS | {"q", "up", "down", "pageup", "pagedown", "home", "end", *"LBAS", "f1", "f2", "f3", "f4", "f5"}
"""The keys that need no open studio."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Opener = Callable[[Path], "Desk"]
Starter = Callable[["Studio"], str | None]


def open_home(home: Path) -> "Desk":
    """Opens the studio of a home, with its log."""
    from marginalia_tui.desk.opening import open_desk
    from marginalia_tui.logs import start_log
    from marginalia_tui.store.schema import prepare_home

    prepare_home(home)
    start_log(home)
    desk = open_desk(home)
    # What was imported stays for good: a full collection would walk through all of it, 70 to 100 ms in which no key
    # is answered. What comes and goes while the app runs is collected as ever, the old of it less often.
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)
    return desk


def _read_shelf(home: Path) -> "Shelf":
    from marginalia_tui.desk.shelf import read_shelf

    return read_shelf(home)


def _book() -> Screen[Any]:
    from marginalia_tui.screens.book import BookScreen

    return BookScreen()


def _agents() -> Screen[Any]:
    from marginalia_tui.screens.agents import AgentsScreen

    return AgentsScreen()


def _settings() -> Screen[Any]:
    from marginalia_tui.screens.settings import SettingsScreen

    return SettingsScreen()


def _palette() -> "type[Provider]":
    from marginalia_tui.screens.palette import CommandProvider

    return CommandProvider


class MarginaliaApp(NewsHost):
    """The studio in a terminal.

    Args:
        home: the folder of the studio.
        opener: opens it, on a thread.
        start: called on a thread with the open studio; the run that it answers is shown.
        open_run: the run that is shown first.
    """

    TITLE = "Marginalia"
    COMMANDS = App.COMMANDS | {_palette}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "library": LibraryScreen,
        "book": _book,
        "agents": _agents,
        "settings": _settings,
    }
    DEFAULT_MODE = "library"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "bar", "command", id="app.bar"),
        Binding("ctrl+o", "bar", "command, where / is typed", show=False, priority=True, id="app.bar_always"),
        Binding("L,f2", "mode('library')", "Library", show=False, id="app.library"),
        Binding("B,f3", "mode('book')", "Book", show=False, id="app.book"),
        Binding("A,f4", "mode('agents')", "Agents", show=False, id="app.agents"),
        Binding("S,f5", "mode('settings')", "Settings", show=False, id="app.settings"),
        Binding("f8", "answer", "Go to the run that asks", show=False, id="app.answer"),
        Binding("f7", "stop_command", "Stop the command", show=False, id="app.stop_command"),
        Binding("W", "work", "Commands and answers", show=False, id="app.work"),
        Binding("f9", "command_palette", "Palette", show=False, id="app.palette"),
        Binding("question_mark,f1", "help", "help", id="app.help"),
        Binding("q", "quit", "quit", id="app.quit"),
        Binding("ctrl+q", "quit", "quit, where q is typed", show=False, id="app.quit_always"),
        Binding("Q", "quit_working", "Quit; the agents work on", show=False, id="app.quit_working"),
    ]

    def __init__(
        self,
        home: Path,
        *,
        opener: Opener = open_home,
        start: Starter | None = None,
        open_run: str | None = None,
    ) -> None:
        super().__init__(home)
        look = read_look(home)
        if look.theme in self.available_themes:
            self.theme = look.theme
        self.set_keymap(look.keymap)
        self._opener = opener
        self._start = start
        self._first_run = open_run
        self._main_loop: asyncio.AbstractEventLoop | None = None
        self._shutting = threading.Lock()
        self._shut = threading.Event()
        self._ended = threading.Event()
        self._interrupted_at = 0.0
        self._signalled = False
        self._works_on = False
        """Whether the runs are to go on when the studio is closed."""
        self._unsubscribe: Callable[[], None] | None = None
        self._opening = True
        self._early: list[events.Key] = []
        """What was typed before the studio was open."""

    @property
    def studio(self) -> "Studio | None":
        """The studio; None until it is open."""
        return None if self.desk is None else self.desk.studio

    # Opening

    def on_mount(self) -> None:
        """Opens the studio after the first picture."""
        self._main_loop = asyncio.get_running_loop()
        self.call_after_refresh(lambda: self.do(self._open()))
        if not self.is_headless and not _terminal_is_gone():
            self.set_interval(TERMINAL_SECONDS, self._look_at_terminal)

    def _look_at_terminal(self) -> None:
        """Ends the studio when its terminal has gone away and whoever started it was told so alone: make waits then."""
        if _terminal_is_gone():
            self.caught(signal.SIGHUP, None)

    async def on_event(self, event: events.Event) -> None:
        """Textual: holds the keys back that come before the studio is open, so that none of them is lost."""
        if self._opening and isinstance(event, events.Key) and event.key not in (_ALWAYS if self._early else _AT_ONCE):
            self._early.append(event)
        else:
            await super().on_event(event)

    def _opened(self) -> None:
        """Does what was typed meanwhile."""
        self._opening = False
        for key in self._early:
            self.post_message(key)
        self._early.clear()

    async def _open(self) -> None:
        self._opening = True
        try:
            await self._show_shelf()
            desk = await self.call(self._opener, self.home)
        except MarginaliaError as error:
            self._opening = False
            self._early.clear()
            self._show_closed(error)
            return
        if self.leaving:
            self.crew.start(desk.close)
            return
        self.desk = desk
        await self.call(desk.appear)
        self._unsubscribe = desk.studio.store.bus.subscribe(self.on_commit)
        self.settings_changed()
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.look_again()
        self._opened()
        for name, why in desk.studio.extensions.failed:
            self.notify(f"The extension {name} was left out: {why}", severity="warning", timeout=12, markup=False)
        await self.read_news(desk)
        self.crew.start(desk.tidy)
        # The other screens are imported before their keys are pressed.
        self.crew.start(load_all)
        run = self._first_run
        if self._start is not None:
            run = await self.call(self._start, desk.studio)
        if run is not None:
            self.open_run(run)

    async def _show_shelf(self) -> None:
        """Shows the books while the rest of the studio is still being imported."""
        books = await self.call(_read_shelf, self.home)
        here = self.screen
        if isinstance(here, LibraryScreen):
            await here.show(books)

    def _show_closed(self, error: MarginaliaError) -> None:
        from marginalia_tui.screens.closed import ClosedScreen

        self.push_screen(ClosedScreen(error.message), lambda again: self.do(self._open()) if again else self.leave(1))

    def settings_changed(self) -> None:
        """Takes theme and keys from the settings; whoever changed them calls it."""
        if self.desk is not None:
            settings = self.desk.studio.settings
            if settings.theme in self.available_themes:
                self.theme = settings.theme
            self.set_keymap(usable_keymap(settings.keymap))

    # Going

    async def action_mode(self, mode: str) -> None:
        """Goes to a mode; the next key is for it."""
        await self.switch_mode(mode)

    def action_answer(self) -> None:
        """Goes to the run that has waited longest for the author."""
        if self.news and self.news.asking:
            self.open_run(self.news.asking[0].run)
        else:
            self.tell("No run needs you.")

    def open_book(self, book: str) -> None:
        """Opens a book and goes to it."""
        self.opened = book
        self.switch_mode("book")

    def open_run(self, run: str) -> None:
        """Goes to the console of a run."""
        self.do(self._open_run(run))

    async def _open_run(self, run: str) -> None:
        from marginalia_tui.screens.console import ConsoleScreen

        await self.switch_mode("agents")
        here = self.screen
        if not (isinstance(here, BaseScreen) and here.run == run):
            await self.push_screen(ConsoleScreen(run))

    def action_help(self) -> None:
        """Shows the keys of this screen and the manual."""
        from marginalia_tui.screens.help import HelpScreen, keys_of

        self.push_screen(HelpScreen(keys_of(self.screen), self.current_mode))

    def get_system_commands(self, screen: Screen[Any]) -> "Iterable[SystemCommand]":
        """What the palette offers beside the commands: the modes, help, quitting."""
        for name, title in (("library", "Library"), ("book", "Book"), ("agents", "Agents"), ("settings", "Settings")):
            yield SystemCommand(f"Go to {title}", f"Shows the mode {title}", lambda name=name: self.switch_mode(name))
        for added in self._added_screens():
            yield SystemCommand(f"Open {added.title}", "A screen of an extension", partial(self._open_added, added))
        yield SystemCommand("Help", "The keys of this screen, and the manual", self.action_help)
        yield SystemCommand("Quit", "Parks the runs and closes the studio", lambda: self.leave(0))
        yield SystemCommand("Quit, the agents work on", "Their runs need no terminal", self.action_quit_working)

    def _open_added(self, added: "AddedScreen") -> None:
        self.push_screen(added.make())

    def _added_screens(self) -> "tuple[AddedScreen, ...]":
        return () if self.studio is None else self.studio.extensions.screens

    # Leaving

    async def action_quit(self) -> None:
        """Parks the runs and ends."""
        self.leave(0)

    def action_quit_working(self) -> None:
        """Ends; the runs go on without a terminal."""
        self._works_on = True
        self.leave(0)

    def action_help_quit(self) -> None:
        """Ctrl+C: twice within two seconds ends."""
        now = time.monotonic()
        if now - self._interrupted_at < TWICE_SECONDS:
            self.leave(0)
        else:
            self._interrupted_at = now
            self.tell("Press Ctrl+C again to quit.")

    def leave(self, code: int) -> None:
        """Puts everything away, parks the runs, and ends with an exit code; a second time ends at once."""
        if self.leaving:
            self.exit(code, return_code=code)
            return
        self.leaving = True
        self.do(self._leave(code))

    async def _leave(self, code: int) -> None:
        self.forget_questions()
        try:
            async with asyncio.timeout(self._patience()):
                for stack in list(self._screen_stacks.values()):
                    for screen in stack:
                        if isinstance(screen, BaseScreen):
                            await self._put_away(screen)
                if self.desk is not None:
                    if self.news and self.news.working:
                        self.tell(
                            "The runs go on without this terminal; a moment."
                            if self._works_on
                            else "Parking the runs; a few seconds at most."
                        )
                    await self.call(self._close)
        except TimeoutError:
            log.warning("the studio was not closed in time")
        finally:
            if code > 128 and _terminal_is_gone():
                # Whatever is still written to it would wait for ever.
                os._exit(code)
            self.exit(code, return_code=code)

    async def _put_away(self, screen: BaseScreen) -> None:
        try:
            await screen.before_quit()
        except MarginaliaError as error:
            # The runs are parked all the same.
            log.error("a screen could not be put away: %s", error)

    def _close(self) -> None:
        """Closes the studio; whoever calls it while another thread does waits for that."""
        with self._shutting:
            try:
                if self._unsubscribe is not None:
                    self._unsubscribe()
                if self.desk is not None:
                    self.desk.close(keep_working=self._works_on)
            finally:
                self._shut.set()

    def _patience(self) -> float:
        return PARK_SECONDS + (HAND_OVER_SECONDS if self._works_on else 0.0)

    def end(self) -> None:
        """After the app has ended, however it did: parks what is not parked yet, 5 s at most."""
        self._close_at_last()
        self._ended.set()

    def _close_at_last(self) -> None:
        self.forget_questions()
        closing = threading.Thread(target=self._close, name="marginalia-close", daemon=True)
        closing.start()
        closing.join(self._patience())

    def caught(self, number: int, _frame: object) -> None:
        """A signal that ends the program; called in the main thread, wherever it is.

        A terminal that has gone away can hold the loop up for ever, so a thread ends the program when the loop does
        not.
        """
        if self._signalled:
            # A terminal that closes sends its signal twice; the first one is being seen to.
            return
        self._signalled = True
        if number == signal.SIGHUP and self.desk is not None:
            self._works_on = self._works_on or self.desk.studio.settings.keep_working
        code = 128 + number
        threading.Thread(target=self._end_without_loop, args=[code], name="marginalia-end", daemon=True).start()
        if self._main_loop is not None:
            self._main_loop.call_soon_threadsafe(self.leave, code)

    def _end_without_loop(self, code: int) -> None:
        if not self._shut.wait(PARK_SECONDS + TWICE_SECONDS):
            self._close_at_last()
        if not self._ended.wait(TWICE_SECONDS):
            os._exit(code)


def _terminal_is_gone() -> bool:
    stream = sys.__stderr__
    try:
        termios.tcgetattr(stream if stream is not None else 2)
    except (termios.error, ValueError):
        return True
    return False


def run_app(home: Path, *, open_run: str | None = None, start: Starter | None = None) -> int:
    """Runs the app until the author quits or a signal ends it.

    Args:
        home: the folder of the studio.
        open_run: the run whose console is shown first.
        start: called on a thread with the open studio; the run that it answers is shown.

    Returns:
        The exit code: 0, 1 when the studio could not be opened, 128 + the number of a signal.
    """
    app = MarginaliaApp(home, start=start, open_run=open_run)
    before = {number: signal.signal(number, app.caught) for number in _SIGNALS}
    try:
        app.run()
    finally:
        app.end()
        for path in app.rescued:
            print(f"The store took nothing more. What you had not saved is in {path}", file=sys.stderr)
        for number, handler in before.items():
            signal.signal(number, handler)
    return app.return_code or 0
