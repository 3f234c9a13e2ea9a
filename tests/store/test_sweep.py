"""The sweep frees what is dead and never what somebody refers to, also what is referred to anew while it works."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services.counting import count_all
from marginalia_tui.store import history, tables
from marginalia_tui.store import sweep as module
from marginalia_tui.store.content import get_texts
from marginalia_tui.store.integrity import check
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store
from marginalia_tui.store.sweep import sweep
from tests.conftest import NewStore
from tests.store.worlds import act, chain, count, put, see


def sizes(store: Store) -> tuple[int, int]:
    return count(store, "state"), count(store, "text")


def agent_copy(store: Store, text: str = "by the agent") -> int:
    """A working copy in which three texts, three states and two values of attributes are new."""
    with store.write(act()) as tx:
        space = copy_book(tx, "b")
        parts = tx.space(space).get_many(Part, ["b-1", "b-2", "b-3"])
        tx.space(space).put(
            [replace(part, text=f"{text} {part.uuid}", attributes={"a": [text], "b": text}) for part in parts.values()]
        )
    return space


def drop(store: Store, space: int, *, keep_journal: bool = False) -> None:
    """Drops a copy whose changes are in the statistics, which would still need its texts."""
    count_all(store)
    with store.write(act()) as tx:
        drop_space(tx, space, keep_journal=keep_journal)


@pytest.fixture(autouse=True)
def book(store: Store) -> None:
    put(store, *chain("b", 5))


def test_nothing_of_a_sound_store_is_freed(store: Store) -> None:
    agent_copy(store)
    put(store, Part(uuid="b-1", book="b", created=1, text="newer"))
    before = sizes(store)
    assert sum(sweep(store)) == 0
    assert sizes(store) == before


def test_what_a_dropped_copy_alone_referred_to_is_freed(store: Store) -> None:
    before = sizes(store)
    space = agent_copy(store)
    assert sizes(store) == (before[0] + 3, before[1] + 5)
    drop(store, space)
    world = see(store)
    assert sum(sweep(store)) == 8
    assert sizes(store) == before
    assert see(store) == world
    assert check(store) == []
    assert sum(sweep(store)) == 0


def test_what_the_kept_journal_of_a_dropped_copy_cites_stays(store: Store) -> None:
    space = agent_copy(store)
    before = sizes(store)
    drop(store, space, keep_journal=True)
    assert sum(sweep(store)) == 0
    assert sizes(store) == before


def test_what_a_copy_of_a_dropped_copy_refers_to_stays(store: Store) -> None:
    first = agent_copy(store)
    with store.write(act()) as tx:
        second = copy_book(tx, "b", first)
    drop(store, first)
    world = see(store, second)
    assert sum(sweep(store)) == 0
    assert see(store, second) == world
    assert check(store) == []


def test_the_past_can_still_be_restored_after_a_sweep(store: Store) -> None:
    with store.read() as tx:
        start, world = tx.position(), see(store)
    put(store, Part(uuid="b-1", book="b", created=1, text="newer", attributes={"x": 1}))
    with store.write(act()) as tx:
        tx.space(LIBRARY).put([Book(uuid="b", title="B", active_leaf=None)])
        tx.space(LIBRARY).delete(Part, ["b-5"])
    drop(store, agent_copy(store))
    assert sum(sweep(store)) > 0
    with store.write(act()) as tx:
        history.restore(tx, LIBRARY, start)
    assert see(store) == world


def test_the_state_that_a_draft_began_from_stays(store: Store) -> None:
    space = agent_copy(store)
    with store.write(act()) as tx:
        base = tx.space(space).hashes(Part, ["b-1"])["b-1"]
        draft = {"book": "b", "part": "b-1", "title": "", "text": "x", "base": base, "at": 1}
        tx.connection.execute(insert(tables.draft).values(draft))
    drop(store, space)
    assert sum(sweep(store)) == 8 - 1 - 3  # its state, its text and the two values that it shares with the others
    with store.read() as read:
        assert base in read.space(LIBRARY).states(Part, [base])


# While it works


def until_deleting(steps: Iterator[int]) -> None:
    """Runs a sweep until it has freed something: everything is marked by then."""
    assert next(freed for freed in steps if freed)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and batches of one row, so that a test can step in between any two."""
    monkeypatch.setattr(module, "PAGE", 1)
    monkeypatch.setattr(module, "chunks", lambda values: ([value] for value in values))


def by_an_edit(store: Store) -> int:
    parts = see(store)
    one = parts["part", "b-2"]
    assert isinstance(one, Part)
    text = "by the agent"
    put(store, replace(one, text=f"{text} b-2", attributes={"a": [text], "b": text}))
    return LIBRARY


