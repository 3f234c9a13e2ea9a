from dataclasses import replace

import pytest

from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.errors import Invalid, Locked, NotFound, Refused, Stale
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book


def edit(world: World, *texts: str) -> None:
    for text in texts:
        world.set_text(1, text)


def test_the_versions_of_a_part_are_listed_the_newest_first(world: World) -> None:
    world.run('/edit-part 1 "at dusk" "at dawn"')
    world.run("/undo")
    found = world.run("/list-versions 1")
    assert [(each["number"], each["label"], each["words"], each.get("current")) for each in found["versions"]] == [
        (3, "undo Edit a passage", 11, True),
        (2, "Edit a passage", 11, None),
        (1, "import", 11, None),
    ]
    assert {(each["who"], each["by"]) for each in found["versions"]} == {("author", "author")}
    assert found["position"] == 1 and found["part"] == world.parts[0] and "hidden" not in found
    assert len(world.run("/list-versions 2")["versions"]) == 1
    assert "import" in to_plain(DISPATCHER.run_line("/list-versions 1", world.author))
    page = world.run("/list-versions 1 1 1")
    assert [each["number"] for each in page["versions"]] == [2] and page["nextOffset"] == 2


def test_a_limit_hides_versions_and_deletes_none(world: World) -> None:
    edit(world, "Two.", "Three.", "Four.")
    done = world.run("/set-book-history-limit 2")
    assert (done["result"], done["limit"]) == ("changed", 2)
    found = world.run("/list-versions 1")
    assert ([each["number"] for each in found["versions"]], found["hidden"], found["total"]) == ([4, 3], 2, 2)
    assert world.run("/get-version 1 1")["text"] == "The lamp was lit at dusk. Nobody saw who lit it."
    assert world.run("/set-book-history-limit 2")["result"] == "unchanged"
    assert world.run("/set-book-history-limit -1")["result"] == "changed"
    assert len(world.run("/list-versions 1")["versions"]) == 4
    assert world.opened().history_limit is None
    with pytest.raises(Invalid, match="1 or more, or a negative number"):
        world.run("/set-book-history-limit 0")


def test_a_version_is_read_in_slices(world: World) -> None:
    edit(world, "Two.")
    found = world.run("/get-version 1 1 4 8")
    assert (found["text"], found["offset"], found["truncated"], found["nextOffset"]) == ("lamp was", 4, True, 12)
    assert (found["number"], found["of"], found["who"], found["label"]) == (1, 2, "author", "import")
    assert world.run("/get-version 1 0")["text"] == "Two."
    assert world.run("/get-version 1 -1")["number"] == 1
    with pytest.raises(NotFound, match="the versions 1 to 2"):
        world.run("/get-version 1 3")


def test_two_versions_are_compared_word_by_word(world: World) -> None:
    edit(world, "The red lamp was lit at dawn. Nobody saw who lit it.")
    found = world.run("/compare-versions 1")
    assert (found["older"], found["newer"], found["wordsRemoved"], found["wordsAdded"]) == (1, 2, 1, 2)
    assert [(each["removed"], each["added"]) for each in found["changes"]] == [("", "red "), ("dusk", "dawn")]
    assert found["changes"][1]["before"].endswith("lit at ") and found["changes"][1]["after"].startswith(". Nobody")
    back = world.run("/compare-versions 1 2 1")
    assert [(each["removed"], each["added"]) for each in back["changes"]] == [("red ", ""), ("dawn", "dusk")]
    assert world.run("/compare-versions 2")["changes"] == []
    with pytest.raises(NotFound, match="no version 7"):
        world.run("/compare-versions 1 7")


def test_a_version_is_brought_back_as_a_new_change(world: World) -> None:
    first = world.text(1)
    edit(world, "Two.", "Three.")
    before = world.part(1)
    world.put(replace(before, title="A new title"))
    done = world.run("/restore-version 1 1")
    assert (done["result"], done["restored"], done["words"]) == ("changed", 1, 11)
    assert (world.text(1), world.part(1).title) == (first, "A new title")
    assert world.run("/restore-version 1 1")["result"] == "unchanged"
    newest = world.run("/list-versions 1")["versions"][0]
    assert (newest["number"], newest["label"]) == (4, "Bring back a version")
    world.run("/undo")
    assert world.text(1) == "Three."


def test_f24_a_version_is_not_brought_back_over_newer_work(world: World) -> None:
    edit(world, "Two.")
    prepared = DISPATCHER.prepare("restore-version", [world.parts[0], 1], world.agent)
    edit(world, "Newer.")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    assert world.text(1) == "Newer."


def test_the_history_is_read_but_not_changed_while_an_agent_holds_the_book(world: World) -> None:
    edit(world, "Two.")
    world.hold("Copyeditor")
    assert len(world.run("/list-versions 1")["versions"]) == 2
    for line in ("/restore-version 1 1", "/set-book-history-limit 3"):
        with pytest.raises(Locked, match="Copyeditor"):
            world.run(line)


