"""What went on when: stretches of time, kept as they grow."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from marginalia_tui.domain.chat import Usage
from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.domain.statistics import MINUTE, Activity, Calendar, Days, Side
from marginalia_tui.services import activity
from marginalia_tui.services.activity import BETWEEN, HOUR, TYPING, Tracker, note_answer
from marginalia_tui.services.statistics import read_report
from marginalia_tui.store.store import Store
from tests.store.worlds import act, add_run, chain, count, put

NOON = int(datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp()) * 1_000_000
SECOND = 1_000_000
Row = tuple[str, str, str, int, int]


class Hand:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def tracker(store: Store, hand: Hand) -> Iterator[Tracker]:
    made = Tracker(store, hand)
    yield made
    made.close()


def rows(store: Store) -> list[Row]:
    """Kind, side, book, and the minutes after noon from and to."""
    with store.read() as tx:
        found = tx.connection.exec_driver_sql("SELECT kind, side, book, began, ended FROM activity ORDER BY id")
        return [(kind, side, book, began - NOON, ended - NOON) for kind, side, book, began, ended in found]


def pass_time(tracker: Tracker, hand: Hand, microseconds: int) -> None:
    """Lets time pass as it does when the tracker keeps once a minute."""
    end = hand.at + microseconds
    while hand.at < end:
        hand.at = min(end, hand.at + 2 * MINUTE)
        tracker.keep()


def test_a_book_is_open_until_the_author_looks_elsewhere(store: Store, tracker: Tracker, hand: Hand) -> None:
    tracker.look_at("b")
    pass_time(tracker, hand, 10 * MINUTE)
    tracker.look_at("c")
    pass_time(tracker, hand, MINUTE)
    tracker.look_at(None)
    pass_time(tracker, hand, 5 * MINUTE)
    tracker.keep()
    assert rows(store) == [
        ("open", "me", "b", 0, 10 * MINUTE),
        ("open", "me", "c", 10 * MINUTE, 11 * MINUTE),
    ]


def test_who_types_edits_until_a_minute_after_the_last_key(store: Store, tracker: Tracker, hand: Hand) -> None:
    for _ in range(5):
        tracker.typed("b")
        hand.at += 30 * SECOND
    pass_time(tracker, hand, 10 * MINUTE)
    tracker.typed("b")
    tracker.close()
    assert rows(store) == [("editing", "me", "b", 0, 4 * 30 * SECOND + TYPING)]


def test_a_long_stretch_is_several_rows(store: Store, tracker: Tracker, hand: Hand) -> None:
    tracker.look_at("b")
    pass_time(tracker, hand, 2 * HOUR + MINUTE)
    tracker.close()
    found = rows(store)
    assert [(began, ended) for *_, began, ended in found] == [
        (0, HOUR),
        (HOUR, 2 * HOUR),
        (2 * HOUR, 2 * HOUR + MINUTE),
    ]


def test_a_machine_that_sleeps_does_not_work(store: Store, tracker: Tracker, hand: Hand) -> None:
    tracker.look_at("b")
    pass_time(tracker, hand, 2 * MINUTE)
    hand.at += 8 * HOUR
    tracker.keep()
    pass_time(tracker, hand, MINUTE)
    tracker.close()
    assert [(began, ended) for *_, began, ended in rows(store)] == [
        (0, 2 * MINUTE),
        (2 * MINUTE + 8 * HOUR, 3 * MINUTE + 8 * HOUR),
    ]


def test_a_clock_that_goes_back_makes_no_time(store: Store, tracker: Tracker, hand: Hand) -> None:
    tracker.look_at("b")
    pass_time(tracker, hand, 2 * MINUTE)
    hand.at -= HOUR
    tracker.keep()
    tracker.close()
    assert [(began, ended) for *_, began, ended in rows(store)] == [(0, 2 * MINUTE)]


def test_what_runs_is_looked_up(store: Store, tracker: Tracker, hand: Hand) -> None:
    add_run(store, "r", "b")
    add_run(store, "s", "c", status=RunStatus.PAUSED)
    tracker.look_at_runs()
    pass_time(tracker, hand, 3 * MINUTE)
    with store.write(act()) as tx:
        tx.connection.exec_driver_sql("UPDATE run SET status = 'DONE'")
    tracker.look_at_runs()
    pass_time(tracker, hand, 3 * MINUTE)
    tracker.close()
    assert rows(store) == [("running", "agents", "b", 0, 3 * MINUTE)]


def test_it_works_by_itself_hears_of_runs_and_keeps_the_rest_at_the_end(
    store: Store, tracker: Tracker, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "APART", 0.001)
    seen: list[None] = []
    look = tracker.look_at_runs

    def looked() -> None:
        look()
        seen.append(None)

    monkeypatch.setattr(tracker, "look_at_runs", looked)
    tracker.start()
    tracker.start()
    add_run(store, "r", "b")
    with store.write(act()) as tx:
        tx.touch("run", "r")
    for _ in range(1000):
        with tracker._lock:
            if tracker._running == {"b"}:
                break
        tracker._closing.wait(0.01)
    hand.at += MINUTE
    tracker.close()
    tracker.close()
    assert seen and rows(store) == [("running", "agents", "b", 0, MINUTE)]


def test_nothing_is_written_when_nothing_went_on(store: Store, tracker: Tracker) -> None:
    with store.read() as tx:
        before = tx.connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        tracker.keep()
        assert tx.connection.exec_driver_sql("PRAGMA data_version").scalar_one() == before


def test_what_the_disk_refuses_is_kept_for_the_next_time(
    store: Store, tracker: Tracker, hand: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_args: object, **_more: object) -> None:
        raise StoreError("The disk is full.")

    tracker.look_at("b")
    hand.at += MINUTE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "write", refuse)
        with pytest.raises(StoreError):
            tracker.keep()
        tracker._try(tracker.keep)
    assert "The disk is full." in caplog.text
    tracker.keep()
    assert rows(store) == [("open", "me", "b", 0, MINUTE)]


# Answers


def answer(store: Store, monkeypatch: pytest.MonkeyPatch, at: int, seconds: float) -> None:
    monkeypatch.setattr(activity, "now", lambda: at)
    with store.write(act()) as tx:
        note_answer(tx, "r", Usage(prompt=100, completion=20, cached=0), seconds)


def test_answers_that_follow_each_other_are_one_stretch(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add_run(store, "r", "b")
    answer(store, monkeypatch, NOON + 10 * SECOND, 10)
    answer(store, monkeypatch, NOON + 20 * SECOND + BETWEEN, 10)
    # One that began earlier, of a helper beside it.
    answer(store, monkeypatch, NOON + 25 * SECOND, 30)
    answer(store, monkeypatch, NOON + 90 * SECOND, 10)
    answer(store, monkeypatch, NOON + 91 * SECOND, 0)
    assert rows(store) == [
        ("generating", "agents", "b", -5 * SECOND, 25 * SECOND),
        ("generating", "agents", "b", 80 * SECOND, 90 * SECOND),
    ]
    report = read_report(store, Days(date(2026, 3, 14), date(2026, 3, 14)), calendar=Calendar(UTC))
    assert report.total.times[Activity.GENERATING] == 40 * SECOND
    tokens = report.total.side(Side.AGENTS)
    assert (tokens.prompt_tokens, tokens.completion_tokens) == (500, 100)
    assert not report.total.side(Side.ME).prompt_tokens


def test_no_stretch_of_answers_is_longer_than_an_hour(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add_run(store, "r", "b")
    for number in range(1, 10):
        answer(store, monkeypatch, NOON + number * 600 * SECOND, 600)
    answer(store, monkeypatch, NOON + 90 * MINUTE + 20 * HOUR, 10 * 3600)
    found = [(began, ended) for *_, began, ended in rows(store)]
    assert found == [(0, HOUR), (HOUR, 90 * MINUTE), (90 * MINUTE + 19 * HOUR, 90 * MINUTE + 20 * HOUR)]


def test_counting_ends_in_time(store: Store, tracker: Tracker) -> None:
    put(store, *chain("b", 3), label="import", book="b")
    tracker.catch_up_for(-1)
    assert not count(store, "daily")
    tracker.catch_up_for(60)
    assert count(store, "daily") == 1
