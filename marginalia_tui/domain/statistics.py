"""Days, ranges of days, stretches of time and streaks: the arithmetic of the statistics.

A day is one of the author's calendar, in the zone of the machine unless another is given. Moments are microseconds
since 1970. Everything here is pure.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.visible import visible_line

MINUTE = 60_000_000
"""Microseconds of a minute."""

RANGES = ("today", "yesterday", "last-7-days", "last-30-days", "this-month", "this-year", "all-time")
"""The ranges that have a name."""
DEFAULT_RANGE = "last-7-days"


class Side(StrEnum):
    """Whose work it is."""

    ME = "me"
    AGENTS = "agents"


class Activity(StrEnum):
    """What went on in a stretch of time."""

    OPEN = "open"
    EDITING = "editing"
    GENERATING = "generating"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Days:
    """A range of days, both ends included; without a `first` it has no beginning."""

    first: date | None
    last: date

    def __contains__(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and day <= self.last


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of a time zone; None is that of the machine."""

    zone: tzinfo | None = None

    def day_of(self, moment: int) -> date:
        """The day in which a moment lies."""
        return datetime.fromtimestamp(moment / 1_000_000, self.zone).date()

    def start_of(self, day: date) -> int:
        """The moment in which a day begins."""
        return int(datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp()) * 1_000_000

    def bounds(self, days: Days) -> tuple[int, int]:
        """The moments in which a range begins and ends (not included)."""
        end = self.start_of(days.last + timedelta(days=1))
        return (0 if days.first is None else self.start_of(days.first)), end


_DAY = re.compile(r"(?:19[7-9][0-9]|2[0-9]{3})-[0-9]{2}-[0-9]{2}")
"""The days of which every moment can be told, in every zone."""


def days_of(text: str, today: date) -> Days:
    """The range that a person wrote: a name, a day, or two days.

    Args:
        text: one of `RANGES`, `2026-03-14`, or `2026-03-01..2026-03-14`.
        today: the day on which it is written.

    Raises:
        Invalid: it is none of these.
    """
    wanted = text.strip().casefold()
    if wanted in RANGES:
        return _named(wanted, today)
    first, dots, last = wanted.partition("..")
    days = Days(_day(first, text), _day(last if dots else first, text))
    if days.first is not None and days.last < days.first:
        raise Invalid(f"The range {visible_line(text[:60])!r} ends before it begins: give the earlier day first.")
    return days


def _named(name: str, today: date) -> Days:
    firsts: dict[str, date | None] = {
        "today": today,
        "yesterday": today - timedelta(days=1),
        "last-7-days": today - timedelta(days=6),
        "last-30-days": today - timedelta(days=29),
        "this-month": today.replace(day=1),
        "this-year": today.replace(month=1, day=1),
        "all-time": None,
    }
    return Days(firsts[name], today - timedelta(days=1) if name == "yesterday" else today)


def _day(text: str, whole: str) -> date:
    try:
        if _DAY.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
    except ValueError:
        pass  # The 31st of a month that has 30 is told like any other text that is no day.
    raise Invalid(
        f"{visible_line(whole[:60])!r} is no range of days: give one of {', '.join(RANGES)}, a day such as 2026-03-14, "
        "or two with .. between them."
    )


# Stretches of time

Stretch = tuple[int, int]
"""Two moments: from, and up to."""


def by_day(stretches: Iterable[Stretch], calendar: Calendar) -> dict[date, int]:
    """Day -> microseconds of it that are covered; what passes midnight is split there.

    Args:
        stretches: in the order of their beginnings; they may overlap.
        calendar: the days.
    """
    found: dict[date, int] = {}
    day, end, until = date.min, -1, 0
    for start, ended in stretches:
        began = start if start > until else until
        if began >= ended:
            continue
        until = ended
        while began < ended:
            if began >= end:
                day = calendar.day_of(began)
                end = calendar.start_of(day + timedelta(days=1))
                found.setdefault(day, 0)
            here = ended if ended < end else end
            found[day] += here - began
            began = here
    return found


def minutes(microseconds: int) -> int:
    """Whole minutes, to the nearest."""
    return (microseconds + MINUTE // 2) // MINUTE


# Goals


@dataclass(frozen=True, slots=True)
class DayGoal:
    """Words a day, from a day on; 0 is no goal."""

    since: date
    words: int


def goal_on(goals: Sequence[DayGoal], day: date) -> int:
    """The goal that held on a day; 0 when there was none. `goals` are in the order of their days."""
    held = 0
    for goal in goals:
        if goal.since > day:
            break
        held = goal.words
    return held


def streak(written: Mapping[date, int], goals: Sequence[DayGoal], today: date) -> int:
    """How many days in a row reached the goal that held on them, up to today.

    Today is counted when it has reached it already, and does not end the row when it has not yet.

    Args:
        written: day -> words.
        goals: in the order of their days.
        today: the day on which it is asked.
    """

    def reached(day: date) -> bool:
        goal = goal_on(goals, day)
        return goal > 0 and written.get(day, 0) >= goal

    day = today if reached(today) else today - timedelta(days=1)
    count = 0
    while reached(day):
        count += 1
        day -= timedelta(days=1)
    return count


@dataclass(frozen=True, slots=True)
class BookGoal:
    """How long a book is to be.

    `by` is the last day for it, or None; `start` are the words that the book had on the day `since`, when the goal
    was set.
    """

    since: date
    words: int
    by: date | None
    start: int

    @property
    def pace(self) -> int:
        """Words a day that were needed when it was set; 0 without a last day."""
        return needed(self.words - self.start, self.since, self.by)


def needed(words: int, today: date, by: date | None) -> int:
    """Words a day, so that as many are written when `by` has passed; all of them on the last day and after it."""
    if by is None or words <= 0:
        return 0
    return -(-words // max(1, (by - today).days + 1))
