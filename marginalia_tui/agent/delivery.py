"""The delivery of what the author wrote to a run, on its worker's thread: messages, commands, what cuts off calls.

Messages go into the transcript up to the next command; a command is run, and its answer goes there. What a step of it
leaves behind is rows, so that a run that dies in between goes on with the next.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from marginalia_tui.agent import inbox
from marginalia_tui.agent.author_commands import AuthorCommands, TakenBack, focus_of, is_compaction, settle
from marginalia_tui.agent.cutting import answer_cut
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.inbox import Queued
from marginalia_tui.agent.runs import Run, get_run
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.commands.control import Control
from marginalia_tui.domain.chat import Call
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.journal import Act
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.store import ReadTx, WriteTx

RESTING = (RunStatus.IDLE, RunStatus.PAUSED)
"""Where commands of the author are run though the agent does not work."""

Compact = Callable[[str, Callable[[WriteTx], object]], object]
"""Has the conversation summarised: the focus, and what is done in the transaction that ends it."""


class Delivery:
    """Delivers in one run.

    Args:
        setup: the agent and its tools.
        run: the run.
        lease: of the run.
        handles: of the run.
        compact: summarises; the worker keeps the rows that come of it.
    """

    def __init__(self, setup: RunSetup, run: Run, lease: Lease, handles: Handles, compact: Compact) -> None:
        self._store = setup.store
        self._run = run.uuid
        self._lease = lease
        self._commands = AuthorCommands(setup, run, lease, handles)
        self._compact = compact
        self._commanding: int | None = None
        """What of the queue is run as a command now."""

    def messages(self) -> list[Entry]:
        """Moves the messages before the next command into the transcript."""
        with self._write("messages of the author") as tx:
            return inbox.deliver_messages(tx, self._run)

    def command(self, item: Queued, control: Control, open_calls: Sequence[Call]) -> Entry | None:
        """Runs a command; its row, if it left one that the rows of the worker do not have yet."""
        self._commanding = item.id
        try:
            # A summary would stand for calls that are still to be made.
            if is_compaction(item.text) and not open_calls:
                self._compact(focus_of(item.text), lambda tx: settle(tx, self._run, item))
                return None
            return self._commands.make(item, control)
        except TakenBack:
            return None
        finally:
            self._commanding = None

    def is_wanted(self, tx: ReadTx, *, forced: bool) -> bool:
        """Whether the author lets what goes on go on.

        What they force does not cut off a command of theirs, but they can take that back; with `forced` false it cuts
        nothing off (a summary, which it follows).
        """
        if self._commanding is None:
            return not forced or not inbox.is_forced(tx, self._run)
        return any(item.id == self._commanding for item in inbox.queued(tx, self._run))

    def cut_off(self, calls: Sequence[Call]) -> list[Entry]:
        """Answers the calls that are not made, since the author does not wait for them; none when they took it back."""
        with self._write("calls that were cut off") as tx:
            return answer_cut(tx, self._run, calls, "forced-call") if inbox.is_forced(tx, self._run) else []

    def next_errand(self, *, parking: bool) -> tuple[Run, Queued | None]:
        """The run and the next command in it while it rests.

        Without one the lease is released, unless the run is to go on: both are decided in one transaction.
        """
        with self._write("end of the commands") as tx:
            run = get_run(tx, self._run)
            left = [item for item in inbox.queued(tx, self._run) if item.kind == "command"]
            if run.status in RESTING and left and not parking:
                return run, left[0]
            if run.status is not RunStatus.RUNNING:
                self._lease.release()
            return run, None

    def _write(self, label: str) -> AbstractContextManager[WriteTx]:
        return self._store.write(Act(actor="agent", label=label, run=self._run), lease=self._lease)
