"""A studio in small for tests of runs: a book, a model behind a scripted server, an agent, a runner."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.events import RunEvent
from marginalia_tui.agent.runner import Runner, RunnerParts
from marginalia_tui.agent.runs import Run, get_run
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.suites import book, edit, help, read, replace, search, structure
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.guard import may_wait
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from marginalia_tui.services.models import save_model
from marginalia_tui.settings import Settings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

SECONDS = 20.0
"""How long a test waits for what must happen."""


def make_registry() -> Registry:
    """The commands that ship with the studio."""
    registry = Registry()
    registry.register(book, edit, help, read, replace, search, structure)
    return registry


def add_book(store: Store, texts: Sequence[str], title: str = "The Book") -> str:
    """A book whose parts follow each other, with these texts; returns its uuid."""
    clock = store.clock
    owner = Book(uuid=clock.new_uuid(), title=title, created=clock.now())
    parts: list[Part] = []
    for number, text in enumerate(texts, start=1):
        parent = parts[-1].uuid if parts else None
        parts.append(
            Part(
                uuid=clock.new_uuid(),
                book=owner.uuid,
                parent=parent,
                created=clock.now(),
                title=f"Chapter {number}",
                text=text,
            )
        )
    with store.write(Act(actor="author", label="import", book=owner.uuid)) as tx:
        leaf = parts[-1].uuid if parts else None
        tx.space(LIBRARY).put([Book(uuid=owner.uuid, title=title, created=owner.created, active_leaf=leaf), *parts])
    return owner.uuid


def part_texts(store: Store, book: str, space: int = LIBRARY) -> list[str]:
    """The texts of a book along its active branch."""
    from marginalia_tui.services.parts import story_tree

    with store.read() as tx:
        opened = tx.space(space)
        branch = story_tree(opened, opened.get(Book, book)).active
        texts = opened.texts(branch)
        return [texts[uuid] for uuid in branch]


@dataclass
class Desk:
    """What a test of a run works with."""

    store: Store
    registry: Registry
    models: Models
    runner: Runner
    book: str
    agent: AgentDefinition
    settings: Settings = field(default_factory=Settings)
    events: list[RunEvent] = field(default_factory=list)

    def start(self, **options: Any) -> str:
        """Starts a run; its events are kept."""
        return self.runner.start(self.agent.uuid, observers=[self.events.append], **options)

    def rest(self, run: str) -> Run:
        """The run once nobody works it."""
        worker = self.runner.worker(run)
        if worker is not None:
            assert worker.done.wait(SECONDS), "the run does not rest"
        return self.run(run)

    def run(self, run: str) -> Run:
        """The run as it is now."""
        with self.store.read() as tx:
            return get_run(tx, run)

    def entries(self, run: str) -> list[Entry]:
        """The transcript."""
        with self.store.read() as tx:
            return transcript.entries(tx, run)

    def results(self, run: str) -> list[tuple[bool, str]]:
        """The results of the calls of a run, in order."""
        return [(each.message.ok, each.message.text) for each in self.entries(run) if each.message.role == "tool"]


@contextmanager
def desk(store: Store, url: str, texts: Sequence[str], **fields: Any) -> Iterator[Desk]:
    """A desk whose agent asks the server at `url`."""
    registry = make_registry()
    models = Models(Keys(store.home), check=lambda: may_wait("the answer of a model"))
    save_model(store, ModelDefinition(name="scripted", base_url=url, model="scripted", timeout=SECONDS))
    of = add_book(store, texts)
    settings = Settings()
    agent = agents.define_agent(
        **{"uuid": store.clock.new_uuid(), "book": of, "name": "Corrector", "model": "scripted", **fields}
    )
    agents.add_agent(store, registry, settings, agent)
    made = Desk(store, registry, models, None, of, agent, settings)  # type: ignore[arg-type]
    made.runner = Runner(RunnerParts(store, Dispatcher(registry), models, lambda: made.settings))
    try:
        yield made
    finally:
        made.runner.park()
        models.close()


@contextmanager
def second_studio(made: Desk) -> Iterator[Runner]:
    """The runner of another studio on the same home, with nothing in common but the store."""
    models = Models(Keys(made.store.home), check=lambda: may_wait("the answer of a model"))
    with closing(Store.open(made.store.home)) as store:
        runner = Runner(RunnerParts(store, Dispatcher(made.registry), models, lambda: made.settings))
        try:
            yield runner
        finally:
            runner.park()
            models.close()


def arguments(**values: Any) -> str:
    """The arguments of a call as a model writes them."""
    return json.dumps(values)
