from collections.abc import Iterator
from pathlib import Path

import pytest

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.commands.world import TEXTS, World
from tests.conftest import NewHome


@pytest.fixture
def store(new_home: NewHome, tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(new_home(tmp_path / "home"))
    yield opened
    opened.close()


@pytest.fixture
def world(store: Store) -> World:
    book = store.clock.new_uuid()
    parts: list[Part] = []
    for place, text in enumerate(TEXTS, start=1):
        parts.append(
            Part(
                uuid=store.clock.new_uuid(),
                book=book,
                parent=parts[-1].uuid if parts else None,
                created=store.clock.now(),
                title=f"Chapter {place}",
                text=text,
            )
        )
    with store.write(Act(actor="author", label="import", book=book)) as tx:
        tx.space(LIBRARY).put(
            [Book(uuid=book, title="The Lamp", author="A. Writer", active_leaf=parts[-1].uuid), *parts]
        )
    return World(store, book, [part.uuid for part in parts])
