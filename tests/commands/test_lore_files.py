"""Lorebooks from files of other programs and into them, by the commands of the author."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.domain.errors import Invalid, Locked, MarginaliaError, NotFound, Refused
from marginalia_tui.domain.items import Entry
from marginalia_tui.services import lore as lore_service
from marginalia_tui.services.exchange.lorefile import LoreFile
from marginalia_tui.services.exchange.lorelibrary import add_lore, lore_of
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.lore_world import LoreWorld
from tests.commands.world import DISPATCHER, World

WORLD = {
    "name": "The coast",
    "entries": {
        "0": {"uid": 0, "key": ["lamp", "light"], "comment": "Lamp", "content": "Oil.", "order": 5, "sticky": 2},
        "1": {"uid": 1, "key": [], "comment": "Sea", "content": "Cold.", "constant": True, "disable": True},
    },
}


@pytest.fixture
def lore(world: World) -> LoreWorld:
    return LoreWorld(world)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def make(content: object, name: str = "coast.json") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else orjson.dumps(content))
        return path

    return make


def entries(world: World, lorebook: str) -> list[Entry]:
    with world.store.read() as tx:
        space = tx.space(LIBRARY)
        rows = lore_service.entry_rows(space, [lorebook])
        return list(space.get_many(Entry, [row.uuid for row in rows]).values())


def test_the_lore_of_a_book_that_has_none(world: World, write: Callable[..., Path]) -> None:
    made = world.run(f"/import-lore {write(WORLD)}")
    assert (made["name"], made["entries"], made["below"]) == ("The coast", 2, 0) and "above" not in made
    assert made["note"] == "Kept as data, without effect here: sticky (1)."
    assert world.opened().lorebook == made["lorebook"]
    lamp, sea = entries(world, made["lorebook"])
    assert (lamp.name, lamp.text, lamp.filter, lamp.mode, lamp.order) == ("Lamp", "Oil.", "lamp|light", "regex", 5)
    assert (sea.constant, sea.enabled, sea.filter) == (True, False, "")
    row, _ = world.call("preview-lore-activation", text="the LAMP")["entries"]
    assert (row["name"], row["reason"]) == ("Lamp", "FILTER_MATCHED")
    world.run("/undo")
    assert world.opened().lorebook is None


def test_below_the_root_and_below_another_one_with_a_name(
    world: World, lore: LoreWorld, write: Callable[..., Path]
) -> None:
    path = write(WORLD)
    first = world.run(f"/import-lore {path}")
    second = world.run(f'/import-lore {path} "Other coast" Places')
    assert (first["above"], second["above"]) == (lore["World"], lore["Places"])
    assert second["name"] == "Other coast"
    assert {each["name"] for each in world.run("/list-lorebooks")["lorebooks"]} >= {"The coast", "Other coast"}


def test_what_goes_out_comes_in_again(world: World, lore: LoreWorld, tmp_path: Path) -> None:
    lore.add("Fog", "Places", filter=r"\bfog\b", mode="regex", first=2, tags=("coast",), insertion="prompt")
    told = world.run(f"/export-lore {tmp_path}/all.json")
    assert (told["name"], told["entries"]) == ("World", 5)
    assert "first part (1)" in told["note"] and "lorebooks below (2)" in told["note"]
    made = world.run(f"/import-lore {tmp_path}/all.json")
    with world.store.read() as tx:
        space = tx.space(LIBRARY)
        there, here = lore_of(space, lore["World"]), lore_of(space, made["lorebook"])
    # The copy stands below the lorebook that it is a copy of.
    assert here == replace(there, below=there.below[: len(here.below)])
    part = world.run(f"/export-lore {tmp_path}/some.json {lore['Places']}")
    assert (part["name"], part["entries"]) == ("Places", 3)
    assert [row["comment"] for row in orjson.loads((tmp_path / "some.json").read_bytes())["entries"].values()]


def test_nothing_is_overwritten_unasked(world: World, lore: LoreWorld, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text("mine")
    with pytest.raises(Refused, match="exists already"):
        world.run(f"/export-lore {path}")
    assert path.read_text() == "mine"
    world.run(f'/export-lore {path} "" true')
    assert orjson.loads(path.read_bytes())["name"] == "World"
    link = tmp_path / "link.json"
    link.symlink_to(path)
    for bad in (link, tmp_path / "no" / "x.json", tmp_path):
        with pytest.raises(MarginaliaError):
            world.run(f'/export-lore {bad} "" true')


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("/import-lore {tmp}/none.json", NotFound, "There is no file"),
        ("/import-lore {tmp}", Invalid, "neither a file nor"),
        ("/import-lore {file} x 99", NotFound, "lorebook"),
        ("/import-lore {broken}", Invalid, "damaged at line 2, column 3"),
        ("/export-lore {tmp}/x.json 99", NotFound, "lorebook"),
    ],
)
def test_bad_calls_change_nothing(
    world: World,
    lore: LoreWorld,
    write: Callable[..., Path],
    tmp_path: Path,
    line: str,
    error: type[Exception],
    says: str,
) -> None:
    before = world.run("/list-lorebooks")
    text = line.format(tmp=tmp_path, file=write(WORLD), broken=write(b'{"entries": {\n  x', "broken.json"))
    with pytest.raises(error, match=says):
        world.run(text)
    assert world.run("/list-lorebooks") == before


def test_a_book_without_lore_has_nothing_to_export(world: World, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no lore yet"):
        world.run(f"/export-lore {tmp_path}/x.json")
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line(f"/import-lore {tmp_path}/x.json", replace(world.author, book=None))


def test_nothing_comes_in_while_an_agent_holds_the_book(
    world: World, lore: LoreWorld, write: Callable[..., Path], tmp_path: Path
) -> None:
    world.hold("Copyeditor")
    before = world.journal()
    with pytest.raises(Locked, match="Copyeditor"):
        world.run(f"/import-lore {write(WORLD)}")
    assert world.journal() == before
    assert world.run(f"/export-lore {tmp_path}/all.json")["entries"] == 4


def test_agents_are_not_given_them() -> None:
    registry = builtin_registry()
    for name in ("import-lore", "export-lore"):
        definition = registry.get(name)
        assert not definition.for_model
        assert definition.severity.word in ("adds", "reads")


def test_a_parent_that_was_deleted_meanwhile(world: World, lore: LoreWorld) -> None:
    act = Act(actor="author", label="test", book=world.book)
    with pytest.raises(NotFound, match="deleted meanwhile: nothing was changed"), world.store.write(act) as tx:
        lore_service.delete_lorebook(tx.space(LIBRARY), lore["Places"])
        add_lore(tx.space(LIBRARY), world.book, LoreFile(title="Coast"), lore["Places"])
    assert lore.lorebook("Places").deleted is None


def test_a_card_in_a_picture_and_novelai(world: World, write: Callable[..., Path]) -> None:
    nai = {
        "lorebookVersion": 5,
        "entries": [{"text": "T", "displayName": "King", "keys": ["king & queen"], "category": "c1"}],
        "categories": [{"id": "c1", "name": "Court", "enabled": True}],
    }
    made = world.run(f"/import-lore {write(nai, 'court.lorebook')}")
    assert (made["name"], made["entries"], made["below"]) == ("court", 1, 1)
    card = {"spec": "chara_card_v2", "data": {"name": "Ada", "character_book": {"entries": []}}}
    made = world.run(f"/import-lore {write(card, 'ada.json')}")
    assert (made["name"], made["entries"]) == ("Ada", 0)


def test_f52_a_key_that_hangs_is_given_up(world: World, write: Callable[..., Path]) -> None:
    rows = {"0": {"key": ["/(x+x+)+y/i"], "content": "x"}, "1": {"key": ["lamp"], "content": "y"}}
    world.run(f"/import-lore {write({'entries': rows})}")
    told = world.call("preview-lore-activation", text="x" * 3_000 + "!y The lamp.")["entries"]
    assert {row["reason"] for row in told} == {"FILTER_MATCHED", "FILTER_NOT_MATCHED"}
    assert any("took longer" in row.get("note", "") for row in told)


def test_many_entries_come_in_at_once(world: World, write: Callable[..., Path]) -> None:
    rows = {str(n): {"uid": n, "key": [f"word{n}"], "content": f"Text {n}.", "comment": f"N{n}"} for n in range(1_500)}
    made = world.run(f"/import-lore {write({'entries': rows})}")
    assert made["entries"] == len(rows) == len(entries(world, made["lorebook"]))
    assert world.call("preview-lore-activation", text="word77 word778")["active"] == 3
