"""The lock of a book: while a run holds it, only the run's own apply writes it."""

import pytest

from marginalia_tui.domain.errors import Locked
from marginalia_tui.domain.items import Book, Item, Part
from marginalia_tui.domain.runs import HOLDING, RunStatus
from marginalia_tui.store import history
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from tests.store.worlds import act, add_run, chain, put, see


@pytest.fixture
def held(store: Store) -> str:
    """A book that a run holds, beside a free one."""
    put(store, *chain("held", 2), *chain("free", 2))
    add_run(store, "run", "held", agent="Copyeditor")
    return "held"


CHANGES: list[list[Item]] = [
    [Part(uuid="held-1", book="held", created=1, text="changed")],
    [Part(uuid="new", book="held", parent="held-1")],
    [Book(uuid="held", title="Retitled")],
    [Part(uuid="free-2", book="held", created=2, parent="held-1")],  # moved into it
    [Part(uuid="held-2", book="free", created=2, parent="free-1")],  # moved out of it
    [Part(uuid="free-1", book="free", created=1, text="x"), Part(uuid="held-2", book="held", created=2, text="x")],
]


@pytest.mark.parametrize("items", CHANGES)
def test_a_held_book_is_not_changed_and_the_agent_is_named(store: Store, held: str, items: list[Item]) -> None:
    before = see(store)
    with pytest.raises(Locked, match="Copyeditor.*The book held") as caught:
        put(store, *items)
    assert (caught.value.agent, caught.value.book) == ("Copyeditor", "The book held")
    assert see(store) == before


def test_nothing_of_a_held_book_is_deleted_or_restored(store: Store, held: str) -> None:
    before = see(store)
    with pytest.raises(Locked), store.write(act()) as tx:
        tx.space(LIBRARY).delete(Part, ["held-2"])
    with pytest.raises(Locked), store.write(act()) as tx:
        tx.space(LIBRARY).delete(Book, ["held"])
    with pytest.raises(Locked), store.write(act()) as tx:
        history.restore(tx, LIBRARY, 0)
    assert see(store) == before


def test_other_books_are_free(store: Store, held: str) -> None:
    put(store, Part(uuid="free-1", book="free", created=1, text="changed"), Book(uuid="free", title="Retitled"))
    put(store, *chain("new", 1))
    assert ("book", "new") in see(store)


def test_what_is_equal_and_where_the_reader_stands_are_no_changes(store: Store, held: str) -> None:
    with store.write(act()) as tx:
        space = tx.space(LIBRARY)
        assert space.put([space.get(Book, held), space.get(Part, "held-1")]) == []
        space.view(Book, held, opened=7)


def test_the_key_of_the_run_passes(store: Store, held: str) -> None:
    with store.write(act("apply", actor="apply", book=held), key="run") as tx:
        assert tx.space(LIBRARY).put([Book(uuid=held, title="Applied")]) == [held]


def test_the_key_of_a_run_opens_no_book_of_another(store: Store, held: str) -> None:
    add_run(store, "other-run", "free", agent="Historian")
    # In both orders, so that neither is simply the first that is found.
    for key, agent in (("run", "Historian"), ("other-run", "Copyeditor"), ("no-run", "Copyeditor|Historian")):
        with pytest.raises(Locked, match=agent), store.write(act("apply"), key=key) as tx:
            tx.space(LIBRARY).put([Book(uuid="held", title="x"), Book(uuid="free", title="x")])


def test_a_copy_is_not_locked(store: Store, held: str) -> None:
    with store.write(act()) as tx:
        space = copy_book(tx, held)
    put(store, Part(uuid="held-1", book=held, created=1, text="by the agent"), space=space)
    part = see(store, space)["part", "held-1"]
    assert isinstance(part, Part)
    assert part.text == "by the agent"


@pytest.mark.parametrize("status", list(RunStatus))
def test_the_status_of_the_run_decides(store: Store, status: RunStatus) -> None:
    put(store, *chain("b", 1))
    add_run(store, "run", "b", status=status)
    if status in HOLDING:
        with pytest.raises(Locked):
            put(store, Book(uuid="b", title="Retitled"))
    else:
        put(store, Book(uuid="b", title="Retitled"))


def test_a_book_that_was_deleted_in_the_lock_is_named_by_its_uuid(store: Store) -> None:
    add_run(store, "run", "ghost")
    with pytest.raises(Locked, match="ghost"):
        put(store, Book(uuid="ghost", title="Back"))
