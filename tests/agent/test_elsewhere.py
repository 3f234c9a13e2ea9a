"""A run of another process, seen while it writes and hurried at once: a second studio on the same home."""

import threading
import time
from pathlib import Path

import pytest

from marginalia_tui.agent import agents, approvals, doors
from marginalia_tui.agent.doors import NoDoor
from marginalia_tui.agent.elsewhere import Elsewhere
from marginalia_tui.agent.events import CallMade, Rested, RoundBegan, RunEvent, TextArrived
from marginalia_tui.agent.follow import follow
from marginalia_tui.agent.workers import PARK_SECONDS
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Busy, NotFound
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.models import save_model
from marginalia_tui.store import bus, lease
from marginalia_tui.store.store import Store
from tests.support.runs import SECONDS, Desk, add_book, desk, part_texts, second_studio
from tests.support.scripted_server import (
    Mark,
    Pause,
    Reply,
    ScriptedServer,
    by_results,
    call_chunks,
    calls,
    chunk,
    hang,
    stream,
)

AT_ONCE = 1.0
"""Seconds in which a request ends on a machine that does much else; measured alone it takes milliseconds."""


@pytest.fixture
def slow_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits of other processes are noticed by nobody: what is seen came through a socket."""
    monkeypatch.setattr(bus, "WATCH_SECONDS", 3_600.0)


def _held(*chunks: bytes) -> tuple[Reply, threading.Event, threading.Event]:
    there, go = threading.Event(), threading.Event()
    asking = (*call_chunks(0, "ask_user", {"question": "More?"}), chunk({}, "tool_calls"))
    return stream(chunk({"content": "The lamp"}), Mark(there), Pause(go), *chunks, *asking), there, go


def test_the_live_answer_of_another_process_is_seen(store: Store) -> None:
    reply, there, go = _held(chunk({"content": " was lit."}))
    with ScriptedServer([reply]) as server, desk(store, server.url, ["One."]) as made, second_studio(made) as other:
        run = made.start()
        assert there.wait(SECONDS)
        assert not made.runner.watch(run), "what is worked here is seen here"
        heard = threading.Condition()

        def rang() -> None:
            with heard:
                heard.notify_all()

        assert other._elsewhere.watch(run, rang)
        assert other.watch(run)
        with heard:
            assert heard.wait_for(lambda: (seen := other.live(run)) is not None and seen.text == "The lamp", SECONDS)
            here = made.runner.live(run)
            seen = other.live(run)
            assert here is not None and seen is not None
            assert (seen.place, seen.number == here.number) == (here.place, False)
            go.set()
            assert heard.wait_for(lambda: not other.is_live(run), SECONDS)
        made.rest(run)
        assert not other.watch(run), "nobody works it any more"
        other.forget(run)
        assert other.live(run) is None


@pytest.mark.usefixtures("slow_bus")
@pytest.mark.parametrize("how", ["pause", "keep", "discard"])
def test_a_request_ends_at_once_when_another_process_wants_it(store: Store, how: str) -> None:
    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One."]) as made, second_studio(made) as other:
        run = made.start()
        (request,) = server.wait_for(1)
        began = time.monotonic()
        if how == "pause":
            other.pause(run, now=True)
        else:
            other.stop(run, keep=how == "keep")
        assert request.gone.wait(SECONDS)
        assert request.gone_at - began < AT_ONCE
        status = {"pause": RunStatus.PAUSED, "keep": RunStatus.STOPPED_KEPT, "discard": RunStatus.STOPPED_DISCARDED}
        assert made.rest(run).status is status[how]


def test_a_process_that_cannot_be_told_sees_the_row(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(address: str, seconds: float) -> None:
        raise NoDoor(address)

    monkeypatch.setattr(doors, "knock", refuses)
    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One."]) as made, second_studio(made) as other:
        run = made.start()
        server.wait_for(1)
        assert not other._elsewhere.hurry(run)
        assert not other.watch(run)
        other.pause(run, now=True)
        assert made.rest(run).status is RunStatus.PAUSED


def test_a_socket_that_is_gone_leaves_the_rows(store: Store) -> None:
    reply, there, go = _held()
    with ScriptedServer([reply]) as server, desk(store, server.url, ["One."]) as made, second_studio(made) as other:
        run = made.start()
        assert there.wait(SECONDS)
        assert other.watch(run)
        watch = other._elsewhere._watches[run]
        address = Path(lease.address(store, run, made.run(run).epoch))
        made.runner._wire.close()
        assert watch.over.wait(SECONDS)
        assert not address.exists()
        assert not other.watch(run)
        assert other.live(run) is None
        go.set()
        assert made.rest(run).status is RunStatus.IDLE


def _follow(made: Desk, run: str, told: list[RunEvent]) -> threading.Thread:
    thread = threading.Thread(target=lambda: follow(made.store, run, told.append))
    thread.start()
    return thread


def test_who_follows_reads_the_answer_while_it_is_written_and_nothing_twice(store: Store) -> None:
    first, there, go = _held(chunk({"content": " was lit."}))
    script = [calls(("list-parts", {}), said="I look. "), first]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert there.wait(SECONDS)
        told: list[RunEvent] = []
        came = threading.Event()

        def hear(event: RunEvent) -> None:
            told.append(event)
            if event == TextArrived("The lamp"):
                came.set()

        thread = threading.Thread(target=lambda: follow(made.store, run, hear))
        thread.start()
        assert came.wait(SECONDS), told
        go.set()
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert "".join(event.delta for event in told if isinstance(event, TextArrived)) == "The lamp was lit."
        assert [event.n for event in told if isinstance(event, RoundBegan)] == [2]
        assert [event.name for event in told if isinstance(event, CallMade)] == ["ask_user"]
        assert isinstance(told[-1], Rested)


def test_who_follows_without_a_socket_is_told_by_the_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "address", lambda *_: "")
    reply, there, go = _held(chunk({"content": " was lit."}))
    with ScriptedServer([reply]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert there.wait(SECONDS)
        told: list[RunEvent] = []
        thread = _follow(made, run, told)
        go.set()
        thread.join(SECONDS)
        assert [event.delta for event in told if isinstance(event, TextArrived)] == ["The lamp was lit."]
        assert isinstance(told[-1], Rested)


def test_a_run_that_is_not_there_is_neither_watched_nor_hurried(store: Store) -> None:
    other = Elsewhere(store)
    assert not other.watch("0123")
    assert not other.hurry("0123")
    with pytest.raises(NotFound):
        follow(store, "0123", lambda _: None)
    other.close()


@pytest.mark.usefixtures("slow_bus")
def test_a_second_studio_sends_and_approves_and_takes_up_what_is_free_alone(store: Store) -> None:
    replace = calls(("replace-part-text", {"part": "h:m1", "text": "New."}))
    fields = {"commands": "all", "destructive": "ask"}
    held, there, go = _held()
    with (
        ScriptedServer(by_results([held, replace, calls(("finish", {"report": "All."}))])) as server,
        desk(store, server.url, ["One."], **fields) as made,
        second_studio(made) as other,
    ):
        run = made.start()
        assert there.wait(SECONDS)
        assert other.recover() == [], "its lease is held"
        with pytest.raises(Busy, match="worked by another process"):
            other.work(run)
        assert not other.send(run, "Yes, all of it.")
        go.set()
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        assert [row.message.text for row in made.entries(run) if row.message.role == "user"][-1] == "Yes, all of it."
        with store.read() as tx:
            (asked,) = approvals.pending(tx, run)
        assert other.decide(run, asked.call, "approve")
        assert other.wait(run, lambda seen: not seen.status.active, SECONDS).status is RunStatus.DONE
        assert part_texts(store, made.book, made.run(run).copy) == ["New."]


def test_several_runs_are_parked_at_once_and_taken_up_by_another_studio(store: Store) -> None:
    with ScriptedServer(lambda _: hang()) as server, desk(store, server.url, ["One."]) as made:
        definition = ModelDefinition(name="scripted", base_url=server.url, model="scripted", timeout=20, concurrent=3)
        save_model(store, definition)
        runs = [made.start()]
        for number in range(2):
            book = add_book(store, ["Two."], title=f"Book {number}")
            agent = made.agent.model_copy(
                update={"uuid": store.clock.new_uuid(), "book": book, "name": f"Corrector {number}"}
            )
            agents.add_agent(store, made.registry, made.settings, agent)
            runs.append(made.runner.start(agent.uuid))
        requests = server.wait_for(len(runs))
        with second_studio(made) as other:
            began = time.monotonic()
            made.runner.park()
            assert time.monotonic() - began < PARK_SECONDS
            assert all(request.gone.wait(SECONDS) for request in requests)
            for run in runs:
                seen = made.run(run)
                assert (seen.status, seen.interrupted) == (RunStatus.PAUSED, True)
                assert lease.is_free(store, run, seen.epoch)
                other.work(run)
            assert sorted(other.working()) == sorted(runs)
