"""The transcript of a run: rows that are only appended.

A call of the model is stored before it is made, under an id of the studio's own; its result is one row, unique for
the call, written in the transaction of the call's effect. What is still to do after a crash is therefore read off
the end of the transcript: a call without a result is made again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import orjson
from sqlalchemy import Row, bindparam, case, func, insert, select, update

from marginalia_tui.domain.chat import Answer, Call, Message, Telemetry
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.llm.tokens import count_message
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

MAIN = ""
"""The thread of the agent itself."""

CUT = "cut"
"""The mark of an answer that broke off."""
NUDGE = "nudge"
"""The notice to a model that only talks."""
CUT = "cut"
"""The kind of an answer, or of a result, of which the end is missing."""
SKIPPED = "skipped"
"""The kind of a result that a call got which was not made, since one before it in the answer failed."""
INTERRUPTED = "interrupted"
"""The kind of a result that a call got which was cut off. A failed result that has a kind is no error of a tool."""
MAX_NUDGES = 3
"""Nudges of one turn."""
SUMMARY = "summary"
"""The notice of a row that stands for all before it."""

AUTHOR_COMMAND = "author-command"
"""The notice of a command that the author ran inside the run: what was run, and what came."""

_ADD_CONTEXT = (
    update(tables.run)
    .where(tables.run.c.uuid == bindparam("of"))
    .values(context_tokens=tables.run.c.context_tokens + bindparam("more"))
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the transcript."""

    uuid: str
    ordinal: int
    message: Message
    notice: str | None
    """What kind of message of the studio it is (`start`, `resume`, ...); None: said by author or model."""
    seconds: float
    created: int
    """Microseconds since 1970."""
    compacted: bool = False
    """The model reads a later summary instead."""
    summary: bool = False
    """It stands for every row before it."""
    telemetry: Telemetry | None = None
    """Of an answer: the request that it came from; None where that was not noted."""


def _value(row: Row[tuple[object, ...]]) -> Entry:
    calls = tuple(Call(each["id"], each["name"], each["arguments"]) for each in orjson.loads(row.calls))
    message = Message(
        role=row.role,
        text=row.text,
        calls=calls,
        call_id=row.call_id,
        ok=bool(row.ok),
        reasoning=row.reasoning,
        reasoning_field=row.reasoning_field,
        notice=row.notice,
    )
    telemetry = Telemetry(**orjson.loads(row.telemetry)) if row.telemetry else None
    return Entry(
        row.uuid,
        row.ordinal,
        message,
        row.notice,
        row.seconds,
        row.created,
        bool(row.compacted),
        bool(row.summary),
        telemetry,
    )


def entries(tx: ReadTx, run: str, start: int = 0, stop: int | None = None, thread: str = MAIN) -> list[Entry]:
    """The rows with ordinals from `start` up to `stop`, in order."""
    message = tables.message.c
    query = (
        select(tables.message)
        .where(message.run == run, message.thread == thread, message.ordinal >= start)
        .order_by(message.ordinal)
    )
    if stop is not None:
        query = query.where(message.ordinal < stop)
    return [_value(row) for row in tx.connection.execute(query)]


def read_by_model(tx: ReadTx, run: str, thread: str = MAIN) -> list[Entry]:
    """The rows that the next request holds, in order: the last summary and what came after it."""
    message = tables.message.c
    query = (
        select(tables.message)
        .where(message.run == run, message.thread == thread, message.compacted == 0)
        .order_by(message.ordinal)
    )
    return [_value(row) for row in tx.connection.execute(query)]


def roles(tx: ReadTx, run: str, start: int = 0, thread: str = MAIN) -> list[tuple[int, str, bool]]:
    """Ordinal, role and whether it is a summary, of each row from `start`, in order: a transcript without its texts."""
    message = tables.message.c
    query = (
        select(message.ordinal, message.role, message.summary)
        .where(message.run == run, message.thread == thread, message.ordinal >= start)
        .order_by(message.ordinal)
    )
    return [(row.ordinal, row.role, bool(row.summary)) for row in tx.connection.execute(query)]


