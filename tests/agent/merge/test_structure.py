"""Structure is merged as operations on the book as it is now: insert, delete with the children moving up, move."""

from dataclasses import replace

from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, chain, tree_is_valid

# Insert


def test_an_insert_is_one_pick_with_the_parts_that_it_took_over(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b", "c"), "b2": "a"})
    desk.agent.insert("n", "a")
    plan = desk.plan()
    assert [item.id for item in plan.items] == ["part:n"]
    assert plan.items[0].children == ("b", "b2")
    desk.pick("part:n")
    assert desk.author.parents() == {"a": None, "n": "a", "b": "n", "b2": "n", "c": "b"}


def test_an_insert_at_the_very_beginning(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.insert("n", None)
    desk.apply_all()
    assert desk.author.parents() == {"n": None, "a": "n", "b": "a"}


def test_what_the_author_added_there_meanwhile_stays_where_it_is(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.insert("n", "a")
    desk.author.create("s", "a")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "n": "a", "b": "n", "s": "a"}


def test_two_inserts_at_one_point_follow_each_other(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.insert("n", "a")
    desk.author.insert("m", "a")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "m": "a", "n": "m", "b": "n"}
    assert desk.plan().items == ()


def test_an_insert_in_front_of_one_branch_leaves_the_others_alone(store: Store) -> None:
    desk = Desk(store, {"a": None, "b": "a", "c": "a"})
    desk.agent.create("n", "a")
    desk.agent.move("b", "n")
    desk.author.insert("m", "a")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "m": "a", "n": "m", "b": "n", "c": "m"}


def test_an_insert_over_branches_of_which_the_author_split_one(store: Store) -> None:
    desk = Desk(store, {"a": None, "b": "a", "c": "a"})
    desk.agent.insert("n", "a")
    desk.author.create("m", "a")
    desk.author.move("b", "m")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "n": "a", "m": "n", "b": "m", "c": "n"}


def test_of_two_inserts_in_a_row_the_first_alone_takes_over_what_follows(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.insert("n", "a")
    desk.agent.insert("o", "n")
    assert desk.item("part:o").depends_on == ("part:n",)
    desk.pick("part:n")
    assert desk.author.parents() == {"a": None, "n": "a", "b": "n"}


def test_a_part_that_the_author_moved_away_is_not_taken_over(store: Store) -> None:
    desk = Desk(store, {"a": None, "b": "a", "z": None})
    desk.agent.insert("n", "a")
    desk.author.move("b", "z")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "n": "a", "b": "z", "z": None}


