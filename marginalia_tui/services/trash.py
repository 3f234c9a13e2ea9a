"""The ways back for what is gone, and out for good.

What was deleted at once comes back in the state that the journal knows of it. What is deleted for good leaves the
journal, too: its texts are freed by the next sweep.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import delete, exists, select, update

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import KINDS, OWNED, Annotation, Book, Entry, Folder, Item, Lorebook, Part, Summary
from marginalia_tui.domain.runs import HOLDING
from marginalia_tui.services.folders import change_folder
from marginalia_tui.services.gone import Gone
from marginalia_tui.store import journal, tables
from marginalia_tui.store.content import Cells, chunks, decode_state, get_states, rows_in
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, Space, WritableSpace
from marginalia_tui.store.spaces import drop_space
from marginalia_tui.store.store import ReadTx, WriteTx
from marginalia_tui.store.uncounted import set_aside

_OF_BOOK = (Part, Summary, Annotation)


# Back.


@dataclass(frozen=True, slots=True)
class Back:
    """What was brought back. `notes` are sentences about what is not as it was."""

    uuids: tuple[str, ...]
    notes: tuple[str, ...] = ()


def take_out(tx: WriteTx, gone: Gone) -> Back:
    """Takes a book or lorebook out of the trash.

    Raises:
        NotFound: it is not there any more.
        Locked: an agent holds a book that uses the lorebook.
    """
    library = tx.space(LIBRARY)
    if gone.kind == Lorebook.KIND:
        library.put([replace(library.get(Lorebook, gone.uuid), deleted=None)])
        return Back((gone.uuid,))
    book = library.get(Book, gone.uuid)
    homeless = book.folder is not None and library.find(Folder, book.folder) is None
    library.put([replace(book, deleted=None, folder=None if homeless else book.folder)])
    return Back((gone.uuid,), ("Its folder was deleted: the book stands at the top of the library.",) * homeless)


def bring_back(tx: WriteTx, gone: Gone) -> Back:
    """Brings back what was deleted, in the state that it had last.

    A part comes back below its old parent, or the nearest above that stands, with the summaries and notes that went
    with it; a folder in the one that it was in, or at the top when that is gone.

    Raises:
        Refused: what it belongs to (a part, a lorebook) is gone itself, or it is there already.
        Invalid: another folder has its name by now.
        Locked: an agent holds the book.
    """
    library = tx.space(LIBRARY)
    if gone.before is None or library.hashes(KINDS[gone.kind], [gone.uuid]):
        raise Refused(f"This {gone.kind} is there already.")
    if gone.kind == Part.KIND:
        assert gone.book is not None
        return _bring_part(tx, library, gone.book, gone)
    if gone.kind == Folder.KIND:
        return _bring_folder(library, gone)
    cells = decode_state(gone.kind, get_states(tx.connection, [gone.before])[gone.before])
    _check_owner(library, gone.kind, cells)
    library.put_states({(gone.kind, gone.uuid): gone.before})
    _mend_summaries(library, [gone.uuid] if gone.kind == Summary.KIND else [])
    return Back((gone.uuid,))


def _bring_folder(library: WritableSpace, gone: Gone) -> Back:
    assert gone.before is not None
    library.put_states({(Folder.KIND, gone.uuid): gone.before})
    above = library.get(Folder, gone.uuid).parent
    homeless = above is not None and library.find(Folder, above) is None
    # Also looks whether another one has its name by now.
    change_folder(library, gone.uuid, {"parent": None} if homeless else {})
    return Back((gone.uuid,), ("The folder above it was deleted: it stands at the top of the library.",) * homeless)


def _check_owner(library: Space, kind: str, cells: Cells) -> None:
    if kind != Entry.KIND:
        if library.find(Part, cells["part"]) is None:
            raise Refused("The part that it is about is gone: bring that back first, then this if it is still missing.")
        return
    lorebook = library.find(Lorebook, cells["lorebook"])
    if lorebook is None:
        raise Refused("The lorebook of the entry was deleted for good: the entry has no place any more.")
    if lorebook.deleted is not None:
        raise Refused(f"The lorebook {lorebook.name!r} of the entry is in the trash: restore the lorebook first.")


def _bring_part(tx: WriteTx, library: WritableSpace, book: str, gone: Gone) -> Back:
    with_it = _went_with(tx, gone)
    library.put_states({(Part.KIND, gone.uuid): gone.before, **{(kind, uuid): at for kind, uuid, at in with_it}})
    part = library.get(Part, gone.uuid)
    parent = _standing(tx, library, part.parent, book)
    taken = {each.created for each in library.get_many(Part, library.children(parent, book)).values()
             if each.uuid != part.uuid}  # fmt: skip
    created = tx.store.clock.now() if part.created in taken else part.created
    library.put([replace(part, parent=parent, created=created)])
    owner = library.get(Book, book)
    if owner.active_leaf in (None, parent):
        library.put([replace(owner, active_leaf=part.uuid)])
    _mend_summaries(library, [uuid for kind, uuid, _ in with_it if kind == Summary.KIND])
    moved = () if parent == part.parent else ("Where it stood is gone: it follows the nearest part above.",)
    return Back((gone.uuid, *(uuid for _, uuid, _ in with_it)), moved)


def _went_with(tx: ReadTx, gone: Gone) -> list[tuple[str, str, bytes]]:
    """Kind, uuid and last state of what was owned by a part and deleted in the same change."""
    row = tables.journal.c
    query = select(row.kind, row.uuid, row.before).where(
        row.change_id == gone.change, row.kind.in_(OWNED[Part.KIND]), row.after.is_(None), row.before.is_not(None)
    )
    rows = tx.connection.execute(query).all()
    states = get_states(tx.connection, [each.before for each in rows])
    library = tx.space(LIBRARY)
    there = {uuid for kind in OWNED[Part.KIND] for uuid in library.hashes(KINDS[kind], [each.uuid for each in rows])}
    return [
        (each.kind, each.uuid, each.before)
        for each in rows
        if each.uuid not in there and decode_state(each.kind, states[each.before])["part"] == gone.uuid
    ]


def _standing(tx: ReadTx, library: Space, parent: str | None, book: str) -> str | None:
    """A part, or the nearest above it that is there: those that are gone are followed through the journal."""
    row = tables.journal.c
    seen: set[str] = set()
    while parent is not None and parent not in seen:
        seen.add(parent)
        part = library.find(Part, parent)
        if part is not None:
            return parent if part.book == book else None
        query = select(row.before).where(row.space_id == LIBRARY, row.uuid == parent, row.after.is_(None))
        before = tx.connection.execute(query.order_by(row.seq.desc()).limit(1)).scalar()
        if before is None:
            return None
        parent = decode_state(Part.KIND, get_states(tx.connection, [before])[before])["parent"]
    return None


def _mend_summaries(library: WritableSpace, uuids: Iterable[str]) -> None:
    """A summary that stood under one that is gone stands for itself."""
    summaries = library.get_many(Summary, uuids).values()
    above = library.hashes(Summary, [each.under for each in summaries if each.under])
    library.put([replace(each, under=None) for each in summaries if each.under and each.under not in above])


# For good.


def delete_book_for_good(tx: WriteTx, book: str) -> None:
    """Deletes a book that is in the trash with its history, its agents, their runs and copies, and its drafts.

    Its lorebooks stay, since others may use them.

    Raises:
        Refused: it is not in the trash, or an agent works on it.
    """
    library = tx.space(LIBRARY)
    if library.get(Book, book).deleted is None:
        raise Refused("Only what is in the trash is deleted for good: move the book to the trash first.")
    uuids = _all_of(tx, book)
    _delete_runs(tx, book)
    tx.connection.execute(delete(tables.draft).where(tables.draft.c.book == book))
    for cls in (Annotation, Summary, Part):
        library.delete(cls, _now_of(tx, cls, book))
    library.delete(Book, [book])
    _forget(tx, [book, *uuids])
    change = tables.change
    unused = ~exists().where(tables.journal.c.change_id == change.c.id)
    tx.connection.execute(
        delete(change).where(
            change.c.space_id == LIBRARY, change.c.book == book, change.c.id != tx.changed(LIBRARY), unused
        )
    )
    tx.touch("book", book)


def _now_of(tx: ReadTx, cls: type[Item], book: str) -> list[str]:
    column = tables.ITEM_TABLES[cls.KIND].c
    query = select(column.uuid).where(column.space_id == LIBRARY, column.book == book)
    return list(tx.connection.execute(query).scalars())


def _all_of(tx: ReadTx, book: str) -> set[str]:
    """The parts, summaries and notes that a book has or had, but none that is another book's by now."""
    row, change = tables.journal.c, tables.change.c
    query = (
        select(row.uuid)
        .select_from(tables.journal.join(tables.change, change.id == row.change_id))
        .where(change.space_id == LIBRARY, change.book == book, row.kind.in_([cls.KIND for cls in _OF_BOOK]))
    )
    found = set(tx.connection.execute(query).scalars())
    for cls in _OF_BOOK:
        found.update(_now_of(tx, cls, book))
        rows = rows_in(
            tx.connection, f'SELECT uuid, book FROM "{cls.KIND}" WHERE space_id = ? AND uuid IN', found, LIBRARY
        )
        found -= {each.uuid for each in rows if each.book != book}
    return found


