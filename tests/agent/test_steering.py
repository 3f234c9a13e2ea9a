"""Steering that meets something odd: a listener that fails, a process that died, an answer that was only left."""

import threading
from contextlib import closing
from typing import Any

import pytest

from marginalia_tui.agent import approvals
from marginalia_tui.agent.agents import remove_agent
from marginalia_tui.agent.events import Rested, RunEvent
from marginalia_tui.agent.runner import Runner, RunnerParts
from marginalia_tui.agent.runs import list_runs
from marginalia_tui.agent.worker import Worker
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.errors import (
    Busy,
    Cancelled,
    Locked,
    MarginaliaError,
    NotFound,
    Refused,
    StatusConflict,
    StoreError,
)
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.resources import prompt
from marginalia_tui.services.books import trash_book
from marginalia_tui.services.gone import Gone
from marginalia_tui.services.trash import take_out
from marginalia_tui.settings import Settings
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.store import Store
from tests.support.runs import SECONDS, Desk, desk, part_texts
from tests.support.scripted_server import Mark, Pause, ScriptedServer, by_results, calls, hang, stream, text

APPEND = calls(("append-to-part", {"part": "h:m1", "text": "+"}))
FINISH = calls(("finish", {"report": "Done."}))
EDITED = by_results([APPEND, FINISH])
ASK: dict[str, Any] = {"commands": "all", "destructive": "ask"}
ASKED = by_results([calls(("replace-part-text", {"part": "h:m1", "text": "New."})), FINISH])


