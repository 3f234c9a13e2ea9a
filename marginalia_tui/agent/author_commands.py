"""Commands that the author runs inside a run: on its copy, between two rounds of the agent or while it rests.

The effect of such a command, its answer in the transcript and its removal from the queue are one transaction: after a
crash all are there or none, and what is still in the queue is run. Only a command that asks a model notes that it
began; cut off, it is answered as interrupted and not run again.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from marginalia_tui.agent import inbox
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.inbox import Queued
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.tools import allowed_commands, cut_result
from marginalia_tui.agent.transcript import AUTHOR_COMMAND, Entry, append
from marginalia_tui.commands.arguments import resolve
from marginalia_tui.commands.context import Question, Scope
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.definition import CommandDefinition, Work
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry, nearest
from marginalia_tui.commands.results import to_json
from marginalia_tui.domain.chat import Message
from marginalia_tui.domain.errors import Cancelled, Invalid, LeaseLost, MarginaliaError, Refused, StoreError
from marginalia_tui.resources import prompt
from marginalia_tui.store.journal import Act
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.store import WriteTx

COMPACT = "compact"
"""The one command that is of the run itself."""
_HANDLE = re.compile(r"h:[a-z][0-9]{1,9}")


class NobodyInRun:
    """A run can't ask the author in the midst of a command."""

    def confirm(self, question: Question, control: Control) -> bool:
        """Refuses with the question in the sentence."""
        raise Refused(f"{question.text} A command inside a run can't ask you: nothing was changed.")


class TakenBack(Exception):
    """The author took the command back in the very moment."""


def runnable(registry: Registry, agent: AgentDefinition) -> list[CommandDefinition]:
    """The commands that the author may run inside a run: those of its agent that destroy nothing, by name."""
    return [command for command in allowed_commands(registry, agent) if not command.destructive]


def is_compaction(line: str) -> bool:
    """Whether a line is `/compact`, perhaps with a focus."""
    return CommandLine.parse(line).name == COMPACT


def focus_of(line: str) -> str:
    """What a `/compact` is to keep above all; empty when nothing was said."""
    return line.strip()[len(COMPACT) + 1 :].strip()


def check(registry: Registry, agent: AgentDefinition, line: str) -> None:
    """Whether a line can be run inside a run of an agent.

    Raises:
        Invalid: it is no command, or its arguments do not fit.
        NotFound: there is no such command.
        Refused: it is destructive, or not among those of the agent.
    """
    if not CommandLine.parse(line).is_command:
        raise Invalid("A command begins with /: write one such as /get-part 1.")
    if not is_compaction(line):
        _command_of(registry, agent, line)


def _command_of(registry: Registry, agent: AgentDefinition, line: str) -> tuple[CommandDefinition, Sequence[str]]:
    parsed = CommandLine.parse(line)
    command = registry.get(parsed.name)
    if command.destructive:
        raise Refused(
            f"/{command.name} removes or overwrites, so it is not run inside a run: "
            "ask the agent for it, or do it in the book when the work is reviewed."
        )
    allowed = [each.name for each in runnable(registry, agent)]
    if command.name not in allowed:
        near = nearest(command.name, allowed)
        hint = f" Near to it: {', '.join('/' + each for each in near)}." if near else ""
        raise Refused(
            f"/{command.name} is not among the commands of {agent.name}, so it can't be run in its run.{hint}"
        )
    resolve(command, parsed.values, typed=True)
    return command, parsed.values


class AuthorCommands:
    """Runs the commands of the author in one run, on its worker's thread."""

    def __init__(self, setup: RunSetup, run: Run, lease: Lease, handles: Handles) -> None:
        self._setup = setup
        self._run = run
        self._lease = lease
        self._handles = handles
        self._scope = Scope(
            store=setup.store,
            space=run.copy,
            book=run.book,
            answers=NobodyInRun(),
            actor="author",
            run=run.uuid,
            model=setup.agent.model,
        )

    def make(self, item: Queued, control: Control) -> Entry | None:
        """Runs a command, and records what it answered in place of what waited.

        Returns:
            The row; None when it was stopped before it changed anything, or taken back.

        Raises:
            LeaseLost: another process took the run over.
            StoreError: the disk refuses.
        """
        if item.began:
            return self.answer(item, prompt("author-command-interrupted"), ok=False)
        if is_compaction(item.text):
            return self.answer(item, prompt("compact-later"), ok=False)
        try:
            effect = self._prepare(item, control)
            control.hold(item.text)
            return self._record(item, effect, ok=True)
        except Cancelled:
            self._handles.forget_new()
            return None
        except (LeaseLost, StoreError):
            raise
        except MarginaliaError as error:
            self._handles.forget_new()
            return self.answer(item, f"Error: {error.message}", ok=False)

    def answer(self, item: Queued, text: str, *, ok: bool) -> Entry | None:
        """Records an answer that was made without an effect on the copy; None when the command was taken back."""
        return self._record(item, lambda tx: text, ok=ok)

    def _prepare(self, item: Queued, control: Control) -> Callable[[WriteTx], str]:
        command, values = _command_of(self._setup.dispatcher.registry, self._setup.agent, item.text)
        if command.work is Work.MODEL:
            with self._write(item) as tx:
                if not inbox.begin(tx, self._run.uuid, item.id):
                    raise Cancelled("The command was taken back: nothing was changed.")
        given = [self._handles.resolve(each) if _HANDLE.fullmatch(each) else each for each in values]
        prepared = self._setup.dispatcher.prepare(command, given, self._scope, control, typed=True)
        if not prepared.needs_effect:
            text = to_json(prepared.result, self._handles.name)
            return lambda tx: text
        return lambda tx: to_json(prepared.effect(tx), self._handles.name)

    def _record(self, item: Queued, effect: Callable[[WriteTx], str], *, ok: bool) -> Entry | None:
        try:
            with self._write(item) as tx:
                entry = record(tx, self._run.uuid, item, cut_result(effect(tx)), ok=ok)
                self._handles.save(tx)
        except TakenBack:
            self._handles.forget_new()
            return None
        self._handles.saved()
        return entry

    def _write(self, item: Queued) -> AbstractContextManager[WriteTx]:
        act = Act(actor="author", label=item.text[:80], book=self._run.book, run=self._run.uuid)
        return self._setup.store.write(act, lease=self._lease)


def settle(tx: WriteTx, run: str, item: Queued) -> None:
    """Takes a command that is done out of the queue.

    Raises:
        TakenBack: it is not there any more, and what was done for it is to be undone.
    """
    if not inbox.take(tx, run, item.id):
        raise TakenBack


def record(tx: WriteTx, run: str, item: Queued, answer: str, *, ok: bool) -> Entry:
    """Writes what a command of the author answered, and takes it out of the queue, or nothing at all."""
    settle(tx, run, item)
    text = prompt("author-command").format(line=item.text, answer=answer)
    return append(tx, run, Message(role="user", text=text, ok=ok), notice=AUTHOR_COMMAND)
