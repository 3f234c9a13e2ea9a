"""What is gone: what lies in the trash, and what was deleted lately and is known to the journal.

Books and lorebooks go to the trash and keep all they have. Parts, entries, notes, summaries and empty folders are
deleted at once; the journal knows what they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, select, true

from marginalia_tui.domain.errors import Ambiguous, NotFound
from marginalia_tui.domain.items import KINDS, Annotation, Book, Entry, Folder, Lorebook, Part, Summary
from marginalia_tui.services.folders import shortly
from marginalia_tui.store import tables
from marginalia_tui.store.content import chunks, decode_state, get_states, get_texts
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx

LATELY = 2_000
"""Deletions that are looked at, the newest first."""
BEGINNING = 80
"""Characters of the beginning of a text."""
SHORTEST_PREFIX = 4

_LOST = (Part.KIND, Entry.KIND, Annotation.KIND, Summary.KIND, Folder.KIND)


@dataclass(frozen=True, slots=True)
class Gone:
    """Something that is gone and can come back."""

    kind: str
    """`book`, `lorebook`, `part`, `entry`, `annotation`, `summary` or `folder`."""
    uuid: str
    name: str
    begins: str
    """The beginning of its text, on one line."""
    at: int
    """When it went, in microseconds since 1970."""
    before: bytes | None = None
    """The state that it had last; None of what is in the trash."""
    change: int = 0
    book: str | None = None
    """The uuid of the book that lost it; None of what is in the trash, and of what belongs to no book."""
    who: str = ""
    """The agent that deleted it; empty: the author."""


def in_trash(tx: ReadTx) -> list[Gone]:
    """The books and lorebooks in the trash, the newest first."""
    library = tx.space(LIBRARY)
    column = tables.lorebook.c
    query = select(column.uuid).where(column.space_id == LIBRARY, column.deleted.is_not(None))
    lore = library.get_many(Lorebook, tx.connection.execute(query).scalars())
    found = [Gone(Book.KIND, book.uuid, book.title, book.author, book.deleted or 0) for book in _trashed_books(library)]
    found += [Gone(Lorebook.KIND, each.uuid, each.name, "", each.deleted or 0) for each in lore.values()]
    agents = _deleters(tx, [each.uuid for each in found])
    return sorted((replace(each, who=agents.get(each.uuid, "")) for each in found), key=lambda each: -each.at)


def _deleters(tx: ReadTx, uuids: Sequence[str]) -> dict[str, str]:
    """Item of the library -> the agent whose work changed it last; empty: the author did."""
    row, change, run = tables.journal.c, tables.change.c, tables.run.c
    found: dict[str, str] = {}
    for some in chunks(uuids):
        query = (
            select(row.uuid, run.agent_name)
            .select_from(
                tables.journal.join(tables.change, change.id == row.change_id).outerjoin(
                    tables.run, run.uuid == change.run
                )
            )
            .where(row.space_id == LIBRARY, row.kind.in_((Book.KIND, Lorebook.KIND)), row.uuid.in_(some))
            .order_by(row.seq)
        )
        found.update({uuid: agent or "" for uuid, agent in tx.connection.execute(query)})
    return found


def _trashed_books(library: Space) -> list[Book]:
    column = tables.book.c
    query = select(column.uuid).where(column.space_id == LIBRARY, column.deleted.is_not(None))
    return list(library.get_many(Book, library.connection.execute(query).scalars()).values())


def lost(tx: ReadTx, book: str | None) -> list[Gone]:
    """What was deleted from a book (None: from no book, such as folders) lately and is not there again, newest first.

    What went with a part (its summaries and notes) comes back with it and is not listed beside it.
    """
    return _lost(tx, tables.change.c.book == book)


def lost_anywhere(tx: ReadTx) -> list[Gone]:
    """What was deleted lately, from whatever book, and is not there again, the newest first."""
    return _lost(tx, true())


def _lost(tx: ReadTx, where: ColumnElement[bool]) -> list[Gone]:
    row, change, run = tables.journal.c, tables.change.c, tables.run.c
    query = (
        select(row.kind, row.uuid, row.before, row.change_id, change.at, change.book, run.agent_name)
        .select_from(
            tables.journal.join(tables.change, change.id == row.change_id).outerjoin(tables.run, run.uuid == change.run)
        )
        .where(change.space_id == LIBRARY, where, row.after.is_(None), row.before.is_not(None))
        .where(row.space_id == LIBRARY, row.kind.in_(_LOST))
        .order_by(row.seq.desc())
        .limit(LATELY)
    )
    newest: dict[str, Gone] = {}
    for kind, uuid, before, change_id, at, book, agent in tx.connection.execute(query):
        newest.setdefault(uuid, Gone(kind, uuid, "", "", at, before, change_id, book, agent or ""))
    library = tx.space(LIBRARY)
    for kind in _LOST:
        for uuid in library.hashes(KINDS[kind], [each.uuid for each in newest.values() if each.kind == kind]):
            del newest[uuid]
    return _named(tx, list(newest.values()))


def _named(tx: ReadTx, gone: Sequence[Gone]) -> list[Gone]:
    states = get_states(tx.connection, [each.before for each in gone if each.before])
    cells = {each.uuid: decode_state(each.kind, states[each.before]) for each in gone if each.before in states}
    texts = get_texts(tx.connection, [text for each in cells.values() if (text := each.get("text")) is not None])
    parts = {(each.uuid, each.change) for each in gone if each.kind == Part.KIND}
    found = []
    for each in gone:
        fields = cells.get(each.uuid)
        if fields is None or (fields.get("part"), each.change) in parts:
            continue
        words = " ".join(texts.get(fields.get("text") or b"", "")[: 4 * BEGINNING].split())
        begins = words if len(words) <= BEGINNING else words[: BEGINNING - 1] + "\u2026"
        found.append(replace(each, name=str(fields.get("title") or fields.get("name") or ""), begins=begins))
    return found


def lost_by(tx: ReadTx, book: str | None) -> list[Gone]:
    """What a book lost lately, when one is given, and what no book has lost."""
    return [*(lost(tx, book) if book else ()), *lost(tx, None)]


def find_gone(tx: ReadTx, name: str, book: str | None = None, kind: str | None = None) -> Gone:
    """What is in the trash, or was deleted lately from a book or from none, of a name, a uuid, or its beginning.

    Raises:
        NotFound: nothing fits.
        Ambiguous: several do; the sentence lists them.
    """
    everything: list[Gone] = [*in_trash(tx), *lost_by(tx, book)]
    there = [each for each in everything if kind in (None, each.kind)]
    wanted = " ".join(name.split()).casefold()
    found = [each for each in there if each.uuid == name.strip()]
    found = found or [each for each in there if wanted and each.name.casefold() == wanted]
    if not found and len(wanted) >= SHORTEST_PREFIX:
        found = [each for each in there if any(one.casefold().startswith(wanted) for one in _words(each))]
    if len(found) == 1:
        return found[0]
    if found:
        shown = "; ".join(_shown(each) for each in found[:3])
        raise Ambiguous(f"Several fit {shortly(name)}: {shown}. Say of what kind it is, or give the uuid.")
    raise NotFound(f"Nothing that is gone fits {shortly(name)}: list-trash shows what can be brought back.")


def _words(gone: Gone) -> tuple[str, str, str]:
    """What it can be called by."""
    return gone.name, gone.begins, gone.uuid


def _shown(gone: Gone) -> str:
    return f"{gone.kind} {shortly(gone.name or gone.begins)} ({gone.uuid})"
