"""kill -9 and SIGSTOP at many moments of a run: every edit is there exactly once, and nothing is repeated."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.runs import Run, list_runs
from marginalia_tui.domain.chat import ModelDefinition, Request
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.openai_chat import wire_messages
from marginalia_tui.services.models import save_model
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.conftest import NewHome
from tests.support import warm
from tests.support.runs import add_book, make_registry, part_texts
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, by_results, calls, text

TEXTS = ["One", "Two", "Three", "Four", "Five"]
WANTED = [f"{text}\n\n+" for text in TEXTS]
"""Each part appended to, once: an edit that is repeated shows."""


def _append(*numbers: int) -> Reply:
    return calls(*(("append-to-part", {"part": f"h:m{n}", "text": "+"}) for n in numbers), usage=(100, 10))


SCRIPT = [
    calls(("list-parts", {}), usage=(100, 10)),
    _append(1, 2),
    calls(),  # never asked: the second call of an answer comes before the next request
    _append(3),
    _append(4, 5),
    calls(),
    calls(("finish", {"report": "All five."}), usage=(100, 10)),
]
MOMENTS = 30


@contextmanager
def _home(home: Path, url: str) -> Iterator[str]:
    with closing(Store.open(home)) as store:
        save_model(store, ModelDefinition(name="scripted", base_url=url, model="scripted", timeout=20))
        book = add_book(store, TEXTS)
        agent = agents.define_agent(uuid=store.clock.new_uuid(), book=book, name="Corrector", model="scripted")
        agents.add_agent(store, make_registry(), Settings(), agent)
    yield book


def _command(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _killer(home: Path, at: int, name: str, *verb: str) -> list[str]:
    return _command(
        "-m", "tests.support.killer", "--at", str(at), "--signal", name, "--", "--home", str(home), "--json", *verb
    )


def _cli(home: Path, *verb: str) -> subprocess.CompletedProcess[str]:
    command = _command("-m", "marginalia_tui", "--home", str(home), "--json", *verb)
    done = warm.run(command, capture_output=True, text=True, timeout=60)
    assert isinstance(done, subprocess.CompletedProcess)
    return done


def _only_run(store: Store) -> Run | None:
    with store.read() as tx:
        found = list_runs(tx)
    assert len(found) <= 1
    return found[0] if found else None


def _finish_whatever_is_left(home: Path) -> None:
    """Takes the run up as `run work` does; a run that never began is started, one that is over stays."""
    with closing(Store.open(home)) as store:
        run = _only_run(store)
    if run is None:
        done = _cli(home, "run", "start", "Corrector")
    elif run.status is RunStatus.DONE:
        return
    else:
        done = _cli(home, "run", "work", run.uuid)
    assert done.returncode == 0, done.stdout + done.stderr


def _check(home: Path, book: str) -> None:
    with closing(Store.open(home)) as store:
        run = _only_run(store)
        assert run is not None
        assert run.status is RunStatus.DONE
        assert part_texts(store, book, run.copy) == WANTED
        assert part_texts(store, book) == TEXTS
        with store.read() as tx:
            rows = transcript.entries(tx, run.uuid)
            changes = tx.connection.exec_driver_sql(
                "SELECT count(*), count(DISTINCT c.call) FROM journal j JOIN change c ON c.id = j.change_id"
                " WHERE j.space_id = ?",
                (run.copy,),
            ).one()
        assert tuple(changes) == (5, 5)
        asked = [call.id for row in rows for call in row.message.calls]
        answered = [row.message.call_id for row in rows if row.message.role == "tool"]
        assert asked == answered
        assert len(set(asked)) == len(asked) == 7
        assert [row.ordinal for row in rows] == list(range(len(rows)))
        _check_wire(wire_messages(Request(system="", messages=tuple(row.message for row in rows))))


def _check_wire(messages: list[dict[str, Any]]) -> None:
    """What a strict server wants: every call is answered, at once and once."""
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
        else:
            assert not open_calls
            open_calls = [call["id"] for call in message.get("tool_calls", ())]
            for call in message.get("tool_calls", ()):
                json.loads(call["function"]["arguments"])
    assert not open_calls


@pytest.fixture(scope="module")
def moments(new_home: NewHome, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many moments an undisturbed run has."""
    return _count(new_home(tmp_path_factory.mktemp("count")), "KILL")


