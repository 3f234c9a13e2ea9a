"""Homes with a book and an agent whose model is a scripted server, and what became of a run in them."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.runs import Run, list_runs
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.services.models import save_model
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.support.runs import add_book, make_registry, part_texts
from tests.support.scripted_server import Body, Mark, Pause, Reply, by_results, calls, chunk

AGENT = "Corrector"
TEXTS = ["One", "Two", "Three", "Four", "Five"]
WANTED = [f"{text}\n\n+" for text in TEXTS]
"""Each part appended to, once: an edit that is repeated shows."""
REPORT = "All five are done."


def _append(number: int) -> Reply:
    call = ("append-to-part", {"part": f"h:m{number}", "text": "+"})
    return calls(call, said=f"I come to part {number}. ", usage=(100, 10))


REPLIES = [*(_append(number) for number in range(1, 6)), calls(("finish", {"report": REPORT}), usage=(100, 10))]
"""One edit an answer; the last one finishes."""


class Held:
    """The replies, of which one stops in the middle of its text until `go` is set, or its client leaves.

    It stops once: a client that comes again for the same answer gets it whole.
    """

    def __init__(self, number: int, words: str = "I am in the middle of it. ") -> None:
        self.there, self.go = threading.Event(), threading.Event()
        self._pick = by_results(REPLIES)
        plain = REPLIES[number]
        head, *rest = plain.steps
        self._held = Reply(
            headers=plain.headers,
            steps=(head, chunk({"content": words}), Mark(self.there), Pause(self.go), *rest),
        )
        self._plain = plain
        self._left = 1

    def __call__(self, body: Body) -> Reply:
        """The reply to a request."""
        picked = self._pick(body)
        if picked is self._plain and self._left:
            self._left -= 1
            return self._held
        return picked


def furnish(home: Path, url: str, texts: list[str] | None = None, **fields: Any) -> str:
    """Puts the book, the model and the agent into a home; answers the uuid of the book."""
    with closing(Store.open(home)) as store:
        save_model(store, ModelDefinition(name="scripted", base_url=url, model="scripted", timeout=120))
        book = add_book(store, texts or TEXTS)
        agent = agents.define_agent(uuid=store.clock.new_uuid(), book=book, name=AGENT, model="scripted", **fields)
        agents.add_agent(store, make_registry(), Settings(), agent)
    return book


def runs_of(home: Path) -> list[Run]:
    """The runs of a home, newest first."""
    with closing(Store.open(home)) as store, store.read() as tx:
        return list_runs(tx)


def only_run(home: Path) -> Run:
    """The one run of a home."""
    (run,) = runs_of(home)
    return run


def check_exactly_once(home: Path, book: str) -> None:
    """The run of a home is done: every edit is there once, and every call has one result."""
    run = only_run(home)
    assert (run.status.value, run.reason) == ("DONE", REPORT)
    with closing(Store.open(home)) as store:
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
    assert asked == [row.message.call_id for row in rows if row.message.role == "tool"]
    assert len(set(asked)) == len(asked) == 6


def until_run(home: Path, condition: Callable[[Run], bool], seconds: float = 45.0) -> Run:
    """Waits until the newest run of a home fulfils a condition, as another process would see it."""
    from marginalia_tui.agent.runs import get_run
    from marginalia_tui.store.bus import Touched

    changed = threading.Event()

    def heard(_: Touched) -> None:
        changed.set()

    with closing(Store.open(home)) as store:
        store.bus.subscribe(heard)
        while True:
            changed.clear()
            with store.read() as tx:
                found = list_runs(tx, limit=1)
                seen = get_run(tx, found[0].uuid) if found else None
            if seen is not None and condition(seen):
                return seen
            assert changed.wait(seconds), f"the run stays as it is: {seen}"
