"""The journal: one `change` for each act, one row for each item that it touched; and the folds over it.

A position is a `seq`. It is never used twice and rises in the order of the commits, so that a number is all
that a checkpoint needs to be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, bindparam, insert, select, text

from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who does what: the head of a change. `label` is shown in the history (`edit-part`, `import`)."""

    actor: str
    """`author`, `agent`, `apply`, `restore` or `studio`."""
    label: str
    book: str | None = None
    run: str | None = None
    call: str | None = None
    undoes: int | None = None
    """The change that this one takes back."""


ItemKey = tuple[str, str]
"""Kind and uuid."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a stretch of the journal did to one item: the state before its first row and after its last."""

    before: bytes | None
    after: bytes | None


def add_change(connection: Connection, space_id: int, act: Act, at: int) -> int:
    """Writes the head of a change and returns its id."""
    result = connection.execute(
        _ADD_CHANGE,
        {
            "space_id": space_id,
            "book": act.book,
            "actor": act.actor,
            "run": act.run,
            "call": act.call,
            "label": act.label,
            "undoes": act.undoes,
            "at": at,
        },
    )
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def add_rows(
    connection: Connection,
    space_id: int,
    change_id: int,
    rows: Sequence[tuple[ItemKey, bytes | None, bytes | None]],
) -> None:
    """Appends one row for each item: its key, its state before and its state after."""
    if rows:
        connection.execute(
            _ADD_ROWS,
            [
                {
                    "space_id": space_id,
                    "kind": kind,
                    "uuid": uuid,
                    "before": before,
                    "after": after,
                    "change_id": change_id,
                }
                for (kind, uuid), before, after in rows
            ],
        )


def position(connection: Connection) -> int:
    """The newest position of the whole store, also when the row that had it was dropped with its space."""
    return int(connection.execute(_POSITION).scalar() or 0)


def position_of(connection: Connection, space_id: int) -> int:
    """The newest position of one space; 0 when nothing was ever changed in it."""
    return int(connection.execute(_POSITION_OF, {"space": space_id}).scalar() or 0)


def fold(connection: Connection, space_id: int, after: int) -> dict[ItemKey, Span]:
    """What a space went through since the position `after`, for each item that it touched, oldest first."""
    return _spans(connection.execute(_OF_SPACE, {"space": space_id, "after": after}).all())


def fold_change(connection: Connection, space_id: int, change_id: int) -> dict[ItemKey, Span]:
    """What one change did to each item that it touched, oldest first."""
    return _spans(connection.execute(_OF_CHANGE, {"space": space_id, "change": change_id}).all())


def changed_by_call(connection: Connection, run: str, call: str, kind: str, space_id: int | None) -> str | None:
    """The first item of a kind that a call of a run changed; `space_id` of the copy, where it is known, is quicker."""
    change, row = tables.change.c, tables.journal.c
    query = (
        select(row.uuid)
        .join(tables.change, row.change_id == change.id)
        .where(change.run == run, change.call == call, row.kind == kind)
        .order_by(row.seq)
        .limit(1)
    )
    if space_id is not None:
        query = query.where(change.space_id == space_id)
    found = connection.execute(query).scalar()
    return None if found is None else str(found)


def fold_items(connection: Connection, space_id: int, after: int, uuids: Iterable[str]) -> dict[ItemKey, Span]:
    """What some items of a space went through since the position `after`; untouched ones are left out."""
    found: dict[ItemKey, Span] = {}
    for some in chunks(list(uuids)):
        keys = {"space": space_id, "after": after, "some": some}
        found.update(_spans(connection.execute(_OF_ITEMS, keys).all()))
    return found


def _spans(rows: Iterable[Row[str, str, bytes | None, bytes | None]]) -> dict[ItemKey, Span]:
    spans: dict[ItemKey, Span] = {}
    for kind, uuid, before, after in rows:
        first = spans.get((kind, uuid))
        spans[kind, uuid] = Span(first.before if first else before, after)
    return spans


# Made once: to build a statement takes longer than to run it.
_ROW = tables.journal.c
_ROWS = (
    select(_ROW.kind, _ROW.uuid, _ROW.before, _ROW.after).where(_ROW.space_id == bindparam("space")).order_by(_ROW.seq)
)
_OF_SPACE = _ROWS.where(_ROW.seq > bindparam("after"))
_OF_CHANGE = _ROWS.where(_ROW.change_id == bindparam("change"))
_OF_ITEMS = _OF_SPACE.where(_ROW.uuid.in_(bindparam("some", expanding=True)))
_ADD_CHANGE = insert(tables.change)
_ADD_ROWS = insert(tables.journal)
_POSITION_OF = text("SELECT max(seq) FROM journal WHERE space_id = :space")
_POSITION = text("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
