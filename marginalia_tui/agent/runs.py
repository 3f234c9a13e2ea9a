"""Runs as rows: the status and the counters, each change a conditional update.

A caller names the status that it believes a run to have; when the run has another one by now, nothing is changed
and the caller is told which. What goes with a status (attention, the wish of a stop, the copy that is dropped) is
written in the same statement or transaction.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import orjson
from sqlalchemy import Row, bindparam, func, insert, select, update

from marginalia_tui.agent import errands, runlog
from marginalia_tui.domain.chat import Usage
from marginalia_tui.domain.errors import Ambiguous, NotFound, StatusConflict
from marginalia_tui.domain.runs import ACTIVE, NEEDS_YOU, RunStatus
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.services.activity import note_answer
from marginalia_tui.store import tables
from marginalia_tui.store.spaces import drop_space
from marginalia_tui.store.store import ReadTx, WriteTx

NOTICE_LENGTH = 300
"""Characters of the reason in a notice to the author."""
REASON_LENGTH = 2_000
"""Characters of a reason."""
SHORTEST_PREFIX = 4

# Made once: they run several times in each round.
_THIS = tables.run.c.uuid == bindparam("of")
_RUN = select(tables.run).where(_THIS)
_CONTEXT = select(tables.run.c.context_tokens).where(_THIS)
_ADD_CONTEXT = update(tables.run).where(_THIS).values(context_tokens=tables.run.c.context_tokens + bindparam("more"))
_ADD_WORKED = update(tables.run).where(_THIS).values(worked_ms=tables.run.c.worked_ms + bindparam("more"))


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of an agent."""

    uuid: str
    agent: str
    agent_name: str
    book: str
    space: int | None
    """The working copy; None once it is dropped."""
    status: RunStatus
    reason: str
    attention: bool
    interactive: bool
    wish: str | None
    epoch: int
    worked_by: str | None
    rounds: int
    usage: Usage
    context_tokens: int
    cost: float
    always: tuple[str, ...]
    """The commands that were approved for the whole run."""
    applied_from: RunStatus | None
    applied_change: int | None
    created: int
    changed: int
    limits: Mapping[str, float]
    """What was raised for this run alone (`agent.limits.RAISED`)."""
    worked: float
    """Seconds that it was worked."""

    @property
    def interrupted(self) -> bool:
        """Whether it stands where it is because its process ended, and not because somebody wanted it to."""
        return self.status is RunStatus.RUNNING or (
            self.status is RunStatus.PAUSED and self.wish in ("recovered", "parked")
        )

    @property
    def copy(self) -> int:
        """The working copy.

        Raises:
            NotFound: it is dropped.
        """
        if self.space is None:
            raise NotFound("This run has no working copy any more: it was applied or discarded.")
        return self.space


def _value(row: Row[tuple[object, ...]]) -> Run:
    return Run(
        uuid=row.uuid,
        agent=row.agent,
        agent_name=row.agent_name,
        book=row.book,
        space=row.space_id,
        status=RunStatus(row.status),
        reason=row.reason,
        attention=bool(row.attention),
        interactive=bool(row.interactive),
        wish=row.wish,
        epoch=row.epoch,
        worked_by=row.worked_by,
        rounds=row.rounds,
        usage=Usage(row.prompt_tokens, row.completion_tokens, row.cached_tokens),
        context_tokens=row.context_tokens,
        cost=row.cost,
        always=tuple(orjson.loads(row.always)),
        applied_from=RunStatus(row.applied_from) if row.applied_from else None,
        applied_change=row.applied_change,
        created=row.created,
        changed=row.changed,
        limits=orjson.loads(row.limits),
        worked=row.worked_ms / 1000,
    )


def get_run(tx: ReadTx, uuid: str) -> Run:
    """The run of a uuid.

    Raises:
        NotFound: there is none.
    """
    row = tx.connection.execute(_RUN, {"of": uuid}).first()
    if row is None:
        raise NotFound(f"There is no run {uuid!r}: `marginalia run list` shows those that there are.")
    return _value(row)


