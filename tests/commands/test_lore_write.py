from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from marginalia_tui.agent.handles import Handles
from marginalia_tui.commands.context import AlwaysYes, Scope
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import (
    Ambiguous,
    Declined,
    Invalid,
    Locked,
    MarginaliaError,
    NotFound,
    Refused,
    Stale,
)
from marginalia_tui.domain.items import Entry, Lorebook
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from tests.commands.lore_world import LoreWorld
from tests.commands.world import DISPATCHER, World


@pytest.fixture
def lore(world: World) -> LoreWorld:
    return LoreWorld(world)


def names(world: World) -> list[str]:
    return [row["name"] for row in world.run("/list-lorebooks")["lorebooks"]]


# Entries


def test_create_an_entry_with_every_field(world: World, lore: LoreWorld) -> None:
    made = world.call(
        "create-lore-entry",
        name=" The  quay ",
        text="Stone.",
        lorebook=lore["Places"],
        filter=r"qu.y",
        mode="regex",
        constant=True,
        order=7,
        lookBack=3,
        first=2,
        last=9,
        tags="sea, Night,night",
        negativeTags="day",
        insertion="prompt",
        comment="Mine.",
        enabled=False,
    )
    assert (made["result"], made["name"], made["lorebook"], made["lorebookName"], made["words"]) == (
        "created",
        "The quay",
        lore["Places"],
        "Places",
        1,
    )
    read = world.call("get-lore-entry", entry=made["entry"])
    assert {key: read[key] for key in ("number", "mode", "constant", "order", "lookBack", "first", "last")} == {
        "number": "3.1", "mode": "regex", "constant": True, "order": 7, "lookBack": 3, "first": 2, "last": 9,
    }  # fmt: skip
    assert (read["tags"], read["negativeTags"], read["insertion"], read["comment"], read["enabled"]) == (
        ["Night", "sea"],
        ["day"],
        "prompt",
        "Mine.",
        False,
    )


def test_the_first_entry_of_a_book_makes_its_root_lorebook(world: World) -> None:
    made = world.run('/create-lore-entry "The quay" "Stone."')
    (row,) = world.run("/list-lorebooks")["lorebooks"]
    assert (row["lorebook"], row["entries"], row["name"]) == (made["lorebook"], 1, "Lore")
    again = world.run('/create-lore-entry "The pier" "Wood." 1 pier')
    assert again["lorebook"] == made["lorebook"]
    assert world.run("/undo")["step"] == "Create a lore entry"
    world.run("/undo")
    assert world.run("/list-lorebooks")["lorebooks"] == []
    assert world.opened().lorebook is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": " "}, "Give the entry a name"),
        ({"name": "x" * 301}, "at most 300"),
        ({"name": "a\x1b[2Jb"}, "control characters"),
        ({"name": "x", "filter": "(lamp", "mode": "regex"}, "no regular expression"),
        ({"name": "x", "filter": "(?:a{999}){999}", "mode": "regex"}, "repeats too much"),
        ({"name": "x", "filter": "y" * 1_001}, "at most 1,000 characters"),
        ({"name": "x", "first": 5, "last": 4}, "could never be active"),
        ({"name": "x", "lookBack": -1}, "from 0"),
        ({"name": "x", "mode": "glob"}, "one of text, regex"),
        ({"name": "x", "insertion": "after"}, "one of lore, prompt"),
        ({"name": "x", "tags": "y" * 500}, "A tag has at most"),
        ({"name": "x", "text": "The quay [...] again."}, "left out"),
        ({"name": "x", "text": "y" * 500_001}, "at most 500,000"),
    ],
)
def test_a_bad_entry_is_refused(world: World, lore: LoreWorld, arguments: dict[str, Any], sentence: str) -> None:
    before = world.journal()
    with pytest.raises(Invalid, match=sentence):
        world.call("create-lore-entry", **arguments)
    with pytest.raises(MarginaliaError):
        world.call("update-lore-entry", entry=lore["Lamp"], **arguments)
    assert world.journal() == before


