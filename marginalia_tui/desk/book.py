"""What the book screen asks: the outline, texts, branches, the editor's drafts and saves, and where words stand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from marginalia_tui.domain.errors import Locked, NotFound
from marginalia_tui.domain.images import image_line
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.services import books, editing
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.images import size_of
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

AT_ONCE = 100
"""Texts that a search reads in one transaction."""

Finder = Callable[[str, str], Sequence[tuple[int, int]]]
"""(query, text) -> the places, from and to, in order."""


@dataclass(frozen=True, slots=True)
class PartLine:
    """A part of the branch that is read."""

    uuid: str
    number: int
    title: str
    words: int
    swipe: int
    swipes: int
    draft: bool
    """Whether unsaved text of it is kept."""


Stamp = tuple[int, str, frozenset[str]]
"""The position of the library's journal, the agent that holds the book, the parts with drafts."""


@dataclass(frozen=True, slots=True)
class BookView:
    """A book as it is read: its branch, its counts, who holds it."""

    uuid: str
    title: str
    parts: tuple[PartLine, ...]
    branch: int
    branches: int
    branch_words: int
    book_words: int
    agent: str
    """The agent that holds it; empty when none does."""
    stamp: Stamp
    """As long as this is the same, the view is."""


@dataclass(frozen=True, slots=True)
class PartView:
    """A part to read. `swipes` are the uuids of its versions in order, itself among them."""

    uuid: str
    title: str
    text: str
    words: int
    swipes: tuple[str, ...]
    images: tuple[str, ...] = ()
    """A line for each: its name, what it is, its caption."""


@dataclass(frozen=True, slots=True)
class BranchLine:
    """A branch: its number, the title of its last part, and how long it is."""

    leaf: str
    number: int
    title: str
    parts: int
    words: int
    active: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """Text that was typed and not saved, with when that was."""

    title: str
    text: str
    when: str


@dataclass(frozen=True, slots=True)
class Editing:
    """What an editor begins with. `base` stands for the part as it was then."""

    book: str
    part: str
    number: int
    title: str
    text: str
    base: bytes
    draft: Draft | None


