"""Calls that wait for the author's word: their arguments with titles, and what the oldest of them would change."""

from dataclasses import dataclass, replace
from typing import Any

from marginalia_tui.agent import approvals
from marginalia_tui.agent.foresight import Foresight, argument_words, foresee
from marginalia_tui.agent.merge.report import inline
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.diff import Kind, Segment, word_diff
from marginalia_tui.domain.sentences import counted
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

LONGEST = 400
"""Characters of a change that is told in a line."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits: its command, and its arguments, items by their titles."""

    call: str
    command: str
    title: str
    """What the command does, in a few words."""
    arguments: tuple[tuple[str, str], ...]
    place: int
    """Its number among the calls of the last answer, from 0."""
    changes: tuple[str, ...] = ()
    """What it would change, a line for each item or field."""
    segments: tuple[Segment, ...] = ()
    """The same word by word, with a heading above each."""
    problem: str = ""
    """Why it can't be made as it is."""


class WaitingCalls:
    """Reads the calls of runs that wait, and remembers what the last one would change."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._known: tuple[tuple[str, str, int], Foresight] | None = None

    def read(self, tx: ReadTx, run: Run) -> list[tuple[Waiting, approvals.Approval]]:
        """The calls that wait, oldest first, without what they would change."""
        return [(self._waiting(tx, run, asked), asked) for asked in approvals.pending(tx, run.uuid)]

    def _waiting(self, tx: ReadTx, run: Run, asked: approvals.Approval) -> Waiting:
        command = self._studio.registry.find(asked.command)
        return Waiting(
            asked.call,
            asked.command,
            command.title if command else asked.command,
            argument_words(tx, run, asked.arguments),
            # The ids of calls are the studio's own: `call_<ordinal>_<place>`.
            int(asked.call.rpartition("_")[2]),
        )

    def with_changes(self, run: Run, found: list[tuple[Waiting, approvals.Approval]]) -> tuple[Waiting, ...]:
        """The same; the oldest with what it would change. No transaction may be open."""
        if not found or run.space is None:
            return tuple(waiting for waiting, _ in found)
        first, asked = found[0]
        foresight = self._foresee(run, asked.call, asked.command, asked.arguments)
        told = replace(
            first, changes=tuple(lines_of(foresight)), segments=tuple(segments_of(foresight)), problem=foresight.problem
        )
        return (told, *(waiting for waiting, _ in found[1:]))

    def _foresee(self, run: Run, call: str, command: str, arguments: dict[str, Any]) -> Foresight:
        studio = self._studio
        with studio.store.read() as tx:
            key = (run.uuid, call, tx.space(run.copy).position())
        if self._known is None or self._known[0] != key:
            self._known = key, foresee(studio.store, studio.dispatcher, run, command, arguments)
        return self._known[1]


def lines_of(foresight: Foresight) -> list[str]:
    """What would change, a line for each field, or for an item that comes or goes."""
    lines = []
    for item in foresight.changes:
        what = {"added": "adds", "changed": "changes", "deleted": "deletes"}[item.change]
        head = f"{what} {item.kind} {item.title}"
        told = [f"{each.label} {inline(each.before, each.after, LONGEST)}" for each in item.fields]
        lines += [f"{head}: {each}" for each in told] or [head]
    if foresight.more:
        lines.append(f"and {counted(foresight.more, 'item')} more")
    if not foresight.problem and not lines:
        lines.append("changes nothing in the copy")
    return lines


def segments_of(foresight: Foresight) -> list[Segment]:
    """What would change, word by word, as one text with headings."""
    found: list[Segment] = []
    for item in foresight.changes:
        what = {"added": "added", "changed": "changed", "deleted": "deleted"}[item.change]
        for each in item.fields or (None,):
            label = f", {each.label}" if each else ""
            found.append(Segment(Kind.SAME, f"== {item.kind} {item.title}{label}: {what} ==\n"))
            if each is not None:
                found += word_diff(each.before, each.after)
            found.append(Segment(Kind.SAME, "\n\n"))
    return found
