import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.context import Scope
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Declined, Invalid, Locked, NotFound, Refused
from marginalia_tui.domain.items import Annotation, Book, Entry, Folder, Item, Lorebook, Part
from marginalia_tui.services import backup
from marginalia_tui.services.books import create_book, trash_book
from marginalia_tui.store import integrity
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.commands.world import DISPATCHER, FakeAnswers, World, other_book
from tests.conftest import NewStore
from tests.services.backups import Full, a_full_book, edited, everything


@pytest.fixture
def full(store: Store) -> Full:
    return a_full_book(store)


@pytest.fixture
def of_full(store: Store, full: Full) -> World:
    """A world whose open book is the full one."""
    return World(store, full.book.uuid, [part.uuid for part in full.parts])


def put(store: Store, *items: Item, book: str | None = None) -> None:
    with store.write(Act(actor="author", label="test", book=book)) as tx:
        tx.space(LIBRARY).put(items)


def own(store: Store, book: str) -> dict[tuple[str, str], Item]:
    """The items of the library but the folders, without what is computed."""
    return {key: item for key, item in everything(store).items() if key[0] != Folder.KIND}


def get(store: Store, cls: type[Any], uuid: str) -> Any:
    with store.read() as tx:
        return tx.space(LIBRARY).find(cls, uuid)


def test_taken_and_listed(world: World, tmp_path: Path) -> None:
    taken = world.run("/take-backup")
    assert Path(taken["file"]).parent == backup.folder_of(world.store)
    backup.make(world.store, world.book, 5)
    other, _ = other_book(world)
    backup.make(world.store, other, 5)
    listed = world.run("/list-backups")
    assert [
        (row["number"], row["title"], row["parts"], row["words"], row["byItself"]) for row in listed["backups"]
    ] == [
        (1, "The Lamp", 3, 32, True),
        (2, "The Lamp", 3, 32, False),
    ]
    assert listed["backups"][1]["file"] == Path(taken["file"]).name
    nothing_open = to_data(DISPATCHER.run_line("/list-backups", replace(world.author, book=None)))
    assert nothing_open["total"] == 3
    named = world.run(f"/take-backup {tmp_path}/lamp.zip")
    assert named["file"] == str(tmp_path / "lamp.zip")
    assert world.run("/list-backups")["total"] == 2
    with pytest.raises(Refused, match="exists already"):
        world.run(f"/take-backup {tmp_path}/lamp.zip")
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line("/take-backup", replace(world.author, book=None))


def test_a_backup_that_is_damaged_is_listed_and_refused(world: World) -> None:
    path = backup.make(world.store, world.book, 5).path
    path.write_bytes(b"{")
    (row,) = world.run("/list-backups")["backups"]
    assert (row["title"], row["parts"]) == ("The Lamp", 0)
    with pytest.raises(Invalid, match="is no backup"):
        world.run("/restore-backup 1")


def test_as_new_everything_has_another_uuid(store: Store, full: Full, of_full: World, tmp_path: Path) -> None:
    of_full.run(f"/take-backup {tmp_path}/lamp.json")
    before = own(store, full.book.uuid)
    done = of_full.run(f"/restore-backup {tmp_path}/lamp.json")
    after = own(store, full.book.uuid)
    assert {key: after[key] for key in before} == before, "nothing that was there is changed"
    new: dict[str, list[Any]] = {}
    for (kind, uuid), item in after.items():
        if (kind, uuid) not in before:
            new.setdefault(kind, []).append(item)
    assert {kind: len(items) for kind, items in new.items()} == {
        "book": 1, "part": 4, "summary": 2, "annotation": 2, "lorebook": 2, "entry": 2,
    }  # fmt: skip
    (book,) = new["book"]
    assert isinstance(book, Book) and book.uuid == done["book"] != full.book.uuid
    assert (book.title, book.folder, book.tags, book.model) == (
        "The Lamp",
        full.folder.uuid,
        ("draft", "winter"),
        "llama",
    )
    parts: list[Any] = sorted(new["part"], key=lambda each: each.created)
    assert [part.text for part in parts] == [part.text for part in full.parts]
    assert [part.parent for part in parts] == [None, parts[0].uuid, parts[1].uuid, parts[1].uuid]
    assert book.active_leaf == parts[2].uuid
    assert parts[0].attributes == {"plot": {"parts": [parts[1].uuid, 3], parts[2].uuid: None}}
    meta: Any = next(each for each in new["summary"] if each.meta)
    below: Any = next(each for each in new["summary"] if not each.meta)
    assert (below.under, below.part, meta.book) == (meta.uuid, parts[1].uuid, book.uuid)
    assert all(
        note.part == parts[1].uuid and note.basis[note.start : note.end] == note.quote for note in new["annotation"]
    )
    high: Any = next(each for each in new["lorebook"] if each.name == "Lamps")
    low: Any = next(each for each in new["lorebook"] if each.name == "Tools")
    assert (book.lorebook, high.subbooks) == (high.uuid, (low.uuid,))
    assert {entry.name: entry.lorebook for entry in new["entry"]} == {"Oil": high.uuid, "Hammer": low.uuid}
    assert integrity.check(store) == []


