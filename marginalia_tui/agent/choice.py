"""Whether the next answer must, may or may not hold a call, and what is done where a server can't be told so.

A server that refuses the wish is asked again without it, and the model is told in words: by a notice, whose row also
says from then on that the server can't be told.
"""

from collections.abc import Sequence

from marginalia_tui.agent.repeats import wants_words
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import ModelDefinition, ToolChoice
from marginalia_tui.llm.errors import ModelFault, refuses_choice


def notice_of(choice: ToolChoice) -> str:
    """The kind of the notice that a server can't be told; also the name of its text."""
    return f"choice-{choice}"


def choose(rows: Sequence[Entry], model: ModelDefinition) -> ToolChoice:
    """What the next request says about calls.

    Args:
        rows: the transcript as the model reads it.
        model: with its setting that each answer holds a call.
    """
    wanted: ToolChoice = "none" if wants_words(rows) else "required" if model.answers_with_call else "auto"
    if wanted != "auto" and any(entry.notice == notice_of(wanted) for entry in rows):
        return "auto"
    return wanted


def refused(error: Exception, choice: ToolChoice) -> bool:
    """Whether a server refused a request because of what it said about calls."""
    return choice != "auto" and isinstance(error, ModelFault) and refuses_choice(error)
