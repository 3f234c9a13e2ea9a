"""Errands: what is to be done outside of the store for something that was committed, and can't be taken back.

An errand is a row of the transaction that it follows from. Whoever does it says first that it began; one that began
and did not end (its process was killed) is never done again, so that nobody gets the same notice twice.
"""

from dataclasses import dataclass

import orjson
from sqlalchemy import delete, insert, select, update

from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

WEBHOOK = "webhook"
FRESH = 600
"""Seconds after which a notice that nobody sent is too old to be sent."""
KEPT = 200
"""Errands that are still listed."""
LOST = "It had begun when its process ended: whether it arrived is not known, and it is not sent again."
LATE = "Nobody was there to send it in time."


@dataclass(frozen=True, slots=True)
class Errand:
    """A notice that is to be sent."""

    id: int
    run: str
    title: str
    text: str
    created: int


def add(tx: WriteTx, run: str, title: str, text: str) -> None:
    """Has a notice be sent, once the transaction is committed."""
    errand = tables.errand
    body = orjson.dumps({"title": title, "text": text}).decode()
    tx.connection.execute(insert(errand).values(kind=WEBHOOK, run=run, body=body, created=tx.store.clock.now()))
    old = select(errand.c.id).order_by(errand.c.id.desc()).limit(-1).offset(KEPT)
    tx.connection.execute(delete(errand).where(errand.c.id.in_(old)))


def waiting(tx: ReadTx) -> list[Errand]:
    """The notices that nobody began to send, oldest first."""
    errand = tables.errand.c
    rows = tx.connection.execute(
        select(tables.errand).where(errand.ended.is_(None), errand.began.is_(None)).order_by(errand.id)
    )
    return [Errand(row.id, row.run, **orjson.loads(row.body), created=row.created) for row in rows]


def begin(tx: WriteTx, errand: Errand) -> bool:
    """Says that it begins; False when another was quicker, or it is too old by now."""
    column = tables.errand.c
    now = tx.store.clock.now()
    if now - errand.created > FRESH * 1_000_000:
        end(tx, errand, LATE)
        return False
    begun = tx.connection.execute(
        update(tables.errand).where(column.id == errand.id, column.began.is_(None)).values(began=now)
    )
    return begun.rowcount == 1


def end(tx: WriteTx, errand: Errand, outcome: str) -> None:
    """Says what became of it; empty: it was done."""
    tx.connection.execute(
        update(tables.errand).where(tables.errand.c.id == errand.id).values(ended=tx.store.clock.now(), outcome=outcome)
    )


def outcomes(tx: ReadTx, run: str) -> list[tuple[str, str]]:
    """(text, what became of it) of the notices of a run, oldest first; what became of one that waits is "waits"."""
    rows = tx.connection.execute(select(tables.errand).where(tables.errand.c.run == run).order_by(tables.errand.c.id))
    found = []
    for row in rows:
        unsaid = "sent" if row.ended else LOST if row.began else "waits"
        found.append((orjson.loads(row.body)["text"], row.outcome or unsaid))
    return found
