import asyncio
from pathlib import Path

from textual.app import ComposeResult
from textual.widgets import Static

from marginalia_tui.desk.opening import Desk
from marginalia_tui.screens.base import BaseScreen
from tests.screens.rig import Rig, play


class Slow(BaseScreen):
    """Shows a number that it reads in two steps, as a screen does that calls several things off the loop."""

    def __init__(self) -> None:
        super().__init__()
        self.stored = self.shown = self.under_way = self.most = 0
        self.go_on = asyncio.Event()

    def body(self) -> ComposeResult:
        yield Static("A number")

    async def read(self, desk: Desk) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        found = self.stored
        await self.go_on.wait()
        self.shown = found
        self.under_way -= 1


def test_a_screen_that_reads_for_itself_is_not_overtaken_by_an_older_reading(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        screen = Slow()
        rig.held = 2
        await rig.app.push_screen(screen)
        await rig.until(lambda: screen.under_way, "the reading of the start")
        screen.stored = 1
        again = asyncio.create_task(screen.read_again())
        await rig.pilot.pause()
        assert not again.done() and screen.most == 1
        screen.go_on.set()
        await again
        assert (screen.shown, screen.most, screen.under_way) == (1, 1, 0)
        await screen.read_again()
        assert screen.most == 1

    play(home, steps)
