"""Plays the app without a terminal: presses keys, waits for what must happen, reads what is seen."""

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from textual.events import Key
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen

from marginalia_tui.app import MarginaliaApp
from marginalia_tui.desk.opening import Desk, open_desk
from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio

S = TypeVar("S", bound=Screen[Any])

SECONDS = 20.0
"""How long a test waits for what must happen."""


class FixedClock:
    """Times from the morning of a day, a second apart; uuids in order. `later` seconds and uuids are left out."""

    def __init__(self, later: int = 0) -> None:
        self._now = 1_767_258_000_000_000 + later * 1_000_000
        self._uuids = later

    def now(self) -> int:
        """Microseconds since 1970."""
        self._now += 1_000_000
        return self._now

    def new_uuid(self) -> str:
        """A uuid that counts."""
        self._uuids += 1
        return f"00000000-0000-4000-8000-{self._uuids:012d}"


class Rig:
    """An app that runs, with the keys to play it."""

    def __init__(self, app: MarginaliaApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self.held = 0
        """Jobs off the loop that a test holds up."""

    @property
    def desk(self) -> Desk:
        """The desk of the open studio."""
        assert self.app.desk is not None
        return self.app.desk

    @property
    def studio(self) -> Studio:
        """The open studio."""
        return self.desk.studio

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Lets the app run until a condition holds."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while not condition():
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"never: {what or 'the condition'}\n" + "\n".join(self.lines()))
            await self.pilot.pause(0.002)

    async def settle(self) -> None:
        """Lets the app run until nothing is under way: twice, since what was answered last may have begun more."""
        for _ in range(2):
            await self.until(self._rests, "rest")
            await self._drain()

    async def _drain(self) -> None:
        """Lets every widget take the messages that wait for it, and the screen draw what has changed.

        The pilot itself waits until the process needs no more time, which is 20 ms at least and a second beside
        a busy machine.
        """
        await self.until(self._is_drawn, "everything is drawn")
        await self.pilot._wait_for_screen()
        await self.until(self._is_drawn, "everything is drawn")

    def _is_drawn(self) -> bool:
        """No message waits, no animation is under way, and what was to be called after the next drawing was."""
        screen = self.app.screen
        if screen._callbacks or screen._layout_required or screen._scroll_required or screen._dirty_widgets:
            return False
        pumps = [self.app, *screen.walk_children(with_self=True)]
        if any(pump.message_queue_size or pump._next_callbacks for pump in pumps):
            return False
        return self.app.animator._complete_event.is_set()

    def _rests(self) -> bool:
        """No key is on its way, no thread works, and whoever waits waits for the author."""
        if self.app.key_on_its_way or self.app._coming:
            return False
        asked = len(self.app._questions)
        dialogs = sum(isinstance(screen, ModalScreen) for screen in self.app.screen_stack)
        waiting = sum(not worker.is_finished for worker in self.app.workers)
        return self.app.crew.busy <= self.held + asked and waiting <= self.held + asked + dialogs

    async def press(self, *keys: str) -> None:
        """Presses keys one after the other, each when the app is at rest."""
        for key in keys:
            await self._send(key)
            await self.settle()

    async def write(self, text: str) -> None:
        """Types a text into what has the focus."""
        names = {" ": "space", "/": "slash", '"': "quotation_mark", "-": "minus", ".": "full_stop", ",": "comma"}
        for sign in text:
            await self._send(names.get(sign, sign))
        await self.settle()

    async def _send(self, key: str) -> None:
        """What a terminal sends for a key; comes back when the widgets have heard of it."""
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        try:
            sign: str | None = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
        except KeyError:
            sign = name if len(name) == 1 else None
        event = Key(name, sign)
        event.set_sender(self.app)
        assert self.app._driver is not None
        self.app._driver.send_message(event)
        await self._drain()

    async def reach(self, screen: type[S]) -> S:
        """Waits until a screen of a class is in front."""
        await self.until(lambda: isinstance(self.app.screen, screen), f"the {screen.__name__}")
        await self.settle()
        found = self.app.screen
        assert isinstance(found, screen)
        return found

    def lines(self) -> list[str]:
        """What the screen in front shows, without the space at the ends."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    def sees(self, text: str) -> bool:
        """Whether a text is seen."""
        return any(text in line for line in self.lines())

    @property
    def notices(self) -> list[str]:
        """The notices that are shown."""
        return [notice.message for notice in self.app._notifications]


Steps = Callable[[Rig], Awaitable[None]]


def quick_desk(home: Path) -> Desk:
    """A desk whose proofreader writes at once."""
    return open_desk(home, pace=0)


def play(
    home: Path,
    steps: Steps,
    *,
    size: tuple[int, int] = (80, 24),
    opener: Callable[[Path], Desk] = quick_desk,
    app: MarginaliaApp | None = None,
    wait: bool = True,
    heard: Callable[[Message], None] | None = None,
) -> MarginaliaApp:
    """Runs the app on a home and plays the steps; with `wait` they begin when the studio is open."""
    app = app or MarginaliaApp(home, opener=opener)

    async def run() -> None:
        async with app.run_test(size=size, notifications=True, message_hook=heard) as pilot:
            rig = Rig(app, pilot)
            if wait:
                await rig.until(lambda: app.desk is not None and app.news is not None, "the studio is open")
                await rig.settle()
            await steps(rig)
            # Its end begins as when an author quits: what is under way is told so before the screens are taken apart.
            if not app._exit:
                app.exit()
        await app.crew.call(app.end)

    asyncio.run(run())
    return app


def add_book(store: Store, title: str, parts: Sequence[tuple[str, str]]) -> str:
    """A book of parts that follow each other (title, text); answers its uuid."""
    clock = store.clock
    book = clock.new_uuid()
    made: list[Part] = []
    for name, text in parts:
        parent = made[-1].uuid if made else None
        made.append(Part(uuid=clock.new_uuid(), book=book, parent=parent, created=clock.now(), title=name, text=text))
    leaf = made[-1].uuid if made else None
    with store.write(Act(actor="author", label="import", book=book)) as tx:
        tx.space(LIBRARY).put([Book(uuid=book, title=title, created=clock.now(), active_leaf=leaf), *made])
    return book


LAMP = (
    ("The Lamp", "The lamp went out at nine.\n\nNobody lit it again, for the *oil* was gone."),
    ("The Stair", "She counted the steps in the dark.\n\nThere were twelve; the lamp had shown eleven."),
    ("The Door", "The door stood open.\n\nBehind it someone breathed."),
)
"""A book in small."""


def lamp_home(home: Path, clock: Clock | None = None) -> str:
    """Puts the small book into a home; answers its uuid."""
    with closing(Store.open(home, clock=clock)) as store:
        return add_book(store, "The Lamp", LAMP)
