"""What the author does in the very moment in which the worker does something else, at every such moment of a run.

A moment is one at which the worker is about to open a transaction: between two of them it holds nothing, so what
another thread or process does then is all that can come between. The worker waits until the author's act is done,
which makes the order certain.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from marginalia_tui.agent import approvals, inbox
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.errors import StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.resources import prompt
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.support.runs import Desk, desk, part_texts
from tests.support.scripted_server import ScriptedServer, by_results, calls, text

TEXTS = ["One", "Two", "Three"]
WANTED = [f"{each}\n\n+" for each in TEXTS]
"""Each part appended to, once: an edit that is repeated, or lost, shows."""


def _append(*numbers: int) -> Any:
    return calls(*(("append-to-part", {"part": f"h:m{n}", "text": "+"}) for n in numbers), usage=(100, 10))


SCRIPT = by_results([_append(1, 2), calls(), _append(3), calls(("finish", {"report": "All."}), usage=(100, 10))])
ASKS = by_results(
    [
        calls(("replace-part-text", {"part": "h:m1", "text": "New."})),
        calls(("finish", {"report": "All."}), usage=(100, 10)),
    ]
)

Act = Callable[[Desk, str], None]


MISSED = 2
"""Moments at the end of a run that may not come."""


class Moments:
    """Counts the transactions that workers open; does something before one of them."""

    def __init__(self) -> None:
        self.at = 0
        self.seen = 0
        self.act: Callable[[], None] | None = None

    @property
    def came(self) -> bool:
        """Whether the moment came. A run looks once more, or once less, when the bus tells it late."""
        return self.act is None

    def __call__(self) -> None:
        if not threading.current_thread().name.startswith("run-"):
            return
        self.seen += 1
        if self.seen == self.at and (act := self.act):
            self.act = None
            author = threading.Thread(target=act, name="author")
            author.start()
            author.join(20)
            assert not author.is_alive(), "the act does not end"


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Moments:
    counted = Moments()
    read, write = Store.read, Store.write

    def reading(store: Store) -> AbstractContextManager[Any]:
        counted()
        return read(store)

    def writing(store: Store, act: Any, **options: Any) -> AbstractContextManager[Any]:
        counted()
        return write(store, act, **options)

    monkeypatch.setattr(Store, "read", reading)
    monkeypatch.setattr(Store, "write", writing)
    return counted


@contextmanager
def _disturbed(
    store: Store, moments: Moments, script: Any, at: int, act: Act, **fields: Any
) -> Iterator[tuple[Desk, str, list[StatusConflict]]]:
    """A run in which `act` is done at its moment `at`; with what was refused then."""
    refused: list[StatusConflict] = []
    with ScriptedServer(script) as server, desk(store, server.url, TEXTS, **fields) as made:
        name = threading.Event()
        runs: list[str] = []

        def at_moment() -> None:
            assert name.wait(20)
            try:
                act(made, runs[0])
            except StatusConflict as error:
                refused.append(error)

        moments.at, moments.seen, moments.act = at, 0, at_moment
        runs.append(made.start())
        name.set()
        yield made, runs[0], refused


def _rest(made: Desk, run: str) -> Run:
    """The run once it rests. An act may have begun another worker: that one is waited for too."""
    while made.runner.worker(run) is not None:
        made.rest(run)
    return made.run(run)


def _every_moment(store: Store, moments: Moments, script: Any, **fields: Any) -> range:
    """The moments of an undisturbed run."""
    with _disturbed(store, moments, script, 0, lambda *_: None, **fields) as (made, run, _):
        _rest(made, run)
        made.runner.stop(run, keep=False)
        seen = moments.seen
    return range(1, seen + 1)


def _check_done(made: Desk, run: str, *, cut: bool = False) -> None:
    """What was done is what the results say; all of it, unless calls were cut off."""
    seen = _rest(made, run)
    assert (seen.status, seen.reason) == (RunStatus.DONE, "All.")
    rows = made.entries(run)
    ok = {row.message.call_id for row in rows if row.message.role == "tool" and row.message.ok}
    done = [call.arguments for row in rows for call in row.message.calls if call.id in ok]
    texts = part_texts(made.store, made.book, seen.copy)
    assert [text.count("+") for text in texts] == [sum(f"h:m{n}" in each for each in done) for n in (1, 2, 3)]
    assert cut or texts == WANTED
    asked = [call.id for entry in made.entries(run) for call in entry.message.calls]
    answered = [entry.message.call_id for entry in made.entries(run) if entry.message.role == "tool"]
    assert asked == answered


def _pause(made: Desk, run: str) -> None:
    made.runner.pause(run)


def _pause_now(made: Desk, run: str) -> None:
    made.runner.pause(run, now=True)


def _stop_keep(made: Desk, run: str) -> None:
    made.runner.stop(run, keep=True)


def _stop_discard(made: Desk, run: str) -> None:
    made.runner.stop(run, keep=False)


def _send(made: Desk, run: str) -> None:
    made.runner.send(run, "Leave the dialect.")


def _force_and_command(made: Desk, run: str) -> None:
    made.runner.send(run, "Leave the dialect.")
    made.runner.command(run, "/append-to-part 3 mine")
    with made.store.read() as tx:
        message, _ = inbox.queued(tx, run)
    made.runner.force(run, message.id)


def _force(made: Desk, run: str) -> None:
    made.runner.send(run, "Leave the dialect.")
    with made.store.read() as tx:
        (message,) = inbox.queued(tx, run)
    made.runner.force(run, message.id)


def _park(made: Desk, run: str) -> None:
    worker = made.runner.worker(run)
    if worker is not None:
        worker.park()


@pytest.mark.parametrize(
    ("act", "first", "step"), [(_pause, 0, 1), (_pause_now, 0, 2), (_stop_keep, 1, 2), (_park, 0, 2)]
)
def test_rests_at_any_moment_and_goes_on_to_the_same_end(
    new_store: NewStore, moments: Moments, act: Act, first: int, step: int
) -> None:
    with new_store() as store:
        every = _every_moment(store, moments, SCRIPT)
    for at in every[first::step]:
        with new_store() as store, _disturbed(store, moments, SCRIPT, at, act) as (made, run, refused):
            seen = _rest(made, run)
            assert seen.status in (RunStatus.PAUSED, RunStatus.STOPPED_KEPT, RunStatus.DONE), (at, seen)
            # A call that went on was cut off by the author: it says so, and the script passes it by.
            cut = any(text in (prompt("paused-call"), prompt("stopped-call")) for _, text in made.results(run))
            assert not cut or act in (_pause_now, _stop_keep)
            if seen.status is not RunStatus.DONE:
                assert not refused
                made.runner.resume(run)
            _check_done(made, run, cut=cut)


def test_discarded_at_any_moment_nothing_is_left(new_store: NewStore, moments: Moments) -> None:
    with new_store() as store:
        every = _every_moment(store, moments, SCRIPT)
    for at in every:
        with new_store() as store, _disturbed(store, moments, SCRIPT, at, _stop_discard) as (made, run, refused):
            seen = _rest(made, run)
            if not moments.came:
                # It does not come again: the author discards what is done.
                assert seen.status is RunStatus.DONE, (at, seen)
                made.runner.stop(run, keep=False)
                seen = made.run(run)
            assert not refused
            assert (seen.status, seen.space) == (RunStatus.STOPPED_DISCARDED, None), (at, seen)
            assert part_texts(store, made.book) == TEXTS
            with store.read() as tx:
                assert tx.connection.exec_driver_sql("SELECT count(*) FROM part WHERE space_id <> 1").scalar() == 0


def test_what_is_sent_at_any_moment_is_heard_once_or_refused(new_store: NewStore, moments: Moments) -> None:
    with new_store() as store:
        every = _every_moment(store, moments, SCRIPT)
    came = 0
    for at in every:
        with new_store() as store, _disturbed(store, moments, SCRIPT, at, _send) as (made, run, refused):
            _check_done(made, run)
            heard = [entry for entry in made.entries(run) if entry.message.text == "Leave the dialect."]
            if moments.came:
                came += 1
                assert len(heard) == (0 if refused else 1), at
            else:
                assert not heard, at
    assert came >= len(every) - MISSED


def test_what_is_forced_and_commanded_at_any_moment_is_done_once_or_refused(
    new_store: NewStore, moments: Moments
) -> None:
    """No call without a result or with two, the message heard once, the command run once."""
    with new_store() as store:
        every = _every_moment(store, moments, SCRIPT)
    for at in every[::5]:
        with new_store() as store, _disturbed(store, moments, SCRIPT, at, _force_and_command) as (made, run, refused):
            seen = _rest(made, run)
            assert seen.status is RunStatus.DONE, (at, seen)
            rows = made.entries(run)
            asked = [call.id for entry in rows for call in entry.message.calls]
            assert asked == [entry.message.call_id for entry in rows if entry.message.role == "tool"], at
            done = 0 if refused or not moments.came else 1
            assert sum(entry.message.text == "Leave the dialect." for entry in rows) == done, at
            assert part_texts(store, made.book, seen.copy)[2].count("mine") == done, at
            with store.read() as tx:
                assert inbox.is_empty(tx, run), at


@pytest.mark.parametrize("act", [_pause, _pause_now, _stop_keep, _stop_discard, _send, _park])
def test_a_turn_that_ends_in_the_moment_of_an_act(new_store: NewStore, moments: Moments, act: Act) -> None:
    """IDLE is a rest like the others: nothing the author does while it comes makes a fault of it."""
    script = [text("Shall I?")] * 6
    with new_store() as store:
        every = _every_moment(store, moments, script)
    rests: dict[Act, set[RunStatus]] = {
        _pause: {RunStatus.PAUSED},
        _pause_now: {RunStatus.PAUSED},
        _stop_keep: {RunStatus.STOPPED_KEPT},
        _stop_discard: {RunStatus.STOPPED_DISCARDED},
        _send: {RunStatus.IDLE},
        _park: {RunStatus.PAUSED, RunStatus.IDLE},
    }
    acted = 0
    for at in every:
        with new_store() as store, _disturbed(store, moments, script, at, act) as (made, run, _):
            seen = _rest(made, run)
            if moments.came:
                acted += 1
                assert seen.status in rests[act], (at, seen)
    assert acted >= len(every) - MISSED


@pytest.mark.parametrize("act", [_pause, _pause_now, _stop_keep, _stop_discard, _park])
def test_an_approval_that_is_asked_for_in_the_moment_of_an_act(new_store: NewStore, moments: Moments, act: Act) -> None:
    fields = {"commands": "all", "destructive": "ask"}
    with new_store() as store:
        every = _every_moment(store, moments, ASKS, **fields)
    for at in every:
        with new_store() as store, _disturbed(store, moments, ASKS, at, act, **fields) as (made, run, _):
            seen = _rest(made, run)
            if act is _stop_discard:
                assert seen.status is RunStatus.STOPPED_DISCARDED, (at, seen)
                continue
            if seen.status is not RunStatus.WAITING_APPROVAL:
                assert seen.status in (RunStatus.PAUSED, RunStatus.STOPPED_KEPT), (at, seen)
                made.runner.resume(run)
                assert _rest(made, run).status is RunStatus.WAITING_APPROVAL
            with store.read() as tx:
                (asked,) = approvals.pending(tx, run)
            made.runner.decide(run, asked.call, "approve")
            seen = _rest(made, run)
            assert (seen.status, seen.reason) == (RunStatus.DONE, "All.")
            assert part_texts(store, made.book, seen.copy)[0] == "New."


def test_a_message_that_is_forced_in_the_moment_in_which_a_call_asks(new_store: NewStore, moments: Moments) -> None:
    """The call is cut off, as it is when it waits already, and the agent decides anew."""
    fields = {"commands": "all", "destructive": "ask"}
    with new_store() as store:
        every = _every_moment(store, moments, ASKS, **fields)
    cut = 0
    for at in every:
        with new_store() as store, _disturbed(store, moments, ASKS, at, _force, **fields) as (made, run, _):
            seen = _rest(made, run)
            assert seen.status in (RunStatus.WAITING_APPROVAL, RunStatus.DONE), (at, seen)
            if seen.status is RunStatus.DONE:
                cut += 1
                assert not made.results(run)[0][0], at
    assert cut > 0
