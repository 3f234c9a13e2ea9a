"""Finding words in a manuscript, whatever Markdown, quotes, dashes and case stand between them."""

import re
from typing import NamedTuple


class Hit(NamedTuple):
    """A passage of the source that was found."""

    start: int
    end: int


_QUOTES = {"'": "['’‘‚‹›]", '"': '["“”„«»]', "-": "[-‐‑–—]"}
for _same in ("’‘", "“”", "–—"):
    for _each in _same:
        _QUOTES[_each] = _QUOTES["'" if _same == "’‘" else '"' if _same == "“”" else "-"]


def pattern(query: str) -> re.Pattern[str]:
    """Words with whatever Markdown puts between them, quotes and dashes of any kind, no case."""
    words = ["".join(_QUOTES.get(sign) or re.escape(sign) for sign in word) for word in query.split()]
    return re.compile(r"[*_`]*[\s>]+[*_`]*".join(words), re.IGNORECASE)


def find_all(query: str, source: str) -> list[Hit]:
    """Every place of a source that has the words of a query, in order; none for an empty query."""
    return [Hit(*found.span()) for found in pattern(query).finditer(source)] if query.strip() else []
