"""The next request of a run, taken apart: what the model reads, part by part, with its tokens.

The parts come out of the request itself, which is made by the functions that the worker makes it with; what is
listed is therefore what is sent. Nothing is written, and the run may be in any state.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from marginalia_tui.agent import transcript
from marginalia_tui.agent.export import fenced, heading
from marginalia_tui.agent.prompt import build_request, context_cap, system_parts
from marginalia_tui.agent.runner import Runner
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import Message, ModelDefinition, Request, Tool
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.llm.tokens import count_frame, count_message, count_tokens
from marginalia_tui.store.store import ReadTx

PartKind = Literal["system prompt", "task", "note", "tool", "summary", "author", "answer", "result"]
KINDS: tuple[PartKind, ...] = ("system prompt", "task", "note", "tool", "summary", "author", "answer", "result")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a request. `note` is what the studio says: in the system message, or between the rounds."""

    kind: PartKind
    title: str
    text: str
    """Exactly what is sent; of a message with calls, each call follows as its name and its arguments."""
    tokens: int
    """Estimated, as the model of the run counts."""


@dataclass(frozen=True, slots=True)
class Point:
    """The context at one answer, in tokens."""

    round: int
    reported: int
    """By the server, after the answer; 0: it told nothing."""
    estimated: int
    """For the request, before it was sent; 0: not counted."""


@dataclass(frozen=True, slots=True)
class Described:
    """The next request of a run, and how the context came to be what it is."""

    request: Request
    parts: tuple[Part, ...]
    history: tuple[Point, ...]
    cap: int
    """Tokens that fit; 0 is not known."""
    problem: str = ""
    """Why a part of it is not as it will be; empty as a rule."""

    @property
    def tokens(self) -> int:
        """All parts together."""
        return sum(part.tokens for part in self.parts)

    @property
    def by_kind(self) -> tuple[tuple[PartKind, int], ...]:
        """The tokens of each kind that there is, in the order in which kinds come up in a request."""
        sums = ((kind, sum(part.tokens for part in self.parts if part.kind == kind)) for kind in KINDS)
        return tuple((kind, tokens) for kind, tokens in sums if tokens)


def describe(tx: ReadTx, run: Run, runner: Runner) -> Described:
    """Takes the next request of a run apart.

    Raises:
        NotFound: its agent is gone.
    """
    problem = ""
    try:
        setup = runner.setup(tx, run.agent)
    except NotFound as error:
        problem = error.message
        setup = runner.setup(tx, run.agent, model=ModelDefinition(name="none"))
    rows = transcript.read_by_model(tx, run.uuid)
    history = points(transcript.entries(tx, run.uuid))
    return take_apart(setup, rows, interactive=run.interactive, history=history, problem=problem)


def take_apart(
    setup: RunSetup, rows: Sequence[Entry], *, interactive: bool, history: Sequence[Point] = (), problem: str = ""
) -> Described:
    """The request that a worker would make of these rows now, in parts."""
    tools = setup.tools
    system = system_parts(setup.agent, setup.model, interactive=interactive, singles=sorted(tools.singles))
    request = build_request(system, rows, tools.tools, setup.model.max_output)
    as_model = setup.models.correction(setup.model).apply
    parts = [Part(_system_kind(each.name), each.name, each.text, as_model(count_tokens(each.text))) for each in system]
    parts += [Part("tool", tool.name, tool_text(tool), as_model(count_frame("", (tool,)))) for tool in request.tools]
    titles = _titles(rows)
    for row, title, message in zip(rows, titles, request.messages, strict=True):
        parts.append(Part(_kind(row), title, message_text(message), as_model(count_message(message))))
    return Described(request, tuple(parts), tuple(history), context_cap(setup.agent, setup.model), problem)


def points(rows: Sequence[Entry]) -> tuple[Point, ...]:
    """The context at each answer, compacted ones included: a compaction shows as a drop."""
    found: list[Point] = []
    for row in rows:
        if row.message.role == "assistant" and not row.summary:
            told = row.telemetry
            reported = told.context if told is not None and not told.counted_here else 0
            found.append(Point(len(found) + 1, reported, told.estimate if told is not None else 0))
    return tuple(found)


def tool_text(tool: Tool) -> str:
    """What a model reads of a tool, beside its name."""
    return f"{tool.description}\n\n{json.dumps(tool.parameters, ensure_ascii=False, indent=2)}"


def message_text(message: Message) -> str:
    """What a model reads of a message; reasoning only where it is sent back."""
    pieces = [message.reasoning] if message.reasoning and message.reasoning_field else []
    pieces += [message.text] if message.text else []
    pieces += [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n\n".join(pieces)


def _system_kind(name: str) -> PartKind:
    return "system prompt" if name == "system prompt" else "task" if name == "task" else "note"


def _kind(row: Entry) -> PartKind:
    if row.summary:
        return "summary"
    if row.message.role == "assistant":
        return "answer"
    if row.message.role == "tool":
        return "result"
    return "author" if row.notice is None else "note"


def _titles(rows: Sequence[Entry]) -> Iterator[str]:
    called: dict[str, str] = {}
    for row in rows:
        message = row.message
        called.update({call.id: call.name for call in message.calls})
        if message.role == "tool":
            words = called.get(message.call_id or "", "") or "of no call"
        elif message.role == "assistant":
            words = ", ".join(call.name for call in message.calls) or "words"
        else:
            words = "summary" if row.summary else row.notice or "message"
        yield f"{row.ordinal}: {words}"


def to_json(described: Described) -> dict[str, object]:
    """The description with the names of its values."""
    return {
        "tokens": described.tokens,
        "cap": described.cap or None,
        "problem": described.problem or None,
        "parts": [
            {"kind": part.kind, "title": part.title, "tokens": part.tokens, "text": part.text}
            for part in described.parts
        ],
        "history": [
            {"round": each.round, "reported": each.reported or None, "estimated": each.estimated or None}
            for each in described.history
        ],
    }


def to_markdown(described: Described, title: str) -> str:
    """The whole context as one document, each text in a fence that nothing in it can close."""
    cap = f" of {described.cap:,}" if described.cap else ""
    sums = ", ".join(f"{kind} {tokens:,}" for kind, tokens in described.by_kind)
    sections = [heading(1, title), f"About {described.tokens:,}{cap} tokens: {sums}."]
    if described.problem:
        sections.append(heading(0, described.problem))
    for part in described.parts:
        sections += [heading(2, f"{part.kind}: {part.title} ({part.tokens:,} tokens)"), fenced(part.text)]
    if described.history:
        lines = ["| answer | reported | estimated |", "|---|---|---|"]
        lines += [
            f"| {each.round:,} | {_number(each.reported)} | {_number(each.estimated)} |" for each in described.history
        ]
        sections += [heading(2, "Context at each answer"), "\n".join(lines)]
    return "\n\n".join(sections) + "\n"


def _number(tokens: int) -> str:
    return f"{tokens:,}" if tokens else ""
