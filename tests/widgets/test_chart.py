"""The chart of days: what a bar stands for, how high it is, what is seen without colours."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from marginalia_tui.widgets.chart import Bar, Chart, Series, bars_of, column_of, draw, nice_top
from tests.widgets.support import Host, run, seen

FIRST = date(2026, 3, 2)
"""A Monday."""
PLAIN = str.maketrans("\u2588\u2592\u2591\u2584\u2500", "#o.=-")
"""Letters for the blocks, so that a picture can be read here."""


def series(
    values: dict[int, tuple[int, int]], days: int, *, held: bool = False, before: int = 0, goal: int = 0
) -> Series:
    by_day = {FIRST + timedelta(days=number): each for number, each in values.items()}
    last = FIRST + timedelta(days=days - 1)
    return Series("Words added", ("you", "agents"), FIRST, last, by_day, held, before, goal)


def lines(shown: Series, width: int, height: int) -> list[str]:
    return ["".join(text for _, text in line).rstrip() for line in draw(shown, width, height)]


VALUES = st.dictionaries(st.integers(0, 800), st.tuples(st.integers(0, 500), st.integers(0, 500)), max_size=20)


@settings(max_examples=50)
@given(values=VALUES, days=st.integers(801, 5_000), most=st.integers(1, 200))
def test_bars_add_up_to_the_values_and_fit(values: dict[int, tuple[int, int]], days: int, most: int) -> None:
    shown = series(values, days)
    step, bars = bars_of(shown, most)
    assert len(bars) <= most
    starts = [bar.start for bar in bars]
    assert starts == sorted(set(starts))
    # Only years that have no room are left out.
    left = {day: each for day, each in shown.values.items() if step != "year" or day.year >= starts[0].year}
    assert sum(bar.below for bar in bars) == sum(below for below, _ in left.values())
    assert sum(bar.above for bar in bars) == sum(above for _, above in left.values())


@settings(max_examples=50)
@given(
    values=st.dictionaries(st.integers(0, 200), st.integers(0, 9).map(lambda each: (each, 0)), max_size=8),
    most=st.integers(5, 250),
)
def test_held_values_stay_until_the_next(values: dict[int, tuple[int, int]], most: int) -> None:
    shown = series(values, 201, held=True, before=7)
    _, bars = bars_of(shown, most)
    for bar, after in zip(bars, [*bars[1:], None], strict=True):
        end = after.start if after else shown.last + timedelta(days=1)
        known = [(day, each[0]) for day, each in shown.values.items() if day < end]
        assert bar.below == (max(known)[1] if known else 7)


@pytest.mark.parametrize(
    ("days", "most", "step", "first"),
    [
        (30, 30, "day", FIRST),
        (31, 30, "week", FIRST),
        (400, 30, "month", date(2026, 3, 1)),
        (4_000, 30, "year", date(2026, 1, 1)),
    ],
)
def test_the_shortest_step_that_fits(days: int, most: int, step: str, first: date) -> None:
    found, bars = bars_of(series({}, days), most)
    assert (found, bars[0].start) == (step, first)


@given(value=st.integers(0, 10**9))
def test_the_scale_ends_at_a_round_number_just_above(value: int) -> None:
    top = nice_top(value)
    assert top >= max(value, 2) and str(top).rstrip("0") in ("1", "2", "5")
    assert top <= 2 or top <= value * 2.5


@given(below=st.integers(0, 300), above=st.integers(0, 300), top=st.integers(600, 5_000), rows=st.integers(1, 30))
def test_what_is_there_is_seen(below: int, above: int, top: int, rows: int) -> None:
    cells = column_of(Bar(FIRST, below, above), top, rows)
    kinds = [kind for kind, _ in cells]
    assert len(cells) == rows
    if below:
        assert kinds[0] in ("below", "split")
    if above:
        assert "above" in kinds or "split" in kinds
    else:
        assert set(kinds) <= {"below", "space"}
    # From the bottom up, with nothing between.
    order = {"below": 0, "split": 1, "above": 2, "space": 3}
    assert [order[kind] for kind in kinds] == sorted(order[kind] for kind in kinds)
    halves = sum(
        {"\u2588": 2, "\u2592": 2, "\u2584": 1 + (kind == "split"), "\u2591": 1, " ": 0}[sign] for kind, sign in cells
    )
    assert abs(halves - (below + above) * rows * 2 / top) <= 2


def test_a_week_is_drawn_with_its_scale_its_days_and_its_goal() -> None:
    shown = series({0: (50, 0), 1: (100, 0), 2: (0, 100), 3: (50, 50), 5: (1, 0)}, 7, goal=75)
    drawn = [line.translate(PLAIN) for line in lines(shown, 46, 6)]
    assert drawn == [
        "Words added  by each day  # you  o agents  - goal 75",
        "100 ------#####-ooooo-ooooo-------------------",
        " 50       ##### ooooo ooooo",
        "    ##### ##### ooooo #####",
        "  0 ##### ##### ooooo #####       =====",
        "    02 Mar      04 Mar      06 Mar      08 Mar",
    ]


@pytest.mark.parametrize("size", [(1, 1), (5, 2), (12, 3), (20, 40)])
def test_any_room_is_drawn(size: tuple[int, int]) -> None:
    drawn = lines(series({3: (10, 5)}, 365), *size)
    assert 1 <= len(drawn) <= max(1, size[1])


def test_the_widget_shows_what_it_is_given_and_follows_its_size() -> None:
    chart = Chart()

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        assert not any(line.strip() for line in seen(app))
        chart.show(series({0: (40, 0), 6: (0, 40)}, 7))
        await pilot.pause()
        assert seen(app)[0].startswith("Words added  by each day  \u2588 you  \u2592 agents")
        assert any("\u2588\u2588" in line and "\u2592\u2592" in line for line in seen(app)[1:])
        await pilot.resize_terminal(30, 8)
        await pilot.pause()
        assert seen(app)[7].split() == ["02", "Mar", "05", "Mar", "08", "Mar"]

    run(lambda: [chart], scenario, size=(60, 12))
