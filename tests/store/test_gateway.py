"""Items change only through their space: what `put` and `delete` promise, and what raw SQL is refused."""

import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound
from marginalia_tui.domain.guard import reading_only
from marginalia_tui.domain.items import KINDS, Book, Item, Json, Part, Plan, Shape, state_fields
from marginalia_tui.store import history
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.store.worlds import act, an_image, chain, count, counted, every_other_kind, plain, put, see


@pytest.fixture
def book(store: Store) -> str:
    put(store, *chain("b", 3), *every_other_kind("b"))
    return "b"


# What is written is what is read


texts = st.text(st.characters(codec="utf-8"), max_size=40)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(body=texts, title=texts, created=st.integers(0, 2**62), attributes=st.dictionaries(texts, values, max_size=4))
def test_a_part_is_read_as_it_was_written(
    new_store: NewStore, body: str, title: str, created: int, attributes: dict[str, Json]
) -> None:
    part = Part(uuid="p", book="b", text=body, title=title, created=created, pov=body, attributes=attributes)
    with new_store() as store:
        put(store, Book(uuid="b", title=title, attributes=attributes), part)
        with store.read() as tx:
            space = tx.space(LIBRARY)
            assert space.get(Part, "p") == counted(part)
            assert space.get(Book, "b") == Book(uuid="b", title=title, attributes=attributes)
            assert space.texts(["p", "gone"]) == {"p": body}
        with store.write(act()) as again:
            assert again.space(LIBRARY).put([part]) == []


def test_every_field_of_every_kind_is_stored_and_restored(store: Store) -> None:
    put(store, *chain("b", 1), *every_other_kind("b"))
    with store.write(act()) as tx:
        image = an_image(tx.space(LIBRARY).put_blob(b"the bytes"))
    by_shape: dict[Shape, object] = {
        Shape.NUMBER: 77,
        Shape.SET: ("a b", "ü"),
        Shape.ATTRIBUTES: {"a": [1, {"b": None}]},
        Shape.IMAGES: (image, replace(image, name="2.png", caption="The lamp.")),
    }
    assert {kind for kind, _ in see(store)} == set(KINDS)
    for (kind, uuid), before in see(store).items():
        for field in state_fields(kind):
            if field.shape is Shape.REF:
                continue
            value = by_shape.get(field.shape, f"new {field.name}")
            changes: dict[str, Any] = {field.name: not field.default if field.shape is Shape.FLAG else value}
            changed: Item = replace(before, **changes)
            start = put(store, before)
            put(store, changed)
            assert see(store)[kind, uuid] == counted(changed) != before, field.name
            with store.write(act()) as tx:
                history.restore(tx, LIBRARY, start)
            assert see(store)[kind, uuid] == before, field.name


def test_an_equal_item_is_left_alone(store: Store, book: str) -> None:
    rows = count(store, "journal"), count(store, "change")
    with store.write(act()) as tx:
        parts = tx.space(LIBRARY).get_many(Part, ["b-1", "b-2", "b-3"])
        assert tx.space(LIBRARY).put(parts.values()) == []
        assert tx.changed(LIBRARY) is None
    assert (count(store, "journal"), count(store, "change")) == rows


def test_derived_fields_are_computed_and_not_taken(store: Store, book: str) -> None:
    put(store, Part(uuid="b-1", book=book, created=1, text="Three short words", words=99, chars=99))
    part = see(store)["part", "b-1"]
    assert isinstance(part, Part)
    assert (part.words, part.chars) == (3, 17)
    rows = count(store, "journal")
    put(store, replace(part, words=1, chars=1))
    assert count(store, "journal") == rows


def test_view_fields_leave_no_trace_in_the_journal(store: Store, book: str) -> None:
    rows = count(store, "journal")
    with store.write(act()) as tx:
        tx.space(LIBRARY).view(Book, book, opened=5)
    assert count(store, "journal") == rows
    with store.read() as read:
        assert read.space(LIBRARY).get(Book, book).opened == 5
    # And a write of the book does not move the reader.
    put(store, Book(uuid=book, title="Another title", opened=1))
    with store.read() as read:
        assert read.space(LIBRARY).get(Book, book).opened == 5


