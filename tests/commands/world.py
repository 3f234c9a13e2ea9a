from dataclasses import dataclass, field

from marginalia_tui.commands.context import AlwaysYes, Answers, Scope
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store


@dataclass
class FakeAnswers:
    """Answers questions as it was told, and keeps them."""

    answer: bool = True
    questions: list[str] = field(default_factory=list)

    def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return self.answer


@dataclass
class World:
    """A store with one book, and the scopes on it."""

    store: Store
    book: str
    parts: list[str]
    answers: FakeAnswers = field(default_factory=FakeAnswers)

    @property
    def author(self) -> Scope:
        return Scope(self.store, LIBRARY, self.book, self.answers)

    @property
    def agent(self) -> Scope:
        answers: Answers = AlwaysYes()
        return Scope(self.store, LIBRARY, self.book, answers, is_agent=True, actor="agent")

    def part(self, place: int) -> Part:
        with self.store.read() as tx:
            return tx.space(LIBRARY).get(Part, self.parts[place - 1])

    def text(self, place: int) -> str:
        return self.part(place).text

    def opened(self) -> Book:
        with self.store.read() as tx:
            return tx.space(LIBRARY).get(Book, self.book)

    def put(self, *items: Part | Book) -> None:
        with self.store.write(Act(actor="author", label="test", book=self.book)) as tx:
            tx.space(LIBRARY).put(items)

    def journal(self) -> int:
        with self.store.read() as tx:
            return tx.position()


TEXTS = (
    "The lamp was lit at dusk. Nobody saw who lit it.",
    "\u201cI saw nothing,\u201d said Ada. The lamp\u2019s flame stood still.",
    "Rain fell on the the roof. Rain fell in the yard.",
)
