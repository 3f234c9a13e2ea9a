from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.commands.context import Scope
from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound, Refused
from marginalia_tui.domain.items import Book
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book


def test_book_info(world: World) -> None:
    info = world.run("/get-book-info")
    assert info["book"] == world.book
    assert (info["title"], info["author"], info["language"]) == ("The Lamp", "A. Writer", "en")
    assert (info["parts"], info["allParts"], info["branches"], info["activeBranch"]) == (3, 3, 1, 1)
    assert info["words"] == 11 + 10 + 11


def test_list_parts(world: World) -> None:
    listed = world.run("/list-parts")
    assert [row["part"] for row in listed["parts"]] == world.parts
    assert [row["position"] for row in listed["parts"]] == [1, 2, 3]
    assert listed["parts"][0] == {"position": 1, "part": world.parts[0], "title": "Chapter 1", "words": 11}
    assert (listed["total"], listed["truncated"], listed["branch"]) == (3, False, 1)


def test_lists_come_in_pages(world: World) -> None:
    page = world.run('/list-parts "" 1 1')
    assert [row["position"] for row in page["parts"]] == [2]
    assert (page["total"], page["offset"], page["truncated"], page["nextOffset"]) == (3, 1, True, 2)
    assert world.run('/list-parts "" 7 5')["parts"] == []
    with pytest.raises(Invalid, match="limit is a whole number from 1 to 200"):
        world.run('/list-parts "" 0 201')


def test_an_empty_book(world: World) -> None:
    book = world.store.clock.new_uuid()
    world.put(Book(uuid=book, title="Empty"))
    scope = replace(world.author, book=book)
    for line in ("/get-book-info", "/list-parts", "/list-branches", "/search-parts a", "/count-tokens"):
        DISPATCHER.run_line(line, scope)
    with pytest.raises(NotFound, match="no part yet"):
        DISPATCHER.run_line("/get-part 1", scope)


def test_get_part(world: World) -> None:
    part = world.run("/get-part 2")
    assert (part["part"], part["position"], part["title"]) == (world.parts[1], 2, "Chapter 2")
    assert part["text"] == world.text(2)
    assert (part["totalLength"], part["truncated"], part["offset"]) == (len(world.text(2)), False, 0)
    assert part["version"] and "swipe" not in part and "branch" not in part


def test_a_long_text_comes_in_slices(world: World) -> None:
    world.set_text(1, "word " * 5_000)
    first = world.run("/get-part 1")
    assert (len(first["text"]), first["totalLength"], first["truncated"], first["nextOffset"]) == (
        6_000,
        25_000,
        True,
        6_000,
    )
    last = world.call("get-part", part=world.parts[0], offset=20_000, length=20_000)
    assert (len(last["text"]), last["truncated"]) == (5_000, False)
    assert "nextOffset" not in last
    with pytest.raises(Invalid, match="length is a whole number from 1 to 20,000"):
        world.call("get-part", part=world.parts[0], length=20_001)


@pytest.mark.parametrize("name", ["2", " 2 ", "Chapter 2", "chapter 2", "CHAPTER 2"])
def test_the_author_names_a_part_by_number_and_title(world: World, name: str) -> None:
    assert world.run(f'/get-part "{name}"')["part"] == world.parts[1]