@dataclass(frozen=True, slots=True)
class Place:
    """A passage that was found: offsets in the text of a part."""

    part: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a book that it may inherit: what holds, and where that comes from."""

    value: str
    own: bool
    """Whether the book says it itself."""
    where: str
    above: str
    """What would hold if the book said nothing, and where that comes from."""
    above_where: str


@dataclass(frozen=True, slots=True)
class BookFacts:
    """What holds for the whole book."""

    title: str
    author: str
    description: str
    language: Fact
    pov: Fact
    tense: Fact
    style: Fact


class BookDesk:
    """The books of a studio, one at a time."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._store = studio.store

    # Reading

    def opened(self, book: str) -> None:
        """Notes that a book was opened now."""
        books.mark_opened(self._store, book)

    def last_opened(self) -> str | None:
        """The book that was opened last, the first of the library when none was; None in an empty library."""
        with self._store.read() as tx:
            rows = books.list_books(tx)
        return max(rows, key=lambda row: row.opened or 0).uuid if rows else None

    def look(self, book: str, known: Stamp | None = None) -> BookView | None:
        """The book without its texts; None when it is as it was at `known`.

        What an agent does in its copy is announced like a change of the book, many times a second; a long outline is
        not read again for that.

        Raises:
            NotFound: it is gone, or in the trash.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.find(Book, book)
            if found is None or found.deleted is not None:
                raise NotFound("This book is not in the library any more: F2 shows the books that are.")
            agent = books.holder(tx, book) or ""
            drafts = frozenset(draft.part for draft in editing.drafts(tx, book))
            stamp = (space.position(), agent, drafts)
            if stamp == known:
                return None
            tree = story_tree(space, found)
        lines = _lines(tree, drafts)
        return BookView(
            uuid=book,
            title=found.title,
            parts=lines,
            branch=tree.branch_number(tree.active_leaf) if tree.active_leaf else 0,
            branches=len(tree.leaves),
            branch_words=sum(line.words for line in lines),
            book_words=sum(row.words for row in tree.rows.values()),
            agent=agent,
            stamp=stamp,
        )

    def part(self, part: str) -> PartView:
        """A part with its text.

        Raises:
            NotFound: it is gone.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.get(Part, part)
            swipes = space.children(found.parent, found.book)
            lines = [image_line(image, size_of(space, image)) for image in found.images]
        return PartView(part, found.title, found.text, found.words, tuple(swipes), tuple(lines))

    def branches(self, book: str) -> list[BranchLine]:
        """The branches, oldest first."""
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            tree = story_tree(space, space.get(Book, book))
        depth, words = _sums(tree)
        return [
            BranchLine(leaf, number, tree.rows[leaf].title, depth[leaf], words[leaf], leaf == tree.active_leaf)
            for number, leaf in enumerate(tree.leaves, start=1)
        ]

    def facts(self, book: str) -> BookFacts:
        """What holds for the whole book."""
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.get(Book, book)
            here = inherited(space, found)
        above = here.without_book()

        def fact(name: str) -> Fact:
            now, then = here.value(name), above.value(name)
            return Fact(now.value, now.own, now.where, then.value, then.where)

        return BookFacts(
            found.title,
            found.author,
            found.description,
            fact("language"),
            fact("pov"),
            fact("tense"),
            fact("style"),
        )

    def find(self, parts: Sequence[str], query: str, finder: Finder, go_on: Callable[[], bool]) -> list[Place]:
        """Every place in the texts of parts that has the words of a query, in order.

        Args:
            parts: the uuids, in reading order.
            query: what is looked for.
            finder: finds it in one text.
            go_on: asked between two texts; the search ends when it says no.
        """
        places: list[Place] = []
        for uuid, text in self._texts(parts):
            if not go_on():
                break
            places.extend(Place(uuid, start, end) for start, end in finder(query, text))
        return places

    def _texts(self, parts: Sequence[str]) -> Iterator[tuple[str, str]]:
        for start in range(0, len(parts), AT_ONCE):
            some = parts[start : start + AT_ONCE]
            with self._store.read() as tx:
                texts = tx.space(LIBRARY).texts(some)
            yield from ((uuid, texts[uuid]) for uuid in some if uuid in texts)

    # Editing

    def edit(self, part: str) -> Editing:
        """What an editor of a part begins with.

        Raises:
            Locked: an agent holds the book.
            NotFound: the part is gone.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.get(Part, part)
            book = space.get(Book, found.book)
            if agent := books.holder(tx, found.book):
                raise Locked(agent, book.title)
            base = space.hashes(Part, [part])[part]
            kept = [draft for draft in editing.drafts(tx, found.book) if draft.part == part]
            number = story_tree(space, book).position(part)
        draft = None
        if kept and (kept[0].title, kept[0].text) != (found.title, found.text):
            draft = Draft(kept[0].title, kept[0].text, _moment(kept[0].at))
        return Editing(found.book, part, number, found.title, found.text, base, draft)

    def save(self, editing_of: Editing, title: str, text: str, *, apart: bool = False) -> bytes:
        """Saves what the editor holds; answers what stands for the part now.

        With `apart` it is a step of its own, so that an undo brings back what it went over.

        Raises:
            Locked: an agent holds the book.
            Stale: the part was changed since; the draft stays.
            NotFound: the part is gone; the draft stays.
        """
        return editing.save_part(self._store, editing_of.part, title, text, editing_of.base, apart=apart)

    def keep(self, editing_of: Editing, title: str, text: str) -> None:
        """Keeps what is being typed."""
        draft = editing.Draft(editing_of.book, editing_of.part, title, text, editing_of.base, self._store.clock.now())
        editing.keep_draft(self._store, draft)

    def rescue(self, editing_of: Editing, title: str, text: str) -> Path:
        """Writes what was typed to a file, when the store does not take it; answers which.

        Raises:
            StoreError: no disk takes it.
        """
        return editing.rescue_text(self._studio.home, editing_of.part, title, text)

    def drop(self, editing_of: Editing) -> None:
        """Forgets what was typed."""
        editing.drop_draft(self._store, editing_of.book, editing_of.part)


def _lines(tree: StoryTree, drafts: frozenset[str]) -> tuple[PartLine, ...]:
    lines = []
    for number, uuid in enumerate(tree.active, start=1):
        row = tree.rows[uuid]
        swipes = tree.children(row.parent)
        place = swipes.index(uuid) + 1 if len(swipes) > 1 else 1
        lines.append(PartLine(uuid, number, row.title, row.words, place, len(swipes), uuid in drafts))
    return tuple(lines)


def _sums(tree: StoryTree) -> tuple[dict[str, int], dict[str, int]]:
    """Part -> how many parts, and words, stand from the root to it."""
    depth: dict[str, int] = {}
    words: dict[str, int] = {}
    waiting = list(tree.children(None))
    while waiting:
        uuid = waiting.pop()
        row = tree.rows[uuid]
        depth[uuid] = 1 + (depth[row.parent] if row.parent else 0)
        words[uuid] = row.words + (words[row.parent] if row.parent else 0)
        waiting.extend(tree.children(uuid))
    return depth, words


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")