def test_a_book_that_is_gone_for_good_comes_back_as_new(
    of_full: World, store: Store, full: Full, tmp_path: Path
) -> None:
    of_full.run(f"/take-backup {tmp_path}/lamp.zip")
    trash_book(store, full.book.uuid)
    of_full.run('/delete-for-good "The Lamp"')
    put(store, replace(full.folder, name="Summer"))
    scope = replace(of_full.author, book=None)
    done = to_data(DISPATCHER.run_line(f"/restore-backup {tmp_path}/lamp.zip", scope))
    assert done["notes"] == ["The folder Series / Winter is not there: the book stands at the top of the library."]
    assert get(store, Book, done["book"]).folder is None
    assert integrity.check(store) == []


def test_lore_in_the_trash_stays_out_of_a_new_book(of_full: World, store: Store, full: Full) -> None:
    put(store, replace(full.lore[1], deleted=5))
    of_full.run("/take-backup")
    done = of_full.run("/restore-backup latest")
    new = get(store, Lorebook, get(store, Book, done["book"]).lorebook)
    assert done["entries"] == 1
    assert [row["name"] for row in of_full.run("/list-trash")["gone"]] == ["Tools"]
    with store.read() as tx:
        assert tx.space(LIBRARY).get_many(Lorebook, new.subbooks) == {}


def change_much(store: Store, full: Full) -> None:
    """Edits, adds and deletes something of every kind."""
    clock = store.clock
    with store.write(Act(actor="author", label="much", book=full.book.uuid)) as tx:
        space = tx.space(LIBRARY)
        part = Part(
            uuid=clock.new_uuid(),
            book=full.book.uuid,
            parent=full.parts[2].uuid,
            created=clock.now(),
            text="A new end.",
        )
        note = replace(full.notes[0], uuid=clock.new_uuid(), part=part.uuid, text="New.")
        entry = replace(full.entries[0], uuid=clock.new_uuid(), name="New")
        space.put([
            part, note, entry,
            replace(
                full.book, title="Another title", tags=(), prompts={}, active_leaf=part.uuid, lorebook=None, folder=None
            ),
            replace(full.parts[0], text="Changed.", attributes={}),
            replace(full.summaries[0], part=full.parts[2].uuid, text="Changed."),
            replace(full.lore[0], name="Lights", subbooks=()),
        ])  # fmt: skip
        space.delete(Part, [full.parts[3].uuid])
        space.delete(Annotation, [full.notes[1].uuid])
        space.delete(Entry, [full.entries[1].uuid])


def test_all_puts_everything_back_and_is_undone(of_full: World, store: Store, full: Full) -> None:
    before = own(store, full.book.uuid)
    of_full.run("/take-backup")
    change_much(store, full)
    put(store, replace(get(store, Book, full.book.uuid), lorebook=full.lore[0].uuid), book=full.book.uuid)
    changed = own(store, full.book.uuid)
    done = of_full.run("/restore-backup latest all")
    (question,) = of_full.answers.questions
    assert "Replace everything in 'Another title'" in question
    assert "'The Lamp' as of" in question and "4 parts, 2 summaries, 2 notes, 2 lore entries" in question
    assert "in the place of 4 parts" in question
    after = own(store, full.book.uuid)
    # The lorebook below was not in the tree of the book any more: it came as a copy, with its entry.
    assert done["notes"] == ["Lorebooks that the book does not use any more came as copies: 1."]
    book = get(store, Book, full.book.uuid)
    assert replace(book, folder=full.folder.uuid) == full.book
    for key, item in before.items():
        if key[0] in ("part", "summary", "annotation"):
            assert after[key] == item
    assert {uuid for kind, uuid in after if kind == "part"} == {part.uuid for part in full.parts}
    assert get(store, Lorebook, full.lore[1].uuid) == changed["lorebook", full.lore[1].uuid]
    assert integrity.check(store) == []
    assert of_full.run("/undo")["step"] == "Restore a backup"
    assert own(store, full.book.uuid) == changed
    of_full.run("/redo")
    assert own(store, full.book.uuid) == after


