"""Destructive calls that wait for the author, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import orjson
from sqlalchemy import Row, delete, insert, select, update

from marginalia_tui.agent import runlog
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

Decision = Literal["approve", "deny"]


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits, or was decided. `arguments` name items by uuid."""

    run: str
    call: str
    command: str
    arguments: dict[str, Any]
    decision: Decision | None
    why: str
    created: int


def _value(row: Row[tuple[object, ...]]) -> Approval:
    return Approval(row.run, row.call_id, row.command, orjson.loads(row.arguments), row.decision, row.why, row.created)


def find(tx: ReadTx, run: str, call: str) -> Approval | None:
    """The approval of a call; None when it was never asked for."""
    approval = tables.approval.c
    row = tx.connection.execute(select(tables.approval).where(approval.run == run, approval.call_id == call)).first()
    return _value(row) if row else None


def pending(tx: ReadTx, run: str) -> list[Approval]:
    """The calls of a run that wait, oldest first."""
    approval = tables.approval.c
    query = select(tables.approval).where(approval.run == run, approval.decision.is_(None)).order_by(approval.id)
    return [_value(row) for row in tx.connection.execute(query)]


def ask(tx: WriteTx, run: str, call: str, command: str, arguments: Mapping[str, Any]) -> None:
    """Has a call wait."""
    tx.connection.execute(
        insert(tables.approval).values(
            run=run,
            call_id=call,
            command=command,
            arguments=orjson.dumps(dict(arguments)).decode(),
            created=tx.store.clock.now(),
        )
    )
    tx.if_kept(partial(runlog.asked, run, call, command))


def decide(tx: WriteTx, run: str, call: str, decision: Decision, why: str = "") -> Approval:
    """Decides a call that waits.

    Raises:
        NotFound: it does not wait; the sentence lists those that do.
    """
    approval = tables.approval
    decided = tx.connection.execute(
        update(approval)
        .where(approval.c.run == run, approval.c.call_id == call, approval.c.decision.is_(None))
        .values(decision=decision, why=why)
    )
    if decided.rowcount == 0:
        waiting = ", ".join(each.call for each in pending(tx, run)) or "none"
        raise NotFound(f"No call {call!r} waits in this run. Waiting: {waiting}.")
    found = find(tx, run, call)
    assert found is not None
    tx.if_kept(partial(runlog.decided, run, call, found.command, decision))
    return found


def withdraw(tx: WriteTx, run: str) -> None:
    """Takes back what waits: a pause or a stop is no denial, and the call is asked for again."""
    approval = tables.approval
    tx.connection.execute(delete(approval).where(approval.c.run == run, approval.c.decision.is_(None)))
