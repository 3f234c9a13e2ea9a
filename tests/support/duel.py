"""Two owners that fight over one run: they pause it and have it go on, as often as they get to.

A witness stands beside the leases: a lock that is taken after the lease and let go of before it, so that two who hold
the lease of a run at the same time are seen, whatever the lease itself believes.
"""

import fcntl
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent import inbox, transcript
from marginalia_tui.agent.runner import Runner
from marginalia_tui.agent.runs import get_run
from marginalia_tui.domain.errors import Busy, NotFound, Refused, StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import lease
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.store import Store, WriteTx
from tests.support.runs import part_texts
from tests.support.scripted_server import Body, Reply, calls

MESSAGE = "<{}/{}>"
TEXTS = ("One", "Two", "Three", "Four", "Five")


class Witness:
    """Counts how often a run was held, and how often by two at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.epochs: list[int] = []
        self.twice = 0
        self._held: dict[Lease, int] = {}

    def took(self, held: Lease) -> None:
        fd = os.open(self.folder / held.run, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.twice += 1
        self._held[held] = fd
        self.epochs.append(held.epoch)

    def lets_go(self, held: Lease) -> None:
        if (fd := self._held.pop(held, None)) is not None:
            os.close(fd)


@contextmanager
def witnessed(witness: Witness) -> Iterator[None]:
    """Has the witness see every lease that is taken and let go of."""
    take, release = lease.take, Lease.release

    def taking(tx: WriteTx, run: str, **options: Any) -> Lease:
        held = take(tx, run, **options)
        witness.took(held)
        tx.if_undone(lambda: witness.epochs.remove(held.epoch))
        return held

    def releasing(held: Lease) -> None:
        witness.lets_go(held)
        release(held)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lease, "take", taking)
        patch.setattr(Lease, "release", releasing)
        yield


def appending(finish: threading.Event) -> Callable[[Body], Reply]:
    """A model that appends to one part after the other, each time another text, until it is to finish."""

    def reply(body: Body) -> Reply:
        if finish.is_set():
            return calls(("finish", {"report": "Over."}))
        done = sum(message["role"] == "tool" for message in body["messages"])
        return calls(("append-to-part", {"part": f"h:m{done % len(TEXTS) + 1}", "text": f"+{done}."}))

    return reply


def fight(store: Store, runner: Runner, run: str, agent: str, times: int, seed: int) -> Counter[str]:
    """Pauses a run and has it go on, at random, until it went on so many times; what was done, and refused."""
    chance = random.Random(seed)
    done: Counter[str] = Counter()

    def send() -> None:
        runner.send(run, MESSAGE.format(seed, done["send"]), detach=True)

    def force() -> None:
        with store.read() as tx:
            waiting = inbox.queued(tx, run)
        if waiting:
            runner.force(run, chance.choice(waiting).id)

    acts: dict[str, Callable[[], object]] = {
        "start": lambda: runner.start(agent),
        "resume": lambda: runner.resume(run),
        "work": lambda: runner.work(run),
        "pause": lambda: runner.pause(run),
        "pause now": lambda: runner.pause(run, now=True),
        "send": send,
        "force": force,
    }
    while done["resume"] + done["work"] < times:
        name = chance.choice([*acts, "resume", "resume"])
        try:
            acts[name]()
        except (Busy, NotFound, Refused, StatusConflict):
            done["refused"] += 1
        else:
            done[name] += 1
    return done


def to_the_end(runner: Runner, run: str) -> None:
    """Has the run go on until it is done, whoever worked it last."""
    while True:
        seen = runner.wait(run, lambda now: not now.status.active or now.status.rests, 60)
        if seen.status is RunStatus.DONE:
            return
        try:
            runner.resume(run)
        except (Busy, StatusConflict):
            continue


def check_once(store: Store, book: str, run: str, sent: Mapping[int, int] | None = None) -> int:
    """Every call has one result, and what it appended is there once, if it succeeded; answers how many calls.

    Args:
        store: where the run is.
        book: its book.
        run: its uuid; it is done.
        sent: seed of a fight -> how many messages it sent, each of which was heard once.
    """
    with store.read() as tx:
        seen = get_run(tx, run)
        rows = transcript.entries(tx, run)
    asked = [call for row in rows for call in row.message.calls]
    results = {row.message.call_id: row.message for row in rows if row.message.role == "tool"}
    assert [call.id for call in asked] == [row.message.call_id for row in rows if row.message.role == "tool"]
    text = "\n".join(part_texts(store, book, seen.copy))
    for call in asked:
        if call.name == "append-to-part":
            words = call.arguments.rpartition('"text": "')[2].removesuffix('"}')
            assert text.count(f"{words}") == (1 if results[call.id].ok else 0), (call, results[call.id])
    heard = "\n".join(row.message.text for row in rows if row.message.role == "user")
    for seed, count in (sent or {}).items():
        for number in range(count):
            assert heard.count(MESSAGE.format(seed, number)) == 1, (seed, number)
    return len(asked)
