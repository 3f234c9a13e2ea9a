"""Leases: one process works a run, and one that lost it changes nothing."""

import os
import signal

import pytest
from sqlalchemy import select

from marginalia_tui.domain.errors import Busy, LeaseLost, NotFound
from marginalia_tui.domain.items import Book
from marginalia_tui.store import lease, schema, tables
from marginalia_tui.store.lease import Lease
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.store.other import hear, process, say
from tests.store.worlds import act, add_run, count, put, see


@pytest.fixture(autouse=True)
def run(store: Store) -> str:
    put(store, Book(uuid="b", title="untouched"))
    add_run(store, "run", "another-book")
    return "run"


def take(store: Store, run: str = "run", *, take_over: bool = False) -> Lease:
    with store.write(act("lease")) as tx:
        return lease.take(tx, run, take_over=take_over)


def retitle(store: Store, title: str, held: Lease) -> None:
    with store.write(act(title), lease=held) as tx:
        tx.space(LIBRARY).put([Book(uuid="b", title=title)])


def title(store: Store) -> str:
    book = see(store)["book", "b"]
    assert isinstance(book, Book)
    return book.title


def epoch_of(store: Store, run: str = "run") -> int:
    with store.read() as tx:
        return int(tx.connection.execute(select(tables.run.c.epoch).where(tables.run.c.uuid == run)).scalar_one())


def files(store: Store) -> list[str]:
    return sorted(path.name for path in (store.home / "leases").iterdir())


def test_a_lease_writes_until_it_is_released_and_taken_again(store: Store) -> None:
    first = take(store)
    retitle(store, "first", first)
    first.release()
    assert lease.is_free(store, "run", first.epoch)
    second = take(store)
    assert second.epoch == first.epoch + 1
    with pytest.raises(LeaseLost):
        retitle(store, "by the old one", first)
    retitle(store, "second", second)
    assert title(store) == "second"
    second.release()
    second.release()
    assert files(store) == []


def test_a_stale_lease_changes_nothing_at_all(store: Store) -> None:
    old = take(store)
    new = take(store, take_over=True)
    before = see(store), count(store, "journal"), count(store, "change"), count(store, "queue")
    reached = False
    with pytest.raises(LeaseLost), store.write(act(), lease=old) as tx:
        reached = True
        tx.space(LIBRARY).put([Book(uuid="b", title="late")])
    assert not reached
    assert (see(store), count(store, "journal"), count(store, "change"), count(store, "queue")) == before
    old.release()
    # The late owner going away leaves the new one in place.
    assert not lease.is_free(store, "run", new.epoch)
    retitle(store, "new", new)
    new.release()


def test_a_run_that_is_gone_is_no_longer_held(store: Store) -> None:
    held = take(store)
    with store.write(act()) as tx:
        tx.connection.execute(tables.run.delete())
    with pytest.raises(LeaseLost):
        retitle(store, "late", held)
    with pytest.raises(NotFound):
        take(store)
    held.release()


def test_a_held_run_is_busy_also_within_a_process(store: Store) -> None:
    held = take(store)
    with pytest.raises(Busy, match=str(os.getpid())):
        take(store)
    assert epoch_of(store) == held.epoch
    retitle(store, "still mine", held)
    held.release()


def test_a_lease_of_a_transaction_that_failed_is_no_lease(store: Store) -> None:
    taken: list[Lease] = []
    with pytest.raises(ZeroDivisionError), store.write(act()) as tx:
        taken.append(lease.take(tx, "run"))
        raise ZeroDivisionError
    assert epoch_of(store) == 0
    assert files(store) == []
    held = take(store)
    assert held.epoch == 1
    held.release()


def test_looking_at_a_lease_does_not_make_it_look_taken(store: Store) -> None:
    held = take(store)
    epoch, path = held.epoch, store.home / "leases" / files(store)[0]
    # As if the process had died: the file is there and nobody holds it.
    os.close(held._fd or 0)
    held._fd = None
    fd = os.open(path, os.O_RDWR)
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_SH)  # another one that looks at this moment
        assert lease.is_free(store, "run", epoch)
        assert schema.held_leases(store.home / "leases") == []
        held = take(store)
    finally:
        os.close(fd)
    held.release()


def test_two_processes_never_both_hold_a_run(store: Store) -> None:
    with process("lease", store.home, "run", "plain") as first, process("lease", store.home, "run", "plain") as second:
        say(first)
        say(second)
        heard = {hear(first), hear(second)}
        assert heard == {"epoch 1", "busy"}
        with pytest.raises(Busy):
            take(store)
    held = take(store)
    assert held.epoch == 2
    held.release()


def test_a_lease_dies_with_its_process(store: Store) -> None:
    with process("lease", store.home, "run", "plain") as other:
        say(other)
        assert hear(other) == "epoch 1"
        say(other, "from the other")
        assert hear(other) == "written"
        assert not lease.is_free(store, "run", 1)
        assert schema.held_leases(store.home / "leases") == ["run.1"]
        with pytest.raises(Busy, match=str(other.pid)):
            take(store)
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert lease.is_free(store, "run", 1)
    held = take(store)
    assert held.epoch == 2
    assert files(store) == ["run.2.lock"]
    retitle(store, "taken up", held)
    assert title(store) == "taken up"
    held.release()


def test_a_process_that_was_stopped_and_taken_over_changes_nothing(store: Store) -> None:
    with process("lease", store.home, "run", "plain") as other:
        say(other)
        assert hear(other) == "epoch 1"
        os.kill(other.pid, signal.SIGSTOP)
        say(other, "late")
        held = take(store, take_over=True)
        retitle(store, "taken over", held)
        os.kill(other.pid, signal.SIGCONT)
        assert hear(other) == "lost"
        say(other, "later")
        assert hear(other) == "lost"
        say(other, "release")
        assert hear(other) == "released"
    assert title(store) == "taken over"
    assert not lease.is_free(store, "run", held.epoch)
    assert files(store) == ["run.2.lock"]
    held.release()


def test_a_lease_is_taken_over_by_another_process(store: Store) -> None:
    held = take(store)
    with process("lease", store.home, "run", "take-over") as other:
        say(other)
        assert hear(other) == "epoch 2"
        with pytest.raises(LeaseLost):
            retitle(store, "late", held)
        say(other, "mine now")
        assert hear(other) == "written"
    held.release()
    assert title(store) == "mine now"
