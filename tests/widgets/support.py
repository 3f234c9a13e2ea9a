"""A tiny app around the widgets under test."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from marginalia_tui.widgets.theme import ThemedApp

Scenario = Callable[["Host", Pilot[None]], Awaitable[None]]


class Host(ThemedApp[None]):
    """Shows widgets, and keeps the messages they post."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widgets: Callable[[], Iterable[Widget]] = tuple, theme: str = "ink") -> None:
        super().__init__()
        self._widgets = widgets
        self.theme = theme
        self.animation_level = "none"
        self.posted: list[Any] = []

    def compose(self) -> ComposeResult:
        yield from self._widgets()

    def of(self, kind: type[Any]) -> list[Any]:
        """The messages of a kind, each once: a message is seen again in each parent."""
        return list({id(message): message for message in self.posted if isinstance(message, kind)}.values())


def run(widgets: Callable[[], Iterable[Widget]], scenario: Scenario, size: tuple[int, int] = (80, 24)) -> None:
    """Runs a scenario in an app that shows the widgets."""

    async def go() -> None:
        app = Host(widgets)
        async with app.run_test(size=size, message_hook=app.posted.append) as pilot:
            await pilot.pause()
            await scenario(app, pilot)

    asyncio.run(go())


async def until(pilot: Pilot[None], met: Callable[[], object], seconds: float = 5.0) -> None:
    """Waits for a condition."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "the condition was not met in time"
        await pilot.pause(0.01)


def seen(app: App[None]) -> list[str]:
    """The rows of the screen as text, blanks at their ends and the last column (a scrollbar) left out."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    assert len(strips) == height and width > 0
    return [strip.crop(0, width - 1).text.rstrip() for strip in strips]
