from dataclasses import replace

import pytest

from marginalia_tui.commands.control import Control, Status
from marginalia_tui.commands.dispatch import Prepared
from marginalia_tui.commands.results import by_uuid, to_data
from marginalia_tui.domain.errors import Ambiguous, Cancelled, Declined, Invalid, Locked, NotFound, Refused, Stale
from tests.commands.world import DISPATCHER, World


def prepare(world: World, name: str, **arguments: object) -> Prepared:
    return DISPATCHER.prepare(name, arguments, world.agent)


def test_edit_part(world: World) -> None:
    done = world.run('/edit-part 3 "the the roof" "the roof"')
    assert world.text(3) == "Rain fell on the roof. Rain fell in the yard."
    assert (done["result"], done["part"], done["position"], done["words"]) == ("changed", world.parts[2], 3, 10)
    assert done["passage"] == "Rain fell on the roof. Rain fell in the yard."
    assert done["version"] == world.run("/get-part 3")["version"]


def test_an_empty_new_text_deletes_the_passage(world: World) -> None:
    world.call("edit-part", part=world.parts[0], old=" Nobody saw who lit it.", new="")
    assert world.text(1) == "The lamp was lit at dusk."


def test_f03_an_identical_text_is_unchanged_and_leaves_no_trace(world: World) -> None:
    before = world.journal()
    for name, arguments in (
        ("edit-part", {"old": "lamp", "new": "lamp"}),
        ("replace-part-text", {"text": world.text(1)}),
    ):
        done = world.call(name, part=world.parts[0], **arguments)
        assert done["result"] == "unchanged"
    assert world.journal() == before


def test_what_is_not_there_shows_the_closest_passage(world: World) -> None:
    with pytest.raises(NotFound) as error:
        world.call("edit-part", part=world.parts[0], old="The lamp was lighted at dusk", new="x")
    assert "The closest there is: 'The lamp was lit at dusk" in error.value.message
    with pytest.raises(NotFound, match="nothing there is like it"):
        world.call("edit-part", part=world.parts[0], old="zqx wvk", new="x")
    world.set_text(1, "")
    with pytest.raises(NotFound, match="has no text"):
        world.call("edit-part", part=world.parts[0], old="zqx wvk", new="x")
    with pytest.raises(Invalid, match="old is empty"):
        world.call("edit-part", part=world.parts[0], old=" ", new="x")


def test_a_passage_that_is_there_twice_is_shown_with_its_places(world: World) -> None:
    with pytest.raises(Ambiguous) as error:
        world.call("edit-part", part=world.parts[2], old="Rain fell", new="Snow fell")
    assert "2 times in part 3" in error.value.message
    assert "Rain fell on the the" in error.value.message and "Rain fell in the yard." in error.value.message


def test_f26_an_edit_in_straight_quotes_keeps_the_curly_ones_of_the_book(world: World) -> None:
    world.call("edit-part", part=world.parts[1], old='"I saw nothing," said', new='"I didn\'t see," she said')
    assert world.text(2) == "\u201cI didn\u2019t see,\u201d she said Ada. The lamp\u2019s flame stood still."


def test_f26_the_exact_passage_wins_over_a_variant(world: World) -> None:
    world.set_text(1, "'Yes' and \u2018Yes\u2019")
    world.call("edit-part", part=world.parts[0], old="'Yes'", new="'No'")
    assert world.text(1) == "'No' and \u2018Yes\u2019"


@pytest.mark.parametrize("mark", ["[...]", "(rest unchanged)", "[\u2026]", "... rest of the chapter ..."])
def test_f07_a_new_mark_of_omission_is_refused(world: World, mark: str) -> None:
    before = world.journal()
    for name, arguments in (
        ("edit-part", {"part": world.parts[0], "old": "Nobody saw", "new": f"Nobody\n{mark}\nsaw"}),
        ("replace-part-text", {"part": world.parts[0], "text": f"The lamp.\n{mark}"}),
        ("append-to-part", {"part": world.parts[0], "text": mark}),
        ("create-part", {"text": f"It began.\n{mark}\n"}),
        ("search-replace-parts", {"pattern": "Nobody saw who lit it.", "replacement": f"\n{mark}\n"}),
    ):
        with pytest.raises(Invalid, match="left out"):
            world.call(name, **arguments)
    assert world.journal() == before


def test_f07_a_mark_that_the_author_has_may_stay(world: World) -> None:
    world.set_text(1, "He read [...] aloud.")
    world.call("edit-part", part=world.parts[0], old="[...] aloud", new="[...] softly")
    world.call("replace-part-text", part=world.parts[0], text="She read [...] softly.")
    assert world.text(1) == "She read [...] softly."


