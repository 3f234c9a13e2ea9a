"""What holds of every run whatever was done to it: its rows, its calls, its messages, its owner, its work.

Each check reads the store alone, so it holds for runs that other threads and processes worked. Texts of the model and
of the author carry a token of their own each, such as `{e7}`, so that one that is lost or repeated shows.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from marginalia_tui.agent import inbox, runs, transcript
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.transcript import AUTHOR_COMMAND, Entry
from marginalia_tui.domain.chat import Request
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.llm.openai_chat import wire_messages
from marginalia_tui.store import lease
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store, WriteTx
from tests.support.runs import part_texts

TOKEN = re.compile(r"\{[a-z][0-9-]+\}")


@dataclass
class Ledger:
    """What the author said to runs, by its token, and what they took back or ended together with its run."""

    messages: dict[str, str] = field(default_factory=dict)
    """Token -> the uuid of its run, of messages that the studio accepted."""
    commands: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Tokens of what was taken back, or dropped by a stop."""

    def add(self, other: "Ledger") -> None:
        """Takes in what another thread or process noted."""
        self.messages |= other.messages
        self.commands |= other.commands
        self.gone |= other.gone


@contextmanager
def drops_noted(ledger: Ledger) -> Iterator[None]:
    """Has the ledger see what a stop drops out of a queue."""
    drop = inbox.drop

    def dropping(tx: WriteTx, run: str) -> None:
        tokens = {token for item in inbox.queued(tx, run) for token in TOKEN.findall(item.text)}
        drop(tx, run)
        tx.if_kept(lambda: ledger.gone.update(tokens))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox, "drop", dropping)
        yield


def refusal(messages: Sequence[dict[str, Any]]) -> str:
    """Why a strict server refuses the messages of a request; empty when it takes them."""
    said = [message for message in messages if message["role"] != "system"]
    if not said or said[0]["role"] != "user":
        return "the conversation does not begin with the author"
    seen: set[str] = set()
    waiting: list[str] = []
    last = ""
    for at, message in enumerate(said):
        role, calls = message["role"], message.get("tool_calls", [])
        if role == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                return f"the result at {at} has no call before it"
        elif waiting:
            return f"a call before {at} has no result"
        elif role == last:
            return f"two of {role} follow each other at {at}"
        if not (message["content"] or "").strip() and not calls:
            return f"the message at {at} is empty"
        for call in calls:
            if call["id"] in seen or not isinstance(json.loads(call["function"]["arguments"]), dict):
                return f"the call at {at} has an id twice, or arguments that are no object"
            seen.add(call["id"])
            waiting.append(call["id"])
        last = role
    return "a call has no result" if waiting else ""


def check_owners(store: Store) -> None:
    """A run that is active, and does not wait for the author, is held by somebody: asked while nobody can write."""
    with store.write(Act(actor="studio", label="look")) as tx:
        for run in runs.list_runs(tx, limit=10_000):
            if run.status.active and run.status is not RunStatus.WAITING_APPROVAL:
                assert not lease.is_free(store, run.uuid, run.epoch), f"{run.status.value} without an owner"


