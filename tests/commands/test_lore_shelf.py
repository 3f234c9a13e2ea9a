"""All lorebooks of the library, linking them to books, copies of entries: good and bad."""

from dataclasses import replace

import pytest

from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Ambiguous, Declined, Locked, NotFound, Refused
from marginalia_tui.domain.items import Book, Entry
from marginalia_tui.store.space import LIBRARY
from tests.commands.lore_world import LoreWorld
from tests.commands.world import DISPATCHER, World


@pytest.fixture
def lore(world: World) -> LoreWorld:
    return LoreWorld(world)


def entries_of(world: World, lorebook: str) -> list[Entry]:
    with world.store.read() as tx:
        query = f"SELECT uuid FROM entry WHERE space_id = {LIBRARY} AND lorebook = ? ORDER BY created, uuid"
        uuids = tx.connection.exec_driver_sql(query, (lorebook,)).scalars().all()
        return list(tx.space(LIBRARY).get_many(Entry, uuids).values())


def test_all_lorebooks_are_listed_with_the_books_that_use_them(world: World, lore: LoreWorld) -> None:
    rows = world.run("/list-all-lorebooks")["lorebooks"]
    assert [(row["name"], row["entries"], row["books"], row["under"]) for row in rows] == [
        ("Elsewhere", 1, ["Another"], []),
        ("People", 1, ["Another", "The Lamp"], ["Places", "World", "Elsewhere"]),
        ("Places", 1, ["The Lamp"], ["World"]),
        ("World", 2, ["The Lamp"], []),
    ]
    assert world.run("/list-all-lorebooks true")["total"] == 0
    world.run("/remove-subbook 1 Places")
    assert [row["name"] for row in world.run("/list-all-lorebooks true")["lorebooks"]] == ["Places"]
    # A book in the trash uses nothing, and no book need be open.
    with world.store.read() as tx:
        another = tx.space(LIBRARY).get(Book, lore["Another"])
    lore.put(replace(another, deleted=9))
    found = to_data(DISPATCHER.run("list-all-lorebooks", {"unused": True}, replace(world.author, book=None)))
    assert [row["name"] for row in found["lorebooks"]] == ["Elsewhere", "Places"]


def test_lore_is_unlinked_and_linked_again(world: World, lore: LoreWorld) -> None:
    with pytest.raises(Refused, match="has lore, with the root 'World'"):
        world.run("/link-lorebook Elsewhere")
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/unlink-lorebook")
    world.answers.answer = True
    assert world.run("/unlink-lorebook")["name"] == "World"
    assert "The 3 lorebooks and their entries stay" in world.answers.questions[-1]
    assert world.opened().lorebook is None
    with pytest.raises(NotFound, match="has no lore"):
        world.run("/unlink-lorebook")
    with pytest.raises(NotFound, match="'Old notes' is in the trash"):
        world.run("/link-lorebook 'Old notes'".replace("'", '"'))
    # One that another book uses is the root of both then.
    assert world.run("/link-lorebook Elsewhere")["entries"] == 1
    assert world.run("/list-lorebooks")["total"] == 2
    world.run("/undo")
    world.run("/undo")
    assert world.opened().lorebook == lore["World"]


def test_an_entry_is_copied_with_all_its_fields(world: World, lore: LoreWorld) -> None:
    made = world.run("/copy-lore-entry Ada Elsewhere")
    assert (made["result"], made["lorebookName"]) == ("copied", "Elsewhere")
    _, copy = entries_of(world, lore["Elsewhere"])
    ada = lore.entry("Ada")
    assert replace(copy, uuid=ada.uuid, lorebook=ada.lorebook, created=ada.created) == ada
    world.run("/undo")
    assert len(entries_of(world, lore["Elsewhere"])) == 1
    for line in (
        "/copy-lore-entry Nobody Elsewhere",
        "/copy-lore-entry Ada Nowhere",
        '/copy-lore-entry Ada "Old notes"',
    ):
        with pytest.raises(NotFound):
            world.run(line)


def test_only_what_no_book_uses_is_deleted(world: World, lore: LoreWorld) -> None:
    with pytest.raises(Refused, match="'People' is used by 'Another', 'The Lamp'"):
        world.run("/delete-unused-lorebook People")
    with pytest.raises(NotFound, match="There is no lorebook 'Nothing'"):
        world.run("/delete-unused-lorebook Nothing")
    lore.put(replace(lore.lorebook("World"), subbooks=(lore["People"],)))
    # Another one of the name: the uuid says which is meant.
    lore.put(replace(lore.lorebook("Places"), uuid=world.store.clock.new_uuid()))
    with pytest.raises(Ambiguous, match=lore["Places"]):
        world.run("/delete-unused-lorebook Places")
    world.run(f"/delete-unused-lorebook {lore['Places']}")
    assert lore.lorebook("Places").deleted is not None and entries_of(world, lore["Places"])
    world.run(f"/restore-from-trash {lore['Places']}")
    assert lore.lorebook("Places").deleted is None


def test_a_book_in_the_trash_is_told_before_its_lore_goes(world: World, lore: LoreWorld) -> None:
    with world.store.read() as tx:
        another = tx.space(LIBRARY).get(Book, lore["Another"])
    lore.put(replace(another, deleted=9))
    world.run("/delete-unused-lorebook Elsewhere")
    assert "Books in the trash use it: 'Another'." in world.answers.questions[-1]


def test_the_lore_of_a_held_book_is_not_linked_or_copied_into(world: World, lore: LoreWorld) -> None:
    world.hold("Copyeditor")
    before = world.journal()
    for line in ("/unlink-lorebook", "/copy-lore-entry Ada Places"):
        with pytest.raises(Locked, match="Copyeditor"):
            world.run(line)
    assert world.journal() == before


def test_an_agent_gets_none_of_them(world: World, lore: LoreWorld) -> None:
    names = ("list-all-lorebooks", "link-lorebook", "unlink-lorebook", "copy-lore-entry", "delete-unused-lorebook")
    assert not [name for name in names if (found := DISPATCHER.registry.find(name)) is None or found.for_agents]