def test_f07_a_text_that_shrinks_a_lot_is_told(world: World) -> None:
    world.set_text(1, "word " * 100)
    assert (
        "100 words and has 3"
        in world.call("replace-part-text", part=world.parts[0], text="Only three words")["warning"]
    )
    world.set_text(1, "word " * 100)
    assert "warning" not in world.call("replace-part-text", part=world.parts[0], text="word " * 90)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit-part", {"old": "lamp", "new": "light"}),
        ("replace-part-text", {"text": "New."}),
        ("append-to-part", {"text": "New."}),
        ("delete-part", {}),
    ],
)
def test_f24_a_part_that_moved_on_is_not_overwritten(world: World, name: str, arguments: dict[str, str]) -> None:
    prepared = prepare(world, name, part=world.parts[0], **arguments)
    world.set_text(1, "Newer work of somebody else: a lamp.")
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    assert world.text(1) == "Newer work of somebody else: a lamp."


def test_f24_search_and_replace_is_all_or_nothing(world: World) -> None:
    prepared = prepare(world, "search-replace-parts", pattern="lamp", replacement="candle")
    world.set_text(2, "Newer work, a lamp.")
    with pytest.raises(Stale, match="1 of the 2 parts"):
        DISPATCHER.finish(prepared)
    assert "lamp" in world.text(1)


def test_f24_a_version_that_was_read_long_ago_is_refused_with_the_text_now(world: World) -> None:
    version = world.call("get-part", part=world.parts[0])["version"]
    world.set_text(1, "Newer work.")
    with pytest.raises(Stale, match=r"read it again. It begins: 'Newer work\.'"):
        world.call("replace-part-text", part=world.parts[0], text="Old plan.", version=version)
    version = world.call("get-part", part=world.parts[0])["version"]
    world.call("replace-part-text", part=world.parts[0], text="Old plan.", version=version)
    assert world.text(1) == "Old plan."


@pytest.mark.parametrize(
    ("old", "added", "text"),
    [
        ("One.", "Two.", "One.\n\nTwo."),
        ("One.\n", "Two.", "One.\n\nTwo."),
        ("One.\n\n", "Two.", "One.\n\nTwo."),
        ("One.", "\nTwo.", "One.\n\nTwo."),
        ("One.", "\n\nTwo.", "One.\n\nTwo."),
        ("", "Two.", "Two."),
    ],
)
def test_append_begins_a_paragraph(world: World, old: str, added: str, text: str) -> None:
    world.set_text(1, old)
    world.call("append-to-part", part=world.parts[0], text=added)
    assert world.text(1) == text
    with pytest.raises(Invalid, match="text is empty"):
        world.call("append-to-part", part=world.parts[0], text="\n")


def test_replace_asks_the_author_with_numbers_and_first_words(world: World) -> None:
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run('/replace-part-text 1 "All new."')
    (question,) = world.answers.questions
    assert "11 words by 2" in question and "The lamp was lit" in question and "part 1 ('Chapter 1')" in question
    assert world.text(1).startswith("The lamp")
    with pytest.raises(Invalid, match="delete-part"):
        world.run('/replace-part-text 1 ""')


@pytest.mark.parametrize("reference", ["1", "Chapter 1", "the first"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit-part", {"old": "lamp", "new": "light"}),
        ("replace-part-text", {"text": "New."}),
        ("append-to-part", {"text": "New."}),
        ("insert-part", {"text": "New."}),
        ("branch-part", {}),
        ("delete-part", {}),
        ("switch-branch", {}),
    ],
)
def test_an_agent_writes_by_handle_only(world: World, name: str, arguments: dict[str, str], reference: str) -> None:
    key = "after" if name == "insert-part" else "part"
    with pytest.raises(Invalid, match=r"Give the handle of the part, such as h:m3"):
        world.call(name, **{key: reference}, **arguments)


def test_writers_are_refused_while_an_agent_holds_the_book(world: World) -> None:
    world.run("/append-to-part 1 Something.")
    world.hold("Copyeditor")
    for line in (
        "/edit-part 1 lamp light",
        "/append-to-part 1 New.",
        "/create-part New.",
        "/delete-part 1",
        "/set-book-info Other",
        "/search-replace-parts lamp light",
        "/undo",
    ):
        with pytest.raises(Locked, match="Copyeditor"):
            world.run(line)