def test_only_view_fields_can_be_set_as_views(store: Store, book: str) -> None:
    with pytest.raises(RuntimeError, match="title"), store.write(act()) as tx:
        tx.space(LIBRARY).view(Book, book, title="Stolen")


def test_put_and_delete_tell_what_they_changed(store: Store, book: str) -> None:
    with store.write(act()) as tx:
        space = tx.space(LIBRARY)
        assert space.delete(Plan, ["r", "never-there"]) == ["r"]
        assert space.put([Part(uuid="new", book=book), space.get(Part, "b-1")]) == ["new"]
        assert space.find(Plan, "r") is None
    with store.read() as read, pytest.raises(NotFound):
        read.space(LIBRARY).get(Plan, "r")


@pytest.mark.parametrize(
    "items",
    [
        [Part(uuid="x", book="b", text="half \ud800")],
        [Part(uuid="x", book="b", title="half \udfff")],
        [Part(uuid="x", book="b", attributes={"a": "half \ud800"})],
        [Part(uuid="x", book="b", attributes={"half \ud800": 1})],
        [Part(uuid="x", book="b", attributes={"set": {1}})],  # type: ignore[dict-item]
        [Part(uuid="x", book="b", attributes={"big": 2**70})],
        [Part(uuid="x", book="b", attributes={"nan": float("nan")})],
        [Part(uuid="x", book="b", attributes={"far": [{"deep": float("-inf")}]})],
        [Part(uuid="x", book="b"), Part(uuid="x", book="b", text="other")],
    ],
)
def test_what_can_not_be_stored_is_refused_whole(store: Store, book: str, items: list[Item]) -> None:
    before = see(store)
    with pytest.raises(Invalid), store.write(act()) as tx:
        tx.space(LIBRARY).put([Part(uuid="good", book="b"), *items])
    assert see(store) == before


def test_a_part_needs_its_parent_and_its_book_at_the_commit(store: Store, book: str) -> None:
    before = see(store)
    with store.write(act()) as tx:  # the order inside a transaction is free
        tx.space(LIBRARY).put([Part(uuid="child", book="b", parent="mother")])
        tx.space(LIBRARY).put([Part(uuid="mother", book="b")])
    for orphan in (Part(uuid="o", book="b", parent="nobody"), Part(uuid="o", book="nowhere")):
        with pytest.raises(IntegrityError), store.write(act()) as tx:
            tx.space(LIBRARY).put([orphan])
    with pytest.raises(IntegrityError), store.write(act()) as tx:
        tx.space(LIBRARY).delete(Part, ["b-1"])
    assert {key for key in see(store)} == {*before, ("part", "child"), ("part", "mother")}


def test_a_parent_in_another_space_is_no_parent(store: Store, book: str) -> None:
    with store.write(act()) as tx:
        copy = copy_book(tx, book)
    put(store, Part(uuid="only-in-library", book="b"))
    with pytest.raises(IntegrityError), store.write(act()) as tx:
        tx.space(copy).put([Part(uuid="child", book="b", parent="only-in-library")])


def test_a_dropped_space_takes_no_more_writes(store: Store, book: str) -> None:
    with store.write(act()) as tx:
        copy = copy_book(tx, book)
    with store.write(act()) as tx:
        drop_space(tx, copy)
    for space in (copy, 999):
        with pytest.raises(NotFound), store.write(act()) as tx:
            tx.space(space).put([Book(uuid="b", title="A ghost")])


def test_a_command_that_reads_can_not_write(store: Store, book: str) -> None:
    with reading_only("get-part"), pytest.raises(RuntimeError, match="get-part"), store.write(act()):
        pass
    # Also inside a transaction that somebody else opened.
    with store.write(act()) as tx, reading_only("get-part"):
        with pytest.raises(RuntimeError, match="get-part"):
            tx.space(LIBRARY).put([Book(uuid="b", title="Changed by a reader")])
        with pytest.raises(RuntimeError, match="get-part"):
            tx.space(LIBRARY).delete(Part, ["b-3"])


def test_readers_can_not_write(store: Store, book: str) -> None:
    before = see(store)
    insert = "INSERT INTO queue (run, kind, text, created) VALUES ('r', 'author', 't', 1)"
    for statement in ("DELETE FROM model", insert):
        with pytest.raises((MarginaliaError, DBAPIError)), store.read() as tx:
            tx.connection.execute(text(statement))
    assert see(store) == before
    assert count(store, "queue") == 0