@pytest.fixture(scope="module")
def free_moments(new_home: NewHome, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many of them are outside of write transactions."""
    return _count(new_home(tmp_path_factory.mktemp("count")), "STOP")


def _count(home: Path, name: str) -> int:
    with ScriptedServer(by_results(SCRIPT)) as server, _home(home, server.url) as book:
        done = warm.run(_killer(home, 0, name, "run", "start", "Corrector"), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0
        _check(home, book)
    return int(done.stderr.split()[-1])


@pytest.mark.parametrize("part", range(MOMENTS))
def test_f16_killed_at_any_moment_every_edit_is_there_once(
    new_home: NewHome, tmp_path: Path, moments: int, part: int
) -> None:
    at = 1 + part * (moments - 1) // (MOMENTS - 1)
    home = new_home(tmp_path / "home")
    with ScriptedServer(by_results(SCRIPT)) as server, _home(home, server.url) as book:
        killed = warm.run(_killer(home, at, "KILL", "run", "start", "Corrector"), capture_output=True, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        _finish_whatever_is_left(home)
        _check(home, book)


@pytest.mark.parametrize("request_number", range(5))
@pytest.mark.parametrize("place", ["before", "in", "after"])
def test_f08_killed_around_a_request(new_home: NewHome, tmp_path: Path, request_number: int, place: str) -> None:
    """Before the answer begins, in the middle of it, and when its last byte is sent."""
    home = new_home(tmp_path / "home")
    replies = [SCRIPT[0], SCRIPT[1], SCRIPT[3], SCRIPT[4], SCRIPT[6]]
    plain = replies[request_number]
    there, never = threading.Event(), threading.Event()
    cut = {"before": 0, "in": len(plain.steps) // 2, "after": len(plain.steps)}[place]
    steps = (*plain.steps[:cut], Mark(there), *([] if place == "after" else [Pause(never)]), *plain.steps[cut:])
    disturbed = Reply(headers=plain.headers, steps=steps)
    answer = by_results(SCRIPT)
    left = [disturbed]

    def script(body: dict[str, Any]) -> Reply:
        wanted = answer(body)
        return left.pop() if wanted is plain and left else wanted

    with ScriptedServer(script) as server, _home(home, server.url) as book:
        process = warm.Popen(
            _command("-m", "marginalia_tui", "--home", str(home), "--json", "run", "start", "Corrector"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert there.wait(30)
        process.kill()
        process.wait(30)
        _finish_whatever_is_left(home)
        _check(home, book)


@pytest.mark.parametrize("part", range(10))
def test_a_stopped_owner_changes_nothing_when_it_wakes_up(
    new_home: NewHome, tmp_path: Path, free_moments: int, part: int
) -> None:
    """SIGSTOP, another process takes the run over and ends it, SIGCONT."""
    home = new_home(tmp_path / "home")
    with ScriptedServer(by_results(SCRIPT)) as server, _home(home, server.url) as book:
        at = free_moments // 5 + part * (free_moments * 3 // 4) // 10
        process = warm.Popen(
            _killer(home, at, "STOP", "run", "start", "Corrector"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), "the run was over before the moment came"
        try:
            with closing(Store.open(home)) as store:
                run = _only_run(store)
            assert run is not None
            if run.status is not RunStatus.DONE:
                done = _cli(home, "run", "work", run.uuid, "--take-over")
                assert done.returncode == 0, done.stdout + done.stderr
            _check(home, book)
        finally:
            os.kill(process.pid, signal.SIGCONT)
            process.returncode = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        _check(home, book)


def test_f16_killed_while_the_conversation_is_summarised(new_home: NewHome, tmp_path: Path) -> None:
    """In the midst of the answer that is the summary: it is asked for again, and no edit is made twice."""
    home = new_home(tmp_path / "home")
    there, never = threading.Event(), threading.Event()
    summaries = [Reply(steps=(*text("All").steps[:2], Mark(there), Pause(never))), text("Parts 1 to 5 are done.")]

    def script(body: dict[str, Any]) -> Reply:
        last = str(body["messages"][-1]["content"])
        if last.startswith("Stop working for a moment"):
            return summaries.pop(0)
        if "Parts 1 to 5 are done." in last:
            return calls(("finish", {"report": "All five."}))
        if len(body["messages"]) == 2:
            return _append(1, 2, 3, 4, 5)
        return calls(("request_compaction", {}))

    with ScriptedServer(script) as server, _home(home, server.url) as book:
        process = warm.Popen(
            _command("-m", "marginalia_tui", "--home", str(home), "--json", "run", "start", "Corrector"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert there.wait(30)
        process.kill()
        process.wait(30)
        _finish_whatever_is_left(home)
        _check(home, book)
        with closing(Store.open(home)) as store, store.read() as tx:
            run = _only_run(store)
            assert run is not None
            rows = transcript.entries(tx, run.uuid)
        (summary,) = [row for row in rows if row.summary]
        assert all(row.compacted == (row.ordinal < summary.ordinal) for row in rows)
        assert run.rounds == 4
