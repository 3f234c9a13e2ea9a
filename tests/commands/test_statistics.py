"""The commands of the statistics and of goals, through the registry."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from sqlalchemy import insert

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.definition import Severity
from marginalia_tui.commands.render import to_plain
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Cancelled, Invalid, NotFound
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.statistics import MINUTE, Calendar, Side
from marginalia_tui.services.counting import Key, Sums, add_sums
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from tests.commands.world import DISPATCHER, World, other_book


def day(world: World, back: int = 0) -> date:
    return Calendar().day_of(world.store.clock.now()) - timedelta(days=back)


def add(world: World, book: str, sums: Sums, *, back: int = 0, side: Side = Side.ME) -> None:
    with world.store.write(Act(actor="studio", label="statistics")) as tx:
        add_sums(tx, {Key(book, day(world, back).isoformat(), side): sums})


@pytest.fixture
def written(world: World) -> World:
    """The author adds four words, an agent two in its copy; the book was open for an hour of two."""
    world.set_text(1, "The lamp was lit at dusk in the cold yard. Nobody saw who lit it.")
    with world.store.write(Act(actor="author", label="start", book=world.book)) as tx:
        copy = copy_book(tx, world.book)
    with world.store.write(Act(actor="agent", label="Edit a passage", book=world.book)) as tx:
        space = tx.space(copy)
        part = space.get(Part, world.parts[1])
        space.put([replace(part, text=part.text + " Very still.")])
    began = Calendar().start_of(day(world)) + 60 * MINUTE
    with world.store.write(Act(actor="studio", label="activity")) as tx:
        for kind, side, one, two in (("open", "me", 0, 60), ("editing", "me", 0, 20), ("running", "agents", 30, 90)):
            row = {"kind": kind, "side": side, "book": world.book}
            times = {"began": began + one * MINUTE, "ended": began + two * MINUTE}
            tx.connection.execute(insert(tables.activity).values(**row, **times))
    add(world, world.book, Sums(prompt_tokens=500, completion_tokens=70), side=Side.AGENTS)
    return world


def test_the_figures_of_the_book_day_by_day(written: World) -> None:
    found = written.run("/get-book-statistics")
    size = sum(len(written.text(place)) for place in (1, 2, 3)), sum(written.part(place).words for place in (1, 2, 3))
    figures = {
        "wordsAdded": 6,
        "wordsGrown": size[1],
        "charsAdded": 29,
        "charsGrown": size[0],
        "promptTokens": 500,
        "completionTokens": 70,
        "minutesOpen": 60,
        "minutesEditing": 20,
        "minutesAgentsRunning": 60,
    }
    assert found["days"] == [{"day": day(written).isoformat(), **figures}]
    # What is 0 in each row stands in the sums.
    assert found["sums"] == {"wordsDeleted": 0, "charsDeleted": 0, "minutesGenerating": 0, **figures}
    assert (found["first"], found["last"]) == (day(written, 6).isoformat(), day(written).isoformat())
    mine = written.run("/get-book-statistics today me")["days"][0]
    assert (mine["wordsAdded"], mine["minutesOpen"], "promptTokens" in mine) == (4, 60, False)
    theirs = written.run("/get-book-statistics today agents")["days"][0]
    assert (theirs["wordsAdded"], theirs["minutesAgentsRunning"], "minutesOpen" in theirs) == (2, 60, False)
    assert written.run("/get-book-statistics yesterday")["days"] == []
    shown = to_plain(DISPATCHER.run_line("/get-book-statistics today me", written.author))
    assert shown.startswith(f"1 day. Counted: {day(written)}, your work.")
    assert "words added" in shown and "chars" not in shown


def test_days_come_in_pages_and_ranges_are_checked(written: World) -> None:
    for back in range(1, 8):
        add(written, written.book, Sums(words_deleted=back), back=back)
    found = written.run("/get-book-statistics last-30-days all 2 3")
    assert [row["wordsDeleted"] for row in found["days"]] == [5, 4, 3]
    assert (found["total"], found["nextOffset"], found["sums"]["wordsDeleted"]) == (8, 5, 28)
    always = written.run("/get-book-statistics all-time")
    assert always["total"] == 8 and "first" not in always
    with pytest.raises(Invalid, match="no range of days"):
        written.run("/get-book-statistics soon")
    with pytest.raises(Invalid, match="side"):
        written.run("/get-book-statistics today them")


def test_an_agent_reads_the_figures_of_its_own_book_and_no_other(written: World) -> None:
    other_book(written)
    assert written.call("get-book-statistics", range="today")["days"][0]["wordsAdded"] == 6
    offered = {each.name for each in builtin_registry() if each.for_agents}
    assert {name for name in offered if "statistics" in name or "goal" in name} == {"get-book-statistics"}


def test_all_books_by_day_and_by_book_also_those_that_are_gone(written: World) -> None:
    other, _ = other_book(written)
    add(written, "gone", Sums(words_added=90))
    with written.store.write(Act(actor="author", label="trash")) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, other), deleted=1)])
    no_book = replace(written.author, book=None)
    found = to_data(DISPATCHER.run_line("/get-statistics today book", no_book))
    assert [(row["book"], row.get("name"), row.get("deleted"), row["wordsAdded"]) for row in found["books"]] == [
        ("gone", None, True, 90),
        (written.book, "The Lamp", None, 6),
        (other, "Another", True, 4),
    ]
    shown = to_plain(DISPATCHER.run_line("/get-statistics today book all 0 2", no_book))
    assert shown.startswith("Books 1 to 2 of 3: offset 2 shows more. Counted: ")
    by_day = to_data(DISPATCHER.run_line("/get-statistics", no_book))
    assert [row["wordsAdded"] for row in by_day["days"]] == [100] and "books" not in by_day
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line("/get-book-statistics", no_book)
    with pytest.raises(NotFound):
        DISPATCHER.run_line("/get-book-statistics", replace(written.author, book="no-such-book"))


def test_counting_ends_when_it_is_stopped(written: World) -> None:
    control = Control()
    control.stop()
    for line in ("/get-statistics", "/get-book-statistics", "/get-goals"):
        with pytest.raises(Cancelled):
            DISPATCHER.run_line(line, written.author, control)


def test_goals_are_set_told_and_taken_away(written: World) -> None:
    assert written.run("/get-goals") == {"wordsADay": 0, "writtenToday": 4, "streak": 0, "books": []}
    assert written.run("/set-day-goal 4") == {"result": "set", "goal": 4}
    by = day(written) + timedelta(days=9)
    words = sum(written.part(place).words for place in (1, 2, 3))
    made = written.run(f"/set-book-goal 133 {by}")
    needed = -(-(133 - words) // 10)
    assert made == {"result": "set", "goal": 133, "by": by.isoformat(), "title": "The Lamp", "neededADay": needed}
    found = written.run("/get-goals")
    assert (found["wordsADay"], found["writtenToday"], found["streak"]) == (4, 4, 1)
    (row,) = found["books"]
    assert (row["title"], row["words"], row["goal"], row["neededADay"]) == ("The Lamp", words, 133, needed)
    assert (row["writtenToday"], row["streak"]) == (4, 0)
    shown = to_plain(DISPATCHER.run_line("/get-goals", written.author))
    assert shown.startswith("4 of 4 words today, 1 day in a row.")
    before = written.journal()
    assert written.run("/set-day-goal 0")["result"] == written.run("/set-book-goal 0")["result"] == "removed"
    found = written.run("/get-goals")
    assert (found["wordsADay"], found["books"]) == (0, [])
    # A goal is no change of the book.
    assert written.journal() == before


@pytest.mark.parametrize(
    "line", ["/set-day-goal -1", "/set-day-goal many", "/set-book-goal 10 2020-01-01", "/set-book-goal"]
)
def test_goals_that_can_not_be(world: World, line: str) -> None:
    with pytest.raises(Invalid):
        world.run(line)


def test_the_severities() -> None:
    mine = [each for each in builtin_registry() if "statistics" in each.name or "goal" in each.name]
    found = {each.name: each.severity for each in mine}
    assert found == {
        "get-book-statistics": Severity.READ,
        "get-statistics": Severity.READ,
        "get-goals": Severity.READ,
        "set-day-goal": Severity.CHANGE,
        "set-book-goal": Severity.CHANGE,
    }
