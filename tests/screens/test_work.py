"""Commands that take long, seen from the screens: a line for each, stopped by a key, answers that are kept."""

import threading
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated

import pytest

from marginalia_tui.commands import running
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.results import Prose, Result
from marginalia_tui.desk.opening import Desk
from marginalia_tui.screens import working
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.screens.worklist import WorkListScreen
from marginalia_tui.screens.workpanel import clock
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Confirm
from tests.screens.rig import Rig, add_book, play, quick_desk


class Told(Result):
    """What a test command answers."""

    said: Prose


class Slow:
    """A long command that tells how far it is, and ends when it is let go or stopped."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began = threading.Semaphore(0)
        self.suite = ModuleType("slow")

        @command(
            "slow",
            title="Be slow",
            severity=Severity.READ,
            returns="a word",
            example="/slow one",
            work=Work.LONG,
        )
        def slow(
            ctx: Context, word: Annotated[str, Param("a word")], hold: Annotated[bool, Param("held")] = False
        ) -> Told:
            """Is slow."""
            ctx.status("Counting sheep", f"sheep {word}", done=3, total=4)
            self.began.release()
            if hold:
                with ctx.control.uninterruptible("slow"):
                    assert self.go.wait(60)
            with ctx.control.woken(self.go.set):
                assert self.go.wait(60)
            ctx.check()
            return Told(said=f"{word} one\n" * 20)

        slow.__module__ = "slow"
        self.suite.__dict__["slow"] = slow

    def opener(self, home: Path) -> Desk:
        """A desk whose registry has the command."""
        desk = quick_desk(home)
        desk.studio.registry.register(self.suite)
        return desk


@pytest.fixture
def slow() -> Slow:
    return Slow()


def test_a_long_command_has_a_line_of_its_own_and_is_stopped_by_a_key(home: Path, slow: Slow) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.run_line("/slow one")
        await rig.until(lambda: rig.sees("Counting sheep sheep one"))
        assert rig.sees("█████████░░░  75%") and rig.sees("F7 stop")
        # The studio stays usable.
        await rig.pilot.press("S")
        await rig.until(lambda: rig.sees("[Settings]") and rig.sees("Counting sheep"))
        await rig.pilot.press("f7")
        await rig.until(lambda: "slow was stopped: nothing was changed." in rig.notices)
        await rig.until(lambda: not rig.sees("Counting sheep"))
        assert not rig.app.work

    play(home, steps, opener=slow.opener)


def test_several_run_at_once_and_the_list_stops_one_of_them(home: Path, slow: Slow) -> None:
    async def steps(rig: Rig) -> None:
        rig.held = 2
        for word in ("one", "two"):
            rig.app.run_line(f"/slow {word}")
        await rig.until(lambda: rig.sees("sheep one") and rig.sees("sheep two"))
        await rig.pilot.press("W")
        work = await rig.reach(WorkListScreen)
        await rig.until(lambda: rig.sees("75%  Counting sheep sheep one"))
        first = rig.app.work[0].title
        await rig.pilot.press("s")
        await rig.until(lambda: len(rig.app.outcomes) >= 1)
        assert first in [each.title for each in rig.app.outcomes]
        await rig.until(lambda: not rig.app.work)
        rig.held = 0
        assert len(rig.app.outcomes) == 2
        await rig.pilot.press("escape")
        await rig.until(lambda: rig.app.screen is not work)

    play(home, steps, opener=slow.opener)


def test_what_writes_can_not_be_stopped(home: Path, slow: Slow) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.run_line("/slow one true")
        await rig.until(lambda: rig.sees("writing") and rig.sees("sheep one"))
        await rig.pilot.press("f7")
        await rig.until(lambda: any("it can't be stopped any more" in notice for notice in rig.notices))
        assert rig.app.work and not rig.app.work[0].control.stopped
        slow.go.set()
        await rig.until(lambda: not rig.app.work)

    play(home, steps, opener=slow.opener)


def test_an_answer_that_comes_late_disturbs_nobody_and_is_kept(home: Path, slow: Slow, tmp_path: Path) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.run_line("/slow one")
        await rig.until(lambda: bool(rig.app.work))
        await rig.pilot.press("S")
        await rig.until(lambda: rig.sees("[Settings]"))
        slow.go.set()
        await rig.until(lambda: not rig.app.work)
        await rig.pilot.pause()
        assert "Done: /slow one. W shows the answer." in rig.notices, (rig.notices, rig.app.outcomes)
        assert not isinstance(rig.app.screen, ResultScreen)
        await rig.pilot.press("W")
        await rig.reach(WorkListScreen)
        await rig.pilot.press("enter")
        await rig.reach(ResultScreen)
        assert rig.sees("one one")
        await rig.pilot.press("escape")
        await rig.reach(WorkListScreen)
        await rig.pilot.press("w")
        await rig.until(lambda: rig.sees("Save the answer"))
        await rig.pilot.press("ctrl+a")
        rig.app.screen.query_one("#picker-path").content = str(tmp_path / "answer.txt")  # type: ignore[attr-defined]
        await rig.pilot.press("enter")
        await rig.until(lambda: (tmp_path / "answer.txt").exists())
        assert "one one" in (tmp_path / "answer.txt").read_text()

    play(home, steps, opener=slow.opener)


def test_an_answer_is_shown_at_once_however_long_the_author_thought(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a question waits for does not make a command one that took long."""
    thought = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + thought[0])
    for module in (working, running):
        monkeypatch.setattr(module, "time", clock)
    with closing(Store.open(home)) as store:
        book = add_book(store, "The Cat", [("One", "A cat. " * 40), ("Two", "A cat.")])

    async def steps(rig: Rig) -> None:
        rig.app.opened = book
        rig.app.run_line("/search-replace-parts cat dog")
        await rig.reach(Confirm)
        assert rig.sees("part 1: A cat.")
        thought[0] = 100.0
        await rig.press("y")
        await rig.reach(ResultScreen)
        assert rig.sees("41 places in 2 parts")

    play(home, steps)


def test_what_was_refused_is_kept_with_its_sentence(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.run_line("/get-part 1")
        await rig.until(lambda: bool(rig.app.outcomes))
        assert rig.app.outcomes[0].shown is None and "No book is open" in rig.app.outcomes[0].text
        await rig.pilot.press("W")
        await rig.reach(WorkListScreen)
        assert rig.sees("/get-part 1") and rig.sees("No book is open")

    play(home, steps)


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, "0:00"), (67, "1:07"), (3_723.9, "1:02:03")])
def test_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown
