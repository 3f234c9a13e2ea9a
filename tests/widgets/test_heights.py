from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.widgets.heights import HeightIndex

HEIGHTS = st.lists(st.integers(0, 9), max_size=60)


@given(HEIGHTS, st.lists(st.tuples(st.integers(0, 59), st.integers(0, 9)), max_size=20), st.integers(0, 60))
def test_sums_are_those_of_a_list(heights: list[int], changes: list[tuple[int, int]], cut: int) -> None:
    index = HeightIndex(heights)
    model = list(heights)
    for place, height in changes:
        if place < len(model):
            assert index.set(place, height) == height - model[place]
            model[place] = height
    cut = min(cut, len(model))
    index.truncate(cut)
    del model[cut:]
    index.append(3)
    model.append(3)
    assert index.total == sum(model)
    assert [index.start(place) for place in range(len(model) + 1)] == [
        sum(model[:place]) for place in range(len(model) + 1)
    ]
    owners = [(place, line) for place, height in enumerate(model) for line in range(height)]
    assert [index.find(line) for line in range(index.total)] == owners


def test_empty() -> None:
    assert HeightIndex().find(5) == (0, 0)
    assert HeightIndex([0, 0]).find(0) == (1, 0)
