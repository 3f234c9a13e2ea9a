"""What the lorebook screen asks: the tree, the entries, one entry, and which of them are active at a part.

All values are frozen and all work is done here, off the loop: five thousand entries are read without their texts, put
into order and filtered on a thread, and the screen gets rows. Nothing here writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.desk.panels import WHY
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book, Entry, Lorebook, Part
from marginalia_tui.domain.lore import LoreRow, LoreTree, Verdict, activate
from marginalia_tui.domain.words import count_words
from marginalia_tui.llm.tokens import count_tokens
from marginalia_tui.services import books, editing, lore
from marginalia_tui.services.lore_shelf import ShelvedLorebook, lorebook_shelf
from marginalia_tui.services.lore_turn import next_turn, turn_of_part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.content import rows_in
from marginalia_tui.store.reach import lore_tree
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

Sort = Literal["told", "name", "words", "active"]
SORTS: tuple[tuple[Sort, str], ...] = (
    ("told", "as they are told"),
    ("name", "by name"),
    ("words", "the longest first"),
    ("active", "the active first"),
)
"""The orders of entries, with the words for them."""

_SIZES = (
    "SELECT entry.uuid, text.words FROM entry JOIN text ON text.hash = entry.text "
    "WHERE entry.space_id = ? AND entry.lorebook IN"
)

Stamp = tuple[int, str]
"""The position of the library's journal, the agents that hold books."""


@dataclass(frozen=True, slots=True)
class LorebookLine:
    """A lorebook at a place in the tree; one that stands at several is unfolded at the first of them."""

    key: str
    """Of the place: the one above it and itself."""
    uuid: str
    name: str
    level: int
    parent: str | None
    """The uuid of the one right above it; None of the root."""
    entries: int
    enabled: bool
    live: bool
    """Whether it and one way to it are enabled."""
    again: bool
    """Whether it stands further up already."""
    others: tuple[str, ...]
    """The titles of the other books that use it."""
    agents: tuple[str, ...]
    """The agents that hold it."""
    scan_depth: int
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry in the list."""

    uuid: str
    name: str
    lorebook: str
    lorebook_name: str
    when: str
    """When it is active, in a few words: `always`, its filter, its range of parts."""
    enabled: bool
    words: int
    tags: tuple[str, ...]
    """Negative ones with a minus sign."""
    found_by: str
    """What a filter of the list looks at, without capitals."""


@dataclass(frozen=True, slots=True)
class LoreView:
    """The lore of a book, or of a lorebook that none uses (`book` is empty then), without the texts."""

    book: str
    title: str
    lorebooks: tuple[LorebookLine, ...]
    entries: tuple[EntryLine, ...]
    """As they are told."""
    stamp: Stamp
    """As long as this is the same, the view is."""

    @property
    def root(self) -> LorebookLine | None:
        """The lorebook above all others."""
        return self.lorebooks[0] if self.lorebooks else None

    def choices(self) -> tuple[LorebookLine, ...]:
        """Each lorebook once."""
        return tuple(line for line in self.lorebooks if not line.again)


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry with all its fields."""

    entry: Entry
    words: int
    tokens: int


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """Whether an entry is active: in a few words for the list, in a sentence beside the entry."""

    active: bool
    short: str
    long: str


@dataclass(frozen=True, slots=True)
class PreviewView:
    """Which entries are active at a part of the active branch, or at the part that is to be written next."""

    part: str | None
    """None: the next part."""
    number: int
    """Its place on its branch, from 1."""
    title: str
    active: int
    words: int
    """Of the texts of those that are active."""
    verdicts: Mapping[str, VerdictLine]
    before: str | None
    """The part before it; None at the first."""
    after: str | None
    """The part behind it; None: what follows is the next part, or nothing."""

    @property
    def place(self) -> str:
        """The part in words."""
        return f"part {self.number}" if self.part is not None else "the next part"


