"""The policy of the proofreader: what it says and which calls it makes next, given the transcript.

It reads the list of parts, then the parts a few at a time, corrects each by the habits of the book as far as it has
read, and when all is read once more by those of the whole book; then it reports. `reply` is a pure function.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from marginalia_tui.domain.chat import Call, Request
from marginalia_tui.llm.offline import report, tools
from marginalia_tui.llm.offline.english import words_of
from marginalia_tui.llm.offline.habits import Habits, Style, add_habits, habits_of
from marginalia_tui.llm.offline.passages import Passage, passages
from marginalia_tui.llm.offline.progress import Part, Progress, read_progress
from marginalia_tui.llm.offline.rules import Correction, corrections

MOST_CALLS = 8
"""Calls in one answer, that of the plan included."""
READ_AHEAD = 3
"""Parts that are read in one answer. The grouping is fixed, so that a second run decides as the first one did."""
MOST_READINGS = 2
"""A part is read a second time when an edit failed, and never a third time."""
MOST_EDITS = 40
CHARACTERS_FOR_AN_EDIT = 60
"""A part gets so many edits, and one more for so many of its characters; it is left as it is by then."""
MOST_FAILED_EDITS = 5
PLAN_STEPS = 10
"""Steps of the plan that stand for parts."""

_NO = ("no", "nein", "non", "stop", "don't", "not", "nothing")


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: what it says, and the calls that follow."""

    text: str
    calls: tuple[Call, ...] = ()


Wanted = tuple[str, tools.Arguments]
"""A call that is to be made: the tool and its arguments."""


def reply(request: Request) -> Reply:
    """The next answer of the proofreader to a transcript; the same one for the same request."""
    progress = read_progress(request.system, request.messages)
    words, wanted = _decide(request, progress)
    head = [] if progress.spoke else [report.GREETING]
    if progress.unanswered:
        head.append(report.ACKNOWLEDGEMENT)
    if request.tool_choice == "none":
        wanted = ()
    elif progress.single:
        wanted = wanted[:1]
    mark = _digest(request)
    calls = tuple(
        Call(f"offline-{mark}-{index}", name, json.dumps(arguments, ensure_ascii=False))
        for index, (name, arguments) in enumerate(wanted)
    )
    return Reply("\n\n".join((*head, words)), calls)


def _decide(request: Request, progress: Progress) -> tuple[str, Sequence[Wanted]]:
    """What to say, and the calls in order."""
    offered = {tool.name for tool in request.tools}
    if progress.done:
        return report.IS_FINISHED, ()
    if progress.wants_question and tools.ASK_USER in offered and not progress.answer:
        if progress.asked:
            return report.WAITS, ()
        return report.INTRODUCTION, [(tools.ASK_USER, {"question": report.QUESTION})]
    if words_of(progress.answer)[:1] and words_of(progress.answer)[0] in _NO:
        return _finish(progress, offered, report.DECLINED, report.DECLINED)
    missing = [name for name in (tools.LIST_PARTS, tools.GET_PART) if name not in offered]
    if missing:
        told = report.lacks_tools(missing)
        return _finish(progress, offered, told, told)
    if progress.following is not None:
        return _read_list(progress, offered)
    return _work(progress, offered)


def _read_list(progress: Progress, offered: set[str]) -> tuple[str, Sequence[Wanted]]:
    assert progress.following is not None
    if progress.list_failures >= 3:
        told = report.list_unreadable(progress.list_error)
        return _finish(progress, offered, told, told)
    words = report.READS_LIST if progress.following == 0 else report.READS_LIST_ON
    return words, [(tools.LIST_PARTS, tools.list_parts(progress.following, progress.rows))]


