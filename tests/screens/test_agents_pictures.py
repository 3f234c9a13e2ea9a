"""Pictures of the agents, the console and the review, compared with those that were looked at and kept."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from marginalia_tui.agent import runs, transcript
from marginalia_tui.app import MarginaliaApp
from marginalia_tui.desk.opening import Desk
from marginalia_tui.domain.chat import Usage
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.services.models import OFFLINE
from marginalia_tui.store.journal import Act
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.studio import Studio
from tests.screens.rig import FixedClock, Rig, add_book, lamp_home
from tests.screens.test_pictures import SIZES, SnapCompare
from tests.screens.test_review import TEXTS, Case, make
from tests.screens.working import agent_home, save_scripted, start
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, chunk, stream

Play = Callable[[Rig], Awaitable[None]]
by_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def no_stopwatch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call took as long."""
    append = transcript.append

    def appended(*given: Any, seconds: float | None = None, **more: Any) -> transcript.Entry:
        # Also one that took no time that a clock tells.
        return append(*given, seconds=0.0 if seconds is None else 0.02, **more)

    monkeypatch.setattr(transcript, "append", appended)


@contextmanager
def posing(home: Path, play: Play) -> Iterator[tuple[MarginaliaApp, Callable[[Pilot[int]], Awaitable[None]]]]:
    """An app with a clock of its own, and what is played before its picture is taken."""
    clock = FixedClock(later=1000)
    app = MarginaliaApp(home, opener=lambda home: Desk(Studio(home, pace=0, clock=clock)))

    async def before(pilot: Pilot[int]) -> None:
        rig = Rig(app, pilot)
        await rig.until(lambda: app.desk is not None and app.news is not None)
        await rig.settle()
        await play(rig)
        app.clear_notifications()
        await rig.settle()

    yield app, before
    app.end()


def _crew(home: Path) -> None:
    """Agents in many statuses."""
    ends: list[tuple[str, RunStatus | None, str]] = [
        ("Copyeditor", RunStatus.DONE, "I read 12 parts and corrected 41 slips. Two places need a person."),
        ("Fact checker", RunStatus.IDLE, "Was the bridge built in 1871 or in 1874?"),
        ("Line editor", RunStatus.PAUSED, "The run used 2,000,000 tokens, as many as it may."),
        ("Proofreader", None, ""),
        ("Translator", RunStatus.FAILED, "The studio has a fault (KeyError); its log has the details."),
    ]
    clock = FixedClock()
    with closing(Studio(home, pace=0, clock=clock)) as studio:
        save_scripted(studio, "http://127.0.0.1:1/v1", context=128_000)
        for number, (name, status, reason) in enumerate(ends, start=1):
            book = add_book(studio.store, f"Book {number} of the Harbour", [("One", "Text.")])
            model = "scripted" if number != 4 else OFFLINE.name
            agent = studio.add_agent(name=name, book=book, model=model, instructions="Do it.", enabled=number != 4)
            if status is None:
                continue
            run = clock.new_uuid()
            with studio.store.write(Act(actor="studio", label="start", run=run)) as tx:
                space = copy_book(tx, book)
                runs.add_run(tx, uuid=run, agent=agent.uuid, agent_name=name, book=book, space=space, interactive=False)
                runs.add_usage(tx, run, Usage(39_000 * number, 1_400, 0), 0.0)
                runs.transition(tx, runs.get_run(tx, run), status, reason)


@by_size
def test_picture_of_the_agents(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    _crew(home)

    async def play(rig: Rig) -> None:
        await rig.press("f4", "down")

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=size, run_before=before)


@by_size
def test_picture_of_no_agent(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    lamp_home(home, FixedClock())

    async def play(rig: Rig) -> None:
        await rig.press("f4")

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=size, run_before=before)


@by_size
def test_picture_of_the_form_of_an_agent(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    lamp_home(home, FixedClock())

    async def play(rig: Rig) -> None:
        await rig.press("f4", "n")
        await rig.write("Reader")

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=size, run_before=before)