def call_of(tx: ReadTx, run: str, answer: str, place: int) -> str | None:
    """The id of a call by its place in an answer; None when there is none."""
    message = tables.message.c
    calls = tx.connection.execute(select(message.calls).where(message.run == run, message.uuid == answer)).scalar()
    found = orjson.loads(calls) if calls else []
    return str(found[place]["id"]) if 0 <= place < len(found) else None


def count(tx: ReadTx, run: str, thread: str = MAIN) -> int:
    """The rows of a transcript; ordinals are 0 to this, less one."""
    message = tables.message.c
    newest = select(func.coalesce(func.max(message.ordinal) + 1, 0)).where(message.run == run, message.thread == thread)
    return int(tx.connection.execute(newest).scalar_one())


def append(
    tx: WriteTx,
    run: str,
    message: Message,
    *,
    notice: str | None = None,
    seconds: float = 0.0,
    thread: str = MAIN,
    summary: bool = False,
    telemetry: Telemetry | None = None,
) -> Entry:
    """Appends a message, and counts the tokens of what is said to the agent; those of a result its caller counts."""
    clock = tx.store.clock
    message = replace(message, notice=notice)
    entry = Entry(
        clock.new_uuid(),
        count(tx, run, thread),
        message,
        notice,
        seconds,
        clock.now(),
        summary=summary,
        telemetry=telemetry,
    )
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    tx.connection.execute(
        insert(tables.message).values(
            uuid=entry.uuid,
            run=run,
            thread=thread,
            ordinal=entry.ordinal,
            role=message.role,
            text=message.text,
            reasoning=message.reasoning,
            reasoning_field=message.reasoning_field,
            calls=orjson.dumps(calls).decode(),
            call_id=message.call_id,
            ok=int(message.ok),
            notice=notice,
            seconds=seconds,
            created=entry.created,
            summary=int(summary),
            telemetry=orjson.dumps(asdict(telemetry)).decode() if telemetry else None,
        )
    )
    if thread == MAIN and message.role == "user":
        tx.connection.execute(_ADD_CONTEXT, {"of": run, "more": count_message(message)})
    tx.touch("run", run)
    return entry


def telemetry_of(answer: Answer, made: int, estimate: int = 0) -> Telemetry:
    """What is kept of the request that an answer came from.

    Args:
        answer: as the model gave it.
        made: the calls of it that are kept.
        estimate: the tokens that the studio counted for the request; 0 when it did not.
    """
    usage = answer.usage
    return Telemetry(
        waited=round(answer.waited, 3),
        first_token=round(answer.first_token, 3),
        seconds=round(answer.seconds, 3),
        finish=answer.finish,
        complete=answer.complete,
        prompt=usage.prompt,
        completion=usage.completion,
        cached=usage.cached,
        reasoning=usage.reasoning,
        counted_here=answer.usage_estimated,
        estimate=estimate,
        written=len(answer.calls),
        made=made,
    )


def append_answer(
    tx: WriteTx, run: str, answer: Answer, calls: Sequence[Call], *, notice: str | None = None, estimate: int = 0
) -> Entry:
    """Appends what a model answered, its calls under ids of our own: servers give one id twice."""
    ordinal = count(tx, run)
    own = tuple(Call(f"call_{ordinal}_{place}", call.name, call.arguments) for place, call in enumerate(calls))
    message = Message(
        role="assistant",
        text=answer.text,
        calls=own,
        reasoning=answer.reasoning,
        reasoning_field=answer.reasoning_field,
    )
    telemetry = telemetry_of(answer, len(calls), estimate)
    return append(tx, run, message, notice=notice, seconds=answer.seconds, telemetry=telemetry)


