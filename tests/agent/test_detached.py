"""Letting go of runs for another process, and what becomes of them when there is none."""

import sys
import threading

import pytest

from marginalia_tui.agent import detached
from marginalia_tui.agent.events import Rested, RunEvent, TextArrived
from marginalia_tui.agent.follow import follow
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import lease
from marginalia_tui.store.store import Store
from tests.support.runs import SECONDS, desk, part_texts, second_studio
from tests.support.scripted_server import Mark, Pause, ScriptedServer, by_results, calls, chunk, hang, stream

APPEND = ("append-to-part", {"part": "h:m1", "text": "+"})


@pytest.mark.parametrize("grace", [0.0, SECONDS])
def test_a_run_that_is_let_go_of_is_taken_up_where_it_stands(store: Store, grace: float) -> None:
    """With time the answer comes to its end; without, it is given up and asked for again."""
    there, go = threading.Event(), threading.Event()
    held = calls(APPEND, said="I write. ").after(Mark(there), Pause(go))
    script = by_results([held, calls(("finish", {"report": "All."}))])
    with ScriptedServer(script) as server, desk(store, server.url, ["One"]) as made:
        run = made.start()
        assert there.wait(SECONDS)
        told: list[RunEvent] = []
        follower = threading.Thread(target=lambda: follow(store, run, told.append))
        follower.start()
        if grace:
            go.set()
        assert list(made.runner.leave([run, "none"], grace)) == [run]
        go.set()
        assert made.runner.working() == []
        seen = made.run(run)
        assert seen.status is RunStatus.RUNNING
        assert lease.is_free(store, run, seen.epoch)
        with second_studio(made) as second:
            second.work(run)
            worker = second.worker(run)
            assert worker is None or worker.done.wait(SECONDS)
        follower.join(SECONDS)
        seen = made.run(run)
        assert (seen.status, seen.reason) == (RunStatus.DONE, "All.")
        assert part_texts(store, made.book, seen.copy) == ["One\n\n+"]
        rests = [event for event in [*told, *made.events] if isinstance(event, Rested)]
        assert [event.status for event in rests] == ["DONE"], "who let go of it tells of no rest"
        assert [event.delta for event in told if isinstance(event, TextArrived)][-1:] == ["I write. "]


def test_a_run_that_rests_meanwhile_is_not_handed_over(store: Store) -> None:
    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One"]) as made:
        run = made.start()
        server.wait_for(1)
        leaving = made.runner.leave([run], SECONDS)
        made.runner.pause(run, now=True)
        assert list(leaving) == []
        assert made.rest(run).status is RunStatus.PAUSED


@pytest.mark.parametrize("broken", ["module", "program"])
def test_runs_that_nobody_can_go_on_with_still_work_here(
    store: Store, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "module":
        monkeypatch.setattr(detached, "_MODULE", "marginalia_tui.nowhere")
    else:
        monkeypatch.setattr(sys, "executable", str(store.home / "nowhere"))
    begun, go = threading.Event(), threading.Event()
    held = stream(chunk({"content": "A"}), Mark(begun), Pause(go))
    with ScriptedServer([held]) as server, desk(store, server.url, ["One"]) as made:
        assert detached.hand_over(store.home, made.runner) == []
        run = made.start()
        assert begun.wait(SECONDS)
        assert detached.hand_over(store.home, made.runner) == []
        assert made.runner.working() == [run]
        made.runner.park()
        assert made.run(run).status is RunStatus.PAUSED