def _delete_runs(tx: WriteTx, book: str) -> None:
    """The agents of a book with their runs, transcripts and copies, also copies that were dropped already."""
    run, agent, space = tables.run.c, tables.agent.c, tables.space.c
    rows = tx.connection.execute(select(run.uuid, run.agent, run.agent_name, run.status).where(run.book == book)).all()
    for each in rows:
        if each.status in HOLDING:
            raise Refused(f"The agent {each.agent_name!r} works on the book: stop its run first.")
    for some in chunks([each.uuid for each in rows]):
        for table in (tables.message, tables.queue, tables.approval, tables.handle):
            tx.connection.execute(delete(table).where(table.c.run.in_(some)))
    tx.connection.execute(delete(tables.run).where(run.book == book))
    agents = list(tx.connection.execute(select(agent.uuid).where(agent.book == book)).scalars())
    tx.connection.execute(delete(tables.agent).where(agent.book == book))
    for copy in list(tx.connection.execute(select(space.id).where(space.kind == "copy", space.book == book)).scalars()):
        drop_space(tx, copy)
    for each in rows:
        tx.touch("run", each.uuid)
    for uuid in {*agents, *(each.agent for each in rows)}:
        tx.touch("agent", uuid)


def delete_lorebook_for_good(tx: WriteTx, lorebook: str) -> None:
    """Deletes a lorebook that is in the trash with its entries and its history; books that use it lose it.

    Raises:
        Refused: it is not in the trash, or the working copy of a run has it.
        Locked: an agent holds a book that uses it.
    """
    library = tx.space(LIBRARY)
    found = library.get(Lorebook, lorebook)
    if found.deleted is None:
        raise Refused("Only what is in the trash is deleted for good: delete the lorebook first.")
    column = tables.lorebook.c
    copies = select(column.space_id).where(column.uuid == lorebook, column.space_id != LIBRARY).limit(1)
    if tx.connection.execute(copies).first() is not None:
        raise Refused(
            f"A run keeps a working copy that has {found.name!r}: review or discard its work, then delete it for good."
        )
    entries = _entries_of(tx, lorebook)
    library.delete(Lorebook, [lorebook])
    _forget(tx, [lorebook, *entries])
    _unlink(tx, library, lorebook)


