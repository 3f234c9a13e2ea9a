"""Making one call: its arguments, its two halves, its result.

The effect of a command and the result in the transcript are one transaction, conditional on the lease. After a
crash either both are there or neither, so that a call without a result is simply made again.
"""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import orjson

from marginalia_tui.agent import approvals, earlier, findings, manual, transcript
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.limits import limits_of
from marginalia_tui.agent.prompt import context_cap
from marginalia_tui.agent.questions import choices_of
from marginalia_tui.agent.room import cut_to_tokens, room_left
from marginalia_tui.agent.runs import Run, add_context, context_of, get_run
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.tools import (
    ASK_USER,
    FINISH,
    READ_EARLIER,
    READ_MANUAL_PAGE,
    REPORT,
    REQUEST_COMPACTION,
    RUN_TOOLS,
    SEARCH_MANUAL,
    UPDATE_PLAN,
    AddedTool,
    cut_result,
    plan_steps,
    resolve_handles,
    text_argument,
)
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.agent.worked import Worked
from marginalia_tui.commands.context import AlwaysYes, Scope
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.definition import CommandDefinition
from marginalia_tui.commands.results import to_json
from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.domain.errors import Cancelled, Invalid, LeaseLost, MarginaliaError, Refused, StoreError
from marginalia_tui.domain.guard import reading_only
from marginalia_tui.domain.items import Plan
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.llm.tokens import count_message
from marginalia_tui.resources import prompt
from marginalia_tui.store.journal import Act
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.spaces import changed_anything
from marginalia_tui.store.store import WriteTx

log = logging.getLogger(__name__)

MUCH = 20_000
"""Characters since a summary that are worth another one; in a small context half of it."""

Effect = Callable[[WriteTx], str]
"""Writes, and gives the text of the result."""


