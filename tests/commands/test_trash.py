from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from marginalia_tui.domain.errors import Ambiguous, Declined, Invalid, Locked, NotFound, Refused
from marginalia_tui.domain.items import Annotation, Book, Entry, Folder, Item, Lorebook, Part, Summary
from marginalia_tui.services import gone as service
from marginalia_tui.services.books import trash_book
from marginalia_tui.services.counting import count_all
from marginalia_tui.services.editing import Draft, keep_draft
from marginalia_tui.store import integrity, tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.sweep import sweep
from tests.commands.world import DISPATCHER, World, other_book


def put(world: World, *items: Item) -> None:
    with world.store.write(Act(actor="author", label="test", book=world.book)) as tx:
        tx.space(LIBRARY).put(items)


def delete(world: World, cls: type[Item], *uuids: str) -> None:
    with world.store.write(Act(actor="author", label="test", book=world.book)) as tx:
        tx.space(LIBRARY).delete(cls, uuids)


def gone(world: World) -> list[tuple[str, str, str]]:
    return [(row["kind"], row["name"], row["begins"]) for row in world.run("/list-trash")["gone"]]


def find(world: World, cls: type[Any], uuid: str) -> Any:
    with world.store.read() as tx:
        return tx.space(LIBRARY).find(cls, uuid)


def count(world: World, table: Any, *where: Any) -> int:
    with world.store.read() as tx:
        return int(tx.connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())


def noted(world: World) -> tuple[Summary, Annotation]:
    """A summary and a note on part 2."""
    text = world.text(2)
    clock = world.store.clock
    summary = Summary(uuid=clock.new_uuid(), book=world.book, part=world.parts[1], text="Ada saw nothing.")
    note = Annotation(
        uuid=clock.new_uuid(), book=world.book, part=world.parts[1], text="Who?", quote=text[:4], end=4, basis=text
    )
    put(world, summary, note)
    return summary, note


def lore(world: World, *entries: str) -> tuple[str, list[str]]:
    """A lorebook of the book with entries of these names."""
    clock = world.store.clock
    book = Lorebook(uuid=clock.new_uuid(), name="Lamps")
    made = [Entry(uuid=clock.new_uuid(), lorebook=book.uuid, name=name, text=f"About {name}.") for name in entries]
    put(world, book, *made, replace(world.opened(), lorebook=book.uuid))
    return book.uuid, [each.uuid for each in made]


def test_a_part_comes_back_as_it_was_with_what_went_with_it(world: World) -> None:
    summary, note = noted(world)
    part = world.part(2)
    world.run("/delete-part 2")
    assert gone(world) == [("part", "Chapter 2", " ".join(part.text.split()))]
    back = world.run('/restore-from-trash "chapter 2"')
    assert (back["kind"], back["item"], back["items"], back["notes"]) == ("part", part.uuid, 3, [])
    assert world.part(2) == part
    assert find(world, Summary, summary.uuid) == summary and find(world, Annotation, note.uuid) == note
    assert gone(world) == []
    # What followed it moved up meanwhile, and stays there: the part is a swipe beside it.
    assert [row["part"] for row in world.run("/list-swipes 2")["swipes"]] == [world.parts[1], world.parts[2]]
    assert world.run("/undo")["step"] == "Bring back what is gone"
    assert find(world, Part, part.uuid) is None


def test_a_part_whose_place_is_gone_follows_the_nearest_that_stands(world: World) -> None:
    world.run("/delete-part 3")
    world.run("/delete-part 2")
    back = world.run(f"/restore-from-trash {world.parts[2]}")
    assert "nearest part above" in back["notes"][0]
    assert world.part(3).parent == world.parts[0]
    assert world.tree().active == [world.parts[0], world.parts[2]], "the end of the branch is an end again"
    world.run("/restore-from-trash Chap")
    assert world.part(2).parent == world.parts[0]


def test_the_only_part_of_a_book_comes_back(world: World) -> None:
    for _ in world.parts:
        world.run("/delete-part 1")
    assert world.tree().active == []
    back = world.run('/restore-from-trash "Chapter 2"')
    assert world.tree().active == [back["item"]]
    assert find(world, Part, back["item"]).parent is None


def test_what_undo_brought_back_is_not_gone(world: World) -> None:
    world.run("/delete-part 2")
    world.run("/undo")
    assert gone(world) == []
    world.run("/delete-part 2")
    world.run("/delete-part 1")
    assert [name for _, name, _ in gone(world)] == ["Chapter 1", "Chapter 2"]


def test_two_swipes_made_at_one_moment_get_places_of_their_own(world: World) -> None:
    part = world.part(2)
    world.run("/delete-part 2")
    put(world, replace(part, uuid=world.store.clock.new_uuid()))
    world.run('/restore-from-trash "Chapter 2" part')
    assert world.part(2).created > part.created