def test_update_changes_what_is_given_and_says_what(world: World, lore: LoreWorld) -> None:
    done = world.call("update-lore-entry", entry=lore["Lamp"], text="It burns gas.", filter="lamp", first=2)
    assert (done["result"], done["entry"], done["changed"]) == ("changed", lore["Lamp"], ["text", "first"])
    assert (lore.entry("Lamp").text, lore.entry("Lamp").name, lore.entry("Lamp").first) == ("It burns gas.", "Lamp", 2)
    before = world.journal()
    assert world.call("update-lore-entry", entry=lore["Lamp"], first=2)["result"] == "unchanged"
    assert world.journal() == before


def test_an_empty_argument_leaves_a_field_and_a_space_empties_it(world: World, lore: LoreWorld) -> None:
    lore.put(replace(lore.entry("Lamp"), tags=("a",), last=4))
    world.run('/update-lore-entry 1.2 "" "" " " "" "" "" "" "" "" 0 " "')
    lamp = lore.entry("Lamp")
    assert (lamp.name, lamp.text, lamp.filter, lamp.last, lamp.tags) == (
        "Lamp",
        "The lamp burns whale oil.",
        "",
        None,
        (),
    )
    assert world.run("/undo")["step"] == "Change a lore entry"
    assert lore.entry("Lamp").filter == "lamp"


def test_an_update_is_checked_against_what_is_there(world: World, lore: LoreWorld) -> None:
    lore.put(replace(lore.entry("Lamp"), filter="(lamp", last=3))
    with pytest.raises(Invalid, match="no regular expression"):
        world.call("update-lore-entry", entry=lore["Lamp"], mode="regex")
    with pytest.raises(Invalid, match="could never be active"):
        world.call("update-lore-entry", entry=lore["Lamp"], first=4)
    with pytest.raises(Invalid, match="Give what should change: name, text"):
        world.call("update-lore-entry", entry=lore["Lamp"])
    world.call("update-lore-entry", entry=lore["Lamp"], mode="regex", filter="lamp")


def test_move_and_delete_an_entry(world: World, lore: LoreWorld) -> None:
    done = world.call("move-lore-entry", entry=lore["Lamp"], lorebook=lore["Places"])
    assert (done["result"], done["entry"], done["lorebook"]) == ("moved", lore["Lamp"], lore["Places"])
    assert world.run("/move-lore-entry Lamp Places")["result"] == "unchanged"
    gone = world.run("/delete-lore-entry Lamp")
    assert (gone["result"], gone["entry"], gone["lorebookName"]) == ("deleted", lore["Lamp"], "Places")
    assert world.answers.questions == [
        "Delete entry 3.1 ('Lamp') with its 5 words? It begins: The lamp burns whale oil."
    ]
    with pytest.raises(NotFound):
        world.run(f"/get-lore-entry {lore['Lamp']}")
    world.run("/undo")
    assert lore.entry("Lamp").text == "The lamp burns whale oil."
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/delete-lore-entry Lamp")


# Lorebooks


def test_create_and_change_lorebooks(world: World, lore: LoreWorld) -> None:
    made = world.run('/create-lorebook " Small  ships "')
    assert (made["name"], made["above"]) == ("Small ships", lore["World"])
    deep = world.call("create-lorebook", name="Boats", parent=made["lorebook"])
    assert deep["above"] == made["lorebook"]
    assert names(world) == ["World", "People", "Places", "Small ships", "Boats"]
    done = world.call("update-lorebook", lorebook=made["lorebook"], name="Ships", enabled=False, tags="sea, sea")
    assert (done["lorebook"], done["changed"]) == (made["lorebook"], ["name", "enabled", "tags"])
    assert world.run('/update-lorebook Ships "" "" "" " "')["changed"] == ["tags"]
    assert world.call("update-lorebook", lorebook=made["lorebook"], enabled=False)["result"] == "unchanged"


