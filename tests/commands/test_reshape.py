from dataclasses import replace
from typing import Any

import pytest

from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.errors import Ambiguous, Declined, Invalid, Locked, NotFound, Refused, Stale
from marginalia_tui.domain.items import Annotation, Part
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book


def chain(world: World) -> list[str]:
    return world.tree().active


def get(world: World, uuid: str) -> Part:
    with world.store.read() as tx:
        return tx.space(LIBRARY).get(Part, uuid)


def note(world: World, place: int, quote: str, text: str = "Hm.") -> str:
    """A note on a passage of a part; without a quote on the whole part."""
    more = {"quote": quote} if quote else {}
    uuid: str = world.call("create-annotation", part=world.parts[place - 1], text=text, **more)["annotation"]
    return uuid


def annotation(world: World, uuid: str) -> Annotation:
    with world.store.read() as tx:
        return tx.space(LIBRARY).get(Annotation, uuid)


def covered(world: World) -> list[tuple[str, str]]:
    return [(row["covers"], row["state"]) for row in world.run("/list-summaries")["summaries"]]


def undone(world: World, before: dict[str, Any]) -> None:
    """One undo takes all back, and the redo does it again."""
    after = everything(world)
    world.run("/undo")
    assert everything(world) == before
    world.run("/redo")
    assert everything(world) == after
    world.run("/undo")


def everything(world: World) -> dict[str, Any]:
    with world.store.read() as tx:
        space = tx.space(LIBRARY)
        parts = space.get_many(Part, [row.uuid for row in space.outline(world.book)])
        query = "SELECT uuid, part, hash FROM {} WHERE book = ? ORDER BY uuid"
        owned = {
            kind: tx.connection.exec_driver_sql(query.format(kind), (world.book,)).all()
            for kind in ("summary", "annotation")
        }
    return {**parts, **owned, "book": world.opened()}


# The fields of a part


def test_set_part_fields(world: World) -> None:
    before = everything(world)
    done = world.run('/set-part-fields 3 "tell it" "a yard" Ada "Ada, Bert" "The roof"')
    assert done["changed"] == ["instructions", "scene", "pov", "present", "title"]
    part = world.part(3)
    assert (part.instructions, part.scene, part.pov, part.present) == ("tell it", "a yard", "Ada", "Ada, Bert")
    assert (part.title, part.text) == ("The roof", before[world.parts[2]].text)
    undone(world, before)
    some = world.run('/set-part-fields 3 "" "a yard" "" "" " "')
    assert (some["changed"], some["position"], world.part(3).title) == (["scene", "title"], 3, "")
    assert world.call("set-part-fields", part=world.parts[2], scene="")["changed"] == ["scene"]


