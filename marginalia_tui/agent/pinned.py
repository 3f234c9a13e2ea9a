"""What goes along with a summary word for word: what the author said, why a call was not allowed, the plan.

A summary is written by a model and loses what it takes for small. Orders, rules and reasons of the author are
therefore taken from the rows themselves, each time anew and not from the summary before, so that they do not fade
over several summaries. They are bounded: the first and the newest stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import select

from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.shrinking import shorten_text
from marginalia_tui.agent.transcript import MAIN, Entry
from marginalia_tui.domain.items import Plan
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.resources import prompt
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx

LONGEST = 4_000
"""Characters of one message."""
MOST = 24_000
"""Characters of all of them, in a large context."""
QUESTION = 300
"""Characters of what a message answers."""
_BY_AUTHOR = (None, "resume")
"""The kinds of rows that the author wrote."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the author. `before` says what it answers or belongs to; empty: it stands for itself."""

    text: str
    before: str = ""


def room_for(cap: int) -> int:
    """Characters that the author's messages may have: about a tenth of the context."""
    return min(MOST, max(2_000, cap * 4 // 10)) if cap else MOST


def pinned(tx: ReadTx, run: Run, rows: Sequence[Entry], cap: int) -> str:
    """What is put behind the summary of a run.

    Args:
        tx: a transaction.
        run: the run.
        rows: what the model reads so far.
        cap: the tokens that fit; 0 is not known.
    """
    sections = []
    if told := said_text(_said(tx, run.uuid), room_for(cap)):
        sections.append(prompt("pinned").format(said=told))
        if waiting := unanswered(rows):
            sections.append(prompt("pinned-open").format(count=waiting))
    if steps := shorten_text(_plan(tx, run), room_for(cap)):
        sections.append(prompt("pinned-plan").format(steps=steps))
    return "\n\n".join(sections)


def said_text(said: Sequence[Said], room: int) -> str:
    """Messages as a text of about `room` characters: the first, then as many of the newest as fit, in their order."""
    pieces = [f"{each.before}\n{shorten_text(each.text, LONGEST)}".strip() for each in said]
    if not pieces:
        return ""
    left = room - len(pieces[0])
    start = len(pieces)
    while start > 1 and (len(pieces[start - 1]) <= left or start == len(pieces)):
        start -= 1
        left -= len(pieces[start])
    shown = [pieces[0]]
    if start > 1:
        shown.append(prompt("pinned-left-out").format(count=start - 1))
    return "\n\n".join(f"- {each}" for each in [*shown, *pieces[start:]])


def unanswered(rows: Sequence[Entry]) -> int:
    """How many messages of the author came after the last answer of the model."""
    count = 0
    for row in reversed(rows):
        if row.message.role == "assistant" or row.summary:
            break
        count += row.message.role == "user" and row.notice in _BY_AUTHOR
    return count


def _said(tx: ReadTx, run: str) -> list[Said]:
    """What the author said in a run, oldest first; what they said twice stands where it was said last."""
    message, approval = tables.message.c, tables.approval.c
    rows = tx.connection.execute(
        select(message.ordinal, message.text, message.notice, message.created)
        .where(message.run == run, message.thread == MAIN, message.role == "user", message.summary == 0)
        .where(message.notice.is_(None) | message.notice.in_([kind for kind in _BY_AUTHOR if kind]))
        .order_by(message.ordinal)
    ).all()
    found = [(row.created, _text(row.text, row.notice), _answered(tx, run, row.ordinal)) for row in rows]
    denied = tx.connection.execute(
        select(approval.command, approval.why, approval.created)
        .where(approval.run == run, approval.decision == "deny", approval.why != "")
        .order_by(approval.id)
    )
    found += [(row.created, row.why, prompt("pinned-denial").format(command=row.command)) for row in denied]
    latest: dict[tuple[str, str], Said] = {}
    for _, text, before in sorted(found, key=lambda each: each[0]):
        latest.pop((text, before), None)
        latest[text, before] = Said(text, before)
    return list(latest.values())


def _text(text: str, notice: str | None) -> str:
    """The author's own words of a row."""
    head = prompt("resume-note").partition("{note}")[0]
    return text.removeprefix(head) if notice == "resume" else text


def _answered(tx: ReadTx, run: str, ordinal: int) -> str:
    """What the model had said right before a message of the author, when that was a question or ended its turn."""
    message = tables.message.c
    row = tx.connection.execute(
        select(message.text, message.calls)
        .where(message.run == run, message.thread == MAIN, message.role == "assistant", message.ordinal < ordinal)
        .order_by(message.ordinal.desc())
        .limit(1)
    ).first()
    if row is None:
        return ""
    calls = orjson.loads(row.calls)
    asked = [call["arguments"] for call in calls if call["name"] == "ask_user"]
    words = _question(asked[-1]) if asked else "" if calls else row.text
    return prompt("pinned-answer").format(question=shorten_text(words.strip(), QUESTION)) if words.strip() else ""


def _question(arguments: str) -> str:
    value = read_arguments(arguments) or {}
    return str(value.get("question", ""))


def _plan(tx: ReadTx, run: Run) -> str:
    found = tx.space(run.copy).find(Plan, run.uuid)
    steps = orjson.loads(found.steps) if found else []
    return "\n".join(f"- {each['status']}: {each['step']}" for each in steps)