# Raw SQL


COLUMNS = [
    (kind, field.name)
    for kind, cls in KINDS.items()
    for field in state_fields(kind)
    if not (kind == "part" and field.name == "text")
] + [("part", "text"), ("part", "hash"), ("book", "hash"), ("part", "uuid"), ("part", "space_id")]


def refused(store: Store, statement: str, words: str = "changes only through its space") -> None:
    """The statement is refused to a connection of the store and to one of another program, and nothing changes."""
    before = see(store)
    with plain(store) as other:
        other.execute("PRAGMA foreign_keys=OFF")
        with pytest.raises(sqlite3.IntegrityError, match=words):
            other.execute(statement)
    with pytest.raises(IntegrityError, match=words), store.write(act()) as tx:
        tx.connection.execute(text(statement))
    assert see(store) == before


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_raw_sql_can_not_update_a_column(store: Store, book: str, table: str, column: str) -> None:
    values = {"hash": "x'00'", "text": "(SELECT hash FROM text ORDER BY id DESC LIMIT 1)", "space_id": "7"}
    value = values.get(column, "'x'")
    refused(store, f'UPDATE "{table}" SET "{column}" = {value}')


def test_raw_sql_can_not_update_with_a_hash_that_lies(store: Store, book: str) -> None:
    put(store, Part(uuid="b-1", book="b", created=1, text="newer"))
    old = "(SELECT before FROM journal WHERE uuid = 'b-1' AND before IS NOT NULL)"
    refused(store, f"UPDATE part SET title = 'x', hash = {old} WHERE uuid = 'b-1'")
    refused(store, "UPDATE part SET title = 'x', hash = hash WHERE uuid = 'b-1'")
    refused(store, "UPDATE part SET title = 'x', hash = randomblob(20) WHERE uuid = 'b-1'")


@pytest.mark.parametrize("table", KINDS)
def test_raw_sql_can_not_delete(store: Store, book: str, table: str) -> None:
    refused(store, f'DELETE FROM "{table}"')


@pytest.mark.parametrize("verb", ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"])
def test_raw_sql_can_not_insert(store: Store, book: str, verb: str) -> None:
    columns = "space_id, uuid, title, author, description, language, pov, tense, style, created, hash"
    values = "1, 'new', 't', '', '', 'en', '', '', '', 1, randomblob(20)"
    refused(store, f"{verb} INTO book ({columns}) VALUES ({values})")


def test_raw_sql_can_not_replace_a_row_under_its_own_hash(store: Store, book: str) -> None:
    columns = "space_id, uuid, book, parent, created, title, instructions, scene, pov, present, words, chars, hash"
    stolen = columns.replace("title", "'stolen'")
    refused(store, f"REPLACE INTO part ({columns}) SELECT {stolen} FROM part WHERE uuid = 'b-1'")
    refused(
        store,
        f"INSERT INTO part ({columns}) SELECT {columns} FROM part WHERE uuid = 'b-1' "
        "ON CONFLICT DO UPDATE SET title = 'stolen'",
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE text SET body = 'stolen'",
        "UPDATE text SET words = 1",
        "UPDATE state SET data = x'7b7d'",
        "UPDATE journal SET after = before",
        "UPDATE journal SET seq = seq + 100",
        "DELETE FROM journal",
    ],
)
def test_raw_sql_can_not_rewrite_what_happened(store: Store, book: str, statement: str) -> None:
    refused(store, statement, "is never rewritten")


def test_raw_sql_can_not_touch_a_copy(store: Store, book: str) -> None:
    with store.write(act()) as tx:
        copy = copy_book(tx, book)
    refused(store, f"UPDATE part SET title = 'x' WHERE space_id = {copy}")
    refused(store, f"DELETE FROM part WHERE space_id = {copy}")
    refused(store, f"UPDATE part SET space_id = {copy} WHERE space_id = 1")
    columns = "uuid, book, created, title, instructions, scene, pov, present, words, chars, hash"
    values = "'n', 'b', 1, '', '', '', '', '', 0, 0, randomblob(20)"
    refused(store, f"INSERT INTO part (space_id, {columns}) VALUES ({copy}, {values})")
