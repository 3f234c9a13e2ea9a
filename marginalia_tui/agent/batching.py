"""What an answer is cut to: how many of its calls are made, and what the agent is told when some are not.

Cut before the answer is stored, so that no result is owed for a call that is not made.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from marginalia_tui.agent.definition import Batch
from marginalia_tui.domain.chat import Call
from marginalia_tui.resources import prompt

MAX_CALLS = 32
"""Calls of one answer."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The calls that are made, and the notice for the agent when some are not (empty: all are made)."""

    calls: tuple[Call, ...]
    notice: str


def cut_calls(calls: Sequence[Call], mode: Batch, singles: Collection[str], readers: Collection[str]) -> Kept:
    """Cuts the calls of one answer.

    Args:
        calls: as the model wrote them.
        mode: of the agent.
        singles: the tools that are called alone.
        readers: the tools that change nothing: a repeated reading is made once.
    """
    written = len(calls)
    if mode == "single" and written > 1:
        return Kept(tuple(calls[:1]), prompt("one-call-notice").format(written=written))
    if mode == "batched":
        alone = next((place for place, call in enumerate(calls) if call.name in singles), None)
        if alone is not None and written > 1:
            kept = tuple(calls[:alone] or calls[:1])
            if len(kept) < written:
                text = prompt("single-call-notice")
                return Kept(kept, text.format(written=written, kept=len(kept), name=calls[alone].name))
    seen: set[tuple[str, str]] = set()
    kept_calls: list[Call] = []
    for call in calls:
        key = (call.name, call.arguments)
        if call.name in readers and key in seen:
            continue
        seen.add(key)
        kept_calls.append(call)
    kept_calls = kept_calls[:MAX_CALLS]
    if len(kept_calls) == written:
        return Kept(tuple(calls), "")
    text = prompt("many-calls-notice")
    return Kept(tuple(kept_calls), text.format(written=written, kept=len(kept_calls), limit=MAX_CALLS))
