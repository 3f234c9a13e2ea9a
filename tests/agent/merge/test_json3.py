"""Data are merged by place: what clashes is only what both changed at one place."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.agent.merge.json3 import Gone, merge_json

plain = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "b"])
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
)


@pytest.mark.parametrize(
    ("base", "agent", "book", "merged", "clean"),
    [
        ({"a": 1}, {"a": 2}, {"a": 1, "b": 3}, {"a": 2, "b": 3}, True),
        ({"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}, True),
        ({"a": 1}, {}, {"a": 2}, {"a": 2}, False),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "y": 1}}, {"a": {"x": 1, "y": 2}}, {"a": {"x": 2, "y": 2}}, True),
        ([1], [1, 2], [1, 3], [1, 3], False),
        ([1], [1, 2], [1], [1, 2], True),
        (Gone, {"a": 1}, {"b": 2}, {"b": 2, "a": 1}, True),
        (Gone, {"a": 1}, {"a": 2}, {"a": 2}, False),
        ({"a": 1}, {"a": True}, {"a": 1.0}, {"a": 1.0}, False),
        ({"a": 1}, {"a": 1.0}, {"a": 1}, {"a": 1.0}, True),
        (1, 2, 2, 2, True),
    ],
)
def test_examples(base: Any, agent: Any, book: Any, merged: Any, clean: bool) -> None:
    value, is_clean = merge_json(base, agent, book)
    assert is_clean is clean
    assert orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == orjson.dumps(merged, option=orjson.OPT_SORT_KEYS)


@given(values, values, values)
def test_one_side_alone_wins_and_both_sides_agree_on_what_is_clean(base: Any, agent: Any, book: Any) -> None:
    assert merge_json(base, agent, base) == (agent, True)
    assert merge_json(base, base, book) == (book, True)
    one, clean = merge_json(base, agent, book)
    two, clean_too = merge_json(base, book, agent)
    assert clean == clean_too
    if clean:
        assert orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(two, option=orjson.OPT_SORT_KEYS)