class CallMaker:
    """Makes the calls of one run, on its worker's thread."""

    def __init__(self, setup: RunSetup, run: Run, lease: Lease, handles: Handles, worked: Worked) -> None:
        self._setup = setup
        self._run = run
        self._lease = lease
        self._handles = handles
        self._worked = worked
        self._scope = Scope(
            store=setup.store,
            space=run.copy,
            book=run.book,
            answers=AlwaysYes(),
            is_agent=True,
            actor="agent",
            run=run.uuid,
            model=setup.agent.model,
        )

    def broken(self, call: Call) -> bool:
        """Whether the arguments are no JSON object, or cut off before they began."""
        return read_arguments(call.arguments) is None or not call.arguments.strip()

    def argument(self, call: Call, name: str) -> str:
        """The text of an argument of a call that went well."""
        return str((read_arguments(call.arguments) or {}).get(name, "")).strip()

    def resolved(self, call: Call) -> tuple[CommandDefinition, dict[str, Any]]:
        """The command of a call and its arguments, handles resolved.

        Raises:
            MarginaliaError: what the model is to correct.
        """
        arguments = read_arguments(call.arguments)
        if arguments is None:
            raise Invalid(prompt("unreadable-call").format().removeprefix("Error: "))
        command = self._setup.tools.command(call.name)
        return command, resolve_handles(command, arguments, self._handles)

    def must_wait(self, run: Run, call: Call) -> bool:
        """Whether the author has to allow the call first, and has not decided yet."""
        command = self._setup.tools.commands.get(call.name)
        if command is None or not command.destructive or self._setup.agent.destructive != "ask":
            return False
        if command.name in run.always or self._problem(call) is not None:
            return False
        with self._setup.store.read() as tx:
            asked = approvals.find(tx, run.uuid, call.id)
        return asked is None or asked.decision is None

    def _problem(self, call: Call) -> MarginaliaError | None:
        """What keeps the command from being prepared; the author is not asked about a call that can't be made."""
        try:
            command, arguments = self.resolved(call)
            self._setup.dispatcher.prepare(command.name, arguments, self._scope)
        except MarginaliaError as error:
            return error
        return None

    def refuse(self, call: Call, text: str, *, seconds: float = 0.0, notice: str | None = None) -> Entry:
        """Answers a call that is not made, or that failed after so long.

        Args:
            call: the call.
            text: what the model reads.
            seconds: how long it took.
            notice: the kind of the result when it is not the tool that refused it (`skipped`, ...).
        """
        with self._write(call) as tx:
            return self._append(tx, call, text, ok=False, seconds=seconds, notice=notice)

    def make(self, call: Call, control: Control, share: int = 1) -> Entry | None:
        """Makes a call and records its result.

        Args:
            call: what is called.
            control: stops it.
            share: the calls of the answer that have no result yet: they share the room in the context.

        Returns:
            The result; None when the call was stopped before it changed anything.

        Raises:
            LeaseLost: another process took the run over.
            StoreError: the disk refuses.
        """
        began = time.monotonic()
        try:
            effect = self._prepare(call, control)
            with self._write(call) as tx:
                whole = effect(tx)
                text = self._fitted(tx, whole, share)
                notice = transcript.CUT if text is not whole else None
                entry = self._append(tx, call, text, ok=True, seconds=time.monotonic() - began, notice=notice)
                self._handles.save(tx)
            self._handles.saved()
            return entry
        except Cancelled:
            self._handles.forget_new()
            return None
        except (LeaseLost, StoreError):
            raise
        except MarginaliaError as error:
            self._handles.forget_new()
            return self.refuse(call, f"Error: {error.message}", seconds=time.monotonic() - began)

    def _prepare(self, call: Call, control: Control) -> Effect:
        if call.name in RUN_TOOLS:
            arguments = read_arguments(call.arguments)
            if arguments is None:
                raise Invalid(prompt("unreadable-call").format().removeprefix("Error: "))
            return self._prepare_run_tool(call, arguments)
        if (added := self._setup.tools.added.get(call.name)) is not None:
            return self._prepare_added(added, call)
        command, resolved = self.resolved(call)
        if command.destructive and self._setup.agent.destructive == "ask":
            self._check_approved(call)
        prepared = self._setup.dispatcher.prepare(command.name, resolved, self._scope, control)
        if not prepared.needs_effect:
            text = to_json(prepared.result, self._handles.name)
            return lambda tx: text
        return lambda tx: to_json(prepared.effect(tx), self._handles.name)

    def _prepare_added(self, added: AddedTool, call: Call) -> Effect:
        """A tool of an extension: whatever goes wrong in it is a result that the model reads."""
        arguments = read_arguments(call.arguments)
        if arguments is None:
            raise Invalid(prompt("unreadable-call").format().removeprefix("Error: "))
        with reading_only(call.name):
            try:
                text = str(added.run(arguments, self._scope))
            except MarginaliaError:
                raise
            except Exception as error:
                log.exception("the tool %s of an extension failed", call.name)
                raise Refused(f"The tool {call.name} failed: go on without it.") from error
        return lambda tx: text

    def _check_approved(self, call: Call) -> None:
        with self._setup.store.read() as tx:
            asked = approvals.find(tx, self._run.uuid, call.id)
        if asked is not None and asked.decision == "deny":
            why = f" They say: {asked.why}" if asked.why else ""
            raise Invalid(prompt("denied").format(why=why).removeprefix("Error: "))

    def _prepare_run_tool(self, call: Call, arguments: dict[str, Any]) -> Effect:
        name = call.name
        if name == REPORT:
            return self._report(call, text_argument(REPORT, "text", arguments))
        if name in (SEARCH_MANUAL, READ_MANUAL_PAGE):
            found = manual.answer(name, arguments)
            return lambda tx: found
        if name == FINISH:
            text_argument(FINISH, "report", arguments)
            self._check_something_done()
            return lambda tx: "The run is finished: the author will review it."
        if name == ASK_USER:
            text_argument(ASK_USER, "question", arguments)
            choices_of(arguments)
            return lambda tx: "The question is asked: the answer comes as the next message."
        if name == UPDATE_PLAN:
            steps = orjson.dumps(plan_steps(arguments)).decode()
            plan = Plan(uuid=self._run.uuid, book=self._run.book, steps=steps)

            def keep(tx: WriteTx) -> str:
                changed = tx.space(self._run.copy).put([plan])
                return "The plan is kept." if changed else "The plan is unchanged."

            return keep
        if name == READ_EARLIER:
            with self._setup.store.read() as tx:
                earlier_text = earlier.answer(tx, self._run.uuid, arguments)
            return lambda tx: earlier_text
        if name == REQUEST_COMPACTION:
            self._check_room_is_needed()
            return lambda tx: "The conversation is summarised now."
        return lambda tx: orjson.dumps(self._status(tx)).decode()

    def _report(self, call: Call, text: str) -> Effect:
        text = findings.check(text)

        def keep(tx: WriteTx) -> str:
            findings.add(tx, self._run, call.id, text)
            return "The finding is kept for the author."

        return keep

    def _check_room_is_needed(self) -> None:
        """Refuses a summary right after another: a model that asks for one again and again does nothing else."""
        cap = context_cap(self._setup.agent, self._setup.model)
        with self._setup.store.read() as tx:
            if transcript.just_summed_up(tx, self._run.uuid, min(MUCH, 2 * cap) if cap else MUCH):
                raise Invalid(prompt("compaction-too-soon"))

    def _check_something_done(self) -> None:
        """Refuses the first finish of a run that changed nothing: models that can write claim what they did not do."""
        if self._setup.tools.readers >= set(self._setup.tools.commands):
            return
        with self._setup.store.read() as tx:
            if changed_anything(tx, self._run.copy) or transcript.was_refused(tx, self._run.uuid, FINISH):
                return
            if findings.list_findings(tx, run=self._run.uuid):
                return
        raise Invalid(prompt("nothing-changed"))

    def _status(self, tx: WriteTx) -> dict[str, Any]:
        run, setup = get_run(tx, self._run.uuid), self._setup
        limits = limits_of(run, setup.agent, setup.settings, setup.model)
        return {
            "rounds": run.rounds,
            "maxRounds": limits.rounds or None,
            "tokens": run.usage.prompt + run.usage.completion,
            "tokenBudget": limits.tokens or None,
            "cost": round(run.cost, 4),
            "maxCost": limits.money or None,
            "minutes": round(run.worked / 60, 1),
            "maxMinutes": limits.minutes or None,
            "contextTokens": run.context_tokens,
            "contextCap": limits.context or None,
        }

    def _write(self, call: Call) -> AbstractContextManager[WriteTx]:
        command = self._setup.tools.commands.get(call.name)
        act = Act(
            actor="agent",
            label=command.title if command else call.name,
            book=self._run.book,
            run=self._run.uuid,
            call=call.id,
        )
        return self._worked.booked(self._setup.store.write(act, lease=self._lease))

    def _fitted(self, tx: WriteTx, text: str, share: int) -> str:
        """A result, cut to its length at most and to its share of the room that the context has."""
        limits = limits_of(self._run, self._setup.agent, self._setup.settings, self._setup.model)
        text = cut_result(text)
        if not limits.context:
            return text
        room = room_left(limits.context, context_of(tx, self._run.uuid), self._setup.model.max_output)
        return cut_to_tokens(text, room // share, self._ratio)

    @property
    def _ratio(self) -> float:
        return self._setup.models.correction(self._setup.model).ratio

    def _append(
        self, tx: WriteTx, call: Call, text: str, *, ok: bool, seconds: float, notice: str | None = None
    ) -> Entry:
        result = Message(role="tool", text=text, call_id=call.id, ok=ok)
        add_context(tx, self._run.uuid, round(count_message(result) * self._ratio))
        return transcript.append(tx, self._run.uuid, result, seconds=round(seconds, 3), notice=notice)
