"""The worker of one run: a short loop on a thread of its own.

Each turn of the loop looks at the end of the transcript and does the one thing that comes next: make a call that
has no result, deliver what the author wrote, end the turn, or ask the model. What a step does is written in one
transaction, conditional on the lease, so that the loop may die between any two instructions and be taken up by
another process at the same place.

A worker ends whenever the run rests. Nothing waits for the author on a thread.
"""

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from marginalia_tui.agent import approvals, compaction, context, inbox, limits, repeats, runlog, setbacks, transcript
from marginalia_tui.agent.asking import Asker
from marginalia_tui.agent.batching import cut_calls
from marginalia_tui.agent.calls import CallMaker
from marginalia_tui.agent.choice import choose, notice_of, refused
from marginalia_tui.agent.cutting import Cut, answer_cut
from marginalia_tui.agent.delivery import RESTING, Delivery
from marginalia_tui.agent.events import (
    CallAnswered,
    CallMade,
    NoticeGiven,
    Rested,
    RoundBegan,
    RunEvent,
    StatusChanged,
    UsageCounted,
)
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.inbox import Queued
from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.agent.prompt import build_request, system_parts
from marginalia_tui.agent.runs import Run, add_usage, get_run, transition
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.tools import ASK_USER, FINISH
from marginalia_tui.agent.transcript import CUT, MAX_NUDGES, NUDGE, Entry, Round, last_round
from marginalia_tui.agent.worked import Worked
from marginalia_tui.commands.control import Control
from marginalia_tui.domain.chat import (
    Answer,
    Call,
    Message,
    Usage,
)
from marginalia_tui.domain.errors import LeaseLost, MarginaliaError, StatusConflict, StoreError
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.tokens import count_answer
from marginalia_tui.resources import prompt
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.spaces import changed_anything
from marginalia_tui.store.store import WriteTx

log = logging.getLogger(__name__)

Observer = Callable[[RunEvent], None]

PARKED = "The studio was closed while it worked. Resume it, and it goes on exactly where it was."
FAULT = "The studio has a fault ({fault}); its log has the details. Resume to try again."


class _Over(Exception):
    """The worker has nothing more to do."""


