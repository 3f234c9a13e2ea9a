"""What the agents tab and the console ask: agents with their newest run, one run in full, what steers it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from marginalia_tui.agent import agents, inbox, limits
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.live import LiveAnswer
from marginalia_tui.agent.prompt import context_cap
from marginalia_tui.agent.questions import open_choices
from marginalia_tui.agent.review import REVIEWED
from marginalia_tui.agent.runs import Run, get_run, latest_runs
from marginalia_tui.commands.completion import Completion
from marginalia_tui.desk.bar import register_names
from marginalia_tui.desk.runcommands import RunCommands
from marginalia_tui.desk.transcripts import RunSource
from marginalia_tui.desk.waiting import Waiting, WaitingCalls
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book, Plan
from marginalia_tui.services.books import list_books
from marginalia_tui.services.models import get_model, list_models
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

GONE = "(its book is gone)"


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent in the list, with its newest run."""

    uuid: str
    name: str
    book: str
    model: str
    enabled: bool
    status: str
    """Of the newest run; empty before the first."""
    reason: str
    attention: bool
    rounds: int
    tokens: int
    context: int
    """Tokens in the context after the last answer."""
    cap: int
    """Tokens that fit; 0 is not known."""
    changed: str
    run: str | None


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """A message, or a command, that waits to be delivered."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the console shows it."""

    uuid: str
    agent: str
    book: str
    status: str
    reason: str
    attention: bool
    active: bool
    reviewable: bool
    rounds: int
    tokens: int
    context: int
    cap: int
    cost: float
    """In the currency of the prices; 0 where there are none."""
    plan: tuple[tuple[str, str], ...]
    """Status and words of each step."""
    queued: tuple[QueuedLine, ...]
    waiting: tuple[Waiting, ...]
    choices: tuple[str, ...]
    """The answers that its question proposes."""
    here: bool
    """Whether this process works it."""
    heard: bool
    """Whether its answers are seen while they are written."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an agent can be made of: pairs of a value and the words for it."""

    books: tuple[tuple[str, str], ...]
    """Those that have no agent yet."""
    models: tuple[tuple[str, str], ...]
    any_book: bool
    """Whether there is a book at all."""