def find_run(tx: ReadTx, name: str) -> Run:
    """The run of a uuid, of a unique beginning of one, or the newest for `latest`.

    Raises:
        NotFound, Ambiguous: none or several fit.
    """
    run = tables.run.c
    query = select(tables.run).order_by(run.id.desc())
    if name == "latest":
        row = tx.connection.execute(query.limit(1)).first()
        if row is None:
            raise NotFound("There is no run yet: `marginalia run start AGENT` starts one.")
        return _value(row)
    if len(name) < SHORTEST_PREFIX:
        raise NotFound(f"{name!r} is too short for a run: give at least {SHORTEST_PREFIX} characters, or `latest`.")
    rows = tx.connection.execute(query.where(run.uuid.startswith(name, autoescape=True)).limit(5)).all()
    if len(rows) > 1:
        listed = ", ".join(row.uuid for row in rows)
        raise Ambiguous(f"Several runs begin with {name!r}: {listed}. Give more of the uuid.")
    if not rows:
        raise NotFound(f"There is no run {name!r}: `marginalia run list` shows those that there are.")
    return _value(rows[0])


def list_runs(tx: ReadTx, *, agent: str | None = None, limit: int = 200) -> list[Run]:
    """The runs of all agents or of one, newest first."""
    query = select(tables.run).order_by(tables.run.c.id.desc()).limit(limit)
    if agent is not None:
        query = query.where(tables.run.c.agent == agent)
    return [_value(row) for row in tx.connection.execute(query)]


def latest_runs(tx: ReadTx) -> dict[str, Run]:
    """Agent -> its newest run."""
    run = tables.run.c
    newest = select(func.max(run.id)).group_by(run.agent)
    rows = tx.connection.execute(select(tables.run).where(run.id.in_(newest)))
    return {row.agent: _value(row) for row in rows}


def count_active(tx: ReadTx) -> int:
    """Runs that work now."""
    return int(tx.connection.execute(select(func.count()).where(tables.run.c.status.in_(ACTIVE))).scalar_one())


def count_copies(tx: ReadTx) -> int:
    """Runs that keep a working copy."""
    return int(tx.connection.execute(select(func.count()).where(tables.run.c.space_id.is_not(None))).scalar_one())


def add_run(tx: WriteTx, *, uuid: str, agent: str, agent_name: str, book: str, space: int, interactive: bool) -> None:
    """The row of a new run, RUNNING."""
    now = tx.store.clock.now()
    tx.connection.execute(
        insert(tables.run).values(
            uuid=uuid,
            agent=agent,
            agent_name=agent_name,
            book=book,
            space_id=space,
            status=RunStatus.RUNNING,
            interactive=int(interactive),
            told=tx.position(),
            created=now,
            changed=now,
        )
    )
    _touch(tx, uuid, agent, book)


def transition(
    tx: WriteTx,
    run: Run,
    to: RunStatus,
    reason: str = "",
    *,
    expected: Collection[RunStatus] | None = None,
    wish: str | None = None,
) -> None:
    """Changes the status of a run that still has the one that the caller saw.

    Args:
        tx: the transaction.
        run: the run as the caller read it.
        to: the new status.
        reason: why, for the author; cut at 2,000 characters.
        expected: the statuses it may have; the one of `run` when None.
        wish: how a PAUSING or STOPPING run is to end.

    Raises:
        StatusConflict: it has another status by now, or the change is not in the table.
    """
    allowed = [status for status in (expected or (run.status,)) if to in status.next()]
    now = tx.store.clock.now()
    reason = reason[:REASON_LENGTH]
    changed = tx.connection.execute(
        update(tables.run)
        .where(tables.run.c.uuid == run.uuid, tables.run.c.status.in_(allowed))
        .values(
            status=to,
            reason=reason,
            attention=int(to.needs_attention(reason)),
            wish=wish,
            changed=now,
        )
    )
    if changed.rowcount == 0:
        now_is = get_run(tx, run.uuid).status
        raise StatusConflict(f"The run is {now_is.value} by now, so it can't become {to.value}: look again.")
    if to is RunStatus.STOPPED_DISCARDED:
        release_copy(tx, run.uuid)
    tx.if_kept(partial(runlog.changed, run.uuid, run.status.value, to.value))
    if to.needs_attention(reason):
        said = f"{NEEDS_YOU[to]}. {visible_line(reason[:NOTICE_LENGTH])}".strip()
        errands.add(tx, run.uuid, visible_line(run.agent_name), said)
    _touch(tx, run.uuid, run.agent, run.book)


