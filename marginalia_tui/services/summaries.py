"""The summaries of a book: read, written, taken away, and held to the parts that they cover.

The rules are those of `domain.summaries`; here they meet a space. A book is read as two queries without texts, and
one that has no summary as one. Nothing here deletes a summary that nobody asked to be rid of.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sqlalchemy import bindparam, select

from marginalia_tui.domain.errors import NotFound, Refused
from marginalia_tui.domain.items import Part, Summary
from marginalia_tui.domain.summaries import BookSummaries, SummaryRow
from marginalia_tui.store import tables
from marginalia_tui.store.content import hash_bytes, rows_in
from marginalia_tui.store.space import Space, WritableSpace

_OWN = tables.summary.c
_ROWS = select(_OWN.uuid, _OWN.part, _OWN.text, _OWN.covered, _OWN.until, _OWN.meta, _OWN.under, _OWN.created).where(
    _OWN.space_id == bindparam("space"), _OWN.book == bindparam("book")
)
_ON_PART = select(_OWN.uuid).where(_OWN.space_id == bindparam("space"), _OWN.part == bindparam("part"))
# Past the mapping of columns: a book has many parts, and each edit of one with summaries reads them.
_PARTS = "SELECT uuid, parent, text FROM part WHERE space_id = ? AND book = ?"


def read_summaries(space: Space, book: str) -> BookSummaries | None:
    """The summaries of a book with what they cover; None when it has none (one indexed look-up)."""
    rows = _rows(space, book)
    return _with_parts(space, book, rows) if rows else None


def summaries_of(space: Space, book: str) -> BookSummaries:
    """The summaries of a book with what they cover, also when there are none."""
    return _with_parts(space, book, _rows(space, book))


def read_again(space: Space, book: str, known: BookSummaries, parts: Collection[str]) -> BookSummaries:
    """The summaries of a book after a change that touched no other part than `parts`."""
    parents, texts = dict(known.parents), dict(known.texts)
    for uuid in parts:
        parents.pop(uuid, None)
    query = "SELECT uuid, parent, text FROM part WHERE space_id = ? AND uuid IN"
    for uuid, parent, text in rows_in(space.connection, query, parts, space.id):
        parents[uuid] = parent
        texts[uuid] = text
    return BookSummaries(parents, texts, _rows(space, book))


def summaries_on(space: Space, part: str) -> list[Summary]:
    """Every summary of a part, those that were taken in too, in the order of their uuids."""
    uuids = space.connection.execute(_ON_PART, {"space": space.id, "part": part}).scalars()
    return list(space.get_many(Summary, sorted(uuids)).values())


def set_summary(space: WritableSpace, part: str, text: str) -> str:
    """Gives a part a summary, or its summary another text; it then covers the parts as they are now.

    An equal text changes nothing, also when the summary is outdated: `revalidate` says that it is still right.

    Returns:
        The uuid of the summary.

    Raises:
        Refused: a meta summary took it in, or covers the part.
    """
    book = space.get(Part, part).book
    known = summaries_of(space, book)
    uuid = known.heads.get(part)
    taken_by = known.inner.get(uuid) if uuid else known.taken_by(part)
    if taken_by is not None:
        raise Refused(
            f"The meta summary of part {known.position(known.rows[taken_by].part)} covers this part: unwind it first "
            "with remove-summary, then change what it took in."
        )
    clock = space.tx.store.clock
    if uuid is None:
        uuid = clock.new_uuid()
        block = known.with_row(SummaryRow(uuid, part, hash_bytes(text.encode()))).block(uuid)
        summary = Summary(uuid=uuid, book=book, part=part, text=text, created=clock.now())
        space.put([replace(summary, covered=block.covered)])
        return uuid
    summary = space.get(Summary, uuid)
    if summary.text != text:
        space.put([replace(summary, text=text, model="", covered=known.block(uuid).covered)])
    return uuid


def check_removable(known: BookSummaries, uuid: str, *, unwind: bool = False) -> None:
    """Whether `remove_summary` would take a summary away.

    Raises:
        Refused: a meta summary took it in, or it is none that could be unwound.
    """
    if (taken_by := known.inner.get(uuid)) is not None:
        raise Refused(
            f"The meta summary of part {known.position(known.rows[taken_by].part)} took this summary in: unwind that "
            "one first with remove-summary."
        )
    if unwind and uuid not in known.kept:
        raise Refused("This summary stands in the place of no other: leave out unwind to remove it.")


def remove_summary(space: WritableSpace, uuid: str, *, unwind: bool = False) -> str | None:
    """Removes a summary; the parts of its block then belong to the next newer one.

    A meta summary goes with the one that it replaced, and the others that it took in show again; with `unwind` the
    one that it replaced is there again too.

    Returns:
        The summary that is there again.

    Raises:
        NotFound: it is gone.
        Refused: as `check_removable`.
    """
    summary = space.find(Summary, uuid)
    if summary is None:
        raise NotFound("This summary is gone: list-summaries shows the summaries.")
    known = summaries_of(space, summary.book)
    check_removable(known, uuid, unwind=unwind)
    gone, restored = [uuid], None
    if unwind:
        restored = known.kept[uuid]
        space.put([replace(space.get(Summary, restored), under=None)])
    while not unwind and gone[-1] in known.kept:
        gone.append(known.kept[gone[-1]])
    retarget(space, known, gone, restored or known.head_above(summary.part))
    space.delete(Summary, gone)
    return restored


def retarget(space: WritableSpace, known: BookSummaries, gone: Collection[str], to: str | None) -> None:
    """Has meta summaries that reach back to summaries which go reach back to another one instead."""
    reaching = [row.uuid for row in known.rows.values() if row.until in gone and row.uuid not in gone]
    space.put(replace(each, until=to) for each in space.get_many(Summary, reaching).values())


def leave_part(space: WritableSpace, part: str) -> None:
    """Prepares that a part is deleted with its summaries: what reached back to them reaches to the one before."""
    if (own := summaries_on(space, part)) and (known := read_summaries(space, own[0].book)):
        retarget(space, known, {each.uuid for each in own}, known.head_above(part))


def copy_to(space: WritableSpace, source: str, part: str) -> None:
    """Copies the summaries of a part, those that were taken in too, to another part at the same place."""
    own = summaries_on(space, source)
    names = {each.uuid: space.tx.store.clock.new_uuid() for each in own}
    space.put(
        replace(each, uuid=names[each.uuid], part=part, under=names.get(each.under) if each.under else None)
        for each in own
    )


def move_to(space: WritableSpace, source: str, part: str) -> None:
    """Moves the summaries of a part to another one."""
    space.put([replace(each, part=part) for each in summaries_on(space, source)])


def carry_over(space: WritableSpace, book: str, before: BookSummaries | None, parts: Collection[str]) -> None:
    """After a change that kept the words of each block with all of `parts`: what was valid there stays so."""
    if before is None:
        return
    blocks = (before.block(uuid) for uuid in before.rows)
    valid = [block.summary for block in blocks if block.valid and set(parts).issubset(block.parts)]
    if valid:
        revalidate(space, book, valid)


def revalidate(space: WritableSpace, book: str, uuids: Sequence[str]) -> list[str]:
    """Has summaries cover what their parts say now, whatever that is.

    Returns:
        Those that were outdated.
    """
    known = summaries_of(space, book)
    covered = {uuid: known.block(uuid).covered for uuid in uuids if uuid in known.rows}
    summaries = space.get_many(Summary, covered).values()
    return space.put([replace(each, covered=covered[each.uuid]) for each in summaries])


def _rows(space: Space, book: str) -> list[SummaryRow]:
    found = space.connection.execute(_ROWS, {"space": space.id, "book": book})
    return [
        SummaryRow(row.uuid, row.part, row.text, row.covered, row.until, bool(row.meta), row.under, row.created)
        for row in found
    ]


def _with_parts(space: Space, book: str, rows: Iterable[SummaryRow]) -> BookSummaries:
    parents: dict[str, str | None] = {}
    texts: dict[str, bytes | None] = {}
    for uuid, parent, text in space.connection.exec_driver_sql(_PARTS, (space.id, book)):
        parents[uuid] = parent
        texts[uuid] = text
    return BookSummaries(parents, texts, rows)
