"""Going in circles: the same calls with the same results, again and again.

A round is known by its calls and their results, so that a result that changes is progress, and so is another
argument. Cycles of several rounds are seen too, since the latest is counted among the last few.
"""

from collections.abc import Sequence
from hashlib import blake2b

from marginalia_tui.agent.transcript import Entry

WINDOW = 15
"""Rounds that are looked back on."""
TOO_OFTEN = 5
"""Equal rounds among them that are circles."""
REASON = (
    f"It goes in circles: it made the same calls with the same results {TOO_OFTEN} times. "
    "Look at the transcript, then tell it what to do when you resume."
)


def _rounds(rows: Sequence[Entry]) -> list[bytes]:
    """The fingerprints of the rounds since the author last spoke, newest first; those without a call are left out."""
    found: list[bytes] = []
    results: list[str] = []
    for entry in reversed(rows):
        message = entry.message
        if message.role == "tool":
            results.append(message.text)
        elif message.role == "assistant":
            if message.calls:
                said = [f"{call.name}\0{call.arguments}" for call in message.calls]
                found.append(blake2b("\0\0".join([*said, *reversed(results)]).encode()).digest())
            results = []
        elif entry.notice in (None, "resume"):
            break
        if len(found) == WINDOW:
            break
    return found


def goes_in_circles(rows: Sequence[Entry]) -> bool:
    """Whether the latest round is one of several equal ones."""
    rounds = _rounds(rows)
    return bool(rounds) and rounds.count(rounds[0]) >= TOO_OFTEN
