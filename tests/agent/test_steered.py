"""Control: the table of statuses, and steering by commands of the bar."""

import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.agent.runs import latest_runs
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid, NotFound, Refused, StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.models import save_model
from marginalia_tui.studio import Studio
from tests.conftest import NewHome
from tests.support.runs import SECONDS, add_book
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, text

TABLE = """
RUNNING           active holds -         IDLE WAITING_APPROVAL PAUSING STOPPING DONE FAILED
WAITING_APPROVAL  active holds attention RUNNING PAUSED STOPPING FAILED
PAUSING           active holds -         PAUSED STOPPING FAILED
STOPPING          active holds -         STOPPED_KEPT STOPPED_DISCARDED FAILED
IDLE              -      holds attention RUNNING PAUSED DONE STOPPED_KEPT STOPPED_DISCARDED
PAUSED            -      -     reason    RUNNING STOPPED_KEPT STOPPED_DISCARDED
STOPPED_KEPT      -      -     -         RUNNING APPLIED STOPPED_DISCARDED
DONE              -      -     attention APPLIED STOPPED_KEPT STOPPED_DISCARDED
FAILED            -      -     attention
STOPPED_DISCARDED -      -     -
APPLIED           -      -     -
"""
"""The reference."""
MORE = {
    # A worker pauses by itself: at a limit, at a fault of its model, when its studio closes.
    "RUNNING": {"PAUSED"},
    # The author declares it done.
    "PAUSED": {"DONE"},
    # The work is kept, and can be tried again, reviewed, thrown away.
    "FAILED": {"RUNNING", "APPLIED", "STOPPED_KEPT", "STOPPED_DISCARDED"},
    # The undo of an apply gives the review back.
    "APPLIED": {"DONE", "STOPPED_KEPT", "FAILED"},
}
"""What this studio has beside it, with its reason."""


def test_the_table_of_statuses_is_that_of_the_reference() -> None:
    rows = [line.split() for line in TABLE.strip().splitlines()]
    assert [row[0] for row in sorted(rows)] == sorted(RunStatus)
    for name, active, holds, attention, *follow in rows:
        status = RunStatus(name)
        assert (status.active, status.holds_book) == (active == "active", holds == "holds"), name
        assert status.needs_attention("why") is (attention in ("attention", "reason")), name
        assert status.needs_attention("") is (attention == "attention"), name
        assert {each.value for each in status.next()} == {*follow, *MORE.get(name, set())}, name


def test_commands_steer_the_run_of_the_open_book(new_home: NewHome, tmp_path: Path) -> None:
    asked, gate = threading.Event(), threading.Event()
    held = text("Shall I?")
    held = Reply(headers=held.headers, steps=(Mark(asked), Pause(gate), *held.steps))
    script = [held, text("And now?"), text("Well."), calls(("list-parts", {})), text("So?")]
    with ScriptedServer(script) as server, closing(Studio(new_home(tmp_path), pace=0)) as studio:
        save_model(
            studio.store, ModelDefinition(name="scripted", base_url=server.url, model="scripted", timeout=SECONDS)
        )
        book, other = add_book(studio.store, ["One."]), add_book(studio.store, ["Two."], "Another")
        agent = studio.add_agent(name="Corrector", book=book, model="scripted").uuid

        def say(line: str, of: str | None = book) -> str:
            return studio.dispatcher.run_line(line, studio.scope(of, AlwaysYes())).sentence()

        def rests(status: RunStatus) -> None:
            with studio.store.read() as tx:
                run = latest_runs(tx)[agent].uuid
            worker = studio.runner.worker(run)
            assert worker is None or worker.done.wait(SECONDS)
            with studio.store.read() as tx:
                assert latest_runs(tx)[agent].status is status

        for line, of, error in (
            ("/agent-pause", book, NotFound),
            ("/agent-pause", other, NotFound),
            ("/agent-pause", None, Invalid),
            ("/agent-pause Nobody", None, NotFound),
        ):
            with pytest.raises(error):
                say(line, of)
        studio.runner.start(agent, interactive=True)
        assert asked.wait(SECONDS)
        assert say("/agent-pause Corrector true", None) == "Corrector: it pauses now."
        rests(RunStatus.PAUSED)
        with pytest.raises(StatusConflict):
            say("/agent-pause")
        assert say('/agent-resume "Mind the dialect."') == "Corrector: it goes on."
        rests(RunStatus.IDLE)
        assert "Mind the dialect." in server.requests[1].body["messages"][-1]["content"]
        say('/agent-send "Only chapter 1."')
        rests(RunStatus.IDLE)
        assert server.requests[2].body["messages"][-1]["content"] == "Only chapter 1."
        with pytest.raises(StatusConflict):
            say("/agent-resume")
        say("/agent-stop")
        rests(RunStatus.STOPPED_KEPT)
        say("/agent-resume")
        rests(RunStatus.IDLE)
        say("/agent-finish")
        rests(RunStatus.DONE)
        say("/agent-discard")
        rests(RunStatus.STOPPED_DISCARDED)
        for line in ("/agent-stop", "/agent-finish", "/agent-send x"):
            with pytest.raises(StatusConflict):
                say(line)


def test_an_agent_steers_no_agent(new_home: NewHome, tmp_path: Path) -> None:
    with closing(Studio(new_home(tmp_path), pace=0)) as studio:
        scope = studio.scope(None, AlwaysYes())
        with pytest.raises(Refused, match="marginalia run"):
            studio.dispatcher.run_line("/agent-pause", replace(scope, steering=None))
        assert not [each.name for each in studio.registry if each.for_agents and each.name.startswith("agent-")]
