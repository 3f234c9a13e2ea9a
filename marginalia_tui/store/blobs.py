"""The bytes of images, stored once under their SHA-256, put in the transaction of their first reference.

Rows of items hold the hash alone, so a copy of a book moves none of them. What nothing names any more is swept.
"""

from collections.abc import Iterable
from hashlib import sha256

from sqlalchemy import Connection, insert

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.store import tables
from marginalia_tui.store.content import rows_in


def hash_blob(data: bytes) -> bytes:
    """The 32 bytes under which `data` is stored."""
    return sha256(data).digest()


def put(connection: Connection, data: bytes) -> str:
    """Stores bytes that are not there yet; returns their hash as hex."""
    key = hash_blob(data)
    connection.execute(_ADD, {"hash": key, "size": len(data), "body": data})
    return key.hex()


def get(connection: Connection, key: str) -> bytes:
    """The bytes under a hash (hex).

    Raises:
        StoreError: they are not there.
    """
    row = connection.exec_driver_sql("SELECT body FROM blob WHERE hash = ?", (bytes.fromhex(key),)).first()
    if row is None:
        raise StoreError(
            "The bytes of an image are not in the store: run `marginalia doctor`, which says what is missing."
        )
    return bytes(row.body)


def sizes(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    """Hash -> how many bytes are stored under it; hashes that are not there are left out."""
    rows = rows_in(connection, "SELECT hash, size FROM blob WHERE hash IN", set(keys))
    return {key: size for key, size in rows}


def check(connection: Connection, keys: set[bytes]) -> None:
    """Makes sure that what is about to be named is there.

    Raises:
        StoreError: something is not.
    """
    if keys and len(sizes(connection, keys)) < len(keys):
        raise StoreError("The bytes of an image are not in the store: add the image again.")


_ADD = insert(tables.blob).prefix_with("OR IGNORE")
