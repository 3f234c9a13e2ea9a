"""The verbs of runs: they start and steer them, and show what they did."""

import argparse
from collections.abc import Callable
from typing import Any

import orjson

from marginalia_tui.agent import agents, approvals, detached, inbox, transcript
from marginalia_tui.agent.export import rows_markdown
from marginalia_tui.agent.follow import follow
from marginalia_tui.agent.foresight import argument_words, foresee
from marginalia_tui.agent.limits import RAISED, Limits, limits_of
from marginalia_tui.agent.merge.model import Picks, split_pick
from marginalia_tui.agent.merge.report import to_json, to_text
from marginalia_tui.agent.questions import open_choices
from marginalia_tui.agent.runs import Run, find_run, get_run, list_runs
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.desk.waiting import lines_of
from marginalia_tui.domain.errors import Busy, Invalid, NotFound
from marginalia_tui.domain.items import Book, Plan
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.headless import seen
from marginalia_tui.headless.output import facts, print_json, print_text, say, table
from marginalia_tui.headless.stream import Stream, work_to_rest
from marginalia_tui.services.models import get_model
from marginalia_tui.settings import Settings
from marginalia_tui.store import lease
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

WAIT_SECONDS = 30.0
"""How long a pause or stop of another process is waited for."""


def exit_code(status: RunStatus) -> int:
    """0 for a run that is done, 1 for one that failed, 3 for one that waits for the author."""
    if status is RunStatus.FAILED:
        return 1
    return 3 if status.rests else 0


def _named(studio: Studio, options: argparse.Namespace) -> Run:
    with studio.store.read() as tx:
        return find_run(tx, options.run)


def _worked(studio: Studio, run: str, stream: Stream) -> int:
    """Waits until the run that this process works rests."""
    if (rested := work_to_rest(studio.runner, run, stream)) is not None:
        return exit_code(rested)
    with studio.store.read() as tx:
        return exit_code(get_run(tx, run).status)