def test_search_and_replace(world: World) -> None:
    done = world.run("/search-replace-parts lamp candle")
    assert (done["hits"], done["parts"], done["dryRun"]) == (2, 2, False)
    assert world.text(1).startswith("The candle was lit")
    assert "The candle\u2019s flame" in world.text(2)
    assert len(world.answers.questions) == 1
    assert "2 places in 2 parts? part 1: The lamp was lit" in world.answers.questions[0]
    assert done["samples"][0]["before"].startswith("The lamp was lit")
    assert done["samples"][0]["after"].startswith("The candle was lit")


def test_a_dry_run_changes_and_asks_nothing(world: World) -> None:
    before = world.journal()
    done = world.call("search-replace-parts", pattern="e", replacement="E", dryRun=True, maxHits=1)
    assert done["dryRun"] and done["hits"] > 5 and len(done["samples"]) == done["hits"]
    assert world.journal() == before and not world.answers.questions


def test_more_than_max_hits_is_refused(world: World) -> None:
    before = world.journal()
    with pytest.raises(Refused, match=r"2 times, more than maxHits \(1\): nothing was changed"):
        world.call("search-replace-parts", pattern="lamp", replacement="x", maxHits=1)
    assert world.journal() == before


def test_search_and_replace_with_words_cases_groups_and_one_part(world: World) -> None:
    world.set_text(1, "Art, art, smart; Art")
    world.call("search-replace-parts", pattern="Art", replacement="Arthur", mode="word", part=world.parts[0])
    assert world.text(1) == "Arthur, art, smart; Arthur"
    world.call("search-replace-parts", pattern="ART", replacement="Art", mode="word", ignoreCase=True)
    assert world.text(1) == "Arthur, Art, smart; Arthur"
    world.call(
        "search-replace-parts", pattern=r"(\w+), (\w+)", replacement=r"\2 \\ \1", mode="regex", part=world.parts[0]
    )
    assert world.text(1).startswith("Art \\ Arthur")
    world.call("search-replace-parts", pattern="Arthur", replacement=r"\1", part=world.parts[0])
    assert "\\1" in world.text(1)
    with pytest.raises(Invalid, match="a group that the pattern does not have"):
        world.call("search-replace-parts", pattern="Art", replacement=r"\3", mode="regex")


def test_f26_search_and_replace_is_exact_and_tells_of_the_variant(world: World) -> None:
    done = world.call("search-replace-parts", pattern="lamp's", replacement="x")
    assert done["hits"] == 0 and "lamp\u2019s" in done["note"]
    assert "nowhere" in world.call("search-replace-parts", pattern="dragon", replacement="x")["note"]
    assert "lamp" in world.call("search-replace-parts", pattern="LAMP", replacement="x")["note"]


def test_search_and_replace_by_itself_changes_nothing(world: World) -> None:
    before = world.journal()
    world.call("search-replace-parts", pattern="lamp", replacement="lamp")
    assert world.journal() == before


def test_only_the_active_branch_is_replaced(world: World) -> None:
    swipe = world.add(world.parts[1], text="A lamp elsewhere.")
    world.call("search-replace-parts", pattern="lamp", replacement="candle")
    assert world.call("get-part", part=swipe)["text"] == "A lamp elsewhere."
    world.call("search-replace-parts", pattern="lamp", replacement="candle", part=swipe)
    assert world.call("get-part", part=swipe)["text"] == "A candle elsewhere."


def test_a_search_and_replace_that_is_stopped_changes_nothing(world: World) -> None:
    above = world.parts[2]
    for _ in range(150):
        above = world.add(above, text="A lamp.")
    world.run(f"/switch-branch {above}")
    control = Control()
    control.listen(lambda status: status.done == 99 and control.stop())
    before = world.journal()
    with pytest.raises(Cancelled):
        DISPATCHER.run("search-replace-parts", {"pattern": "lamp", "replacement": "x"}, world.author, control)
    assert control.status == Status("Searching", "part 100 of 153", 99, 153)
    assert world.journal() == before and not world.answers.questions


def test_handles_are_named_at_the_border_only(world: World) -> None:
    result = DISPATCHER.run("edit-part", {"part": world.parts[0], "old": "lamp", "new": "light"}, world.agent)
    named = to_data(result, lambda letter, uuid: f"h:{letter}{world.parts.index(uuid) + 1}")
    assert named["part"] == "h:m1"
    assert to_data(result, by_uuid)["part"] == world.parts[0]


def test_what_is_written_is_there_as_it_was_given(world: World) -> None:
    text = "Tabs\tand\r\nlines, \x1b[2J, \u202e, \U0001f600 and [b]markup[/b]"
    world.call("replace-part-text", part=world.parts[0], text=text)
    assert world.text(1) == text
    world.put(replace(world.part(1), title="x"))
    assert world.text(1) == text
