"""The plot of values by number: which columns there are, and how high they stand."""

from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.widgets.measure import Measure
from marginalia_tui.widgets.plot import FULL, RULE, SHADE, columns_of, draw, label, top_of
from marginalia_tui.widgets.text import cells


def _lines(measure: Measure, width: int = 40, height: int = 8) -> list[str]:
    return ["".join(text for _, text in line).rstrip() for line in draw(measure, width, height)]


def test_two_values_stand_on_each_other() -> None:
    shown = _lines(Measure("Seconds", ("model", "calls"), [(10, 0), (5, 5), (0, 2.5)]), height=6)
    assert shown == [
        f"Seconds  {FULL} model  {SHADE} calls",
        f"10 {FULL * 3} {SHADE * 3}",
        f"   {FULL * 3} {SHADE * 3}",
        f"   {FULL * 3} {FULL * 3}",
        f" 0 {FULL * 3} {FULL * 3} {SHADE * 3}",
        "   1       3",
    ]


def test_a_mark_stands_beside_its_value() -> None:
    shown = _lines(
        Measure("Context", ("reported", "estimated"), [(1_000, 900), (0, 100), (500, 0)], marks=True), height=6
    )
    assert shown[1:5] == [
        f"1,000 {RULE * 3}",
        f"      {FULL * 3}",
        f"      {FULL * 3}     {FULL * 3}",
        f"    0 {FULL * 3} {RULE * 3} {FULL * 3}",
    ]


def test_no_peak_is_lost_where_many_points_share_a_column() -> None:
    measure = Measure("Seconds", ("model", "calls"), [(1.0, 0.0)] * 99 + [(0.0, 70.0)] + [(1.0, 0.0)] * 100)
    columns = columns_of(measure, 50)
    assert (len(columns.values), columns.firsts[:3], columns.pace) == (50, [0, 4, 8], 1)
    assert [place for place, pair in enumerate(columns.values) if pair == (0.0, 70.0)] == [24]
    assert _lines(measure, 54)[0].endswith("the most of 4 in a column")


def test_nothing_is_told_in_words() -> None:
    assert _lines(Measure("Seconds", ("a", "b"), [], empty="No answer yet.")) == [
        f"Seconds  {FULL} a  {SHADE} b",
        "No answer yet.",
    ]
    assert len(_lines(Measure("Seconds", ("a", "b"), [(0, 0)]), height=1)) == 1


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=60),
    st.booleans(), st.integers(10, 60), st.integers(3, 12),
)  # fmt: skip
def test_every_line_fits(values: list[tuple[float, float]], marks: bool, width: int, height: int) -> None:
    measure = Measure("T", ("a", "b"), values, marks)
    shown = draw(measure, width, height)
    assert len(shown) == height
    for line in shown[1:-1]:
        assert sum(cells(text) for _, text in line) <= max(width, len(label(top_of(2e6))) + 2)
    most = max(max(pair) if marks else sum(pair) for pair in values)
    assert top_of(most) >= most * 0.99


def test_the_scale_ends_at_a_round_value() -> None:
    tops = [label(top_of(value)) for value in (0, 0.1, 0.11, 0.3, 1, 3, 99, 101, 20_000)]
    assert tops == ["0.1", "0.1", "0.2", "0.5", "1", "5", "100", "200", "20,000"]
