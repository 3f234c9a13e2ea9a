"""A working copy: the same uuids, nothing shared, dropped without a trace in anything else."""

from dataclasses import replace

import pytest

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book, Part, Plan
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.store import history
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import base_of, copy_book, drop_space
from marginalia_tui.store.store import Store
from tests.store.worlds import act, chain, count, plain, put, see

Rows = dict[str, list[tuple[object, ...]]]


def rows_of(store: Store, space: int) -> Rows:
    """Every row of a space as another program reads it, derived and view columns too."""
    with plain(store) as other:
        return {
            table: other.execute(f'SELECT * FROM "{table}" WHERE space_id = ? ORDER BY 1, 2, 3', (space,)).fetchall()
            for table in ("book", "part", "plan", "journal", "change")
        }


def copy(store: Store, book: str, origin: int = LIBRARY) -> int:
    with store.write(act("copy")) as tx:
        return copy_book(tx, book, origin)


def drop(store: Store, space: int, *, keep_journal: bool = False) -> None:
    with store.write(act("drop")) as tx:
        drop_space(tx, space, keep_journal=keep_journal)


@pytest.fixture
def library(store: Store) -> dict[str, int]:
    """Twenty-one books, `b0` to `b20`, with notes, siblings and texts that they share; and the journal so far."""
    for number in range(21):
        book = f"b{number}"
        put(store, *chain(book, 5, text="The same text of part {place} in every book."))
        put(store, Part(uuid=f"{book}-swipe", book=book, parent=f"{book}-1", created=9, attributes={"mood": ["dark"]}))
    put(store, Plan(uuid="plan", book="b7", steps="[]"))
    return {f"b{number}": 6 for number in range(21)}


def test_a_copy_has_the_same_items_under_the_same_uuids(store: Store, library: dict[str, int]) -> None:
    space = copy(store, "b7")
    of_book = {key: item for key, item in see(store).items() if isinstance(item, Part) and item.book == "b7"}
    assert see(store, space) == {**of_book, ("book", "b7"): see(store)["book", "b7"]}
    with store.write(act()) as tx:
        assert base_of(tx, space) == tx.position()
        assert {row.uuid for row in tx.space(space).outline("b7")} == {uuid for _, uuid in of_book}
        assert [book.uuid for book in tx.space(space).books()] == ["b7"]
        assert tx.space(space).counts() == {"b7": (6, sum(each.words for each in of_book.values()))}
        assert tx.space(space).find(Book, "b8") is None


def test_nothing_is_shared_with_the_library(store: Store, library: dict[str, int]) -> None:
    space = copy(store, "b7")
    in_library, in_copy = see(store), see(store, space)
    with store.write(act()) as tx:
        mine = tx.space(space)
        parts = mine.get_many(Part, [f"b7-{place}" for place in range(1, 6)])
        mine.put([replace(part, text="changed by the agent", attributes={"a": 1}) for part in parts.values()])
        mine.delete(Part, ["b7-swipe"])
        mine.put([Book(uuid="b7", title="Retitled", active_leaf="b7-2")])
    assert see(store) == in_library
    with store.write(act()) as tx:
        history.restore(tx, space, base_of(tx, space))
    assert see(store, space) == in_copy
    put(store, Part(uuid="b7-1", book="b7", text="changed by the author"))
    with store.write(act()) as tx:
        tx.space(LIBRARY).delete(Part, ["b7-swipe"])
    assert see(store, space) == in_copy


def test_dropping_a_copy_leaves_every_row_of_the_library(store: Store, library: dict[str, int]) -> None:
    other = copy(store, "b3")
    before, beside = rows_of(store, LIBRARY), rows_of(store, other)
    spaces = count(store, "space")
    space = copy(store, "b7")
    put(store, Part(uuid="b7-1", book="b7", text="changed"), Part(uuid="new", book="b7", parent="b7-1"), space=space)
    with store.write(act()) as tx:
        history.restore(tx, space, base_of(tx, space))
    drop(store, space)
    assert rows_of(store, LIBRARY) == before
    assert rows_of(store, other) == beside
    assert all(rows == [] for rows in rows_of(store, space).values())
    assert count(store, "space") == spaces


def test_a_dropped_copy_can_keep_its_journal(store: Store, library: dict[str, int]) -> None:
    space = copy(store, "b7")
    put(store, Part(uuid="b7-1", book="b7", text="changed"), space=space)
    before = rows_of(store, space)
    drop(store, space, keep_journal=True)
    after = rows_of(store, space)
    assert (after["journal"], after["change"]) == (before["journal"], before["change"])
    assert after["book"] == after["part"] == []


def test_a_copy_can_be_copied(store: Store, library: dict[str, int]) -> None:
    first = copy(store, "b7")
    put(store, Part(uuid="b7-1", book="b7", text="changed"), space=first)
    second = copy(store, "b7", first)
    assert see(store, second) == see(store, first)
    drop(store, first)
    part = see(store, second)["part", "b7-1"]
    assert isinstance(part, Part)
    assert part.text == "changed"


def test_only_a_copy_can_be_dropped(store: Store, library: dict[str, int]) -> None:
    before = see(store)
    for space in (LIBRARY, 99):
        with pytest.raises(NotFound):
            drop(store, space)
    assert see(store) == before


def test_a_book_that_is_not_there_is_not_copied(store: Store, library: dict[str, int]) -> None:
    spaces = count(store, "space")
    with pytest.raises(NotFound):
        copy(store, "no-such-book")
    assert count(store, "space") == spaces


def test_a_chain_of_20000_parts_needs_no_recursion(store: Store) -> None:
    length = 20_000
    put(store, *chain("long", length, text="Part {place}."))
    space = copy(store, "long")
    base = see(store, space)
    with store.write(act()) as tx:
        parts = tx.space(space).get_many(Part, [f"long-{place}" for place in range(1, length, 100)])
        tx.space(space).put([replace(part, text="changed") for part in parts.values()])
        # The first part goes, and what stands below moves up.
        second = tx.space(space).get(Part, "long-2")
        tx.space(space).put([replace(second, parent=None)])
        tx.space(space).delete(Part, ["long-1"])
    with store.write(act()) as tx:
        assert len(history.restore(tx, space, base_of(tx, space))) == 201
    assert see(store, space) == base

    with store.read() as read:
        tree = StoryTree(read.space(space).outline("long"), f"long-{length}")
    assert tree.active == [f"long-{place}" for place in range(1, length + 1)]
    assert tree.position(f"long-{length}") == length
    assert tree.is_ancestor("long-1", f"long-{length}")
    assert tree.leaf_below("long-1") == f"long-{length}"
    drop(store, space)
    assert count(store, "part") == length
