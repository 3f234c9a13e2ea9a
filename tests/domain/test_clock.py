"""Time and ids."""

import threading
import uuid

from marginalia_tui.domain.clock import SystemClock


def test_times_rise() -> None:
    clock = SystemClock()
    times = [clock.now() for _ in range(1_000)]
    assert times == sorted(set(times))


def test_uuids_sort_in_the_order_in_which_they_were_made() -> None:
    """Also when several threads make them: each thread's own rise."""
    clock = SystemClock()
    made: list[list[str]] = [[] for _ in range(4)]

    def make(mine: list[str]) -> None:
        mine.extend(clock.new_uuid() for _ in range(500))

    threads = [threading.Thread(target=make, args=[mine]) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in made)
    assert len({each for mine in made for each in mine}) == 2_000


def test_a_uuid_is_one_of_version_7_with_the_time_in_front() -> None:
    clock = SystemClock()
    before = clock.now() // 1000
    made = uuid.UUID(clock.new_uuid())
    after = clock.now() // 1000
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= after
