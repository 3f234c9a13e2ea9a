"""The author's queue: messages and commands to a run, forced, taken back, delivered once whatever happens."""

import threading
from contextlib import closing
from typing import Any

import pytest

from marginalia_tui.agent import author_commands, inbox
from marginalia_tui.agent.runner import Runner, RunnerParts
from marginalia_tui.agent.transcript import AUTHOR_COMMAND
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.errors import (
    Cancelled,
    Invalid,
    LeaseLost,
    MarginaliaError,
    NotFound,
    Refused,
    StatusConflict,
)
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.resources import prompt
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.support.runs import SECONDS, Desk, desk, part_texts
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, hang, text

APPEND = calls(("append-to-part", {"part": "h:m1", "text": "+"}))
FINISH = calls(("finish", {"report": "Done."}))
COMMAND = '/append-to-part h:m1 "by me"'


class Held:
    """The first reply of a server, held up until it is let go."""

    def __init__(self) -> None:
        self.asked, self.gate = threading.Event(), threading.Event()

    def reply(self, reply: Reply) -> Reply:
        return Reply(
            headers=reply.headers, steps=(reply.steps[0], Mark(self.asked), Pause(self.gate), *reply.steps[1:])
        )

    def wait(self) -> None:
        assert self.asked.wait(SECONDS)


def _kinds(made: Desk, run: str) -> list[tuple[str, str | None]]:
    return [(entry.message.role, entry.notice) for entry in made.entries(run)]


def _waiting(made: Desk, run: str) -> list[inbox.Queued]:
    with made.store.read() as tx:
        return inbox.queued(tx, run)