def _abandoned(made: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run whose process died before it did anything."""
    with monkeypatch.context() as patch:
        patch.setattr(Runner, "_begin", lambda self, setup, held, observers, **_: held.release())
        return made.start()


def _check_once(made: Desk, run: str) -> None:
    seen = made.rest(run)
    assert seen.status is RunStatus.DONE
    assert part_texts(made.store, made.book, seen.copy) == ["One.\n\n+"]


def test_a_listener_that_fails_does_not_end_the_run(store: Store) -> None:
    heard: list[RunEvent] = []

    def broken(event: RunEvent) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        run = made.runner.start(made.agent.uuid, observers=[broken, heard.append])
        _check_once(made, run)
    assert isinstance(heard[-1], Rested)


def test_the_rest_that_is_told_is_the_one_of_this_worker(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the author answered before it was told, and another worker goes on."""
    tell_rest, answered = Worker._tell_rest, threading.Event()

    def late(worker: Worker) -> None:
        if worker.rested is RunStatus.WAITING_APPROVAL:
            assert answered.wait(SECONDS)
        tell_rest(worker)

    monkeypatch.setattr(Worker, "_tell_rest", late)
    with ScriptedServer(ASKED) as server, desk(store, server.url, ["One."], **ASK) as made:
        run = made.start()
        first = made.runner.worker(run)
        assert first is not None
        made.runner.wait(run, lambda seen: seen.status is RunStatus.WAITING_APPROVAL, SECONDS)
        with store.read() as tx:
            (asked,) = approvals.pending(tx, run)
        made.runner.decide(run, asked.call, "approve")
        assert made.rest(run).status is RunStatus.DONE
        answered.set()
        assert first.done.wait(SECONDS)
        (told,) = [event for event in made.events if isinstance(event, Rested)]
        assert told.status == "WAITING_APPROVAL"


def test_a_store_that_refuses_for_a_moment_pauses_with_its_sentence(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, refusals = Store.write, [StoreError("The disk is full: free some space.")]

    def writing(self: Store, act: Any, **options: Any) -> Any:
        if act.label == "answer" and refusals:
            raise refusals.pop()
        return write(self, act, **options)

    monkeypatch.setattr(Store, "write", writing)
    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.reason) == (RunStatus.PAUSED, "The disk is full: free some space.")
        made.runner.resume(run)
        _check_once(made, run)


def test_a_worker_that_can_not_begin_leaves_the_run_free(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Worker, *_: object, **__: object) -> None:
        raise StoreError("The disk reports an error.")

    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        with monkeypatch.context() as patch, pytest.raises(StoreError):
            patch.setattr(Worker, "__init__", broken)
            made.start()
        with store.read() as tx:
            (left,) = list_runs(tx)
        assert left.status is RunStatus.PAUSED
        made.runner.work(left.uuid)
        _check_once(made, left.uuid)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_signal_between_the_commit_and_the_work_leaves_the_run_paused(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """What ends the program is raised anywhere in its main thread."""

    class Interrupted(BaseException):
        pass

    def before(self: Runner, *_: object, **__: object) -> None:
        raise Interrupted

    def after(self: Worker) -> None:
        raise Interrupted

    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        with monkeypatch.context() as patch, pytest.raises(Interrupted):
            if where == "before":
                patch.setattr(Runner, "_begin", before)
            else:
                patch.setattr(Worker, "start", after)
            made.start()
        with store.read() as tx:
            (left,) = list_runs(tx)
        assert (left.status, left.interrupted) == (RunStatus.PAUSED, True)
        made.runner.work(left.uuid)
        _check_once(made, left.uuid)


def test_f16_a_run_that_was_parked_when_it_had_finished_is_not_asked_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_turn = Worker._end_turn
    parked: list[bool] = []

    def late(self: Worker, *options: Any) -> None:
        if not parked:
            parked.append(True)
            self.park()
            return
        end_turn(self, *options)

    monkeypatch.setattr(Worker, "_end_turn", late)
    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.PAUSED
        asked = len(server.chats)
        made.runner.work(run)
        _check_once(made, run)
        assert len(server.chats) == asked


def test_a_message_to_a_run_whose_process_died_takes_it_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        run = _abandoned(made, monkeypatch)
        assert made.runner.send(run, "Go on.", detach=True) is False
        assert made.run(run).status is RunStatus.RUNNING
        assert made.runner.send(run, "Do.") is True
        _check_once(made, run)
        said = [entry.message.text for entry in made.entries(run) if entry.message.role == "user"]
        assert said[-2:] == ["Go on.", "Do."]


def test_a_message_that_is_refused_is_not_left_in_the_queue(store: Store) -> None:
    with ScriptedServer([text("Hm.")] * 9) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.IDLE
        made.runner.pause(run)
        trash_book(store, made.book)
        with pytest.raises(Refused, match="trash"):
            made.runner.send(run, "Go on.")
        with store.read() as tx:
            assert tx.connection.exec_driver_sql("SELECT count(*) FROM queue").scalar() == 0


def test_a_message_that_was_left_for_a_run_that_waits_can_be_worked(store: Store) -> None:
    script = [text("Which?"), text("Which?"), *[FINISH] * 2]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.IDLE
        with pytest.raises(StatusConflict):
            made.runner.work(run)
        made.runner.send(run, "The first.", detach=True)
        made.runner.work(run)
        assert made.rest(run).status is RunStatus.DONE


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_decision_that_was_left_can_be_worked(store: Store, decision: approvals.Decision) -> None:
    script = by_results([calls(("replace-part-text", {"part": "h:m1", "text": "New."})), FINISH, FINISH])
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], **ASK) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        with pytest.raises(StatusConflict):
            made.runner.work(run)
        with store.read() as tx:
            (asked,) = approvals.pending(tx, run)
        made.runner.decide(run, asked.call, decision, detach=True)
        made.runner.work(run)
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["New." if decision == "approve" else "One."]


def test_a_stop_while_a_call_waits_takes_the_question_back(store: Store) -> None:
    with ScriptedServer(ASKED) as server, desk(store, server.url, ["One."], **ASK) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        made.runner.stop(run, keep=True)
        seen = made.run(run)
        assert (seen.status, part_texts(store, made.book, seen.copy)) == (RunStatus.STOPPED_KEPT, ["One."])
        with pytest.raises(NotFound, match="Waiting: none"):
            made.runner.decide(run, "call_1_0", "approve")
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        made.runner.stop(run, keep=False)
        assert (made.run(run).status, made.run(run).space) == (RunStatus.STOPPED_DISCARDED, None)
        with pytest.raises(NotFound):
            made.runner.decide(run, "call_1_0", "approve")


