"""How full the context of a run is, and telling its model before the request that is counted."""

from collections.abc import Sequence
from dataclasses import dataclass

from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import ModelDefinition, Request
from marginalia_tui.llm.models import Models
from marginalia_tui.resources import prompt

WARN_PERCENT = 75
"""Of the context: the model is told."""
URGENT_PERCENT = 90
"""Of the context: it is told to make room now."""
LEAST_SHARE = 8
"""A conversation that is less than an eighth of the context is not what fills it: a summary gains nothing."""

WARNING = "context-warning"
"""The notice at 75 percent; also the name of its text."""
URGENT = "context-urgent"
"""The notice at 90 percent; also the name of its text."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Tokens of the next request: `total` of `cap` that fit (0: not known), `spoken` of them in the conversation."""

    cap: int
    total: int = 0
    spoken: int = 0

    def reaches(self, percent: int) -> bool:
        """Whether so much of the context is filled."""
        return bool(self.cap) and self.total * 100 >= self.cap * percent

    @property
    def is_full(self) -> bool:
        """Whether the request can't be sent."""
        return self.reaches(100)

    @property
    def by_talk(self) -> bool:
        """Whether the conversation has a share in it, and not instructions and tools alone."""
        return self.spoken * LEAST_SHARE >= self.cap


def measure(models: Models, model: ModelDefinition, request: Request, cap: int) -> Fill:
    """Counts a request. What is counted again of a conversation that grows is what is new in it."""
    spoken = models.count(model, Request(system="", messages=request.messages)) if cap else 0
    return Fill(cap, models.count(model, request), spoken)


def warning(rows: Sequence[Entry], fill: Fill) -> tuple[str, str] | None:
    """The kind and the text of the notice that the model is to read next; None when there is none to give.

    Args:
        rows: what the model reads so far.
        fill: what the next request fills.
    """
    if not fill.reaches(WARN_PERCENT) or not fill.by_talk or _told(rows):
        return None
    kind = URGENT if fill.reaches(URGENT_PERCENT) else WARNING
    return kind, prompt(kind).format(percent=fill.total * 100 // fill.cap, tokens=fill.total, cap=fill.cap)


def _told(rows: Sequence[Entry]) -> bool:
    """Whether the model was told since its last answer, or there is nothing that it could give up yet."""
    for row in reversed(rows):
        if row.notice in (WARNING, URGENT):
            return True
        if row.message.role == "assistant":
            return False
    return True
