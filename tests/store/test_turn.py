"""The writer turn: nothing is lost, nobody starves, and who came first is served first."""

import fcntl
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.guard import may_wait
from marginalia_tui.domain.items import Book
from marginalia_tui.store import store as store_module
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.store.turn import WriterTurn
from tests.store.other import hear, increment, process, say
from tests.store.worlds import act, plain, put, see

THREADS = 10


def in_threads(number: int, work: Callable[[int], None]) -> list[BaseException]:
    """Runs `work` in threads and returns what they raised."""
    raised: list[BaseException] = []

    def run(place: int) -> None:
        try:
            work(place)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def number_of(store: Store) -> object:
    book = see(store)["book", "b"]
    assert isinstance(book, Book)
    return book.attributes["n"]


def test_f40_no_update_of_threads_and_processes_is_lost(store: Store) -> None:
    put(store, Book(uuid="b", title="B"))

    def increments(_place: int) -> None:
        for _ in range(20):
            increment(store, "b", "mine")

    with process("increment", store.home, "60") as first, process("increment", store.home, "60") as second:
        say(first)
        say(second)
        raised = in_threads(THREADS, increments)
        assert (hear(first), hear(second)) == ("done", "done")
    assert raised == []
    assert number_of(store) == 60 + 60 + THREADS * 20


def test_f40_busy_processes_take_turns(store: Store) -> None:
    """Ten threads that always want to write, and a second process: it gets about every other turn."""
    put(store, Book(uuid="b", title="B"))
    turns = 40
    begun, done = threading.Event(), threading.Event()
    with process("increment", store.home, str(turns)) as other:

        def work(_place: int) -> None:
            for _ in range(turns * 20):
                increment(store, "b", "mine")
                begun.set()
                if done.is_set():
                    return

        def listen() -> None:
            begun.wait()
            say(other)
            assert hear(other) == "done"
            done.set()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        assert in_threads(THREADS, work) == []
        listener.join()
    with store.read() as read:
        labels = list(read.connection.exec_driver_sql("SELECT label FROM change ORDER BY id").scalars())
    first, last = labels.index("other"), len(labels) - labels[::-1].index("other")
    assert labels.count("other") == turns
    # One to one when both always wait; more is the time that the other needs between two of its turns.
    assert turns // 2 <= labels[first:last].count("mine") <= turns * 4


