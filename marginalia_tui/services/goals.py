"""Goals: words a day, and how long a book is to be by when; and how far the author is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.items import Book
from marginalia_tui.domain.statistics import BookGoal, Calendar, DayGoal, Side, goal_on, needed, streak
from marginalia_tui.services.counting import count_rest, next_batch
from marginalia_tui.services.parts import story_tree
from marginalia_tui.services.statistics import words_by_day
from marginalia_tui.store import tables
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store, WriteTx

EVERY_BOOK = ""
"""The book of the goal for a day."""


@dataclass(frozen=True, slots=True)
class DayProgress:
    """The goal of today (0: none), the words that the author added today, and the days in a row that reached it."""

    goal: int
    written: int
    streak: int


@dataclass(frozen=True, slots=True)
class BookProgress:
    """A book and its goal. `words` are those of the branch that is read."""

    book: str
    title: str
    goal: BookGoal
    words: int
    written: int
    """Words that the author added today."""
    needed: int
    """Words a day from today on; 0 when the goal is reached or has no last day."""
    streak: int
    """Days in a row, since it was set, in which the author added as many words as were needed then."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the author is."""

    day: DayProgress
    books: Sequence[BookProgress]
    """The books that have a goal, by title."""


def set_day_goal(tx: WriteTx, words: int, today: date) -> None:
    """Sets the words for a day, from today on; 0 takes the goal away."""
    _set(tx, EVERY_BOOK, today, words, None, 0)


def set_book_goal(tx: WriteTx, book: Book, words: int, by: date | None, today: date) -> BookGoal:
    """Sets the words that the branch of a book which is read is to have; 0 takes the goal away."""
    goal = BookGoal(today, words, by, branch_words(tx, book))
    _set(tx, book.uuid, today, words, by, goal.start)
    tx.touch("book", book.uuid)
    return goal


def _set(tx: WriteTx, book: str, today: date, words: int, by: date | None, start: int) -> None:
    row = {"words": words, "by": None if by is None else by.isoformat(), "start": start}
    statement = insert(tables.goal).values(book=book, since=today.isoformat(), **row)
    tx.connection.execute(statement.on_conflict_do_update(index_elements=["book", "since"], set_=row))


def branch_words(tx: ReadTx, book: Book) -> int:
    """The words of the branch that is read."""
    tree = story_tree(tx.space(LIBRARY), book)
    return sum(tree.rows[uuid].words for uuid in tree.active)


def day_goals(tx: ReadTx) -> list[DayGoal]:
    """The goals for a day that were ever set, in order."""
    goal = tables.goal.c
    query = select(goal.since, goal.words).where(goal.book == EVERY_BOOK).order_by(goal.since)
    return [DayGoal(date.fromisoformat(since), words) for since, words in tx.connection.execute(query)]


def book_goals(tx: ReadTx) -> dict[str, BookGoal]:
    """Book -> its goal; those without one are left out."""
    goal = tables.goal.c
    query = select(tables.goal).where(goal.book != EVERY_BOOK).order_by(goal.since)
    newest = {row.book: row for row in tx.connection.execute(query)}
    return {
        book: BookGoal(
            date.fromisoformat(row.since), row.words, None if row.by is None else date.fromisoformat(row.by), row.start
        )
        for book, row in newest.items()
        if row.words
    }


def read_progress(
    store: Store,
    today: date,
    *,
    book: str | None = None,
    calendar: Calendar | None = None,
    between: Callable[[], None] = lambda: None,
) -> Progress:
    """How far the author is today.

    Args:
        store: the store.
        today: the day.
        book: the one book that is looked at beside the goal for a day; None: all that have a goal.
        calendar: the days; those of the machine's zone when None.
        between: called while what is not counted yet is counted; it may raise.
    """
    with store.read() as tx:
        days, whole = day_goals(tx), words_by_day(tx)
        goals = {of: goal for of, goal in book_goals(tx).items() if book in (None, of)}
        books = tx.space(LIBRARY).get_many(Book, goals)
        books = {of: each for of, each in books.items() if each.deleted is None}
        words = {of: branch_words(tx, each) for of, each in books.items()}
        written = {of: words_by_day(tx, of) for of in books}
        batch = next_batch(tx)
    for key, sums in count_rest(store, calendar or Calendar(), batch, between).items():
        if key.side is Side.ME:
            day = date.fromisoformat(key.day)
            for each in (whole, *([written[key.book]] if key.book in written else [])):
                each[day] = each.get(day, 0) + sums.words_added
    found = [_book_progress(each, goals[of], words[of], written[of], today) for of, each in books.items()]
    day_progress = DayProgress(goal_on(days, today), whole.get(today, 0), streak(whole, days, today))
    return Progress(day_progress, sorted(found, key=lambda each: (each.title.casefold(), each.book)))


def _book_progress(book: Book, goal: BookGoal, words: int, written: dict[date, int], today: date) -> BookProgress:
    return BookProgress(
        book=book.uuid,
        title=book.title,
        goal=goal,
        words=words,
        written=written.get(today, 0),
        needed=needed(goal.words - words, today, goal.by),
        streak=streak(written, [DayGoal(goal.since, goal.pace)], today),
    )
