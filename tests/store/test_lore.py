"""Lore, folders and notes as items: how far a copy and a lock reach, and what goes with what."""

from dataclasses import replace

import pytest

from marginalia_tui.domain.errors import Locked, Refused
from marginalia_tui.domain.items import Annotation, Book, Entry, Folder, Item, Lorebook, Part, Summary
from marginalia_tui.store import history, reach
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from tests.store.worlds import act, add_run, chain, every_other_kind, put, see

ROOT = Lorebook(uuid="root", name="Root", created=1, subbooks=("harbour", "shared"))
SHARED = Lorebook(uuid="shared", name="Shared", created=2, subbooks=("deep",))
HARBOUR = Lorebook(uuid="harbour", name="Harbour", created=3)
DEEP = Lorebook(uuid="deep", name="Deep", created=4)
OTHER = Lorebook(uuid="other", name="Other", created=5, subbooks=("shared",))
ALONE = Lorebook(uuid="alone", name="Alone", created=6)


def fact(lorebook: str) -> Entry:
    return Entry(uuid=f"of-{lorebook}", lorebook=lorebook, name="A fact", text="It is so.", created=7)


NOTE = Annotation(uuid="note", book="held", part="held-1", text="Why?")
SUMMARY = Summary(uuid="summary", book="held", part="held-2", text="All of it.")
SEA = Folder(uuid="sea", name="Sea")
NORTH = Folder(uuid="north", name="North", parent="sea")
LAND = Folder(uuid="land", name="Land")


@pytest.fixture
def library(store: Store) -> None:
    """`held` uses `root` and all below it, and stands in `north`; `free` uses `other`."""
    books = [replace(item, lorebook="root", folder="north") for item in chain("held", 2) if isinstance(item, Book)]
    books += [replace(item, lorebook="other") for item in chain("free", 1) if isinstance(item, Book)]
    parts = [item for book in ("held", "free") for item in chain(book, 2 if book == "held" else 1)[1:]]
    lore = [ROOT, SHARED, HARBOUR, DEEP, OTHER, ALONE]
    put(store, *books, *parts, *lore, *(fact(each.uuid) for each in lore), NOTE, SUMMARY, SEA, NORTH, LAND)
    put(store, *chain("apart", 1))


def hold(store: Store) -> None:
    add_run(store, "run", "held", agent="Copyeditor")


# How far lore reaches


def test_a_tree_of_lorebooks_is_read_level_by_level_each_once(store: Store, library: None) -> None:
    with store.read() as tx:
        assert reach.lore_tree(tx.connection, LIBRARY, "root") == ["root", "shared", "harbour", "deep"]
        assert reach.lore_tree(tx.connection, LIBRARY, "alone") == ["alone"]
        assert reach.lore_tree(tx.connection, LIBRARY, "gone") == []
        assert reach.lore_tree(tx.connection, LIBRARY, None) == []
        assert reach.books_with_lore(tx.connection, LIBRARY, ["deep"]) == {"held", "free"}
        assert reach.books_with_lore(tx.connection, LIBRARY, ["harbour"]) == {"held"}
        assert reach.books_with_lore(tx.connection, LIBRARY, ["alone"]) == set()
        assert reach.books_in_folders(tx.connection, LIBRARY, ["sea"]) == {"held"}
        assert reach.books_in_folders(tx.connection, LIBRARY, ["land"]) == set()


