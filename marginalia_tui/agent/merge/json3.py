"""The three-way merge of JSON by place: objects key by key, everything else whole."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import orjson

JsonMerge = Callable[[Any, Any, Any], tuple[Any, bool]]
"""Base, agent's, book's -> what comes out, and whether it came out without a conflict."""
NO_MERGES: Mapping[str, JsonMerge] = MappingProxyType({})
"""Everything is merged place by place."""
Gone: Any = object()
"""Stands for a key that is not there."""


def merge_json(base: Any, agent: Any, book: Any) -> tuple[Any, bool]:
    """Merges two changes of the same data.

    Args:
        base: the data before both changes; `Gone` when there was none, and so for the others.
        agent: as the agent left it.
        book: as it stands in the book.

    Returns:
        The merged data, and whether it is clean: no place was changed by both to different values. At a place where
        it is not, the merged data hold the book's value.
    """
    if _same(agent, book) or _same(base, agent):
        return book, True
    if _same(base, book):
        return agent, True
    if not (isinstance(agent, dict) and isinstance(book, dict)):
        return book, False
    before = base if isinstance(base, dict) else {}
    merged, clean = {}, True
    for key in dict.fromkeys((*book, *agent)):
        value, of_key = merge_json(before.get(key, Gone), agent.get(key, Gone), book.get(key, Gone))
        clean = clean and of_key
        if value is not Gone:
            merged[key] = value
    return merged, clean


def _same(one: Any, two: Any) -> bool:
    """Equality of JSON, for which 1, 1.0 and true are three values."""
    if one is Gone or two is Gone:
        return one is two
    return orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(two, option=orjson.OPT_SORT_KEYS)
