from dataclasses import replace

import pytest

from marginalia_tui.domain.errors import Declined, Invalid, NotFound
from marginalia_tui.domain.items import Entry, Lorebook
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World, other_book


def test_prompts_are_set_and_inherited_again(world: World) -> None:
    done = world.call("set-book-prompts", turn="Tell {{instructions}}.", metaSummary="All: {{summaryBlocks}}")
    assert done["changed"] == ["turn", "meta_summary"]
    assert world.opened().prompts == {"turn": "Tell {{instructions}}.", "meta_summary": "All: {{summaryBlocks}}"}
    assert world.run('/set-book-prompts "" " "')["changed"] == ["turn"]
    assert "prompt of a turn: 'Tell {{instructions}}.' becomes inherited" in world.answers.questions[0]
    assert set(world.opened().prompts) == {"meta_summary"}
    before = world.journal()
    assert world.call("set-book-prompts", turn=" ")["result"] == "unchanged"
    assert world.journal() == before
    with pytest.raises(Invalid, match="Give the prompt that should change: master"):
        world.call("set-book-prompts")
    with pytest.raises(Invalid, match="at most 20,000"):
        world.call("set-book-prompts", turn="x" * 20_001)
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/set-book-prompts mine")


def test_the_prompts_that_hold_are_shown(world: World) -> None:
    save_settings(world.store.home, Settings(default_prompts={"summary": "Short: {{text}}"}))
    world.call("set-book-prompts", turn="Tell {{instructions}}.")
    rows = {row["prompt"]: row for row in world.call("get-book-prompts")["prompts"]}
    assert len(rows) == 7 and "text" not in rows["turn"]
    assert (rows["turn"]["own"], rows["turn"]["source"]) == (True, "the book")
    assert (rows["summary"]["own"], rows["summary"]["source"]) == (False, "your defaults")
    assert rows["master"]["source"] == "built in"
    (row,) = world.run("/get-book-prompts summary")["prompts"]
    assert row["text"] == "Short: {{text}}"
    (row,) = world.run("/get-book-prompts Meta-Summary")["prompts"]
    assert "{{summaryBlocks}}" in row["text"]
    with pytest.raises(Invalid, match="There is no prompt 'plot': choose one of master"):
        world.run("/get-book-prompts plot")
    assert world.run("/get-book-info")["own"] == ["language", "prompt turn"]


def test_tags(world: World) -> None:
    done = world.call("set-book-tags", tags=" winter ,draft,, Winter,a  b")
    assert (done["tags"], done["added"]) == (["a b", "draft", "winter"], ["a b", "draft", "winter"])
    done = world.run("/set-book-tags winter,new")
    assert (done["tags"], done["added"], done["removed"]) == (["new", "winter"], ["new"], ["a b", "draft"])
    assert world.call("set-book-tags", tags="new, winter")["result"] == "unchanged"
    assert world.run('/set-book-tags ""')["tags"] == []
    with pytest.raises(Invalid, match="at most 60 characters"):
        world.call("set-book-tags", tags="x" * 61)
    with pytest.raises(Invalid, match="at most 100 tags, not 101"):
        world.call("set-book-tags", tags=",".join(map(str, range(101))))


def test_list_tags_counts_what_has_them(world: World) -> None:
    other, _ = other_book(world)
    world.run("/set-book-tags winter")
    DISPATCHER.run("set-book-tags", {"tags": "winter,summer"}, replace(world.author, book=other))
    clock = world.store.clock
    lore = Lorebook(uuid=clock.new_uuid(), name="Lore", tags=("winter",))
    gone = Lorebook(uuid=clock.new_uuid(), name="Gone", tags=("gone",), deleted=1)
    entries = [
        Entry(uuid=clock.new_uuid(), lorebook=lore.uuid, tags=("winter",), negative_tags=("winter", "spring")),
        Entry(uuid=clock.new_uuid(), lorebook=lore.uuid),
    ]
    with world.store.write(Act(actor="author", label="test")) as tx:
        tx.space(LIBRARY).put([lore, gone, *entries])
    rows = {row["tag"]: row for row in world.call("list-tags")["tags"]}
    assert list(rows) == ["spring", "summer", "winter"]
    assert rows["winter"] == {"tag": "winter", "books": 2, "lorebooks": 1, "entries": 1, "onThisBook": True}
    assert (rows["spring"]["entries"], rows["summer"]["onThisBook"]) == (1, False)
    scope = replace(world.author, book=None)
    DISPATCHER.run_line("/list-tags", scope)


def test_the_model_of_a_book(world: World) -> None:
    assert world.run("/set-book-model offline")["model"].startswith("proofreader")
    assert world.run("/get-book-info")["model"].startswith("proofreader")
    done = world.run("/set-book-model")
    assert (done["result"], done["model"]) == ("changed", "")
    save_settings(world.store.home, Settings(default_model="llama"))
    done = world.run("/set-book-model")
    assert (done["result"], done["model"], done["source"]) == ("unchanged", "llama", "your defaults")
    with pytest.raises(NotFound, match="no model 'gpt'"):
        world.run("/set-book-model gpt")


def test_when_a_book_is_backed_up(world: World) -> None:
    done = world.run("/set-book-backups 50 30")
    assert (done["changes"], done["minutes"]) == (50, 30)
    assert (world.opened().backup_changes, world.opened().backup_minutes) == (50, 30)
    assert world.run('/set-book-backups "" 30')["result"] == "changed"
    assert world.opened().backup_changes is None
    assert "minutes" not in world.run("/set-book-backups")
    with pytest.raises(Invalid, match="from 0 to 1,000,000"):
        world.run("/set-book-backups -1")


def test_what_agents_get() -> None:
    given = {
        name: DISPATCHER.registry.get(name).for_agents
        for name in (
            "set-book-prompts",
            "get-book-prompts",
            "set-book-tags",
            "list-tags",
            "set-book-model",
            "set-book-backups",
        )
    }
    assert given == {
        "set-book-prompts": True,
        "get-book-prompts": True,
        "set-book-tags": True,
        "list-tags": True,
        "set-book-model": False,
        "set-book-backups": False,
    }