def _entries_of(tx: ReadTx, lorebook: str) -> set[str]:
    """The entries that a lorebook has, and those that it had when they were deleted."""
    row, entry = tables.journal.c, tables.entry.c
    query = select(entry.uuid).where(entry.space_id == LIBRARY, entry.lorebook == lorebook)
    found = set(tx.connection.execute(query).scalars())
    deleted = select(row.uuid, row.before).where(
        row.space_id == LIBRARY, row.kind == Entry.KIND, row.after.is_(None), row.before.is_not(None)
    )
    rows = tx.connection.execute(deleted).all()
    states = get_states(tx.connection, {each.before for each in rows})
    once = {each.uuid for each in rows if decode_state(Entry.KIND, states[each.before])["lorebook"] == lorebook}
    elsewhere = tx.space(LIBRARY).hashes(Entry, once - found)
    return found | (once - set(elsewhere))


def _forget(tx: WriteTx, uuids: Iterable[str]) -> None:
    """Takes items that are gone out of the journal of the library, which is rewritten for nothing else."""
    row, library = tables.journal.c, update(tables.space).where(tables.space.c.id == LIBRARY)
    uuids = list(uuids)
    set_aside(tx.connection, LIBRARY, uuids)
    # Rows of a journal go only while their space says that it is changed in bulk.
    tx.connection.execute(library.values(state="moving"))
    for some in chunks(uuids):
        tx.connection.execute(delete(tables.journal).where(row.space_id == LIBRARY, row.uuid.in_(some)))
    tx.connection.execute(library.values(state="live"))


def _unlink(tx: WriteTx, library: WritableSpace, lorebook: str) -> None:
    """Each book that has it as its own loses it in a change of its own, which undo of the book knows."""
    column = tables.book.c
    query = select(column.uuid).where(column.space_id == LIBRARY, column.lorebook == lorebook)
    for book in library.get_many(Book, tx.connection.execute(query).scalars()).values():
        act = Act(actor="author", label="Delete a lorebook for good", book=book.uuid)
        tx.join(LIBRARY, journal.add_change(tx.connection, LIBRARY, act, tx.store.clock.now()))
        library.put([replace(book, lorebook=None)])