def test_all_is_exact_where_the_lore_is_still_its_own(of_full: World, store: Store, full: Full) -> None:
    before = own(store, full.book.uuid)
    of_full.run("/take-backup")
    change_much(store, full)
    put(store, replace(get(store, Lorebook, full.lore[0].uuid), subbooks=full.lore[0].subbooks))
    put(store, replace(get(store, Book, full.book.uuid), lorebook=full.lore[0].uuid, folder=full.folder.uuid))
    done = of_full.run("/restore-backup latest all")
    assert done["notes"] == []
    assert own(store, full.book.uuid) == before
    assert of_full.run("/restore-backup latest all")["items"] == 0


def test_parts_only_leaves_the_rest(of_full: World, store: Store, full: Full) -> None:
    before = own(store, full.book.uuid)
    of_full.run("/take-backup")
    change_much(store, full)
    changed = own(store, full.book.uuid)
    done = of_full.run("/restore-backup latest parts-only")
    after = own(store, full.book.uuid)
    for kind in ("part", "summary", "annotation"):
        assert {k: v for k, v in after.items() if k[0] == kind} == {k: v for k, v in before.items() if k[0] == kind}
    for kind in ("lorebook", "entry"):
        assert {k: v for k, v in after.items() if k[0] == kind} == {k: v for k, v in changed.items() if k[0] == kind}
    book = get(store, Book, full.book.uuid)
    assert (book.title, book.tags, book.active_leaf) == ("Another title", (), full.parts[2].uuid)
    assert (done["parts"], done["entries"]) == (4, 0)
    of_full.run("/undo")
    assert own(store, full.book.uuid) == changed


def test_parts_of_another_book_come_under_new_uuids(of_full: World, store: Store, full: Full, world: World) -> None:
    path = Path(of_full.run("/take-backup")["file"])
    before = own(store, full.book.uuid)
    done = world.run(f"/restore-backup {path} parts-only")
    after = own(store, full.book.uuid)
    assert [world.tree().rows[uuid].title for uuid in world.tree().active] == ["Part 0", "Part 1", "Part 2"]
    assert (done["book"], done["title"], done["parts"]) == (world.book, "The Lamp", 4)
    for key, item in before.items():
        if key[0] in ("part", "summary", "annotation") and getattr(item, "book", "") == full.book.uuid:
            assert after[key] == item
    with pytest.raises(Refused, match="backup of another book, 'The Lamp'"):
        world.run(f"/restore-backup {path} all")
    assert integrity.check(store) == []


def test_a_file_can_not_reach_what_is_another_book_s(of_full: World, store: Store, full: Full, world: World) -> None:
    """A crafted backup names items of somebody else as its own: they come as copies, those stay what they are."""
    strange = Lorebook(uuid=store.clock.new_uuid(), name="Secret")
    inside = Entry(uuid=store.clock.new_uuid(), lorebook=strange.uuid, name="Key", text="Under the mat.")
    put(store, strange, inside)
    path = Path(of_full.run("/take-backup")["file"])
    found = orjson.loads(path.read_bytes())
    found["part"][3]["uuid"] = world.parts[0]
    found["part"].append({"uuid": world.book, "created": 1, "text": "a part with the uuid of a book"})
    found["lorebook"].append({"uuid": strange.uuid, "name": "Taken over"})
    found["entry"].append({"uuid": inside.uuid, "lorebook": strange.uuid, "text": "Taken over."})
    path.write_bytes(edited(orjson.dumps(found)))
    before = own(store, "")
    of_full.run(f"/restore-backup {path} all")
    after = own(store, "")
    for key in (("part", world.parts[0]), ("book", world.book), ("lorebook", strange.uuid), ("entry", inside.uuid)):
        assert after[key] == before[key]
    assert integrity.check(store) == []


def test_other_books_that_share_the_lore_are_named(of_full: World, store: Store, full: Full, world: World) -> None:
    put(store, replace(world.opened(), lorebook=full.lore[1].uuid, title="The sharer"))
    of_full.run("/take-backup")
    put(store, replace(full.lore[1], name="Changed"))
    world.hold("Copyeditor")
    with pytest.raises(Locked, match="Copyeditor"):
        of_full.run("/restore-backup latest all")
    assert "for other books, too: 'The sharer'" in of_full.answers.questions[0]
    assert of_full.run("/restore-backup latest parts-only")["items"] == 0


def test_a_held_book_is_not_restored_in_place(of_full: World, store: Store, full: Full) -> None:
    of_full.run("/take-backup")
    change_much(store, full)
    of_full.hold("Copyeditor")
    before = own(store, "")
    for mode in ("all", "parts-only"):
        with pytest.raises(Locked, match="Copyeditor"):
            of_full.run(f"/restore-backup latest {mode}")
    assert own(store, "") == before
    assert of_full.run("/restore-backup latest")["mode"] == "as-new"