def test_the_first_lorebook_of_a_book_is_its_root(world: World) -> None:
    made = world.run("/create-lorebook World")
    assert "above" not in made and world.opened().lorebook == made["lorebook"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Give what should change: name, enabled, scanDepth, tags"),
        ({"name": " "}, "Give the lorebook a name"),
        ({"name": "a\x07"}, "control characters"),
        ({"scanDepth": 101}, "from 0 to 100"),
    ],
)
def test_a_bad_lorebook_is_refused(world: World, lore: LoreWorld, arguments: dict[str, Any], sentence: str) -> None:
    before = world.journal()
    with pytest.raises(Invalid, match=sentence):
        world.call("update-lorebook", lorebook=lore["Places"], **arguments)
    with pytest.raises(Invalid, match="name"):
        world.call("create-lorebook", name="\n")
    assert world.journal() == before


def test_delete_a_lorebook_and_bring_it_back(world: World, lore: LoreWorld) -> None:
    gone = world.run("/delete-lorebook Places")
    assert (gone["result"], gone["lorebook"], gone["entries"]) == ("deleted", lore["Places"], 1)
    assert world.answers.questions == ["Delete lorebook 3 ('Places')? It has 1 entry, and 1 lorebook below it."]
    assert names(world) == ["World", "People"]
    assert lore.entry("Lighthouse").lorebook == lore["Places"]
    with pytest.raises(NotFound):
        world.run(f"/get-lore-entry {lore['Lighthouse']}")
    back = world.call("add-subbook", parent=lore["World"], lorebook=lore["Places"])
    assert (back["result"], back["lorebook"], back["parent"], back["entries"]) == (
        "revived",
        lore["Places"],
        lore["World"],
        1,
    )
    assert names(world) == ["World", "People", "Places"]
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/delete-lorebook Places")


def test_the_question_names_the_other_books_that_use_a_lorebook(world: World, lore: LoreWorld) -> None:
    world.run("/delete-lorebook People")
    assert world.answers.questions[0].endswith("It has 1 entry. Other books use it too: 'Another'.")


def test_deleting_the_root_leaves_the_book_without_lore_until_there_is_a_new_one(world: World, lore: LoreWorld) -> None:
    world.run("/delete-lorebook 1")
    assert names(world) == []
    made = world.run('/create-lore-entry "The quay"')
    assert names(world) == ["Lore"]
    world.run(f"/add-subbook 1 {lore['World']}")
    assert names(world) == ["Lore", "World", "People", "Places"]
    assert made["lorebookName"] == "Lore"


def test_take_a_lorebook_out_and_put_it_back(world: World, lore: LoreWorld) -> None:
    done = world.run("/remove-subbook World People")
    assert (done["result"], done["lorebook"], done["parent"], done["stillUsed"]) == (
        "removed",
        lore["People"],
        lore["World"],
        True,
    )
    done = world.run("/remove-subbook Places People")
    assert done["stillUsed"] is False
    assert names(world) == ["World", "Places"]
    assert world.answers.questions[1].startswith("Take lorebook 3 ('People') out of lorebook 2 ('Places')?")
    with pytest.raises(NotFound, match="no lorebook 'People'"):
        world.run("/remove-subbook Places People")
    assert world.run("/add-subbook 1 People")["result"] == "added"
    assert world.run("/add-subbook 1 People")["result"] == "unchanged"
    with pytest.raises(NotFound, match="'Places' does not stand right below 'People'"):
        world.run("/remove-subbook People Places")


@pytest.mark.parametrize("line", ["/add-subbook 1 1", "/add-subbook People World", "/add-subbook 2 Places"])
def test_a_lorebook_is_never_put_below_itself(world: World, lore: LoreWorld, line: str) -> None:
    before = world.journal()
    with pytest.raises(Refused, match="never below itself"):
        world.run(line)
    assert world.journal() == before and not world.answers.questions


def test_the_author_shares_a_lorebook_of_another_book(world: World, lore: LoreWorld) -> None:
    done = world.run('/add-subbook 1 "Elsewhere"')
    assert done["result"] == "added" and "Elsewhere" in names(world)
    assert world.run("/add-subbook 1 Old")["result"] == "revived"
    with pytest.raises(NotFound):
        world.run("/add-subbook 1 Nowhere")
    lore.put(Lorebook(uuid=world.store.clock.new_uuid(), name="Twin"))
    lore.put(Lorebook(uuid=world.store.clock.new_uuid(), name="Twin"))
    with pytest.raises(Ambiguous, match="Several lorebooks fit 'Twin'"):
        world.run("/add-subbook 1 Twin")