PLAN = [
    {"step": "Read the parts", "status": "done"},
    {"step": "Correct chapter 1", "status": "in_progress"},
    {"step": "Correct chapter 2", "status": "pending"},
]
BEGIN = (
    calls(("list-parts", {}), ("update_plan", {"steps": PLAN}), said="I begin with chapter 1.", usage=(4_000, 40)),
    calls(
        ("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}),
        ("edit-part", {"part": "h:m2", "old": "no such words", "new": "the dog"}),
        usage=(5_000, 20),
    ),
)
SLOW = ("Chapter 2 has four doubled words; ", "I will take the second of each, ", "since the rhythm asks for it")


def _live() -> tuple[Reply, threading.Event]:
    there = threading.Event()
    pieces = [chunk({"content": piece}) for piece in SLOW]
    reply = stream(
        chunk({"reasoning_content": "What is doubled here?"}), *pieces, Mark(there), Pause(threading.Event())
    )
    return reply, there


@by_size
@pytest.mark.parametrize("plan", [False, True], ids=["", "plan"])
def test_picture_of_a_live_answer(home: Path, snap_compare: SnapCompare, size: tuple[int, int], plan: bool) -> None:
    reply, there = _live()
    with ScriptedServer([*BEGIN, reply]) as server:
        agent_home(home, server.url, clock=FixedClock(), instructions="Correct the slips, chapter by chapter.")

        async def play(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: there.is_set() and rig.sees("since the rhythm asks for it▌"))
            rig.desk.runs.send(console.run, "Leave the dialect as it is.")
            await rig.until(lambda: rig.sees("queued"))
            if plan:
                await rig.press("l")

        with posing(home, play) as (app, before):
            assert snap_compare(app, terminal_size=size, run_before=before)


@by_size
def test_picture_of_a_question(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    question = "Chapter 3 spells the name Marta, and chapter 5 Martha. Which of them shall I keep?"
    with ScriptedServer([*BEGIN, calls(("ask_user", {"question": question}))]) as server:
        agent_home(home, server.url, clock=FixedClock())

        async def play(rig: Rig) -> None:
            await start(rig)
            await rig.until(lambda: rig.sees("waits for your answer"))
            # A question brings the author into the box, unless they watched the run before it.
            rig.app.screen.query_one("#box").focus()
            await rig.settle()
            await rig.write("Marta")

        with posing(home, play) as (app, before):
            assert snap_compare(app, terminal_size=size, run_before=before)


APPROVAL = calls(("replace-part-text", {"part": "h:m2", "text": "It saw a dog.\n\nThe dog saw it too, and sat down."}))


@by_size
def test_picture_of_a_call_that_waits(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    with ScriptedServer([BEGIN[0], APPROVAL]) as server:
        agent_home(home, server.url, clock=FixedClock(), commands="all", destructive="ask")

        async def play(rig: Rig) -> None:
            await start(rig)
            await rig.until(lambda: rig.sees("asks for your word"))

        with posing(home, play) as (app, before):
            assert snap_compare(app, terminal_size=size, run_before=before)


@by_size
def test_picture_of_a_run_that_is_done(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    finish = calls(("finish", {"report": "One slip corrected in chapter 1.\n\n- chapter 2: nothing to do"}))
    with ScriptedServer([*BEGIN, finish]) as server:
        agent_home(home, server.url, clock=FixedClock())

        async def play(rig: Rig) -> None:
            await start(rig)
            await rig.until(lambda: rig.sees("It is done"))

        with posing(home, play) as (app, before):
            assert snap_compare(app, terminal_size=size, run_before=before)


def test_picture_of_a_console_in_the_smallest_terminal(home: Path, snap_compare: SnapCompare) -> None:
    with ScriptedServer([BEGIN[0], APPROVAL]) as server:
        agent_home(home, server.url, clock=FixedClock(), commands="all", destructive="ask")

        async def play(rig: Rig) -> None:
            await start(rig)
            await rig.until(lambda: rig.sees("asks for your word"))
            assert isinstance(rig.app.screen, ConsoleScreen)

        with posing(home, play) as (app, before):
            assert snap_compare(app, terminal_size=(40, 12), run_before=before)


def _changes(case: Case) -> None:
    case.agent(1, text=TEXTS[0].replace("stair", "stairs").replace("Nobody", "No one"))
    case.agent(2, text=TEXTS[1].replace("wind", "weather"), title="The Ledger")
    case.author(2, text=TEXTS[1].replace("price of oil", "price of lamp oil"))
    case.agent_adds("00000000-0000-4000-8000-0000000000aa", case.parts[1], "A night passed.", "An Interlude")
    case.agent_deletes(3)


REVIEWS: dict[str, tuple[str, ...]] = {
    "change": (),
    "conflict": ("down",),
    "decided": ("down", "m"),
    "added": ("down", "down"),
    "deleted": ("end",),
    "question": ("A",),
    "applied": ("A", "y"),
    "edit": ("e",),
}


@by_size
@pytest.mark.parametrize("name", REVIEWS)
def test_picture_of_a_review(home: Path, snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    make(home, _changes, clock=FixedClock())

    async def play(rig: Rig) -> None:
        await rig.press("f4", "v", *REVIEWS[name])
        for area in rig.app.screen.query("TextArea"):
            area.cursor_blink = False  # type: ignore[attr-defined]

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [(40, 12), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture_of_a_conflict_in_small_and_large_terminals(
    home: Path, snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    make(home, _changes, clock=FixedClock())

    async def play(rig: Rig) -> None:
        await rig.press("f4", "v", "down")

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=size, run_before=before)


def test_picture_of_an_empty_review(home: Path, snap_compare: SnapCompare) -> None:
    make(home, lambda case: None, clock=FixedClock())

    async def play(rig: Rig) -> None:
        await rig.press("f4", "v")

    with posing(home, play) as (app, before):
        assert snap_compare(app, terminal_size=(80, 24), run_before=before)