def test_a_circle_of_lorebooks_ends(store: Store, library: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though none can be made any more."""
    with monkeypatch.context() as patch:
        patch.setattr(reach, "below_itself", lambda *_: None)
        put(store, replace(DEEP, subbooks=("root",)))
    with store.read() as tx:
        assert reach.lore_tree(tx.connection, LIBRARY, "deep") == ["deep", "root", "shared", "harbour"]
        assert reach.books_with_lore(tx.connection, LIBRARY, ["harbour"]) == {"held", "free"}


def test_no_lorebook_comes_to_stand_below_itself(store: Store, library: None) -> None:
    """The gateway refuses it whoever writes: undo, a review, a backup. The other way round is no circle."""
    for wrong in (replace(DEEP, subbooks=("root",)), replace(DEEP, subbooks=("deep",))):
        before = see(store)
        with pytest.raises(Refused, match=r"lorebook 'Deep' would stand below itself"):
            put(store, wrong)
        assert see(store) == before
    put(store, replace(SHARED, subbooks=()), replace(DEEP, subbooks=("shared",)))


def test_a_chain_of_5_000_lorebooks_and_folders_is_no_recursion(store: Store) -> None:
    many = 5_000
    lore = [
        Lorebook(uuid=f"l{place:05}", name="x", created=place, subbooks=(f"l{place + 1:05}",)) for place in range(many)
    ]
    folders = [
        Folder(uuid=f"f{place:05}", name="x", parent=f"f{place - 1:05}" if place else None) for place in range(many)
    ]
    put(store, Book(uuid="b", title="B", lorebook="l00000", folder=f"f{many - 1:05}"), *lore, *folders)
    with store.read() as tx:
        assert len(reach.lore_tree(tx.connection, LIBRARY, "l00000")) == many
        assert reach.books_with_lore(tx.connection, LIBRARY, [f"l{many - 1:05}"]) == {"b"}
        assert reach.books_in_folders(tx.connection, LIBRARY, ["f00000"]) == {"b"}


# A working copy


def test_a_copy_has_the_lore_the_notes_and_the_summaries_of_its_book_alone(store: Store, library: None) -> None:
    with store.write(act("copy")) as tx:
        space = copy_book(tx, "held")
    library_items, copied = see(store), see(store, space)
    assert copied == {key: library_items[key] for key in copied}
    assert set(copied) == {
        ("book", "held"),
        ("part", "held-1"),
        ("part", "held-2"),
        *(("lorebook", each) for each in ("root", "shared", "harbour", "deep")),
        *(("entry", f"of-{each}") for each in ("root", "shared", "harbour", "deep")),
        ("annotation", "note"),
        ("summary", "summary"),
    }


def test_lore_that_books_share_is_not_shared_with_a_copy(store: Store, library: None) -> None:
    with store.write(act("copy")) as tx:
        space = copy_book(tx, "held")
    put(store, replace(fact("deep"), text="It is otherwise."), space=space)
    assert see(store)["entry", "of-deep"] == fact("deep")
    put(store, replace(fact("deep"), text="The author's."))
    found = see(store, space)["entry", "of-deep"]
    assert isinstance(found, Entry) and found.text == "It is otherwise."


# The lock

LOCKED: list[Item] = [
    replace(ROOT, name="Renamed"),
    replace(fact("root"), text="Changed."),
    replace(fact("deep"), enabled=False),
    replace(SHARED, subbooks=()),
    replace(SHARED, deleted=9),
    Entry(uuid="new", lorebook="harbour", name="New"),
    replace(fact("alone"), lorebook="deep"),  # moved into it
    replace(fact("deep"), lorebook="alone"),  # moved out of it
    replace(SUMMARY, text="Another."),
    replace(NORTH, language="de"),
    replace(SEA, prompts={"master": "Write."}),
    replace(NORTH, parent="land"),
]

FREE: list[Item] = [
    replace(NOTE, status="done"),
    Annotation(uuid="new", book="held", part="held-2", text="A new note."),
    replace(DEEP, tags=("storm",)),
    replace(ALONE, name="Renamed"),
    replace(fact("other"), text="Changed."),
    replace(OTHER, name="Renamed"),
    Lorebook(uuid="new", name="New"),
    replace(SEA, name="The sea"),
    replace(LAND, language="de"),
]


@pytest.mark.parametrize("item", LOCKED)
def test_what_an_agent_works_on_is_locked_however_deep(store: Store, library: None, item: Item) -> None:
    hold(store)
    before = see(store)
    with pytest.raises(Locked, match=r"Copyeditor.*The book held"):
        put(store, item)
    assert see(store) == before


@pytest.mark.parametrize("item", FREE)
def test_notes_tags_names_of_folders_and_other_lore_stay_free(store: Store, library: None, item: Item) -> None:
    hold(store)
    put(store, item)
    assert see(store)[item.KIND, item.uuid] == item


def test_a_lorebook_that_is_shared_is_locked_for_the_other_book_too(store: Store, library: None) -> None:
    hold(store)
    with pytest.raises(Locked), store.write(act(book="free")) as tx:
        tx.space(LIBRARY).put([replace(fact("shared"), text="x")])


def test_the_run_itself_may_apply_what_it_changed(store: Store, library: None) -> None:
    hold(store)
    with store.write(act(), key="run") as tx:
        assert tx.space(LIBRARY).put([replace(fact("deep"), text="x")]) == ["of-deep"]


# What goes with what


def test_what_stands_on_a_part_goes_with_it_and_comes_back_with_it(store: Store, library: None) -> None:
    before = see(store)
    with store.write(act()) as tx:
        start = tx.position()
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, "held"), active_leaf="held-1")])
        assert space.delete(Part, ["held-2"]) == ["held-2", "summary"]
    assert ("summary", "summary") not in see(store)
    with store.write(act("undo")) as tx:
        history.restore(tx, LIBRARY, start)
    assert see(store) == before


def test_the_entries_of_a_lorebook_go_with_it(store: Store) -> None:
    put(store, *chain("b", 1), *every_other_kind("b"))
    with store.write(act()) as tx:
        assert tx.space(LIBRARY).delete(Lorebook, ["lore"]) == ["lore", "entry"]


def test_a_change_of_lore_is_told_to_every_book_that_uses_it(store: Store, library: None) -> None:
    told: list[frozenset[str]] = []
    store.bus.subscribe(lambda touched: told.append(touched.books))
    put(store, replace(fact("deep"), text="x"))
    put(store, replace(SEA, name="The sea"))
    assert told == [{"held", "free"}, {"held"}]
