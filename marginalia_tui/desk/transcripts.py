"""The transcript of a run for the widget that shows it: rows read on demand.

An answer of the model and the results of its calls are one entry. What an agent says by a call (its question, its
report) is said in the words of the entry, so that it is read where it belongs and not inside of a folded call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.questions import choices_of
from marginalia_tui.agent.runs import get_run
from marginalia_tui.agent.tools import ASK_USER, FINISH, UPDATE_PLAN
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.sentences import counted
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.entries import Entry, EntryCall, Speaker

_SAID = {ASK_USER: "question", FINISH: "report"}
"""Tool -> the argument that is said to the author."""
_ABOVE = "(said above)"
SUMMARISED = "summarised"
"""The word at a row that the model reads no more: a later summary stands for it."""


_AT_ONCE = 200
"""Entries that a search reads at once."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that has some words: an entry, or one of its calls."""

    row: int
    call: int | None


class RunSource:
    """Rows of one run.

    `update` is called on a thread; `count` and `rows` on the screen's, where a look at a few rows is quick.
    """

    def __init__(self, studio: Studio, run: str) -> None:
        self._studio = studio
        self._run = run
        self._starts: list[int] = []
        """The ordinals of the rows that are no results."""
        self._known = 0
        """Rows of the transcript that are known."""
        self._task: str | None = None
        self.rows_read = 0
        """How many rows of the transcript were read since the start: what a test counts instead of time."""

    def update(self) -> int | None:
        """Looks for new rows; the index of the first entry that changed, None when nothing did."""
        with self._studio.store.read() as tx:
            if self._task is None:
                try:
                    self._task = agents.get_agent(tx, get_run(tx, self._run).agent).instructions.strip()
                except NotFound:
                    self._task = ""
            rows = transcript.roles(tx, self._run, self._known)
        if not rows:
            return None
        first = max(0, len(self._starts) - 1) if rows[0][1] == "tool" else len(self._starts)
        if any(summary for _, _, summary in rows):
            first = 0  # what the summary stands for is marked
        self._starts.extend(ordinal for ordinal, role, _ in rows if role != "tool")
        self._known = rows[-1][0] + 1
        return first

    def find(self, words: str) -> list[Hit]:
        """The rows and calls that have some words, in whatever case; on a thread."""
        sought, found = words.casefold(), []
        for start in range(0, self.count(), _AT_ONCE):
            stop = min(self.count(), start + _AT_ONCE)
            for row, entry in enumerate(_entries(self._stored(start, stop), self._task or ""), start):
                if sought in entry.text.casefold():
                    found.append(Hit(row, None))
                for place, call in enumerate(entry.calls):
                    if any(sought in text.casefold() for text in (call.name, call.arguments, call.result)):
                        found.append(Hit(row, place))
        return found

    def has(self, ordinal: int) -> bool:
        """Whether a row of the transcript is known."""
        return ordinal < self._known

    def count(self) -> int:
        """Entries."""
        return len(self._starts)

    def rows(self, start: int, stop: int) -> Sequence[Entry]:
        """The entries of a range."""
        if start >= stop:
            return ()
        found = self._stored(start, stop)
        self.rows_read += len(found)
        return _entries(found, self._task or "")

    def _stored(self, start: int, stop: int) -> list[transcript.Entry]:
        begin = self._starts[start]
        end = self._starts[stop] if stop < len(self._starts) else self._known
        with self._studio.store.read() as tx:
            return transcript.entries(tx, self._run, begin, end)


def _entries(rows: Sequence[transcript.Entry], task: str) -> list[Entry]:
    results = {row.message.call_id: row for row in rows if row.message.role == "tool"}
    return [_entry(row, results, task) for row in rows if row.message.role != "tool"]


def _entry(row: transcript.Entry, results: Mapping[str | None, transcript.Entry], task: str) -> Entry:
    made = _unmarked(row, results, task)
    if not row.compacted:
        return made
    return replace(made, flag=" · ".join(filter(None, (made.flag, SUMMARISED))), faded=True)


def _unmarked(row: transcript.Entry, results: Mapping[str | None, transcript.Entry], task: str) -> Entry:
    message = row.message
    if row.summary:
        # Folded like a call: it is long, and what it stands for is above it.
        title = f"summary of {counted(row.ordinal, 'message')}"
        folded = EntryCall(title, "", message.text, True, row.seconds or None)
        return Entry(row.uuid, "notice", calls=(folded,), created=row.created)
    if message.role == "assistant":
        calls = tuple(_call(call.name, call.arguments, results.get(call.id)) for call in message.calls)
        flag = "cut off" if row.notice == "cut" else ""
        # What the last calls say is read in the words; their acknowledgement tells nobody anything.
        shown = len(calls)
        while shown and calls[shown - 1].ok and _said(calls[shown - 1]):
            shown -= 1
        return Entry(
            row.uuid, "agent", _words(message.text, calls), calls[:shown], message.reasoning, row.created, flag
        )
    if row.notice in ("start", "start-console") and task:
        # What stands there is said to the model; what the author asked for is the task.
        return Entry(row.uuid, "author", task, created=row.created)
    role: Speaker = "author" if row.notice is None else "notice"
    return Entry(row.uuid, role, message.text, created=row.created, flag=row.notice or "")


def _call(name: str, arguments: str, result: transcript.Entry | None) -> EntryCall:
    if result is None:
        made = EntryCall(name, arguments)
    else:
        made = EntryCall(name, arguments, result.message.text, result.message.ok, result.seconds or None)
    return replace(made, summary=_summary(made))


def _summary(call: EntryCall) -> str:
    """The call in a few words; empty leaves that to whoever shows it."""
    if _said(call):
        return _ABOVE
    if call.name != UPDATE_PLAN:
        return ""
    steps = (read_arguments(call.arguments) or {}).get("steps")
    if not isinstance(steps, list):
        return ""
    now = [each for each in steps if isinstance(each, dict) and each.get("status") == "in_progress"]
    count = f"{len(steps):,} step{'' if len(steps) == 1 else 's'}"
    return f"{count}, now: {now[0].get('step', '')}" if now else count


def _words(text: str, calls: Sequence[EntryCall]) -> str:
    """What was said, by the answer and by its calls; nothing twice."""
    for call in calls:
        if (said := _said(call)) and said not in text:
            text = f"{text.rstrip()}\n\n{said}".lstrip("\n")
    return text


def _said(call: EntryCall) -> str:
    """What a call says to the author; a refused one says nothing."""
    if call.name not in _SAID or call.ok is False:
        return ""
    arguments = read_arguments(call.arguments) or {}
    said = str(arguments.get(_SAID[call.name], "")).strip()
    if not said or call.name != ASK_USER:
        return said
    try:
        choices = choices_of(arguments)
    except Invalid:
        return said
    return "\n".join([said, *(f"  {number}  {each}" for number, each in enumerate(choices, start=1))])
