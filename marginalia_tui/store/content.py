"""Texts and states, stored once under the hash of what they are.

A state is the canonical JSON of an item: `{"v": 1, field: value, ...}` with sorted keys and defaults left out; a
long text stands in it as the hash of its body, a set as a sorted list, attributes as one hash for each key, images as
a list of objects with the hashes of their bytes (`store.blobs`).
Hashes are 20 bytes (BLAKE2b), written as hex inside a state.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import Connection, Row, insert

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Image, Shape, state_fields
from marginalia_tui.domain.words import count_words
from marginalia_tui.store import tables

FORMAT = 1
CHUNK = 500
"""Keys of one `IN` list."""

_T = TypeVar("_T")

Cells = dict[str, Any]
"""The state fields of an item as its row holds them: hashes for long texts, JSON text for sets, images and attributes,
0 and 1 for flags."""


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


class _Shapes(NamedTuple):
    """The state fields of a kind by how a state holds them."""

    plain: tuple[tuple[str, object], ...]
    """Names and defaults of the fields that stand in it as they are."""
    long: tuple[str, ...]
    sets: tuple[str, ...]
    images: tuple[str, ...]
    attributes: tuple[str, ...]


_ELSEWHERE = (Shape.LONG, Shape.SET, Shape.IMAGES, Shape.ATTRIBUTES)


@cache
def _shapes(kind: str) -> _Shapes:
    fields = state_fields(kind)
    return _Shapes(
        tuple((each.name, each.default) for each in fields if each.shape not in _ELSEWHERE),
        tuple(each.name for each in fields if each.shape is Shape.LONG),
        tuple(each.name for each in fields if each.shape is Shape.SET),
        tuple(each.name for each in fields if each.shape is Shape.IMAGES),
        tuple(each.name for each in fields if each.shape is Shape.ATTRIBUTES),
    )


def encode_state(kind: str, cells: Cells) -> bytes:
    """The canonical state of an item."""
    shapes = _shapes(kind)
    state: dict[str, object] = {"v": FORMAT}
    state.update((name, cells[name]) for name, default in shapes.plain if cells[name] != default)
    state.update((name, cells[name].hex()) for name in shapes.long if cells[name] is not None)
    for names in (shapes.sets, shapes.images, shapes.attributes):
        state.update((name, orjson.loads(cells[name])) for name in names if cells[name] is not None)
    return encode_json(state, "The item")


def decode_state(kind: str, data: bytes) -> Cells:
    """The cells that a state stands for."""
    shapes = _shapes(kind)
    state = orjson.loads(data)
    cells: Cells = {name: state.get(name, default) for name, default in shapes.plain}
    for name in shapes.long:
        cells[name] = bytes.fromhex(state[name]) if name in state else None
    for name in (*shapes.sets, *shapes.images, *shapes.attributes):
        cells[name] = orjson.dumps(state[name], option=orjson.OPT_SORT_KEYS).decode() if name in state else None
    return cells


def text_keys(kind: str, data: bytes) -> Iterator[bytes]:
    """The hashes of the texts (long ones, and values of attributes) that a state names."""
    shapes = _shapes(kind)
    state = orjson.loads(data)
    yield from (bytes.fromhex(state[name]) for name in shapes.long if name in state)
    yield from (bytes.fromhex(key) for name in shapes.attributes for key in state.get(name, {}).values())


def blob_keys(kind: str, data: bytes) -> Iterator[bytes]:
    """The hashes of the bytes of images that a state names."""
    names = _shapes(kind).images
    # Most parts have none: to look for the word is quicker than to read the state.
    if names and b'"hash":"' in data:
        state = orjson.loads(data)
        yield from (bytes.fromhex(image["hash"]) for name in names for image in state.get(name, ()))


def encode_images(images: Iterable[Image], what: str) -> str | None:
    """Images as a row holds them; None for none.

    Raises:
        Invalid: two have one name, or a value can't be written.
    """
    plain = [asdict(image) for image in images]
    if len({image["name"] for image in plain}) < len(plain):
        raise Invalid(f"Two of the {what} have one name: give each a name of its own.")
    return encode_json(plain, f"The {what}").decode() if plain else None


def decode_images(cell: str | None) -> tuple[Image, ...]:
    """The images of a row."""
    return tuple(Image(**each) for each in orjson.loads(cell)) if cell else ()


def chunks(values: Sequence[_T]) -> Iterable[Sequence[_T]]:
    """The values in runs that fit one `IN` list."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def put_texts(connection: Connection, bodies: Mapping[bytes, str]) -> dict[bytes, tuple[int, int]]:
    """Stores bodies that are not there yet, and returns the words and characters of all."""
    counts = get_counts(connection, bodies)
    new = {key: (count_words(body), len(body)) for key, body in bodies.items() if key not in counts}
    if new:
        rows = [
            {"hash": key, "words": words, "chars": chars, "body": bodies[key]} for key, (words, chars) in new.items()
        ]
        connection.execute(_ADD_TEXT, rows)
    return counts | new


def put_states(connection: Connection, states: Mapping[bytes, bytes]) -> None:
    """Stores states that are not there yet."""
    rows = [{"hash": key, "data": data} for key, data in states.items()]
    if rows:
        connection.execute(_ADD_STATE, rows)


def get_texts(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """The bodies of texts."""
    return {key: body for key, body in rows_in(connection, "SELECT hash, body FROM text WHERE hash IN", set(hashes))}


def get_counts(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, tuple[int, int]]:
    """The words and characters of texts, without their bodies."""
    rows = rows_in(connection, "SELECT hash, words, chars FROM text WHERE hash IN", set(hashes))
    return {key: (words, chars) for key, words, chars in rows}


def get_states(connection: Connection, hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """The states under their hashes."""
    return {key: data for key, data in rows_in(connection, "SELECT hash, data FROM state WHERE hash IN", set(hashes))}


def rows_in(
    connection: Connection, query: str, values: Iterable[bytes | str], *before: object
) -> Iterator[Row[*tuple[Any, ...]]]:
    """The rows of a query that ends in `IN`, for any number of values; `before` are its parameters up to there.

    It goes past the compiler of expressions, which takes longer over many values than SQLite over their rows.
    """
    for some in chunks(list(values)):
        marks = ", ".join("?" * len(some))
        yield from connection.exec_driver_sql(f"{query} ({marks})", (*before, *some)).all()


_ADD_TEXT = insert(tables.text).prefix_with("OR IGNORE")
_ADD_STATE = insert(tables.state).prefix_with("OR IGNORE")