def test_f21_f38_what_waits_is_delivered_in_order_as_one_message_and_stays_separate_rows(store: Store) -> None:
    held = Held()
    with (
        ScriptedServer([held.reply(calls(("list-parts", {}))), APPEND, FINISH]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start()
        held.wait()
        made.runner.send(run, "First.")
        made.runner.send(run, "Second.")
        assert not made.runner.command(run, COMMAND)
        made.runner.send(run, "Third.")
        assert [item.kind for item in _waiting(made, run)] == ["author", "author", "command", "author"]
        # An ordinary pause loses nothing of it, and neither does the next start.
        made.runner.pause(run)
        held.gate.set()
        assert made.rest(run).status is RunStatus.PAUSED
        assert len(_waiting(made, run)) == 4
        made.runner.resume(run)
        seen = made.rest(run)
        assert (seen.status, _waiting(made, run)) == (RunStatus.DONE, [])
        assert part_texts(store, made.book, seen.copy) == ["One.\n\nby me\n\n+"]
        assert _kinds(made, run)[2:7] == [
            ("tool", None),
            ("user", None),
            ("user", None),
            ("user", AUTHOR_COMMAND),
            ("user", None),
        ]
        said = server.requests[1].body["messages"]
        assert [each["role"] for each in said[-2:]] == ["tool", "user"]
        words = said[-1]["content"]
        places = [words.index(each) for each in ("First.", "Second.", COMMAND, '"result": "changed"', "Third.")]
        assert places == sorted(places)


def test_commands_are_run_where_a_turn_ends_and_do_not_continue_it(store: Store) -> None:
    held = Held()
    with (
        ScriptedServer([held.reply(calls(("ask_user", {"question": "Which?"}))), FINISH]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start()
        held.wait()
        made.runner.command(run, COMMAND)
        made.runner.command(run, "/get-part nowhere")
        held.gate.set()
        seen = made.rest(run)
        assert (seen.status, seen.reason, seen.rounds) == (RunStatus.IDLE, "Which?", 1)
        assert part_texts(store, made.book, seen.copy) == ["One.\n\nby me"]
        rows = [entry.message for entry in made.entries(run) if entry.notice == AUTHOR_COMMAND]
        assert [row.ok for row in rows] == [True, False]
        assert "Error: " in rows[1].text
        # On a run that waits another one is run at once, and the run waits on.
        assert made.runner.command(run, "/list-parts")
        assert made.rest(run).status is RunStatus.IDLE
        assert _kinds(made, run)[-1] == ("user", AUTHOR_COMMAND)
        made.runner.send(run, "The first.")
        assert made.rest(run).status is RunStatus.DONE
        assert "h:m1" in server.requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("list-parts", Invalid, "begins with /"),
        ("/no-such", NotFound, "no-such"),
        ("/replace-part-text h:m1 New.", Refused, "removes or overwrites"),
        ("/switch-branch 1", Refused, "not among the commands of Corrector"),
        ("/get-part", Invalid, "part"),
    ],
)
def test_what_can_not_be_run_inside_a_run_is_refused_at_once(
    store: Store, line: str, error: type[MarginaliaError], says: str
) -> None:
    allowed = ("list-parts", "get-part", "replace-part-text")
    with (
        ScriptedServer([text("Hm.")]) as server,
        desk(store, server.url, ["One."], commands=allowed, destructive="ask") as made,
    ):
        run = made.start(interactive=True)
        made.rest(run)
        with pytest.raises(error, match=says):
            made.runner.command(run, line)
        assert _waiting(made, run) == []
        made.runner.stop(run, keep=True)
        with pytest.raises(StatusConflict, match="resume it first"):
            made.runner.command(run, "/list-parts")


def test_force_gives_the_request_up_and_delivers_at_once(store: Store) -> None:
    with ScriptedServer([hang(), APPEND, FINISH]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        server.wait_for(1)
        made.runner.send(run, "Stop that.")
        (item,) = _waiting(made, run)
        made.runner.force(run, item.id)
        seen = made.rest(run)
        assert server.requests[0].gone.wait(SECONDS)
        assert (seen.status, seen.rounds) == (RunStatus.DONE, 2)
        assert server.requests[1].body["messages"][-1]["content"].endswith("Stop that.")
        with pytest.raises(NotFound, match="delivered"):
            made.runner.force(run, item.id)
        assert not made.runner.cancel(run, item.id)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The first append takes for ever, until it is stopped; set when it has begun."""
    prepare, began = Dispatcher.prepare, threading.Event()
    patient = [True]

    def preparing(
        self: Dispatcher, command: Any, arguments: Any, scope: Any, control: Control | None = None, **options: Any
    ) -> Any:
        name = command if isinstance(command, str) else command.name
        if name == "append-to-part" and patient and control is not None:
            patient.pop()
            began.set()
            assert control._stop.wait(SECONDS), "nobody stops it"
            raise Cancelled("It was stopped.")
        return prepare(self, command, arguments, scope, control, **options)

    monkeypatch.setattr(Dispatcher, "prepare", preparing)
    return began


@pytest.mark.parametrize("elsewhere", [False, True])
def test_force_cuts_the_call_and_those_after_it_off(store: Store, slow: threading.Event, elsewhere: bool) -> None:
    both = calls(("append-to-part", {"part": "h:m1", "text": "+"}), ("list-parts", {}))
    other = Store.open(store.home)  # as another process has it
    with ScriptedServer([both, APPEND, FINISH]) as server, desk(store, server.url, ["One."]) as made, closing(other):
        runner = (
            Runner(RunnerParts(other, Dispatcher(made.registry), made.models, Settings)) if elsewhere else made.runner
        )
        run = made.start()
        assert slow.wait(SECONDS)
        runner.send(run, "Not that part.")
        (item,) = _waiting(made, run)
        runner.force(run, item.id)
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        assert made.results(run)[:2] == [(False, prompt("forced-call"))] * 2
        assert part_texts(store, made.book, seen.copy) == ["One.\n\n+"]
        words = [each["content"] for each in server.requests[1].body["messages"]]
        assert words[-3:] == [prompt("forced-call"), prompt("forced-call"), "Not that part."]


def test_force_while_a_call_waits_for_approval_is_no_denial(store: Store) -> None:
    replace = calls(("replace-part-text", {"part": "h:m1", "text": "New."}))
    with (
        ScriptedServer([replace, FINISH, FINISH]) as server,
        desk(store, server.url, ["One."], commands="all", destructive="ask") as made,
    ):
        run = made.start()
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        assert not made.runner.send(run, "Leave it.")
        (item,) = _waiting(made, run)
        assert made.runner.force(run, item.id)
        assert made.rest(run).status is RunStatus.DONE
        assert made.results(run)[0] == (False, prompt("forced-call"))


def test_a_command_survives_the_end_of_its_process_and_is_run_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after the effect and before the commit: neither is there, and it is run when the run goes on."""
    record = author_commands.record

    def dying(*_: Any, **__: Any) -> Any:
        raise LeaseLost("The process ended.")

    with (
        ScriptedServer([text("Hm."), APPEND, FINISH]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start(interactive=True)
        seen = made.rest(run)
        monkeypatch.setattr(author_commands, "record", dying)
        made.runner.command(run, COMMAND)
        made.rest(run)
        assert part_texts(store, made.book, seen.copy) == ["One."]
        assert len(_waiting(made, run)) == 1
        monkeypatch.setattr(author_commands, "record", record)
        made.runner.send(run, "Go on.")
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["One.\n\nby me\n\n+"]


def test_a_command_that_is_run_can_be_taken_back_and_a_message_meanwhile_is_heard(
    store: Store, slow: threading.Event
) -> None:
    with ScriptedServer([text("Hm."), APPEND, FINISH]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(interactive=True)
        seen = made.rest(run)
        made.runner.command(run, COMMAND)
        assert slow.wait(SECONDS)
        assert made.run(run).status is RunStatus.IDLE
        assert made.runner.send(run, "Go on.")  # by the worker that is there
        (command, _) = _waiting(made, run)
        assert made.runner.cancel(run, command.id)
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["One.\n\n+"]
        assert AUTHOR_COMMAND not in [notice for _, notice in _kinds(made, run)]


def test_f15_compact_in_a_run_that_rests_and_in_one_that_works(store: Store) -> None:
    """In a run that rests nothing else is done; in one that works what was written later is read after it."""
    held = Held()
    script = [text("Shall I?"), text("They asked me to."), held.reply(APPEND), text("Still to."), FINISH]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(interactive=True)
        made.rest(run)
        assert made.runner.command(run, "/compact the dialect")
        seen = made.rest(run)
        assert (seen.status, seen.reason, _waiting(made, run)) == (RunStatus.IDLE, "Shall I?", [])
        assert "the dialect" in server.requests[1].body["messages"][-1]["content"]
        assert made.entries(run)[-1].summary
        made.runner.send(run, "Yes.")
        held.wait()
        assert [each["role"] for each in server.requests[2].body["messages"]] == ["system", "user"]
        made.runner.command(run, "/compact")
        made.runner.send(run, "Then finish.")
        held.gate.set()
        assert made.rest(run).status is RunStatus.DONE
        last = server.requests[4].body["messages"][-1]["content"]
        assert last.index("Still to.") < last.index("Then finish.")


def test_compact_while_a_call_is_open_is_refused_and_the_call_is_asked_for_again(store: Store) -> None:
    replace = calls(("replace-part-text", {"part": "h:m1", "text": "New."}))
    with (
        ScriptedServer([replace, FINISH]) as server,
        desk(store, server.url, ["One."], commands="all", destructive="ask") as made,
    ):
        run = made.start()
        made.rest(run)
        made.runner.pause(run)
        made.runner.command(run, "/compact")
        assert made.rest(run).status is RunStatus.PAUSED
        assert prompt("compact-later") in made.entries(run)[-1].message.text
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