def test_an_agent_brings_back_a_version_by_handle_only(world: World) -> None:
    edit(world, "Two.")
    with pytest.raises(Invalid, match="Give the handle of the part"):
        world.call("restore-version", part="1", version=1)
    world.call("restore-version", part=world.parts[0], version=1)
    assert world.text(1).startswith("The lamp")


def test_the_history_of_a_part_of_another_book_is_not_shown(world: World) -> None:
    _, part = other_book(world)
    for name in ("list-versions", "compare-versions", "blame"):
        with pytest.raises(NotFound):
            world.call(name, part=part)


def test_parts_are_compared_sentence_by_sentence(world: World) -> None:
    world.set_text(1, "It rained. The lamp burned. Ada slept.")
    world.set_text(2, "It rained. The lamp went out. Ada slept. Then she woke.")
    found = world.run("/compare-parts 1 2")
    assert (found["same"], found["onlyFirst"], found["onlySecond"], found["total"]) == (2, 1, 2, 3)
    assert [(each["position"], each["number"], each["text"]) for each in found["differing"]] == [
        (1, 2, "The lamp burned."),
        (2, 2, "The lamp went out."),
        (2, 4, "Then she woke."),
    ]
    assert world.run("/compare-parts 1 1")["differing"] == []
    shown = to_plain(DISPATCHER.run_line("/compare-parts 1 2", world.author))
    assert shown.startswith("2 sentences in both, 1 only in the first part, 2 only in the second.")


def test_parts_that_are_too_long_to_compare_are_refused(world: World) -> None:
    world.set_text(1, " ".join(f"a{number}." for number in range(2_001)))
    world.set_text(2, " ".join(f"b{number}." for number in range(2_001)))
    with pytest.raises(Refused, match=r"2,001 and 2,001 sentences"):
        world.run("/compare-parts 1 2")


def test_a_search_finds_earlier_versions_when_it_is_asked_to(world: World) -> None:
    edit(world, "Only rain.", "Rain and wind.")
    assert world.run("/search-parts dusk")["parts"] == []
    found = world.run('/search-parts dusk "" 0 50 true')
    (hit,) = found["parts"]
    assert (hit["position"], hit["hits"], found["hits"], found["total"]) == (1, 1, 0, 1)
    assert hit["version"]["number"] == 1 and hit["version"]["who"] == "author" and "lit at dusk" in hit["first"]
    # The newest version that holds it counts, and a part that holds it now needs none.
    (rain,) = (each for each in world.run('/search-parts only "" 0 50 true')["parts"] if each["position"] == 1)
    assert rain["version"]["number"] == 2
    assert all("version" not in each for each in world.run('/search-parts rain "" 0 50 true')["parts"])
    assert "1 (author" in to_plain(DISPATCHER.run_line('/search-parts dusk "" 0 50 true', world.author))


def test_blame_tells_every_stretch(world: World) -> None:
    world.run('/edit-part 1 "lit at dusk" "lit by Ada at dusk"')
    with world.store.write(Act(actor="agent", label="Append to a part", book=world.book, call="c1")) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(world.part(1), text=world.text(1) + " Rain fell on it.")])
    found = world.run("/blame 1")
    assert [(each["start"], each["end"], each["words"], each["who"], each["version"]) for each in found["spans"]] == [
        (0, 17, 4, "author", 1),
        (17, 24, 2, "author", 2),
        (24, 55, 7, "author", 1),
        (55, 72, 4, "an agent", 3),
    ]
    assert found["spans"][1]["label"] == "Edit a passage" and found["spans"][3]["call"] == "c1"
    assert found["spans"][1]["begins"] == "by Ada" and all(each["when"] for each in found["spans"])
    assert world.run("/blame 1 1 2")["spans"] == found["spans"][1:3]
    world.set_text(2, "")
    assert world.run("/blame 2")["spans"] == []


def test_blame_book_shares_the_words_out(world: World) -> None:
    with world.store.write(Act(actor="agent", label="Append to a part", book=world.book)) as tx:
        tx.space(LIBRARY).put([replace(world.part(1), text=world.text(1) + " Rain fell on it.")])
    found = world.run("/blame-book")
    total = sum(world.part(place).words for place in (1, 2, 3))
    assert (found["parts"], found["words"]) == (3, total)
    assert [(each["who"], each["kind"], each["words"]) for each in found["shares"]] == [
        ("author", "author", total - 4),
        ("an agent", "agent", 4),
    ]
    assert sum(each["percent"] for each in found["shares"]) == pytest.approx(100, abs=0.2)
    swipe = world.add(world.parts[1], text="Another third part.")
    assert world.run("/blame-book")["parts"] == 4
    assert world.run(f"/blame-book {swipe}")["parts"] == 3
    for place in (1, 2, 3):
        world.set_text(place, "")
    assert world.run("/blame-book 1")["shares"] == []
