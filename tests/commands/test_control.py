import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from marginalia_tui.commands.control import Control, Status
from marginalia_tui.domain.errors import Cancelled

SECONDS = 30.0
"""Nothing here takes so long: a test that waits longer has failed."""


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(*threads: threading.Thread) -> bool:
    for thread in threads:
        thread.join(SECONDS)
    return not any(thread.is_alive() for thread in threads)


def held(control: Control) -> bool:
    return control.status.uninterruptible


# Out


def test_a_listener_hears_each_change_on_the_thread_of_the_command() -> None:
    control = Control()
    control.tell("Before")
    heard: list[tuple[Status, int]] = []
    control.listen(lambda status: heard.append((status, threading.get_ident())))
    assert not heard and control.status == Status("Before")
    idents: list[int] = []

    def work() -> None:
        idents.append(threading.get_ident())
        control.tell("Searching", "part 1 of 2", 1, 2)
        control.tell("Writing")

    assert ended(started(work))
    assert heard == [
        (Status("Searching", "part 1 of 2", 1, 2), idents[0]),
        (Status("Writing"), idents[0]),
    ]
    assert control.status == Status("Writing")


def test_one_that_throws_is_left_out_and_the_others_hear_on(caplog: pytest.LogCaptureFixture) -> None:
    control = Control()
    heard: list[str] = []
    thrown: list[str] = []

    def bad(status: Status) -> None:
        thrown.append(status.text)
        raise ZeroDivisionError

    control.listen(bad)
    control.listen(lambda status: heard.append(status.text))
    with caplog.at_level(logging.ERROR):
        control.tell("one")
        control.tell("two")
    assert (thrown, heard) == (["one"], ["one", "two"])
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_who_leaves_hears_no_more_and_another_of_the_same_function_does() -> None:
    control = Control()
    heard: list[str] = []

    def listener(status: Status) -> None:
        heard.append(status.text)

    leave = control.listen(listener)
    control.listen(listener)
    control.tell("both")
    leave()
    leave()
    control.tell("one")
    assert heard == ["both", "both", "one"]


def test_a_listener_may_leave_and_stop_while_it_hears() -> None:
    control = Control()
    heard: list[str] = []

    def listener(status: Status) -> None:
        heard.append(status.text)
        leave()
        control.stop()

    leave = control.listen(listener)
    control.tell("one")
    control.tell("two")
    assert heard == ["one"] and control.stopped


def test_the_words_of_a_status() -> None:
    assert Status().words == ""
    assert Status("Searching").words == "Searching"
    assert Status("Searching", "part 1").words == "Searching part 1"


# In


def test_a_wait_ends_when_the_command_is_stopped() -> None:
    control = Control()
    waits = threading.Event()
    answers: list[bool] = []

    def work() -> None:
        waits.set()
        answers.append(control.wait(SECONDS))

    thread = started(work)
    assert waits.wait(SECONDS)
    assert control.stop()
    assert ended(thread)
    assert answers == [True]
    assert control.wait(0) is True


def test_a_wait_that_nobody_ends_says_so() -> None:
    assert Control().wait(0.001) is False


def test_a_wait_of_another_kind_is_woken_once() -> None:
    control = Control()
    woken: list[str] = []
    with control.woken(lambda: woken.append("outer")):
        with control.woken(lambda: woken.append("inner")):
            assert control.stop()
            assert sorted(woken) == ["inner", "outer"]
        assert control.stop()
    assert sorted(woken) == ["inner", "outer"]


def test_a_wait_that_begins_after_the_stop_is_woken_at_once() -> None:
    control = Control()
    control.stop()
    event = threading.Event()
    with control.woken(event.set):
        assert event.is_set()


def test_a_waker_is_gone_when_its_wait_is_over() -> None:
    control = Control()
    woken: list[str] = []

    def waker() -> None:
        woken.append("woken")

    with pytest.raises(ZeroDivisionError), control.woken(waker):
        raise ZeroDivisionError
    with control.woken(waker):
        with control.woken(waker):
            pass
        control.stop()  # the wait outside is still there
    assert woken == ["woken"]


def test_no_wait_is_missed_however_close_the_stop_is() -> None:
    for _ in range(300):
        control = Control()
        together = threading.Barrier(2)

        def work(control: Control = control, together: threading.Barrier = together) -> None:
            event = threading.Event()
            together.wait(SECONDS)
            with control.woken(event.set):
                assert event.wait(SECONDS)

        with ThreadPoolExecutor(1) as pool:
            waits = pool.submit(work)
            together.wait(SECONDS)
            control.stop()
            waits.result(SECONDS)


# What can't be interrupted


def test_a_stop_does_nothing_while_work_is_uninterruptible() -> None:
    control = Control()
    heard: list[bool] = []
    control.listen(lambda status: heard.append(status.uninterruptible))
    control.tell("Searching")
    with control.uninterruptible("try"):
        control.tell("Writing")
        assert held(control)
        assert control.stop() is False and not control.stopped
        with control.uninterruptible("try"):
            assert control.stop() is False
        assert control.stop() is False
    assert not held(control)
    assert control.status.text == "Writing"
    assert heard == [False, True, True, True, True, False]
    assert control.stop() is True and control.stopped


def test_it_can_be_interrupted_again_when_the_work_failed() -> None:
    control = Control()
    with pytest.raises(ZeroDivisionError), control.uninterruptible("try"):
        raise ZeroDivisionError
    assert not held(control) and control.stop()


def test_work_that_was_stopped_just_before_does_not_begin() -> None:
    control = Control()
    control.stop()
    with pytest.raises(Cancelled, match="try was stopped: nothing was changed"), control.uninterruptible("try"):
        pytest.fail("it began")
    assert not control.status.uninterruptible


def test_what_the_caller_wanted_the_command_cannot_lift() -> None:
    control = Control(uninterruptible=True)
    assert control.status.uninterruptible
    assert control.stop() is False
    with control.uninterruptible("try"):
        assert control.stop() is False
    control.tell("Further")
    assert control.status.uninterruptible
    assert control.stop() is False and not control.stopped


def test_threads_that_tell_lose_nothing_of_what_others_say() -> None:
    """One thread tells all the time, while another begins and ends work that can't be interrupted."""
    control = Control()
    over = threading.Event()

    def tell() -> None:
        number = 0
        while not over.is_set():
            number += 1
            control.tell("Working", str(number))

    tellers = [started(tell) for _ in range(2)]
    for _ in range(2_000):
        with control.uninterruptible("try"):
            assert control.status.uninterruptible
        assert not control.status.uninterruptible
    over.set()
    assert ended(*tellers)
    assert control.status.text == "Working"


def test_a_stop_and_the_work_that_nothing_stops_never_both_win() -> None:
    """Either the stop was refused and the work was done, or it was taken and the work did not begin."""
    for _ in range(300):
        control = Control()
        together = threading.Barrier(2)

        def work(control: Control = control, together: threading.Barrier = together) -> bool:
            together.wait(SECONDS)
            try:
                with control.uninterruptible("try"):
                    return not control.stopped
            except Cancelled:
                return False

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(work)
            together.wait(SECONDS)
            taken = control.stop()
            if not taken:
                assert done.result(SECONDS)
            elif done.result(SECONDS):
                assert control.stopped  # it was over before it was stopped