def by_a_copy(store: Store) -> int:
    return agent_copy(store)


def by_a_copy_of_a_copy(store: Store) -> int:
    first = agent_copy(store)
    with store.write(act()) as tx:
        second = copy_book(tx, "b", first)
    drop(store, first)
    return second


def by_a_draft(store: Store) -> int:
    """A draft of a part of a copy, which is gone when the sweep looks again."""
    space = agent_copy(store)
    with store.write(act()) as tx:
        base = tx.space(space).hashes(Part, ["b-1"])["b-1"]
        draft = {"book": "b", "part": "b-1", "title": "", "text": "x", "base": base, "at": 1}
        tx.connection.execute(insert(tables.draft).values(draft))
    drop(store, space)
    return LIBRARY


def bases_of_drafts(store: Store) -> int:
    """How many drafts began from a state that is there, with its text."""
    with store.read() as tx:
        bases = list(tx.connection.execute(select(tables.draft.c.base)).scalars())
        states = tx.space(LIBRARY).states(Part, bases)
        return len([1 for cells in states.values() if get_texts(tx.connection, [cells["text"]])])


@pytest.mark.parametrize("again", [by_an_edit, by_a_copy, by_a_copy_of_a_copy, by_a_draft])
@pytest.mark.parametrize("steps", [*range(0, 60, 3), None])
def test_what_is_referred_to_anew_at_any_moment_stays(
    store: Store, one_by_one: None, again: Callable[[Store], int], steps: int | None
) -> None:
    """Dead texts and states get a new reader while the sweep stands after `steps` steps (None: after a deletion)."""
    drop(store, agent_copy(store))
    working = sweep(store)
    if steps is None:
        until_deleting(working)
    else:
        for _ in range(steps):
            next(working, None)
    space = again(store)
    world, drafts = see(store, space), bases_of_drafts(store)
    for _ in working:
        pass
    assert see(store, space) == world
    assert bases_of_drafts(store) == drafts == (again is by_a_draft)
    assert check(store) == []


@pytest.mark.parametrize("again", [by_an_edit, by_a_copy, by_a_copy_of_a_copy, by_a_draft])
def test_what_is_referred_to_anew_right_before_a_deletion_stays(
    store: Store, again: Callable[[Store], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else has the writer turn right before the sweep gets it."""
    drop(store, agent_copy(store))
    spaces: list[int] = []
    write = Store.write

    def after_another(store: Store, act: Act, **options: Any) -> Any:
        if act.label == "sweep" and not spaces:
            spaces.append(again(store))
        return write(store, act, **options)

    monkeypatch.setattr(Store, "write", after_another)
    assert sum(sweep(store)) < 8
    assert see(store, spaces[0])
    assert bases_of_drafts(store) == (again is by_a_draft)
    assert check(store) == []


def test_it_waits_for_nobody_and_can_be_left(store: Store, one_by_one: None) -> None:
    drop(store, agent_copy(store))
    working = sweep(store)
    until_deleting(working)
    put(store, Book(uuid="c", title="written between two steps"))
    del working
    assert check(store) == []
    assert sum(sweep(store)) == 7


texts = st.sampled_from(["one", "two", "three", "four"])


@settings(max_examples=25)
@given(edits=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), texts), max_size=20))
def test_the_rest_is_exactly_what_is_referred_to(new_store: NewStore, edits: list[tuple[int, int, str]]) -> None:
    """Edits, copies and drops in any order: what is left is what a walk over journal and items finds, no more."""
    with new_store() as store:
        put(store, *chain("b", 3))
        spaces = [LIBRARY]
        for what, place, text in edits:
            if what == 0:
                with store.write(act()) as tx:
                    spaces.append(copy_book(tx, "b"))
            elif what == 1 and len(spaces) > 1:
                drop(store, spaces.pop(1))
            else:
                put(
                    store,
                    Part(uuid=f"b-{place}", book="b", text=text, attributes={text: place}),
                    space=spaces[place % len(spaces)],
                )
        worlds = {space: see(store, space) for space in spaces}
        for _ in sweep(store):
            pass
        assert {space: see(store, space) for space in spaces} == worlds
        assert check(store) == []
        with store.read() as tx:
            named = set(
                tx.connection.exec_driver_sql(
                    "SELECT before FROM journal UNION SELECT after FROM journal UNION SELECT hash FROM part "
                    "UNION SELECT hash FROM book"
                ).scalars()
            )
            left = set(tx.connection.exec_driver_sql("SELECT hash FROM state").scalars())
        assert left == named - {None}