def replace_by_summary(
    tx: WriteTx, run: str, text: str, *, seconds: float = 0.0, telemetry: Telemetry | None = None
) -> Entry:
    """Appends a summary that stands for all rows before it: the model reads those no more, and nothing is deleted."""
    message = Message(role="user", text=text)
    entry = append(tx, run, message, notice=SUMMARY, seconds=seconds, summary=True, telemetry=telemetry)
    column = tables.message.c
    tx.connection.execute(
        update(tables.message)
        .where(column.run == run, column.thread == MAIN, column.ordinal < entry.ordinal, column.compacted == 0)
        .values(compacted=1)
    )
    return entry


def just_summed_up(tx: ReadTx, run: str, size: int) -> bool:
    """Whether what a model reads begins with a summary, and has less than `size` characters behind it."""
    message = tables.message.c
    length = func.length(message.text) + func.length(message.calls)
    behind = func.sum(case((message.summary == 0, length), else_=0))
    here = (message.run == run, message.thread == MAIN, message.compacted == 0)
    summaries, characters = tx.connection.execute(select(func.sum(message.summary), behind).where(*here)).one()
    return bool(summaries) and characters < size


def summed_up_often(tx: ReadTx, run: str, answers: int, summaries: int) -> bool:
    """Whether so many of the last answers and summaries of a run are summaries."""
    message = tables.message.c
    latest = tx.connection.execute(
        select(message.summary)
        .where(message.run == run, message.thread == MAIN, (message.role == "assistant") | (message.summary == 1))
        .order_by(message.ordinal.desc())
        .limit(answers)
    ).scalars()
    return sum(map(int, latest)) >= summaries


@dataclass(frozen=True, slots=True)
class Round:
    """The end of a transcript: the last answer of the model and what became of its calls."""

    answer: Entry | None
    results: dict[str, Message]
    """Call id -> its result."""
    newer: bool
    """Whether something was said to the model after that answer and its results. What a command of the author
    answered is no such thing: the model reads it when the turn goes on, which it does not for that alone."""

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls without a result, in the order in which they are made."""
        calls = self.answer.message.calls if self.answer else ()
        return tuple(call for call in calls if call.id not in self.results)

    def result_of(self, name: str) -> tuple[Call, Message] | None:
        """The last call of a tool in this answer that went well, with its result."""
        calls = self.answer.message.calls if self.answer else ()
        for call in reversed(calls):
            if call.name == name and (result := self.results.get(call.id)) and result.ok:
                return call, result
        return None


def last_round(rows: Sequence[Entry]) -> Round:
    """Reads the last round off a transcript."""
    results: dict[str, Message] = {}
    newer = False
    for entry in reversed(rows):
        message = entry.message
        if message.role == "assistant":
            return Round(entry, results, newer)
        if message.role == "tool" and message.call_id is not None:
            results[message.call_id] = message
        elif entry.notice != AUTHOR_COMMAND:
            newer = True
    return Round(None, {}, newer)


def nudges(rows: Sequence[Entry]) -> int:
    """How often the model was nudged since the author last spoke; one that no call followed counts for all."""
    count = 0
    called = False
    for entry in reversed(rows):
        if entry.notice == NUDGE:
            if not called and count == 0:
                return MAX_NUDGES
            count += 1
        elif entry.message.calls:
            called = True
        elif entry.message.role == "user" and entry.notice is None:
            break
    return count


def was_refused(tx: ReadTx, run: str, name: str) -> bool:
    """Whether a call of a tool failed before in this run."""
    rows = entries(tx, run)
    failed = {row.message.call_id for row in rows if row.message.role == "tool" and not row.message.ok}
    return any(call.id in failed for row in rows for call in row.message.calls if call.name == name)


def final_report(rows: Sequence[Entry]) -> str:
    """What the agent wrote when it finished; empty when it did not."""
    end = last_round(rows)
    found = end.result_of("finish")
    return str((read_arguments(found[0].arguments) or {}).get("report", "")) if found else ""
