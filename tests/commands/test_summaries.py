from dataclasses import replace
from typing import Any

import pytest

from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.errors import Declined, Invalid, Locked, NotFound, Refused, Stale
from marginalia_tui.domain.items import Summary
from marginalia_tui.services.summaries import read_summaries
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book
from tests.services.metas import take_in


@pytest.fixture
def story(world: World) -> World:
    """The book with six parts."""
    for place in (4, 5, 6):
        world.parts.append(world.run(f'/create-part "Text of part {place}." "" "Chapter {place}"')["part"])
    return world


@pytest.fixture
def told(story: World) -> World:
    """With summaries on the parts 2, 4 and 6."""
    for place in (2, 4, 6):
        story.run(f'/set-summary {place} "What happens up to {place}."')
    return story


def meta(world: World, place: int, until: str | None = None) -> str:
    with world.store.write(Act(actor="author", label="meta", book=world.book)) as tx:
        return take_in(tx.space(LIBRARY), world.parts[place - 1], until, f"All up to {place}.")


def summary(world: World, uuid: str) -> Summary:
    with world.store.read() as tx:
        return tx.space(LIBRARY).get(Summary, uuid)


def rows(world: World, line: str = "/list-summaries") -> list[tuple[int, str, str]]:
    return [(row["position"], row["covers"], row["state"]) for row in world.run(line)["summaries"]]


def outdated(answer: dict[str, Any]) -> list[int]:
    found = answer.get("outdatedSummaries")
    return [row["position"] for row in found["summaries"]] if found else []


# Reading


def test_the_summaries_of_a_branch_with_what_they_cover(told: World) -> None:
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    told.run("/create-part Seven.")
    listed = told.call("list-summaries", offset=1, limit=1)
    (row,) = listed["summaries"]
    assert (listed["total"], listed["uncovered"], listed["branch"], listed["nextOffset"]) == (3, 1, 1, 2)
    assert (row["part"], row["words"], row["begins"]) == (told.parts[3], 5, "What happens up to 4.")
    assert "meta" not in row and "takenIn" not in row


def test_a_book_without_summaries(world: World) -> None:
    listed = world.run("/list-summaries")
    assert (listed["summaries"], listed["total"], listed["uncovered"]) == ([], 0, 3)
    checked = world.call("check-summaries")
    assert (checked["total"], checked["valid"], checked["summaries"]) == (0, 0, [])
    assert "has no summary" in to_plain(DISPATCHER.run_line("/check-summaries", world.author))
    assert world.run("/export-summaries")["text"] == ""
    with pytest.raises(NotFound, match=r"Part 2 \('Chapter 2'\) has no summary"):
        world.run("/get-summary 2")
    for part in world.parts:
        world.run(f"/delete-part {part}")
    assert world.run("/list-summaries")["uncovered"] == 0


def test_a_summary_in_slices(told: World) -> None:
    got = told.call("get-summary", part=told.parts[3], offset=5, length=7)
    assert (got["text"], got["totalLength"], got["truncated"], got["nextOffset"]) == ("happens", 21, True, 12)
    assert (got["position"], got["covers"], got["state"], got["words"]) == (4, "3..4", "valid", 5)
    assert told.call("get-summary", part=got["summary"])["text"] == "What happens up to 4."
    assert told.run("/get-summary 4")["summary"] == got["summary"]
    for line in ("/get-summary 9", "/get-summary", "/get-summary 4 -1", "/get-summary 4 0 30000"):
        with pytest.raises((NotFound, Invalid)):
            told.run(line)


def test_other_branches_are_listed_and_checked(told: World) -> None:
    swipe = told.add(told.parts[2], "Chapter 4b", "Another fourth.")
    assert rows(told, f"/list-summaries {swipe}") == [(2, "1..2", "valid")]
    told.run(f'/set-summary {swipe} "Another way."')
    assert rows(told, "/list-summaries 2") == [(2, "1..2", "valid"), (4, "3..4", "valid")]
    told.set_text(3, "Not what it was.")
    checked = told.run("/check-summaries")
    assert (checked["total"], checked["valid"]) == (2, 2)
    assert {row["part"] for row in checked["summaries"]} == {told.parts[3], swipe}
    assert told.call("check-summaries", limit=1)["nextOffset"] == 1


