import pytest

from marginalia_tui.commands.completion import annotation_completer
from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.errors import Ambiguous, Declined, Invalid, NotFound, Refused, Stale
from marginalia_tui.domain.items import Annotation, Part
from marginalia_tui.services.annotations import note_beginnings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book


def rows(world: World, line: str = "/list-annotations") -> list[tuple[int, str, str | None]]:
    return [(each["number"], each["status"], each.get("passage")) for each in world.run(line)["notes"]]


def test_a_note_is_made_listed_and_read(world: World) -> None:
    made = world.run('/create-annotation 1 "Which lamp?" "The lamp" question')
    assert made["result"] == "created" and made["status"] == "open" and made["passage"] == "The lamp"
    (row,) = world.run("/list-annotations")["notes"]
    assert row == {
        "number": 1,
        "annotation": made["annotation"],
        "status": "open",
        "type": "question",
        "position": 1,
        "part": world.parts[0],
        "at": 0,
        "passage": "The lamp",
        "text": "Which lamp?",
        "source": "author",
    }
    note = world.run("/get-annotation 1")
    assert (note["text"], note["passage"], note["at"], note["until"]) == ("Which lamp?", "The lamp", 0, 8)
    assert note["after"].startswith(" was lit") and not note["changed"] and "quote" not in note


def test_a_note_of_an_agent_says_so(world: World) -> None:
    made = world.call("create-annotation", part=world.parts[1], text="Who is Ada?", quote="Ada")
    with world.store.read() as tx:
        note = tx.space(LIBRARY).get(Annotation, made["annotation"])
    assert (note.source, note.model) == ("agent", "")
    assert world.run("/list-annotations")["notes"][0]["source"] == "agent"