def test_entries_notes_and_summaries_come_back(world: World) -> None:
    summary, note = noted(world)
    _, (entry, _) = lore(world, "Oil", "Wick")
    before = [find(world, Summary, summary.uuid), find(world, Annotation, note.uuid), find(world, Entry, entry)]
    delete(world, Summary, summary.uuid)
    delete(world, Annotation, note.uuid)
    delete(world, Entry, entry)
    assert gone(world) == [
        ("entry", "Oil", "About Oil."),
        ("annotation", "", "Who?"),
        ("summary", "", "Ada saw nothing."),
    ]
    for line in ("/restore-from-trash oil", "/restore-from-trash Who?", "/restore-from-trash Ada summary"):
        if "Ada" in line:
            with pytest.raises(NotFound, match="list-trash shows"):
                world.run(line)  # three letters are no beginning
            line = line.replace("Ada", '"Ada saw"')
        assert world.run(line)["items"] == 1
    assert [find(world, Summary, summary.uuid), find(world, Annotation, note.uuid), find(world, Entry, entry)] == before


def test_a_summary_whose_meta_summary_is_gone_stands_for_itself(world: World) -> None:
    summary, _ = noted(world)
    meta = replace(summary, uuid=world.store.clock.new_uuid(), meta=True)
    put(world, meta, replace(summary, under=meta.uuid))
    delete(world, Summary, summary.uuid)
    delete(world, Summary, meta.uuid)
    world.run(f"/restore-from-trash {summary.uuid}")
    assert find(world, Summary, summary.uuid) == summary


def test_what_has_no_place_any_more_is_refused(world: World) -> None:
    summary, note = noted(world)
    book, (entry,) = lore(world, "Oil")
    delete(world, Annotation, note.uuid)
    delete(world, Entry, entry)
    world.run("/delete-part 2")
    with pytest.raises(Refused, match="part that it is about is gone"):
        world.run("/restore-from-trash Who?")
    put(world, replace(find(world, Lorebook, book), deleted=5))
    with pytest.raises(Refused, match="'Lamps' of the entry is in the trash"):
        world.run("/restore-from-trash Oil")
    delete(world, Lorebook, book)
    with pytest.raises(Refused, match="was deleted for good"):
        world.run("/restore-from-trash Oil")


def test_books_and_lorebooks_come_out_of_the_trash(world: World) -> None:
    other, _ = other_book(world)
    lorebook, _ = lore(world)
    put(world, replace(find(world, Lorebook, lorebook), deleted=5))
    put(world, replace(find(world, Book, other), folder="gone"))
    trash_book(world.store, other)
    assert gone(world) == [("book", "Another", ""), ("lorebook", "Lamps", "")]
    back = world.run("/restore-from-trash another")
    assert "stands at the top" in back["notes"][0]
    assert (find(world, Book, other).deleted, find(world, Book, other).folder) == (None, None)
    world.run("/restore-from-trash Lamps")
    assert find(world, Lorebook, lorebook).deleted is None
    assert gone(world) == []


def test_a_folder_comes_back_where_it_was_or_at_the_top(world: World) -> None:
    above = world.run("/create-folder Series")["folder"]
    below = world.run("/create-folder Winter Series")["folder"]
    world.run('/update-folder Winter "" de')
    world.run("/delete-folder Winter")
    assert gone(world) == [("folder", "Winter", "")]
    assert world.run("/list-trash")["gone"][0]["by"] == "author"
    world.run("/restore-from-trash winter")
    assert (find(world, Folder, below).parent, find(world, Folder, below).language) == (above, "de")
    world.run("/delete-folder Winter")
    world.run("/delete-folder Series")
    back = world.run("/restore-from-trash Winter folder")
    assert "stands at the top" in back["notes"][0] and find(world, Folder, below).parent is None
    world.run("/delete-folder Winter")
    world.run("/create-folder winter")
    with pytest.raises(Invalid, match="another name"):
        world.run("/restore-from-trash Winter")
    assert find(world, Folder, below) is None, "a refusal leaves nothing behind"
    with pytest.raises(Refused, match="Only books and lorebooks"):
        world.run("/delete-for-good Winter")


def test_who_deleted_it_is_told(world: World) -> None:
    run, _ = with_agent(world, world.book)
    with world.store.write(Act(actor="apply", label="apply", book=world.book, run=run)) as tx:
        space = tx.space(LIBRARY)
        book = space.get(Book, world.book)
        space.put([replace(book, active_leaf=world.parts[1])])
        space.delete(Part, [world.parts[2]])
    world.run("/delete-part 1")
    assert [(row["name"], row["by"]) for row in world.run("/list-trash")["gone"]] == [
        ("Chapter 1", "author"),
        ("Chapter 3", "Editor"),
    ]
    with world.store.read() as tx:
        anywhere = service.lost_anywhere(tx)
        assert [(each.name, each.book) for each in anywhere] == [("Chapter 1", world.book), ("Chapter 3", world.book)]
        assert service.lost(tx, None) == [] and service.lost(tx, "another") == []