def is_held(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for a condition that another thread brings about, not for a time."""
    given_up = threading.Event()
    timer = threading.Timer(30, given_up.set)
    timer.start()
    try:
        while not condition():
            assert not given_up.is_set(), "the condition did not come true"
    finally:
        timer.cancel()


def test_threads_are_served_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    turn = WriterTurn(tmp_path / "turn")
    served: list[int] = []

    def work(place: int) -> None:
        with turn.hold():
            served.append(place)

    threads = []
    with turn.hold():
        for place in range(20):
            threads.append(threading.Thread(target=work, args=(place,), daemon=True))
            threads[-1].start()
            wait_until(lambda: turn.waiting == len(threads))
    for thread in threads:
        thread.join()
    assert served == list(range(20))
    turn.close()


def test_the_turn_is_held_against_other_processes(tmp_path: Path) -> None:
    turn = WriterTurn(tmp_path / "turn")

    with (tmp_path / "turn").open("rb") as file:
        assert not is_held(file.fileno())
        with turn.hold():
            assert is_held(file.fileno())
        assert not is_held(file.fileno())
    turn.close()


def test_who_ends_a_turn_can_not_take_the_next_past_one_that_waits(tmp_path: Path) -> None:
    busy, patient = (WriterTurn(tmp_path / "turn") for _ in range(2))
    served: list[str] = []

    def wait_for_it() -> None:
        with patient.hold():
            served.append("patient")

    thread = threading.Thread(target=wait_for_it, daemon=True)
    with busy.hold():
        thread.start()
        with (tmp_path / "turn.next").open("rb") as file:
            wait_until(lambda: is_held(file.fileno()))
    for _ in range(20):
        with busy.hold():
            served.append("busy")
    thread.join()
    assert served[0] == "patient"
    for turn in (busy, patient):
        turn.close()


def test_a_process_that_is_suspended_in_its_turn_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes gets a sentence; when it goes on so does everybody, and nothing of it is lost."""
    monkeypatch.setattr(store_module, "PATIENCE", 0.1)
    put(store, Book(uuid="b", title="B"))
    with process("hold", store.home) as other:
        say(other)
        assert hear(other) == "held"
        other.send_signal(signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(StoreError, match=rf"process \({other.pid}\).*suspended") as refused:
                put(store, Book(uuid="c", title="C"))
            assert "\n" not in refused.value.message
        with store.read() as tx:
            assert tx.space(LIBRARY).get(Book, "b").title == "B"
        other.send_signal(signal.SIGCONT)
        say(other)
        assert hear(other) == "done"
    monkeypatch.setattr(store_module, "PATIENCE", 30.0)
    put(store, Book(uuid="c", title="C"))
    assert {each.title for each in see(store).values() if isinstance(each, Book)} == {"other", "C"}


def test_a_wait_that_was_given_up_holds_nobody_up(tmp_path: Path) -> None:
    """Its place in line is given back as soon as it comes, to another process too."""
    first, second, third = (WriterTurn(tmp_path / "turn") for _ in range(3))
    with first.hold():
        with pytest.raises(StoreError), second.hold(0.05):
            pass
        # Wanted again while its place still stands in line.
        with pytest.raises(StoreError), second.hold(0.05):
            pass
    with third.hold(30):
        pass
    with second.hold(30), pytest.raises(StoreError, match="this program"), second.hold(0.05):
        pass
    with first.hold(30):
        pass
    for turn in (first, second, third):
        turn.close()


def test_who_has_time_waits_and_who_has_none_behind_it_is_told(tmp_path: Path) -> None:
    busy, ours = (WriterTurn(tmp_path / "turn") for _ in range(2))
    served = threading.Event()

    def wait_for_it() -> None:
        with ours.hold():
            served.set()

    patient = threading.Thread(target=wait_for_it, daemon=True)
    with busy.hold():
        patient.start()
        with (tmp_path / "turn.next").open("rb") as file:
            wait_until(lambda: is_held(file.fileno()))
        with pytest.raises(StoreError), ours.hold(0.05):
            pass
        assert not served.is_set()
    patient.join()
    assert served.is_set()
    with ours.hold(30):
        pass
    for turn in (busy, ours):
        turn.close()


def test_a_turn_that_ends_in_an_error_is_given_on(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write(act()):
        raise ZeroDivisionError
    put(store, Book(uuid="b", title="B"))
    assert ("book", "b") in see(store)


def test_a_waiting_thread_that_is_interrupted_hands_its_place_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = WriterTurn(tmp_path / "turn")
    real = threading.Event

    class Interrupted(real):  # type: ignore[valid-type, misc]
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    class Handed(Interrupted):
        def wait(self, timeout: float | None = None) -> bool:
            turn._leave()  # the turn is handed over in the very moment of the interrupt
            raise KeyboardInterrupt

    for kind in (Interrupted, Handed):
        held = turn.hold()
        held.__enter__()
        with monkeypatch.context() as patch:
            patch.setattr(threading, "Event", kind)
            with pytest.raises(KeyboardInterrupt), turn.hold():
                pass
        if kind is Interrupted:
            held.__exit__(None, None, None)
        assert turn.waiting == 0
        with turn.hold():
            pass
    turn.close()


def test_a_write_begins_before_its_first_read(store: Store) -> None:
    """What a transaction reads can't be changed under it, not even by a program that knows of no turn."""
    put(store, Book(uuid="b", title="B"))
    with store.write(act()) as tx:
        tx.space(LIBRARY).get(Book, "b")
        with plain(store) as other, pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")


def test_readers_never_wait_and_see_one_moment(store: Store) -> None:
    put(store, Book(uuid="b", title="before"))
    with store.read() as before:
        assert before.space(LIBRARY).get(Book, "b").title == "before"
        with store.write(act()) as tx:
            book = tx.space(LIBRARY).get(Book, "b")
            tx.space(LIBRARY).put([replace(book, title="after")])
            # A reader of the same moment, while the write is open.
            with store.read() as beside:
                assert beside.space(LIBRARY).get(Book, "b").title == "before"
        assert before.space(LIBRARY).get(Book, "b").title == "before"
    with store.read() as after:
        assert after.space(LIBRARY).get(Book, "b").title == "after"


def test_nothing_is_waited_for_inside_a_write(store: Store) -> None:
    may_wait("a person")
    with store.write(act()):
        with pytest.raises(RuntimeError, match="a person"):
            may_wait("a person")
        with pytest.raises(RuntimeError, match="a write transaction"), store.write(act()):
            pass
        with pytest.raises(RuntimeError, match="the writer turn"):
            store.checkpoint()
    may_wait("a person")
    with pytest.raises(ZeroDivisionError), store.write(act()):
        raise ZeroDivisionError
    may_wait("a person")
    with store.write(act()):
        pass


def test_a_write_leaves_the_guard_of_other_threads_alone(store: Store) -> None:
    with store.write(act()):
        assert in_threads(1, lambda _: may_wait("a model")) == []
