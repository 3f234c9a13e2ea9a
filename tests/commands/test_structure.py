from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Declined, Invalid, NotFound, Refused, Stale
from tests.commands.world import DISPATCHER, World


def chain(world: World) -> list[str]:
    return world.tree().active


def test_create_part_at_the_end(world: World) -> None:
    made = world.run('/create-part "It was night." "" "Chapter 4" "tell it" "a yard" Ada "Ada, Bert"')
    assert chain(world) == [*world.parts, made["part"]]
    assert (made["position"], made["words"], made["title"]) == (4, 3, "Chapter 4")
    part = world.call("get-part", part=made["part"])
    assert (part["instructions"], part["scene"], part["pov"], part["present"]) == (
        "tell it",
        "a yard",
        "Ada",
        "Ada, Bert",
    )


def test_create_part_elsewhere_begins_a_branch_that_is_read(world: World) -> None:
    made = world.call("create-part", text="Another end.", parent=world.parts[0])
    assert chain(world) == [world.parts[0], made["part"]]
    first = world.run('/create-part "Another beginning." start')
    assert (chain(world), first["position"]) == ([first["part"]], 1)


def test_create_the_first_part_of_a_book(world: World) -> None:
    for part in world.parts:
        world.run(f"/delete-part {part}")
    assert chain(world) == []
    made = world.run('/create-part "It began."')
    assert chain(world) == [made["part"]]


def test_two_parts_created_at_the_end_follow_each_other(world: World) -> None:
    prepared = [DISPATCHER.prepare("create-part", {"text": text}, world.agent) for text in ("One.", "Two.")]
    for each in prepared:
        DISPATCHER.finish(each)
    assert len(chain(world)) == 5


def test_insert_part(world: World) -> None:
    swipe = world.add(world.parts[0], "Chapter 2b")
    made = world.call("insert-part", after=world.parts[0], text="Between.", title="Interlude")
    assert chain(world) == [world.parts[0], made["part"], *world.parts[1:]]
    assert made["position"] == 2
    assert world.tree().rows[swipe].parent == made["part"]
    first = world.run('/insert-part start "Before all."')
    assert chain(world)[0] == first["part"]
    last = world.call("insert-part", after=world.parts[2], text="At the end.")
    assert chain(world)[-1] == last["part"]


def test_branch_part_copies_and_switches(world: World) -> None:
    made = world.run("/branch-part 2")
    assert chain(world) == [world.parts[0], made["part"]]
    assert world.call("get-part", part=made["part"])["text"] == world.text(2)
    assert len(world.run("/list-branches")["branches"]) == 2


def test_delete_part_moves_the_children_up(world: World) -> None:
    gone = world.run("/delete-part 2")
    assert (gone["result"], gone["title"], gone["movedUp"]) == ("deleted", "Chapter 2", 1)
    assert chain(world) == [world.parts[0], world.parts[2]]
    (question,) = world.answers.questions
    assert "part 2 ('Chapter 2')" in question and "10 words" in question and "1 part behind it will move up" in question
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/delete-part 1")
    assert len(chain(world)) == 2


def test_switch_branch(world: World) -> None:
    swipe = world.add(world.parts[0], "Chapter 2b")
    done = world.run("/switch-branch 2")
    assert (done["branch"], done["leaf"], done["parts"]) == (2, swipe, 2)
    assert chain(world) == [world.parts[0], swipe]
    assert world.call("switch-branch", part=world.parts[2])["branch"] == 1
    assert world.run(f"/switch-branch {swipe}")["leaf"] == swipe
    with pytest.raises(NotFound, match="2 branches"):
        world.run("/switch-branch 3")
    before = world.journal()
    assert world.run("/switch-branch 2")["result"] == "active already"
    assert world.journal() == before


def test_what_was_deleted_meanwhile_is_told(world: World) -> None:
    for name, arguments in (
        ("create-part", {"parent": world.parts[1], "text": "x"}),
        ("insert-part", {"after": world.parts[1], "text": "x"}),
        ("branch-part", {"part": world.parts[1]}),
        ("switch-branch", {"part": world.parts[1]}),
    ):
        prepared = DISPATCHER.prepare(name, arguments, world.agent)
        world.run(f"/delete-part {world.parts[1]}")
        with pytest.raises(NotFound, match="deleted meanwhile"):
            DISPATCHER.finish(prepared)
        world.run("/undo")
    assert chain(world) == world.parts


def test_set_book_info(world: World) -> None:
    done = world.run('/set-book-info "  A  New Title " "" "About a lamp." de')
    assert done["changed"] == ["title", "description", "language"]
    book = world.opened()
    assert (book.title, book.author, book.description, book.language) == (
        "A New Title",
        "A. Writer",
        "About a lamp.",
        "de",
    )
    assert world.run('/set-book-info "" " "')["changed"] == ["author"]
    assert world.opened().author == ""
    before = world.journal()
    assert world.call("set-book-info", language="de")["result"] == "unchanged"
    assert world.journal() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Give what should change: title, author"),
        ({"title": " "}, "may not be empty"),
        ({"title": "x" * 301}, "at most 300 characters"),
        ({"language": "English!"}, "a code such as en"),
    ],
)
def test_wrong_facts_are_refused(world: World, arguments: dict[str, str], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        world.call("set-book-info", **arguments)


def test_undo_and_redo(world: World) -> None:
    text = world.text(1)
    world.run("/edit-part 1 lamp candle")
    world.run("/delete-part 2")
    done = world.run("/undo")
    assert (done["verb"], done["step"]) == ("Undone", "Delete a part")
    assert chain(world) == world.parts
    world.run("/undo")
    assert world.text(1) == text
    assert world.run("/redo")["step"] == "Edit a passage"
    assert "candle" in world.text(1)
    world.run("/redo")
    assert len(chain(world)) == 2
    with pytest.raises(Refused, match="nothing to redo"):
        world.run("/redo")


def test_undo_is_refused_when_the_book_moved_on_between(world: World) -> None:
    world.run("/edit-part 1 lamp candle")
    prepared = DISPATCHER.prepare_line("/undo", world.author)
    world.run("/edit-part 2 lamp candle")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    assert "candle" in world.text(1)


def test_undo_is_for_the_author() -> None:
    for name in ("undo", "redo", "help"):
        assert not DISPATCHER.registry.get(name).for_agents


def test_help_lists_and_explains(world: World) -> None:
    listed = world.run("/help")
    assert [row["command"] for row in listed["commands"]] == [f"/{name}" for name in DISPATCHER.registry.names]
    page = world.run("/help /edit-part")["page"]
    for piece in ("/edit-part <part> <old> <new>", "exactly once", "changes", 'For example: `/edit-part 3 "teh'):
        assert piece in page
    assert "from 1 to 200" in world.run("/help list-parts")["page"]
    with pytest.raises(NotFound, match="Did you mean edit-part"):
        world.run("/help edit-prat")


def test_help_reads_the_manual(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "swipes.md").write_text("# Swipes\n\nAlternatives of a part.\n")
    monkeypatch.setattr("marginalia_tui.resources.data_folder", lambda: tmp_path)
    assert world.run("/help")["topics"] == ["swipes"]
    assert world.run("/help swipes")["page"].startswith("# Swipes")


def test_help_needs_no_book(world: World) -> None:
    scope = replace(world.author, book=None)
    DISPATCHER.run_line("/help", scope)
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line("/list-parts", scope)