def _start(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        agent = agents.find_agent(tx, options.agent)
    stream = Stream(as_json=options.json)
    run = studio.runner.start(agent.uuid, message=options.message, observers=[stream])
    return _worked(studio, run, stream)


def _work(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    if options.detached:
        _work_detached(studio, run.uuid)
        return _show_run(studio, run.uuid, options)
    stream = Stream(as_json=options.json)
    studio.runner.work(run.uuid, take_over=options.take_over, observers=[stream])
    return _worked(studio, run.uuid, stream)


def _work_detached(studio: Studio, run: str) -> None:
    """Has a run be taken up by a process that needs no terminal, and waits until it is.

    Raises:
        StatusConflict: it rests for a reason.
        Busy: it is worked by another process, or none was ready in time.
    """
    seen = studio.runner.check_work(run)
    if not lease.is_free(studio.store, run, seen.epoch):
        raise Busy(f"The run is worked by another process ({seen.worked_by}): `run attach` follows it.")
    process = detached.start(studio.home, [run])
    assert process.stdin is not None
    with process.stdin:
        ready = detached.is_ready(process)
    if not ready:
        process.terminate()
        raise Busy(f"The process for it does not begin: {studio.home / 'logs'} tells why.")

    def taken_up(now: Run) -> bool:
        recovered = now.status is RunStatus.PAUSED and now.wish == "recovered"
        return now.epoch > seen.epoch and not recovered

    studio.runner.wait(run, taken_up, WAIT_SECONDS)


def _attach(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    return exit_code(follow(studio.store, run.uuid, Stream(as_json=options.json)).status)


def _steered(studio: Studio, options: argparse.Namespace, run: str, stream: Stream | None) -> int:
    """After a message, a resume or a decision: works the run to its rest when it is worked here."""
    return _worked(studio, run, stream) if stream is not None else _show_run(studio, run, options)


def _send(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    stream = Stream(as_json=options.json)
    begun = studio.runner.send(run.uuid, options.text, detach=options.detach, observers=[stream])
    return _steered(studio, options, run.uuid, stream if begun else None)


def _command(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    stream = Stream(as_json=options.json)
    begun = studio.runner.command(run.uuid, options.line, detach=options.detach, observers=[stream])
    return _steered(studio, options, run.uuid, stream if begun else None)


def _resume(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    raised = {name: value for name in RAISED if (value := getattr(options, name)) is not None}
    if options.detach:
        if raised:
            studio.runner.raise_limits(run.uuid, raised)
        if options.note or not raised:
            studio.runner.send(run.uuid, options.note, detach=True)
        return _steered(studio, options, run.uuid, None)
    stream = Stream(as_json=options.json)
    studio.runner.resume(run.uuid, options.note, [stream], raised=raised)
    return _steered(studio, options, run.uuid, stream)


def _decide(decision: approvals.Decision) -> Callable[[Studio, argparse.Namespace], int]:
    def decide(studio: Studio, options: argparse.Namespace) -> int:
        run = _named(studio, options)
        stream = Stream(as_json=options.json)
        begun = studio.runner.decide(
            run.uuid,
            options.call,
            decision,
            why=getattr(options, "why", ""),
            always=getattr(options, "always", False),
            detach=options.detach,
            observers=[stream],
        )
        return _steered(studio, options, run.uuid, stream if begun else None)

    return decide


def _pause(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    studio.runner.pause(run.uuid, now=options.now)
    return _rested(studio, run.uuid, options)


def _stop(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    studio.runner.stop(run.uuid, keep=options.keep)
    return _rested(studio, run.uuid, options)


def _finish(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    studio.runner.finish(run.uuid)
    return _show_run(studio, run.uuid, options)


def _rested(studio: Studio, run: str, options: argparse.Namespace) -> int:
    """What was asked for is done when the run no longer works."""
    try:
        studio.runner.wait(run, lambda seen: not seen.status.active, WAIT_SECONDS)
    except Busy:
        say("The process that works the run has not answered yet: the wish stays, `run show` tells when it rests.")
    _show_run(studio, run, options)
    return 0


def run_row(tx: ReadTx, run: Run, settings: Settings) -> dict[str, Any]:
    """What `run show` tells of a run."""
    try:
        agent = agents.get_agent(tx, run.agent)
        allowed = limits_of(run, agent, settings, get_model(tx, agent.model))
    except NotFound:
        allowed = Limits()
    book = tx.space(LIBRARY).find(Book, run.book)
    plan = tx.space(run.space).find(Plan, run.uuid) if run.space is not None else None
    return {
        "run": run.uuid,
        "agent": run.agent_name,
        "book": book.title if book else run.book,
        "status": run.status.value,
        "reason": run.reason or None,
        "attention": run.attention,
        "rounds": run.rounds,
        "prompt_tokens": run.usage.prompt,
        "completion_tokens": run.usage.completion,
        "cached_tokens": run.usage.cached,
        "cost": round(run.cost, 6),
        "context_tokens": run.context_tokens,
        "context_cap": allowed.context or None,
        "minutes": round(run.worked / 60, 2),
        "limits": {name: getattr(allowed, name) or None for name in RAISED},
        "plan": orjson.loads(plan.steps) if plan else [],
        "queued": len(inbox.queued(tx, run.uuid)),
        "pending_approvals": [
            {"call": each.call, "command": each.command, "arguments": each.arguments}
            for each in approvals.pending(tx, run.uuid)
        ],
        "worked_by": None if lease.is_free(tx.store, run.uuid, run.epoch) else run.worked_by,
    }


def _show_run(studio: Studio, run: str, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        found = get_run(tx, run)
        row = run_row(tx, found, studio.settings)
        if choices := open_choices(tx, found):
            row["choices"] = list(choices)
    for call in row["pending_approvals"]:
        call.update(_would_do(studio, found, call["command"], call["arguments"]))
    if options.json:
        print_json(row)
    else:
        plan, waiting = row.pop("plan"), row.pop("pending_approvals")
        print_text(facts({**row, "plan": [f"{step['status']}: {step['step']}" for step in plan]}))
        for call in waiting:
            print_text(f"waits for your word: {call['call']}  {call['command']}")
            told = [f"{name}: {visible_line(value)}" for name, value in call["named"].items()]
            told += [f"can't be made as it is: {call['problem']}"] if call["problem"] else []
            print_text("\n".join(f"  {line}" for line in [*told, *call["changes"]]))
    return exit_code(found.status)


def _would_do(studio: Studio, run: Run, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a call that waits is given, items by their titles, and what it would change."""
    with studio.store.read() as tx:
        named = dict(argument_words(tx, run, arguments))
    foresight = foresee(studio.store, studio.dispatcher, run, command, arguments)
    return {"named": named, "changes": lines_of(foresight), "problem": foresight.problem or None}


def _show(studio: Studio, options: argparse.Namespace) -> int:
    _show_run(studio, _named(studio, options).uuid, options)
    return 0


def _list(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        rows = [run_row(tx, run, studio.settings) for run in list_runs(tx)]
    if options.json:
        print_json(rows)
    else:
        columns = ("agent", "book", "status", "rounds", "prompt_tokens", "completion_tokens", "run")
        print_text(table(rows, columns, "There is no run yet: `marginalia run start AGENT` starts one."))
    return 0


def _message(entry: Entry, thread: str) -> dict[str, Any]:
    message = entry.message
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    return {
        "uuid": entry.uuid,
        "thread": thread or None,
        "ordinal": entry.ordinal,
        "role": message.role,
        "text": message.text,
        "reasoning": message.reasoning or None,
        "calls": calls,
        "call_id": message.call_id,
        "ok": message.ok,
        "compacted": entry.compacted,
        "rewound": False,
        "summary": entry.summary,
        "notice": entry.notice,
        "created": entry.created,
    }


def _transcript(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        rows = transcript.entries(tx, find_run(tx, options.run).uuid, thread=options.thread)
    if options.json and not options.markdown:
        print_json([_message(entry, options.thread) for entry in rows])
    else:
        print_text("\n\n".join(rows_markdown(rows)))
    return 0


def _queue(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    if options.cancel is not None and not studio.runner.cancel(run.uuid, options.cancel):
        raise NotFound(f"No message {options.cancel} waits: it was delivered or taken back meanwhile.")
    if options.force is not None:
        stream = Stream(as_json=options.json)
        if studio.runner.force(run.uuid, options.force, observers=[stream]):
            return _worked(studio, run.uuid, stream)
    with studio.store.read() as tx:
        rows = [
            {"id": item.id, "kind": item.kind, "text": item.text, "forced": item.forced, "created": item.created}
            for item in inbox.queued(tx, run.uuid)
        ]
    if options.json:
        print_json(rows)
    else:
        print_text(table(rows, ("id", "kind", "text"), "No message waits."))
    return 0


def _review(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    plan = studio.reviews.plan(run.uuid)
    if options.json:
        print_json(to_json(plan, run.uuid))
    else:
        print_text(to_text(plan))
    return 0


def picks_of(options: argparse.Namespace, studio: Studio, run: str) -> Picks:
    """The picks that the options of `run apply` name.

    Raises:
        Invalid: an item or a field is not in the review; the sentence lists the ids.
    """
    plan = studio.reviews.plan(run)
    if options.all:
        picks = Picks.of_plan(plan, options.take)
    else:
        items: dict[str, frozenset[str] | None] = {}
        for name in options.pick:
            item, field = _split(plan_ids=[each.id for each in plan.items], name=name)
            if field is None or items.get(item, ...) is None:
                items[item] = None
            else:
                items[item] = frozenset({field}) | (items.get(item) or frozenset())
        take = {each: options.take for each in plan.conflicts} if options.take else {}
        picks = Picks(items=items, take=take)
    texts = {}
    for each in options.text:
        name, _, file = each.partition("=")
        item, field = _split(plan_ids=[one.id for one in plan.items], name=name)
        if field is None or not file:
            raise Invalid(f"{each!r} does not fit: write ID:FIELD=FILE, such as part:1234:text=mine.md.")
        texts[item, field] = _file_text(file)
    return Picks(items=picks.items, take=picks.take, texts=texts)


def _split(plan_ids: list[str], name: str) -> tuple[str, str | None]:
    if name in plan_ids:
        return name, None
    item, field = split_pick(name)
    if item in plan_ids and field:
        return item, field
    raise Invalid(f"The review has no {name!r}. It has: {', '.join(plan_ids[:20]) or 'nothing'}.")


def _file_text(path: str) -> str:
    try:
        return typed_path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise Invalid(f"{path} is no UTF-8 text: save it as UTF-8.") from None


def _apply(studio: Studio, options: argparse.Namespace) -> int:
    run = _named(studio, options)
    applied = studio.reviews.apply(run.uuid, picks_of(options, studio, run.uuid))
    shown = {
        "applied": list(applied.applied),
        "skipped": [{"id": each.id, "field": each.field, "reason": each.reason} for each in applied.skipped],
        "conflicts": [f"{item}:{field}" for item, field in applied.conflicts],
    }
    if options.json:
        print_json(shown)
    else:
        print_text(
            f"Applied {len(applied.applied)}, skipped {len(applied.skipped)}, "
            f"{len(applied.conflicts)} conflicts left as they are. `/undo` takes it back."
        )
        for each in applied.skipped:
            print_text(f"  skipped {each.id}: {each.reason}")
    return 0


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "start": _start,
    "work": _work,
    "attach": _attach,
    "send": _send,
    "command": _command,
    "resume": _resume,
    "pause": _pause,
    "stop": _stop,
    "finish": _finish,
    "list": _list,
    "show": _show,
    "transcript": _transcript,
    "queue": _queue,
    "approve": _decide("approve"),
    "deny": _decide("deny"),
    "review": _review,
    "apply": _apply,
    **seen.VERBS,
}
