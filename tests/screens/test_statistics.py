"""The screen of statistics: figures, charts, other days, goals."""

from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from marginalia_tui.domain.statistics import MINUTE, Calendar, Side
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.edit import EditScreen
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.statistics import StatisticsScreen
from marginalia_tui.services import goals
from marginalia_tui.services.counting import Key, Sums, add_sums
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Form
from tests.screens.rig import LAMP, FixedClock, Rig, add_book, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing

TODAY = date(2026, 1, 1)
"""The day of the fixed clock."""


def work(home: Path, book: str, today: date = TODAY) -> None:
    """A month of work on a book."""
    with closing(Store.open(home)) as store, store.write(Act(actor="studio", label="statistics")) as tx:
        for back in range(1, 30):
            day = today - timedelta(days=back)
            mine = Sums(
                words_added=back * 97 % 700, words_deleted=back * 31 % 90, chars_added=back * 500, words_grown=300
            )
            add_sums(tx, {Key(book, day.isoformat(), Side.ME): mine})
            start = Calendar().start_of(day) + 8 * 60 * MINUTE
            rows = [("open", "me", 0, 95), ("editing", "me", 5, back * 13 % 60 + 6)]
            if back % 3 == 0:
                theirs = Sums(words_added=back * 41 % 300, prompt_tokens=back * 40_000, completion_tokens=back * 900)
                add_sums(tx, {Key(book, day.isoformat(), Side.AGENTS): theirs})
                rows += [("running", "agents", 20, 20 + back * 7), ("generating", "agents", 20, 20 + back * 3)]
            for kind, side, one, two in rows:
                times = {"began": start + one * MINUTE, "ended": start + min(two, one + 60) * MINUTE}
                tx.connection.execute(insert(tables.activity).values(kind=kind, side=side, book=book, **times))
        goals.set_day_goal(tx, 250, today - timedelta(days=20))


def test_the_figures_of_the_book_and_of_all_books(home: Path) -> None:
    book = lamp_home(home, FixedClock())
    today = date.today()
    work(home, book, today)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("number_sign")
        screen = await rig.reach(StatisticsScreen)
        await rig.until(lambda: rig.sees("Last 7 days"))
        assert [row.cells[0] for row in screen.table.rows][:2] == ["all", f"{today - timedelta(days=1):%a %Y-%m-%d}"]
        assert screen.table.rows[1].cells[1] == "97" and rig.sees("Words added  by each day")
        # Other days, by name and by date.
        await rig.press("r")
        await rig.until(lambda: rig.sees("Last 30 days"))
        assert len(screen.table.rows) == 30
        await rig.press("R", "d")
        await rig.reach(Ask)
        await rig.press("ctrl+a")
        await rig.write(" soon")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("no range of days"))
        await rig.press("escape", "d")
        ask = await rig.reach(Ask)
        ask.query_one("#ask-line").text = f"{today - timedelta(days=3)}..2999-12-31"  # type: ignore[attr-defined]
        await rig.press("enter")
        await rig.until(lambda: len(screen.table.rows) == 4)
        # Other charts.
        for title in ("Words deleted", "Words of the book  at the end of each day", "Minutes", "Tokens", "Words added"):
            await rig.press("p")
            await rig.until(lambda title=title: rig.sees(title))  # type: ignore[misc]
        await rig.press("P")
        await rig.until(lambda: rig.sees("Tokens  by each day"))
        # The book alone has a goal of its own, and no list of books.
        await rig.press("b")
        assert screen.table.columns[0].title == "Day"
        await rig.press("number_sign")
        await rig.reach(BookScreen)
        await rig.press("L", "number_sign")
        whole = await rig.reach(StatisticsScreen)
        await rig.until(lambda: len(whole.table.rows) == 4)
        await rig.press("b", "down")
        assert [row.cells[0] for row in whole.table.rows] == ["all", "The Lamp"]
        await rig.press("enter")
        await rig.until(lambda: rig.app.screen is not whole and rig.sees("The Lamp > statistics"))
        await rig.press("escape", "escape")
        await rig.reach(LibraryScreen)

    play(home, steps, size=(120, 40))


def test_goals_are_set_on_the_screen_and_what_is_typed_counts(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        activity = rig.studio.activity
        await rig.until(lambda: activity._looked_at == rig.app.opened is not None)
        await rig.press("number_sign")
        await rig.reach(StatisticsScreen)
        await rig.until(lambda: rig.sees("No goals: w sets words a day, t how long the book is to be."))
        await rig.press("w")
        await rig.reach(Form)
        await rig.write("4")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("0%  Today 0 of 4 words"))
        await rig.press("t")
        await rig.reach(Form)
        await rig.write("100")
        await rig.press("enter")
        await rig.write("2020-01-01")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("This day is over."))
        await rig.press(*["backspace"] * 10)
        await rig.write("2999-12-31")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("38%  The book: 38 of 100 words, 1 a day until 2999-12-31"))
        await rig.press("escape", "e")
        await rig.reach(EditScreen)
        assert not any(kind == "editing" for kind, _ in activity._open)
        await rig.write("Five words are written here. ")
        assert any(kind == "editing" for kind, _ in activity._open)
        await rig.press("ctrl+s", "escape", "number_sign")
        await rig.reach(StatisticsScreen)
        await rig.until(lambda: rig.sees("Today 5 of 4 words, 1 day in a row"))
        await rig.press("A")
        await rig.until(lambda: activity._looked_at is None)

    play(home, steps)


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (40, 12)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ["book", "library"])
def test_picture(home: Path, snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    clock = FixedClock()
    book = lamp_home(home, clock)
    work(home, book)
    with closing(Store.open(home, clock=clock)) as store:
        other = add_book(store, "A Short History of the Harbour", LAMP[:2])
        with store.write(Act(actor="studio", label="statistics")) as tx:
            key = Key(other, (TODAY - timedelta(days=2)).isoformat(), Side.ME)
            add_sums(tx, {key: Sums(words_added=120, words_grown=120), key._replace(book="gone"): Sums(words_added=40)})
    keys = ("2", "enter", "number_sign", "r") if name == "book" else ("number_sign", "b")
    with posing(home) as app:
        assert snap_compare(app, terminal_size=size, run_before=before(app, *keys))
