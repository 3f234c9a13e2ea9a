"""What the statistics say of a range of days, and goals with their streaks, against a plain recount."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from marginalia_tui.domain.errors import Cancelled, Invalid
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.statistics import (
    MINUTE,
    Activity,
    BookGoal,
    Calendar,
    DayGoal,
    Days,
    Side,
    by_day,
    days_of,
    needed,
    streak,
)
from marginalia_tui.services import goals
from marginalia_tui.services.counting import Key, Sums, add_sums, count_all
from marginalia_tui.services.statistics import BookName, book_names, read_report, words_by_day
from marginalia_tui.store import tables
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.store.worlds import act, chain, put

ZONE = Calendar(UTC)
DAY = date(2026, 3, 14)
DAYS = Days(date(2026, 3, 10), DAY)
BOOKS, KINDS = ("b", "c"), tuple(Activity)


def moment(day: date, minute: int = 0) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000 + minute * MINUTE


def add(store: Store, sums: dict[Key, Sums], stretches: Sequence[tuple[Activity, Side, str, int, int]] = ()) -> None:
    with store.write(act()) as tx:
        add_sums(tx, sums)
        names = ("kind", "side", "book", "began", "ended")
        if stretches:
            tx.connection.execute(insert(tables.activity), [dict(zip(names, each, strict=True)) for each in stretches])


SUMS = st.dictionaries(
    st.builds(
        Key,
        st.sampled_from(BOOKS),
        st.integers(8, 16).map(lambda day: f"2026-03-{day:02}"),
        st.sampled_from(tuple(Side)),
    ),
    st.builds(Sums, words_added=st.integers(1, 50), words_grown=st.integers(-50, 50), prompt_tokens=st.integers(0, 9)),
    max_size=12,
)
STRETCH = st.builds(
    lambda kind, side, book, began, minutes: (kind, side, book, moment(date(2026, 3, 9), began), minutes * MINUTE),
    st.sampled_from(KINDS),
    st.sampled_from(tuple(Side)),
    st.sampled_from(BOOKS),
    st.integers(0, 7 * 24 * 60),
    st.integers(1, 60),
).map(lambda each: (*each[:4], each[3] + each[4]))


@settings(max_examples=25)
@given(
    sums=SUMS,
    stretches=st.lists(STRETCH, max_size=12),
    book=st.sampled_from((None, *BOOKS)),
    side=st.sampled_from((None, *Side)),
)
def test_a_report_is_what_a_plain_recount_says(
    sums: dict[Key, Sums],
    stretches: list[tuple[Activity, Side, str, int, int]],
    book: str | None,
    side: Side | None,
    new_store: NewStore,
) -> None:
    with new_store() as store:
        add(store, sums, stretches)
        report = read_report(store, DAYS, book=book, side=side, calendar=ZONE)
    mine = {
        key: each
        for key, each in sums.items()
        if "2026-03-10" <= key.day <= "2026-03-14" and book in (None, key.book) and side in (None, key.side)
    }
    bounds = moment(date(2026, 3, 10)), moment(date(2026, 3, 15))
    minutes: dict[tuple[Activity, str], set[int]] = {}
    for kind, of_side, of_book, began, ended in stretches:
        if book in (None, of_book) and side in (None, of_side):
            seen = minutes.setdefault((kind, of_book), set())
            seen.update(at for at in range(began, ended, MINUTE) if bounds[0] <= at < bounds[1])
    for key, line in report.books.items():
        for each in Side:
            assert line.side(each) == sum((s for k, s in mine.items() if (k.book, k.side) == (key, each)), Sums())
        times = {kind: len(seen) * MINUTE for (kind, of), seen in minutes.items() if of == key and seen}
        assert line.times == times
    assert set(report.books) == {key.book for key in mine} | {of for (_, of), seen in minutes.items() if seen}
    for kind in Activity:
        together = set().union(*(seen for (of, _), seen in minutes.items() if of is kind))
        assert report.total.times[kind] == len(together) * MINUTE
        for day, line in report.days.items():
            there = sum(moment(day) <= at < moment(day + timedelta(days=1)) for at in together)
            assert line.times.get(kind, 0) == there * MINUTE
    for day, line in report.days.items():
        assert line.sums == sum((s for k, s in mine.items() if k.day == day.isoformat()), Sums())
    assert report.total.sums == sum(mine.values(), Sums())
    assert list(report.days) == sorted(report.days)
    ranked = [line.sums.words_added for line in report.books.values()]
    assert ranked == sorted(ranked, reverse=True)
    before = [
        each.words_grown
        for key, each in sums.items()
        if key.day < "2026-03-10" and book in (None, key.book) and side in (None, key.side)
    ]
    assert report.before == sum(before)


def test_what_is_not_counted_yet_is_in_the_report_and_nothing_is_kept(store: Store) -> None:
    put(store, *chain("b", 2, text="One two three."), label="import", book="b")
    count_all(store)
    with store.read() as tx:
        part = tx.space(LIBRARY).get(Part, "b-1")
    put(store, replace(part, text="One two three four five."), book="b")
    today = Calendar().day_of(store.clock.now())
    report = read_report(store, Days(today, today))
    assert (report.total.sums.words_added, report.total.sums.words_grown, report.before) == (2, 8, 0)
    later = Days(today + timedelta(days=1), today + timedelta(days=2))
    assert read_report(store, later).before == 8
    assert not read_report(store, later).days
    with store.read() as tx:
        assert words_by_day(tx) == {today: 0}

    def stop() -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        read_report(store, Days(today, today), between=stop)


def test_books_are_known_by_name_and_folder_also_those_in_the_trash(store: Store) -> None:
    put(store, *chain("b", 1), *chain("c", 1))
    with store.read() as tx:
        book = tx.space(LIBRARY).get(Book, "c")
    put(store, replace(book, deleted=5))
    with store.read() as tx:
        assert book_names(tx) == {
            "b": BookName("The book b", "", False),
            "c": BookName("The book c", "", True),
        }


# Goals


def write_words(store: Store, day: date, words: int, book: str = "b") -> None:
    add(store, {Key(book, day.isoformat(), Side.ME): Sums(words_added=words)})


def test_a_goal_of_a_day_has_a_streak_that_today_does_not_end(store: Store) -> None:
    for back, words in ((5, 90), (3, 100), (2, 250), (1, 100), (0, 40)):
        write_words(store, DAY - timedelta(days=back), words, "bc"[back % 2])
    # What agents write is no word of the author.
    add(store, {Key("b", DAY.isoformat(), Side.AGENTS): Sums(words_added=10_000)})
    with store.write(act()) as tx:
        goals.set_day_goal(tx, 100, DAY - timedelta(days=10))
    assert goals.read_progress(store, DAY).day == goals.DayProgress(100, 40, 3)
    write_words(store, DAY, 60)
    assert goals.read_progress(store, DAY).day == goals.DayProgress(100, 100, 4)
    # A higher goal holds from the day on which it is set; what was reached before stays reached.
    with store.write(act()) as tx:
        goals.set_day_goal(tx, 500, DAY)
    assert goals.read_progress(store, DAY).day == goals.DayProgress(500, 100, 3)
    with store.write(act()) as tx:
        goals.set_day_goal(tx, 0, DAY)
    assert goals.read_progress(store, DAY).day == goals.DayProgress(0, 100, 3)


def test_a_goal_of_a_book_tells_the_words_a_day_that_it_needs(store: Store) -> None:
    put(store, *chain("b", 10, text="One two three four five."), *chain("c", 1), label="import")
    set_on, by = DAY - timedelta(days=2), DAY + timedelta(days=7)
    with store.write(act()) as tx:
        book = tx.space(LIBRARY).get(Book, "b")
        goal = goals.set_book_goal(tx, book, 150, by, set_on)
    assert goal == BookGoal(set_on, 150, by, 50) and goal.pace == 10
    write_words(store, DAY - timedelta(days=2), 10)
    write_words(store, DAY - timedelta(days=1), 11)
    write_words(store, DAY, 400, "c")
    (found,) = goals.read_progress(store, DAY).books
    assert (found.title, found.words, found.written, found.needed, found.streak) == ("The book b", 50, 0, 13, 2)
    assert goals.read_progress(store, DAY, book="c").books == []
    with store.write(act()) as tx:
        goals.set_book_goal(tx, book, 0, None, DAY)
    assert goals.read_progress(store, DAY).books == []
    with store.write(act()) as tx:
        goals.set_book_goal(tx, book, 40, by, DAY)
        tx.space(LIBRARY).put([replace(book, deleted=1)])
    # A book in the trash has no goal to show.
    assert goals.read_progress(store, DAY).books == []


@given(written=st.dictionaries(st.integers(0, 9), st.integers(0, 3), max_size=10), since=st.integers(0, 12))
def test_a_streak_is_what_counting_back_says(written: dict[int, int], since: int) -> None:
    by_date = {DAY - timedelta(days=back): words for back, words in written.items()}
    reached = [back <= since and written.get(back, 0) >= 2 for back in range(12)]
    run = reached if reached[0] else reached[1:]
    found = streak(by_date, [DayGoal(DAY - timedelta(days=since), 2)], DAY)
    assert found == next((number for number, each in enumerate(run) if not each), len(run))


# Days


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", DAY, DAY),
        (" Yesterday ", date(2026, 3, 13), date(2026, 3, 13)),
        ("last-7-days", date(2026, 3, 8), DAY),
        ("last-30-days", date(2026, 2, 13), DAY),
        ("this-month", date(2026, 3, 1), DAY),
        ("this-year", date(2026, 1, 1), DAY),
        ("all-time", None, DAY),
        ("2026-02-28", date(2026, 2, 28), date(2026, 2, 28)),
        ("2026-02-01..2026-03-01", date(2026, 2, 1), date(2026, 3, 1)),
    ],
)
def test_ranges_are_read(text: str, first: date | None, last: date) -> None:
    assert days_of(text, DAY) == Days(first, last)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-2-1", "2026-02-30", "2026-03-02..2026-03-01", "..", "0001-01-01", "\x1b[2J"]
)
def test_what_is_no_range_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(Invalid, match=r"give") as refused:
        days_of(text, DAY)
    assert "\x1b" not in refused.value.message


MINUTES = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 300)).map(lambda each: (each[0], sum(each))), max_size=8
)


@settings(max_examples=50)
@given(stretches=MINUTES)
def test_time_that_overlaps_is_counted_once(stretches: list[tuple[int, int]]) -> None:
    start = moment(DAY)
    covered = {at for began, ended in stretches for at in range(began, ended)}
    moments = sorted((start + began * MINUTE, start + ended * MINUTE) for began, ended in stretches)
    days = by_day(moments, ZONE)
    assert sum(days.values()) == len(covered) * MINUTE
    for day, time in days.items():
        assert time == sum(at // 1440 == (day - DAY).days for at in covered) * MINUTE


def test_what_is_needed_a_day() -> None:
    assert needed(100, DAY, DAY + timedelta(days=9)) == 10
    assert needed(101, DAY, DAY + timedelta(days=9)) == 11
    assert needed(100, DAY, DAY) == needed(100, DAY, DAY - timedelta(days=3)) == 100
    assert needed(0, DAY, DAY) == needed(-5, DAY, DAY) == needed(5, DAY, None) == 0
