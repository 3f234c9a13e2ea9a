"""How far a run has come, read back from its transcript.

The proofreader keeps nothing in memory: what it knows is what its own calls and their results say. So a run that
was killed, paused or rewound goes on exactly, in any process.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.llm.offline import tools
from marginalia_tui.llm.offline.passages import kinds_of
from marginalia_tui.llm.offline.tools import PartRow
from marginalia_tui.resources import prompt

MOST_FAILURES = 3
"""A question that failed as often is not asked again."""


@dataclass(slots=True)
class Part:
    """A part as far as it is known. `text` is whole, own edits included, once `following` is None."""

    row: PartRow
    text: str = ""
    following: int | None = 0
    """The offset that reads on."""
    length: int = tools.CHARACTERS
    """Characters to ask for; less after an answer that could not be read."""
    failures: int = 0
    """Readings that failed one after another."""
    readings: int = 0
    """How often it was read whole."""
    doubtful: bool = False
    """An edit failed since it was last read."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Edits that failed since it was last read."""
    corrected: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    failed_edits: int = 0

    @property
    def is_read(self) -> bool:
        """Whether its whole text is known."""
        return self.following is None

    @property
    def is_lost(self) -> bool:
        """Whether it can't be read."""
        return self.failures >= MOST_FAILURES


@dataclass(slots=True)
class Progress:
    """What the transcript tells since the proofreader finished last (or since the beginning)."""

    parts: list[Part] = field(default_factory=list)
    following: int | None = 0
    """The offset that reads the list of parts on; None when it is whole."""
    rows: int = tools.ROWS
    list_failures: int = 0
    list_error: str = ""
    plan: list[tuple[str, str]] | None = None
    plan_failures: int = 0
    finish_failures: int = 0
    asked: bool = False
    """The author was asked whether to begin."""
    spoke: bool = False
    """It has said something already."""
    done: bool = False
    """It finished, and nobody wrote since."""
    single: bool = False
    """Only the first call of an answer is made."""
    wants_question: bool = False
    """The run is a conversation: it asks before it begins."""
    answer: str = ""
    """What the author answered to the question."""
    unanswered: list[str] = field(default_factory=list)
    """What the author wrote since the last answer."""
    by_handle: dict[str, Part] = field(default_factory=dict)


def read_progress(system: str, messages: Sequence[Message]) -> Progress:
    """Reads a transcript.

    Args:
        system: the system message; it says whether one call in an answer is all.
        messages: the transcript.
    """
    results = {message.call_id: message for message in messages if message.role == "tool"}
    progress = Progress()
    single = prompt("one-call") in system
    for message in messages:
        if message.role == "user":
            if progress.done:
                progress = Progress()
            _hear(progress, message)
        elif message.role == "assistant":
            progress.spoke = True
            progress.unanswered.clear()
            for call, result in _answered(message.calls, results):
                _learn(progress, call, result)
    progress.single = progress.single or single
    return progress


def _answered(calls: Iterable[Call], results: dict[str | None, Message]) -> Iterable[tuple[Call, Message]]:
    """The calls that were made; behind one that failed none was."""
    for call in calls:
        result = results.get(call.id)
        if result is None:
            continue
        yield call, result
        if _failed(result):
            return


def _failed(result: Message) -> bool:
    return not result.ok or tools.is_error(result.text)


def _hear(progress: Progress, message: Message) -> None:
    """What is said to it: by the author, or by the studio, whose words have a kind."""
    text = message.text
    if message.notice == "start-console":
        progress.wants_question = True
    elif message.notice in (None, "resume"):
        if progress.asked and not progress.answer:
            progress.answer = text.strip()
        elif progress.spoke:
            progress.unanswered.append(text)


def _learn(progress: Progress, call: Call, result: Message) -> None:
    arguments = tools.read_arguments(call.arguments)
    match call.name:
        case tools.LIST_PARTS:
            _learn_rows(progress, tools.number(arguments.get("offset"), 0), result)
        case tools.GET_PART:
            if part := progress.by_handle.get(str(arguments.get("part"))):
                _learn_text(part, tools.number(arguments.get("offset"), 0), result)
        case tools.EDIT_PART:
            if part := progress.by_handle.get(str(arguments.get("part"))):
                _learn_edit(part, str(arguments.get("old", "")), str(arguments.get("new", "")), result)
        case tools.UPDATE_PLAN if _failed(result):
            progress.plan_failures += 1
        case tools.UPDATE_PLAN:
            progress.plan = tools.read_steps(arguments)
        case tools.FINISH if _failed(result):
            progress.finish_failures += 1
        case tools.FINISH:
            progress.done = True
        case tools.ASK_USER:
            progress.asked = True
        case _:
            pass


def _learn_rows(progress: Progress, offset: int, result: Message) -> None:
    page = None if _failed(result) else tools.read_parts(result.text, offset)
    if page is None:
        progress.list_failures += 1
        progress.list_error = result.text.strip() if _failed(result) else ""
        progress.rows = max(progress.rows // 4, 5)
        return
    progress.list_failures = 0
    progress.following = page.following
    for row in page.rows:
        if row.handle not in progress.by_handle:
            part = Part(row)
            progress.parts.append(part)
            progress.by_handle[row.handle] = part


def _learn_text(part: Part, offset: int, result: Message) -> None:
    piece = None if _failed(result) else tools.read_slice(result.text, offset)
    if piece is None or (offset and offset != len(part.text)):
        part.failures += 1
        part.length = max(part.length // 4, 500)
        return
    part.failures = 0
    part.text = part.text[:offset] + piece.text
    part.following = piece.following
    if offset == 0:
        part.doubtful = False
        part.refused.clear()
    if part.is_read:
        part.readings += 1


def _learn_edit(part: Part, old: str, new: str, result: Message) -> None:
    if _failed(result) or part.text.count(old) != 1:
        part.doubtful = True
        part.failed_edits += 1
        part.refused.add((old, new))
        return
    part.text = part.text.replace(old, new)
    part.edits += 1
    part.corrected.update(kinds_of(old, new))
    part.doubtful = not tools.edit_went_well(result.text, new)
