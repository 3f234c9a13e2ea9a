"""Going in circles: the same calls with the same results, again and again, and nothing in the copy changes.

Two rounds are alike when they made the same calls (names, arguments as values, whatever the order of their keys) with
the same results. The latest round is counted among the last few, so that cycles of two or three different rounds are
seen too; a round that changed the copy, and whatever the author says, begin the count anew. At the third such round
the model is told, at the fifth it is asked for an answer in words alone, and then the run pauses.

All of it is read off the rows of the transcript, so that a run that dies in between goes on at the same place.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import select

from marginalia_tui.agent.transcript import CUT, Entry
from marginalia_tui.domain.chat import Call
from marginalia_tui.domain.items import Plan
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx

WINDOW = 15
"""Rounds that are looked back on."""
TELL = 3
"""Rounds alike after which the model is told."""
STOP = 5
"""Rounds alike after which it gets no more calls."""

CIRCLES: Final = "circles"
"""The notice that tells the model; also the name of its text."""
CIRCLES_STOP: Final = "circles-stop"
"""The notice that asks for an answer in words; also the name of its text."""
Notice = Literal["circles", "circles-stop"]

REASON = (
    f"It goes in circles: it made the same calls with the same results {STOP} times and nothing changed. "
    "Look at the transcript, then tell it what to do when you resume."
)
SILENT = "(The agent was asked to say in words where it is stuck, and wrote nothing.)"
"""Stands for an answer in words that was empty."""


@dataclass(frozen=True, slots=True)
class _Made:
    """The calls of a round with their results, in order."""

    calls: tuple[Call, ...]
    results: tuple[str, ...]

    def like(self, other: "_Made") -> bool:
        """Whether both did the same and read the same."""
        return (
            len(self.calls) == len(other.calls)
            and self.results == other.results
            and all(
                one.name == two.name and _same_arguments(one.arguments, two.arguments)
                for one, two in zip(self.calls, other.calls, strict=True)
            )
        )


def _same_arguments(one: str, two: str) -> bool:
    if one == two:
        return True
    value = read_arguments(one)
    return value is not None and value == read_arguments(two)


def _rounds(rows: Sequence[Entry]) -> list[_Made]:
    """The rounds since the author last spoke, newest first.

    Those without a call are left out, and those whose call was cut off: it was not made (`setbacks`).
    """
    found: list[_Made] = []
    results: dict[str | None, str] = {}
    cut = False
    for entry in reversed(rows):
        message = entry.message
        if message.role == "tool":
            results[message.call_id] = message.text
            cut = cut or entry.notice == CUT
        elif message.role == "assistant":
            if message.calls and not cut:
                found.append(_Made(message.calls, tuple(results.get(call.id, "") for call in message.calls)))
            results, cut = {}, False
        elif speaks_for_author(entry):
            break
        if len(found) == WINDOW:
            break
    return found


def speaks_for_author(entry: Entry) -> bool:
    """Whether a row is the author's word, or comes of it: they had the run go on."""
    return entry.message.role == "user" and entry.notice in (None, "resume", "go-on")


def judge(rows: Sequence[Entry], changing: Callable[[Collection[str]], Collection[str]]) -> Notice | None:
    """What is to be said after the latest round.

    Args:
        rows: the transcript as the model reads it; the last answer has all its results.
        changing: which of these calls changed the copy; only asked when rounds are alike.
    """
    rounds = _rounds(rows)
    alike = [place for place, each in enumerate(rounds) if each.like(rounds[0])]
    if len(alike) < TELL:
        return None
    changed = set(changing({call.id for each in rounds for call in each.calls}))
    fresh = next((place for place, each in enumerate(rounds) if any(c.id in changed for c in each.calls)), len(rounds))
    count = sum(place < fresh for place in alike)
    if count >= STOP:
        return CIRCLES_STOP
    return CIRCLES if count == TELL else None


def wants_words(rows: Sequence[Entry]) -> bool:
    """Whether the next answer is to be in words alone: it was asked for, and the author said nothing since."""
    for entry in reversed(rows):
        if entry.notice == CIRCLES_STOP:
            return True
        if entry.message.role == "assistant" or speaks_for_author(entry):
            return False
    return False


def is_told(rows: Sequence[Entry]) -> bool:
    """Whether the last row is the answer in words that ends a circle."""
    return bool(rows) and rows[-1].message.role == "assistant" and wants_words(rows[:-1])


def changing_calls(tx: ReadTx, space: int, calls: Collection[str]) -> frozenset[str]:
    """Which of these calls of a run changed its copy; keeping a plan is no change."""
    change, journal = tables.change.c, tables.journal.c
    query = (
        select(change.call)
        .distinct()
        .join(tables.journal, journal.change_id == change.id)
        .where(change.space_id == space, change.call.in_(calls), journal.kind != Plan.KIND)
    )
    return frozenset(tx.connection.execute(query).scalars())
