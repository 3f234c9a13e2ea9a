"""Small books, and a look at everything that a space holds that does not go through the space's own lists."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import cast

from sqlalchemy import insert

from marginalia_tui.domain.items import (
    KINDS,
    Annotation,
    Book,
    Entry,
    Folder,
    Image,
    Item,
    Lorebook,
    Part,
    Plan,
    Summary,
)
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.domain.words import count_words
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act, ItemKey
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store

World = dict[ItemKey, Item]
"""Every item of a space by kind and uuid."""


def act(label: str = "edit", *, book: str | None = None, actor: str = "author", undoes: int | None = None) -> Act:
    return Act(actor=actor, label=label, book=book, undoes=undoes)


def chain(book: str, length: int, *, text: str = "Text of part {place}.") -> list[Item]:
    """A book whose parts follow one another, `{book}-1` first."""
    parts = [
        Part(
            uuid=f"{book}-{place}",
            book=book,
            parent=f"{book}-{place - 1}" if place > 1 else None,
            created=place,
            text=text.format(place=place),
        )
        for place in range(1, length + 1)
    ]
    return [Book(uuid=book, title=f"The book {book}", active_leaf=parts[-1].uuid if parts else None), *parts]


def every_other_kind(book: str) -> list[Item]:
    """One item of each kind but book and part, beside a `chain` of the book."""
    return [
        Folder(uuid="folder", name="Sea stories"),
        Lorebook(uuid="lore", name="The harbour", created=1),
        Entry(uuid="entry", lorebook="lore", name="The lamp", text="It burns oil.", created=2),
        Summary(uuid="summary", book=book, part=f"{book}-1", text="A lamp goes out.", covered="00", created=3),
        Annotation(
            uuid="note", book=book, part=f"{book}-1", text="Which oil?", quote="part", start=8, end=12, created=4
        ),
        Plan(uuid="r", book=book, steps='["read"]'),
    ]


def an_image(key: str, name: str = "1.png") -> Image:
    """An image whose bytes are stored under a hash; what it says of them is invented."""
    return Image(hash=key, type="image/png", name=name, width=3, height=2)


def put(store: Store, *items: Item, label: str = "edit", space: int = LIBRARY, book: str | None = None) -> int:
    """Writes items in one change and returns the position after it."""
    with store.write(act(label, book=book)) as tx:
        tx.space(space).put(items)
        return tx.position()


def look(tx: ReadTx, space_id: int) -> World:
    """Every item of a space."""
    world: World = {}
    space = tx.space(space_id)
    for kind in KINDS:
        query = f'SELECT uuid FROM "{kind}" WHERE space_id = {space_id}'
        uuids = list(tx.connection.exec_driver_sql(query).scalars())
        found: Mapping[str, Item] = space.get_many(cast(type[Part], KINDS[kind]), uuids)
        world.update({(kind, uuid): item for uuid, item in found.items()})
    return world


def see(store: Store, space_id: int = LIBRARY) -> World:
    with store.read() as tx:
        return look(tx, space_id)


def counted(item: Item) -> Item:
    """The item as it must be read: with its derived fields."""
    if isinstance(item, Part):
        return replace(item, words=count_words(item.text), chars=len(item.text))
    return item


def plain(store: Store) -> "closing[sqlite3.Connection]":
    """A connection of another program, which knows nothing of spaces and turns."""
    return closing(sqlite3.connect(store.path, isolation_level=None, timeout=0))


def count(store: Store, table: str) -> int:
    with store.read() as tx:
        return int(tx.connection.exec_driver_sql(f'SELECT count(*) FROM "{table}"').scalar_one())


def add_run(
    store: Store, run: str, book: str, *, status: RunStatus = RunStatus.RUNNING, agent: str = "Copyeditor"
) -> None:
    with store.write(act("start")) as tx:
        tx.connection.execute(
            insert(tables.run).values(
                uuid=run, agent=f"agent-{run}", agent_name=agent, book=book, status=status, created=1, changed=1
            )
        )
