"""The answer that is being written, on the screen: it appears, it becomes a row, nothing is seen twice or missed."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.agent import doors
from marginalia_tui.agent.doors import NoDoor
from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.desk.transcripts import RunSource
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.screens.rig import Rig, play
from tests.screens.working import FIXED, agent_home, run_of, start, status
from tests.support.scripted_server import (
    Mark,
    Pause,
    Reply,
    ScriptedServer,
    Step,
    call_chunks,
    calls,
    chunk,
    error,
    hang,
    stream,
    text,
)

ASK: tuple[Step, ...] = (*call_chunks(0, "ask_user", {"question": "More?"}), chunk({}, "tool_calls"))
"""The end of an answer after which the run waits for the author."""


def _count(rig: Rig, words: str) -> int:
    return sum(line.count(words) for line in rig.lines())


def _gated(*before: Step, after: tuple[Step, ...] = ASK) -> tuple[Reply, threading.Event, threading.Event]:
    """A reply that is held up between its steps: the reply, what tells that it is, what lets it go on."""
    there, go = threading.Event(), threading.Event()
    return stream(*before, Mark(there), Pause(go), *after), there, go


def test_thoughts_and_words_appear_while_they_stream(home: Path) -> None:
    reply, _, go = _gated(
        chunk({"reasoning_content": "I wonder."}), chunk({"content": "I begin "}), chunk({"content": "with it."})
    )
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("agent   I begin with it.▌"))
            assert rig.sees("thinks  I wonder.")
            assert rig.sees("works   round 1   0 tokens")
            assert console.transcript.is_live
            go.set()
            await status(rig, console, "IDLE")
            await rig.until(lambda: not console.transcript.is_live)
            assert _count(rig, "I begin with it.") == 1
            assert rig.sees("thinks  (2 words of thought)")
            await rig.press("t")
            assert rig.sees("thinks  I wonder.")

        play(home, steps)


def test_each_piece_is_added_to_what_is_there(home: Path) -> None:
    gates = [threading.Event() for _ in range(3)]
    pieces: list[Step] = [chunk({"content": "one"})]
    for gate, word in zip(gates, ("two", "three", "four"), strict=True):
        pieces += [Pause(gate), chunk({"content": f" {word}"})]
    last = threading.Event()
    with ScriptedServer([stream(*pieces, Pause(last), *ASK)]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("agent   one▌"))
            gates[0].set()
            await rig.until(lambda: rig.sees("agent   one two▌"))
            gates[1].set()
            await rig.until(lambda: rig.sees("agent   one two three▌"))
            gates[2].set()
            await rig.until(lambda: rig.sees("agent   one two three four▌"))
            last.set()
            await status(rig, console, "IDLE")
            assert _count(rig, "one two three four") == 1

        play(home, steps)


def test_a_call_that_is_being_written_is_told(home: Path) -> None:
    written = json.dumps({"part": "h:m1", "text": "word " * 300})
    start_of_call, *rest = call_chunks(0, "replace-part-text", written)
    reply, _, go = _gated(start_of_call, rest[0], after=(*rest[1:], chunk({}, "tool_calls")))
    with ScriptedServer([reply, calls(("ask_user", {"question": "More?"}))]) as server:
        agent_home(home, server.url, commands="all", destructive="auto")

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees(f"writes replace-part-text, {len(written) // 2:,} characters"))
            go.set()
            await status(rig, console, "IDLE")

        play(home, steps, size=(120, 30))


def test_a_wait_for_another_try_is_told(home: Path) -> None:
    busy = error(429, "slow down", headers=[("Retry-After", "1")])
    with ScriptedServer([busy, hang()]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            await start(rig)
            await rig.until(lambda: rig.sees("The server limits how often it is asked: try 2 in 1 s."), "the wait")
            await rig.until(lambda: len(server.chats) == 2)

        play(home, steps, size=(120, 30))


def test_the_row_is_there_while_the_answer_is_still_open_and_nothing_is_seen_twice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is committed a moment before the live answer is closed: the moment is held up here."""
    committed, close = threading.Event(), threading.Event()
    end = LiveBuffer.end

    def held(buffer: LiveBuffer) -> None:
        committed.set()
        assert close.wait(20)
        end(buffer)

    monkeypatch.setattr(LiveBuffer, "end", held)
    reply, _, go = _gated(chunk({"content": "Said once."}))
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("Said once."))
            go.set()
            await rig.until(committed.is_set)
            assert rig.studio.runner.live(console.run) is not None
            await rig.until(lambda: not console.transcript.is_live, "the row takes the place of the live block")
            await rig.settle()
            assert _count(rig, "Said once.") == 1
            close.set()
            await status(rig, console, "IDLE")
            assert _count(rig, "Said once.") == 1

        play(home, steps)


