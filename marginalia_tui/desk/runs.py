"""What the agents tab and the console ask: agents with their newest run, one run in full, its transcript."""

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from marginalia_tui.agent import agents, approvals, transcript
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.live import LiveAnswer
from marginalia_tui.agent.prompt import context_cap
from marginalia_tui.agent.runs import Run, get_run, latest_runs
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book, Plan
from marginalia_tui.services.books import list_books
from marginalia_tui.services.models import get_model, list_models
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.entries import Entry, EntryCall, Speaker

BAR = 10
"""Cells of a context bar."""


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent in the list, with its newest run."""

    uuid: str
    name: str
    book: str
    enabled: bool
    status: str
    """Of the newest run; empty before the first."""
    reason: str
    attention: bool
    rounds: int
    tokens: int
    context: str
    changed: str
    run: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits for the author: its command, and its arguments as lines."""

    call: str
    command: str
    arguments: str


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """A message that waits to be delivered."""

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
    has_copy: bool
    rounds: int
    tokens: int
    context: str
    plan: tuple[tuple[str, str], ...]
    """Status and words of each step."""
    queued: tuple[QueuedLine, ...]
    waiting: tuple[Waiting, ...]
    here: bool
    """Whether this process works it."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an agent can be made of: pairs of a value and the words for it."""

    books: tuple[tuple[str, str], ...]
    models: tuple[tuple[str, str], ...]


def bar(used: int, cap: int) -> str:
    """How full the context is: `31% ###-------`; the tokens alone where nobody knows the cap."""
    if not cap:
        return f"{used:,}" if used else ""
    share = min(1.0, used / cap)
    full = round(share * BAR)
    return f"{share:4.0%} " + "#" * full + "-" * (BAR - full)


class RunSource:
    """The transcript of a run for the widget: rows read on demand, an answer and the results of its calls as one.

    `update` is called on a thread; `count` and `rows` on the screen's, where a look at a few rows is quick.
    """

    def __init__(self, studio: Studio, run: str) -> None:
        self._studio = studio
        self._run = run
        self._starts: list[int] = []
        """The ordinals of the rows that are no results."""
        self._read = 0
        """Rows of the transcript that are known."""

    def update(self) -> int | None:
        """Looks for new rows; the index of the first entry that changed, None when nothing did."""
        with self._studio.store.read() as tx:
            rows = transcript.roles(tx, self._run, self._read)
        if not rows:
            return None
        first = max(0, len(self._starts) - 1) if rows[0][1] == "tool" else len(self._starts)
        self._starts.extend(ordinal for ordinal, role in rows if role != "tool")
        self._read = rows[-1][0] + 1
        return first

    def count(self) -> int:
        """Entries."""
        return len(self._starts)

    def rows(self, start: int, stop: int) -> Sequence[Entry]:
        """The entries of a range."""
        begin = self._starts[start]
        end = self._starts[stop] if stop < len(self._starts) else self._read
        with self._studio.store.read() as tx:
            found = transcript.entries(tx, self._run, begin, end)
        return _entries(found)

    def index_of(self, ordinal: int) -> int:
        """The entry that a row of the transcript belongs to."""
        return max(0, bisect.bisect_right(self._starts, ordinal) - 1)


def _entries(rows: Sequence[transcript.Entry]) -> list[Entry]:
    results = {row.message.call_id: row for row in rows if row.message.role == "tool"}
    made: list[Entry] = []
    for row in rows:
        message = row.message
        if message.role == "tool":
            continue
        calls = tuple(_call(call.name, call.arguments, results.get(call.id)) for call in message.calls)
        if message.role == "assistant":
            flag = "cut off" if row.notice == "cut" else ""
            made.append(Entry(row.uuid, "agent", message.text, calls, message.reasoning, row.created, flag))
        else:
            role: Speaker = "author" if row.notice is None else "notice"
            made.append(Entry(row.uuid, role, message.text, created=row.created, flag=row.notice or ""))
    return made


