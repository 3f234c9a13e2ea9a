"""Finds the regular expressions of lore entries, each within a limit of time and all of them within another.

A book may have thousands, written by anybody: one that hangs costs half a second, and the rest is still told.
"""

import time
from collections.abc import Sequence

from marginalia_tui.commands.patterns import Search
from marginalia_tui.domain.errors import Refused

EACH = 0.5
"""Seconds for one expression."""
ALL = 3.0
"""Seconds for those of all entries together."""


class LoreFinder:
    """The function `Find` of `domain.lore`, for one look at the lore of a book."""

    def __init__(self) -> None:
        self._searches: dict[str, Search] = {}
        self._left = ALL

    def __call__(self, pattern: str, texts: Sequence[str]) -> int | None:
        """The place of the first text in which the expression fits.

        Raises:
            Invalid: it is no regular expression.
            Refused: its time, or that of all, is used up.
        """
        if self._left <= 0:
            raise Refused(f"It was not looked for: the expressions before it took {ALL:g} seconds. Make them simpler.")
        began = time.monotonic()
        try:
            search = self._searches.get(pattern)
            if search is None:
                search = self._searches[pattern] = Search(pattern, "regex", dot_all=True, seconds=EACH)
            return next((place for place, text in enumerate(texts) if search.fits(text)), None)
        finally:
            self._left -= time.monotonic() - began
