"""What the editor and a passage of the page ask: spelling, places to find and replace, lore on a passage."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.commands.patterns import Search
from marginalia_tui.commands.replacing import expanded
from marginalia_tui.domain.errors import Stale
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.passage import unique
from marginalia_tui.services import lore, lore_lookup, spelling
from marginalia_tui.services.spelling import Speller
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

SECONDS = 2.0
"""How long a pattern may be looked for in the text of an editor."""
RowSpan = tuple[int, int]
"""Columns, from and to, in a line of a text."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for in the text of an editor."""

    pattern: str
    mode: str = "text"
    """`text`, `word` or `regex`."""
    case: bool = False
    """Whether capitals count."""


@dataclass(frozen=True, slots=True)
class Found:
    """The places of a query in a text: offsets, and columns by line for those that draw it."""

    text: str
    spans: tuple[tuple[int, int], ...]
    rows: dict[int, list[RowSpan]]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A stretch of a text and what is to stand there."""

    start: int
    end: int
    new: str
    count: int


@dataclass(frozen=True, slots=True)
class LoreFound:
    """An entry that a passage is about."""

    uuid: str
    name: str
    lorebook: str
    why: str
    text: str


class WritingDesk:
    """Answers for one studio; every method may take its time."""

    def __init__(self, studio: Studio) -> None:
        self._store = studio.store

    # Spelling

    def speller(self, book: str) -> Speller:
        """The speller of a book, its dictionary loaded.

        Raises:
            NotFound: the book is gone.
        """
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            right = spelling.right_words(space, space.get(Book, book))
        return Speller(right.language, right.names, right.own)

    def keep_word(self, book: str, word: str, right: bool) -> Speller:
        """Puts a word on the list of a book, or takes it off; the speller that follows.

        Raises:
            Locked: an agent holds the book.
        """
        spelling.keep_word(self._store, book, word, right)
        return self.speller(book)

    # Finding in the text of an editor

    def find(self, text: str, query: Query) -> Found:
        """The places of a query.

        Raises:
            Invalid: it is no regular expression.
            Refused: it takes too long.
        """
        spans = tuple(match.span() for match in _search(query).find(text))
        return Found(text, spans, by_row(text, spans))

    def replace(self, text: str, query: Query, new: str, at: int | None = None) -> Replaced | None:
        """What replaces the place that begins at `at`, or all of them; None when there is none.

        Raises:
            Invalid: the replacement names a group that the pattern does not have.
            Refused: it takes too long.
        """
        pieces: list[str] = []
        first = end = -1
        count = 0
        for match in _search(query).find(text):
            if at is not None and match.start() != at:
                continue
            pieces.append(text[end : match.start()] if count else "")
            pieces.append(expanded(match, new) if query.mode == "regex" else new)
            first = match.start() if not count else first
            end = match.end()
            count += 1
        return Replaced(first, end, "".join(pieces), count) if count else None

    # A passage of the page

    def look_up(self, book: str, passage: str) -> list[LoreFound]:
        """The entries of the lore of a book that a passage is about."""
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            tree = lore.read_tree(space, space.get(Book, book))
            rows = {row.uuid: row for row in lore.entry_rows(space, tree.lorebooks)}
        # A regular expression may take its time: no transaction is open meanwhile.
        matches = lore_lookup.look_up(rows.values(), passage, LoreFinder())
        with self._store.read() as tx:
            texts = lore.entry_texts(tx.space(LIBRARY), [each.entry for each in matches])
        found = []
        for each in matches:
            row = rows[each.entry]
            name = row.name or "(no name)"
            found.append(
                LoreFound(
                    each.entry, name, tree.lorebooks[row.lorebook].name, f"by its {each.why}", texts.get(each.entry, "")
                )
            )
        return found

    def passage(self, part: str, text: str, start: int, end: int) -> tuple[str, str, str]:
        """A passage with enough around it to be the only one: what stands before it, it, and what stands behind.

        Args:
            part: the part.
            text: its text as the passage was chosen in it.
            start: the passage, from.
            end: and to.

        Raises:
            Stale: the part has another text now.
            NotFound: the part is gone.
        """
        with self._store.read() as tx:
            now = tx.space(LIBRARY).get(Part, part).text
        if now != text:
            raise Stale("This part was changed elsewhere since you chose the passage: choose it again.")
        low, high = unique(text, start, end)
        return text[low:start], text[start:end], text[end:high]


def _search(query: Query) -> Search:
    return Search(query.pattern, query.mode, case_sensitive=query.case, seconds=SECONDS)


def by_row(text: str, spans: Sequence[tuple[int, int]]) -> dict[int, list[RowSpan]]:
    """The columns of spans in the lines of a text: one that goes over a line end has some in each."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    rows: dict[int, list[RowSpan]] = {}
    for start, end in spans:
        row = bisect_right(starts, start) - 1
        while row < len(starts) - 1 and starts[row] < end:
            low, high = max(start, starts[row]), min(end, starts[row + 1] - 1)
            rows.setdefault(row, []).append((low - starts[row], high - starts[row]))
            row += 1
    return rows