class LoreDesk:
    """The lore of the books of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._store = studio.store

    def look(self, book: str, known: Stamp | None = None) -> LoreView | None:
        """The lore of a book; None when it is as it was at `known`.

        Raises:
            NotFound: the book is gone, or in the trash.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.find(Book, book)
            if found is None or found.deleted is not None:
                raise NotFound("This book is not in the library any more: F2 shows the books that are.")
            return _view(tx, space, found.uuid, found.title, found.lorebook, known)

    def look_at(self, lorebook: str, known: Stamp | None = None) -> LoreView | None:
        """A lorebook that no book uses, with what stands below it; None when it is as it was at `known`.

        Raises:
            NotFound: the lorebook is gone, or in the trash.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.find(Lorebook, lorebook)
            if found is None or found.deleted is not None:
                raise NotFound("This lorebook is gone, or in the trash: /list-trash shows what is there.")
            return _view(tx, space, "", found.name, lorebook, known)

    def entry(self, uuid: str) -> EntryView:
        """An entry with all its fields.

        Raises:
            NotFound: it is gone.
        """
        with self._store.read() as tx:
            found = tx.space(LIBRARY).get(Entry, uuid)
        return EntryView(found, count_words(found.text), count_tokens(found.text))

    def shelf(self) -> list[ShelvedLorebook]:
        """All lorebooks of the library that are not in the trash, by name."""
        with self._store.read() as tx:
            return lorebook_shelf(tx.space(LIBRARY))

    def books(self) -> list[tuple[str, str, str]]:
        """The books of the library: uuid, title, and the uuid of the root of their lore or nothing."""
        with self._store.read() as tx:
            rows = books.list_books(tx)
            space = tx.space(LIBRARY)
            found = space.get_many(Book, [row.uuid for row in rows])
            linked = {book.uuid: book.lorebook for book in found.values() if book.lorebook}
            there = space.get_many(Lorebook, set(linked.values()))
        live = {uuid for uuid, each in there.items() if each.deleted is None}
        roots = {book: root for book, root in linked.items() if root in live}
        return [(row.uuid, row.title, roots.get(row.uuid, "")) for row in rows]

    def rescue(self, entry: str, title: str, text: str) -> Path:
        """Writes what was typed to a file, when the studio ends before it was saved; answers which.

        Raises:
            StoreError: no disk takes it.
        """
        return editing.rescue_text(self._studio.home, entry, title, text)

    # Activation

    def preview(self, book: str, part: str | None) -> PreviewView:
        """Which entries of the lore of a book are active at a part, by the rules that a generation goes by.

        Args:
            book: its uuid.
            part: the uuid of a part; None, or one that is gone: the part that is to be written next.

        Raises:
            NotFound: the book is gone.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            of = space.get(Book, book)
            tree = lore.read_tree(space, of)
            rows = {row.uuid: row for row in lore.entry_rows(space, tree.lorebooks)}
            story = story_tree(space, of)
            found = None if part is None or part not in story.rows else space.get(Part, part)
            if found is None:
                turn, branch = next_turn(space, of, story, "", tree, rows.values()), story.active
                number = len(branch) + 1
            else:
                turn = turn_of_part(space, of, story, found, tree, rows.values())
                branch = story.branch(story.branch_showing(found.uuid))
                number = branch.index(found.uuid) + 1
            sizes = _sizes(space, tree)
        # A regular expression may take its time: no transaction is open meanwhile.
        verdicts = activate(tree, rows.values(), turn, LoreFinder(), self.texts)
        lines = {each.entry: _verdict_line(each, rows) for each in verdicts}
        active = [uuid for uuid, line in lines.items() if line.active]
        return PreviewView(
            part=None if found is None else found.uuid,
            number=number,
            title="" if found is None else found.title,
            active=len(active),
            words=sum(sizes.get(uuid, 0) for uuid in active),
            verdicts=lines,
            before=branch[number - 2] if number > 1 else None,
            after=branch[number] if number < len(branch) else None,
        )

    def texts(self, uuids: Sequence[str]) -> dict[str, str]:
        """Entry -> its text."""
        with self._store.read() as tx:
            return lore.entry_texts(tx.space(LIBRARY), uuids)


def _view(tx: ReadTx, space: Space, book: str, title: str, root: str | None, known: Stamp | None) -> LoreView | None:
    held = books.holders(tx)
    stamp = (space.position(), repr(sorted(held.items())))
    if stamp == known:
        return None
    tree = LoreTree(root, space.get_many(Lorebook, lore_tree(space.connection, space.id, root)).values())
    shelf = {each.lorebook.uuid: each for each in lorebook_shelf(space)}
    counts = lore.count_entries(space, tree.lorebooks)
    lorebooks = tuple(_lines(tree, counts, shelf, book, held))
    sizes = _sizes(space, tree)
    entries = tuple(_entry_line(row, tree, sizes) for row in lore.entry_rows(space, tree.lorebooks))
    return LoreView(book, title, lorebooks, entries, stamp)


def _sizes(space: Space, tree: LoreTree) -> dict[str, int]:
    """Entry -> the words of its text."""
    return {uuid: words for uuid, words in rows_in(space.connection, _SIZES, tree.lorebooks, space.id)}