class Worker:
    """Works one run until it rests. `start` it once; `done` is set when its thread has ended.

    Args:
        setup: the agent, its model and its tools, as they are now.
        lease: of the run; the worker releases it.
        observers: hear every event, on the worker's thread or on that of the models; one that fails hears no more.
        errand: only runs what the author commanded in a run that rests, and leaves it as it is, unless it is to go on
            meanwhile.
    """

    def __init__(self, setup: RunSetup, lease: Lease, observers: Sequence[Observer], *, errand: bool = False) -> None:
        self.run = lease.run
        self.live = LiveBuffer()
        self.done = threading.Event()
        self._setup = setup
        self._store = setup.store
        self._lease = lease
        self._observers = list(observers)
        self._asker = Asker(setup, self.live, self._tell, self._must_end_now)
        self._parking = ""
        """Why the worker is to pause; empty while it is not."""
        self._leaving = False
        """Whether another process goes on: the run is let go of as it is, and not paused."""
        self._control = Control()
        self._calling = False
        """Whether a call or a command goes on that can be stopped."""
        self._summarising = False
        self._was_cut = False
        """Whether a call was stopped in its midst."""
        self._errand = errand
        self._turn_over: tuple[RunStatus, str] | None = None
        """How the turn ends when the author has nothing more to say."""
        self.rested: RunStatus | None = None
        """How this worker left the run; None when it did not bring it to a rest."""
        self._reason = ""
        with self._store.read() as tx:
            self._handles = Handles(tx, self.run)
            run = get_run(tx, self.run)
            # Read once and then kept: a transcript grows at its end only, and only here.
            self._rows = transcript.read_by_model(tx, self.run)
        self._names = {tool.name for tool in setup.tools.tools}
        self._estimate = 0
        """Tokens of the request that was asked last, as the studio counts."""
        self._worked = Worked(self.run)
        self._calls = CallMaker(setup, run, lease, self._handles, self._worked)
        self._delivery = Delivery(setup, run, lease, self._handles, self._compact_for_author)
        self._thread = threading.Thread(target=self._main, name=f"run-{self.run[-8:]}", daemon=True)

    def start(self) -> None:
        """Begins to work."""
        self._thread.start()

    @property
    def began(self) -> bool:
        """Whether its thread was started."""
        return self._thread.ident is not None

    def park(self, reason: str = PARKED) -> None:
        """Gives up the request or call that goes on, and pauses the run for a reason."""
        self._parking = reason
        self._control.stop()
        self._asker.look_again()

    def leave(self) -> None:
        """Lets go of the run at its next stable point, RUNNING as it is: another process takes it up there."""
        self._leaving = True

    def look_again(self) -> None:
        """Something changed: what goes on asks whether it is to go on."""
        if self._calling and self._must_end_now():
            self._control.stop()
        self._asker.look_again()

    def stop_call(self) -> None:
        """Has the call that goes on end at its next check, when it has changed nothing yet."""
        self._control.stop()
        self._asker.look_again()

    def observe(self, observer: Observer) -> None:
        """Adds a listener."""
        self._observers.append(observer)

    # The thread.

    def _main(self) -> None:
        unsubscribe = self._store.bus.subscribe(self._heard)
        try:
            self._log_beginning()
            self._tell_status()
            while self._errand:
                self._run_errand()
            while True:
                self._turn()
        except _Over:
            pass
        except LeaseLost:
            log.info("run %s: taken over by another process", self.run)
        except StoreError as error:
            log.error("run %s: the store refuses: %s", self.run, error)
            self._tell(NoticeGiven(error.message))
            self._end_as(RunStatus.PAUSED, error.message)
        except Exception as error:
            log.exception("run %s: the worker broke", self.run)
            self._end_as(RunStatus.FAILED, FAULT.format(fault=type(error).__name__))
        finally:
            unsubscribe()
            self.live.end()
            self._lease.release()
            try:
                self._tell_rest()
            finally:
                self.done.set()

    def _log_beginning(self) -> None:
        setup = self._setup
        with self._store.read() as tx:
            run = get_run(tx, self.run)
        runlog.begins(self.run, setup, limits.limits_of(run, setup.agent, setup.settings, setup.model))

    def _turn(self) -> None:
        try:
            self._step()
        except StatusConflict as error:
            # The author changed the status in the very moment: theirs holds, and the next step finds it.
            log.info("run %s: %s", self.run, error)

    def _step(self) -> None:
        """The one thing that comes next."""
        # Before the look at the status: a stop that this look does not see finds the call that it is to stop.
        self._control = Control()
        run, waiting = self._stable_point()
        end = last_round(self._rows)
        if end.open_calls and any(item.forced for item in waiting):
            self._cut_off(end)
        elif end.open_calls:
            self._make_call(run, end)
        elif wish := compaction.asked_for(end):
            self._compact(run, wish)
        elif waiting:
            self._deliver(waiting[0])
        elif self._turn_over:
            self._end_turn(run, *self._turn_over)
        elif end.answer is None or end.newer:
            self._ask(run)
        else:
            self._after_round(run, end)

    def _stable_point(self) -> tuple[Run, list[Queued]]:
        """Where a pause or a stop happens; when it goes on, the run as it is now and what the author wrote."""
        with self._store.read() as tx:
            run, waiting = get_run(tx, self.run), inbox.queued(tx, self.run)
        if run.status is RunStatus.RUNNING and run.epoch == self._lease.epoch:
            if self._leaving:
                self._lease.release()
                raise _Over
            if not self._parking:
                return run, waiting
            self._change(run, RunStatus.PAUSED, self._parking, wish="parked")
        elif run.status is RunStatus.PAUSING:
            self._change(run, RunStatus.PAUSED, cut="paused-call")
        elif run.status is RunStatus.STOPPING:
            to = RunStatus.STOPPED_DISCARDED if run.wish == "discard" else RunStatus.STOPPED_KEPT
            self._change(run, to, cut="stopped-call")
        raise _Over

    # The end of a round.

    def _after_round(self, run: Run, end: Round) -> None:
        """The model said its part and every call has its result: does the turn end, or go on?"""
        assert end.answer is not None
        calls = end.answer.message.calls
        if found := end.result_of(FINISH):
            self._end_turn(run, RunStatus.DONE, self._calls.argument(found[0], "report"))
        elif found := end.result_of(ASK_USER):
            self._end_turn(run, RunStatus.IDLE, self._calls.argument(found[0], "question"))
        elif repeats.is_told(self._rows):
            self._pause(repeats.REASON)
        elif setbacks.broke_off(end.answer):
            self._set_back(setbacks.CUT_ANSWER, setbacks.CUT_REASON)
        elif setbacks.cut_too_often(self._rows):
            self._notice(setbacks.CUT_ANSWER, prompt(setbacks.CUT_ANSWER))
            self._pause(setbacks.CUT_REASON)
        elif not calls and (run.interactive or transcript.nudges(self._rows) >= MAX_NUDGES):
            self._end_turn(run, RunStatus.IDLE, end.answer.message.text.strip() or "It answered nothing.")
        elif not calls:
            self._nudge(run)
        elif (told := repeats.judge(self._rows, partial(self._changing, run))) is not None:
            self._notice(told, prompt(told))
        else:
            self._ask(run)

    def _nudge(self, run: Run) -> None:
        """A model that works alone and only talks is told to call a tool, before the author is called."""
        with self._store.read() as tx:
            changed = changed_anything(tx, run.copy)
        self._notice(NUDGE, prompt("nudge-done" if changed else "nudge"))

    def _changing(self, run: Run, calls: Collection[str]) -> Collection[str]:
        with self._store.read() as tx:
            return repeats.changing_calls(tx, run.copy, calls)

    def _notice(self, kind: str, text: str) -> None:
        """Tells the model something: a row of its own kind, which the next request holds."""
        with self._write(kind) as tx:
            entry = transcript.append(tx, self.run, Message(role="user", text=text), notice=kind)
        self._rows.append(entry)
        self._tell(NoticeGiven(text))

    def _end_turn(self, run: Run, to: RunStatus, reason: str) -> None:
        """Rests, unless the author wrote in the very moment: a message lets the turn go on, a command is run first."""
        with self._write("end of a turn") as tx:
            over = inbox.is_empty(tx, self.run)
            if over:
                transition(tx, run, to, reason)
                self._lease.release()
        self._turn_over = to, reason
        if over:
            self.rested, self._reason = to, reason
            raise _Over

    # What the author wrote.

    def _deliver(self, first: Queued) -> None:
        """Runs a command that comes next, or delivers the messages before the next command."""
        if first.kind == "command":
            self._command(first)
        elif delivered := self._delivery.messages():
            self._turn_over = None
            self._take_in(delivered)

    def _command(self, item: Queued) -> None:
        self._calling = True
        try:
            entry = self._delivery.command(item, self._control, last_round(self._rows).open_calls)
        finally:
            self._calling = False
        self._take_in([entry] if entry is not None else [])

    def _run_errand(self) -> None:
        """The next command in a run that rests; without one the run stays as it was, or goes on if it is to."""
        self._control = Control()
        run, item = self._delivery.next_errand(parking=bool(self._parking))
        if item is not None:
            self._command(item)
        elif run.status is RunStatus.RUNNING:
            self._errand = False
            self._tell_status()
        else:
            self.rested, self._reason = run.status, run.reason
            raise _Over

    def _cut_off(self, end: Round) -> None:
        """The author does not wait for the calls that are to be made."""
        self._was_cut = False
        self._take_in(self._delivery.cut_off(end.open_calls))

    def _take_in(self, rows: Sequence[Entry]) -> None:
        self._rows.extend(rows)
        for entry in rows:
            said = entry.message
            answered = said.role == "tool" and said.call_id is not None
            self._tell(
                CallAnswered(said.call_id or "", said.ok, said.text, 0.0) if answered else NoticeGiven(said.text)
            )

    # Calls.

    def _make_call(self, run: Run, end: Round) -> None:
        call = end.open_calls[0]
        assert end.answer is not None
        self._tell(CallMade(call.id, None, call.name, call.arguments))
        before = end.answer.message.calls[: end.answer.message.calls.index(call)]
        self._was_cut = False
        failed = any(not end.results[each.id].ok for each in before)
        cut = end.answer.notice == CUT and call == end.answer.message.calls[-1]
        if self._parking:
            return
        if failed:
            outcome = self._calls.refuse(call, prompt("skipped-call"), notice=transcript.SKIPPED)
        elif cut and self._calls.broken(call):
            outcome = self._calls.refuse(call, prompt("cut-call"), notice=transcript.CUT)
        elif self._calls.must_wait(run, call):
            self._wait_for_approval(run, call.id, end)
            return  # the author forced a message in the very moment: the next step cuts the call off
        elif (made := self._make(call, len(end.open_calls))) is not None:
            outcome = made
        else:
            self._was_cut = True  # before it changed anything
            return
        self._rows.append(outcome)
        result, seconds = outcome.message, outcome.seconds
        runlog.called(self.run, runlog.known(call.name, self._names), seconds, len(result.text), ok=result.ok)
        self._tell(CallAnswered(call.id, result.ok, result.text, seconds))

    def _make(self, call: Call, share: int) -> Entry | None:
        self._calling = True
        try:
            return self._calls.make(call, self._control, share)
        finally:
            self._calling = False

    def _wait_for_approval(self, run: Run, call_id: str, end: Round) -> None:
        call = next(each for each in end.open_calls if each.id == call_id)
        command, arguments = self._calls.resolved(call)
        with self._write("approval") as tx:
            if inbox.is_forced(tx, self.run):
                return
            if approvals.find(tx, self.run, call.id) is None:
                approvals.ask(tx, self.run, call.id, command.name, arguments)
            reason = f"{command.title} ({command.name}) waits for your word."
            transition(tx, run, RunStatus.WAITING_APPROVAL, reason)
            self._lease.release()
        self.rested, self._reason = RunStatus.WAITING_APPROVAL, reason
        raise _Over

    # The model.

    def _ask(self, run: Run) -> None:
        setup = self._setup
        tools = setup.tools
        parts = system_parts(setup.agent, setup.model, interactive=run.interactive, singles=sorted(tools.singles))
        wordy, choice = repeats.wants_words(self._rows), choose(self._rows, setup.model)
        request = build_request(parts, self._rows, tools.tools, setup.model.max_output, choice, run=self.run)
        allowed = limits.limits_of(run, setup.agent, setup.settings, setup.model)
        fill = context.measure(setup.models, setup.model, request, allowed.context)
        self._estimate = fill.total
        # Where the server counts more than the studio, it is right.
        fill = replace(fill, total=max(fill.total, run.context_tokens))
        full = not wordy and compaction.due(self._rows, setup.agent, fill)
        allowed = replace(allowed, context=0) if full else allowed
        if reason := limits.reached(run, allowed, fill.total, by_talk=fill.by_talk):
            self._pause(reason)
            return
        if full:
            self._compact(run, compaction.Wish("context", must=fill.is_full))
            return
        if not wordy and (warning := context.warning(self._rows, fill)):
            self._notice(*warning)
            return
        self._tell(RoundBegan(run.rounds + 1))
        try:
            answer = self._asker.ask(request, self._rows[-1].ordinal + 1 if self._rows else 0)
        except (LeaseLost, StoreError):
            raise
        except MarginaliaError as error:
            if refused(error, choice):
                self._notice(notice_of(choice), prompt(notice_of(choice)))
            else:
                self._no_answer(run, error)
            return
        if answer is None:
            return
        self._keep_answer(replace(answer, calls=(), text=answer.text.strip() or repeats.SILENT) if wordy else answer)

    def _no_answer(self, run: Run, error: MarginaliaError) -> None:
        """The model failed, or the keys file can't be used."""
        if isinstance(error, ModelFault):
            if error.partial is not None and error.partial.text.strip():
                said = replace(error.partial, calls=(), complete=False)
                self._keep_answer(replace(said, usage=Usage(completion=count_answer(said))))
            if error.fault is Reason.UNREADABLE_CALL:
                reason = setbacks.UNREADABLE_REASON.format(fault=error.message)
                self._set_back(setbacks.UNREADABLE, reason)
                return
        if compaction.helps_against(error, self._rows, self._setup.agent):
            self._compact(run, compaction.too_long(error))
        else:
            self._pause(error.message)

    def _set_back(self, kind: str, reason: str) -> None:
        """Tells the model what came of its answer and goes on; pauses when that was told too often."""
        if setbacks.told_often(self._rows, kind):
            self._pause(reason)
        else:
            self._notice(kind, prompt(kind))

    def _compact(
        self, run: Run, wish: compaction.Wish, settle: Callable[[WriteTx], object] = lambda tx: None
    ) -> compaction.Outcome | None:
        """Has the conversation summarised; pauses when it has to be and can't."""
        means = compaction.Means(self._setup, self._asker, self._write, self._tell, settle)
        self._summarising = True
        try:
            outcome = compaction.compact(means, run, self._rows, wish)
        finally:
            self._summarising = False
            self.live.end()
        if outcome is not None:
            self._rows = outcome.rows
            if outcome.problem and wish.must:
                self._pause(outcome.problem)
        return outcome

    def _compact_for_author(self, focus: str, settle: Callable[[WriteTx], object]) -> None:
        with self._store.read() as tx:
            run = get_run(tx, self.run)
        self._compact(run, compaction.Wish("author", focus), settle)

    def _must_end_now(self) -> bool:
        """Whether what goes on is to be given up: for the author, another owner, the end of the studio."""
        if self._parking:
            return True
        with self._store.read() as tx:
            run, wanted = get_run(tx, self.run), self._delivery.is_wanted(tx, forced=not self._summarising)
        if run.epoch != self._lease.epoch or not wanted:
            return True
        if run.status is RunStatus.RUNNING or (self._errand and run.status in RESTING):
            return False
        return run.status is not RunStatus.PAUSING or run.wish == "now"

    def _keep_answer(self, answer: Answer) -> None:
        """Stores the answer, cut to what is made of it, with its tokens."""
        setup = self._setup
        kept = cut_calls(answer.calls, setup.agent.batch, setup.tools.singles, setup.tools.readers)
        if not (answer.text.strip() or answer.calls or answer.reasoning.strip()):
            self._pause("The model answered nothing at all. Look at its server, then resume.")
            return
        cut = answer.finish == "length" or not answer.complete
        usage, model = answer.usage, setup.model
        cost = (usage.prompt * model.price_in + usage.completion * model.price_out) / 1_000_000
        with self._write("answer") as tx:
            run = get_run(tx, self.run)
            entry = transcript.append_answer(
                tx, self.run, answer, kept.calls, notice=CUT if cut else None, estimate=self._estimate
            )
            add_usage(tx, self.run, usage, cost, answer.seconds)
            if kept.notice:
                inbox.enqueue(tx, self.run, "notice", kept.notice)
        self._rows.append(entry)
        self.live.end()
        names = runlog.names((call.name for call in kept.calls), self._names)
        cap = limits.limits_of(run, setup.agent, setup.settings, model).context
        runlog.answered(self.run, run.rounds + 1, usage, cap, answer.seconds, names)
        self._tell(UsageCounted(usage.prompt, usage.completion, usage.cached, usage.context))

    # Small things.

    def _write(self, label: str) -> AbstractContextManager[WriteTx]:
        act = Act(actor="agent", label=label, run=self.run)
        return self._worked.booked(self._store.write(act, lease=self._lease))

    def _change(
        self, run: Run, to: RunStatus, reason: str = "", *, wish: str | None = None, cut: Cut | None = None
    ) -> None:
        """Brings the run to a rest.

        Where a call was stopped in its midst, `cut` says so to it and to those after it; calls that did not begin are
        made when the run goes on.

        Raises:
            StatusConflict: the author changed the status in the very moment.
        """
        with self._write("status") as tx:
            approvals.withdraw(tx, self.run)
            if cut is not None and self._was_cut:
                answer_cut(tx, self.run, last_round(self._rows).open_calls, cut)
            transition(tx, run, to, reason, wish=wish)
            # Inside the transaction: whoever reads the status finds the run free.
            self._lease.release()
        self.rested, self._reason = to, reason

    def _pause(self, reason: str) -> None:
        """Pauses for a reason and ends the worker; a pause or stop of the author's that came first holds."""
        with self._store.read() as tx:
            run = get_run(tx, self.run)
        if run.status is RunStatus.RUNNING:
            self._change(run, RunStatus.PAUSED, reason)
            raise _Over

    def _end_as(self, to: RunStatus, reason: str) -> None:
        """After a fault: leaves the run with a status, if the store takes one."""
        try:
            with self._store.read() as tx:
                run = get_run(tx, self.run)
            if to in run.status.next():
                self._change(run, to, reason)
        except MarginaliaError as second:
            log.error("run %s: it could not be left as %s: %s", self.run, to.value, second)

    def _heard(self, touched: Touched) -> None:
        if not touched.run(self.run):
            return
        if threading.current_thread() is not self._thread:
            self.look_again()

    def _tell(self, event: RunEvent) -> None:
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception:
                # Whoever listens is no part of the run: it goes on.
                log.exception("run %s: a listener failed and hears no more", self.run)
                self._observers.remove(observer)

    def _tell_status(self) -> None:
        with self._store.read() as tx:
            run = get_run(tx, self.run)
        self._tell(StatusChanged(self.run, run.status.value, run.reason or None))

    def _tell_rest(self) -> None:
        if self.rested is not None:
            # Not what the row says: it may go on elsewhere by now.
            self._tell(Rested(self.run, self.rested.value, self._reason or None))
            return
        if self._leaving:
            return
        try:
            with self._store.read() as tx:
                run = get_run(tx, self.run)
        except MarginaliaError as error:
            log.error("run %s: its end can't be told: %s", self.run, error)
        else:
            self._tell(Rested(self.run, run.status.value, run.reason or None))
