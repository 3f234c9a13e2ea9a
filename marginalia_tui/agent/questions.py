"""Questions of an agent to the author, and the answers that it proposes."""

from collections.abc import Mapping
from typing import Any

from marginalia_tui.agent import transcript
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.tools import ASK_USER
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.store.store import ReadTx

MOST = 9
"""Choices of one question: each has a key."""
LONGEST = 500
"""Characters of a choice."""
_LOOK_BACK = 40
"""Rows at the end of a transcript among which the question of a run that waits is found."""


def choices_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers that a call of ask_user proposes, perhaps none.

    Raises:
        Invalid: they are no list of a few texts; the sentence says what one looks like.
    """
    given = arguments.get("choices")
    if given is None:
        return ()
    shape = f'Pass choices as a list of at most {MOST} short texts, such as ["British", "American"], or leave it out.'
    if not isinstance(given, list) or len(given) > MOST or not all(isinstance(each, str) for each in given):
        raise Invalid(shape)
    return tuple(" ".join(each.split())[:LONGEST] for each in given if each.strip())


def open_choices(tx: ReadTx, run: Run) -> tuple[str, ...]:
    """The answers that are proposed to the author now; none when the run waits for nothing of the kind."""
    if run.status is not RunStatus.IDLE:
        return ()
    count = transcript.count(tx, run.uuid)
    end = transcript.last_round(transcript.entries(tx, run.uuid, max(0, count - _LOOK_BACK)))
    found = end.result_of(ASK_USER)
    if found is None or end.newer:
        return ()
    return choices_of(read_arguments(found[0].arguments) or {})
