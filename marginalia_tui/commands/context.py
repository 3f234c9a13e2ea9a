"""What a command is given: the scope it works on, and the line back to whoever called it.

A command never asks where it runs. `Scope` says which book of which space it works on, who answers its questions
and on whose behalf; the `Control` carries its status out and the wish that it stops in. A command that changes
something returns an `Effect`: what it read, and the short function that writes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from marginalia_tui.commands.control import Control
from marginalia_tui.domain.errors import Cancelled, Declined, Invalid, Refused
from marginalia_tui.domain.guard import may_wait

if TYPE_CHECKING:
    from marginalia_tui.commands.registry import Registry
    from marginalia_tui.commands.steering import Steering
    from marginalia_tui.store.journal import Act
    from marginalia_tui.store.space import Space
    from marginalia_tui.store.store import Store, WriteTx

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Question:
    """What a command asks before it goes on."""

    text: str
    """A sentence that ends in a question mark."""
    shows: tuple[str, ...] = ()
    """What it would change, a line for each: numbers, first lines."""


class Answers(Protocol):
    """Who answers the questions of a command."""

    def confirm(self, question: Question, control: Control) -> bool:
        """Whether to go on. May wait for a person, until the command is stopped; the default of a dialog is no."""
        ...


class AlwaysYes:
    """For an agent (what it may do was decided before the call) and for `--yes`."""

    def confirm(self, question: Question, control: Control) -> bool:
        """Yes."""
        return True


class NobodyToAsk:
    """For a script without a terminal: a question is refused at once, it never waits."""

    def confirm(self, question: Question, control: Control) -> bool:
        """Refuses with the question in the sentence."""
        raise Refused(f"{question.text} Nobody is here to answer: give --yes, or run it where you can be asked.")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a command works on, and for whom.

    The space is the cage: an item outside of it does not exist for the command, and neither does one of another
    book.
    """

    store: "Store"
    space: int
    book: str | None
    """The uuid of the book; None while none is open."""
    answers: Answers
    is_agent: bool = False
    actor: str = "author"
    run: str | None = None
    """The uuid of the run that a command works for."""
    model: str | None = None
    """The model that work which a command starts should use; None: whoever calls has no opinion."""
    steering: "Callable[[], Steering] | None" = None
    """Who steers the runs of agents; None where that is not done."""

    @property
    def open_book(self) -> str:
        """The uuid of the book.

        Raises:
            Invalid: no book is open.
        """
        if self.book is None:
            raise Invalid("No book is open: open one in the library, or name it with --book.")
        return self.book


@dataclass(frozen=True, slots=True)
class Effect(Generic[T_co]):
    """The second half of a command that changes something.

    `apply` runs inside the dispatcher's transaction: it writes, and waits for nothing. It is refused as stale when
    a hash of `reads` is another one by then.
    """

    apply: "Callable[[WriteTx], T_co]"
    reads: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    """(kind, uuid) -> the hash that was read; None: it did not exist."""
    act: "Act | None" = None
    """The head of the change, for an effect (such as undo) that needs another one than its command has."""


class Nested(Generic[T]):
    """A command that another one called. A reading one has its result at once, a changing one after its effect."""

    def __init__(self) -> None:
        self._results: list[T] = []

    @property
    def result(self) -> T:
        """What the command answered; asking before its effect ran is a programming error."""
        if not self._results:
            raise RuntimeError("the effect of this command has not run yet: ask for its result in apply")
        return self._results[-1]

    def give(self, result: T) -> None:
        """Keeps the result."""
        self._results.append(result)


class Caller(Protocol):
    """What prepares a command inside another one (the dispatcher)."""

    registry: "Registry"

    def nested(self, name: str, arguments: Mapping[str, Any], outer: "Context") -> Nested[Any]:
        """Prepares the command; its effect joins that of `outer`."""
        ...


class Context:
    """The first argument of every command.

    Args:
        scope: what it works on.
        command: its name.
        caller: the dispatcher, for commands inside commands and for the registry.
        control: the line to whoever called.
    """

    def __init__(self, scope: Scope, command: str, caller: Caller, control: Control) -> None:
        self.scope = scope
        self.command = command
        self.control = control
        self.asked = False
        self._caller = caller

    @property
    def registry(self) -> "Registry":
        """The commands there are."""
        return self._caller.registry

    @contextmanager
    def reading(self) -> "Iterator[Space]":
        """A read transaction on the space of the scope; short: nothing is waited for while it is open."""
        with self.scope.store.read() as tx:
            yield tx.space(self.scope.space)

    def status(self, text: str, detail: str = "", *, done: int | None = None, total: int | None = None) -> None:
        """Tells what the command is doing, and how far it is: in words, and in steps where they are known."""
        self.control.tell(text, detail, done, total)

    def check(self) -> None:
        """Ends a command that was asked to stop; long work calls it between its steps.

        Raises:
            Cancelled: it was.
        """
        if self.control.stopped:
            raise Cancelled(f"{self.command} was stopped: nothing was changed.")

    def confirm(self, question: str, shows: Iterable[str] = ()) -> None:
        """Asks before something that can't be overlooked. Only while the command prepares.

        Args:
            question: a sentence that ends in a question mark.
            shows: what would change, a line for each.

        Raises:
            Declined: the answer is no.
            Cancelled: the command was stopped before there was one.
        """
        may_wait("the answer to a question")
        self.check()
        self.asked = True
        self.status("Waits for your answer")
        if not self.scope.answers.confirm(Question(question, tuple(shows)), self.control):
            self.check()
            raise Declined("The answer was no: nothing was changed.")

    def call(self, name: str, **arguments: Any) -> Nested[Any]:
        """Calls another command, whose effect runs before that of this one, in the same transaction.

        Arguments go by the names of the outside (`maxHits`). A command can't call one of a higher severity.
        """
        return self._caller.nested(name, arguments, self)