def test_a_meta_summary_and_what_it_took_in(told: World) -> None:
    inner = told.call("get-summary", part=told.parts[5])["summary"]
    kept = told.call("get-summary", part=told.parts[1])["summary"]
    uuid = meta(told, 6, until=kept)
    assert rows(told) == [(2, "1..2", "valid"), (6, "3..6", "valid")]
    got = told.run("/get-summary 6")
    assert (got["summary"], got["meta"]) == (uuid, True)
    assert [(row["position"], row["covers"]) for row in got["summaries"]] == [(4, "3..4"), (6, "5..6")]
    below = told.call("get-summary", part=inner)
    assert (below["text"], below["takenBy"], below["covers"]) == ("What happens up to 6.", uuid, "5..6")
    assert told.run("/list-summaries")["summaries"][1]["takenIn"] == 2
    text = told.run("/export-summaries")["text"]
    assert text == (
        "# Parts 1 to 2\n\nWhat happens up to 2.\n\n# Parts 3 to 6 (meta)\n\nAll up to 6.\n\n"
        "## Parts 3 to 4\n\nWhat happens up to 4.\n\n## Parts 5 to 6\n\nWhat happens up to 6."
    )
    one = told.call("export-summaries", part=told.parts[5])
    assert one["summaries"] == 3 and one["text"].startswith("# Parts 3 to 6 (meta)")
    # One over it took in the same again: each stands once, below the nearest.
    meta(told, 6)
    heads = [line for line in told.run("/export-summaries")["text"].splitlines() if line.startswith("#")]
    assert heads == [
        "# Parts 1 to 6 (meta)",
        "## Parts 1 to 2",
        "## Parts 3 to 6 (meta)",
        "### Parts 3 to 4",
        "### Parts 5 to 6",
    ]
    assert told.call("export-summaries", offset=2, length=5)["text"] == "Parts"


# Writing


def test_set_summary_makes_and_changes_and_stays_valid(story: World) -> None:
    made = story.call("set-summary", part=story.parts[2], text="A lamp is lit.")
    assert (made["result"], made["covers"], made["state"], made["words"]) == ("made", "1..3", "valid", 4)
    changed = story.run('/set-summary 3 "A lamp is lit, and it rains."')
    assert (changed["result"], changed["summary"]) == ("changed", made["summary"])
    before = story.journal()
    assert story.run('/set-summary 3 "A lamp is lit, and it rains."')["result"] == "unchanged"
    assert story.journal() == before
    assert rows(story) == [(3, "1..3", "valid")]
    story.run("/undo")
    assert story.run("/get-summary 3")["text"] == "A lamp is lit."
    story.run("/undo")
    assert rows(story) == []
    story.run("/redo")
    assert rows(story) == [(3, "1..3", "valid")]


def test_an_outdated_summary_that_is_written_anew_is_valid_and_the_same_text_says_nothing(told: World) -> None:
    told.run("/edit-part 1 dusk noon")
    same = told.run('/set-summary 2 "What happens up to 2."')
    assert (same["result"], same["state"]) == ("unchanged", "outdated")
    assert "revalidate-summaries says" in to_plain(
        DISPATCHER.run_line('/set-summary 2 "What happens up to 2."', told.author)
    )
    assert told.run('/set-summary 2 "It is noon."')["state"] == "valid"


def test_a_summary_of_a_model_that_a_person_writes_anew_is_his(told: World) -> None:
    uuid = told.run("/get-summary 2")["summary"]
    told.put(replace(summary(told, uuid), model="storyteller"))
    assert told.run("/get-summary 2")["writtenBy"] == "storyteller"
    told.run("/set-summary 2 Other.")
    assert "writtenBy" not in told.run("/get-summary 2")


def test_a_new_summary_takes_parts_from_the_next(story: World) -> None:
    story.run("/set-summary 6 All.")
    made = story.run("/set-summary 3 First.")
    assert (outdated(made), made["covers"]) == ([6], "1..3")
    assert rows(story) == [(3, "1..3", "valid"), (6, "4..6", "outdated")]


