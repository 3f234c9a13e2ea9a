"""Texts and states, stored once under the hash of what they are.

A state is the canonical JSON of an item: `{"v": 1, field: value, ...}` with sorted keys and defaults left out; a
long text stands in it as the hash of its body, attributes as one hash for each key. Hashes are 20 bytes
(BLAKE2b), written as hex inside a state.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import orjson
from sqlalchemy import Connection, insert, select

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Shape, state_fields
from marginalia_tui.domain.words import count_words
from marginalia_tui.store import tables

FORMAT = 1
CHUNK = 500
"""Keys of one `IN` list."""

_T = TypeVar("_T")

Cells = dict[str, Any]
"""The state fields of an item as its row holds them: hashes for long texts, JSON text for attributes."""


def hash_bytes(data: bytes) -> bytes:
    """The 20 bytes under which `data` is stored."""
    return blake2b(data, digest_size=20).digest()


def encode_json(value: object, what: str) -> bytes:
    """The canonical JSON of a value.

    Raises:
        Invalid: JSON can't write it.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise Invalid(f"{what} can't be written as JSON: {error}.") from error


def encode_state(kind: str, cells: Cells) -> bytes:
    """The canonical state of an item."""
    state: dict[str, object] = {"v": FORMAT}
    for each in state_fields(kind):
        value = cells[each.name]
        if each.shape is Shape.LONG:
            if value is not None:
                state[each.name] = value.hex()
        elif each.shape is Shape.ATTRIBUTES:
            if value is not None:
                state[each.name] = orjson.loads(value)
        elif value != each.default:
            state[each.name] = value
    return encode_json(state, "The item")


def decode_state(kind: str, data: bytes) -> Cells:
    """The cells that a state stands for."""
    state = orjson.loads(data)
    cells: Cells = {}
    for each in state_fields(kind):
        value = state.get(each.name)
        if each.shape is Shape.LONG:
            cells[each.name] = bytes.fromhex(value) if value else None
        elif each.shape is Shape.ATTRIBUTES:
            cells[each.name] = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode() if value else None
        else:
            cells[each.name] = value if each.name in state else each.default
    return cells


def chunks(values: Sequence[_T]) -> Iterable[Sequence[_T]]:
    """The values in runs that fit one `IN` list."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def put_texts(connection: Connection, bodies: Mapping[bytes, str]) -> None:
    """Stores bodies that are not there yet."""
    rows = [{"hash": key, "words": count_words(body), "chars": len(body), "body": body} for key, body in bodies.items()]
    if rows:
        connection.execute(insert(tables.text).prefix_with("OR IGNORE"), rows)


def put_states(connection: Connection, states: Mapping[bytes, bytes]) -> None:
    """Stores states that are not there yet."""
    rows = [{"hash": key, "data": data} for key, data in states.items()]
    if rows:
        connection.execute(insert(tables.state).prefix_with("OR IGNORE"), rows)


def get_texts(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """The bodies of texts."""
    found: dict[bytes, str] = {}
    for some in chunks(list(set(hashes))):
        query = select(tables.text.c.hash, tables.text.c.body).where(tables.text.c.hash.in_(some))
        found.update((row.hash, row.body) for row in connection.execute(query))
    return found


def get_counts(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, tuple[int, int]]:
    """The words and characters of texts, without their bodies."""
    found: dict[bytes, tuple[int, int]] = {}
    columns = (tables.text.c.hash, tables.text.c.words, tables.text.c.chars)
    for some in chunks(list(set(hashes))):
        query = select(*columns).where(tables.text.c.hash.in_(some))
        found.update((row.hash, (row.words, row.chars)) for row in connection.execute(query))
    return found


def get_states(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """The states under their hashes."""
    found: dict[bytes, bytes] = {}
    for some in chunks(list(set(hashes))):
        query = select(tables.state.c.hash, tables.state.c.data).where(tables.state.c.hash.in_(some))
        found.update((row.hash, row.data) for row in connection.execute(query))
    return found
