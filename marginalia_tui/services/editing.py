"""The editor of a part: saves, and drafts that outlive a crash.

A draft is kept outside of the journal while the author types. A save is a change of the book; saves of one part
that follow each other within a minute are one change, so that one undo takes them back together.
"""

import logging
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.errors import Stale, StoreError
from marginalia_tui.domain.items import Part
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store, WriteTx

log = logging.getLogger(__name__)

CLOSE_SAVES = 60_000_000
"""Microseconds within which saves of one part are one change."""
SAVE = "edit of a part"
"""What a save is called in the history."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the author typed and did not save. `base` is the hash of the part that the draft began from."""

    book: str
    part: str
    title: str
    text: str
    base: bytes
    at: int


def save_part(store: Store, part: str, title: str, text: str, base: bytes, *, apart: bool = False) -> bytes:
    """Saves what the editor holds and drops the draft; returns the hash of the part as it is now.

    With `apart` it is a step of its own however close it follows: it goes over what somebody else saved.

    Raises:
        Locked: an agent holds the book.
        Stale: the part was changed since `base`; the draft stays.
        NotFound: the part is gone; the draft stays.
    """
    with store.read() as look:
        book = look.space(LIBRARY).get(Part, part).book
    with store.write(Act(actor="author", label=SAVE, book=book)) as tx:
        space = tx.space(LIBRARY)
        now = space.get(Part, part)
        if space.hashes(Part, [part])[part] != base:
            raise Stale(
                "This part was changed elsewhere since you opened it: copy your text, cancel, and open it again."
            )
        if not apart:
            _join_close_save(tx, book, part)
        space.put([replace(now, title=title, text=text)])
        _drop(tx, book, part)
        return space.hashes(Part, [part])[part]


def _join_close_save(tx: WriteTx, book: str, part: str) -> None:
    change, journal = tables.change.c, tables.journal.c
    last = tx.connection.execute(
        select(change.id, change.label, change.at)
        .where(change.space_id == LIBRARY, change.book == book)
        .order_by(change.id.desc())
        .limit(1)
    ).first()
    if last is None or last.label != SAVE or tx.store.clock.now() - last.at >= CLOSE_SAVES:
        return
    touched = tx.connection.execute(select(journal.uuid).where(journal.change_id == last.id)).scalars()
    if set(touched) == {part}:
        tx.join(LIBRARY, last.id)


def keep_draft(store: Store, draft: Draft) -> None:
    """Keeps what is being typed, in a transaction of its own."""
    row = {
        "book": draft.book,
        "part": draft.part,
        "title": draft.title,
        "text": draft.text,
        "base": draft.base,
        "at": draft.at,
    }
    with store.write(Act(actor="author", label="draft", book=draft.book)) as tx:
        statement = insert(tables.draft).values(row)
        tx.connection.execute(statement.on_conflict_do_update(index_elements=["book", "part"], set_=row))


def rescue_text(home: Path, part: str, title: str, text: str) -> Path:
    """Writes a text that the store does not take to a file of its own, in the home or where there is room.

    Returns:
        The file, which only its owner can read.

    Raises:
        StoreError: no disk takes it.
    """
    body = f"# {title}\n\n{text}\n" if title else f"{text}\n"
    for folder in (home, Path(tempfile.gettempdir())):
        try:
            handle, name = tempfile.mkstemp(f"-{part[-8:]}.md", "not-saved-", folder)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            log.error("what was typed can't be put into %s: %s", folder, error.strerror)
        else:
            return Path(name)
    raise StoreError("What was typed could be kept nowhere: no disk takes it.")


def drop_draft(store: Store, book: str, part: str) -> None:
    """Forgets a draft, in a transaction of its own."""
    with store.write(Act(actor="author", label="draft", book=book)) as tx:
        _drop(tx, book, part)


def _drop(tx: WriteTx, book: str, part: str) -> None:
    draft = tables.draft
    tx.connection.execute(delete(draft).where(draft.c.book == book, draft.c.part == part))


def drafts(tx: ReadTx, book: str) -> list[Draft]:
    """The drafts of a book, oldest first: what a crash left behind."""
    draft = tables.draft
    rows = tx.connection.execute(select(draft).where(draft.c.book == book).order_by(draft.c.at))
    return [Draft(row.book, row.part, row.title, row.text, row.base, row.at) for row in rows]
