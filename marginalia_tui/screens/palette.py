"""The palette offers the commands of the registry: one that takes arguments opens in the bar, the others run."""

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.bar import Offer


class CommandProvider(Provider):
    """The commands; none before the studio is open."""

    def _offers(self) -> "list[Offer]":
        host = self.app
        return [] if not isinstance(host, Host) or host.desk is None else host.desk.bar.offers()

    def _do(self, offer: "Offer") -> None:
        host = self.app
        assert isinstance(host, Host)
        if offer.takes_arguments:
            host.call_after_refresh(host.open_bar, f"/{offer.name} ")
        else:
            host.run_line(f"/{offer.name}")

    async def discover(self) -> Hits:
        """All of them."""
        for offer in self._offers():
            yield DiscoveryHit(f"/{offer.name}", partial(self._do, offer), help=offer.description)

    async def search(self, query: str) -> Hits:
        """Those whose name or title fits."""
        matcher = self.matcher(query)
        for offer in self._offers():
            words = f"/{offer.name}  {offer.title}"
            if (score := matcher.match(words)) > 0:
                yield Hit(score, matcher.highlight(words), partial(self._do, offer), help=offer.description)
