"""How far lore and folders reach: the lorebooks below a book, the books that use a lorebook or stand in a folder.

The trees of lorebooks and folders are read whole, a row for each that has something below it: they are small, and
as deep as their author likes.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

import orjson
from sqlalchemy import Connection, select

from marginalia_tui.store import tables
from marginalia_tui.store.content import rows_in


def lore_tree(connection: Connection, space_id: int, root: str | None) -> list[str]:
    """A lorebook and all below it, level by level, each once, those in the trash too; only what is there."""
    column = tables.lorebook.c
    query = (
        select(column.uuid, column.subbooks).where(column.space_id == space_id).order_by(column.created, column.uuid)
    )
    below = {uuid: set(orjson.loads(subbooks or "[]")) for uuid, subbooks in connection.execute(query)}
    if root is None or root not in below:
        return []
    rank = {uuid: place for place, uuid in enumerate(below)}
    found, level = {root: None}, [root]
    while level:
        wanted = set().union(*(below[uuid] for uuid in level))
        level = sorted((uuid for uuid in wanted if uuid in rank and uuid not in found), key=rank.__getitem__)
        found.update(dict.fromkeys(level))
    return list(found)


def books_with_lore(connection: Connection, space_id: int, lorebooks: Iterable[str]) -> set[str]:
    """The books that use one of the lorebooks, however deep."""
    column = tables.lorebook.c
    query = select(column.uuid, column.subbooks).where(column.space_id == space_id, column.subbooks.is_not(None))
    above: dict[str, list[str]] = {}
    for uuid, subbooks in connection.execute(query):
        for child in orjson.loads(subbooks):
            above.setdefault(child, []).append(uuid)
    return _books(connection, space_id, "lorebook", closure(lorebooks, above))


def below_itself(connection: Connection, space_id: int, lorebooks: Iterable[str]) -> str | None:
    """One of the lorebooks that stands below itself, however deep, those in the trash too; None: none does."""
    column = tables.lorebook.c
    query = select(column.uuid, column.subbooks).where(column.space_id == space_id, column.subbooks.is_not(None))
    below: dict[str, list[str]] = {uuid: orjson.loads(subbooks) for uuid, subbooks in connection.execute(query)}
    try:
        TopologicalSorter(below).prepare()
    except CycleError:
        return next((uuid for uuid in lorebooks if uuid in closure(below.get(uuid, ()), below)), None)
    return None


def books_in_folders(connection: Connection, space_id: int, folders: Iterable[str]) -> set[str]:
    """The books that stand in one of the folders, however deep."""
    column = tables.folder.c
    query = select(column.uuid, column.parent).where(column.space_id == space_id, column.parent.is_not(None))
    below: dict[str, list[str]] = {}
    for uuid, parent in connection.execute(query):
        below.setdefault(parent, []).append(uuid)
    return _books(connection, space_id, "folder", closure(folders, below))


def closure(starts: Iterable[str], next_to: Mapping[str, Iterable[str]]) -> set[str]:
    """What is reached from the starts, themselves included."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        if (here := waiting.pop()) not in found:
            found.add(here)
            waiting.extend(next_to.get(here, ()))
    return found


def _books(connection: Connection, space_id: int, column: str, values: Iterable[str]) -> set[str]:
    query = f'SELECT uuid FROM book WHERE space_id = ? AND "{column}" IN'
    return {row.uuid for row in rows_in(connection, query, values, space_id)}
