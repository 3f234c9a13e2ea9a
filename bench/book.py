"""A large book in the hands of its author: opened, searched, measured, changed everywhere and changed back.

The reference of each is the plain work beside it: the rows that it needs, read by sqlite3 and looked through by
Python. The statistics are those of a year in which the author and an agent worked on every day, in this book and in
twenty others; what was written since is counted before, as the app does by itself.

    python -m bench book
"""

import gc
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from bench.books import Author
from bench.measure import Figure, keep, show
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.desk.book import BookDesk
from marginalia_tui.desk.panels import PanelDesk
from marginalia_tui.desk.statistics import StatisticsDesk
from marginalia_tui.domain.items import Book, Entry, Item, Lorebook, Part
from marginalia_tui.domain.statistics import MINUTE, Calendar, Side
from marginalia_tui.services.counting import Key, Sums, add_sums, count_all
from marginalia_tui.services.goals import set_book_goal, set_day_goal
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

PARTS, ENTRIES, LARGE = 2_000, 5_000, 20_000
HITS = 5_000
REPEATS = 7
BOOK = "book"
WORD = "lanternlight"
COUNTED = "count both changes"
"""Done in the background, so that nobody waits for it."""
LOOK_MILLISECONDS, CHANGE_MILLISECONDS = 200.0, 1_000.0


@contextmanager
def _studio(parts: int, entries: int) -> Iterator[Studio]:
    """A studio with one book, whose parts hold `WORD` so often that it stands in the book `HITS` times."""
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(Path(folder) / "home", pace=0)
        try:
            author = Author(3)
            times, more = divmod(HITS, parts)
            items: list[Item] = []
            for place, item in enumerate(author.book(BOOK, parts)):
                if isinstance(item, Book):
                    items.append(replace(item, lorebook="lore"))
                elif isinstance(item, Part):
                    items.append(replace(item, text=_with_word(item.text, times + (place <= more))))
            lore = [Lorebook(uuid="lore", name="Lore", created=1, scan_depth=1)]
            facts = [
                Entry(
                    uuid=f"entry-{number}",
                    lorebook="lore",
                    name=f"Fact {number}",
                    text=author.text()[:400],
                    filter=author.text().split()[number % 500],
                    look_back=2,
                    created=number + 2,
                )
                for number in range(entries)
            ]
            with studio.store.write(Act(actor="author", label="import", book=BOOK)) as tx:
                tx.space(LIBRARY).put([*lore, *items, *facts])
            _work_for_a_year(studio)
            studio.store.checkpoint()
            yield studio
        finally:
            studio.close()


def _work_for_a_year(studio: Studio) -> None:
    """Sums of 365 days for 21 books; 80 stretches of time a day, on one of the books."""
    count_all(studio.store)
    chance = random.Random(5)
    calendar = Calendar()
    books = [BOOK, *(f"another-{number}" for number in range(20))]
    sums: dict[Key, Sums] = {}
    stretches: list[dict[str, object]] = []
    kinds = (
        ("open", "me", 20, 15),
        ("editing", "me", 30, 8),
        ("generating", "agents", 20, 20),
        ("running", "agents", 10, 60),
    )
    for back in range(1, 366):
        day = date.today() - timedelta(days=back)
        for book in books:
            for side in Side:
                words, gone = chance.randrange(2_000), chance.randrange(500)
                sums[Key(book, day.isoformat(), side)] = Sums(words, gone, 6 * words, 6 * gone, 100, 600, 40_000, 2_000)
        morning = calendar.start_of(day) + 8 * 60 * MINUTE
        for kind, side_name, times, longest in kinds:
            for _ in range(times):
                began = morning + chance.randrange(14 * 60) * MINUTE
                ended = began + chance.randint(1, longest) * MINUTE
                row = {"kind": kind, "side": side_name, "book": chance.choice(books)}
                stretches.append({**row, "began": began, "ended": ended})
    with studio.store.write(Act(actor="studio", label="statistics")) as tx:
        add_sums(tx, sums)
        tx.connection.execute(insert(tables.activity), stretches)
        set_day_goal(tx, 500, date.today() - timedelta(days=365))
        set_book_goal(tx, tx.space(LIBRARY).get(Book, BOOK), 2_000_000, date.today() + timedelta(days=90), date.today())


