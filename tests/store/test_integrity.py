"""`check` finds whatever went around the store, and nothing in a sound one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.domain.items import Book, Part, Plan
from marginalia_tui.store import integrity
from marginalia_tui.store.integrity import check
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store
from tests.store.worlds import act, chain, count, plain, put


@pytest.fixture(autouse=True)
def world(store: Store) -> int:
    """Items of every kind, changed, deleted, in the library and in a copy; returns the copy."""
    put(store, *chain("b", 4), *chain("c", 2), Plan(uuid="r", book="b"))
    put(
        store,
        Part(uuid="b-1", book="b", created=1, title="Chapter 1", text="newer", attributes={"a": {"b": [1, None]}}),
    )
    with store.write(act()) as tx:
        dropped = copy_book(tx, "c")
        space = copy_book(tx, "b")
        tx.space(space).put([Part(uuid="b-2", book="b", created=2, parent="b-1", text="by the agent")])
        tx.space(LIBRARY).put([Book(uuid="b", title="The book b", attributes={"x": "y"})])
        tx.space(LIBRARY).delete(Part, ["b-4"])
    with store.write(act()) as tx:
        drop_space(tx, dropped, keep_journal=True)
    return space


def damage(store: Store, *statements: str) -> None:
    """What a program does that takes the guards away first."""
    with plain(store) as other:
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert other.execute(statement).rowcount > 0


def test_a_sound_store_has_no_findings(store: Store) -> None:
    assert check(store) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE part SET title = 'x' WHERE uuid = 'b-1' AND space_id = 1", "part 'x' b-1 (space 1) was changed"),
        ("UPDATE part SET created = 9 WHERE uuid = 'b-3' AND space_id > 1", "part b-3 (space"),
        ("UPDATE book SET attributes = NULL WHERE uuid = 'b' AND space_id = 1", "book 'The book b' b (space 1) was"),
        ("UPDATE plan SET steps = '[1]'", "plan r (space 1) was changed"),
        (
            "UPDATE part SET hash = randomblob(20) WHERE uuid = 'c-1'",
            "part c-1 (space 1) has a state that is not",
        ),
        ("DELETE FROM part WHERE uuid = 'c-2'", "part c-2 (space 1) is gone"),
        ("UPDATE journal SET after = NULL WHERE uuid = 'c-2'", "part c-2 (space 1) is there, but"),
        (
            "UPDATE journal SET after = before WHERE uuid = 'b-1' AND before IS NOT NULL",
            "part 'Chapter 1' b-1 (space 1) is not in the state that the journal gave it last",
        ),
        ("UPDATE text SET body = body || '.' WHERE body = 'newer'", "text"),
        ("UPDATE state SET data = x'7b7d' WHERE id = 1", "state"),
        ("DELETE FROM state WHERE id = 3", "names a state that is not stored"),
        ("DELETE FROM text WHERE body = 'Text of part 4.'", "names a text that is not stored"),
        ("UPDATE part SET parent = 'nobody' WHERE uuid = 'c-2'", "part refers to a part that is not there"),
        ("DELETE FROM text WHERE body = 'newer'", "part 'Chapter 1' b-1 (space 1) has a text that is not stored"),
        ("DELETE FROM text WHERE body = '\"y\"'", "book 'The book b' b (space 1) has a text that is not stored"),
    ],
)
def test_what_is_wrong_is_named(store: Store, statement: str, words: str) -> None:
    damage(store, statement)
    assert [each for each in check(store) if words in each] != []


def test_many_findings_of_a_sort_are_counted(store: Store) -> None:
    put(store, *chain("d", 40))
    damage(store, "UPDATE part SET title = 'x' WHERE book = 'd'")
    found = check(store)
    assert len(found) == integrity.FEW + 1
    assert found[-1] == "And 20 more of this sort."


def test_pages_are_looked_at_to_the_last(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "PAGE", 2)
    assert check(store) == []
    damage(store, "UPDATE part SET title = 'x' WHERE uuid = 'b-3'")
    assert len(check(store)) == 2  # in the library and in the copy


def test_a_damaged_file_is_told_and_not_raised(store: Store, tmp_path: Path) -> None:
    rows = count(store, "part")
    assert rows
    store.checkpoint()
    store.close()
    with closing(sqlite3.connect(store.path)) as other:
        page = other.execute("SELECT rootpage FROM sqlite_master WHERE name = 'part'").fetchone()[0]
    data = bytearray(store.path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    store.path.write_bytes(bytes(data))
    with closing(Store.open(store.home)) as again:
        assert "damaged" in " ".join(check(again))
