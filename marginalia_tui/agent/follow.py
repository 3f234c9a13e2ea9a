"""Following a run that another process works: what its transcript gains, as the events of a stream."""

import threading
from collections.abc import Callable, Sequence

from marginalia_tui.agent import transcript
from marginalia_tui.agent.elsewhere import Elsewhere
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
from marginalia_tui.agent.live import LiveBuffer
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

    An answer of the model is told while it is written, when the process that works the run can be heard; else it
    arrives whole, when it is stored.

    Raises:
        StatusConflict: the process that worked it ended without a word.
    """
    changed = threading.Event()

    def heard(touched: Touched) -> None:
        if touched.run(run):
            changed.set()

    elsewhere = Elsewhere(store)
    unsubscribe = store.bus.subscribe(heard)
    try:
        with store.read() as tx:
            seen = get_run(tx, run)
            rows = transcript.count(tx, run)
        following = _Following(run, observer, seen, rows)
        observer(StatusChanged(run, seen.status.value, seen.reason or None))
        while seen.status.active and not seen.status.rests:
            elsewhere.watch(run, changed.set)
            following.hear(elsewhere.live(run))
            if not changed.wait(LOOK_SECONDS) and lease.is_free(store, run, seen.epoch):
                raise StatusConflict("Nobody works this run any more, its process ended: `run work` takes it up.")
            changed.clear()
            following.hear(elsewhere.live(run))
            with store.read() as tx:
                seen = get_run(tx, run)
                following.read(seen, transcript.entries(tx, run, following.rows))
        observer(Rested(run, seen.status.value, seen.reason or None))
        return seen
    finally:
        unsubscribe()
        elsewhere.close()


class _Following:
    """What was told of a run, so that nothing is told twice: of the answer that is being written, and of the rows."""

    def __init__(self, run: str, observer: Callable[[RunEvent], None], seen: Run, rows: int) -> None:
        self.rows = rows
        self._run = run
        self._tell = observer
        self._seen = seen
        self._round = seen.rounds
        self._number = 0
        self._version = -1
        self._place = -1
        self._text = self._reasoning = 0
        """Characters that were told of the answer of that place."""

    def hear(self, live: LiveBuffer | None) -> None:
        """Tells what the live answer gained."""
        answer = live.look(self._version) if live is not None else None
        if answer is None or answer.place < self.rows:
            return
        self._version = answer.version
        if answer.number != self._number:
            self._number, self._place = answer.number, answer.place
            self._text = self._reasoning = 0
            self._tell_round(self._seen.rounds + 1)
        reasoning = _gained(answer.reasoning, answer.reasoning_total, self._reasoning)
        text = _gained(answer.text, answer.text_total, self._text)
        if reasoning:
            self._reasoning += len(reasoning)
            self._tell(ReasoningArrived(reasoning))
        if text:
            self._text += len(text)
            self._tell(TextArrived(text))

    def read(self, now: Run, rows: Sequence[Entry]) -> None:
        """Tells what is stored since the last time."""
        before, self._seen = self._seen, now
        if now.rounds != before.rounds:
            self._tell_round(now.rounds)
        for row in rows:
            self._tell_row(row)
        self.rows += len(rows)
        if now.usage != before.usage:
            was, usage = before.usage, now.usage
            prompt, completion = usage.prompt - was.prompt, usage.completion - was.completion
            self._tell(UsageCounted(prompt, completion, usage.cached - was.cached, now.context_tokens))

    def _tell_round(self, number: int) -> None:
        if number > self._round:
            self._round = number
            self._tell(RoundBegan(number))

    def _tell_row(self, row: Entry) -> None:
        message = row.message
        if message.role == "user":
            self._tell(NoticeGiven(message.text))
            return
        if message.role == "tool":
            self._tell(CallAnswered(message.call_id or "", message.ok, message.text, row.seconds))
            return
        told = (self._reasoning, self._text) if row.ordinal == self._place else (0, 0)
        if reasoning := message.reasoning[told[0] :]:
            self._tell(ReasoningArrived(reasoning))
        if text := message.text[told[1] :]:
            self._tell(TextArrived(text))
        for call in message.calls:
            self._tell(CallMade(call.id, None, call.name, call.arguments))


def _gained(text: str, total: int, told: int) -> str:
    """What follows on what was told; nothing when more was missed than is kept: its row tells it then."""
    return text[len(text) - (total - told) :] if 0 < total - told <= len(text) else ""