def test_the_author_names_a_part_by_its_uuid_and_the_beginning_of_it(world: World) -> None:
    world.put(replace(world.part(1), title=""), replace(world.part(2), title=""))
    assert world.run(f"/get-part {world.parts[1]}")["part"] == world.parts[1]
    assert world.run(f"/get-part {world.parts[1][:18]}")["part"] == world.parts[1]


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("4", NotFound, "parts 1 to 3"),
        ("0", NotFound, "parts 1 to 3"),
        ("9" * 400, NotFound, "parts 1 to 3"),
        ("Chapter", Ambiguous, "part 1 .'Chapter 1'., part 2"),
        ("Chaptre 2", NotFound, "Near are: part 2"),
        ("zzzz", NotFound, "list-parts"),
        ("h:m99", NotFound, "handle"),
        ("", NotFound, "list-parts"),
    ],
)
def test_what_is_no_part_is_told_with_what_fits(world: World, name: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        world.run(f'/get-part "{name}"')


def test_a_part_of_another_book_does_not_exist(world: World) -> None:
    _, part = other_book(world)
    for name, more in (("get-part", {}), ("edit-part", {"old": "lamp", "new": "x"}), ("delete-part", {})):
        with pytest.raises(NotFound, match="of another book"):
            world.call(name, part=part, **more)
        with pytest.raises(NotFound, match="of another book"):
            DISPATCHER.run(name, {"part": part, **more}, world.author)
    assert world.run("/search-parts another")["total"] == 0


def test_a_book_of_another_space_does_not_exist(world: World) -> None:
    scope = Scope(world.store, LIBRARY + 1, world.book, world.answers)
    with pytest.raises(NotFound, match="gone"):
        DISPATCHER.run("list-parts", {}, scope)


def test_branches_and_swipes(world: World) -> None:
    swipe = world.add(world.parts[1], "Chapter 3b", "Snow fell.")
    branches = world.run("/list-branches")["branches"]
    assert [(row["number"], row["leaf"], row["parts"], row["active"]) for row in branches] == [
        (1, world.parts[2], 3, True),
        (2, swipe, 3, False),
    ]
    swipes = world.run("/list-swipes 3")
    assert [(row["number"], row["part"], row["branch"], row["active"]) for row in swipes["swipes"]] == [
        (1, world.parts[2], 1, True),
        (2, swipe, 2, False),
    ]
    assert swipes["swipes"][1]["begins"] == "Snow fell."
    assert world.run("/list-parts")["parts"][2]["swipes"] == 2
    assert world.run("/list-parts 2")["parts"][2]["part"] == swipe
    assert world.call("list-parts", branch=swipe)["branch"] == 2
    other = world.run(f"/get-part {swipe}")
    assert (other["branch"], other["swipe"]) == (2, "2 of 2")
    assert world.run("/get-part 3 2")["part"] == swipe
    with pytest.raises(NotFound, match="2 branches"):
        world.run("/list-parts 3")


def test_search_parts(world: World) -> None:
    swipe = world.add(world.parts[1], "Chapter 3b", "The LAMP again.")
    found = world.run("/search-parts lamp")
    assert (found["total"], found["hits"]) == (3, 3)
    assert [(row["part"], row["hits"]) for row in found["parts"]] == [
        (world.parts[0], 1),
        (world.parts[1], 1),
        (swipe, 1),
    ]
    assert found["parts"][2]["branch"] == 2
    assert "lamp was lit" in found["parts"][0]["first"]
    assert world.run("/search-parts lamp 1")["total"] == 2
    page = world.run('/search-parts lamp "" 1 1')
    assert [row["part"] for row in page["parts"]] == [world.parts[1]]
    assert (page["total"], page["truncated"], page["nextOffset"]) == (3, True, 2)


def test_f26_a_search_finds_typographic_variants(world: World) -> None:
    for typed in ('\\"I saw nothing', "lamp's flame", "Ada. The"):
        assert world.run(f'/search-parts "{typed}"')["total"] == 1


def test_find_occurrences(world: World) -> None:
    found = world.run('/find-occurrences "rain fell"')
    assert (found["total"], found["inParts"]) == (2, 1)
    first = found["occurrences"][0]
    assert (first["part"], first["position"], first["at"], first["match"]) == (world.parts[2], 3, 0, "Rain fell")
    assert first["after"].startswith(" on the the roof")
    assert world.run('/find-occurrences "rain fell" text "" true')["total"] == 0
    assert world.run("/find-occurrences lit word")["total"] == 2
    assert world.run("/find-occurrences li word")["total"] == 0
    assert world.run(r'/find-occurrences "\\b(\\w+) \\1\\b" regex')["occurrences"][0]["match"] == "the the"
    assert world.run('/find-occurrences l regex 1 "" 1 1')["occurrences"][0]["at"] == 13
    assert world.call("find-occurrences", pattern="lamp", part=world.parts[1])["total"] == 1


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2", "*", "(?P<x>a)(?P<x", "\\"])
def test_what_is_no_regular_expression_is_told(world: World, pattern: str) -> None:
    if pattern == "a{2":
        assert world.call("find-occurrences", pattern=pattern, mode="regex")["total"] == 0
        return
    with pytest.raises(Invalid, match="no regular expression"):
        world.call("find-occurrences", pattern=pattern, mode="regex")


def test_f52_a_slow_pattern_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia_tui.commands.patterns.SECONDS", 0.2)
    world.set_text(1, "a" * 60 + "!")
    for name, more in (("find-occurrences", {}), ("search-replace-parts", {"replacement": "b"})):
        with pytest.raises(Refused, match="took longer than"):
            world.call(name, pattern="(a|aa)+$", mode="regex", **more)


def test_f52_patterns_have_a_length(world: World) -> None:
    for name in ("find-occurrences", "search-parts"):
        with pytest.raises(Invalid, match="at most 1,000 characters"):
            key = "text" if name == "search-parts" else "pattern"
            world.call(name, **{key: "a" * 1_001})
    with pytest.raises(Invalid, match="pattern is empty"):
        world.call("find-occurrences", pattern="")


def test_a_pattern_that_finds_nothing_of_length_is_no_hit(world: World) -> None:
    assert world.call("find-occurrences", pattern="x*", mode="regex")["total"] == 0


def test_count_tokens(world: World) -> None:
    whole = world.run("/count-tokens")
    one = world.run("/count-tokens 1")
    text = world.run(f'/count-tokens "" "{world.text(1)}"')
    assert one["tokens"] == text["tokens"] > 0
    assert one["words"] == text["words"] == 11
    assert whole["tokens"] > one["tokens"] and whole["parts"] == 3
    with pytest.raises(Invalid, match="a part or a text"):
        world.run("/count-tokens 1 text")


def test_readers_write_nothing(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the files that some write are no part of the book
    before = world.journal()
    for definition in DISPATCHER.registry:
        if definition.read_only:
            needed = {
                each.name: definition.name if each.type == "file" else "1"
                for each in definition.parameters
                if each.required
            }
            # There is no first note, summary or entry here.
            with suppress(NotFound):
                DISPATCHER.run(definition.name, needed, world.author)
    assert world.journal() == before


def test_the_lock_is_told_and_reading_stays_free(world: World) -> None:
    world.hold("Copyeditor")
    assert world.run("/get-book-info")["heldBy"] == "Copyeditor"
    assert world.run("/get-part 1")["text"]
    assert "heldBy" not in world.call("get-book-info")