class RunsDesk:
    """Agents and runs, for the screens."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.drafts: dict[str, str] = {}
        """Run -> what the author wrote to its agent and has not sent."""
        self._waiting = WaitingCalls(studio)
        self._commands = RunCommands(studio, register_names)

    # Agents

    def agents(self) -> list[AgentLine]:
        """The agents by name. Runs whose process died are given a status first: nobody else would."""
        runner = self._studio.runner
        with self._studio.store.read() as look:
            runs = latest_runs(look).values()
        for run in runs:
            if run.status.active and runner.worker(run.uuid) is None:
                runner.recover(run.uuid)
        with self._studio.store.read() as tx:
            found = agents.list_agents(tx)
            newest = latest_runs(tx)
            books = tx.space(LIBRARY).get_many(Book, [agent.book for agent in found])
            return [self._line(tx, agent, books, newest.get(agent.uuid)) for agent in found]

    def _line(self, tx: ReadTx, agent: AgentDefinition, books: Mapping[str, Book], run: Run | None) -> AgentLine:
        book = books.get(agent.book)
        return AgentLine(
            uuid=agent.uuid,
            name=agent.name,
            book=book.title if book else GONE,
            model=agent.model,
            enabled=agent.enabled,
            status=run.status.value if run else "",
            reason=run.reason if run else "",
            attention=bool(run and run.attention),
            rounds=run.rounds if run else 0,
            tokens=run.usage.prompt + run.usage.completion if run else 0,
            context=run.context_tokens if run else 0,
            cap=_cap(tx, agent),
            changed=datetime.fromtimestamp(run.changed / 1_000_000).strftime("%Y-%m-%d %H:%M") if run else "",
            run=run.uuid if run else None,
        )

    def choices(self) -> Choices:
        """The books and models that an agent can have."""
        with self._studio.store.read() as tx:
            books = list_books(tx)
            taken = {agent.book for agent in agents.list_agents(tx)}
            return Choices(
                tuple((book.uuid, book.title) for book in books if book.uuid not in taken),
                tuple((model.name, model.name) for model in list_models(tx)),
                bool(books),
            )

    def agent(self, uuid: str) -> AgentDefinition:
        """The definition of an agent."""
        with self._studio.store.read() as tx:
            return agents.get_agent(tx, uuid)

    def save_agent(self, uuid: str | None, fields: Mapping[str, Any]) -> AgentDefinition:
        """Makes an agent of the fields of its form, or changes one."""
        if uuid is None:
            return self._studio.add_agent(**fields)
        return agents.change_agent(
            self._studio.store,
            self._studio.registry,
            uuid,
            lambda now: agents.define_agent(**{**now.model_dump(), **fields}),
        )

    def clone_agent(self, uuid: str, name: str, book: str) -> AgentDefinition:
        """The same agent on another book."""
        studio = self._studio
        return agents.clone_agent(studio.store, studio.registry, studio.settings, self.agent(uuid), name, book)

    def remove_agent(self, uuid: str) -> None:
        """Removes an agent with its runs."""
        agents.remove_agent(self._studio.store, uuid)

    # Runs

    def start(self, agent: str, *, interactive: bool = False) -> str:
        """Starts a run; returns its uuid."""
        return self._studio.runner.start(agent, interactive=interactive)

    def view(self, run: str) -> RunView:
        """A run as it is now. One whose process died is given a status first: nobody else would."""
        worker = self._studio.runner.worker(run)
        if worker is None:
            with self._studio.store.read() as look:
                left = get_run(look, run).status.active
            if left:
                self._studio.runner.recover(run)
        heard = worker is not None or self._studio.runner.watch(run)
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
            book = tx.space(LIBRARY).find(Book, found.book)
            try:
                cap = _cap(tx, agents.get_agent(tx, found.agent))
            except NotFound:
                cap = 0
            plan = tx.space(found.space).find(Plan, run) if found.space is not None else None
            steps = orjson.loads(plan.steps) if plan else []
            queued = [QueuedLine(each.id, each.text) for each in inbox.queued(tx, run) if each.of_author]
            waiting = self._waiting.read(tx, found)
            choices = open_choices(tx, found)
        return RunView(
            uuid=run,
            agent=found.agent_name,
            book=book.title if book else GONE,
            status=found.status.value,
            reason=found.reason,
            attention=found.attention,
            active=found.status.active,
            reviewable=found.space is not None and found.status in REVIEWED,
            rounds=found.rounds,
            tokens=found.usage.prompt + found.usage.completion,
            context=found.context_tokens,
            cap=cap,
            cost=found.cost,
            plan=tuple((step["status"], step["step"]) for step in steps),
            queued=tuple(queued),
            waiting=self._waiting.with_changes(found, waiting),
            choices=choices,
            here=worker is not None,
            heard=heard,
        )

    def source(self, run: str) -> RunSource:
        """The transcript of a run."""
        return RunSource(self._studio, run)

    def live(self, run: str, seen: int) -> LiveAnswer | None:
        """The answer that is being written, when it is newer than version `seen`. Quick: for the loop."""
        return self._studio.runner.live(run, seen)

    def is_live(self, run: str) -> bool:
        """Whether an answer is being written, as far as it is seen here. Quick: for the loop."""
        return self._studio.runner.is_live(run)

    def forget(self, run: str) -> None:
        """Nobody looks at a run any more."""
        self._studio.runner.forget(run)

    def acknowledge(self, run: str) -> None:
        """The author looks at it."""
        self._studio.runner.acknowledge(run)

    def send(self, run: str, text: str) -> None:
        """Says something to the agent; what begins with `/` is a command that is run inside the run."""
        if text.startswith("/"):
            self._studio.runner.command(run, text)
        else:
            self._studio.runner.send(run, text)

    def complete(self, run: str, text: str, cursor: int) -> list[Completion]:
        """What fits at a place of a command that is run inside the run, best first."""
        return self._commands.complete(run, text, cursor)

    def force(self, run: str, item: int) -> None:
        """Has what goes on cut off for something that waits."""
        self._studio.runner.force(run, item)

    def cancel_queued(self, run: str, item: int) -> bool:
        """Takes a message back; False when it was delivered meanwhile."""
        return self._studio.runner.cancel(run, item)

    def pause(self, run: str, *, now: bool = False) -> None:
        """Pauses."""
        self._studio.runner.pause(run, now=now)

    def resume(self, run: str, note: str = "", raised: Mapping[str, float] | None = None) -> None:
        """Goes on, with limits that are raised for this run."""
        self._studio.runner.resume(run, note, raised=raised)

    def reached_limits(self, run: str) -> dict[str, float] | None:
        """The limits that can be raised for a run, by name, when one of them is reached; 0 is no limit."""
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
            allowed = limits.limits_of(found, agents.get_agent(tx, found.agent), self._studio.settings, None)
        if not limits.reached(found, allowed):
            return None
        return {name: getattr(allowed, name) for name in limits.RAISED}

    def stop(self, run: str, *, keep: bool) -> None:
        """Ends it."""
        self._studio.runner.stop(run, keep=keep)

    def finish(self, run: str) -> None:
        """The author says that it is done."""
        self._studio.runner.finish(run)

    def decide(self, run: str, call: str, *, approve: bool, why: str = "", always: bool = False) -> None:
        """Decides a call that waits."""
        self._studio.runner.decide(run, call, "approve" if approve else "deny", why=why, always=always)


def _cap(tx: ReadTx, agent: AgentDefinition) -> int:
    try:
        return context_cap(agent, get_model(tx, agent.model))
    except NotFound:
        return agent.context_cap
