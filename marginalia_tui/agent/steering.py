"""Pausing, ending and finishing a run: one conditional change of its status, with what goes with it.

Each works from the rows alone, whoever works the run; what is to end at once hears of it after the commit.
"""

from marginalia_tui.agent import approvals, inbox
from marginalia_tui.agent.runs import Run, get_run, set_wish, transition
from marginalia_tui.domain.errors import StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import lease
from marginalia_tui.store.store import WriteTx


def pause(tx: WriteTx, run: str, *, now: bool = False) -> Run:
    """Has a run pause at its next stable point; with `now` the request or call that goes on is given up.

    Returns:
        The run as it was.

    Raises:
        StatusConflict: it does not work.
    """
    seen = get_run(tx, run)
    worked = not lease.is_free(tx.store, run, seen.epoch)
    if seen.status is RunStatus.PAUSING and worked:
        if now:
            set_wish(tx, seen, "now")
        return seen
    approvals.withdraw(tx, run)
    to = RunStatus.PAUSING if worked and seen.status is RunStatus.RUNNING else RunStatus.PAUSED
    transition(tx, seen, to, wish="now" if now and to is RunStatus.PAUSING else None)
    return seen


def stop(tx: WriteTx, run: str, *, keep: bool) -> Run:
    """Ends a run: what goes on is given up; the work is kept for a review, or discarded with the copy.

    Returns:
        The run as it was.

    Raises:
        StatusConflict: it is over.
    """
    seen = get_run(tx, run)
    worked = not lease.is_free(tx.store, run, seen.epoch)
    end = RunStatus.STOPPED_KEPT if keep else RunStatus.STOPPED_DISCARDED
    approvals.withdraw(tx, run)
    inbox.drop(tx, run)
    if worked and seen.status.active:
        transition(tx, seen, RunStatus.STOPPING, wish="keep" if keep else "discard")
    elif end in seen.status.next():
        transition(tx, seen, end)
    else:
        transition(tx, seen, RunStatus.STOPPING)
        transition(tx, get_run(tx, run), end)
    return seen


def finish(tx: WriteTx, run: str) -> Run:
    """The author declares a run that waits, or rests, to be done.

    Returns:
        The run as it was.

    Raises:
        StatusConflict: it works, or is over.
    """
    seen = get_run(tx, run)
    if seen.status not in (RunStatus.IDLE, RunStatus.PAUSED):
        raise StatusConflict(f"The run is {seen.status.value}: only one that waits or is paused is finished so.")
    transition(tx, seen, RunStatus.DONE, "The author finished it.")
    return seen