def test_f03_the_same_fields_change_nothing(world: World) -> None:
    before = world.journal()
    assert world.call("set-part-fields", part=world.parts[0], title="Chapter 1")["result"] == "unchanged"
    assert world.journal() == before


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({}, Invalid, "Give what should change: instructions, scene"),
        ({"title": "x" * 301}, Invalid, "at most 300 characters"),
        ({"scene": "x" * 10_001}, Invalid, "at most 10,000 characters"),
        ({"mood": "x"}, Invalid, "mood"),
        ({"part": "1", "title": "x"}, Invalid, "Give the handle"),
    ],
)
def test_wrong_fields_are_refused(
    world: World, arguments: dict[str, str], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        world.call("set-part-fields", **{"part": world.parts[0], **arguments})


def test_fields_of_what_went_or_is_held_are_refused(world: World) -> None:
    _, part = other_book(world)
    with pytest.raises(NotFound, match="of another book"):
        world.call("set-part-fields", part=part, title="x")
    prepared = DISPATCHER.prepare("set-part-fields", {"part": world.parts[1], "title": "x"}, world.agent)
    world.run("/delete-part 2")
    with pytest.raises(NotFound, match="deleted meanwhile"):
        DISPATCHER.finish(prepared)
    world.hold("Reader")
    for line in ("/set-part-fields 1 x", "/split-part 1 Nobody", "/merge-part-with-next 1", "/move-part 2 start"):
        with pytest.raises(Locked):
            world.run(line)


# Apart


def test_split_part(world: World) -> None:
    world.put(replace(world.part(2), scene="a yard", pov="Ada", present="Bert", instructions="tell", model="m"))
    before = everything(world)
    done = world.run('/split-part 2 "The lamp" "Chapter 2b"')
    first, second = get(world, done["first"]), get(world, done["second"])
    assert chain(world) == [world.parts[0], first.uuid, second.uuid, world.parts[2]]
    assert first.text == "\u201cI saw nothing,\u201d said Ada."
    assert second.text == "The lamp\u2019s flame stood still."
    assert (done["position"], done["firstWords"], done["secondWords"]) == (3, 5, 5)
    assert (second.title, second.scene, second.pov, second.present, second.model) == (
        "Chapter 2b", "a yard", "Ada", "Bert", "m",
    )  # fmt: skip
    assert (first.instructions, second.instructions, first.title) == ("tell", "", "Chapter 2")
    undone(world, before)


def test_split_at_a_character_and_at_the_end_of_the_branch(world: World) -> None:
    at = world.text(3).index("Rain fell in")
    done = world.call("split-part", part=world.parts[2], at=str(at))
    assert get(world, done["second"]).text == "Rain fell in the yard."
    assert chain(world)[-1] == done["second"] and world.opened().active_leaf == done["second"]
    assert world.call("split-part", part=world.parts[0], at=20)["secondWords"] == 6


def test_split_takes_all_branches_along(world: World) -> None:
    swipe = world.add(world.parts[1], "Chapter 3b")
    done = world.run('/split-part 2 "The lamp"')
    assert {world.tree().rows[each].parent for each in (swipe, world.parts[2])} == {done["second"]}


def test_split_sends_each_note_and_the_summary_to_where_their_words_are(world: World) -> None:
    notes = {each: note(world, 2, each) for each in ("I saw", "flame stood", "")}
    gone = note(world, 2, "said Ada")
    world.run("/set-summary 2 Two.")
    world.run("/set-summary 3 Three.")
    world.run('/edit-part 2 "said Ada" "he lied"')
    world.run("/revalidate-summaries")
    before = everything(world)
    done = world.run('/split-part 2 "The lamp"')
    assert "outdatedSummaries" not in done
    assert covered(world) == [("1..3", "valid"), ("4", "valid")]
    assert world.call("get-summary", part=done["second"])["text"] == "Two."
    where = {quote: annotation(world, uuid).part for quote, uuid in notes.items()}
    assert where == {"I saw": done["first"], "flame stood": done["second"], "": done["first"]}
    assert annotation(world, gone).part == done["first"]
    (row,) = world.call("list-annotations", part=done["second"])["notes"]
    assert row["status"] == "open"
    undone(world, before)


def test_split_keeps_an_outdated_summary_outdated(world: World) -> None:
    world.run("/set-summary 3 Three.")
    world.run("/edit-part 1 dusk noon")
    assert "outdatedSummaries" not in world.run('/split-part 2 "The lamp"')
    assert covered(world) == [("1..4", "outdated")]


@pytest.mark.parametrize(
    ("at", "error", "sentence"),
    [
        ("", Invalid, "at"),
        (" ", Invalid, "at|letter"),
        ("Nowhere in it", NotFound, "is not in part 3"),
        ("Rain fell", Ambiguous, "2 times"),
        ("Rain fell on the the", Invalid, "half would be empty"),
        ("0", Invalid, "no character '0' to split at"),
        ("49", Invalid, "has 49"),
        ("4900000000000000000", Invalid, "no character"),
        ("x" * 20_001, Invalid, "at most 20,000"),
    ],
)
def test_where_a_part_can_not_be_split(world: World, at: str, error: type[Exception], sentence: str) -> None:
    assert len(world.text(3)) == 49
    before = world.journal()
    with pytest.raises(error, match=sentence):
        world.call("split-part", part=world.parts[2], at=at)
    assert world.journal() == before


def test_f24_a_part_that_was_changed_meanwhile_is_not_split(world: World) -> None:
    prepared = DISPATCHER.prepare("split-part", {"part": world.parts[0], "at": "Nobody"}, world.agent)
    world.run("/edit-part 1 dusk noon")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    assert len(chain(world)) == 3


# Together


def test_merge_part_with_next(world: World) -> None:
    first = replace(world.part(1), scene="dusk", attributes={"mood": "dark", "a": 1})
    second = replace(world.part(2), scene="night", pov="Ada", model="m", attributes={"mood": "light", "b": 2})
    world.put(first, second)
    before = everything(world)
    done = world.run("/merge-part-with-next 1")
    merged = world.part(1)
    assert chain(world) == [world.parts[0], world.parts[2]]
    assert merged.text == first.text + "\n\n" + second.text
    assert (merged.title, merged.scene, merged.pov, merged.model) == ("Chapter 1", "dusk", "Ada", "m")
    assert merged.attributes == {"mood": "dark", "a": 1, "b": 2}
    assert (done["part"], done["position"], done["words"], done["movedUp"]) == (world.parts[0], 1, 21, 1)
    (question,) = world.answers.questions
    assert "Merge part 1 ('Chapter 1') with part 2 ('Chapter 2')? Its title and fields are given up" in question
    assert "The second begins: \u201cI saw" in question
    undone(world, before)


def test_merge_with_the_last_part_ends_the_branch_in_the_merged_one(world: World) -> None:
    world.call("merge-part-with-next", part=world.parts[1])
    assert chain(world) == world.parts[:2] and world.opened().active_leaf == world.parts[1]
    world.set_text(1, "")
    world.call("merge-part-with-next", part=world.parts[0])
    assert not world.text(1).startswith("\n")


def test_merge_brings_the_notes_along(world: World) -> None:
    notes = [note(world, 1, "Nobody saw"), note(world, 2, "The lamp\u2019s flame"), note(world, 2, "")]
    before = everything(world)
    world.run("/merge-part-with-next 1")
    assert {annotation(world, each).part for each in notes} == {world.parts[0]}
    listed = world.call("list-annotations", part=world.parts[0])["notes"]
    assert [row["status"] for row in listed] == ["open"] * 3
    undone(world, before)


def test_merge_and_the_summaries(world: World) -> None:
    world.run("/set-summary 2 Two.")
    before = everything(world)
    # What the second part had covers both already: it says the same.
    assert "outdatedSummaries" not in world.run("/merge-part-with-next 1")
    assert covered(world) == [("1", "valid")]
    undone(world, before)
    # What only the first had covers more now.
    done = world.run("/merge-part-with-next 2")
    assert [row["position"] for row in done["outdatedSummaries"]["summaries"]] == [2]
    world.run("/undo")
    world.run("/set-summary 1 One.")
    with pytest.raises(Refused, match="Both parts have a summary"):
        world.run("/merge-part-with-next 1")
    world.run("/set-summary 3 Three.")
    with pytest.raises(Refused, match="Both parts have a summary"):
        world.run("/merge-part-with-next 2")
    assert len(chain(world)) == 3


def test_what_can_not_be_merged(world: World) -> None:
    with pytest.raises(NotFound, match=r"Nothing follows part 3 \('Chapter 3'\)"):
        world.run("/merge-part-with-next 3")
    with pytest.raises(Invalid, match="Give the handle"):
        world.call("merge-part-with-next", part="1")
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/merge-part-with-next 1")
    world.answers.answer = True
    prepared = DISPATCHER.prepare("merge-part-with-next", {"part": world.parts[0]}, world.agent)
    world.run("/edit-part 2 nothing all")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    prepared = DISPATCHER.prepare("merge-part-with-next", {"part": world.parts[0]}, world.agent)
    world.add(world.parts[0], "Chapter 2b")
    with pytest.raises(Refused, match="Several parts follow"):
        DISPATCHER.finish(prepared)
    with pytest.raises(Refused, match="use branch-part first"):
        world.run("/merge-part-with-next 1")
    assert chain(world) == world.parts


def test_split_and_merge_give_the_part_back(world: World) -> None:
    world.set_text(3, "First words.\n\nSecond words.")
    done = world.run('/split-part 3 "Second words"')
    world.run("/merge-part-with-next 3")
    assert world.text(3) == "First words.\n\nSecond words." and done["second"] not in world.tree().rows


# Elsewhere


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("/move-part 3 1", "1324"),
        ("/move-part 1 3", "2314"),
        ("/move-part 1 4", "2341"),
        ("/move-part 4 start", "4123"),
        ("/move-part 4 1", "1423"),
        ("/move-part 2 4", "1342"),
        ("/move-part 2 start", "2134"),
        ("/move-part 2 3", "1324"),
    ],
)
def test_move_part_alone(world: World, line: str, order: str) -> None:
    world.parts.append(world.run('/create-part Four. "" "Chapter 4"')["part"])
    before = everything(world)
    done = world.run(line)
    assert chain(world) == [world.parts[int(place) - 1] for place in order]
    moved = world.parts[int(line.split()[1]) - 1]
    assert (done["result"], done["part"], done["position"]) == ("moved", moved, chain(world).index(moved) + 1)
    undone(world, before)


