from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import insert

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.context import AlwaysYes, Question, Scope
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.items import Book, Item, Part
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

DISPATCHER = Dispatcher(builtin_registry())

TEXTS = (
    "The lamp was lit at dusk. Nobody saw who lit it.",
    "\u201cI saw nothing,\u201d said Ada. The lamp\u2019s flame stood still.",
    "Rain fell on the the roof. Rain fell in the yard.",
)


@dataclass
class FakeAnswers:
    """Answers questions as it was told, and keeps them."""

    answer: bool = True
    questions: list[str] = field(default_factory=list)

    def confirm(self, question: Question, control: Control) -> bool:
        self.questions.append(" ".join([question.text, *question.shows]))
        return self.answer


@dataclass
class World:
    """A store with one book of three parts, and the scopes on it."""

    store: Store
    book: str
    parts: list[str]
    answers: FakeAnswers = field(default_factory=FakeAnswers)

    @property
    def author(self) -> Scope:
        return Scope(self.store, LIBRARY, self.book, self.answers)

    @property
    def agent(self) -> Scope:
        return Scope(self.store, LIBRARY, self.book, AlwaysYes(), is_agent=True, actor="agent")

    def run(self, line: str) -> dict[str, Any]:
        """Runs a line for the author and gives its answer as JSON values."""
        return to_data(DISPATCHER.run_line(line, self.author))

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Runs a command for an agent, by name, and gives its answer as JSON values."""
        return to_data(DISPATCHER.run(name, arguments, self.agent))

    def part(self, place: int) -> Part:
        with self.store.read() as tx:
            return tx.space(LIBRARY).get(Part, self.parts[place - 1])

    def text(self, place: int) -> str:
        return self.part(place).text

    def opened(self) -> Book:
        with self.store.read() as tx:
            return tx.space(LIBRARY).get(Book, self.book)

    def tree(self) -> StoryTree:
        with self.store.read() as tx:
            space = tx.space(LIBRARY)
            return story_tree(space, space.get(Book, self.book))

    def put(self, *items: Item) -> None:
        with self.store.write(Act(actor="author", label="test", book=self.book)) as tx:
            tx.space(LIBRARY).put(items)

    def set_text(self, place: int, text: str) -> None:
        self.put(replace(self.part(place), text=text))

    def add(self, parent: str | None, title: str = "", text: str = "") -> str:
        """A part that does not become the end of the active branch."""
        uuid = self.store.clock.new_uuid()
        self.put(Part(uuid=uuid, book=self.book, parent=parent, created=self.store.clock.now(), title=title, text=text))
        return uuid

    def journal(self) -> int:
        with self.store.read() as tx:
            return tx.position()

    def hold(self, agent: str) -> None:
        """Has a run of an agent hold the book."""
        with self.store.write(Act(actor="author", label="start")) as tx:
            tx.connection.execute(
                insert(tables.run).values(
                    uuid=self.store.clock.new_uuid(),
                    agent="agent",
                    agent_name=agent,
                    book=self.book,
                    status="RUNNING",
                    created=self.store.clock.now(),
                    changed=self.store.clock.now(),
                )
            )


def other_book(world: World) -> tuple[str, str]:
    """Another book of the same library, with one part; their uuids."""
    book, part = world.store.clock.new_uuid(), world.store.clock.new_uuid()
    world.put(
        Book(uuid=book, title="Another", active_leaf=part),
        Part(uuid=part, book=book, created=world.store.clock.now(), title="Secret", text="The lamp of another."),
    )
    return book, part
