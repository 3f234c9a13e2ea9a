"""The bytes of images: stored once, named by items, never moved by a copy, swept when nothing names them."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.domain.errors import Invalid, StoreError
from marginalia_tui.domain.items import Part
from marginalia_tui.services.counting import count_all
from marginalia_tui.store import history, schema
from marginalia_tui.store import store as store_module
from marginalia_tui.store.integrity import check
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store
from marginalia_tui.store.sweep import sweep
from tests.store.worlds import act, an_image, chain, count, plain, put, see

PIXELS = b"not really pixels" * 100


@pytest.fixture(autouse=True)
def book(store: Store) -> None:
    put(store, *chain("b", 3))


def illustrate(store: Store, part: str, data: bytes = PIXELS, space: int = LIBRARY, **fields: Any) -> int:
    """Gives a part an image; returns the position after it."""
    with store.write(act("illustrate")) as tx:
        where = tx.space(space)
        image = replace(an_image(where.put_blob(data)), **fields)
        where.put([replace(where.get(Part, part), images=(image,))])
        return tx.position()


def test_bytes_are_stored_once_and_read_again(store: Store) -> None:
    illustrate(store, "b-1")
    illustrate(store, "b-2", caption="Again.")
    illustrate(store, "b-3", b"others")
    assert count(store, "blob") == 2
    with store.read() as tx:
        space = tx.space(LIBRARY)
        (image,) = space.get(Part, "b-2").images
        assert (image.caption, space.blob(image.hash)) == ("Again.", PIXELS)
    assert check(store) == []


def test_a_copy_moves_no_bytes_and_has_its_images(store: Store) -> None:
    illustrate(store, "b-1")
    with store.write(act()) as tx:
        space = copy_book(tx, "b")
    assert count(store, "blob") == 1
    assert see(store, space)["part", "b-1"] == see(store)["part", "b-1"]


def test_undo_and_restore_bring_images_back(store: Store) -> None:
    before = see(store)
    start = illustrate(store, "b-1")
    shown = see(store)
    illustrate(store, "b-1", b"another")
    with store.write(act()) as tx:
        history.restore(tx, LIBRARY, start)
    assert see(store) == shown != before


def test_an_image_without_bytes_is_refused(store: Store) -> None:
    before = see(store)
    with pytest.raises(StoreError, match="not in the store"):
        put(store, replace(before["part", "b-1"], images=(an_image("ab" * 32),)))  # type: ignore[arg-type]
    assert see(store) == before
    with store.read() as tx, pytest.raises(StoreError, match="doctor"):
        tx.space(LIBRARY).blob("ab" * 32)


def test_two_of_one_name_are_refused(store: Store) -> None:
    illustrate(store, "b-1")
    with store.write(act()) as tx:
        space = tx.space(LIBRARY)
        part = space.get(Part, "b-1")
        with pytest.raises(Invalid, match="one name"):
            space.put([replace(part, images=part.images * 2)])


def test_bytes_that_nothing_names_are_swept_and_others_are_not(store: Store) -> None:
    illustrate(store, "b-1")
    with store.write(act()) as tx:
        space = copy_book(tx, "b")
    for number in range(12):
        illustrate(store, "b-2", b"%d" % number, space)
    with store.write(act()) as tx:
        tx.space(LIBRARY).put_blob(b"for nobody")
    assert count(store, "blob") == 14
    assert sum(sweep(store)) == 1
    count_all(store)
    with store.write(act()) as tx:
        drop_space(tx, space)
    sum(sweep(store))
    assert count(store, "blob") == 1
    # The journal names it still when the item does not.
    with store.write(act()) as tx:
        where = tx.space(LIBRARY)
        where.put([replace(where.get(Part, "b-1"), images=())])
    sum(sweep(store))
    assert count(store, "blob") == 1
    assert check(store) == []


def test_bytes_that_are_named_while_the_sweep_works_stay(store: Store) -> None:
    with store.write(act()) as tx:
        tx.space(LIBRARY).put_blob(PIXELS)
    steps = sweep(store)
    next(steps)
    illustrate(store, "b-1")
    sum(steps)
    assert count(store, "blob") == 1
    assert check(store) == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE blob SET body = X'00'", "The image .* was changed"),
        ("DELETE FROM blob", "has an image that is not stored"),
    ],
)
def test_damage_is_found(store: Store, damage: str, sentence: str) -> None:
    illustrate(store, "b-1")
    store.close()
    with plain(store) as other:
        other.execute(damage)
    with closing(Store.open(store.path.parent)) as again:
        found = check(again)
    assert [each for each in found if sentence.split(" .* ")[0] in each]


def test_an_older_store_opens_with_all_it_had(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "old"
    with monkeypatch.context() as patch:
        # A store of the version before, made by its own migrations.
        for module in (schema, store_module):
            patch.setattr(module, "HEAD", "0003")
        Store.open(home).close()
    before = see(store)
    store.close()
    with plain(store) as source:
        source.execute("ATTACH ? AS old", (str(home / "studio.db"),))
        for table in ("text", "state", "change", "journal", "book", "part"):
            columns = ", ".join(f'"{row[1]}"' for row in source.execute(f"PRAGMA old.table_info({table})"))
            assert not {"images", "cover"} & set(columns.replace('"', "").split(", "))
            source.execute(f'INSERT INTO old."{table}" ({columns}) SELECT {columns} FROM main."{table}"')
    with closing(Store.open(home)) as opened:
        assert check(opened) == []
        assert see(opened) == before
        illustrate(opened, "b-1")
        assert check(opened) == []
        # Its guards are those of the new version.
        with plain(opened) as other, pytest.raises(sqlite3.IntegrityError, match="through its space"):
            other.execute("UPDATE part SET images = NULL")
    assert len(list((home / "backups").glob("before-upgrade-from-0003-*.db"))) == 1
