"""A book from an EPUB: the pages of its spine in order, parted where its table of contents parts them.

Protected books are refused. A page without a title of its own goes on with the part before it, as programs that cut
books into many files mean it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.images import REFERENCE
from marginalia_tui.domain.words import find_words
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.blocks import Block, text_of
from marginalia_tui.services.exchange.chapterlines import chapter_line
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.epub_notes import find_notes
from marginalia_tui.services.exchange.epub_package import (
    Entry,
    Package,
    page_text,
    read_contents,
    read_package,
    read_styles,
    refuse_protected,
)
from marginalia_tui.services.exchange.epub_pictures import headings_first, inside_book, is_cover, mark_of
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.footnotes import Note, with_notes
from marginalia_tui.services.exchange.from_html import Page, read_root
from marginalia_tui.services.exchange.inline import collapse
from marginalia_tui.services.exchange.manuscript import (
    MAX_TITLE,
    Chapter,
    Manuscript,
    one_line,
    trim_blank_lines,
)
from marginalia_tui.services.exchange.markdown import LARGE_PART, read_markdown
from marginalia_tui.services.exchange.markup import parse_markup
from marginalia_tui.services.exchange.pictures import Gathered, read_entry

_PARTS = frozenset(
    ("chapter", "part", "prologue", "epilogue", "preface", "foreword", "introduction", "afterword", "dedication")
    + ("epigraph", "interlude", "volume")
)


@dataclass(slots=True)
class _Draft:
    """A part that is being put together."""

    contents_title: str
    blocks: list[Block] = field(default_factory=list)


def read_epub(path: Path, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a book from an EPUB; also what the author should know about it.

    Args:
        path: the file.
        level: how deep lines of the table of contents part a page; None picks.

    Raises:
        Invalid: it is no EPUB, or damaged.
        Refused: it is protected, or built like an attack.
    """
    with Archive(path) as archive:
        name = shown(path)
        refuse_protected(archive, name)
        package = read_package(archive, name)
        contents: dict[str, list[Entry]] = {}
        for entry in read_contents(archive, package, name):
            # A line that only says what the book is called is no title of a part.
            plain = replace(entry, title="") if entry.title == one_line(package.title) else entry
            contents.setdefault(entry.name, []).append(plain)
        styles = read_styles(archive, package)
        roots, missing, declaring = _read_pages(archive, package, name)
        find_notes(roots, lambda page, href: inside_book(archive, page, href))
        drafts: list[_Draft] = []
        pictures = 0
        gathered = Gathered(partial(read_entry, archive))
        front = package.items[package.cover].name if package.cover in package.items else ""
        cover = gathered.cover(front) if front else None
        found: dict[str, Note] = {}
        for page_name, root in roots.items():
            entries = contents.get(page_name, [])
            anchors = [entry.anchor for entry in entries if entry.anchor]
            mark = partial(mark_of, gathered, archive, page_name)
            page = read_root(root, styles, anchors, mark, ours=package.ours)
            pictures += page.pictures
            found |= page.notes
            if front and is_cover(page, front, gathered):
                continue
            page.blocks = headings_first(page.blocks)
            if _is_title_page(page, package, first=not drafts and len(roots) > 1):
                continue
            if any(block.text for block in page.blocks):
                known = bool(contents)
                _add_page(drafts, page.blocks, entries, level, starts=bool(page.kinds & _PARTS) or not known)
            elif package.ours:
                drafts.append(_Draft(""))
    drafted = [chapter for draft in drafts for chapter in _chapters(draft, package.ours)]
    chapters = with_notes(drafted, found, gather=not package.ours)
    chapters = tuple(
        chapter for chapter, before in zip(chapters, drafted, strict=True) if chapter.text or "\0" not in before.text
    )
    chapters = tuple(gathered.settle(chapter) for chapter in chapters)
    notes = (*gathered.notes(pictures), *_notes(missing, declaring))
    manuscript = Manuscript(
        title=one_line(package.title),
        author=one_line(package.author),
        language=one_line(package.language),
        description=package.description,
        chapters=chapters,
        cover=cover,
    )
    return manuscript, notes


def _is_title_page(page: Page, package: Package, *, first: bool) -> bool:
    """Whether a page says no more than who wrote which book, which is known."""
    if "titlepage" not in page.kinds and (package.ours or not first):
        return False
    words = {word for block in page.blocks for word in find_words(REFERENCE.sub("", block.text))}
    return package.ours or words <= set(find_words(f"{package.title} {package.author}"))