def test_move_part_with_all_that_follows(world: World) -> None:
    swipe = world.add(world.parts[0], "Chapter 2b")
    before = everything(world)
    done = world.call("move-part", part=world.parts[1], after=swipe, following=True)
    assert chain(world) == [world.parts[0], swipe, world.parts[1], world.parts[2]]
    assert done["position"] == 3
    undone(world, before)
    world.run("/move-part 2 start true")
    assert chain(world) == world.parts[1:] and len(world.tree().leaves) == 2


def test_a_part_that_goes_to_another_branch_leaves_the_one_that_is_read(world: World) -> None:
    swipe = world.add(world.parts[0], "Chapter 2b")
    world.run(f"/move-part 2 {swipe}")
    assert chain(world) == [world.parts[0], world.parts[2]]
    world.run(f"/move-part 2 {swipe}")  # the end of the branch that is read
    assert chain(world) == [world.parts[0], swipe, world.parts[2], world.parts[1]]


def test_a_part_that_stands_there_already_is_not_moved(world: World) -> None:
    before = world.journal()
    for line in ("/move-part 2 1", "/move-part 1 start", "/move-part 3 2 true"):
        done = world.run(line)
        assert done["result"] == "unchanged"
    assert world.journal() == before
    assert "stands there already" in to_plain(DISPATCHER.run_line("/move-part 2 1", world.author))


