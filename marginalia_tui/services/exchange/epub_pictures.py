"""The pictures of the pages of an EPUB: where they are in the book, the page that only shows the cover."""

import posixpath
from urllib.parse import unquote

from marginalia_tui.domain.images import mentioned
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.blocks import Block
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.from_html import Page
from marginalia_tui.services.exchange.pictures import Gathered, is_picture


def inside_book(archive: Archive, page: str, href: str) -> tuple[str, str] | None:
    """The page and the anchor that an address in a page means, None when it leads elsewhere."""
    where, _, anchor = unquote(href).partition("#")
    if not where:
        return page, anchor
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(page), where))
    return None if ":" in where or joined.startswith(("/", "..")) else (archive.written_as(joined), anchor)


def mark_of(gathered: Gathered, archive: Archive, page: str, source: str, words: str) -> str:
    """The mark of a picture that a page names; empty when it is left out."""
    found = inside_book(archive, page, source)
    if found is None:
        gathered.left["not in the file"] += 1
        return ""
    return gathered.mark(found[0], clean(words))


def is_cover(page: Page, cover: str, gathered: Gathered) -> bool:
    """Whether a page shows the cover, the picture at a place of the archive, and nothing else."""
    texts = [block.text for block in page.blocks if block.text]
    if len(texts) != 1 or not is_picture(texts[0]):
        return False
    return mentioned(texts[0]) == mentioned(gathered.mark(cover, ""))


def headings_first(blocks: list[Block]) -> list[Block]:
    """The blocks with a picture that stands above the first headings of a page below them, so that they are titles."""
    start = next((place for place, block in enumerate(blocks) if block.text and not is_picture(block.text)), 0)
    if not blocks or not blocks[start].heading:
        return blocks
    end = next((place for place in range(start, len(blocks)) if not blocks[place].heading), len(blocks))
    above = [block for block in blocks[:start] if block.text]
    return [block for block in blocks[:start] if not block.text] + blocks[start:end] + above + blocks[end:]
