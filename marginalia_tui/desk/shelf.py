"""The list of books, read with the store alone: it is there before the rest of the studio is imported."""

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from marginalia_tui.services import books
from marginalia_tui.store.store import Store


@dataclass(frozen=True, slots=True)
class BookLine:
    """A book in the list."""

    uuid: str
    title: str
    author: str
    parts: int
    words: int
    when: str
    """When it was opened last, or went to the trash, as a date."""
    agent: str
    """The agent that holds it; empty when none does."""


def list_shelf(store: Store, *, trash: bool = False) -> list[BookLine]:
    """The books by title, or those in the trash."""
    with store.read() as tx:
        rows = books.list_books(tx, deleted=trash)
    return [
        BookLine(
            row.uuid,
            row.title,
            row.author,
            row.parts,
            row.words,
            _date(row.deleted if trash else row.opened),
            row.locked_by or "",
        )
        for row in rows
    ]


def read_shelf(home: Path) -> list[BookLine]:
    """The books of a home that nobody has opened yet.

    Raises:
        StoreError: the store can't be opened; the sentence says what to do.
    """
    with closing(Store.open(home)) as store:
        return list_shelf(store)


def _date(moment: int | None) -> str:
    """A moment (microseconds since 1970) as people write it; empty for none."""
    return "" if moment is None else datetime.fromtimestamp(moment / 1_000_000).strftime("%Y-%m-%d %H:%M")