def _with_word(text: str, times: int) -> str:
    words = text.split()
    for number in range(times):
        words.insert((number + 1) * len(words) // (times + 1), WORD)
    return " ".join(words)


def _plain(studio: Studio, query: str, look: Callable[[str], object] = len) -> None:
    with closing(sqlite3.connect(studio.store.path)) as connection:
        for row in connection.execute(query):
            look(str(row[-1]))


OUTLINE = "SELECT uuid, parent, created, title, words FROM part WHERE space_id = 1"
TEXTS = "SELECT t.body FROM part p JOIN text t ON t.hash = p.text WHERE p.space_id = 1"
LORE = "SELECT e.uuid, e.name, e.filter FROM entry e WHERE e.space_id = 1"
YEAR = (
    "SELECT a.began, a.ended, a.kind FROM activity a UNION ALL "
    "SELECT d.words_added, d.words_deleted, d.day FROM daily d WHERE d.day >= date('now', '-1 year')"
)
STATES = "SELECT j.seq, s.data FROM journal j JOIN state s ON s.hash = j.\"after\" WHERE j.kind = 'part'"


def _measure(studio: Studio) -> list[Figure]:
    scope = studio.scope(BOOK, AlwaysYes())
    with studio.store.read() as tx:
        last = tx.space(LIBRARY).get(Book, BOOK).active_leaf
    assert last is not None
    desk, panels, statistics = BookDesk(studio), PanelDesk(studio), StatisticsDesk(studio)
    # As the app does when it has opened: no collection walks through all that was imported.
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)
    year = f"{date.today() - timedelta(days=365)}..{date.today()}"

    def run(line: str) -> Any:
        return studio.commands.start_line(line, scope).future.result()

    def find(text: str) -> bool:
        return WORD in text.casefold()

    works: list[tuple[Figure, Callable[[], object], Callable[[], None]]] = [
        (Figure("open the book"), lambda: desk.look(BOOK), lambda: _plain(studio, OUTLINE)),
        (Figure("search all text"), lambda: run(f"/search-parts {WORD}"), lambda: _plain(studio, TEXTS, find)),
        (Figure("find occurrences"), lambda: run(f"/find-occurrences {WORD}"), lambda: _plain(studio, TEXTS, find)),
        (Figure("preview activation"), lambda: run(f"/preview-lore-activation {PARTS}"), lambda: _plain(studio, LORE)),
        (Figure("panel of lore"), lambda: panels.look("lore", last), lambda: _plain(studio, LORE)),
        (Figure("search the lore"), lambda: run(f"/search-lore {WORD}"), lambda: _plain(studio, LORE)),
        (
            Figure("statistics of a year"),
            lambda: statistics.look(None, year, lambda: False),
            lambda: _plain(studio, YEAR),
        ),
        (
            Figure("the same of the book"),
            lambda: statistics.look(BOOK, year, lambda: False),
            lambda: _plain(studio, YEAR),
        ),
        (Figure("who wrote the book"), lambda: run("/blame-book"), lambda: _plain(studio, STATES)),
        (
            Figure("replace 5,000 places"),
            lambda: run(f"/search-replace-parts {WORD} lampglow text 10000"),
            lambda: _plain(studio, TEXTS, find),
        ),
        (Figure("undo it"), lambda: run("/undo"), lambda: _plain(studio, STATES)),
        (Figure(COUNTED), lambda: count_all(studio.store), lambda: _plain(studio, TEXTS, len)),
    ]
    for _ in range(REPEATS):
        for figure, work, plain in works:
            figure.time(work)
            figure.time_plain(plain)
    return [figure for figure, _, _ in works]


def main() -> None:
    """Measures, prints the tables and the verdicts, and keeps the figures."""
    with _studio(PARTS, ENTRIES) as studio:
        figures = _measure(studio)
    with _studio(LARGE, 0) as studio:
        desk, large = BookDesk(studio), Figure(f"open {LARGE:,} parts")
        for _ in range(REPEATS):
            large.time(lambda: desk.look(BOOK))
            large.time_plain(lambda: _plain(studio, OUTLINE))
    title = f"A book of {PARTS:,} parts of 4 KB and {ENTRIES:,} entries of lore, milliseconds, {REPEATS} times"
    show(title, [*figures, large])
    verdicts = []
    for each in [*(each for each in figures if each.name != COUNTED), large]:
        slow = each.name in ("who wrote the book", "replace 5,000 places", "undo it", large.name)
        wanted = CHANGE_MILLISECONDS if slow else LOOK_MILLISECONDS
        word = "held  " if each.median <= wanted else "MISSED"
        verdicts.append(f"{word} {each.name}: {each.median:.0f} ms (wanted under {wanted:.0f} ms)")
    print("\n" + "\n".join(verdicts))
    print(f"\nKept in bench/out/{keep('book', {title: [*figures, large]}, verdicts).name}")
