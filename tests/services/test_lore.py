"""Lorebooks and entries in a store: the tree, its changes, and that they cost a few queries."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Book, Entry, Lorebook, Part
from marginalia_tui.domain.lore import LoreTree
from marginalia_tui.services import lore
from marginalia_tui.services.lore_turn import next_turn, turn_of_part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY, WritableSpace
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.store.worlds import act, chain, put


@contextmanager
def writing(store: Store) -> Iterator[WritableSpace]:
    with store.write(act("lore", book="b")) as tx:
        yield tx.space(LIBRARY)


def tree_of(store: Store, book: str = "b") -> LoreTree:
    with store.read() as tx:
        space = tx.space(LIBRARY)
        return lore.read_tree(space, space.get(Book, book))


def lorebook(store: Store, uuid: str) -> Lorebook:
    with store.read() as tx:
        return tx.space(LIBRARY).get(Lorebook, uuid)


@pytest.fixture
def lib(store: Store) -> Store:
    """Book b with the lorebooks l1 over l2 and l3, l2 over l3; book c that uses l3."""
    parts = chain("b", 3)
    others = chain("c", 1)
    assert isinstance(parts[0], Book) and isinstance(others[0], Book)
    put(
        store,
        Lorebook(uuid="l1", name="World", subbooks=("l2", "l3"), created=1),
        Lorebook(uuid="l2", name="Places", subbooks=("l3",), created=2),
        Lorebook(uuid="l3", name="People", created=3),
        Entry(uuid="e1", lorebook="l1", name="Sea", text="It is cold.", created=1),
        Entry(uuid="e2", lorebook="l1", name="Lamp", text="Burns oil.", order=5, created=2, tags=("a", "b")),
        Entry(uuid="e3", lorebook="l3", name="Ada", filter="Ada", enabled=False, constant=True, created=3),
        replace(parts[0], lorebook="l1"),
        *parts[1:],
        replace(others[0], lorebook="l3"),
        *others[1:],
    )
    return store


def test_the_tree_and_its_entries_are_read(lib: Store) -> None:
    tree = tree_of(lib)
    assert list(tree.lorebooks) == ["l1", "l2", "l3"]
    with lib.read() as tx:
        space = tx.space(LIBRARY)
        rows = lore.entry_rows(space, tree.lorebooks)
        assert [row.uuid for row in rows] == ["e2", "e1", "e3"]
        assert rows[0].tags == ("a", "b") and rows[0].hash == space.hashes(Entry, ["e2"])["e2"]
        assert (rows[2].enabled, rows[2].constant, rows[2].filter, rows[2].first) == (False, True, "Ada", None)
        assert lore.entry_texts(space, ["e1", "e2", "e3", "gone"]) == {"e1": "It is cold.", "e2": "Burns oil."}
        assert lore.count_entries(space, ["l1", "l2", "l3", "gone"]) == {"l1": 2, "l2": 0, "l3": 1}
        assert [book.uuid for book in lore.other_books(space, "l3", "b")] == ["c"]
        assert lore.other_books(space, "l2", "b") == []


def test_a_book_without_lore_has_an_empty_tree(lib: Store) -> None:
    put(lib, *chain("d", 1))
    assert list(tree_of(lib, "d").lorebooks) == []
    put(lib, replace(tree_book(lib, "d"), lorebook="gone"))
    assert tree_of(lib, "d").root is None


def tree_book(store: Store, uuid: str) -> Book:
    with store.read() as tx:
        return tx.space(LIBRARY).get(Book, uuid)


def test_reading_costs_a_few_queries_however_many_rows(lib: Store) -> None:
    many = [Entry(uuid=f"m{number}", lorebook="l2", name=f"N{number}", text=f"T{number}") for number in range(900)]
    books = [Lorebook(uuid=f"k{number}", name="K", created=10 + number) for number in range(400)]
    put(lib, *many, *books, replace(lorebook(lib, "l3"), subbooks=tuple(each.uuid for each in books)))
    asked: list[str] = []
    with lib.read() as tx:
        space = tx.space(LIBRARY)
        event.listen(tx.connection, "before_cursor_execute", lambda *args: asked.append(args[2]))
        tree = lore.read_tree(space, space.get(Book, "b"))
        rows = lore.entry_rows(space, tree.lorebooks)
        assert len(tree.lorebooks) == 403 and len(rows) == 903
    assert len(asked) < 10


def test_the_root_is_made_when_there_is_none_or_it_is_in_the_trash(lib: Store) -> None:
    put(lib, *chain("d", 1))
    with writing(lib) as space:
        root = lore.ensure_root(space, "d")
        assert lore.ensure_root(space, "d") == root
    assert tree_book(lib, "d").lorebook == root.uuid
    with writing(lib) as space:
        lore.delete_lorebook(space, root.uuid)
    with writing(lib) as space:
        assert lore.ensure_root(space, "d").uuid != root.uuid
    assert len(tree_of(lib, "d").lorebooks) == 1


def test_lorebooks_are_made_below_the_root_below_another_and_as_the_root(lib: Store) -> None:
    with writing(lib) as space:
        made, above = lore.create_lorebook(space, "b", "Ships")
        deep, over = lore.create_lorebook(space, "b", "Small ships", made.uuid)
    assert (above, over) == ("l1", made.uuid)
    assert tree_of(lib).levels[deep.uuid] == 2
    put(lib, *chain("d", 1))
    with writing(lib) as space:
        root, above = lore.create_lorebook(space, "d", "Lore of d")
    assert above is None and tree_book(lib, "d").lorebook == root.uuid
    with writing(lib) as space:
        lore.delete_lorebook(space, made.uuid)
    with pytest.raises(NotFound, match="deleted meanwhile"), writing(lib) as space:
        lore.create_lorebook(space, "b", "More", made.uuid)


@pytest.mark.parametrize(("parent", "child"), [("l1", "l1"), ("l3", "l1"), ("l3", "l2"), ("l2", "l1")])
def test_a_lorebook_is_never_below_itself(lib: Store, parent: str, child: str) -> None:
    with pytest.raises(Refused, match="never below itself"), writing(lib) as space:
        lore.add_subbook(space, parent, child)


def test_a_circle_is_not_closed_through_a_deleted_lorebook(lib: Store) -> None:
    with writing(lib) as space:
        lore.delete_lorebook(space, "l2")
    with pytest.raises(Refused, match="never below itself"), writing(lib) as space:
        lore.add_subbook(space, "l3", "l2")


def test_a_deleted_lorebook_is_brought_back_with_its_entries_and_what_is_below(lib: Store) -> None:
    with writing(lib) as space:
        lore.delete_lorebook(space, "l2")
        assert lore.count_entries(space, ["l1"]) == {"l1": 2}
    assert list(tree_of(lib).lorebooks) == ["l1", "l3"]
    with writing(lib) as space:
        assert lore.add_subbook(space, "l1", "l2") == "revived"
        assert lore.add_subbook(space, "l1", "l2") == "unchanged"
    assert list(tree_of(lib).lorebooks) == ["l1", "l2", "l3"]


def test_subbooks_are_added_and_taken_out(lib: Store) -> None:
    with writing(lib) as space:
        lore.remove_subbook(space, "l1", "l3")
        assert lore.is_used(space, "b", "l3")
        lore.remove_subbook(space, "l2", "l3")
        assert not lore.is_used(space, "b", "l3")
    assert list(tree_of(lib, "c").lorebooks) == ["l3"]
    with pytest.raises(NotFound, match="right below 'World'"), writing(lib) as space:
        lore.remove_subbook(space, "l1", "l3")
    with writing(lib) as space:
        assert lore.add_subbook(space, "l2", "l3") == "added"


def test_fields_are_set_and_what_is_another_value_is_told(lib: Store) -> None:
    with writing(lib) as space:
        assert lore.change_lorebook(space, "l2", {"name": "Places", "tags": ("sea",), "scan_depth": 2}) == [
            "tags",
            "scan_depth",
        ]
        assert lore.change_entry(space, "e2", {"tags": ("b", "a", "b"), "order": 5, "first": 3}) == ["first"]
        assert lore.change_entry(space, "e2", {"tags": ()}) == ["tags"]
        assert lore.change_entries(space, {"e1": {"text": "Warm."}, "e2": {"name": "Lamp"}, "gone": {}}) == ["e1"]


def test_entries_are_made_moved_and_deleted(lib: Store) -> None:
    with writing(lib) as space:
        entry = lore.create_entry(space, "l2", {"name": "Quay", "text": "Stone."})
        assert lore.move_entry(space, entry.uuid, "l3") and not lore.move_entry(space, entry.uuid, "l3")
        assert [row.name for row in lore.entry_rows(space, ["l3"])] == ["Ada", "Quay"]
        assert lore.delete_entries(space, [entry.uuid, "gone"]) == [entry.uuid]
        assert space.find(Entry, entry.uuid) is None


@pytest.mark.parametrize("name", ["", " \n ", "x" * 301, "a\x1b[2Jb", "turned \u202e", "\ud800"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="name"):
        lore.check_name(name, "entry")


def test_a_name_is_one_line() -> None:
    assert lore.check_name("  The \n old\tquay ", "entry") == "The old quay"
    assert lore.check_name("\u9f99 \U0001f409 \u05d0", "entry") == "\u9f99 \U0001f409 \u05d0"


def test_a_turn_has_the_parts_before_it_that_are_needed(lib: Store) -> None:
    with lib.read() as tx:
        space = tx.space(LIBRARY)
        book = replace(space.get(Book, "b"), tags=("sea",))
        story, tree = story_tree(space, book), tree_of(lib)
        rows = [row._replace(look_back=2) for row in lore.entry_rows(space, ["l1"])]
        turn = next_turn(space, book, story, "On we go.", tree, rows)
        assert (turn.text, turn.position, turn.tags) == ("On we go.", 4, ("sea",))
        assert turn.parts == ["Text of part 3.", "Text of part 2."]
        part = replace(space.get(Part, "b-2"), scene="A quay", present="Ada")
        turn = turn_of_part(space, book, story, part, tree, rows)
        assert (turn.text, turn.position, turn.parts) == ("A quay\n\nAda\n\nText of part 2.", 2, ["Text of part 1."])
        assert turn_of_part(space, book, story, part, tree, lore.entry_rows(space, ["l1"])).parts == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("ard"), st.integers(0, 5), st.integers(0, 5)), max_size=25))
def test_whatever_is_done_no_lorebook_is_ever_below_itself(
    new_store: NewStore, steps: list[tuple[str, int, int]]
) -> None:
    with new_store() as store:
        put(store, *(Lorebook(uuid=f"l{number}", name=f"L{number}", created=number) for number in range(6)))
        for what, one, other in steps:
            with store.write(act()) as tx:
                space = tx.space(LIBRARY)
                try:
                    if what == "a":
                        lore.add_subbook(space, f"l{one}", f"l{other}")
                    elif what == "r":
                        lore.remove_subbook(space, f"l{one}", f"l{other}")
                    else:
                        lore.delete_lorebook(space, f"l{one}")
                except (Refused, NotFound):
                    pass
        with store.read() as tx:
            below = {
                each.uuid: set(each.subbooks)
                for each in tx.space(LIBRARY).get_many(Lorebook, [f"l{number}" for number in range(6)]).values()
            }
        while free := [uuid for uuid, others in below.items() if not others]:
            below = {uuid: others - set(free) for uuid, others in below.items() if uuid not in free}
        assert not below