def _call(name: str, arguments: str, result: transcript.Entry | None) -> EntryCall:
    if result is None:
        return EntryCall(name, arguments)
    return EntryCall(name, arguments, result.message.text, result.message.ok, result.seconds or None)


class RunsDesk:
    """Agents and runs, for the screens."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    # Agents

    def agents(self) -> list[AgentLine]:
        """The agents by name."""
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
            book=book.title if book else "(its book is gone)",
            enabled=agent.enabled,
            status=run.status.value if run else "",
            reason=run.reason if run else "",
            attention=bool(run and run.attention),
            rounds=run.rounds if run else 0,
            tokens=run.usage.prompt + run.usage.completion if run else 0,
            context=bar(run.context_tokens, _cap(tx, agent)) if run else "",
            changed=datetime.fromtimestamp(run.changed / 1_000_000).strftime("%Y-%m-%d %H:%M") if run else "",
            run=run.uuid if run else None,
        )

    def choices(self) -> Choices:
        """The books and models that an agent can have."""
        with self._studio.store.read() as tx:
            return Choices(
                tuple((book.uuid, book.title) for book in list_books(tx)),
                tuple((model.name, model.name) for model in list_models(tx)),
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
        """A run as it is now."""
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
            book = tx.space(LIBRARY).find(Book, found.book)
            try:
                cap = _cap(tx, agents.get_agent(tx, found.agent))
            except NotFound:
                cap = 0
            plan = tx.space(found.space).find(Plan, run) if found.space is not None else None
            steps = orjson.loads(plan.steps) if plan else []
            queued = [QueuedLine(each.id, each.text) for each in transcript.queued(tx, run) if each.kind == "author"]
            waiting = [Waiting(each.call, each.command, _lines(each.arguments)) for each in approvals.pending(tx, run)]
        return RunView(
            uuid=run,
            agent=found.agent_name,
            book=book.title if book else "(its book is gone)",
            status=found.status.value,
            reason=found.reason,
            attention=found.attention,
            active=found.status.active,
            reviewable=found.space is not None and found.status.value in ("DONE", "STOPPED_KEPT", "FAILED"),
            has_copy=found.space is not None,
            rounds=found.rounds,
            tokens=found.usage.prompt + found.usage.completion,
            context=bar(found.context_tokens, cap),
            plan=tuple((step["status"], step["step"]) for step in steps),
            queued=tuple(queued),
            waiting=tuple(waiting),
            here=self._studio.runner.worker(run) is not None,
        )

    def source(self, run: str) -> RunSource:
        """The transcript of a run."""
        return RunSource(self._studio, run)

    def live(self, run: str, seen: int) -> LiveAnswer | None:
        """The answer that is being written here, when it is newer than version `seen`. Quick: for the loop."""
        return self._studio.runner.live(run, seen)

    def is_live(self, run: str) -> bool:
        """Whether an answer is being written here. Quick: for the loop."""
        worker = self._studio.runner.worker(run)
        return worker is not None and worker.live.is_open

    def acknowledge(self, run: str) -> None:
        """The author looks at it."""
        self._studio.runner.acknowledge(run)

    def send(self, run: str, text: str) -> None:
        """Says something to the agent."""
        self._studio.runner.send(run, text)

    def cancel_queued(self, run: str, item: int) -> bool:
        """Takes a message back; False when it was delivered meanwhile."""
        with self._studio.store.write(Act(actor="author", label="cancel a message", run=run)) as tx:
            return transcript.cancel_queued(tx, run, item)

    def pause(self, run: str, *, now: bool = False) -> None:
        """Pauses."""
        self._studio.runner.pause(run, now=now)

    def resume(self, run: str, note: str = "") -> None:
        """Goes on."""
        self._studio.runner.resume(run, note)

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


def _lines(arguments: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else orjson.dumps(value).decode()}"
        for name, value in arguments.items()
    )
