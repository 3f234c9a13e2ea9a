"""Runs commands: by name with keywords, by position, or as a line.

A command has two halves. `prepare` reads, asks and computes; it may take minutes, can be stopped, and nothing that
it calls can write. `Prepared.effect` writes, in the transaction of whoever called (a step of an agent, with its
record) or in one that `run` opens. Between the halves the book may move on: the hashes that were read are checked
in the transaction, and what is stale is refused, not merged by luck.
"""

from collections.abc import Mapping
from typing import Any

from marginalia_tui.commands.arguments import Arguments, resolve
from marginalia_tui.commands.context import Context, Effect, Nested, Scope
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.definition import CommandDefinition
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid, Stale
from marginalia_tui.domain.guard import may_wait, reading_only
from marginalia_tui.domain.items import KINDS
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import WriteTx


class _Preparing(Context):
    """The context of a command that prepares, with the commands that it called."""

    def __init__(self, scope: Scope, definition: CommandDefinition, caller: "Dispatcher", control: Control) -> None:
        super().__init__(scope, definition.name, caller, control)
        self.definition = definition
        self.inner: list[tuple[Prepared, Nested[Any]]] = []


class Prepared:
    """A command whose first half is done."""

    def __init__(self, context: _Preparing, outcome: object) -> None:
        self.definition = context.definition
        self.scope = context.scope
        self.control = context.control
        self._inner = context.inner
        self._outcome = outcome

    @property
    def needs_effect(self) -> bool:
        """Whether something is still to be written; otherwise `result` is there already."""
        return isinstance(self._outcome, Effect) or any(inner.needs_effect for inner, _ in self._inner)

    @property
    def act(self) -> Act:
        """The head of the change, for a transaction that is opened for this command alone."""
        if isinstance(self._outcome, Effect) and self._outcome.act is not None:
            return self._outcome.act
        scope = self.scope
        return Act(actor=scope.actor, label=self.definition.title, book=scope.book, run=scope.run)

    @property
    def result(self) -> Result:
        """The answer of a command that has nothing to write."""
        if not isinstance(self._outcome, Result) or self.needs_effect:
            raise RuntimeError(f"{self.definition.name} has something to write: its result comes from its effect")
        return self._outcome

    def effect(self, tx: WriteTx) -> Result:
        """Writes, in the transaction of the caller, and answers.

        Raises:
            Stale: what the command had read was changed since.
            Locked: an agent holds the book.
        """
        for inner, nested in self._inner:
            if inner.needs_effect:
                nested.give(inner.effect(tx))
        if not isinstance(self._outcome, Effect):
            assert isinstance(self._outcome, Result)
            return self._outcome
        self._verify(tx, self._outcome.reads)
        result = self._outcome.apply(tx)
        assert isinstance(result, Result)
        return result

    def _verify(self, tx: WriteTx, reads: Mapping[tuple[str, str], bytes | None]) -> None:
        space = tx.space(self.scope.space)
        for kind in {kind for kind, _ in reads}:
            expected = {uuid: hash for (each, uuid), hash in reads.items() if each == kind}
            found = space.hashes(KINDS[kind], list(expected))
            moved = sum(found.get(uuid) != hash for uuid, hash in expected.items())
            if moved:
                raise Stale(
                    f"{self.definition.name} changed nothing: while it worked, "
                    f"{moved} of the {len(expected)} {kind}s that it had read changed. Read again and repeat it."
                )


class Dispatcher:
    """Finds a command, checks its arguments and runs its halves. Stateless: it serves many threads at once."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def prepare(
        self,
        command: str | CommandDefinition,
        arguments: Arguments,
        scope: Scope,
        control: Control | None = None,
        *,
        typed: bool = False,
    ) -> Prepared:
        """The first half: everything but the writing.

        Args:
            command: its name, or the command itself, which need not be registered any more.
            arguments: by name (a mapping) or by position (a list).
            scope: what it works on.
            control: for its status, and to stop it.
            typed: whether the arguments are the texts of a line.

        Raises:
            NotFound, Invalid: no such command, or an argument does not fit.
            MarginaliaError: what the command refuses.
        """
        definition = self.registry.get(command) if isinstance(command, str) else command
        return self._prepare(definition, arguments, scope, control or Control(), typed=typed)

    def prepare_line(self, text: str, scope: Scope, control: Control | None = None) -> Prepared:
        """`prepare` for a line such as `/get-part 3`."""
        return self.prepare(self.command_of(text), CommandLine.parse(text).values, scope, control, typed=True)

    def command_of(self, text: str) -> CommandDefinition:
        """The command that a line calls.

        Raises:
            Invalid: it is no command.
            NotFound: there is none of that name; the sentence proposes the nearest.
        """
        line = CommandLine.parse(text)
        if not line.is_command:
            raise Invalid("A command begins with /: /help lists them.")
        return self.registry.get(line.name)

    def run(
        self,
        command: str | CommandDefinition,
        arguments: Arguments,
        scope: Scope,
        control: Control | None = None,
        *,
        typed: bool = False,
    ) -> Result:
        """Both halves, the second in a transaction of its own."""
        return self.finish(self.prepare(command, arguments, scope, control, typed=typed))

    def run_line(self, text: str, scope: Scope, control: Control | None = None) -> Result:
        """`run` for a line such as `/get-part 3`."""
        return self.finish(self.prepare_line(text, scope, control))

    def finish(self, prepared: Prepared) -> Result:
        """The second half, when there is one, in a transaction of its own, which nothing stops any more."""
        if not prepared.needs_effect:
            return prepared.result
        prepared.control.hold(prepared.definition.name)
        with prepared.scope.store.write(prepared.act) as tx:
            return prepared.effect(tx)

    def nested(self, name: str, arguments: Mapping[str, Any], outer: Context) -> Nested[Any]:
        """Prepares a command inside another one; its effect joins the transaction of `outer`."""
        assert isinstance(outer, _Preparing)
        definition = self.registry.get(name)
        if definition.severity > outer.definition.severity:
            raise RuntimeError(
                f"{outer.command} is {outer.definition.severity.name} and calls {name}, "
                f"which is {definition.severity.name}"
            )
        prepared = self._prepare(definition, arguments, outer.scope, outer.control)
        nested: Nested[Any] = Nested()
        outer.inner.append((prepared, nested))
        if not prepared.needs_effect:
            nested.give(prepared.result)
        return nested

    def _prepare(
        self,
        definition: CommandDefinition,
        arguments: Arguments,
        scope: Scope,
        control: Control,
        *,
        typed: bool = False,
    ) -> Prepared:
        may_wait(f"the preparation of {definition.name}")
        call = resolve(definition, arguments, typed=typed)
        context = _Preparing(scope, definition, self, control)
        context.check()
        with reading_only(definition.name):
            outcome = call.make(context)
        if not isinstance(outcome, Effect | Result):
            raise RuntimeError(f"{definition.name} answered {type(outcome).__name__}, not a Result or an Effect")
        if isinstance(outcome, Effect) and definition.read_only:
            raise RuntimeError(f"{definition.name} is READ, but it has an effect")
        if isinstance(outcome, Effect) and definition.destructive and not context.asked:
            raise RuntimeError(f"{definition.name} is destructive, but it did not ask")
        context.check()
        return Prepared(context, outcome)
