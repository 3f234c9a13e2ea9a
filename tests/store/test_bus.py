"""The bus: after a commit and only then, and also for commits of another process."""

import queue
import threading
from collections.abc import Iterator

import pytest

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.store.other import hear, process, say
from tests.store.worlds import act, put

Heard = queue.Queue[tuple[Touched, str, str]]


@pytest.fixture
def heard(store: Store) -> Iterator[Heard]:
    """What a listener hears, with the title it reads at that moment and the thread that told it."""
    found: Heard = queue.Queue()
    put(store, Book(uuid="b", title="before"))

    def listen(touched: Touched) -> None:
        with store.read() as tx:
            book = tx.space(LIBRARY).find(Book, "b")
        found.put((touched, book.title if book else "", threading.current_thread().name))

    unsubscribe = store.bus.subscribe(listen)
    yield found
    unsubscribe()


def test_a_commit_is_told_when_it_can_be_read(store: Store, heard: Heard) -> None:
    with store.write(act()) as tx:
        tx.space(LIBRARY).put([Book(uuid="b", title="after"), Book(uuid="c", title="C"), Part(uuid="p", book="b")])
        tx.touch("run", "r")
        tx.touch("agent", "a")
        assert heard.empty()
    touched, title, thread = heard.get_nowait()
    assert touched == Touched(books=frozenset("bc"), runs=frozenset("r"), agents=frozenset("a"))
    assert title == "after"
    assert thread == threading.current_thread().name
    assert touched.book("b") and touched.run("r") and not touched.book("d") and not touched.run("b")


def test_a_listener_may_write(store: Store) -> None:
    done: list[str] = []

    def listen(touched: Touched) -> None:
        if not done:
            done.append("once")
            put(store, Book(uuid="written-by-a-listener", title="x"))

    store.bus.subscribe(listen)
    put(store, Book(uuid="b", title="x"))
    assert done == ["once"]


def test_what_is_rolled_back_is_not_told(store: Store, heard: Heard) -> None:
    with pytest.raises(ZeroDivisionError), store.write(act()) as tx:
        tx.space(LIBRARY).put([Book(uuid="b", title="never")])
        raise ZeroDivisionError
    put(store, Book(uuid="b", title="after"))
    assert heard.get_nowait()[1] == "after"
    assert heard.empty()


def test_both_books_are_told_when_a_part_is_moved(store: Store, heard: Heard) -> None:
    put(store, Book(uuid="c", title="C"), Part(uuid="p", book="b"))
    heard.get_nowait()
    put(store, Part(uuid="p", book="c"))
    assert heard.get_nowait()[0].books == frozenset("bc")


def test_a_listener_that_fails_stops_nobody(store: Store, heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_touched: Touched) -> None:
        raise ZeroDivisionError

    store.bus.subscribe(fail)
    later: list[Touched] = []
    store.bus.subscribe(later.append)
    put(store, Book(uuid="b", title="after"))
    assert heard.get_nowait()[1] == "after"
    assert len(later) == 1
    assert "ZeroDivisionError" in caplog.text


def test_nobody_is_told_after_unsubscribing(store: Store) -> None:
    found: list[Touched] = []
    unsubscribe = store.bus.subscribe(found.append)
    unsubscribe()
    unsubscribe()
    put(store, Book(uuid="b", title="x"))
    assert found == []


def test_f43_a_commit_of_another_process_is_noticed(store: Store, heard: Heard) -> None:
    with process("increment", store.home, "1") as other:
        say(other)
        touched, _, thread = heard.get(timeout=30)
        assert touched == Touched(everything=True)
        assert touched.book("any") and touched.run("any")
        assert thread != threading.current_thread().name
        assert hear(other) == "done"


def test_a_commit_of_another_process_between_opening_and_listening_is_noticed(store: Store) -> None:
    found: queue.Queue[Touched] = queue.Queue()
    put(store, Book(uuid="b", title="x"))
    with process("increment", store.home, "1") as other:
        say(other)
        assert hear(other) == "done"
    store.bus.subscribe(found.put)
    assert found.get(timeout=30) == Touched(everything=True)


def test_own_commits_are_told_once(store: Store, heard: Heard) -> None:
    """What this process wrote is not told again as if another had; the other's commit ends the wait."""
    for number in range(20):
        put(store, Book(uuid="b", title=f"own {number}"))
        assert heard.get_nowait()[0] == Touched(books=frozenset("b"))
    polls = threading.Semaphore(0)
    poll = store.bus._foreign_commits

    def counted() -> int:
        try:
            return poll()
        finally:
            polls.release()

    store.bus._foreign_commits = counted
    for _ in range(3):
        polls.acquire()
    assert heard.empty()


def test_a_disk_that_fails_for_a_while_does_not_end_the_watch(
    store: Store, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    failed = threading.Semaphore(0)
    poll = store.bus._foreign_commits

    def fail() -> int:
        failed.release()
        raise StoreError("The disk reports an error.")

    store.bus._foreign_commits = fail
    for _ in range(3):
        failed.acquire()
    store.bus._foreign_commits = poll
    with process("increment", store.home, "1") as other:
        say(other)
        assert heard.get(timeout=30)[0] == Touched(everything=True)
    assert caplog.text.count("can't be noticed") == 1


def test_closing_ends_the_watcher(store: Store) -> None:
    store.bus.subscribe(lambda touched: None)
    names = [thread.name for thread in threading.enumerate()]
    assert "store-watch" in names
    store.bus.close()
    assert store.bus._watcher is not None
    assert not store.bus._watcher.is_alive()
