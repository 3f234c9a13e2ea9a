"""The runs of this process: starting, steering and ending them.

Every change of a status is one conditional update together with what it needs (the working copy, the lease, the
message of the author); then a worker begins, or the one that works hears of the change. A run that another process
works is steered by its row alone.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from marginalia_tui.agent import (
    admission,
    approvals,
    author_commands,
    inbox,
    limits,
    opening,
    recovery,
    runlog,
    runs,
    steering,
    transcript,
)
from marginalia_tui.agent.agents import get_agent
from marginalia_tui.agent.delivery import RESTING
from marginalia_tui.agent.prompt import context_cap
from marginalia_tui.agent.runs import Run, get_run, transition
from marginalia_tui.agent.setup import RunSetup, with_prompts
from marginalia_tui.agent.tools import AddedTool, build_tools
from marginalia_tui.agent.worker import Observer
from marginalia_tui.agent.workers import Workers
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.chat import Message, ModelDefinition
from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound, StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.models import Models
from marginalia_tui.services.models import get_model
from marginalia_tui.settings import Settings
from marginalia_tui.store import lease
from marginalia_tui.store.journal import Act
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import ReadTx, Store, WriteTx

log = logging.getLogger(__name__)

_RESUMABLE = (RunStatus.PAUSED, RunStatus.STOPPED_KEPT, RunStatus.FAILED)


_Taken = tuple[RunSetup, lease.Lease, bool]
"""What the work of a run begins with; whether it is only a command of the author in a run that rests."""


@dataclass(frozen=True, slots=True)
class RunnerParts:
    """What every run works with."""

    store: Store
    dispatcher: Dispatcher
    models: Models
    settings: Callable[[], Settings]
    tools: Sequence[AddedTool] = ()
    """Those that extensions bring."""


class Runner(Workers):
    """Starts and steers runs; the workers that begin are those of this process."""

    def __init__(self, parts: RunnerParts) -> None:
        super().__init__(parts.store)
        self._parts = parts

    # Beginning and going on.

    def start(
        self, agent: str, *, message: str = "", interactive: bool = False, observers: Sequence[Observer] = ()
    ) -> str:
        """Starts a run of an agent: makes the working copy, holds the book, begins to work.

        Args:
            agent: the uuid of the agent.
            message: the first words of the author; the standing ones when empty.
            interactive: a conversation: it asks first.
            observers: hear every event.

        Returns:
            The uuid of the run.

        Raises:
            Refused: the agent is disabled or has an unfinished run, or a limit of the settings is reached.
            NotFound: its model or book is gone.
        """
        run = self._store.clock.new_uuid()
        act = Act(actor="studio", label="start of a run", run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            setup = self._setup(tx, agent)
            admission.check_start(tx, setup.agent, setup.settings)
            admission.drop_reviewed_copies(tx, agent)
            definition = setup.agent
            runs.add_run(
                tx,
                uuid=run,
                agent=agent,
                agent_name=definition.name,
                book=definition.book,
                space=copy_book(tx, definition.book),
                interactive=interactive,
            )
            kind = "start-console" if interactive else "start"
            first = message.strip() or opening.first_words(definition, interactive=interactive)
            transcript.append(tx, run, Message(role="user", text=first), notice=None if message.strip() else kind)
            opening.name_parts(tx, run, definition.book)
            tx.if_kept(partial(runlog.started, run, agent, interactive=interactive))
            if message.strip():
                tx.if_kept(partial(runlog.said, run, "author", len(message.strip())))
            taken.append((setup, lease.take(tx, run, address=self._wire.address), False))
        return run

    def resume(
        self,
        run: str,
        note: str = "",
        observers: Sequence[Observer] = (),
        *,
        raised: Mapping[str, float] | None = None,
    ) -> None:
        """Has a paused, kept or failed run go on.

        Args:
            run: the uuid.
            note: for the agent.
            observers: hear every event.
            raised: limits of this run alone from now on, by their names in `limits.RAISED`.

        Raises:
            StatusConflict: it is none of these by now.
            Busy: another process works it.
            Invalid: the run has used as much already.
        """
        self._go_on(run, _RESUMABLE, observers, note=note.strip(), raised=raised or {})

    def raise_limits(self, run: str, raised: Mapping[str, float]) -> None:
        """Changes the limits of one run; it reads them before its next request.

        Raises:
            Invalid: the run has used as much already.
        """
        with self._store.write(Act(actor="author", label="limits", run=run)) as tx:
            runs.set_limits(tx, run, limits.check_raised(get_run(tx, run), raised))

    def work(self, run: str, *, take_over: bool = False, observers: Sequence[Observer] = ()) -> None:
        """Takes up a run that nobody works and that waits for nobody.

        It is RUNNING after a crash, paused because its studio ended, or answered by what was only left for it.

        Args:
            run: the uuid.
            take_over: take it from a process that hangs.
            observers: hear every event.

        Raises:
            Busy: another process works it.
            StatusConflict: it rests for another reason.
        """
        seen = self.check_work(run)
        self._go_on(run, (seen.status,), observers, take_over=take_over)

    def check_work(self, run: str) -> Run:
        """The run, when it can be taken up: see `work`.

        Raises:
            StatusConflict: it rests for another reason.
        """
        with self._store.read() as look:
            seen = get_run(look, run)
            left = admission.left_to_work(look, seen)
        if seen.status in (RunStatus.PAUSING, RunStatus.STOPPING) and self.recover(run):
            raise StatusConflict("The run was about to rest when its process ended; it rests now: resume it to go on.")
        if not left:
            raise StatusConflict(
                f"The run is {seen.status.value}: only a run that nobody works is taken up. "
                "Use `run resume` or `run send`."
            )
        return seen

    def send(self, run: str, text: str, *, detach: bool = False, observers: Sequence[Observer] = ()) -> bool:
        """Says something to an agent: a run that works reads it in its next round, one that waits goes on.

        Returns:
            Whether the run is worked here from now on.

        Args:
            run: the uuid.
            text: what to say.
            detach: only leave the message; nobody begins to work.
            observers: hear every event, when the run is worked here.

        Raises:
            Invalid: the text is empty.
            StatusConflict: the run is over.
        """
        act = Act(actor="author", label="message", run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            return self._send(tx, run, text, taken, observers, detach=detach)

    def send_in(self, tx: WriteTx, run: str, text: str) -> None:
        """`send` inside a transaction of somebody else: what is to be worked begins after its commit."""
        self._send(tx, run, text, self._begun_later(tx, run), ())

    def _send(
        self,
        tx: WriteTx,
        run: str,
        text: str,
        taken: list[_Taken],
        observers: Sequence[Observer],
        *,
        detach: bool = False,
    ) -> bool:
        if not text.strip():
            raise Invalid("Write something to send.")
        seen = get_run(tx, run)
        if seen.status.ended or seen.status is RunStatus.DONE:
            raise StatusConflict(f"The run is {seen.status.value}: start another one to go on with the agent.")
        if not detach and seen.status in _RESUMABLE:
            opening.say_changes(tx, seen)
        inbox.enqueue(tx, run, "author", text.strip())
        begun = not detach and self._wake(tx, seen, taken, observers)
        return begun

    def command(self, run: str, line: str, *, detach: bool = False, observers: Sequence[Observer] = ()) -> bool:
        """Runs a command of the author inside a run: a run that works does it before its next round.

        One that rests does only that, and stays as it was.

        Returns:
            Whether it is run here from now on.

        Args:
            run: the uuid.
            line: the command, such as `/list-parts`.
            detach: only leave the command; nobody begins to work.
            observers: hear every event, when it is run here.

        Raises:
            Invalid, NotFound: it is no command, or its arguments do not fit.
            Refused: it is destructive, or not among those of the agent.
            StatusConflict: the run is over, or has to be resumed first.
        """
        line = line.strip()
        act = Act(actor="author", label="command", run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            seen = get_run(tx, run)
            author_commands.check(self._parts.dispatcher.registry, get_agent(tx, seen.agent), line)
            if not (seen.status.active or seen.status in RESTING) or seen.status is RunStatus.STOPPING:
                raise StatusConflict(
                    f"The run is {seen.status.value}: resume it first, or run the command in the book."
                )
            inbox.enqueue(tx, run, "command", line)
            begun = not detach and self._run_commands(tx, seen, taken, observers)
        return begun

    def force(self, run: str, item: int, *, observers: Sequence[Observer] = ()) -> bool:
        """Has what goes on cut off, so that what waits is delivered now, up to this item at least.

        Returns:
            Whether the run is worked here from now on, by this.

        Raises:
            NotFound: it was delivered, or taken back, meanwhile.
        """
        act = Act(actor="author", label="force a message", run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            seen = get_run(tx, run)
            waiting = inbox.queued(tx, run)
            if not inbox.force(tx, run, item):
                raise NotFound(f"Nothing with the number {item} waits: it was delivered or taken back meanwhile.")
            if seen.status is RunStatus.WAITING_APPROVAL:
                # The call is not denied: it is cut off, and the agent decides anew.
                approvals.withdraw(tx, run)
                begun = self._take_up(tx, seen, taken, observers)
            elif seen.status in RESTING and all(each.kind == "command" for each in waiting if each.id <= item):
                begun = self._run_commands(tx, seen, taken, observers)
            else:
                begun = self._wake(tx, seen, taken, observers)
        if (worker := self.worker(run)) is not None:
            worker.look_again()
        else:
            self._elsewhere.hurry(run)
        return begun

    def cancel(self, run: str, item: int) -> bool:
        """Takes something of the author's back; False when it was delivered meanwhile."""
        with self._store.write(Act(actor="author", label="cancel a message", run=run)) as tx:
            return inbox.take(tx, run, item)

    def _wake(self, tx: WriteTx, seen: Run, taken: list[_Taken], observers: Sequence[Observer]) -> bool:
        """Has a run go on that waits, rests or was left alone; whether it is worked here by that."""
        left_alone = seen.status is RunStatus.RUNNING and lease.is_free(self._store, seen.uuid, seen.epoch)
        if not left_alone and seen.status not in (RunStatus.IDLE, *_RESUMABLE):
            return False
        return self._take_up(tx, seen, taken, observers)

    def _run_commands(self, tx: WriteTx, seen: Run, taken: list[_Taken], observers: Sequence[Observer]) -> bool:
        """Has the commands run that wait in a run that rests; whether that is done here."""
        if seen.status not in RESTING or self._is_on_an_errand(tx, seen, observers):
            return self.worker(seen.uuid) is not None and seen.status in RESTING
        taken.append((self._setup(tx, seen.agent), lease.take(tx, seen.uuid, address=self._wire.address), True))
        return True

    def _is_on_an_errand(self, tx: ReadTx, seen: Run, observers: Sequence[Observer]) -> bool:
        """Whether somebody runs commands in a run that rests: that worker finds what else is to be done."""
        if lease.is_free(self._store, seen.uuid, seen.epoch):
            return False
        if (worker := self.worker(seen.uuid)) is not None:
            for observer in observers:
                worker.observe(observer)
        return True

    def decide(
        self,
        run: str,
        call: str,
        decision: approvals.Decision,
        *,
        why: str = "",
        always: bool = False,
        detach: bool = False,
        observers: Sequence[Observer] = (),
    ) -> bool:
        """Decides a call that waits; the run goes on when nothing else does.

        Returns:
            Whether the run is worked here from now on.

        Args:
            run: the uuid.
            call: the id of the call.
            decision: approve or deny.
            why: for the agent, of a denial.
            always: approve the command for the rest of the run.
            detach: nobody begins to work here.
            observers: hear every event, when the run is worked here.

        Raises:
            NotFound: no such call waits.
        """
        act = Act(actor="author", label=decision, run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            seen = get_run(tx, run)
            decided = approvals.decide(tx, run, call, decision, why.strip())
            if always and decision == "approve":
                runs.approve_always(tx, seen, decided.command)
            begun = not approvals.pending(tx, run) and not detach and self._take_up(tx, seen, taken, observers)
        return begun

    def _go_on(
        self,
        run: str,
        expected: tuple[RunStatus, ...],
        observers: Sequence[Observer],
        *,
        note: str = "",
        take_over: bool = False,
        raised: Mapping[str, float] | None = None,
    ) -> None:
        act = Act(actor="author", label="resume", run=run)
        with self._beginning(run, observers) as taken, self._store.write(act) as tx:
            self._go_on_in(tx, run, expected, taken, observers, note=note, take_over=take_over, raised=raised)

    def resume_in(self, tx: WriteTx, run: str, note: str) -> None:
        """`resume` inside a transaction of somebody else: the work begins after its commit."""
        self._go_on_in(tx, run, _RESUMABLE, self._begun_later(tx, run), (), note=note.strip())

    def _go_on_in(
        self,
        tx: WriteTx,
        run: str,
        expected: tuple[RunStatus, ...],
        taken: list[_Taken],
        observers: Sequence[Observer],
        *,
        note: str,
        take_over: bool = False,
        raised: Mapping[str, float] | None = None,
    ) -> None:
        seen = get_run(tx, run)
        if seen.status not in expected:
            raise StatusConflict(f"The run is {seen.status.value}, so it can't go on: look again.")
        if raised:
            runs.set_limits(tx, run, limits.check_raised(seen, raised))
        changed = seen.status in _RESUMABLE and opening.say_changes(tx, seen)
        if note or not (changed or seen.interrupted):
            opening.say_go_on(tx, run, note)
        self._take_up(tx, seen, taken, observers, take_over=take_over)

    def _begun_later(self, tx: WriteTx, run: str) -> list[_Taken]:
        """What is taken up in a transaction of somebody else; it begins after the commit."""
        taken: list[_Taken] = []
        self._wire.open()

        def begin() -> None:
            try:
                for setup, held, errand in taken:
                    self._begin(setup, held, (), errand=errand)
            except BaseException:
                self._let_go(run, taken)
                raise

        tx.if_kept(begin)
        return taken

    @contextmanager
    def _beginning(self, run: str, observers: Sequence[Observer]) -> Iterator[list[_Taken]]:
        """Begins the work that is taken up in its block.

        Whatever comes between the commit and the beginning (the disk, a signal that ends the program), no run is left
        that only seems to be worked.
        """
        taken: list[_Taken] = []
        self._wire.open()
        try:
            yield taken
            for setup, held, errand in taken:
                self._begin(setup, held, observers, errand=errand)
        except BaseException:
            self._let_go(run, taken)
            raise

    def _let_go(self, run: str, taken: Sequence[_Taken]) -> None:
        if not self._drop(run, unbegun=bool(taken)):
            return
        for _, held, _ in taken:
            held.release()
        try:
            self.recover(run)
        except MarginaliaError as error:
            log.error("run %s: it could not be left as paused: %s", run, error)

    def _take_up(
        self,
        tx: WriteTx,
        seen: Run,
        taken: list[_Taken],
        observers: Sequence[Observer],
        *,
        take_over: bool = False,
    ) -> bool:
        """Has a run be RUNNING; whether it is worked by this process then.

        Raises:
            Busy: another process works it.
            Refused: the agent, the book or a limit does not let it go on.
        """
        errand = seen.status in RESTING and self._is_on_an_errand(tx, seen, observers)
        setup = self._setup(tx, seen.agent)
        if seen.status is not RunStatus.RUNNING:
            admission.check_going_on(tx, seen, setup.settings)
            transition(tx, seen, RunStatus.RUNNING)
        if errand:
            # Whoever runs a command of the author in it has the lease, and goes on with it.
            return self.worker(seen.uuid) is not None
        tx.if_kept(partial(runlog.taken_up, seen.uuid, seen.status.value))
        held = lease.take(tx, seen.uuid, take_over=take_over, address=self._wire.address)
        taken.append((setup, held, False))
        return True

    def setup(self, tx: ReadTx, agent: str, *, model: ModelDefinition | None = None) -> RunSetup:
        """What the work of an agent would begin with now; `model` in place of its own.

        Raises:
            NotFound: the agent is gone, or its model.
        """
        return self._setup(tx, agent, model)

    def _setup(self, tx: ReadTx, agent: str, model: ModelDefinition | None = None) -> RunSetup:
        parts, settings = self._parts, self._parts.settings()
        definition = get_agent(tx, agent)
        model = model or get_model(tx, definition.model)
        cap = context_cap(definition, model)
        return RunSetup(
            store=parts.store,
            dispatcher=parts.dispatcher,
            models=parts.models,
            settings=settings,
            agent=with_prompts(definition, settings),
            model=model,
            tools=build_tools(parts.dispatcher.registry, definition, parts.tools, cap=cap),
        )

    # Resting and ending.

    def pause(self, run: str, *, now: bool = False) -> None:
        """Has a run pause at its next stable point; with `now` the request or call that goes on is given up.

        Raises:
            StatusConflict: it does not work.
        """
        with self._store.write(Act(actor="author", label="pause", run=run)) as tx:
            steering.pause(tx, run, now=now)
        self.hurry(run, now=now)

    def stop(self, run: str, *, keep: bool) -> None:
        """Ends a run: what goes on is given up; the work is kept for a review, or discarded with the copy.

        Raises:
            StatusConflict: it is over.
        """
        with self._store.write(Act(actor="author", label="stop", run=run)) as tx:
            steering.stop(tx, run, keep=keep)
        self.hurry(run, now=True)

    def finish(self, run: str) -> None:
        """The author declares a run that waits, or rests, to be done.

        Raises:
            StatusConflict: it works, or is over.
        """
        with self._store.write(Act(actor="author", label="finish", run=run)) as tx:
            steering.finish(tx, run)

    def acknowledge(self, run: str) -> None:
        """The author looks at it: its mark of attention goes."""
        with self._store.read() as look:
            if not get_run(look, run).attention:
                return
        with self._store.write(Act(actor="author", label="seen", run=run)) as tx:
            runs.acknowledge(tx, get_run(tx, run))

    # Runs of any process.

    def wait(self, run: str, until: Callable[[Run], bool], seconds: float | None = None) -> Run:
        """Waits until a run of any process fulfils a condition, and returns it as it is then.

        A run whose process dies meanwhile is given its status here.

        Raises:
            Busy: it did not in time.
        """
        return recovery.wait_for(self._store, run, until, seconds)

    def recover(self, only: str | None = None) -> list[str]:
        """Gives the runs a status whose process died: nobody works them. To be called when the studio starts.

        Returns:
            The runs that were recovered.
        """
        return recovery.recover(self._store, only)
