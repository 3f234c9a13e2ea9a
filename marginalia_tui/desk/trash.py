"""What the trash screen asks: everything that is gone and can come back, of whatever book."""

from dataclasses import dataclass

from marginalia_tui.desk.names import moment
from marginalia_tui.domain.items import Book, Lorebook
from marginalia_tui.services import gone
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

WORDS = {"annotation": "note", "entry": "lore entry"}
"""Kind -> the word for people, where that is another one."""


Stamp = tuple[int, tuple[str, ...]]
"""The position of the library's journal, which what goes for good takes back, and what lies in the trash."""


@dataclass(frozen=True, slots=True)
class GoneLine:
    """Something that is gone."""

    uuid: str
    kind: str
    """As the commands call it."""
    word: str
    """The kind for people."""
    name: str
    """Its name, or else the beginning of its text."""
    book: str | None
    """The uuid of the book that lost it; None of what lies in the trash itself, and of what belongs to no book."""
    place: str
    """The title of that book."""
    when: str
    who: str
    """`author`, or the name of the agent that deleted it."""
    for_good: bool
    """Whether it can be deleted for good by itself."""


@dataclass(frozen=True, slots=True)
class TrashView:
    """What is gone, the newest first. As long as the `stamp` is the same, the view is."""

    lines: tuple[GoneLine, ...]
    stamp: Stamp


class TrashDesk:
    """The trash of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._store = studio.store

    def look(self, known: Stamp | None = None) -> TrashView | None:
        """What is gone; None when that is as it was at `known`.

        What a book in the trash had lost before is left out: it can come back when the book has.
        """
        with self._store.read() as tx:
            library = tx.space(LIBRARY)
            trashed = gone.in_trash(tx)
            stamp = library.position(), tuple(each.uuid for each in trashed)
            if stamp == known:
                return None
            titles = {book.uuid: book.title for book in library.books() if book.deleted is None}
            found = [
                *gone.in_trash(tx),
                *(one for one in gone.lost_anywhere(tx) if one.book is None or one.book in titles),
            ]
        found.sort(key=lambda each: -each.at)
        return TrashView(tuple(_line(each, titles) for each in found), stamp)


def _line(each: gone.Gone, titles: dict[str, str]) -> GoneLine:
    return GoneLine(
        uuid=each.uuid,
        kind=each.kind,
        word=WORDS.get(each.kind, each.kind),
        name=each.name or each.begins or "(no text)",
        book=each.book,
        place=titles.get(each.book or "", ""),
        when=moment(each.at),
        who=each.who or "you",
        for_good=each.kind in (Book.KIND, Lorebook.KIND),
    )
