"""Answers that came to nothing: a call that the server could not read, text that broke off.

Each is told to the model by a notice of its own kind, and it is asked again, three times in a row at most: then the
run pauses and says why. How often it was, is counted in the rows of the transcript.
"""

from collections.abc import Sequence
from typing import Final

from marginalia_tui.agent.repeats import speaks_for_author
from marginalia_tui.agent.transcript import CUT, Entry

UNREADABLE: Final = "unreadable-answer"
"""The notice after a call that the server refused to pass on; also the name of its text."""
CUT_ANSWER: Final = "cut-answer"
"""The notice after text that broke off; also the name of its text."""
MOST = 3
"""Of these notices in a row."""

UNREADABLE_REASON = (
    f"The server could not read the call that the model wrote, {MOST + 1} times in a row. "
    "Resume to try again, have it change less at a time, or give the agent another model. ({fault})"
)
CUT_REASON = (
    f"The answer of the model broke off {MOST + 1} times in a row. "
    "Look at its server and at the longest answer that it allows, then resume."
)


def told_often(rows: Sequence[Entry], kind: str) -> bool:
    """Whether the model was told so as often as it may be, since an answer came whole or the author spoke."""
    count = 0
    for entry in reversed(rows):
        if entry.notice == kind:
            count += 1
        elif _ends_the_row(entry):
            break
    return count >= MOST


def _ends_the_row(entry: Entry) -> bool:
    whole = entry.message.role == "assistant" and not broke_off(entry)
    return whole or entry.message.role == "tool" or speaks_for_author(entry)


def broke_off(answer: Entry) -> bool:
    """Whether an answer is text that broke off, without a call."""
    return answer.notice == CUT and not answer.message.calls


def cut_too_often(rows: Sequence[Entry]) -> bool:
    """Whether answers broke off again and again, each before a call of it was made."""
    count = 0
    made = False
    for entry in reversed(rows):
        message = entry.message
        if message.role == "tool":
            made = made or message.ok
        elif message.role == "assistant":
            if entry.notice != CUT or made:
                break
            count += 1
        elif entry.notice == CUT_ANSWER or speaks_for_author(entry):
            break
    return count > MOST