def test_what_a_meta_summary_covers_is_not_written(told: World) -> None:
    inner = told.run("/get-summary 6")["summary"]
    meta(told, 6)
    for part in (told.parts[1], told.parts[2], inner, told.run("/get-summary 4")["summary"]):
        with pytest.raises((Refused, Invalid), match="unwind"):
            told.call("set-summary", part=part, text="Other.")
    assert told.run("/set-summary 6 Other.")["state"] == "valid"
    assert rows(told) == [(6, "1..6", "valid")]


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"part": "3", "text": "x"}, Invalid, "Give the handle of the part"),
        ({"part": "h:m9", "text": "x"}, NotFound, "has the handle"),
        ({"text": "x"}, Invalid, "part"),
        ({"part": "{0}", "text": " \n"}, Invalid, "The summary is empty"),
        ({"part": "{0}", "text": "It begins.\n[...]\nIt ends."}, Invalid, "words that are left out"),
        ({"part": "{0}", "text": "x" * 100_001}, Invalid, "at most 100,000"),
        ({"part": "{0}", "text": "half \ud800"}, Invalid, "the argument text is"),
    ],
)
def test_what_is_no_summary(world: World, arguments: dict[str, str], error: type[Exception], sentence: str) -> None:
    given = {name: value.format(world.parts[0]) if name == "part" else value for name, value in arguments.items()}
    before = world.journal()
    with pytest.raises(error, match=sentence):
        world.call("set-summary", **given)
    assert world.journal() == before


def test_a_part_of_another_book_and_a_part_that_went_are_refused(told: World) -> None:
    _, part = other_book(told)
    for name, more in (("set-summary", {"text": "x"}), ("get-summary", {}), ("remove-summary", {})):
        with pytest.raises(NotFound, match="of another book"):
            told.call(name, part=part, **more)
    prepared = DISPATCHER.prepare("set-summary", {"part": told.parts[4], "text": "x"}, told.agent)
    told.run(f"/delete-part {told.parts[4]}")
    with pytest.raises(NotFound, match="deleted meanwhile"):
        DISPATCHER.finish(prepared)


def test_f24_a_summary_that_was_changed_meanwhile_is_not_written_over(told: World) -> None:
    for name, more in (("set-summary", {"text": "Mine."}), ("remove-summary", {})):
        prepared = DISPATCHER.prepare(name, {"part": told.parts[1], **more}, told.agent)
        told.run(f'/set-summary 2 "Theirs {name}."')
        with pytest.raises(Stale):
            DISPATCHER.finish(prepared)
        assert told.run("/get-summary 2")["text"] == f"Theirs {name}."


def test_a_book_that_an_agent_holds_keeps_its_summaries(told: World) -> None:
    told.set_text(1, "Other.")
    told.hold("Reader")
    for line in ("/set-summary 2 x", "/remove-summary 2", "/revalidate-summaries"):
        with pytest.raises(Locked, match="Reader"):
            told.run(line)
    assert rows(told)[0] == (2, "1..2", "outdated")


# Removing


def test_remove_a_summary(told: World) -> None:
    gone = told.run("/remove-summary 4")
    assert (gone["result"], gone["position"], outdated(gone)) == ("removed", 4, [6])
    (question,) = told.answers.questions
    assert "Remove the summary of parts 3 to 4?" in question and "What happens up to 4." in question
    assert rows(told) == [(2, "1..2", "valid"), (6, "3..6", "outdated")]
    told.run("/undo")
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    told.answers.answer = False
    with pytest.raises(Declined):
        told.run("/remove-summary 4")
    with pytest.raises(NotFound, match="has no summary"):
        told.run("/remove-summary 3")
    with pytest.raises(Refused, match="leave out unwind"):
        told.run("/remove-summary 4 true")
    with pytest.raises(Invalid, match="Give the handle"):
        told.call("remove-summary", part="4")