# Search and replace


def test_search_and_replace(world: World, lore: LoreWorld) -> None:
    done = world.run("/search-replace-lore-entries lamp lantern")
    assert (done["hits"], done["entries"], done["dryRun"], done["changed"]) == (1, 1, False, [lore["Lamp"]])
    assert lore.entry("Lamp").text == "The lantern burns whale oil."
    assert (lore.entry("Lamp").name, lore.entry("Lamp").filter) == ("Lamp", "lamp")
    assert done["samples"][0]["before"] == "The lamp burns whale oil."
    assert (done["samples"][0]["number"], done["samples"][0]["field"]) == ("1.2", "text")
    assert "1 place in 1 entry? 1.2 Lamp, text: The lamp burns" in world.answers.questions[0]
    assert lore.entry("Secret").text == "A lamp of another book." and lore.entry("Forgotten").text.count("lamp") == 1
    world.run("/undo")
    assert lore.entry("Lamp").text == "The lamp burns whale oil."


def test_search_and_replace_in_all_fields_and_in_one_lorebook(world: World, lore: LoreWorld) -> None:
    world.call("search-replace-lore-entries", pattern="lamp", replacement="Lantern", where="all", ignoreCase=True)
    lamp = lore.entry("Lamp")
    assert (lamp.name, lamp.text, lamp.filter) == ("Lantern", "The Lantern burns whale oil.", "Lantern")
    done = world.call("search-replace-lore-entries", pattern="the", replacement="a", lorebook=lore["Places"])
    assert done["hits"] == 1 and lore.entry("Lighthouse").text.endswith("since a storm.")
    world.call(
        "search-replace-lore-entries", pattern=r"(\w+) (\w+)", replacement=r"\2 \1", mode="regex", where="comment"
    )
    assert lore.entry("Lamp").comment == "Bert Ask."


def test_a_dry_run_changes_and_asks_nothing(world: World, lore: LoreWorld) -> None:
    before = world.journal()
    done = world.call("search-replace-lore-entries", pattern="e", replacement="E", dryRun=True, maxHits=1)
    assert done["dryRun"] and done["hits"] > 5 and len(done["samples"]) == done["hits"]
    assert world.journal() == before and not world.answers.questions


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"pattern": "the", "replacement": "x", "maxHits": 1}, Refused, r"more than maxHits \(1\)"),
        ({"pattern": "lamp", "replacement": "", "where": "filter"}, Invalid, "always active"),
        ({"pattern": "Lamp", "replacement": " ", "where": "name"}, Invalid, "Give the entry a name"),
        ({"pattern": "Ada", "replacement": "(", "where": "filter"}, Invalid, "no regular expression"),
        ({"pattern": "lamp", "replacement": "x" * 2_000, "where": "filter"}, Invalid, "more than 1,000 characters"),
        ({"pattern": "burns", "replacement": "[...]"}, Invalid, "left out"),
        ({"pattern": "(lamp", "replacement": "x", "mode": "regex"}, Invalid, "no regular expression"),
        ({"pattern": "lamp", "replacement": r"\3", "mode": "regex"}, Invalid, "a group that the pattern does not have"),
        ({"pattern": "", "replacement": "x"}, Invalid, "empty"),
    ],
)
def test_a_bad_replace_changes_nothing(
    world: World, lore: LoreWorld, arguments: dict[str, Any], error: type[MarginaliaError], sentence: str
) -> None:
    before = world.journal()
    with pytest.raises(error, match=sentence):
        world.call("search-replace-lore-entries", **arguments)
    assert world.journal() == before