def _lines(
    tree: LoreTree,
    counts: Mapping[str, int],
    shelf: Mapping[str, ShelvedLorebook],
    book: str,
    held: Mapping[str, str],
) -> Iterator[LorebookLine]:
    """The tree from the top, what stands below a lorebook right behind it."""
    if tree.root is None:
        return
    order = {uuid: place for place, uuid in enumerate(tree.lorebooks)}
    seen: set[str] = set()
    waiting: list[tuple[str, str | None, int]] = [(tree.root.uuid, None, 0)]
    while waiting:
        uuid, parent, level = waiting.pop()
        each, users = tree.lorebooks[uuid], shelf[uuid].books
        again = uuid in seen
        yield LorebookLine(
            key=f"{parent or ''}/{uuid}",
            uuid=uuid,
            name=each.name,
            level=level,
            parent=parent,
            entries=counts[uuid],
            enabled=each.enabled,
            live=uuid in tree.live,
            again=again,
            others=tuple(user.title for user in users if user.uuid != book),
            agents=tuple(dict.fromkeys(held[user.uuid] for user in users if user.uuid in held)),
            scan_depth=each.scan_depth,
            tags=tuple(each.tags),
        )
        if not again:
            seen.add(uuid)
            below = sorted((child for child in each.subbooks if child in order), key=order.__getitem__, reverse=True)
            waiting.extend((child, uuid, level + 1) for child in below)


def _entry_line(row: LoreRow, tree: LoreTree, sizes: Mapping[str, int]) -> EntryLine:
    tags = (*row.tags, *(f"-{tag}" for tag in row.negative_tags))
    book = tree.lorebooks[row.lorebook].name
    when = when_words(row)
    return EntryLine(
        uuid=row.uuid,
        name=row.name,
        lorebook=row.lorebook,
        lorebook_name=book,
        when=when,
        enabled=row.enabled,
        words=sizes.get(row.uuid, 0),
        tags=tags,
        found_by="\n".join((row.name, when, *tags)).casefold(),
    )


def when_words(row: LoreRow | Entry) -> str:
    """When an entry is active, in a few words."""
    if row.constant or not row.filter:
        what = "always"
    else:
        what = f"/{row.filter}/" if row.mode == "regex" else row.filter
        if row.look_back:
            what += f", {row.look_back:,} back"
    if row.first is not None or row.last is not None:
        first = "" if row.first is None else f"{row.first:,}"
        last = "" if row.last is None else f"{row.last:,}"
        what += f", in part {first}" if first == last else f", parts {first}-{last}"
    return what


def _verdict_line(verdict: Verdict, rows: Mapping[str, LoreRow]) -> VerdictLine:
    short = WHY[verdict.reason]
    more = ""
    if verdict.back:
        short = f"named {verdict.back:,} back"
        more = " in the part before" if verdict.back == 1 else f" {verdict.back:,} parts before"
    elif verdict.by is not None:
        more = f", by {rows[verdict.by].name or 'an entry without a name'}"
        if verdict.scan != 1:
            more += f", in pass {verdict.scan}"
    said = WHY[verdict.reason] if not verdict.back else "named"
    note = f". {verdict.note}" if verdict.note else ""
    return VerdictLine(verdict.reason.active, short, f"{said}{more}{note}")


# The list


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the entries is listed, and in which order."""

    lorebook: str = ""
    """The uuid of a lorebook; empty: all of them."""
    query: str = ""
    """Words that its name, its filter or its tags hold."""
    sort: Sort = "told"
    hits: frozenset[str] | None = None
    """The entries that a search found; None: nothing is searched."""


def arrange(view: LoreView, wanted: Wanted, preview: PreviewView | None) -> list[EntryLine]:
    """The entries that are wanted, in order; words are looked for wherever they stand, capitals or not."""
    words = wanted.query.casefold().split()
    found = [
        line
        for line in view.entries
        if (wanted.hits is None or line.uuid in wanted.hits)
        and (wanted.hits is not None or not wanted.lorebook or line.lorebook == wanted.lorebook)
        and all(word in line.found_by for word in words)
    ]
    match wanted.sort:
        case "name":
            found.sort(key=lambda line: (line.name.casefold(), line.uuid))
        case "words":
            found.sort(key=lambda line: -line.words)
        case "active":
            verdicts = preview.verdicts if preview is not None else {}
            found.sort(key=lambda line: not (line.uuid in verdicts and verdicts[line.uuid].active))
    return found