def test_unwind_a_meta_summary_one_level(told: World) -> None:
    first = meta(told, 6, until=told.run("/get-summary 2")["summary"])
    second = meta(told, 6)
    assert rows(told) == [(6, "1..6", "valid")]
    done = told.run("/remove-summary 6 true")
    assert (done["result"], done["restored"], outdated(done)) == ("unwound", first, [])
    assert "Unwind the meta summary of parts 1 to 6?" in told.answers.questions[-1]
    assert rows(told) == [(2, "1..2", "valid"), (6, "3..6", "valid")]
    told.call("remove-summary", part=told.parts[5], unwind=True)
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    told.run("/undo")
    told.run("/undo")
    assert rows(told) == [(6, "1..6", "valid")] and told.run("/get-summary 6")["summary"] == second


def test_remove_a_meta_summary_with_what_it_replaced(told: World) -> None:
    meta(told, 6)
    meta(told, 6)
    before = told.run("/export-summaries")["summaries"]
    told.run("/remove-summary 6")
    assert "unwind would keep it" in told.answers.questions[-1]
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid")]
    told.run("/undo")
    assert told.run("/export-summaries")["summaries"] == before == 5


def test_what_a_meta_summary_took_in_is_not_removed(told: World) -> None:
    inner = told.run("/get-summary 6")["summary"]
    meta(told, 6)
    for part in (told.parts[1], inner):
        with pytest.raises(Refused, match="The meta summary of part 6 took this summary in"):
            told.call("remove-summary", part=part)


def test_a_meta_summary_goes_on_reaching_back_when_what_it_reached_to_is_removed(told: World) -> None:
    meta(told, 6, until=told.run("/get-summary 4")["summary"])
    told.run("/remove-summary 4")
    assert rows(told) == [(2, "1..2", "valid"), (6, "3..6", "outdated")]
    told.run("/undo")
    told.run("/delete-part 4")
    assert rows(told) == [(2, "1..2", "valid"), (5, "3..5", "outdated")]
    told.run("/undo")
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]


def test_a_meta_summary_reaches_back_to_what_is_there_again(told: World) -> None:
    """It was to reach to a meta summary, which is unwound."""
    older = meta(told, 4)
    uuid = meta(told, 6, until=older)
    assert rows(told) == [(4, "1..4", "valid"), (6, "5..6", "valid")]
    told.run("/remove-summary 4 true")
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    assert summary(told, uuid).until == told.run("/get-summary 4")["summary"]


# Outdated, and valid again


EDITS: tuple[tuple[str, list[int]], ...] = (
    ('/edit-part 3 "the the" the', [4]),
    ('/append-to-part 2 "More."', [2]),
    ('/replace-part-text 5 "All other words."', [6]),
    ("/search-replace-parts lamp candle", [2]),
    ('/insert-part 4 "Between."', [6]),
    ("/insert-part start First.", [2]),
    ("/delete-part 3", [4]),
    ("/delete-part 4", [6]),
    ("/set-part-fields 3 Tell.", []),
    ("/create-part Seven.", []),
    ("/branch-part 4", []),
    ("/move-part 3 1", [2, 4]),
    ("/move-part 6 4", [5]),
)


@pytest.mark.parametrize(("line", "found"), EDITS, ids=[line.split('"')[0] for line, _ in EDITS])
def test_an_edit_tells_which_summaries_it_made_outdated(told: World, line: str, found: list[int]) -> None:
    answer = told.run(line)
    said = answer.get("outdatedSummaries")
    positions = [row["position"] for row in said["summaries"]] if said else []
    parts = {part: place for place, part in enumerate(told.tree().active, start=1)}
    assert len(positions) == len(found)
    if said:
        assert "revalidate-summaries" in said["hint"]
        assert [parts[row["part"]] for row in said["summaries"]] == positions
    told.run("/undo")
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    told.run("/redo")
    assert told.run("/check-summaries")["total"] == len(found)


def test_a_version_that_is_brought_back_tells_it_too(told: World) -> None:
    told.set_text(3, "Other.")
    assert told.run("/check-summaries")["total"] == 1
    assert "outdatedSummaries" not in told.run("/restore-version 3 1")
    assert told.run("/check-summaries")["total"] == 0
    assert outdated(told.run("/restore-version 3 2")) == [4]