def check_runs(store: Store, ledger: Ledger, *, resting: bool = False) -> Counter[str]:
    """Holds every run of a home against what must be true of it.

    Args:
        store: of the home.
        ledger: what was said to the runs.
        resting: nobody works any more: a run that is done has all its results.

    Returns:
        How many runs, rows, calls, edits and messages were looked at.
    """
    seen: Counter[str] = Counter()
    with store.read() as tx:
        found = runs.list_runs(tx, limit=10_000)
        rows = {run.uuid: transcript.entries(tx, run.uuid) for run in found}
        read = {run.uuid: transcript.read_by_model(tx, run.uuid) for run in found}
        queues = {run.uuid: [item.text for item in inbox.queued(tx, run.uuid)] for run in found}
        # In the same look: a worker may write between this and the next one.
        texts = {run.uuid: _texts(store, run) for run in found} if resting else {}
    for run in found:
        mine = rows[run.uuid]
        seen["runs"] += 1
        seen["rows"] += len(mine)
        assert run.status is not RunStatus.FAILED, f"the studio has a fault: {run}"
        assert [row.ordinal for row in mine] == list(range(len(mine))), f"rows with gaps: {run}"
        seen["calls"] += _check_calls(run, mine)
        why = refusal(wire_messages(Request(system="You edit.", messages=tuple(row.message for row in read[run.uuid]))))
        assert not why, (why, run)
        if texts.get(run.uuid):
            seen["edits"] += _check_edits(mine, texts[run.uuid])
    seen["messages"] = _check_said(ledger.messages, ledger.gone, rows, queues, None)
    seen["commands"] = _check_said(ledger.commands, ledger.gone, rows, queues, AUTHOR_COMMAND)
    seen["taken back or dropped"] = len(ledger.gone)
    return seen


def _texts(store: Store, run: Run) -> list[str]:
    return part_texts(store, run.book, run.space) if run.space is not None else []


def _check_calls(run: Run, rows: Sequence[Entry]) -> int:
    """Each call has one result, after it; those of the last answer alone may still be made."""
    asked: list[str] = []
    results: set[str] = set()
    for row in rows:
        message = row.message
        if message.role == "assistant":
            assert not set(asked) - results, ("calls were passed over", run)
            asked += [call.id for call in message.calls]
        elif message.role == "tool":
            assert message.call_id in asked, ("a result without a call", run, message)
            assert message.call_id not in results, ("two results", run, message)
            results.add(message.call_id)
    assert len(asked) == len(set(asked)), ("an id twice", run)
    by_agent = run.status is RunStatus.DONE and run.reason.startswith("All")
    assert not by_agent or set(asked) == results, ("done with open calls", run)
    return len(asked)


def _check_edits(rows: Sequence[Entry], texts: Sequence[str]) -> int:
    """What a call or a command wrote is there once when it went well, and else not at all; the last replacement holds.

    The first part is replaced as a whole, the others are appended to.
    """
    text = Counter(TOKEN.findall("\n".join(texts)))
    ok = {row.message.call_id: row.message.ok for row in rows if row.message.role == "tool"}
    replaced = ""
    wanted: Counter[str] = Counter()
    for call in (call for row in rows for call in row.message.calls):
        written = str((read_arguments(call.arguments) or {}).get("text", ""))
        if not ok.get(call.id):
            continue
        if call.name == "append-to-part":
            wanted.update(TOKEN.findall(written))
        elif call.name == "replace-part-text":
            replaced = written
    for row in rows:
        if row.notice == AUTHOR_COMMAND and row.message.ok and "/append-to-part" in row.message.text:
            wanted.update(TOKEN.findall(row.message.text)[:1])
    if replaced:
        assert texts[0] == replaced, (texts[0], replaced)
        wanted.update(TOKEN.findall(replaced))
    assert text == wanted, (text - wanted, wanted - text)
    return wanted.total()


def _check_said(
    said: dict[str, str],
    gone: Collection[str],
    rows: dict[str, list[Entry]],
    queues: dict[str, list[str]],
    notice: str | None,
) -> int:
    """Everything that was said is in the transcript once, or waits, or was taken back: one of the three."""
    heard: Counter[tuple[str, str]] = Counter()
    for run, mine in rows.items():
        for row in mine:
            if row.message.role == "user" and row.notice == notice:
                heard.update((run, token) for token in set(TOKEN.findall(row.message.text)))
    waiting = {run: " ".join(items) for run, items in queues.items()}
    for token, run in said.items():
        places = heard[run, token] + waiting[run].count(token) + (token in gone)
        assert places == 1, (token, run, heard[run, token], token in waiting[run], token in gone)
    return len(said)