def test_a_name_that_fits_several_is_asked_back(world: World) -> None:
    other, _ = other_book(world)
    trash_book(world.store, other)
    put(world, replace(world.part(2), title="Another"))
    world.run("/delete-part 2")
    with pytest.raises(Ambiguous, match="book 'Another'.*part 'Another'"):
        world.run("/restore-from-trash Another")
    assert world.run("/restore-from-trash Another part")["item"] == world.parts[1]
    with pytest.raises(NotFound, match="list-trash shows"):
        world.run("/restore-from-trash Nothing")
    with pytest.raises(Invalid, match="kind is one of book, lorebook"):
        world.run("/restore-from-trash Another chapter")


def test_nothing_comes_back_into_a_held_book(world: World) -> None:
    world.run("/delete-part 2")
    world.hold("Copyeditor")
    with pytest.raises(Locked, match="Copyeditor"):
        world.run('/restore-from-trash "Chapter 2"')
    assert [name for _, name, _ in gone(world)] == ["Chapter 2"]


def test_what_came_back_meanwhile_is_left_alone(world: World) -> None:
    world.run("/delete-part 2")
    prepared = DISPATCHER.prepare_line('/restore-from-trash "Chapter 2"', world.author)
    world.run("/undo")
    with pytest.raises(NotFound, match="not gone any more"):
        DISPATCHER.finish(prepared)


def with_agent(world: World, book: str, status: str = "PAUSED") -> tuple[str, int]:
    """An agent of a book with a run that rests; answers the run and its copy."""
    run = world.store.clock.new_uuid()
    with world.store.write(Act(actor="studio", label="start")) as tx:
        copy = copy_book(tx, book)
        now = world.store.clock.now()
        tx.connection.execute(
            insert(tables.agent).values(uuid=f"agent-{book}", book=book, name=book, definition="{}", created=now)
        )
        tx.connection.execute(
            insert(tables.run).values(
                uuid=run,
                agent=f"agent-{book}",
                agent_name="Editor",
                book=book,
                space_id=copy,
                status=status,
                created=now,
                changed=now,
            )  # fmt: skip
        )
        tx.connection.execute(
            insert(tables.message).values(uuid=run, run=run, ordinal=1, role="user", text="Hello", created=now)
        )
    return run, copy


def test_a_book_deleted_for_good_takes_all_of_it_along(world: World) -> None:
    book, parts = world.book, world.parts
    other, _ = other_book(world)
    lorebook, (entry, _) = lore(world, "Oil", "Wick")
    noted(world)
    world.run("/edit-part 1 lamp candle")
    world.run("/delete-part 3")
    delete(world, Entry, entry)
    run, copy = with_agent(world, book)
    _, dropped = with_agent(world, other)
    with world.store.write(Act(actor="agent", label="edit", book=book)) as tx:
        space = tx.space(copy)
        space.put([replace(space.get(Part, parts[0]), text="A text of the agent alone.")])
        base = space.hashes(Part, parts)[parts[1]]
    keep_draft(world.store, Draft(book, parts[1], "", "A draft.", base, 1))
    trash_book(world.store, book)
    done = world.run('/delete-for-good "the lamp"')
    assert (done["books"], done["lorebooks"], done["names"]) == (1, 0, ["The Lamp"])
    assert "2 parts" in world.answers.questions[-1] and "Nothing brings it back" in world.answers.questions[-1]

    assert find(world, Book, book) is None
    for table in (tables.part, tables.summary, tables.annotation):
        assert count(world, table, table.c.book == book) == 0
    assert count(world, tables.run, tables.run.c.book == book) == 0
    assert count(world, tables.agent, tables.agent.c.book == book) == 0
    assert count(world, tables.message, tables.message.c.run == run) == 0
    assert count(world, tables.space, tables.space.c.id == copy) == 0
    assert count(world, tables.draft) == 0
    assert count(world, tables.journal, tables.journal.c.uuid.in_([book, *parts])) == 0
    # What others have stays: another book with its agent and copy, the lorebook with its history.
    assert find(world, Book, other) is not None
    assert count(world, tables.space, tables.space.c.id == dropped) == 1
    assert find(world, Lorebook, lorebook) is not None
    assert count(world, tables.journal, tables.journal.c.uuid == entry) == 2
    assert integrity.check(world.store) == []
    count_all(world.store)
    list(sweep(world.store))
    bodies = texts(world)
    for phrase in ("A text of the agent alone.", "candle", "Rain fell on", "Ada saw nothing."):
        assert phrase not in bodies
    assert "About Oil." in bodies and "The lamp of another." in bodies
    assert integrity.check(world.store) == []


