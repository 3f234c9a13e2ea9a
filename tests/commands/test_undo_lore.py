"""Undo where lore is shared with other books, or was deleted for good meanwhile: refused, and nothing is lost."""

import pytest

from marginalia_tui.domain.errors import Refused
from marginalia_tui.store import integrity
from tests.commands.lore_world import LoreWorld
from tests.commands.world import World


@pytest.fixture
def lore(world: World) -> LoreWorld:
    return LoreWorld(world)


def test_an_entry_does_not_go_back_into_a_lorebook_that_was_deleted_for_good(world: World, lore: LoreWorld) -> None:
    world.run("/create-lorebook Notes World")
    entry = world.run('/create-lore-entry Oil "It burns." Notes oil')["entry"]
    world.run("/move-lore-entry Oil World")
    world.run("/delete-lorebook Notes")
    world.run("/delete-for-good Notes")
    with pytest.raises(Refused, match="'Move a lore entry' can't be taken back: a lorebook that it needs"):
        world.run("/undo")
    assert world.run("/get-lore-entry Oil")["entry"] == entry
    assert integrity.check(world.store) == []


def test_what_another_book_added_to_a_lorebook_does_not_go_with_its_making(world: World, lore: LoreWorld) -> None:
    world.run("/create-lorebook Notes People")
    other = World(world.store, lore["Another"], [])
    mine = other.run('/create-lore-entry Mine "A keeper of bees." Notes')["entry"]
    with pytest.raises(Refused, match="'Create a lorebook' can't be taken back: its lorebook has what was added"):
        world.run("/undo")
    assert other.run("/get-lore-entry Mine")["entry"] == mine
    other.run("/undo")
    assert world.run("/undo")["step"] == "Create a lorebook"
    assert integrity.check(world.store) == []


def test_undo_closes_no_circle_of_lorebooks(world: World, lore: LoreWorld) -> None:
    world.run("/remove-subbook Places People")
    other = World(world.store, lore["Another"], [])
    other.run("/unlink-lorebook")
    other.run("/link-lorebook World")
    other.run("/add-subbook People Places")
    with pytest.raises(Refused, match="'Places' would stand below itself"):
        world.run("/undo")
    other.run("/undo")
    assert world.run("/undo")["step"] == "Take a lorebook out of another"