def test_it_asks_first_and_shows_what_it_is(of_full: World, store: Store) -> None:
    of_full.run("/take-backup")
    before = of_full.journal()
    of_full.answers.answer = False
    for mode in ("as-new", "parts-only", "all"):
        with pytest.raises(Declined):
            of_full.run(f"/restore-backup latest {mode}")
    assert of_full.journal() == before
    assert all("'The Lamp' as of" in question for question in of_full.answers.questions)


def test_what_is_no_backup_is_refused(world: World, tmp_path: Path) -> None:
    for line, sentence in (
        ("/restore-backup 1", "There is no backup 1: there is none yet"),
        ("/restore-backup latest", "there is none yet"),
        (f"/restore-backup {tmp_path}/none.json", "There is no file"),
        (f"/restore-backup {'0' * 36}.1.1.auto.json", "There is no file"),
    ):
        with pytest.raises(NotFound, match=sentence):
            world.run(line)
    world.run("/take-backup")
    with pytest.raises(NotFound, match="there are the numbers 1 to 1"):
        world.run("/restore-backup 2")
    for line in ('/restore-backup " "', "/restore-backup 1 everything"):
        with pytest.raises(Invalid):
            world.run(line)
    scope = replace(world.author, book=None)
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line("/restore-backup 1 all", scope)


def test_a_number_means_the_list_that_was_shown(world: World) -> None:
    world.run("/take-backup")
    world.run("/edit-part 1 lamp candle")
    world.run("/take-backup")
    names = [row["file"] for row in world.run("/list-backups")["backups"]]
    world.run("/restore-backup 2 all")
    assert "candle" not in world.text(1)
    world.run(f"/restore-backup {names[0]} all")
    assert "candle" in world.text(1)


def test_backups_are_the_author_s() -> None:
    for name in ("take-backup", "list-backups", "restore-backup"):
        assert not DISPATCHER.registry.get(name).for_agents


def test_a_studio_makes_them_by_itself(tmp_path: Path) -> None:
    with closing(Studio(tmp_path / "home", pace=0)) as studio:
        book = create_book(studio.store, "The Lamp").uuid
        scope = studio.scope(book, FakeAnswers())
        studio.dispatcher.run_line("/set-book-backups 2", scope)
        studio.dispatcher.run_line('/create-part "It was night."', scope)
    with closing(Store.open(tmp_path / "home")) as store:
        (made,) = backup.list_backups(store, book)
        assert made.automatic


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), TEXT),
    lambda each: st.one_of(st.lists(each, max_size=3), st.dictionaries(TEXT, each, max_size=3)),
    max_leaves=6,
)


@given(data=st.data())
def test_any_book_comes_back_as_it_was(new_store: NewStore, data: st.DataObject) -> None:
    with new_store() as store:
        book = Book(
            uuid=store.clock.new_uuid(),
            title=data.draw(TEXT.filter(lambda text: bool(text.split()))).strip() or "x",
            description=data.draw(TEXT),
            attributes=data.draw(st.dictionaries(TEXT, DATA, max_size=3)),
        )
        book = replace(book, title=" ".join(book.title.split()))
        parts: list[Part] = []
        for _ in range(data.draw(st.integers(0, 6))):
            parent = data.draw(st.sampled_from([None, *(part.uuid for part in parts)]))
            parts.append(
                Part(
                    uuid=store.clock.new_uuid(),
                    book=book.uuid,
                    parent=parent,
                    created=store.clock.now(),
                    title=data.draw(TEXT),
                    text=data.draw(TEXT),
                    attributes=data.draw(st.dictionaries(TEXT, DATA, max_size=2)),
                )  # fmt: skip
            )
        notes = [
            Annotation(uuid=store.clock.new_uuid(), book=book.uuid, part=part.uuid, basis=part.text, end=len(part.text))
            for part in parts[::2]
        ]
        put(store, book, *parts, *notes, book=book.uuid)
        before = everything(store)
        world = World(store, book.uuid, [])
        path = world.run("/take-backup")["file"]
        for part in parts[1:]:
            if data.draw(st.booleans()):
                world.run(f"/delete-part {part.uuid}")
        world.run(f"/restore-backup {os.path.basename(path)} all")
        assert everything(store) == before


def test_a_scope_without_a_book_restores_as_new(of_full: World, store: Store) -> None:
    path = of_full.run("/take-backup")["file"]
    scope = Scope(store, LIBRARY, None, FakeAnswers())
    done = to_data(DISPATCHER.run_line(f"/restore-backup {path}", scope))
    assert done["mode"] == "as-new"
    with store.read() as tx:
        assert len(tx.space(LIBRARY).books()) == 2
