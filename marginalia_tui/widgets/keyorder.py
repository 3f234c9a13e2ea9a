"""Keys are handled one after the other: the next sets off when the one before has arrived.

Textual sends a key to what has the focus at that moment, though the key before may be about to move it. Where keys
come faster than they are handled (a slow connection brings many at once) they would go astray: text typed behind a
Tab would land in the field before.
"""

from collections import deque
from typing import TypeVar

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from marginalia_tui.widgets.theme import ThemedApp

T = TypeVar("T")

LOOK = 0.02
"""Seconds between two looks whether a key that waits may set off."""
PATIENCE = 25
"""Looks after which it sets off though the one before has not arrived: the widget that has it is busy."""
LONG_PATIENCE = 250
"""The same where a screen that was just opened keeps keys until its content is there."""
AT_ONCE = frozenset({"escape", "ctrl+c", "ctrl+q"})
"""Keys that a screen does not keep: they end the waiting, and the keys before them."""


class KeyHandled(Message):
    """Follows a key on its way: when it reaches the app the key was handled. A widget that needs longer holds it.

    It goes the way twice: what the key has the widget tell its screen (a row was chosen: the focus moves) is on its
    way behind the first one.

    Args:
        again: whether it goes the way for the second time.
    """

    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.again = again


class OrderedKeys(ThemedApp[T]):
    """The part of the app that keeps keys and pastes in order."""

    def __init__(self) -> None:
        super().__init__()
        self._coming: deque[events.Key | events.Paste] = deque()
        self._target: Widget | None = None
        """Where the key went that is on its way."""
        self._looks = 0
        self._looking: Timer | None = None

    @property
    def key_on_its_way(self) -> bool:
        """Whether a key has not arrived yet. One whose widget goes away never does, and is not waited for."""
        if self.screen_keeps_keys:
            return True
        target = self._target
        return target is not None and target.is_attached and target.display and target.is_running

    @property
    def screen_keeps_keys(self) -> bool:
        """Whether the screen in front has keys wait until what they are about is there. A subclass says so."""
        return False

    async def on_event(self, event: events.Event) -> None:
        """Textual: holds a key back while another one is on its way."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self.screen_keeps_keys and isinstance(event, events.Key) and event.key in AT_ONCE:
            self._coming.clear()
            await self._send(event)
        elif self._coming or self.key_on_its_way:
            self._coming.append(event)
            if self._looking is None:
                self._looks = 0
                self._looking = self.set_interval(LOOK, self._look)
        else:
            await self._send(event)

    async def _send(self, event: events.Key | events.Paste) -> None:
        target = self._target = self.focused or self.screen
        await super().on_event(event)
        if self._target is target and not target.post_message(KeyHandled()):
            self._target = None

    async def on_key_handled(self, event: KeyHandled) -> None:
        """The key has arrived."""
        event.stop()
        target = self._target
        if not event.again and target is not None and target.post_message(KeyHandled(again=True)):
            return
        self._target = None
        if not self.screen_keeps_keys:
            await self._send_next()

    async def _look(self) -> None:
        self._looks += 1
        patience = LONG_PATIENCE if self.screen_keeps_keys else PATIENCE
        if not self.key_on_its_way or self._looks > patience:
            await self._send_next()

    async def _send_next(self) -> None:
        self._target = None
        self._looks = 0
        if self._coming:
            await self._send(self._coming.popleft())
        if not self._coming and self._looking is not None:
            self._looking.stop()
            self._looking = None
