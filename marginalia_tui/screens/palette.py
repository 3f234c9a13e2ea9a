"""The palette offers the commands of the registry: one that takes arguments opens in the bar, the others run.

Beside the name stand what a command does to the book and the key that does the same here.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.bar import Offer

KEYS = {
    "branch-part": "book.branch",
    "create-part": "book.add",
    "delete-part": "book.delete",
    "get-book-info": "book.facts",
    "help": "app.help",
    "list-branches": "book.branches",
    "redo": "book.redo",
    "search-parts": "book.find",
    "switch-branch": "book.branches",
    "undo": "book.undo",
}
"""Command -> the id of the key that does the same, or leads to it."""
IN_DESCRIPTION = 0.1
"""The score of a command that has the words in its description only."""


class CommandProvider(Provider):
    """The commands; none before the studio is open."""

    def _offers(self) -> "list[Offer]":
        host = self.app
        return [] if not isinstance(host, Host) or host.desk is None else host.desk.bar.offers()

    def _keys(self) -> Mapping[str, str]:
        """The keys that work on the screen from which the palette was opened, by their ids."""
        found: dict[str, str] = {}
        for active in self.screen.active_bindings.values():
            if active.binding.id and active.enabled:
                found.setdefault(active.binding.id, self.app.get_key_display(active.binding))
        return found

    def _do(self, offer: "Offer") -> None:
        host = self.app
        assert isinstance(host, Host)
        if offer.takes_arguments:
            host.call_after_refresh(host.open_bar, f"/{offer.name} ")
        else:
            host.run_line(f"/{offer.name}")

    async def discover(self) -> Hits:
        """All of them."""
        keys = self._keys()
        for offer in self._offers():
            shown = _shown(Content(_words(offer)), offer, keys)
            yield DiscoveryHit(shown, partial(self._do, offer), text=_words(offer), help=offer.description)

    async def search(self, query: str) -> Hits:
        """Those whose name or title fits, then those whose description has the words."""
        matcher, keys = self.matcher(query), self._keys()
        wanted = query.casefold().split()
        for offer in self._offers():
            words = _words(offer)
            score = matcher.match(words)
            if score <= 0 and all(word in offer.description.casefold() for word in wanted):
                score = IN_DESCRIPTION
            if score > 0:
                shown = _shown(matcher.highlight(words), offer, keys)
                yield Hit(score, shown, partial(self._do, offer), text=words, help=offer.description)


def _words(offer: "Offer") -> str:
    return f"/{offer.name}  {offer.title}"


def _shown(words: Content, offer: "Offer", keys: Mapping[str, str]) -> Content:
    """The name, what the command does, and its key."""
    does = f"  {offer.severity}" + (", asks first" if offer.asks else "")
    key = keys.get(KEYS.get(offer.name, ""), "")
    does_style = "$removed" if offer.asks else "$muted"
    return words.append(Content.styled(does, does_style)).append(Content.styled(f"  {key}" if key else "", "$accent"))