def test_a_note_follows_its_passage_and_shows_how_it_was(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp?" "The lamp was lit"')
    world.set_text(1, "Night fell. The lamp was soon lit at dusk. Nobody saw who lit it.")
    note = world.run("/get-annotation 1")
    assert (note["passage"], note["quote"], note["changed"]) == ("The lamp was soon lit", "The lamp was lit", True)
    assert world.run("/list-annotations")["notes"][0]["changed"] is True
    world.set_text(1, "Rain.")
    assert rows(world) == [(1, "orphaned", "The lamp was lit")]
    note = world.run("/get-annotation 1")
    assert note["quote"] == "The lamp was lit" and "passage" not in note and "reattach-annotation" in note["note"]
    world.run('/reattach-annotation 1 "Rain"')
    assert rows(world) == [(1, "open", "Rain")]


def test_notes_are_listed_by_status_and_part_in_the_order_of_the_book(world: World) -> None:
    world.run('/create-annotation 3 "Late." "in the yard"')
    world.run('/create-annotation 1 "Second." "Nobody"')
    world.run('/create-annotation 1 "First." "The lamp"')
    world.run('/create-annotation 2 "On all of it."')
    assert [number for number, _, _ in rows(world)] == [3, 2, 4, 1]
    world.run("/resolve-annotation 2")
    world.run("/resolve-annotation 4 dismissed")
    world.set_text(3, "Gone.")
    assert rows(world, "/list-annotations open") == [(3, "open", "The lamp")]
    assert rows(world, "/list-annotations done") == [(2, "done", "Nobody")]
    assert rows(world, "/list-annotations dismissed") == [(4, "dismissed", None)]
    assert rows(world, "/list-annotations orphaned") == [(1, "orphaned", "in the yard")]
    assert [number for number, _, _ in rows(world, "/list-annotations all 1")] == [3, 2]
    page = world.run('/list-annotations all "" 1 2')
    assert (len(page["notes"]), page["total"], page["truncated"], page["nextOffset"]) == (2, 4, True, 3)
    with pytest.raises(Invalid, match="one of all, open, done, dismissed, orphaned"):
        world.run("/list-annotations closed")


def test_which_of_several_places_is_told_by_its_number_or_its_characters(world: World) -> None:
    with pytest.raises(Ambiguous, match=r"is 2 times in part 3.*occurrence.*1: .*2: "):
        world.run('/create-annotation 3 "Twice." "Rain fell"')
    assert world.run('/create-annotation 3 "Twice." "Rain fell" note false 2')["at"] == 27
    made = world.run('/create-annotation 3 "By place." "" note false "" 8..12')
    assert (made["at"], made["passage"]) == (8, world.text(3)[8:12].strip())
    for line, says in (
        ('/create-annotation 3 "x" "Rain fell" note false 3', "is 2 times"),
        ('/create-annotation 3 "x" "Rain" note false "" 0..4', "leave out quote or span"),
        ('/create-annotation 3 "x" "" note false 2', "give the quote too"),
        ('/create-annotation 3 "x" "" note false "" 8..900', "is no passage"),
        ('/create-annotation 3 "x" "" note false "" 8-12', "is no passage"),
        ('/create-annotation 3 "x" "" note false "" 9..9', "is no passage"),
        ('/create-annotation 3 " " "Rain fell on"', "says nothing"),
        ('/create-annotation 3 "x" " "', "holds no letter"),
        ("/reattach-annotation 1", "Give the passage"),
        ("/update-annotation 1", "Give what should change"),
    ):
        with pytest.raises((Invalid, NotFound), match=says):
            world.run(line)


def test_f26_a_quote_in_straight_quotes_finds_the_curly_ones(world: World) -> None:
    made = world.call("create-annotation", part=world.parts[1], text="Check.", quote='"I saw nothing,"')
    assert made["passage"] == "\u201cI saw nothing,\u201d"


def test_a_quote_that_is_not_there_shows_the_closest(world: World) -> None:
    with pytest.raises(NotFound, match=r"The closest there is: '.*lamp was lit at dusk"):
        world.call("create-annotation", part=world.parts[0], text="x", quote="lamp was lighted at dusk")
    with pytest.raises(NotFound, match="Nothing there is like it"):
        world.call("create-annotation", part=world.parts[0], text="x", quote="zqx wvk")


def test_a_note_is_changed(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp?" "The lamp"')
    done = world.run('/update-annotation 1 "Which of the lamps?" fix true')
    assert (done["result"], done["changed"]) == ("changed", ["text", "type", "to_prompt"])
    note = world.run("/get-annotation 1")
    assert (note["text"], note["type"], note["toPrompt"]) == ("Which of the lamps?", "fix", True)
    before = world.journal()
    assert world.run('/update-annotation 1 "Which of the lamps?"')["result"] == "unchanged"
    assert world.run("/resolve-annotation 1 open")["result"] == "unchanged"
    assert world.run('/reattach-annotation 1 "The lamp"')["result"] == "unchanged"
    assert world.journal() == before


def test_an_agent_can_not_reopen_an_orphan(world: World) -> None:
    made = world.call("create-annotation", part=world.parts[0], text="x", quote="The lamp")
    world.call("resolve-annotation", annotation=made["annotation"])
    world.set_text(1, "Rain.")
    with pytest.raises(Refused, match="reattach it"):
        world.call("resolve-annotation", annotation=made["annotation"], status="open")
    world.run("/resolve-annotation 1 open")
    assert rows(world) == [(1, "orphaned", "The lamp")]


def test_deleting_a_note_asks_and_shows_what_it_says(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp?" "The lamp"')
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/delete-annotation 1")
    assert world.answers.questions == ["Delete the note on part 1 ('Chapter 1')? It says: Which lamp?"]
    world.answers.answer = True
    assert world.run("/delete-annotation 1")["result"] == "deleted"
    assert rows(world) == []
    world.run("/undo")
    assert rows(world) == [(1, "open", "The lamp")]


def test_an_author_names_a_note_by_its_number_or_its_words_an_agent_by_its_handle(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp?" "The lamp"')
    world.run('/create-annotation 2 "Which flame?" "flame"')
    assert world.run('/get-annotation "which FLAME"')["number"] == 2
    assert world.run('/get-annotation "lamp?"')["number"] == 1
    with pytest.raises(Ambiguous, match=r"1 \('Which lamp\?'\), 2"):
        world.run("/get-annotation which")
    for name, says in (("3", "the book has 2 notes"), ("nothing", "has the words"), ("h:a9", "the handle 'h:a9'")):
        with pytest.raises(NotFound, match=says):
            world.run(f'/get-annotation "{name}"')
    with pytest.raises(NotFound, match="of another book"):
        world.run(f"/get-annotation {world.parts[0]}")
    with pytest.raises(Invalid, match="Give the handle of the note, such as h:a3"):
        world.call("get-annotation", annotation="1")


def test_a_note_of_another_book_does_not_exist(world: World) -> None:
    book, part = other_book(world)
    note = world.store.clock.new_uuid()
    with world.store.write(Act(actor="author", label="note", book=book)) as tx:
        tx.space(LIBRARY).put([Annotation(uuid=note, book=book, part=part, text="Secret", created=1)])
    assert rows(world) == []
    for name in ("get-annotation", "resolve-annotation", "delete-annotation"):
        with pytest.raises(NotFound, match="of another book"):
            world.call(name, annotation=note)


def test_notes_stay_free_while_an_agent_holds_the_book(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp?" "The lamp"')
    world.hold("Copyeditor")
    world.run('/create-annotation 2 "Which flame?" "flame"')
    world.run('/update-annotation 1 "That lamp."')
    world.run('/reattach-annotation 1 "Nobody"')
    world.run("/resolve-annotation 1")
    world.run("/delete-annotation 2")
    assert rows(world) == [(1, "done", "Nobody")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("update-annotation", {"text": "Older."}),
        ("resolve-annotation", {}),
        ("reattach-annotation", {"quote": "Nobody"}),
        ("delete-annotation", {}),
    ],
)
def test_f24_a_note_that_moved_on_is_not_overwritten(world: World, name: str, arguments: dict[str, str]) -> None:
    note = world.call("create-annotation", part=world.parts[0], text="x", quote="The lamp")["annotation"]
    prepared = DISPATCHER.prepare(name, {"annotation": note, **arguments}, world.agent)
    world.run('/update-annotation 1 "Newer."')
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    assert world.run("/get-annotation 1")["text"] == "Newer."


def test_a_note_on_a_part_that_goes_meanwhile_is_refused_and_one_on_a_text_that_changes_follows(world: World) -> None:
    made = DISPATCHER.prepare("create-annotation", [world.parts[0], "x", "The lamp"], world.agent)
    world.set_text(1, "Once the lamp. The lamp was lit at dusk.")
    DISPATCHER.finish(made)
    assert rows(world) == [(1, "open", "The lamp")]
    late = DISPATCHER.prepare("create-annotation", [world.parts[2], "x"], world.agent)
    world.run("/delete-part 3")
    with pytest.raises(NotFound, match="deleted meanwhile"):
        DISPATCHER.finish(late)


@pytest.mark.parametrize("reference", ["1", "Chapter 1"])
def test_an_agent_makes_notes_by_handle_only(world: World, reference: str) -> None:
    with pytest.raises(Invalid, match=r"Give the handle of the part, such as h:m3"):
        world.call("create-annotation", part=reference, text="x")


def test_a_note_shows_control_characters_and_markup_as_they_are(world: World) -> None:
    with world.store.write(Act(actor="author", label="note", book=world.book)) as tx:
        part = tx.space(LIBRARY).get(Part, world.parts[0])
        tx.space(LIBRARY).put(
            [Annotation(uuid="note", book=world.book, part=part.uuid, text="\x1b[31m[red]x[/red]", created=1)]
        )
    shown = to_plain(DISPATCHER.run_line("/list-annotations", world.author))
    assert "\x1b" not in shown and "[red]x[/red]" in shown


def test_notes_are_completed_by_number_and_first_words(world: World) -> None:
    world.run('/create-annotation 1 "Which lamp\nis it?" "The lamp"')
    world.run('/create-annotation 2 "Which flame?"')
    world.run("/resolve-annotation 2")
    with world.store.read() as tx:
        notes = note_beginnings(tx.space(LIBRARY), world.book, 60)
    complete = annotation_completer(notes)
    assert [(each.value, each.label, each.description) for each in complete("")] == [
        ("1", "1 Which lamp is it?", "open"),
        ("2", "2 Which flame?", "done"),
    ]
    assert [each.value for each in complete("flame")] == ["2"]
