"""Whether a run may begin, or go on: the agent, the book, the limits of the settings.

Each check is made inside the transaction that also changes the status, so that it still holds when that is written.
"""

from marginalia_tui.agent import approvals, inbox, runs
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.runs import UNFINISHED, RunStatus
from marginalia_tui.settings import Settings
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, WriteTx


def check_start(tx: ReadTx, agent: AgentDefinition, settings: Settings) -> None:
    """Whether a new run of an agent may begin.

    Raises:
        Refused: the agent is disabled, or has an unfinished run, its book is gone, or a limit is reached.
    """
    if not agent.enabled:
        raise Refused(f"{agent.name} is disabled: enable it first.")
    _check_book_there(tx, agent.book)
    for run in runs.list_runs(tx, agent=agent.uuid, limit=1):
        if run.status in UNFINISHED:
            raise Refused(
                f"{agent.name} has a run that is {run.status.value}: resume it, or stop it, before you start another."
            )
    if (copies := runs.count_copies(tx)) >= settings.max_copies:
        raise Refused(
            f"{copies} runs keep a working copy, as many as the settings allow: "
            "review or discard some, or raise max_copies."
        )
    _check_running(tx, settings)


def check_going_on(tx: ReadTx, run: Run, settings: Settings) -> None:
    """Whether a run that rests may go on.

    Raises:
        Refused: another run of the agent holds the book, it is gone, or a limit is reached.
    """
    if not run.status.active:
        _check_running(tx, settings)
    for other in runs.list_runs(tx, agent=run.agent):
        if other.uuid != run.uuid and other.status.holds_book:
            raise Refused(f"Another run of {run.agent_name} holds the book: stop that one first.")
    _check_book_there(tx, run.book)


def _check_running(tx: ReadTx, settings: Settings) -> None:
    if runs.count_active(tx) >= settings.max_running:
        raise Refused(
            f"{settings.max_running} runs work already, as many as the settings allow: wait, or raise max_running."
        )


def _check_book_there(tx: ReadTx, book: str) -> None:
    found = tx.space(LIBRARY).find(Book, book)
    if found is None or found.deleted is not None:
        raise Refused("The book of the agent is in the trash: restore it first.")


def left_to_work(tx: ReadTx, run: Run) -> bool:
    """Whether there is something to do in a run that nobody works, without another word of the author."""
    match run.status:
        case RunStatus.IDLE:
            return not inbox.is_empty(tx, run.uuid)
        case RunStatus.WAITING_APPROVAL:
            return not approvals.pending(tx, run.uuid)
        case _:
            return run.interrupted


def drop_reviewed_copies(tx: WriteTx, agent: str) -> None:
    """Drops the copies of applied runs: the undo of an apply is out of reach of its review once a new run begins."""
    for run in runs.list_runs(tx, agent=agent):
        if run.status is RunStatus.APPLIED and run.space is not None:
            runs.release_copy(tx, run.uuid, keep_journal=True)