def test_the_answer_stays_until_its_row_was_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is closed before the screen has read its row: the reading is held up here."""
    closed, read = threading.Event(), threading.Event()
    end, update = LiveBuffer.end, RunSource.update
    hold = threading.Event()

    def told(buffer: LiveBuffer) -> None:
        end(buffer)
        closed.set()

    def held(source: RunSource) -> int | None:
        if hold.is_set():
            assert read.wait(20)
        return update(source)

    monkeypatch.setattr(LiveBuffer, "end", told)
    monkeypatch.setattr(RunSource, "update", held)
    reply, _, go = _gated(chunk({"content": "Never missing."}))
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("Never missing."))
            hold.set()
            go.set()
            await rig.until(closed.is_set)
            rig.held = 1
            await rig.pilot.pause()
            assert _count(rig, "Never missing.") == 1
            read.set()
            await rig.until(lambda: not console.transcript.is_live)
            assert _count(rig, "Never missing.") == 1

        play(home, steps)


def test_an_answer_that_was_given_up_leaves_the_screen(home: Path) -> None:
    reply, _, _ = _gated(chunk({"content": "Half a thou"}))
    with ScriptedServer([reply, *FIXED]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("Half a thou▌"))
            await rig.press("Z")
            await status(rig, console, "PAUSED")
            await rig.until(lambda: not console.transcript.is_live)
            assert not rig.sees("Half a thou")
            await rig.press("r", "enter")
            await status(rig, console, "DONE")
            await rig.until(lambda: rig.sees("One slip corrected."))

        play(home, steps)


def test_an_answer_after_one_that_was_given_up_begins_anew(home: Path) -> None:
    first, _, _ = _gated(chunk({"content": "Half a thou"}))
    second, _, go = _gated(chunk({"content": "A whole one."}))
    with ScriptedServer([first, second]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("Half a thou▌"))
            await rig.press("Z")
            await status(rig, console, "PAUSED")
            await rig.press("r", "enter")
            await rig.until(lambda: rig.sees("agent   A whole one.▌"))
            assert not rig.sees("Half a thou")
            go.set()
            await status(rig, console, "IDLE")
            assert _count(rig, "A whole one.") == 1

        play(home, steps)


def test_a_console_that_is_opened_while_an_answer_streams_shows_it_from_its_beginning(home: Path) -> None:
    reply, there, go = _gated(chunk({"content": "From the beginning."}))
    with ScriptedServer([reply]) as server:
        _, agent = agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            run = rig.studio.runner.start(agent)
            await rig.until(there.is_set)
            rig.app.open_run(run)
            console = await rig.reach(ConsoleScreen)
            await rig.until(lambda: rig.sees("From the beginning.▌"))
            go.set()
            await status(rig, console, "IDLE")
            assert _count(rig, "From the beginning.") == 1

        play(home, steps)


def test_a_reader_who_scrolled_into_the_answer_stays_at_its_words(home: Path) -> None:
    paragraphs = [f"This is paragraph number {n} of a long answer." for n in range(1, 61)]
    reply, _, go = _gated(chunk({"reasoning_content": "Hm. " * 200}), chunk({"content": "\n\n".join(paragraphs)}))
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("paragraph number 60"))
            await rig.press("pageup", "pageup")
            await rig.until(lambda: not rig.sees("paragraph number 60"))
            seen = [line for line in rig.lines() if "paragraph number" in line]
            go.set()
            await status(rig, console, "IDLE")
            await rig.until(lambda: not console.transcript.is_live)
            await rig.settle()
            # the panel that asks for an answer takes lines at the foot; the first words stay where they were
            assert [line for line in rig.lines() if "paragraph number" in line][0] == seen[0]
            assert not console.transcript.pinned
            await rig.press("end")
            assert rig.sees("More?")

        play(home, steps)


def test_a_reader_at_the_end_stays_there(home: Path) -> None:
    paragraphs = [f"This is paragraph number {n} of a long answer." for n in range(1, 61)]
    reply, _, go = _gated(chunk({"content": "\n\n".join(paragraphs)}))
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(lambda: rig.sees("paragraph number 60"))
            go.set()
            await status(rig, console, "IDLE")
            await rig.until(lambda: rig.sees("More?"))
            assert console.transcript.pinned

        play(home, steps)


def test_a_very_long_answer_is_shown_to_its_last_word(home: Path) -> None:
    words = " ".join(f"word{n}" for n in range(12_000))
    assert len(words) > 100_000
    pieces = [words[at : at + 1_000] for at in range(0, len(words), 1_000)]
    with ScriptedServer([text(*pieces, calls=[("ask_user", {"question": "More?"})])]) as server:
        agent_home(home, server.url, context_cap=0)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            await rig.until(lambda: rig.sees("word11999"))
            await rig.press("home")
            await rig.until(lambda: rig.sees("word0 word1"))

        play(home, steps)


def _nobody_answers(address: str, seconds: float) -> socket.socket:
    raise NoDoor(f"nobody answers at {address} within {seconds} s")


@pytest.mark.parametrize("heard", [True, False])
def test_a_run_that_another_process_works_is_seen_live_or_by_its_rows(
    home: Path, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    reply, there, go = _gated(chunk({"content": "I am far away."}), after=ASK)
    with ScriptedServer([reply]) as server:
        agent_home(home, server.url)
        if not heard:
            monkeypatch.setattr(doors, "knock", _nobody_answers)
        other = subprocess.Popen(
            [sys.executable, "-m", "marginalia_tui", "--home", str(home), "run", "start", "Corrector"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:

            async def steps(rig: Rig) -> None:
                await rig.press("f4")
                await rig.until(lambda: there.is_set() and rig.sees("works"), "the other process works")
                await rig.press("enter")
                console = await rig.reach(ConsoleScreen)
                if heard:
                    await rig.until(lambda: rig.sees("I am far away.") and rig.sees("worked by another process"))
                else:
                    await rig.until(lambda: rig.sees("worked by another process: answers appear when they are whole"))
                    assert not rig.sees("I am far away.")
                assert run_of(rig, console.run).status is RunStatus.RUNNING
                go.set()
                await status(rig, console, "IDLE")
                assert _count(rig, "I am far away.") == 1
                assert rig.sees("More?")

            play(home, steps, size=(120, 30))
            assert other.wait(20) == 3
        finally:
            other.kill()
            other.wait()


def test_a_run_whose_process_died_is_paused_when_its_console_is_looked_at(home: Path) -> None:
    with ScriptedServer([hang()]) as server:
        agent_home(home, server.url)
        other = subprocess.Popen(
            [sys.executable, "-m", "marginalia_tui", "--home", str(home), "run", "start", "Corrector"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server.wait_for(1, 20)

            async def steps(rig: Rig) -> None:
                await rig.press("f4", "enter")
                console = await rig.reach(ConsoleScreen)
                await rig.until(lambda: rig.sees("worked by another process"))
                other.kill()
                other.wait()
                # any commit has the console look again
                rig.studio.runner.send(console.run, "Are you there?", detach=True)
                await status(rig, console, "PAUSED")
                assert "exactly where it was" in "\n".join(line for _, line in console.panel.lines)

            play(home, steps, size=(120, 30))
        finally:
            other.kill()
            other.wait()


def _fill(home: Path, run: str, count: int) -> None:
    """Puts so many answers with a call and its result into a transcript."""
    from sqlalchemy import insert

    from marginalia_tui.agent import transcript
    from marginalia_tui.store import tables

    with closing(Store.open(home)) as store, store.write(Act(actor="agent", label="test", run=run)) as tx:
        first = transcript.count(tx, run)
        rows = []
        for number in range(count):
            for place, role in enumerate(("assistant", "tool")):
                ordinal = first + 2 * number + place
                call = f'[{{"id": "call_{ordinal}_0", "name": "edit-part", "arguments": "{{}}"}}]'
                rows.append(
                    {
                        "uuid": store.clock.new_uuid(),
                        "run": run,
                        "thread": "",
                        "ordinal": ordinal,
                        "role": role,
                        "text": f"Row {number}. " + "Words of an answer. " * 40 if role == "assistant" else "done",
                        "reasoning": "",
                        "reasoning_field": "",
                        "calls": call if role == "assistant" else "[]",
                        "call_id": None if role == "assistant" else f"call_{ordinal - 1}_0",
                        "ok": 1,
                        "notice": None,
                        "seconds": 0.01,
                        "created": store.clock.now(),
                    }
                )
        tx.connection.execute(insert(tables.message), rows)


def _counting(rig: Rig, console: ConsoleScreen) -> Callable[[], tuple[int, int]]:
    source = console.source
    assert source is not None
    return lambda: (source.rows_read, console.transcript.laid_out)


def test_of_a_transcript_of_ten_thousand_rows_only_what_is_seen_is_read(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "More?"}))]) as server:
        _, agent = agent_home(home, server.url)
        with closing(Store.open(home)) as store:
            pass

        async def first(rig: Rig) -> None:
            await status(rig, await start(rig), "IDLE")

        play(home, first)
        from marginalia_tui.agent.runs import find_run

        with closing(Store.open(home)) as store, store.read() as tx:
            run = find_run(tx, "latest").uuid
        _fill(home, run, 5_000)

        async def steps(rig: Rig) -> None:
            await rig.press("f4", "enter")
            console = await rig.reach(ConsoleScreen)
            await rig.until(lambda: rig.sees("Row 4999."))
            counts = _counting(rig, console)
            assert console.source is not None and console.source.count() == 5_002
            read, laid_out = counts()
            assert read <= 80 and laid_out <= 40, (read, laid_out)
            console.transcript.focus()
            await rig.press(*["pageup"] * 10)
            read_more, laid_more = counts()
            assert read_more - read <= 80 and laid_more - laid_out <= 80
            await rig.press("home")
            await rig.until(lambda: rig.sees("Correct the slips."))
            jumped = counts()
            assert jumped[0] - read_more <= 160 and jumped[1] - laid_more <= 80

        play(home, steps, size=(120, 40))
