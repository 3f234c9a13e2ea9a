"""What becomes of calls that were cut off by the author: results that say so.

Nothing of such a call happened, since its effect and its result are one transaction. It is not made later by itself:
the agent decides anew with what the author says. (A call that only the end of a process cut off has no result, and is
made when the run goes on.)
"""

from collections.abc import Iterable
from typing import Literal

from marginalia_tui.agent.transcript import INTERRUPTED, Entry, append
from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.resources import prompt
from marginalia_tui.store.store import WriteTx

Cut = Literal["forced-call", "paused-call", "stopped-call"]
"""What cut a call off; also the name of its text."""


def answer_cut(tx: WriteTx, run: str, calls: Iterable[Call], cut: Cut) -> list[Entry]:
    """Answers calls that have no result: a message was forced, the run was paused at once or stopped."""
    text = prompt(cut)
    return [
        append(tx, run, Message(role="tool", text=text, call_id=call.id, ok=False), notice=INTERRUPTED)
        for call in calls
    ]
