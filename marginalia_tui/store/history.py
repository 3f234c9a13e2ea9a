"""The journal read backwards: restore a space to a position, undo and redo for the author.

Each of them is a new change, so that it can be taken back in its turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import KINDS, OWNED
from marginalia_tui.store import journal, tables
from marginalia_tui.store.content import decode_state, get_states, rows_in
from marginalia_tui.store.journal import ItemKey, Span
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, WriteTx

UNDO_REACH = 200
"""How many of the newest changes of a book undo can take back, one after the other."""


def restore(tx: WriteTx, space_id: int, position: int) -> list[str]:
    """Brings every item of a space to the state that it had at a position of the journal.

    Returns:
        The uuids that were changed.
    """
    spans = journal.fold(tx.connection, space_id, position)
    return tx.space(space_id).put_states({key: span.before for key, span in spans.items()})


@dataclass(frozen=True, slots=True)
class Step:
    """A change that undo or redo would take back next, with the word that is shown for it."""

    change: int
    label: str
    run: str | None
    """The run whose work it applied."""


def next_undo(tx: ReadTx, book: str) -> Step | None:
    """The author's newest change of a book that is not taken back yet."""
    return _next(tx, book, redo=False)


def next_redo(tx: ReadTx, book: str) -> Step | None:
    """The newest undo of a book that nothing new came after."""
    return _next(tx, book, redo=True)


def _next(tx: ReadTx, book: str, *, redo: bool) -> Step | None:
    change, target = tables.change, tables.change.alias("target")
    query = (
        select(change.c.id, change.c.label, change.c.run, change.c.undoes)
        .add_columns(target.c.label.label("of"), target.c.run.label("run_of"), target.c.undoes.label("again"))
        .select_from(change.outerjoin(target, target.c.id == change.c.undoes))
        .where(change.c.space_id == LIBRARY, change.c.book == book)
        .order_by(change.c.id.desc())
    )
    undone: set[int] = set()
    passed = 0
    # Newest first: a taking back is met before what it took back, whatever took it back in its turn before both.
    with tx.connection.execute(query) as rows:
        for row in rows:
            if row.undoes is None:
                if redo or passed == UNDO_REACH:
                    return None
                if row.id not in undone and _changed_something(tx, row.id):
                    return Step(row.id, row.label, row.run)
                passed += 1
            elif row.id not in undone:
                undone.add(row.undoes)
                if redo and row.again is None:
                    return Step(row.id, row.of, row.run_of)
    return None


def _changed_something(tx: ReadTx, change: int) -> bool:
    """Whether a change did not only go there and back."""
    return any(span.before != span.after for span in journal.fold_change(tx.connection, LIBRARY, change).values())


def made_book(tx: ReadTx, change: int) -> bool:
    """Whether a change brought its book into the library."""
    journal_row = tables.journal.c
    query = select(journal_row.seq).where(
        journal_row.change_id == change, journal_row.kind == "book", journal_row.before.is_(None)
    )
    return tx.connection.execute(query.limit(1)).first() is not None


def take_back(tx: WriteTx, book: str, step: Step) -> list[str]:
    """Writes the states that were there before a change. The act of `tx` must name it in `undoes`.

    Raises:
        Refused: an item was changed since by something that undo does not see.
    """
    assert tx.act.undoes == step.change
    spans = journal.fold_change(tx.connection, LIBRARY, step.change)
    space = tx.space(LIBRARY)
    for kind, cls in KINDS.items():
        uuids = [uuid for of, uuid in spans if of == kind]
        now = space.hashes(cls, uuids)
        if any(now.get(uuid) != spans[kind, uuid].after for uuid in uuids):
            raise Refused(f"{step.label!r} can't be taken back: what it changed has been changed since.")
    for owner, kinds in OWNED.items():
        for kind in kinds:
            _check_owned(tx, step, spans, owner, kind)
    return space.put_states({key: span.before for key, span in spans.items()})


def _check_owned(tx: WriteTx, step: Step, spans: Mapping[ItemKey, Span], owner: str, kind: str) -> None:
    """Refuses what would leave an item without its owner, or take one along that the change knows nothing of.

    Lorebooks are shared: by now one may be deleted for good, or hold entries that were written in another book.
    """
    back = {uuid: span.before for (of, uuid), span in spans.items() if of == kind and span.before is not None}
    states = get_states(tx.connection, back.values())
    wanted = {decode_state(kind, states[before])[owner] for before in back.values()}
    brought = {uuid for (of, uuid), span in spans.items() if of == owner and span.before is not None}
    there = tx.space(LIBRARY).hashes(KINDS[owner], wanted - brought)
    if not wanted <= brought | there.keys():
        raise Refused(f"{step.label!r} can't be taken back: a {owner} that it needs was deleted for good.")
    going = [uuid for (of, uuid), span in spans.items() if of == owner and span.before is None]
    query = f'SELECT uuid FROM "{kind}" WHERE space_id = ? AND "{owner}" IN'
    if any((kind, row.uuid) not in spans for row in rows_in(tx.connection, query, going, LIBRARY)):
        raise Refused(f"{step.label!r} can't be taken back: its {owner} has what was added to it since.")