def test_f26_replacing_is_exact_and_tells_of_the_variant(world: World, lore: LoreWorld) -> None:
    lore.put(replace(lore.entry("Sea"), text="The sea\u2019s edge"))
    done = world.call("search-replace-lore-entries", pattern="sea's", replacement="x")
    assert done["hits"] == 0 and "sea\u2019s" in done["note"]
    assert "nowhere in the lore" in world.call("search-replace-lore-entries", pattern="dragon", replacement="x")["note"]


def test_a_declined_replace_changes_nothing_and_one_by_itself_neither(world: World, lore: LoreWorld) -> None:
    before = world.journal()
    world.call("search-replace-lore-entries", pattern="lamp", replacement="lamp")
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/search-replace-lore-entries lamp lantern")
    assert world.journal() == before


# Who may, and when

WRITERS: list[tuple[str, dict[str, str]]] = [
    ("update-lore-entry", {"entry": "Lamp", "name": "x"}),
    ("move-lore-entry", {"entry": "Lamp", "lorebook": "Places"}),
    ("delete-lore-entry", {"entry": "Lamp"}),
    ("create-lore-entry", {"name": "x", "lorebook": "Places"}),
    ("create-lorebook", {"name": "x", "parent": "Places"}),
    ("update-lorebook", {"lorebook": "Places", "name": "x"}),
    ("add-subbook", {"parent": "People", "lorebook": "Old notes"}),
    ("remove-subbook", {"parent": "World", "lorebook": "Places"}),
    ("delete-lorebook", {"lorebook": "Places"}),
    ("search-replace-lore-entries", {"pattern": "dark", "replacement": "lit", "lorebook": "Places"}),
]
REFERENCES = ("entry", "lorebook", "parent")
each_writer = pytest.mark.parametrize(("name", "arguments"), WRITERS, ids=[name for name, _ in WRITERS])


def by_uuid(lore: LoreWorld, arguments: dict[str, str]) -> dict[str, str]:
    return {key: lore[value] if key in REFERENCES else value for key, value in arguments.items()}


@each_writer
def test_an_agent_writes_by_handle_only(world: World, lore: LoreWorld, name: str, arguments: dict[str, str]) -> None:
    before = world.journal()
    handles = by_uuid(lore, arguments)
    for key in REFERENCES:
        for wrong in ("1", "1.1", arguments.get(key, "")):
            if key in arguments:
                with pytest.raises(Invalid, match="Give the handle of the (entry|lorebook), such as h:"):
                    world.call(name, **{**handles, key: wrong})
    assert world.journal() == before
    world.call(name, **handles)
    assert world.journal() > before


@each_writer
def test_an_item_that_is_not_there_is_refused(
    world: World, lore: LoreWorld, name: str, arguments: dict[str, str]
) -> None:
    before = world.journal()
    handles = by_uuid(lore, arguments)
    for key in REFERENCES:
        for wrong in ("h:l9", world.store.clock.new_uuid(), lore["Secret"], world.parts[0]):
            if key in arguments:
                with pytest.raises(NotFound):
                    world.call(name, **{**handles, key: wrong})
    assert world.journal() == before


@each_writer
def test_lore_is_not_changed_while_an_agent_holds_the_book(
    world: World, lore: LoreWorld, name: str, arguments: dict[str, str]
) -> None:
    world.hold("Copyeditor")
    before = world.journal()
    with pytest.raises(Locked, match="Copyeditor"):
        DISPATCHER.run(name, by_uuid(lore, arguments), world.author)
    assert world.journal() == before


@each_writer
def test_shared_lore_is_not_changed_while_an_agent_holds_another_book_that_uses_it(
    world: World, lore: LoreWorld, name: str, arguments: dict[str, str]
) -> None:
    """The agent holds the world's book; the author works on another one that has the same root."""
    other = world.store.clock.new_uuid()
    lore.put(replace(world.opened(), uuid=other, title="The Sequel", active_leaf=None))
    world.hold("Copyeditor")
    scope = replace(world.author, book=other)
    before = world.journal()
    with pytest.raises(Locked, match="Copyeditor.*The Lamp"):
        DISPATCHER.run(name, by_uuid(lore, arguments), scope)
    assert world.journal() == before


