"""What leaves the journal before the statistics counted it is set aside, so that it is counted all the same.

A copy is dropped and a book is deleted for good in one short transaction, and counting takes its time: the rows are
kept here, without the rest of the journal, until they are counted.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.items import Part
from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks


def set_aside(connection: Connection, space_id: int, uuids: Iterable[str] | None = None) -> None:
    """Keeps the uncounted rows of a space, or those of some of its items, that are about to leave the journal.

    Args:
        connection: of the write transaction that deletes them.
        space_id: the space.
        uuids: the items; None: all of the space.
    """
    row, change = tables.journal.c, tables.change.c
    query = (
        select(
            row.seq, row.space_id, row.uuid, row.before, row.after,
            row.change_id, change.actor, change.label, change.undoes, change.at,
        )
        .select_from(tables.journal.join(tables.change, change.id == row.change_id))
        .where(row.space_id == space_id, row.kind == Part.KIND)
        .where(row.seq > select(tables.counted.c.position).scalar_subquery())
    )  # fmt: skip
    names = [each.name for each in query.selected_columns]
    for some in [None] if uuids is None else list(chunks(list(uuids))):
        of_some = query if some is None else query.where(row.uuid.in_(some))
        connection.execute(insert(tables.uncounted).from_select(names, of_some))
