"""Undo and redo for the author: the journal against a list of states."""

from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Book, Item, Part
from marginalia_tui.store import history
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.store.worlds import World, act, chain, count, look, put, see

BOOK = "b"


def undo(store: Store, book: str = BOOK, *, redo: bool = False) -> str | None:
    """Takes the next step back and returns its label; None when there is none."""
    with store.read() as read:
        step = history.next_redo(read, book) if redo else history.next_undo(read, book)
    if step is None:
        return None
    with store.write(act("redo" if redo else "undo", book=book, undoes=step.change)) as tx:
        history.take_back(tx, book, step)
    return step.label


class Steps(RuleBasedStateMachine):
    """Edits, undos and redos of one book, beside a list of its states and the place in it."""

    new_store: NewStore

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.store = self.stack.enter_context(self.new_store())
        put(self.store, Book(uuid="other", title="Another book"), label="begin", book="other")
        self.states: list[World] = [see(self.store)]
        self.labels: list[str] = []
        self.at = 0
        self.made = 0

    def teardown(self) -> None:
        self.stack.close()

    def edited(self, *groups: list[Item], gone: list[str] | None = None) -> None:
        self.made += 1
        label = f"edit {self.made}"
        with self.store.write(act(label, book=BOOK)) as tx:
            for items in groups:
                tx.space(LIBRARY).put(items)
            tx.space(LIBRARY).delete(Part, gone or [])
            world = look(tx, LIBRARY)
            written = tx.changed(LIBRARY) is not None
        if written:
            # Also one that went there and back, which is no step of its own.
            del self.states[self.at + 1 :], self.labels[self.at :]
        if world != self.world:
            self.states.append(world)
            self.labels.append(label)
            self.at += 1

    @property
    def world(self) -> World:
        return self.states[self.at]

    @rule(title=st.sampled_from("xyz"))
    def title_the_book(self, title: str) -> None:
        self.edited([Book(uuid=BOOK, title=title)])

    @rule(number=st.integers(0, 3), text=st.sampled_from("abc"))
    def edit_a_part(self, number: int, text: str) -> None:
        if ("book", BOOK) in self.world:
            self.edited([Part(uuid=f"p{number}", book=BOOK, text=text)])

    @rule(text=st.sampled_from("abc"), again=st.sampled_from("abc"))
    def edit_many_in_two_goes(self, text: str, again: str) -> None:
        if ("book", BOOK) in self.world:
            self.edited(
                [Part(uuid=f"p{number}", book=BOOK, text=text) for number in range(4)],
                [Part(uuid="p0", book=BOOK, text=again), Part(uuid="p9", book=BOOK, text=again)],
            )

    @rule(number=st.integers(0, 3))
    def delete_a_part(self, number: int) -> None:
        self.edited(gone=[f"p{number}"])

    @rule()
    def undo(self) -> None:
        label = undo(self.store)
        if self.at == 0:
            assert label is None
        else:
            self.at -= 1
            assert label == self.labels[self.at]

    @rule()
    def redo(self) -> None:
        label = undo(self.store, redo=True)
        if self.at == len(self.states) - 1:
            assert label is None
        else:
            assert label == self.labels[self.at]
            self.at += 1

    @invariant()
    def the_store_is_where_the_list_is(self) -> None:
        assert see(self.store) == self.world


def test_undo_and_redo_walk_a_list_of_states(new_store: NewStore) -> None:
    class Here(Steps):
        pass

    Here.new_store = staticmethod(new_store)
    run_state_machine_as_test(Here, settings=settings(max_examples=50, stateful_step_count=40, deadline=None))


@pytest.fixture
def book(store: Store) -> str:
    put(store, *chain(BOOK, 3), label="import", book=BOOK)
    return BOOK


def test_one_change_is_one_step_however_many_items_it_touched(store: Store, book: str) -> None:
    before = see(store)
    with store.write(act("search-replace", book=book)) as tx:
        parts = tx.space(LIBRARY).get_many(Part, ["b-1", "b-2", "b-3"])
        for part in parts.values():
            tx.space(LIBRARY).put([replace(part, text="replaced")])
        tx.space(LIBRARY).put([Part(uuid="b-4", book=book, parent="b-3")])
    after = see(store)
    assert undo(store) == "search-replace"
    assert see(store) == before
    assert undo(store, redo=True) == "search-replace"
    assert see(store) == after