def _read_pages(archive: Archive, package: Package, name: str) -> tuple[dict[str, Any], int, int]:
    """The pages of the spine, parsed, by name; how many are missing, and how many declare entities.

    Raises:
        Invalid: they are larger than a book.
    """
    roots: dict[str, Any] = {}
    missing, declaring, size = 0, 0, 0
    for item in dict.fromkeys(package.spine):
        if item.name not in archive:
            missing += 1
            continue
        text = clean(page_text(archive, item.name, name))
        size += len(text)
        if size > files.MAX_TEXT_BYTES:
            raise Invalid(f"The pages of {name} are larger than {files.megabytes(files.MAX_TEXT_BYTES)}.")
        declaring += "<!ENTITY" in text
        if (root := parse_markup(text, name)) is not None:
            roots[item.name] = root
    return roots, missing, declaring


def _notes(missing: int, declaring: int) -> tuple[str, ...]:
    found = []
    if declaring:
        found.append(f"Left as they are written: the entities that {declaring:,} page(s) declare; none was looked up.")
    if missing:
        found.append(f"The book names {missing:,} page(s) that it does not hold: it may be damaged.")
    return tuple(found)


def _add_page(
    drafts: list[_Draft], blocks: Sequence[Block], entries: list[Entry], level: int | None, *, starts: bool
) -> None:
    """Adds the blocks of a page, to a new part where the contents, a heading or the page itself begin one."""
    title = next((entry.title for entry in entries if not entry.anchor), None)
    first = next(block for block in blocks if block.text)
    if starts or title is not None or first.heading or not drafts:
        drafts.append(_Draft(title or ""))
    borders = _borders_inside(blocks, entries, level)
    for block in blocks:
        entry = borders.get(block.anchor) if block.anchor else None
        if entry is not None:
            if any(each.text for each in drafts[-1].blocks):
                drafts.append(_Draft(entry.title))
            else:
                drafts[-1].contents_title = drafts[-1].contents_title or entry.title
        elif block.text:
            drafts[-1].blocks.append(block)


def _borders_inside(blocks: Sequence[Block], entries: list[Entry], level: int | None) -> dict[str, Entry]:
    """The anchors within a page at which a part begins: the upper lines of the contents, deeper ones in a long page."""
    anchored = {entry.anchor: entry for entry in reversed(entries) if entry.anchor}
    if not anchored:
        return {}
    depths = sorted(entry.depth for entry in anchored.values())
    limit = level or depths[0]
    size = sum(len(block.text.encode()) for block in blocks)
    if level is None:
        for depth in sorted(set(depths)):
            limit = depth
            if size <= LARGE_PART * sum(each <= depth for each in depths):
                break
    return {anchor: entry for anchor, entry in anchored.items() if entry.depth <= limit}


def _chapters(draft: _Draft, ours: bool) -> list[Chapter]:
    """The parts of a draft, mostly one: its first heading is the title, else the line of the contents is."""
    blocks = draft.blocks
    title = draft.contents_title
    if blocks and blocks[0].heading:
        title, used = _title_of(blocks[:1] if ours else blocks)
        blocks = blocks[used:]
    text = trim_blank_lines(text_of(blocks))
    whole = Chapter(title=title, text=text)
    if ours or len(text.encode()) <= 2 * LARGE_PART or not any(block.heading for block in blocks):
        return [whole] if ours or title or text else []
    parts = read_markdown(text).chapters
    if len(parts) < 2:
        return [whole]
    if parts[0].title:
        return [Chapter(title=title), *parts] if title else list(parts)
    return [replace(parts[0], title=title), *parts[1:]]


def _title_of(blocks: Sequence[Block]) -> tuple[str, int]:
    """The title that the first headings give, and how many they are: `IV` and `The Inn` make one title."""
    first = blocks[0].text[blocks[0].heading :].strip()
    if len(blocks) > 1 and blocks[1].heading and len(blocks[1].text) < MAX_TITLE // 2:
        label = chapter_line(first)
        second = blocks[1].text[blocks[1].heading :].strip()
        bare = label is not None and (label.kind in ("roman", "number") or re.fullmatch(r"\w+\.?\s[\w-]+\.?", first))
        if bare and chapter_line(second) is None:
            return collapse(f"{first.rstrip('.:')}: {second}"), 2
    return collapse(first), 1