def _work(progress: Progress, offered: set[str]) -> tuple[str, Sequence[Wanted]]:
    """The first part that needs something: to be read, to be read again, to be corrected; the report after the last."""
    parts = progress.parts
    all_read = all(part.is_read or part.is_lost for part in parts)
    total = add_habits(habits_of(part.text) for part in parts).style() if all_read else None
    so_far = Habits()
    for index, part in enumerate(parts):
        if part.is_lost:
            continue
        if not part.is_read:
            return _read_group(progress, offered, index)
        if part.doubtful and part.readings < MOST_READINGS:
            words, wanted = (
                report.reads_again(part),
                [(tools.GET_PART, tools.get_part(part.row.handle, 0, part.length))],
            )
            return words, [*_plan(progress, offered, index), *wanted]
        if total is None:
            so_far = add_habits((so_far, habits_of(part.text)))
        style = total or so_far.style()
        if tools.EDIT_PART in offered and (edits := _edits(part, style)):
            plan = _plan(progress, offered, index)
            edits = edits[: MOST_CALLS - len(plan)]
            calls = [(tools.EDIT_PART, tools.edit_part(part.row.handle, edit.old, edit.new)) for edit in edits]
            return report.corrects(part, edits), [*plan, *calls]
    style = total or Style()
    told = report.whole(parts, style, can_edit=tools.EDIT_PART in offered)
    return _finish(progress, offered, report.CLOSING, told)


def _read_group(progress: Progress, offered: set[str], index: int) -> tuple[str, Sequence[Wanted]]:
    first = index - index % READ_AHEAD
    group = [part for part in progress.parts[first : first + READ_AHEAD] if not (part.is_read or part.is_lost)]
    calls: list[Wanted] = [
        (tools.GET_PART, tools.get_part(part.row.handle, part.following or 0, part.length)) for part in group
    ]
    return report.reads(group), [*_plan(progress, offered, index), *calls]


def _edits(part: Part, style: Style) -> list[Passage]:
    """The edits that a part needs now; those that failed since it was read are left to a person."""
    if part.edits >= MOST_EDITS + len(part.text) // CHARACTERS_FOR_AN_EDIT or part.failed_edits >= MOST_FAILED_EDITS:
        return []
    found: Sequence[Correction] = corrections(part.text, style)
    while True:
        edits = passages(part.text, found, MOST_CALLS)
        refused = {each for edit in edits if (edit.old, edit.new) in part.refused for each in edit.corrections}
        if not refused:
            return edits
        found = [each for each in found if each not in refused]


def _plan(progress: Progress, offered: set[str], index: int) -> list[Wanted]:
    """The call that brings the plan up to date; none when it is.

    Args:
        progress: how far the run is.
        offered: the names of the tools.
        index: the part that is worked on; the number of parts when only the report is left; more when all is done.
    """
    if tools.UPDATE_PLAN not in offered or progress.plan_failures:
        return []
    count = len(progress.parts)
    size = max(1, -(-count // PLAN_STEPS))
    steps = [(report.STEP_LIST, "done")]
    for first in range(0, count, size):
        last = min(first + size, count) - 1
        status = "done" if index > last else "in_progress" if index >= first else "pending"
        steps.append((report.step(progress.parts[first], progress.parts[last]), status))
    steps.append((report.STEP_REPORT, "done" if index > count else "in_progress" if index == count else "pending"))
    if progress.plan == steps:
        return []
    return [(tools.UPDATE_PLAN, tools.update_plan(steps))]


def _finish(progress: Progress, offered: set[str], words: str, told: str) -> tuple[str, Sequence[Wanted]]:
    """Ends the run with a report; in words alone where there is no tool for it."""
    if tools.FINISH not in offered or progress.finish_failures >= 2:
        return told, ()
    plan = _plan(progress, offered, len(progress.parts) + 1) if progress.parts else []
    return words, [*plan, (tools.FINISH, {"report": told})]


def _digest(request: Request) -> str:
    """A short mark of a request, so that equal requests give calls of equal names and others do not."""
    digest = blake2b(request.system.encode("utf-8", "surrogatepass"), digest_size=6)
    for message in request.messages:
        digest.update(message.text.encode("utf-8", "surrogatepass"))
        for call in message.calls:
            digest.update(call.arguments.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
