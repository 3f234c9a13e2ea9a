"""The manual for agents: looked up by words, and read page by page. Read only, and the same for every run."""

from collections.abc import Mapping
from typing import Any

from marginalia_tui.agent.tools import READ_MANUAL_PAGE, SEARCH_MANUAL, from_argument, text_argument
from marginalia_tui.commands.registry import nearest
from marginalia_tui.commands.suites.help import hits_in
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.sentences import either, quoted
from marginalia_tui.resources import manual_page, manual_pages

HITS = 20
"""Places of an answer."""
LINES = 200
"""Lines of an answer; the longest are far from the limit of a result."""


def answer(name: str, arguments: Mapping[str, Any]) -> str:
    """What a model reads of the manual.

    Raises:
        Invalid, NotFound: the sentence says what would fit.
    """
    if name == SEARCH_MANUAL:
        return search_manual(text_argument(SEARCH_MANUAL, "query", arguments), from_argument(SEARCH_MANUAL, arguments))
    return read_manual_page(
        text_argument(READ_MANUAL_PAGE, "page", arguments), from_argument(READ_MANUAL_PAGE, arguments)
    )


def search_manual(query: str, start: int = 1) -> str:
    """The places that have all words of a query, from the one with the number `start`."""
    words = query.casefold().split()
    hits = [hit for page in manual_pages() for hit in hits_in(page, manual_page(page), words)]
    if not hits:
        raise NotFound(f"Nothing in the manual has {quoted(query)}. Its pages: {', '.join(manual_pages())}.")
    hits.sort(key=lambda hit: " ".join(words) not in hit.line.casefold())
    shown = hits[start - 1 : start - 1 + HITS]
    if not shown:
        raise Invalid(f"There are {len(hits)} places: pass a smaller number as from.")
    lines = [f"{hit.topic}: {hit.heading}\n  {hit.line}" for hit in shown]
    if start - 1 + HITS < len(hits):
        lines.append(f"({len(hits)} places; go on with from {start + HITS})")
    return "\n".join(lines)


def read_manual_page(page: str, start: int = 1) -> str:
    """A page, from the line with the number `start`."""
    wanted = page.strip().casefold().removesuffix(".md")
    if wanted not in manual_pages():
        near = nearest(wanted, manual_pages())
        hint = f"Did you mean {either(near)}? " if near else ""
        raise NotFound(f"The manual has no page {quoted(page)}. {hint}Its pages: {', '.join(manual_pages())}.")
    lines = manual_page(wanted).splitlines()
    shown = lines[start - 1 : start - 1 + LINES]
    if not shown:
        raise Invalid(f"The page has {len(lines)} lines: pass a smaller number as from.")
    if start - 1 + LINES < len(lines):
        shown.append(f"({len(lines)} lines; go on with from {start + LINES})")
    return "\n".join(shown)
