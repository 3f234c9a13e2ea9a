"""The journal: one `change` for each act, one row for each item that it touched; and the folds over it.

A position is a `seq`. It is never used twice and rises in the order of the commits, so that a number is all
that a checkpoint needs to be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, text

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
        insert(tables.change).values(
            space_id=space_id,
            book=act.book,
            actor=act.actor,
            run=act.run,
            call=act.call,
            label=act.label,
            undoes=act.undoes,
            at=at,
        )
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
            insert(tables.journal),
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


_POSITION = text("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")


def fold(connection: Connection, space_id: int, after: int) -> dict[ItemKey, Span]:
    """What a space went through since the position `after`, for each item that it touched, oldest first."""
    journal = tables.journal.c
    query = (
        select(journal.kind, journal.uuid, journal.before, journal.after)
        .where(journal.space_id == space_id, journal.seq > after)
        .order_by(journal.seq)
    )
    return _spans(connection.execute(query))


def fold_change(connection: Connection, space_id: int, change_id: int) -> dict[ItemKey, Span]:
    """What one change did to each item that it touched, oldest first."""
    journal = tables.journal.c
    query = (
        select(journal.kind, journal.uuid, journal.before, journal.after)
        .where(journal.change_id == change_id, journal.space_id == space_id)
        .order_by(journal.seq)
    )
    return _spans(connection.execute(query))


def fold_items(connection: Connection, space_id: int, after: int, uuids: Iterable[str]) -> dict[ItemKey, Span]:
    """What some items of a space went through since the position `after`; untouched ones are left out."""
    journal = tables.journal.c
    found: dict[ItemKey, Span] = {}
    for some in chunks(list(uuids)):
        query = (
            select(journal.kind, journal.uuid, journal.before, journal.after)
            .where(journal.space_id == space_id, journal.uuid.in_(some), journal.seq > after)
            .order_by(journal.seq)
        )
        found.update(_spans(connection.execute(query)))
    return found


def _spans(rows: Iterable[tuple[str, str, bytes | None, bytes | None]]) -> dict[ItemKey, Span]:
    spans: dict[ItemKey, Span] = {}
    for kind, uuid, before, after in rows:
        first = spans.get((kind, uuid))
        spans[kind, uuid] = Span(first.before if first else before, after)
    return spans
