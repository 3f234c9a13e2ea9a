"""What an agent changed is offered field by field and operation by operation, and taken over in place."""

from dataclasses import replace

import pytest

from marginalia_tui.agent.merge.model import Picks, split_pick
from marginalia_tui.agent.merge.shown import load_places
from marginalia_tui.domain.errors import Invalid, Locked, NotFound
from marginalia_tui.domain.items import Book, Plan
from marginalia_tui.store import tables
from marginalia_tui.store.space import WritableSpace
from marginalia_tui.store.spaces import drop_space
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, chain, put


def ids(desk: Desk) -> list[str]:
    return [item.id for item in desk.plan().items]


# Fields


def test_what_only_the_agent_changed_is_offered_and_taken(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.edit("b", text="New.", pov="Mina")
    item = desk.item("part:b")
    assert item.change == "changed"
    assert [(each.name, each.base, each.agent, each.book) for each in item.fields] == [
        ("text", "Text of b.", "New.", "Text of b."),
        ("pov", "", "Mina", ""),
    ]
    assert not item.conflicts
    done = desk.apply_all()
    assert done.applied == ("part:b",)
    assert desk.author.part("b").text == "New."
    assert desk.author.part("b").words == 1
    assert desk.author.part("a").text == "Text of a."


def test_what_the_author_changed_beside_it_stays(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    desk.author.edit("a", title="The Road")
    assert not desk.item("part:a").conflicts
    desk.apply_all()
    assert (desk.author.part("a").text, desk.author.part("a").title) == ("New.", "The Road")


def test_the_same_on_both_sides_is_nothing(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    desk.author.edit("a", text="New.")
    assert ids(desk) == []


def test_what_the_agent_took_back_is_nothing(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    desk.agent.edit("a", text="Text of a.")
    desk.author.edit("a", text="The author's.")
    assert ids(desk) == []


def test_different_on_both_sides_is_a_conflict_that_must_be_named(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.edit("a", text="Agent.", pov="Mina")
    desk.author.edit("a", text="Author.")
    field = desk.item("part:a").field("text")
    assert field is not None and field.conflict
    assert (field.base, field.agent, field.book) == ("Text of a.", "Agent.", "Author.")

    done = desk.apply_all()
    assert done.conflicts == (("part:a", "text"),)
    assert done.applied == ("part:a",)
    assert (desk.author.part("a").text, desk.author.part("a").pov) == ("Author.", "Mina")

    assert desk.apply_all("book").conflicts == ()
    assert desk.author.part("a").text == "Author."
    assert desk.apply_all("agent").conflicts == ()
    assert desk.author.part("a").text == "Agent."


def test_a_text_of_the_author_wins_over_all(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.edit("a", text="Agent.")
    desk.agent.edit("b", text="Agent.")
    desk.author.edit("a", text="Author.")
    texts = {("part:a", "text"): "Mine.", ("part:b", "text"): "Mine too."}
    done = desk.apply(Picks(items={"part:a": None, "part:b": None}, take={("part:a", "text"): "agent"}, texts=texts))
    assert done.applied == ("part:a", "part:b")
    assert done.conflicts == ()
    assert [desk.author.part(each).text for each in "ab"] == ["Mine.", "Mine too."]


def test_only_the_picked_fields_of_a_changed_item_are_taken(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.", pov="Mina", scene="night")
    desk.apply(Picks(items={"part:a": frozenset({"pov"})}))
    part = desk.author.part("a")
    assert (part.text, part.pov, part.scene) == ("Text of a.", "Mina", "")
    item = desk.item("part:a")
    assert [each.name for each in item.fields] == ["text", "scene"]


def test_a_field_that_is_no_change_is_skipped_with_the_reason(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    done = desk.apply(Picks(items={"part:a": frozenset({"text", "pov"}), "part:zz": None}))
    assert [(each.id, each.field) for each in done.skipped] == [("part:a", "pov"), ("part:zz", None)]
    assert done.applied == ("part:a",)


def test_a_pick_is_written_as_item_and_field() -> None:
    assert split_pick("part:1-2") == ("part:1-2", None)
    assert split_pick("part:1-2:text") == ("part:1-2", "text")
    assert split_pick("part:1-2:attributes.a:b") == ("part:1-2", "attributes.a:b")


def test_nothing_picked_changes_nothing(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    before, length = desk.library(), desk.journal_length()
    done = desk.apply(Picks())
    assert (done.applied, done.changed) == ((), ())
    assert desk.library() == before
    assert desk.journal_length() == length


def test_fields_of_the_book_are_merged_and_what_holds_for_the_run_alone_never(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.set_book(title="The Lantern", model="big")
    desk.agent.change("plan", lambda space: put(space, Plan(uuid="run", book=desk.book, steps="[1]")))
    desk.author.set_book(model="small", author="Anna")
    item = desk.item(f"book:{desk.book}")
    assert [each.name for each in item.fields] == ["title"]
    assert ids(desk) == [item.id]
    desk.apply_all()
    book = desk.author.read_book()
    assert (book.title, book.model, book.author) == ("The Lantern", "small", "Anna")


def test_a_change_of_what_holds_for_the_run_alone_is_nothing(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.set_book(model="big")
    assert ids(desk) == []


def test_created_never_shows_as_a_change(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", created=99)
    assert ids(desk) == []


def test_a_part_that_the_author_deleted_can_not_be_changed(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.edit("a", text="New.")
    desk.author.delete("a")
    item = desk.item("part:a")
    assert item.problem is not None
    assert item.fields[0].agent == "New."
    done = desk.pick("part:a")
    assert [(each.id, each.reason) for each in done.skipped] == [("part:a", item.problem)]
    assert desk.author.find("a") is None


# Data


def test_data_are_merged_by_key_and_by_place(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.author.set_data("a", "mood", {"sky": "grey", "sea": {"waves": 1}})
    desk.start_again()
    desk.agent.set_data("a", "mood", {"sky": "black", "sea": {"waves": 1, "foam": True}})
    desk.agent.set_data("a", "only-agent", [1])
    desk.author.set_data("a", "mood", {"sky": "grey", "sea": {"waves": 2}, "wind": None})
    desk.author.set_data("a", "only-author", [2])
    item = desk.item("part:a")
    assert [(each.name, each.conflict) for each in item.fields] == [
        ("attributes.mood", False),
        ("attributes.only-agent", False),
    ]
    desk.apply_all()
    assert desk.author.part("a").attributes == {
        "mood": {"sky": "black", "sea": {"waves": 2, "foam": True}, "wind": None},
        "only-agent": [1],
        "only-author": [2],
    }


def test_data_changed_at_one_place_are_a_conflict(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.author.set_data("a", "mood", {"sky": "grey"})
    desk.start_again()
    desk.agent.set_data("a", "mood", {"sky": "black"})
    desk.author.set_data("a", "mood", {"sky": "red"})
    field = desk.item("part:a").field("attributes.mood")
    assert field is not None and field.conflict
    assert (field.base, field.agent, field.book) == ('{"sky":"grey"}', '{"sky":"black"}', '{"sky":"red"}')
    assert desk.apply_all().conflicts == (("part:a", "attributes.mood"),)
    assert desk.author.part("a").attributes == {"mood": {"sky": "red"}}
    desk.apply_all("agent")
    assert desk.author.part("a").attributes == {"mood": {"sky": "black"}}


def test_the_authors_data_that_hold_the_agents_change_are_nothing_new(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.author.set_data("a", "mood", {})
    desk.start_again()
    desk.agent.set_data("a", "mood", {"sky": "black"})
    desk.author.set_data("a", "mood", {"sky": "black", "sea": 1})
    assert ids(desk) == []


def test_a_removed_key_of_the_data_is_removed(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.author.set_data("a", "mood", 1)
    desk.author.set_data("a", "kept", 2)
    desk.start_again()
    desk.agent.edit("a", attributes={"kept": 2})
    desk.apply_all()
    assert desk.author.part("a").attributes == {"kept": 2}


def test_edited_data_are_read_strictly_and_nothing_is_applied_when_they_are_wrong(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.set_data("a", "mood", 1)
    desk.agent.edit("b", text="New.")
    before = desk.library()
    picks = Picks(items={"part:b": None, "part:a": None}, texts={("part:a", "attributes.mood"): "{grey"})
    with pytest.raises(Invalid, match="not JSON"):
        desk.apply(picks)
    assert desk.library() == before
    desk.apply(replace(picks, texts={("part:a", "attributes.mood"): '{"sky": "grey"}'}))
    assert desk.author.part("a").attributes == {"mood": {"sky": "grey"}}


# New parts


def test_an_added_part_keeps_its_uuid_and_all_that_it_holds(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.create("n", "a", text="New.", title="Night", attributes={"k": [1]})
    item = desk.item("part:n")
    assert item.change == "added"
    assert {each.name: (each.base, each.agent, each.book) for each in item.fields} == {
        "parent": (None, "a", None),
        "title": (None, "Night", None),
        "text": (None, "New.", None),
        "attributes.k": (None, "[1]", None),
    }
    desk.apply_all()
    assert desk.author.part("n") == desk.agent.part("n")


def test_a_new_part_needs_the_new_part_that_it_follows(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.create("m", "a", title="First")
    desk.agent.create("n", "m")
    assert desk.item("part:n").depends_on == ("part:m",)
    done = desk.pick("part:n")
    assert done.applied == ()
    assert done.skipped[0].id == "part:n"
    assert "'First' (part:m)" in done.skipped[0].reason
    assert desk.author.find("n") is None
    assert desk.pick("part:n", "part:m").applied == ("part:n", "part:m")
    assert desk.author.parents() == {"a": None, "m": "a", "n": "m"}


def test_a_part_whose_place_the_author_deleted_must_be_decided(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.create("n", "b")
    desk.agent.create("o", "n")
    desk.author.delete("b")
    field = desk.item("part:n").field("parent")
    assert field is not None and field.conflict and field.note
    done = desk.apply_all()
    assert done.conflicts == (("part:n", "parent"),)
    assert [each.id for each in done.skipped] == ["part:o"]
    assert desk.author.parents() == {"a": None}
    desk.apply_all("agent")
    assert desk.author.parents() == {"a": None, "n": "a", "o": "n"}


def test_a_text_may_be_written_for_a_new_part(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.create("n", "a", text="New.")
    desk.apply(Picks(items={"part:n": None}, texts={("part:n", "text"): "Mine, three words."}))
    assert desk.author.part("n").text == "Mine, three words."
    assert desk.author.part("n").words == 3


def test_what_is_taken_whole_is_not_picked_by_field(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.create("n", "a", text="New.")
    with pytest.raises(Invalid, match="taken whole"):
        desk.apply(Picks(items={"part:n": frozenset({"text"})}))


def test_what_is_no_text_can_not_be_written(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.create("n", "a")
    desk.agent.delete("b")
    for item, field in (("part:n", "parent"), ("part:b", "text")):
        with pytest.raises(Invalid):
            desk.apply(Picks(items={item: None}, texts={(item, field): "x"}))


# Around the apply


def test_one_undo_takes_a_whole_apply_back(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.edit("a", text="New.")
    desk.agent.insert("n", "a")
    desk.agent.delete("b")
    desk.agent.set_book(title="The Lantern", active_leaf="c")
    before = desk.library()
    desk.apply_all()
    after = desk.library()
    assert after != before
    desk.undo()
    assert desk.library() == before
    assert desk.apply_all().applied
    assert desk.library() == after


def test_f23_an_edit_after_the_apply_is_not_lost_by_an_undo(store: Store) -> None:
    desk = Desk(store, chain("a"))
    before = desk.library()
    desk.agent.edit("a", text="Agent.")
    desk.apply_all()
    desk.author.edit("a", text="Agent. And the author.")
    desk.undo()
    assert desk.author.part("a").text == "Agent."
    desk.undo()
    assert desk.library() == before


def test_f24_what_was_decided_on_an_older_text_is_refused(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.edit("a", text="Agent.", pov="Mina")
    desk.agent.delete("b")
    desk.author.edit("a", text="Author.")
    desk.author.edit("b", text="Author.")
    seen = desk.plan()
    versions = {item.id: item.version for item in seen.items}
    picks = replace(Picks.of_plan(seen, "agent"), versions=versions)
    desk.author.edit("a", text="Author, again.")
    desk.author.edit("b", text="Author, again.")
    done = desk.apply(picks)
    assert {(each.id, each.field) for each in done.skipped} == {("part:a", "text"), ("part:b", None)}
    assert [desk.author.part(each).text for each in "ab"] == ["Author, again.", "Author, again."]
    assert desk.author.part("a").pov == "Mina"


def test_f24_a_text_that_was_edited_on_an_older_one_is_refused(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="Agent.")
    versions = {item.id: item.version for item in desk.plan().items}
    desk.author.edit("a", text="Author.")
    picks = Picks(items={"part:a": None}, texts={("part:a", "text"): "Mine."}, versions=versions)
    assert [each.field for each in desk.apply(picks).skipped] == ["text"]
    assert desk.author.part("a").text == "Author."


def test_a_book_that_another_run_holds_is_not_written(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    row = {"uuid": "r", "agent": "x", "agent_name": "Copyeditor", "book": desk.book, "status": "RUNNING"}
    with store.write(desk.act()) as tx:
        tx.connection.execute(tables.run.insert().values(**row, created=1, changed=1))
    with pytest.raises(Locked):
        desk.apply_all()
    assert desk.author.part("a").text == "Text of a."


def test_without_a_copy_there_is_nothing_to_merge(store: Store) -> None:
    desk = Desk(store, chain("a"))
    with store.write(desk.act()) as tx:
        drop_space(tx, desk.space)
    with pytest.raises(NotFound, match="working copy"):
        desk.plan()


def test_without_its_book_there_is_nothing_to_merge_into(store: Store) -> None:
    desk = Desk(store, {})
    desk.agent.set_book(title="New")

    def purge(space: WritableSpace) -> None:
        space.delete(Book, [desk.book])

    desk.author.change("purge", purge)
    with pytest.raises(NotFound, match="library"):
        desk.plan()


def test_items_stand_in_the_order_of_the_book_with_titles_and_places(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"), b="It was a dark night, and the wind went round the house like a dog.")
    desk.agent.set_book(title="The Lantern")
    desk.agent.edit("c", text="New.")
    desk.agent.insert("n", "a", title="Night")
    desk.agent.create("o", "n", text="")
    desk.agent.edit("b", pov="Mina")
    plan = desk.plan()
    assert [item.id for item in plan.items] == [f"book:{desk.book}", "part:n", "part:o", "part:b", "part:c"]
    titles = [item.title for item in plan.items]
    assert titles == [
        "The Lamp",
        "Night",
        "(empty part)",
        "It was a dark night, and the wind went round the house like…",
        "Text of c.",
    ]
    assert plan.names["a"] == "Text of a."
    with store.read() as tx:
        placed = load_places(tx, plan)
    assert [item.place for item in placed.items] == [None, 2, 3, 2, 3]
