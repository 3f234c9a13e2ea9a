"""Real lorebooks and cards: imported, exported and imported again with nothing lost."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from marginalia_tui.domain.items import Book
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.services.exchange.loreimport import read_lore, read_source
from marginalia_tui.services.exchange.lorelibrary import add_lore, lore_of
from marginalia_tui.services.exchange.worldinfo import write_worldinfo
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.services.exchange.test_cards import within

REALDATA = Path(__file__).parents[4] / "shared" / "realdata"
SAMPLES = REALDATA / "sillytavern-samples-mit"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not REALDATA.is_dir(), reason="the real books are not beside the project (../shared/realdata)"),
]


@pytest.mark.parametrize(
    ("path", "entries", "left"),
    [
        ("lorebook-devils-dictionary/devils-dictionary.world.json", 1033, {"group": 11}),
        (
            "sillytavern-samples-mit/manual-world-info.json",
            2,
            {"extensions.fixture/unknown": 1, "extensions.fixture/book of the lorebook": 1},
        ),
    ],
)
def test_world_info_goes_through_the_library(store: Store, path: str, entries: int, left: dict[str, int]) -> None:
    source: dict[str, Any] = orjson.loads((REALDATA / path).read_bytes())
    found = read_lore(REALDATA / path)
    assert (found.count(), {each.what: each.count for each in found.left}) == (entries, left)

    book = Book(uuid=store.clock.new_uuid(), title="Book")
    with store.write(Act(actor="author", label="test", book=book.uuid)) as tx:
        space = tx.space(LIBRARY)
        space.put([book])
        root, _ = add_lore(space, book.uuid, found)
    with store.read() as tx:
        again = lore_of(tx.space(LIBRARY), root.uuid)
    made, unread = write_worldinfo(again)
    assert unread == ()
    assert within(source, orjson.loads(made))


@pytest.mark.parametrize(
    ("name", "swipes", "entries", "left"),
    [
        ("manual-character-card.json", 1, 2, ("mes_example", "creator_notes", "extensions.fixture/unknown")),
        ("manual-character-card-remote.json", 0, 2, ("extensions.regex_scripts",)),
        ("manual-character-card.png", 1, 3, ("nickname", "extensions.agent-rp/fixture")),
    ],
)
def test_cards_go_through_the_library(
    store: Store, tmp_path: Path, name: str, swipes: int, entries: int, left: tuple[str, ...]
) -> None:
    source = read_source(SAMPLES / name).data
    made = import_book(store, SAMPLES / name)
    assert (made.format, made.swipes) == ("card", swipes)
    lore, note = made.notes
    assert lore == f"Its lore has {entries} entries."
    assert all(f"{each} (1)" in note for each in left)
    told = export_book(store, made.uuid, "card", tmp_path / "card.json")
    assert told.notes == (("Not in the file: the cover.",) if name.endswith(".png") else ())
    out = orjson.loads((tmp_path / "card.json").read_bytes())
    assert within(source["data"], out["data"])
    assert import_book(store, tmp_path / "card.json").notes == made.notes