def texts(world: World) -> str:
    with world.store.read() as tx:
        return "\n".join(tx.connection.execute(select(tables.text.c.body)).scalars())


def test_a_copy_that_was_dropped_goes_too(world: World) -> None:
    run, copy = with_agent(world, world.book, status="APPLIED")
    with world.store.write(Act(actor="agent", label="edit", book=world.book, run=run)) as tx:
        space = tx.space(copy)
        space.put([replace(space.get(Part, world.parts[0]), text="Of the agent.")])
    with world.store.write(Act(actor="studio", label="drop")) as tx:
        tx.connection.execute(tables.run.update().values(space_id=None))
        drop_space(tx, copy, keep_journal=True)
    trash_book(world.store, world.book)
    world.run('/delete-for-good "The Lamp"')
    assert count(world, tables.space, tables.space.c.id == copy) == 0
    assert count(world, tables.journal, tables.journal.c.space_id == copy) == 0


def test_only_what_is_in_the_trash_is_deleted_for_good(world: World) -> None:
    with pytest.raises(NotFound, match="list-trash"):
        world.run('/delete-for-good "The Lamp"')
    world.run("/delete-part 2")
    with pytest.raises(NotFound):
        world.run('/delete-for-good "Chapter 2"')
    with pytest.raises(Refused, match="The trash is empty"):
        world.run("/empty-trash")


def test_the_answer_no_keeps_it(world: World) -> None:
    trash_book(world.store, world.book)
    world.answers.answer = False
    for line in ('/delete-for-good "The Lamp"', "/empty-trash"):
        with pytest.raises(Declined):
            world.run(line)
    assert find(world, Part, world.parts[0]) is not None
    world.answers.answer = True
    prepared = DISPATCHER.prepare_line("/empty-trash", world.author)
    world.run('/restore-from-trash "The Lamp"')
    with pytest.raises(NotFound, match="not gone any more"):
        DISPATCHER.finish(prepared)
    assert find(world, Part, world.parts[0]) is not None


@pytest.mark.parametrize("status", ["RUNNING", "IDLE", "WAITING_APPROVAL"])
def test_a_book_that_an_agent_holds_is_kept(world: World, status: str) -> None:
    trash_book(world.store, world.book)
    with_agent(world, world.book, status=status)
    with pytest.raises(Refused, match="'Editor' works on the book"):
        world.run('/delete-for-good "The Lamp"')
    assert find(world, Part, world.parts[0]) is not None


def test_a_lorebook_deleted_for_good_leaves_its_books(world: World) -> None:
    book, (entry, other) = lore(world, "Oil", "Wick")
    delete(world, Entry, entry)
    put(world, replace(find(world, Lorebook, book), deleted=5))
    done = world.run("/delete-for-good Lamps")
    assert (done["books"], done["lorebooks"]) == (0, 1)
    assert find(world, Lorebook, book) is None and find(world, Entry, other) is None
    assert count(world, tables.journal, tables.journal.c.uuid.in_([book, entry, other])) == 0
    assert world.opened().lorebook is None
    assert integrity.check(world.store) == []
    # What the book lost is a step of the book, so that undo goes on past it.
    assert world.run("/undo")["step"] == "Delete a lorebook for good"
    assert world.run("/undo")["step"] == "test"


def test_a_lorebook_in_the_copy_of_a_run_is_kept(world: World) -> None:
    book, _ = lore(world, "Oil")
    with_agent(world, world.book)
    put(world, replace(find(world, Lorebook, book), deleted=5))
    with pytest.raises(Refused, match="review or discard"):
        world.run("/delete-for-good Lamps")
    assert find(world, Lorebook, book) is not None


def test_empty_trash_takes_books_first(world: World) -> None:
    book, _ = lore(world, "Oil")
    with_agent(world, world.book)
    put(world, replace(find(world, Lorebook, book), deleted=5))
    trash_book(world.store, world.book)
    done = world.run("/empty-trash")
    assert (done["books"], done["lorebooks"]) == (1, 1)
    assert gone(world) == []
    assert integrity.check(world.store) == []
    assert texts(world) != ""
    count_all(world.store)
    list(sweep(world.store))
    assert texts(world) == ""


def test_the_trash_is_the_author_s() -> None:
    for name in ("list-trash", "restore-from-trash", "delete-for-good", "empty-trash"):
        assert not DISPATCHER.registry.get(name).for_agents
