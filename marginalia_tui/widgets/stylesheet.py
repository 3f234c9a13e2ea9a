"""The stylesheet of the app, which parses a piece of CSS once for each set of colours.

Textual forgets what it parsed whenever a screen brings a file of its own or a theme is chosen again, and keeps fewer
pieces than the studio has: going to a mode for the first time would parse the styles of all widgets anew, which
takes longer than everything else that is done then.
"""

from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

_Pieces = LRUCache[tuple[str, CSSLocation, bool, int, str], list[RuleSet]]

_parsed: LRUCache[frozenset[tuple[str, str]], _Pieces] = LRUCache(16)
"""What was parsed with some colours. Nobody changes a rule, so every stylesheet may have it."""


def _pieces(colours: dict[str, str]) -> _Pieces:
    key = frozenset(colours.items())
    pieces = _parsed.get(key)
    if pieces is None:
        pieces = _parsed[key] = LRUCache(1_024)
    return pieces


class KeptStylesheet(Stylesheet):
    """A stylesheet that keeps what it parsed."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._pieces = _pieces(variables)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Textual: the colours of another theme."""
        super().set_variables(variables)
        self._pieces = _pieces(variables)

    def reparse(self) -> None:
        """Textual: reads the rules again, with the colours of now."""
        self.parse()

    def _parse_rules(
        self,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        piece = (css, read_from, is_default_rules, tie_breaker, scope)
        rules = self._pieces.get(piece)
        if rules is None:
            rules = self._pieces[piece] = super()._parse_rules(css, read_from, is_default_rules, tie_breaker, scope)
        return rules
