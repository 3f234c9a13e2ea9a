"""Telling the model how full its context is, before the request that is counted."""

from collections.abc import Sequence

from marginalia_tui.agent.transcript import Entry
from marginalia_tui.resources import prompt

WARN_PERCENT = 75
"""Of the context: the model is told."""
URGENT_PERCENT = 90
"""Of the context: it is told to make room now."""

WARNING = "context-warning"
"""The notice at 75 percent; also the name of its text."""
URGENT = "context-urgent"
"""The notice at 90 percent; also the name of its text."""


def warning(rows: Sequence[Entry], cap: int, estimate: int) -> tuple[str, str] | None:
    """The kind and the text of the notice that the model is to read next; None when there is none to give.

    Args:
        rows: what the model reads so far.
        cap: tokens that fit; 0 is not known.
        estimate: tokens of the next request.
    """
    if not cap or estimate * 100 < cap * WARN_PERCENT or _told(rows):
        return None
    percent = estimate * 100 // cap
    kind = URGENT if percent >= URGENT_PERCENT else WARNING
    return kind, prompt(kind).format(percent=percent, tokens=estimate, cap=cap)


def _told(rows: Sequence[Entry]) -> bool:
    """Whether the model was told since its last answer, or there is nothing that it could give up yet."""
    for row in reversed(rows):
        if row.notice in (WARNING, URGENT):
            return True
        if row.message.role == "assistant":
            return False
    return True
