import asyncio
import threading

import pytest
from textual.pilot import Pilot

from marginalia_tui.widgets.background import Latest
from tests.widgets.support import Host, run, until


def test_the_newest_job_wins_and_results_come_on_the_loop() -> None:
    go = threading.Event()
    done: list[tuple[str, str]] = []

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        latest = Latest(app)
        here = threading.current_thread().name

        def keep(text: str) -> None:
            done.append((text, threading.current_thread().name))

        def first() -> str:
            assert go.wait(5)
            return "first"

        latest.ask(first, keep)
        latest.ask(lambda: "second", keep)
        latest.ask(lambda: "third", keep)
        assert latest.busy and not done
        go.set()
        await until(pilot, lambda: len(done) == 2)
        assert done == [("first", here), ("third", here)]
        await until(pilot, lambda: not latest.busy)
        assert not [each for each in threading.enumerate() if each.name == "marginalia-widget"]

    run(tuple, scenario)


def test_an_exception_of_a_job_is_not_swallowed() -> None:
    def fault() -> str:
        raise ZeroDivisionError("of a job")

    async def go() -> None:
        app = Host()
        async with app.run_test() as pilot:
            latest = Latest(app)
            latest.ask(fault, print)
            await until(pilot, lambda: not latest.busy)
            await pilot.pause()

    with pytest.raises(ZeroDivisionError, match="of a job"):
        asyncio.run(go())