def test_tags_of_a_lorebook_stay_free_and_lore_of_other_books_too(world: World, lore: LoreWorld) -> None:
    world.hold("Copyeditor")
    assert world.run('/update-lorebook Places "" "" "" "shore"')["changed"] == ["tags"]
    scope = replace(world.author, book=lore["Another"])
    to_data(DISPATCHER.run_line('/create-lore-entry "Free" "Nobody holds it."', scope))
    with pytest.raises(Locked):
        DISPATCHER.run_line('/create-lore-entry "Held" "" People', scope)


MEANWHILE: list[tuple[str, dict[str, str], Callable[[LoreWorld], object]]] = [
    (name, arguments, change)
    for (name, arguments) in WRITERS
    for change in (
        [lambda lore: lore.put(replace(lore.entry("Lamp"), order=9))]
        if "entry" in arguments
        else [lambda lore: lore.put(replace(lore.entry("Lighthouse"), text="dark"))]
        if "pattern" in arguments
        else [
            lambda lore: lore.put(*(replace(lore.lorebook(each), deleted=5) for each in ("Places", "World", "People")))
        ]
    )
]


@pytest.mark.parametrize(("name", "arguments", "change"), MEANWHILE, ids=[name for name, _, _ in MEANWHILE])
def test_what_was_changed_meanwhile_is_not_overwritten(
    world: World, lore: LoreWorld, name: str, arguments: dict[str, str], change: Callable[[LoreWorld], object]
) -> None:
    prepared = DISPATCHER.prepare(name, by_uuid(lore, arguments), world.author)
    change(lore)
    before = world.journal()
    with pytest.raises((Stale, NotFound)) as caught:
        DISPATCHER.finish(prepared)
    assert isinstance(caught.value, Stale) or "deleted meanwhile" in caught.value.message
    assert world.journal() == before


def test_an_agent_works_on_its_copy_by_handles_and_brings_back_what_it_deleted(world: World, lore: LoreWorld) -> None:
    with world.store.write(Act(actor="agent", label="copy", book=world.book)) as tx:
        space = copy_book(tx, world.book)
        handles = Handles(tx, "run")
    scope = Scope(world.store, space, world.book, AlwaysYes(), is_agent=True, actor="agent")

    def call(name: str, /, **arguments: str) -> dict[str, Any]:
        resolved = {key: handles.resolve(value) for key, value in arguments.items()}
        return to_data(DISPATCHER.run(name, resolved, scope), handles.name)

    shown = call("list-lorebooks")
    assert [row["lorebook"] for row in shown["lorebooks"]] == ["h:l1", "h:l2", "h:l3"]
    assert call("list-lore-entries", lorebook="3")["entries"][0]["entry"] == "h:e1"
    assert call("update-lore-entry", entry="h:e1", text="It is lit.")["entry"] == "h:e1"
    assert call("delete-lorebook", lorebook="h:l3")["lorebook"] == "h:l3"
    assert len(call("list-lorebooks")["lorebooks"]) == 2
    assert call("add-subbook", parent="h:l1", lorebook="h:l3")["result"] == "revived"
    assert call("create-lore-entry", name="Quay", lorebook="h:l3")["entry"] == "h:e2"
    # What another book uses is not in the copy, whatever it is called by.
    for outside in (lore["Elsewhere"], lore["Old notes"]):
        with pytest.raises(NotFound):
            call("add-subbook", parent="h:l1", lorebook=outside)
    assert lore.entry("Lighthouse").text == "It has been dark since the storm."
    assert lore.lorebook("Places").deleted is None


def test_what_a_command_did_is_one_change_that_is_undone_whole(world: World, lore: LoreWorld) -> None:
    for number in range(50):
        lore.add(f"N{number}", "People", text="A dory and a dory.")
    world.run("/search-replace-lore-entries dory skiff")
    with world.store.read() as tx:
        texts = {entry.text for entry in tx.space(LIBRARY).get_many(Entry, lore.ids.values()).values()}
    assert "A skiff and a skiff." in texts and "A dory and a dory." not in texts
    assert world.run("/undo")["items"] == 50
    assert world.run("/search-lore dory")["total"] == 50
