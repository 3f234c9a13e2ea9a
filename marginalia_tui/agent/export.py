"""A run as one Markdown document: what was said, each call, each result, in order.

Texts of models and of books can't change the form of the document: what is said stands as a quotation, what is
passed and answered in a fence that nothing in it can close, and control characters are shown as signs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.transcript import CUT, Entry
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx

_BACKTICKS = re.compile("`+")


def fenced(text: str, kind: str = "") -> str:
    """A text in a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    shown = visible(text)
    return f"{fence}{kind}\n{shown}{'' if shown.endswith(chr(10)) or not shown else chr(10)}{fence}"


def heading(level: int, words: str) -> str:
    """A heading of one line; level 0 is a line of text."""
    line = " ".join(visible_line(words).replace("\u2424", " ").split())
    return f"{'#' * level} {line}" if level else line


def quoted(text: str) -> str:
    """A text as a quotation, whatever Markdown is in it."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).split("\n"))


def title_of(tx: ReadTx, run: Run) -> str:
    """The agent and the book of a run, in words."""
    book = tx.space(LIBRARY).find(Book, run.book)
    return f"{run.agent_name} on {book.title}" if book else run.agent_name


@dataclass(frozen=True, slots=True)
class Facts:
    """What stands at the top of the document."""

    title: str
    status: str
    reason: str
    rounds: int
    tokens: int
    task: str = ""


def run_markdown(tx: ReadTx, run: Run) -> str:
    """A run as one document, in whatever state it is."""
    try:
        task = agents.get_agent(tx, run.agent).instructions
    except NotFound:
        task = ""
    tokens = run.usage.prompt + run.usage.completion
    facts = Facts(title_of(tx, run), run.status.value, run.reason, run.rounds, tokens, task)
    return transcript_markdown(facts, transcript.entries(tx, run.uuid))


def transcript_markdown(facts: Facts, rows: Sequence[Entry]) -> str:
    """The document.

    Args:
        facts: about the run.
        rows: of one thread, in order; compacted ones are told as such.
    """
    lines = [f"- status: {facts.status}" + (f", {heading(0, facts.reason)}" if facts.reason else "")]
    lines.append(f"- {facts.rounds:,} rounds, {facts.tokens:,} tokens")
    sections = [heading(1, facts.title), "\n".join(lines)]
    if facts.task.strip():
        sections += [heading(2, "Task"), quoted(facts.task.strip())]
    return "\n\n".join([*sections, *rows_markdown(rows)]) + "\n"


def rows_markdown(rows: Sequence[Entry]) -> list[str]:
    """The sections of the rows of one thread."""
    names = {call.id: call.name for row in rows for call in row.message.calls}
    return [row_markdown(row, names.get(row.message.call_id or "", "")) for row in rows]


def row_markdown(row: Entry, called: str = "") -> str:
    """One row.

    Args:
        row: the row.
        called: of a result: the name of its call.
    """
    message = row.message
    if message.role == "tool":
        state = "ok" if message.ok else "failed"
        kind = f", {row.notice}" if row.notice else ""
        words = f"Result of {called}" if called else "Result"
        return f"{heading(3, f'{words} ({state}{kind}, {row.seconds:.2f} s)')}\n\n{fenced(message.text)}"
    pieces = [heading(2, f"{_speaker(row)}, {_time(row.created)}")]
    if message.reasoning.strip():
        pieces += ["Thought:", fenced(message.reasoning)]
    if message.text.strip():
        pieces.append(quoted(message.text.strip("\n")))
    for call in message.calls:
        pieces += [heading(3, f"Call of {call.name}"), fenced(call.arguments, "json")]
    return "\n\n".join(pieces)


def _speaker(row: Entry) -> str:
    words = {"user": "Author" if row.notice is None else f"Studio ({row.notice})", "assistant": "Agent"}
    who = "Summary" if row.summary else words[row.message.role]
    if row.message.role == "assistant" and row.notice == CUT:
        who += " (cut off)"
    return f"{who} (compacted)" if row.compacted else who


def _time(created: int) -> str:
    return f"{datetime.fromtimestamp(created / 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