def test_a_part_is_put_behind_a_new_one_though_the_author_moved_it_up_there_already(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.create("n", None)
    desk.agent.move("b", "n")
    desk.author.delete("a")
    assert desk.plan().items[0].children == ("b",)
    desk.apply_all()
    assert desk.author.parents() == {"n": None, "b": "n"}


def test_what_followed_a_part_that_the_author_deleted_follows_the_part_put_in_front_of_it(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c", "d"))
    desk.agent.insert("n", "a")
    desk.author.delete("b")
    desk.author.delete("c")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "n": "a", "d": "n"}


# Delete


def test_a_delete_is_one_pick_and_its_children_move_up(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b", "c"), "c2": "b"})
    desk.agent.delete("b")
    plan = desk.plan()
    assert [item.id for item in plan.items] == ["part:b"]
    assert plan.items[0].change == "deleted"
    assert plan.items[0].children == ("c", "c2")
    assert [(each.name, each.base, each.agent, each.book) for each in plan.items[0].fields] == [
        ("text", "Text of b.", None, "Text of b.")
    ]
    desk.pick("part:b")
    assert desk.author.parents() == {"a": None, "c": "a", "c2": "a"}


def test_what_the_author_put_below_a_deleted_part_moves_up_too(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.delete("b")
    desk.author.create("s", "b")
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "c": "a", "s": "a"}


def test_f25_a_delete_of_what_the_author_changed_is_a_conflict(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.delete("b")
    desk.author.edit("b", text="The author's new words.")
    item = desk.item("part:b")
    assert [(each.name, each.book) for each in item.conflicts] == [("text", "The author's new words.")]
    done = desk.apply_all()
    assert (done.applied, done.conflicts) == ((), (("part:b", "text"),))
    assert desk.apply_all("book").conflicts == ()
    assert desk.author.part("b").text == "The author's new words."
    assert desk.apply_all("agent").applied == ("part:b",)
    assert desk.author.find("b") is None


def test_every_conflict_of_a_delete_must_be_named(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": None})
    desk.agent.delete("b")
    desk.author.edit("b", text="New.")
    desk.author.move("b", "z")
    assert {each.name for each in desk.item("part:b").conflicts} == {"text", "parent"}
    done = desk.apply(Picks(items={"part:b": None}, take={("part:b", "text"): "agent"}))
    assert done.conflicts == (("part:b", "parent"),)
    assert desk.author.find("b") is not None


def test_an_insert_of_the_author_above_a_deleted_part_is_no_conflict(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.delete("b")
    desk.author.insert("m", "a")
    assert desk.apply_all().conflicts == ()
    assert desk.author.parents() == {"a": None, "m": "a", "c": "m"}


def test_deletes_in_a_row_are_picked_one_by_one(store: Store) -> None:
    for picked, left in (
        (["part:b", "part:c"], {"a": None, "d": "a"}),
        (["part:b"], {"a": None, "c": "a", "d": "c"}),
        (["part:c"], {"a": None, "b": "a", "d": "b"}),
    ):
        desk = Desk(store, chain("a", "b", "c", "d"))
        desk.agent.delete("b")
        desk.agent.delete("c")
        desk.pick(*picked)
        assert desk.author.parents() == left
        desk.clear()


def test_a_part_deleted_on_both_sides_is_nothing(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.delete("b")
    desk.author.delete("b")
    assert desk.plan().items == ()


def test_a_delete_and_an_insert_at_one_point_are_two_picks(store: Store) -> None:
    for picked, left in (
        (["part:b", "part:n"], {"a": None, "n": "a", "c": "n"}),
        (["part:b"], {"a": None, "c": "a"}),
        (["part:n"], {"a": None, "b": "a", "n": "b", "c": "n"}),
    ):
        desk = Desk(store, chain("a", "b", "c"))
        desk.agent.delete("b")
        desk.agent.insert("n", "a")
        desk.pick(*picked)
        assert desk.author.parents() == left
        desk.clear()


# Move


def test_a_move_is_a_pick_of_its_own_beside_what_was_changed_inside(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": None})
    desk.agent.move("b", "z")
    desk.agent.edit("b", text="New.")
    plan = desk.plan()
    assert [item.id for item in plan.items] == ["part:b", "move:b"]
    move = plan.items[1]
    assert move.is_move
    assert [(each.name, each.base, each.agent, each.book) for each in move.fields] == [("parent", "a", "z", "a")]
    desk.pick("move:b")
    assert desk.author.part("b") == replace(desk.author.part("b"), parent="z", text="Text of b.")
    desk.pick("part:b")
    assert desk.author.part("b").text == "New."


def test_a_move_on_both_sides_to_different_places_is_a_conflict(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "y": None, "z": None})
    desk.agent.move("b", "z")
    desk.author.move("b", "y")
    assert desk.apply_all().conflicts == (("move:b", "parent"),)
    assert desk.author.part("b").parent == "y"
    desk.apply_all("agent")
    assert desk.author.part("b").parent == "z"


def test_the_same_move_on_both_sides_is_nothing(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": None})
    desk.agent.move("b", "z")
    desk.author.move("b", "z")
    assert desk.plan().items == ()


def test_a_move_below_a_new_part_needs_that_part(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": None})
    desk.agent.create("n", "z")
    desk.agent.move("b", "n")
    assert desk.item("move:b").depends_on == ("part:n",)
    assert [each.id for each in desk.pick("move:b").skipped] == ["move:b"]
    desk.apply_all()
    assert desk.author.parents() == {"a": None, "z": None, "n": "z", "b": "n"}


def test_a_move_below_what_the_author_moved_below_it_is_a_problem(store: Store) -> None:
    desk = Desk(store, {"r": None, "a": "r", "b": "r"})
    desk.agent.move("a", "b")
    desk.author.move("b", "a")
    item = desk.item("move:a")
    assert item.problem is not None and "circle" in item.problem
    done = desk.pick("move:a")
    assert [each.id for each in done.skipped] == ["move:a"]
    assert desk.author.parents() == {"r": None, "a": "r", "b": "a"}


def test_a_move_that_another_one_makes_possible_needs_that_one(store: Store) -> None:
    desk = Desk(store, chain("r", "x", "y"))
    desk.agent.move("y", "r")
    desk.agent.move("x", "y")
    assert desk.item("move:x").depends_on == ("move:y",)
    assert desk.item("move:x").problem is None
    done = desk.pick("move:x")
    assert [each.id for each in done.skipped] == ["move:x"]
    assert desk.author.parents() == chain("r", "x", "y")
    assert desk.apply_all().skipped == ()
    assert desk.author.parents() == {"r": None, "y": "r", "x": "y"}


def test_moves_that_close_a_circle_together_only_in_part(store: Store) -> None:
    desk = Desk(store, {"r": None, "a": "r", "b": "r", "c": "r"})
    desk.agent.move("a", "b")
    desk.agent.move("b", "c")
    desk.author.move("c", "a")
    done = desk.apply(Picks(items={"move:a": None, "move:b": None}))
    assert len(done.applied) == 1
    assert len(done.skipped) == 1
    assert tree_is_valid(desk.author.parents())


def test_a_moved_part_that_the_author_deleted_is_a_problem(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": None})
    desk.agent.move("b", "z")
    desk.author.delete("b")
    assert desk.item("move:b").problem is not None
    assert [each.id for each in desk.pick("move:b").skipped] == ["move:b"]


def test_a_move_to_what_the_author_deleted_must_be_decided(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), **chain("y", "z")})
    desk.agent.move("b", "z")
    desk.author.delete("z")
    assert desk.apply_all().conflicts == (("move:b", "parent"),)
    desk.apply_all("agent")
    assert desk.author.part("b").parent == "y"


# The active branch


def test_the_active_leaf_needs_the_part_that_it_names(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.author.set_book(active_leaf="b")
    desk.start_again()
    desk.agent.create("n", "b", activate=True)
    book = f"book:{desk.book}"
    field = desk.item(book).field("active_leaf")
    assert field is not None and field.depends_on == ("part:n",)
    done = desk.pick(book)
    assert [(each.id, each.field) for each in done.skipped] == [(book, "active_leaf")]
    assert desk.author.read_book().active_leaf == "b"
    desk.pick(book, "part:n")
    assert desk.author.read_book().active_leaf == "n"


def test_the_rest_of_the_book_is_taken_when_its_active_leaf_is_not(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.create("n", "a", activate=True)
    desk.agent.set_book(title="The Lantern")
    done = desk.pick(f"book:{desk.book}")
    assert done.applied == (f"book:{desk.book}",)
    assert desk.author.read_book().title == "The Lantern"
    assert desk.author.read_book().active_leaf is None


def test_an_active_leaf_that_the_author_deleted_is_a_problem(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.agent.set_book(active_leaf="b")
    desk.author.delete("b")
    field = desk.item(f"book:{desk.book}").field("active_leaf")
    assert field is not None and field.problem is not None
    assert [each.field for each in desk.apply_all().skipped] == ["active_leaf"]
    assert desk.author.read_book().active_leaf is None


def test_a_deleted_active_leaf_falls_back_to_the_part_before(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.author.set_book(active_leaf="c")
    desk.start_again()
    desk.agent.delete("c")
    desk.agent.delete("b")
    desk.pick("part:b", "part:c")
    assert desk.author.read_book().active_leaf == "a"


def test_a_deleted_active_leaf_falls_back_to_the_newest_end_below_it(store: Store) -> None:
    desk = Desk(store, {**chain("a", "b"), "z": "a"})
    desk.author.set_book(active_leaf="b")
    desk.start_again()
    desk.agent.delete("b")
    desk.author.create("s", "b")
    desk.author.create("t", "b")
    desk.author.create("u", "t")
    desk.author.create("y", "a")
    desk.pick("part:b")
    assert desk.author.parents() == {"a": None, "z": "a", "s": "a", "t": "a", "u": "t", "y": "a"}
    assert desk.author.read_book().active_leaf == "u"


def test_a_book_whose_parts_are_all_deleted_has_no_active_leaf(store: Store) -> None:
    desk = Desk(store, chain("a", "b"))
    desk.author.set_book(active_leaf="b")
    desk.start_again()
    desk.agent.delete("b")
    desk.agent.delete("a")
    desk.pick("part:a", "part:b")
    assert desk.author.parents() == {}
    assert desk.author.read_book().active_leaf is None
