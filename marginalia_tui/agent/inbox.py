"""The author's queue in front of a run: messages and commands, in the order in which they were written.

Rows of the table `queue`. What is delivered leaves the queue in the transaction that writes its row in the transcript,
so that a crash finds each either here or there. A forced one has what goes on cut off for it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from sqlalchemy import delete, insert, select, update

from marginalia_tui.agent import runlog
from marginalia_tui.agent.transcript import Entry, append
from marginalia_tui.domain.chat import Message
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

QueueKind = Literal["author", "command", "resume", "go-on", "notice"]
"""What the author says, a command of theirs, their note to a run that goes on, what the studio says to one, and what
else it has to say."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Something that waits to be delivered. The text of a command is its line."""

    id: int
    kind: QueueKind
    text: str
    created: int
    """Microseconds since 1970."""
    forced: bool = False
    """Whether what goes on is cut off for it."""
    began: bool = False
    """Whether a command that can't be rolled back was begun, and has no answer yet."""

    @property
    def of_author(self) -> bool:
        """Whether the author wrote it, and may take it back."""
        return self.kind in ("author", "command")


def enqueue(tx: WriteTx, run: str, kind: QueueKind, text: str, *, forced: bool = False) -> int:
    """Puts something at the end of the queue of a run and returns its id."""
    key = tx.connection.execute(
        insert(tables.queue).values(run=run, kind=kind, text=text, created=tx.store.clock.now(), forced=int(forced))
    ).inserted_primary_key
    assert key is not None
    tx.touch("run", run)
    if kind in ("author", "command"):
        tx.if_kept(partial(runlog.said, run, kind, len(text)))
    return int(key[0])


def queued(tx: ReadTx, run: str) -> list[Queued]:
    """What waits to be delivered, oldest first."""
    queue = tables.queue.c
    rows = tx.connection.execute(select(tables.queue).where(queue.run == run).order_by(queue.id))
    return [Queued(row.id, row.kind, row.text, row.created, bool(row.forced), row.began is not None) for row in rows]


def is_empty(tx: ReadTx, run: str) -> bool:
    """Whether nothing waits."""
    return tx.connection.execute(select(tables.queue.c.id).where(tables.queue.c.run == run).limit(1)).first() is None


def is_forced(tx: ReadTx, run: str) -> bool:
    """Whether what goes on in a run is to be cut off for something that waits."""
    queue = tables.queue.c
    query = select(queue.id).where(queue.run == run, queue.forced == 1).limit(1)
    return tx.connection.execute(query).first() is not None


def take(tx: WriteTx, run: str, item: int) -> bool:
    """Takes something out of the queue; False when it was delivered, or taken back, meanwhile."""
    queue = tables.queue
    gone = tx.connection.execute(delete(queue).where(queue.c.run == run, queue.c.id == item))
    tx.touch("run", run)
    return gone.rowcount == 1


def force(tx: WriteTx, run: str, item: int) -> bool:
    """Has what goes on cut off for something that waits; False when it was delivered meanwhile."""
    queue = tables.queue
    marked = tx.connection.execute(update(queue).where(queue.c.run == run, queue.c.id == item).values(forced=1))
    tx.touch("run", run)
    return marked.rowcount == 1


def begin(tx: WriteTx, run: str, item: int) -> bool:
    """Notes that a command begins which can't be rolled back; False when it was taken back meanwhile."""
    queue = tables.queue
    now = tx.store.clock.now()
    marked = tx.connection.execute(update(queue).where(queue.c.run == run, queue.c.id == item).values(began=now))
    return marked.rowcount == 1


def deliver_messages(tx: WriteTx, run: str) -> list[Entry]:
    """Moves what waits into the transcript, in order, up to the first command."""
    delivered = []
    for item in queued(tx, run):
        if item.kind == "command":
            break
        notice = None if item.kind == "author" else item.kind
        delivered.append(append(tx, run, Message(role="user", text=item.text), notice=notice))
        take(tx, run, item.id)
    return delivered


def drop(tx: WriteTx, run: str) -> None:
    """Forgets what waits: the run is over."""
    tx.connection.execute(delete(tables.queue).where(tables.queue.c.run == run))