def test_of_two_who_decide_at_once_one_is_told(store: Store) -> None:
    with ScriptedServer(ASKED) as server, desk(store, server.url, ["One."], **ASK) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        with store.read() as tx:
            (asked,) = approvals.pending(tx, run)
        both, refused = threading.Barrier(2), list[MarginaliaError]()

        def decide(decision: approvals.Decision) -> None:
            both.wait(SECONDS)
            try:
                made.runner.decide(run, asked.call, decision)
            except MarginaliaError as error:
                refused.append(error)

        threads = [threading.Thread(target=decide, args=[each]) for each in ("approve", "deny")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert made.rest(run).status is RunStatus.DONE
        (error,) = refused
        assert isinstance(error, NotFound)


def test_an_agent_is_removed_while_nothing_of_it_works(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = stream(Mark(asked), Pause(gate))
    with ScriptedServer([slow]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert asked.wait(SECONDS)
        with pytest.raises(Refused, match="stop"):
            remove_agent(store, made.agent.uuid)
        made.runner.pause(run, now=True)
        assert made.rest(run).status is RunStatus.PAUSED
        remove_agent(store, made.agent.uuid)
        for act in (made.runner.resume, made.runner.pause, made.runner.finish, made.runner.work):
            with pytest.raises(NotFound):
                act(run)
        trash_book(store, made.book)
        with store.read() as tx:
            counts = [
                tx.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
                for table in ("run", "message", "queue", "approval", "handle")
            ]
            copies = tx.connection.exec_driver_sql("SELECT count(*) FROM part WHERE space_id <> 1").scalar()
        assert (counts, copies) == ([0] * 5, 0)


@pytest.fixture
def slow_call(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The first append takes for ever, until it is stopped; set when it has begun."""
    prepare, began = Dispatcher.prepare, threading.Event()
    patient = [True]

    def slow(self: Dispatcher, name: str, arguments: Any, scope: Any, control: Control | None = None) -> Any:
        if name == "append-to-part" and patient and control is not None:
            began.set()
            patient.pop()
            assert control._stop.wait(SECONDS), "nobody stops it"
            raise Cancelled("It was stopped.")
        return prepare(self, name, arguments, scope, control)

    monkeypatch.setattr(Dispatcher, "prepare", slow)
    return began


@pytest.mark.parametrize("act", ["pause", "keep", "discard"])
def test_another_process_stops_the_call_that_goes_on(store: Store, slow_call: threading.Event, act: str) -> None:
    other = Store.open(store.home)  # as another process has it
    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made, closing(other):
        run = made.start()
        assert slow_call.wait(SECONDS)
        elsewhere = Runner(RunnerParts(other, Dispatcher(made.registry), made.models, Settings))
        if act == "pause":
            elsewhere.pause(run, now=True)
        else:
            elsewhere.stop(run, keep=act == "keep")
        seen = made.rest(run)
        wanted = {"pause": "PAUSED", "keep": "STOPPED_KEPT", "discard": "STOPPED_DISCARDED"}
        assert seen.status.value == wanted[act]


def test_pause_now_after_a_pause_stops_the_call_that_goes_on(store: Store, slow_call: threading.Event) -> None:
    with ScriptedServer([APPEND, APPEND, FINISH]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert slow_call.wait(SECONDS)
        made.runner.pause(run)
        assert made.run(run).status is RunStatus.PAUSING
        made.runner.pause(run, now=True)
        assert made.rest(run).status is RunStatus.PAUSED
        assert made.results(run) == [(False, prompt("paused-call"))]
        made.runner.resume(run)
        _check_once(made, run)


def test_of_two_that_resume_at_once_one_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(EDITED) as server, desk(store, server.url, ["One."]) as made:
        run = _abandoned(made, monkeypatch)
        made.runner.pause(run)
        both, refused = threading.Barrier(2), list[MarginaliaError]()

        def resume() -> None:
            both.wait(SECONDS)
            try:
                made.runner.resume(run)
            except MarginaliaError as error:
                refused.append(error)

        threads = [threading.Thread(target=resume) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        _check_once(made, run)
        (error,) = refused
        assert isinstance(error, StatusConflict | Busy)


def test_the_book_of_a_working_agent_stays_and_a_book_in_the_trash_is_not_worked(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = stream(Mark(asked), Pause(gate))
    with ScriptedServer([slow, APPEND, FINISH]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert asked.wait(SECONDS)
        with pytest.raises(Locked, match="Corrector"):
            trash_book(store, made.book)
        made.runner.pause(run, now=True)
        assert made.rest(run).status is RunStatus.PAUSED
        trash_book(store, made.book)
        with pytest.raises(Refused, match="restore"):
            made.runner.resume(run)
        assert made.run(run).status is RunStatus.PAUSED
        with store.write(Act(actor="author", label="restore", book=made.book)) as tx:
            take_out(tx, Gone("book", made.book, "", "", 0))
        made.runner.resume(run)
        _check_once(made, run)
        trash_book(store, made.book)
        with pytest.raises(Refused, match="restore"):
            made.start()


def test_discarded_while_it_streams(store: Store) -> None:
    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        (request,) = server.wait_for(1)
        made.runner.stop(run, keep=False)
        assert request.gone.wait(SECONDS)
        seen = made.rest(run)
        assert (seen.status, seen.space) == (RunStatus.STOPPED_DISCARDED, None)


def test_waiting_ends_in_time_though_everything_changes_all_the_time(store: Store) -> None:
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            store.bus.publish(Touched(everything=True))

    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        noise = threading.Thread(target=busy)
        noise.start()
        try:
            with pytest.raises(Busy, match="RUNNING"):
                made.runner.wait(run, lambda seen: not seen.status.active, 0.2)
        finally:
            over.set()
            noise.join(SECONDS)


def test_waiting_for_a_run_whose_process_dies_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia_tui.agent.recovery.LOOK_SECONDS", 0.02)
    held: list[Lease] = []
    with ScriptedServer() as server, desk(store, server.url, ["One."]) as made:
        with monkeypatch.context() as patch:
            patch.setattr(Runner, "_begin", lambda self, setup, lease, observers, **_: held.append(lease))
            run = made.start()
        made.runner.pause(run)
        assert made.run(run).status is RunStatus.PAUSING
        with pytest.raises(Busy):
            made.runner.wait(run, lambda seen: not seen.status.active, 0.1)
        held[0].release()
        assert made.runner.wait(run, lambda seen: not seen.status.active, SECONDS).status is RunStatus.PAUSED


def test_parking_waits_for_all_workers_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    class Stuck:
        def park(self) -> None:
            return

        @property
        def done(self) -> "Stuck":
            return self

        def wait(self, seconds: float) -> bool:
            waited.append(seconds)
            return threading.Event().wait(seconds)

    with ScriptedServer() as server, desk(store, server.url, ["One."]) as made:
        made.runner._workers = {str(n): Stuck() for n in range(4)}  # type: ignore[misc]
        made.runner.park(0.05)
        made.runner._workers = {}
    assert waited[0] > 0
    assert sum(waited) < 0.1


def test_runs_that_work_at_once_stay_within_the_limit_however_they_begin(store: Store) -> None:
    with ScriptedServer([text("Hm.")] * 9) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.IDLE
        made.settings = Settings(max_running=1)
        with store.write(Act(actor="author", label="test")) as tx:
            tx.connection.exec_driver_sql(
                "INSERT INTO run (uuid, agent, agent_name, book, status, created, changed)"
                " VALUES ('other', 'a', 'Other', 'b', 'RUNNING', 1, 1)"
            )
        with pytest.raises(Refused, match="max_running"):
            made.runner.send(run, "Go on.")
