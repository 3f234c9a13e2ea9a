"""Following a run that another process works: what its transcript gains, as the events of a stream."""

import threading
from collections.abc import Callable

from marginalia_tui.agent import transcript
from marginalia_tui.agent.events import (
    CallAnswered,
    CallMade,
    NoticeGiven,
    ReasoningArrived,
    Rested,
    RoundBegan,
    RunEvent,
    StatusChanged,
    TextArrived,
    UsageCounted,
)
from marginalia_tui.agent.runs import Run, get_run
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.errors import StatusConflict
from marginalia_tui.store import lease
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.store import Store

LOOK_SECONDS = 2.0
"""After so long without a commit it is asked whether the process that works the run still lives: a death commits
nothing."""


def follow(store: Store, run: str, observer: Callable[[RunEvent], None]) -> Run:
    """Tells `observer` what happens in a run from now on, until it rests; returns the run as it is then.

    An answer of the model arrives whole, when it is stored.

    Raises:
        StatusConflict: the process that worked it ended without a word.
    """
    changed = threading.Event()

    def heard(touched: Touched) -> None:
        if touched.run(run):
            changed.set()

    unsubscribe = store.bus.subscribe(heard)
    try:
        with store.read() as tx:
            seen = get_run(tx, run)
            told = transcript.count(tx, run)
        observer(StatusChanged(run, seen.status.value, seen.reason or None))
        while seen.status.active and not seen.status.rests:
            if not changed.wait(LOOK_SECONDS) and lease.is_free(store, run, seen.epoch):
                raise StatusConflict("Nobody works this run any more, its process ended: `run work` takes it up.")
            changed.clear()
            with store.read() as tx:
                before, seen = seen, get_run(tx, run)
                rows = transcript.entries(tx, run, told)
            told += len(rows)
            if seen.rounds != before.rounds:
                observer(RoundBegan(seen.rounds))
            for entry in rows:
                _tell(entry, observer)
            if seen.usage != before.usage:
                was, now = before.usage, seen.usage
                prompt, completion = now.prompt - was.prompt, now.completion - was.completion
                observer(UsageCounted(prompt, completion, now.cached - was.cached, seen.context_tokens))
        observer(Rested(run, seen.status.value, seen.reason or None))
        return seen
    finally:
        unsubscribe()


def _tell(entry: Entry, observer: Callable[[RunEvent], None]) -> None:
    message = entry.message
    if message.role == "user":
        observer(NoticeGiven(message.text))
        return
    if message.role == "tool":
        observer(CallAnswered(message.call_id or "", message.ok, message.text, entry.seconds))
        return
    if message.reasoning:
        observer(ReasoningArrived(message.reasoning))
    if message.text:
        observer(TextArrived(message.text))
    for call in message.calls:
        observer(CallMade(call.id, None, call.name, call.arguments))
