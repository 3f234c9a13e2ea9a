"""Notices of runs that need the author: one for each time, whoever works the run and whenever a process dies."""

import threading
from contextlib import closing

from sqlalchemy import update

from marginalia_tui.agent import errands
from marginalia_tui.agent.runs import add_run, get_run, transition
from marginalia_tui.agent.webhooks import SEEN, Webhooks
from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.settings import Settings
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.presence import Presence
from marginalia_tui.store.store import Store

SECONDS = 20.0
ACT = Act(actor="agent", label="test", run="r1")


class Sent:
    """What was sent, and a way to wait for it."""

    def __init__(self, fails: str = "") -> None:
        self.said: list[tuple[str, str, str]] = []
        self._fails = fails
        self._some = threading.Semaphore(0)

    def __call__(self, url: str, form: str, title: str, text: str, *, allow_local: bool = False) -> None:
        self.said.append((url, title, text))
        self._some.release()
        if self._fails:
            raise Refused(self._fails)

    def wait(self) -> None:
        assert self._some.acquire(timeout=SECONDS)


def a_run(store: Store) -> None:
    with store.write(ACT) as tx:
        add_run(tx, uuid="r1", agent="a1", agent_name="Corrector\x1b", book="b1", space=1, interactive=False)


def rests(store: Store, to: RunStatus, reason: str) -> None:
    with store.write(ACT) as tx:
        transition(tx, get_run(tx, "r1"), to, reason)


def goes_on(store: Store) -> None:
    with store.write(ACT) as tx:
        transition(tx, get_run(tx, "r1"), RunStatus.RUNNING)


def outcomes(store: Store) -> list[tuple[str, str]]:
    with store.read() as tx:
        return errands.outcomes(tx, "r1")


def settings(**fields: object) -> Settings:
    return Settings.model_validate({"webhook_url": "https://hooks.example/x", **fields})


def test_each_time_that_a_run_needs_the_author_is_sent_once(store: Store) -> None:
    sent = Sent()
    a_run(store)
    with closing(Webhooks(store, settings, sent)):
        rests(store, RunStatus.IDLE, "Which\x1b[31m colour?")
        sent.wait()
        goes_on(store)
        rests(store, RunStatus.PAUSED, "")  # the author's own pause
        goes_on(store)
        rests(store, RunStatus.DONE, "All is corrected.")
        sent.wait()
    assert [text for _, _, text in sent.said] == [
        "waits for your answer. Which␛[31m colour?",
        "is done: review what it changed. All is corrected.",
    ]
    assert {title for _, title, _ in sent.said} == {"Corrector␛"}
    assert [outcome for _, outcome in outcomes(store)] == ["sent", "sent"]


def test_what_is_refused_is_told_beside_it_and_not_tried_again(store: Store) -> None:
    sent = Sent(fails="The webhook answered 500.")
    a_run(store)
    with closing(Webhooks(store, settings, sent)):
        rests(store, RunStatus.IDLE, "?")
        sent.wait()
        goes_on(store)
    assert len(sent.said) == 1
    assert [outcome for _, outcome in outcomes(store)] == ["The webhook answered 500."]


def test_not_while_a_screen_is_open_unless_it_is_wanted(store: Store) -> None:
    sent = Sent()
    a_run(store)
    with closing(Presence(store.home)):
        with closing(Webhooks(store, settings, sent)):
            rests(store, RunStatus.IDLE, "one")
            goes_on(store)
        with closing(Webhooks(store, lambda: settings(webhook_always=True), sent)):
            rests(store, RunStatus.IDLE, "two")
            sent.wait()
    assert [outcome for _, outcome in outcomes(store)] == [SEEN, "sent"]


def test_f16_a_notice_that_had_begun_when_its_process_was_killed_is_not_sent_again(store: Store) -> None:
    a_run(store)
    rests(store, RunStatus.IDLE, "one")
    with store.write(ACT) as tx:
        (errand,) = errands.waiting(tx)
        assert errands.begin(tx, errand)
        assert not errands.begin(tx, errand)
    sent = Sent()
    with closing(Webhooks(store, settings, sent)):
        goes_on(store)
        rests(store, RunStatus.DONE, "two")
        sent.wait()
    assert [text for _, _, text in sent.said] == ["is done: review what it changed. two"]
    assert [outcome for _, outcome in outcomes(store)] == [errands.LOST, "sent"]


def test_a_notice_that_nobody_sent_in_time_is_too_old(store: Store) -> None:
    a_run(store)
    sent = Sent()
    with closing(Webhooks(store, Settings, sent)):
        rests(store, RunStatus.IDLE, "one")
    old = store.clock.now() - (errands.FRESH + 1) * 1_000_000
    with store.write(ACT) as tx:
        tx.connection.execute(update(tables.errand).values(created=old))
    with closing(Webhooks(store, settings, sent)):
        goes_on(store)
        rests(store, RunStatus.DONE, "two")
        sent.wait()
    assert [outcome for _, outcome in outcomes(store)] == [errands.LATE, "sent"]


def test_few_notices_are_kept(store: Store) -> None:
    with store.write(ACT) as tx:
        for number in range(errands.KEPT + 20):
            errands.add(tx, "r1", "Corrector", f"notice {number}")
    kept = outcomes(store)
    assert len(kept) == errands.KEPT
    assert kept[-1][0] == f"notice {errands.KEPT + 19}"