def test_what_is_outdated_already_is_not_told_again(told: World) -> None:
    assert outdated(told.run("/edit-part 1 lamp candle")) == [2]
    assert outdated(told.run("/edit-part 1 candle torch")) == []
    assert outdated(told.run('/append-to-part 3 "More."')) == [4]
    answer = to_plain(DISPATCHER.run_line('/append-to-part 5 "More."', told.author))
    assert "1 summary outdated by it (part 6)." in answer and "revalidate-summaries" in answer


def test_an_edit_inside_a_meta_summary_makes_that_outdated(told: World) -> None:
    meta(told, 6)
    answer = told.run("/edit-part 1 lamp candle")
    assert [(row["position"], row["covers"]) for row in answer["outdatedSummaries"]["summaries"]] == [(6, "1..6")]


def test_a_book_without_summaries_pays_one_look_up(world: World) -> None:
    with world.store.read() as tx:
        plan = tx.connection.exec_driver_sql(
            "EXPLAIN QUERY PLAN SELECT uuid FROM summary WHERE space_id = 1 AND book = ?", (world.book,)
        ).all()
        assert "USING" in plan[0][-1] and "book=?" in plan[0][-1] and len(plan) == 1
        assert read_summaries(tx.space(LIBRARY), world.book) is None
    assert "outdatedSummaries" not in world.run("/edit-part 1 lamp candle")


def test_revalidate_one_or_all(told: World) -> None:
    for place in (1, 3, 5):
        told.set_text(place, f"Other {place}.")
    one = told.call("revalidate-summaries", part=told.parts[3])
    assert (one["result"], [row["position"] for row in one["summaries"]]) == ("revalidated", [4])
    rest = told.run("/revalidate-summaries")
    assert [row["covers"] for row in rest["summaries"]] == ["1..2", "5..6"]
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid"), (6, "5..6", "valid")]
    assert told.run("/get-summary 2")["text"] == "What happens up to 2."
    before = told.journal()
    assert told.run("/revalidate-summaries")["result"] == "unchanged"
    assert told.run("/revalidate-summaries 2")["result"] == "unchanged"
    assert told.journal() == before
    told.run("/undo")
    assert [state for _, _, state in rows(told)] == ["outdated", "valid", "outdated"]
    with pytest.raises(NotFound, match="has no summary"):
        told.run("/revalidate-summaries 3")
    with pytest.raises(Invalid, match="Give the handle"):
        told.call("revalidate-summaries", part="2")


# Summaries and the tree


def test_a_branched_part_takes_its_summaries_along(told: World) -> None:
    kept = told.run("/get-summary 2")["summary"]
    uuid = meta(told, 4, until=kept)
    made = told.run("/branch-part 4")
    assert rows(told) == [(2, "1..2", "valid"), (4, "3..4", "valid")]
    copy = told.call("get-summary", part=made["part"])
    assert copy["summary"] != uuid and copy["meta"] and copy["text"] == "All up to 4."
    told.call("remove-summary", part=made["part"], unwind=True)
    assert told.call("get-summary", part=made["part"])["text"] == "What happens up to 4."
    assert told.call("get-summary", part=told.parts[3])["summary"] == uuid
    told.run("/undo")
    told.run("/undo")
    assert len(told.tree().rows) == 6 and rows(told)[1] == (4, "3..4", "valid")


def test_a_deleted_part_takes_its_summaries_along_and_undo_brings_them_back(told: World) -> None:
    uuid = meta(told, 4)
    before = told.run("/export-summaries")["text"]
    gone = told.run("/delete-part 4")
    assert outdated(gone) == [5]
    assert rows(told) == [(2, "1..2", "valid"), (5, "3..5", "outdated")]
    told.run("/undo")
    assert told.run("/export-summaries")["text"] == before and told.run("/get-summary 4")["summary"] == uuid
    told.run("/redo")
    with pytest.raises(NotFound):
        told.run(f"/get-summary {uuid}")