def set_wish(tx: WriteTx, run: Run, wish: str) -> None:
    """Says how a PAUSING or STOPPING run is to end, when that changes."""
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run.uuid).values(wish=wish))
    tx.touch("run", run.uuid)


def release_copy(tx: WriteTx, run: str, *, keep_journal: bool = False) -> None:
    """Drops the working copy of a run, if it still has one."""
    space = tx.connection.execute(select(tables.run.c.space_id).where(tables.run.c.uuid == run)).scalar()
    if space is not None:
        tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run).values(space_id=None))
        drop_space(tx, space, keep_journal=keep_journal)


def add_usage(tx: WriteTx, run: str, usage: Usage, cost: float, seconds: float = 0.0) -> None:
    """Counts a round and its tokens; `seconds` is how long the model wrote.

    Usage without a prompt is that of an answer that failed: nothing is known of the request.
    """
    column = tables.run.c
    tx.connection.execute(
        update(tables.run)
        .where(column.uuid == run)
        .values(
            rounds=column.rounds + 1,
            prompt_tokens=column.prompt_tokens + usage.prompt,
            completion_tokens=column.completion_tokens + usage.completion,
            cached_tokens=column.cached_tokens + usage.cached,
            context_tokens=usage.context if usage.prompt else column.context_tokens + usage.completion,
            cost=column.cost + cost,
        )
    )
    note_answer(tx, run, usage, seconds)
    tx.touch("run", run)


def set_context(tx: WriteTx, run: str, tokens: int) -> None:
    """What the conversation fills after a change that no answer has counted yet."""
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run).values(context_tokens=tokens))
    tx.touch("run", run)


def add_context(tx: WriteTx, run: str, tokens: int) -> None:
    """Counts what the next request holds beside what the last one held."""
    tx.connection.execute(_ADD_CONTEXT, {"of": run, "more": tokens})


def context_of(tx: ReadTx, run: str) -> int:
    """The tokens that the conversation of a run fills now."""
    return int(tx.connection.execute(_CONTEXT, {"of": run}).scalar_one())


def add_worked(tx: WriteTx, run: str, seconds: float) -> None:
    """Counts time that a run was worked."""
    tx.connection.execute(_ADD_WORKED, {"of": run, "more": max(0, round(seconds * 1000))})


def set_limits(tx: WriteTx, run: str, limits: Mapping[str, float]) -> None:
    """Keeps what was raised for a run."""
    values = {"limits": orjson.dumps(dict(limits)).decode()}
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run).values(values))
    tx.touch("run", run)


def acknowledge(tx: WriteTx, run: Run) -> None:
    """The author has seen it."""
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run.uuid).values(attention=0))
    _touch(tx, run.uuid, run.agent, run.book)


def approve_always(tx: WriteTx, run: Run, command: str) -> None:
    """Lets the run call a command without asking again."""
    always = orjson.dumps(sorted({*run.always, command})).decode()
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run.uuid).values(always=always))
    tx.touch("run", run.uuid)


def note_applied(tx: WriteTx, run: Run, change: int | None) -> None:
    """Remembers what an apply ended and which change it was, so that it can be taken back."""
    tx.connection.execute(
        update(tables.run).where(tables.run.c.uuid == run.uuid).values(applied_from=run.status, applied_change=change)
    )


def needing_attention(tx: ReadTx) -> Sequence[Run]:
    """The runs that the author should look at, newest first."""
    query = select(tables.run).where(tables.run.c.attention == 1).order_by(tables.run.c.changed.desc())
    return [_value(row) for row in tx.connection.execute(query)]


def _touch(tx: WriteTx, run: str, agent: str, book: str) -> None:
    tx.touch("run", run)
    tx.touch("agent", agent)
    tx.touch("book", book)