def test_where_a_part_can_not_go(world: World) -> None:
    _, elsewhere = other_book(world)
    before = world.journal()
    for line, error, sentence in (
        ("/move-part 2 2", Refused, "can't follow itself"),
        ("/move-part 1 3 true", Refused, "stands behind the one that moves"),
        ("/move-part 1 9", NotFound, "no part '9'"),
        ("/move-part 1", Invalid, "after"),
        (f"/move-part 1 {elsewhere}", NotFound, "of another book"),
        ("/move-part 1 2 perhaps", Invalid, "following"),
    ):
        with pytest.raises(error, match=sentence):
            world.run(line)
    with pytest.raises(Invalid, match="Give the handle"):
        world.call("move-part", part=world.parts[0], after="3")
    assert world.journal() == before


def test_what_moved_meanwhile_is_stale_and_circles_are_refused_in_the_transaction(world: World) -> None:
    prepared = DISPATCHER.prepare(
        "move-part", {"part": world.parts[0], "after": world.parts[2], "following": False}, world.agent
    )
    world.run("/delete-part 3")
    with pytest.raises(NotFound, match="deleted meanwhile"):
        DISPATCHER.finish(prepared)
    world.run("/undo")
    swipe = world.add(None, "Prologue")
    prepared = DISPATCHER.prepare("move-part", {"part": world.parts[1], "after": swipe, "following": True}, world.agent)
    world.run(f"/move-part {swipe} 3")
    with pytest.raises(Refused, match="stands behind the one that moves"):
        DISPATCHER.finish(prepared)
    prepared = DISPATCHER.prepare("move-part", {"part": world.parts[1], "after": "start"}, world.agent)
    world.run("/move-part 2 3")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)


def test_notes_and_summary_move_with_their_part(world: World) -> None:
    uuid = note(world, 3, "in the yard")
    world.run("/set-summary 3 Rain.")
    world.run("/move-part 3 start")
    assert annotation(world, uuid).part == world.parts[2]
    assert covered(world) == [("1", "outdated")]


# The numbers of a part


def test_get_part_metrics(world: World) -> None:
    numbers = world.run("/get-part-metrics 1")
    assert (numbers["words"], numbers["characters"], numbers["position"]) == (11, 48, 1)
    assert numbers["tokens"] == world.run("/count-tokens 1")["tokens"]
    assert (numbers["versions"], numbers["changes"], numbers["lastChange"]) == (1, 0, "import")
    assert "writtenBy" not in numbers and "branch" not in numbers
    world.run("/edit-part 1 lamp candle")
    world.run("/set-part-fields 1 tell")
    world.put(replace(world.part(1), model="storyteller"))
    numbers = world.call("get-part-metrics", part=world.parts[0])
    assert (numbers["versions"], numbers["changes"], numbers["writtenBy"]) == (2, 3, "storyteller")
    assert (numbers["lastChange"], numbers["lastChangeBy"]) == ("test", "author")
    assert numbers["created"] and numbers["lastChangeAt"]


def test_get_part_metrics_on_another_branch(world: World) -> None:
    swipe = world.add(world.parts[0], "Chapter 2b", "Other.")
    assert world.run("/get-part-metrics 2 2")["part"] == swipe
    assert world.run(f"/get-part-metrics {swipe}")["branch"] == 2
    with pytest.raises(NotFound, match="no part '9'"):
        world.run("/get-part-metrics 9")
    with pytest.raises(NotFound, match="no branch"):
        world.run("/get-part-metrics 1 7")
