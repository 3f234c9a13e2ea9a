"""Undo and redo for the author, newest first, one step for each command or edit."""

from dataclasses import dataclass

from sqlalchemy import select, update

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import history, tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import ReadTx, WriteTx


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo or redo did: the word for the step, the items it changed, the run whose apply it took back."""

    label: str
    items: tuple[str, ...]
    run: str | None


def peek(tx: ReadTx, book: str, *, redo: bool = False) -> history.Step:
    """The step that would be taken back.

    Raises:
        Refused: there is none.
    """
    step = history.next_redo(tx, book) if redo else history.next_undo(tx, book)
    if step is None:
        raise Refused(f"There is nothing to {'redo' if redo else 'undo'} in this book.")
    if not redo and history.made_book(tx, step.change):
        raise Refused(f"{step.label!r} made this book: move the book to the trash in the library to be rid of it.")
    return step


def act_for(step: history.Step, book: str, *, redo: bool = False) -> Act:
    """The act with which the transaction of an undo is opened."""
    return Act(actor="author", label=f"{'redo' if redo else 'undo'} {step.label}", book=book, undoes=step.change)


def take_back(tx: WriteTx, book: str, step: history.Step) -> TakenBack:
    """Undoes (or redoes) the step.

    Raises:
        Refused: what it changed has been changed since.
        Locked: an agent holds the book.
    """
    items = tuple(history.take_back(tx, book, step))
    if step.run is not None:
        _give_review_back(tx, step.run)
    return TakenBack(spoken(step.label), items, step.run)


def spoken(label: str) -> str:
    """The label of a change as people read it: the saves of an editor name their part by its uuid."""
    return "edit of a part" if label.startswith("edit ") else label


def _give_review_back(tx: WriteTx, run: str) -> None:
    """An apply that is taken back can be reviewed again; one that is redone is applied again."""
    column = tables.run.c
    row = tx.connection.execute(
        select(column.status, column.applied_from, column.agent).where(column.uuid == run, column.space_id.is_not(None))
    ).first()
    if row is None or row.applied_from is None:
        return
    applied = row.status == RunStatus.APPLIED
    if applied or row.status == row.applied_from:
        status = row.applied_from if applied else RunStatus.APPLIED
        tx.connection.execute(
            update(tables.run)
            .where(column.uuid == run, column.status == row.status)
            .values(status=status, changed=tx.store.clock.now())
        )
        tx.touch("run", run)
        tx.touch("agent", row.agent)
