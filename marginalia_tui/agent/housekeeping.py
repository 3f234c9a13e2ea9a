"""What is tidied when a studio opens: dead runs, copies no undo reaches, what is not counted, texts nobody names."""

from collections.abc import Callable

from sqlalchemy import func, select

from marginalia_tui.agent import runs
from marginalia_tui.agent.runner import Runner
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.counting import count_all
from marginalia_tui.store import tables
from marginalia_tui.store.history import UNDO_REACH
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store
from marginalia_tui.store.sweep import sweep


def tidy(store: Store, runner: Runner, closing: Callable[[], bool]) -> None:
    """Tidies, step by step, on a thread of whoever calls, and ends between two steps when the studio is closing."""
    runner.recover()
    for run in _out_of_reach(store):
        if closing():
            return
        with store.write(Act(actor="studio", label="drop a copy", run=run)) as tx:
            if runs.get_run(tx, run).status is RunStatus.APPLIED:
                runs.release_copy(tx, run, keep_journal=True)
    # What the statistics have not counted yet keeps its texts.
    count_all(store, closing)
    for _ in sweep(store):
        if closing():
            return


def _out_of_reach(store: Store) -> list[str]:
    """The applied runs with a copy whose apply undo does not look back to any more."""
    with store.read() as tx:
        applied = [
            run for run in runs.list_runs(tx, limit=1_000) if run.status is RunStatus.APPLIED and run.space is not None
        ]
        return [run.uuid for run in applied if _changes_since(tx, run.book, run.applied_change) >= UNDO_REACH]


def _changes_since(tx: ReadTx, book: str, change: int | None) -> int:
    column = tables.change.c
    query = (
        select(func.count())
        .select_from(tables.change)
        .where(column.space_id == LIBRARY, column.book == book, column.id > (change or 0))
    )
    return int(tx.connection.execute(query).scalar_one())