def test_a_change_that_went_there_and_back_is_no_step(store: Store, book: str) -> None:
    """Nothing of it could be taken back, so that undo would stand at it for ever."""
    put(store, Part(uuid="b-1", book=book, text="one"), label="first", book=book)
    before = see(store)
    with store.write(act("there and back", book=book)) as tx:
        tx.space(LIBRARY).put([Part(uuid="b-1", book=book, text="two")])
        tx.space(LIBRARY).put([Part(uuid="b-1", book=book, text="one")])
    assert see(store) == before
    assert undo(store) == "first"
    assert undo(store, redo=True) == "first"
    assert see(store) == before


def test_saves_that_join_a_change_are_taken_back_with_it(store: Store, book: str) -> None:
    before = see(store)
    with store.write(act("edit-part", book=book)) as tx:
        tx.space(LIBRARY).put([Part(uuid="b-1", book=book, created=1, text="one")])
        first = tx.changed(LIBRARY)
    assert first is not None
    changes = count(store, "change")
    for text in ("one two", "one two three"):
        with store.write(act("edit-part", book=book)) as tx:
            tx.join(LIBRARY, first)
            tx.space(LIBRARY).put([Part(uuid="b-1", book=book, created=1, text=text)])
    assert count(store, "change") == changes
    assert undo(store) == "edit-part"
    assert see(store) == before


def test_a_new_edit_ends_redo(store: Store, book: str) -> None:
    put(store, Part(uuid="b-1", book=book, text="one"), label="first", book=book)
    undo(store)
    put(store, Part(uuid="b-1", book=book, text="two"), label="second", book=book)
    assert undo(store, redo=True) is None
    assert undo(store) == "second"


def test_other_books_and_copies_are_no_steps_of_a_book(store: Store, book: str) -> None:
    put(store, *chain("other", 1), label="import", book="other")
    with store.write(act("copy")) as tx:
        space = copy_book(tx, book)
    put(store, Part(uuid="b-1", book=book, text="by the agent"), space=space, book=book)
    in_copy = see(store, space)
    assert undo(store) == "import"
    assert ("book", book) not in see(store)
    assert ("book", "other") in see(store)
    assert see(store, space) == in_copy


def test_what_was_changed_since_by_something_unseen_is_not_overwritten(store: Store, book: str) -> None:
    put(store, Part(uuid="b-1", book=book, created=1, text="one"), label="edit-part", book=book)
    put(store, Part(uuid="b-1", book=book, created=1, text="of a change that names no book"))
    before = see(store)
    with pytest.raises(Refused, match="edit-part"):
        undo(store)
    assert see(store) == before


def test_undo_reaches_its_number_of_changes_also_after_going_to_and_fro(store: Store) -> None:
    put(store, Book(uuid=BOOK, title="0"))
    for number in range(1, history.UNDO_REACH + 6):
        put(store, Book(uuid=BOOK, title=str(number)), label=f"to {number}", book=BOOK)
    newest = history.UNDO_REACH + 5
    for number in range(newest, newest - 120, -1):
        assert undo(store) == f"to {number}"
    for number in range(newest - 119, newest + 1):
        assert undo(store, redo=True) == f"to {number}"
    assert undo(store, redo=True) is None
    for number in range(newest, newest - history.UNDO_REACH, -1):
        assert undo(store) == f"to {number}"
    assert undo(store) is None
    assert see(store)["book", BOOK] == Book(uuid=BOOK, title="5")


def test_the_change_that_made_a_book_is_known(store: Store, book: str) -> None:
    put(store, Part(uuid="b-1", book=book, created=1, text="one"), label="edit-part", book=book)
    with store.read() as read:
        newest = history.next_undo(read, book)
        assert newest is not None
        assert not history.made_book(read, newest.change)
    undo(store)
    with store.read() as read:
        first = history.next_undo(read, book)
        assert first is not None
        assert first.label == "import"
        assert history.made_book(read, first.change)
