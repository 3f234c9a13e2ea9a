"""A book in one Markdown file: chapters by headings, fields of the book in a front matter.

Writing is checked by reading: when headings alone would not give the same parts back (untitled parts, headings
inside a part), each part gets a mark, a comment line that no reader shows.
"""

from collections.abc import Sequence
from dataclasses import replace

from marginalia_tui.domain.anchors import Anchors
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.chapterlines import chapter_line, is_chapter_title
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.frontmatter import part_front_matter, write_front_matter
from marginalia_tui.services.exchange.headings import MARK, MARK_UNTITLED, Heading, Scan, scan
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, one_line, trim_blank_lines
from marginalia_tui.services.exchange.plaintext import split_at_length

LARGE_PART = 40_000
"""Bytes of UTF-8 (about 7,000 English words): parts that are larger on average are parted at a deeper heading."""

FRONT_MATTER = "front_matter"
"""The attribute that holds the unknown lines of a front matter."""
LEVEL = "heading_level"
"""The attribute that holds the level of a part's heading where it is not 1."""

_FIELDS = (
    ("title", ("title",)),
    ("author", ("author", "authors", "creator")),
    ("language", ("language", "lang")),
    ("description", ("description", "abstract", "summary", "synopsis")),
)


def read_markdown(text: str, level: int | None = None) -> Manuscript:
    """Reads a book from the text of a Markdown file.

    The title is empty when neither the front matter nor a heading above all others gives one.

    Args:
        text: with plain line ends.
        level: every heading of this level (1 to 6) or above begins a part; None picks the level that really
            parts the book, or the marks of an earlier export.

    Raises:
        Invalid: the level is not between 1 and 6.
    """
    if level is not None and not 1 <= level <= 6:
        raise Invalid("A heading has a level between 1 and 6: choose one of these, or none to have it picked.")
    front, body = part_front_matter(text)
    fields = {name: front.take(*keys) for name, keys in _FIELDS}
    found = scan(body)
    heading = _book_title(found, fields["title"], level)
    chosen = _chosen_level(found, heading, level, len(body.encode()))
    if heading is not None and heading.level < chosen:
        fields["title"] = heading.title
    else:
        heading = None
    attributes: dict[str, Json] = {FRONT_MATTER: front.rest} if front.rest.strip() else {}
    return Manuscript(
        title=one_line(fields["title"]),
        author=one_line(fields["author"]),
        language=one_line(fields["language"]),
        description=fields["description"].strip(),
        chapters=_parts(found, chosen, heading),
        attributes=attributes,
    )


def read_parts(text: str, level: int) -> tuple[Chapter, ...]:
    """Reads the parts of one file of a folder: every heading of this level or above begins one."""
    return _parts(scan(part_front_matter(text)[1]), level, None)


def read_part(text: str) -> Chapter:
    """Reads one part from a Markdown file of its own: its title is the heading that it begins with, if any."""
    front, body = part_front_matter(text)
    body = trim_blank_lines(body)
    first, _, below = body.partition("\n")
    if first.strip() in (MARK, MARK_UNTITLED):
        body = trim_blank_lines(below)
    title = one_line(front.take("title"))
    kept: dict[str, Json] = {FRONT_MATTER: front.rest} if front.rest.strip() else {}
    found = scan(body)
    if first.strip() != MARK_UNTITLED and found.headings and found.headings[0].line == 0:
        chapter = _chapter(found.headings[0], found.lines[found.headings[0].end :])
        return replace(chapter, attributes={**chapter.attributes, **kept})
    return Chapter(title=title, text=body, attributes=kept)


def write_part(chapter: Chapter) -> str:
    """Writes one (tidy) part as the text of a Markdown file of its own, from which `read_part` gives it back."""
    kept = chapter.attributes.get(FRONT_MATTER)
    front = write_front_matter({}, clean(kept) if isinstance(kept, str) else "")
    mark = ""
    if not chapter.title:
        mark = MARK_UNTITLED if _begins_with_heading(chapter.text) else MARK if chapter.text.startswith("---") else ""
    pieces = (front.rstrip("\n"), mark, heading_line(chapter), chapter.text)
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _book_title(found: Scan, title: str, level: int | None) -> Heading | None:
    """The heading that names the whole book: it comes first, and no other is as high."""
    headings = [heading for heading in found.headings if heading.level]
    if len(headings) < 2 or len(headings) < len(found.headings) or level == 1:
        return None
    first = headings[0]
    if min(heading.level for heading in headings[1:]) <= first.level or any(map(str.strip, found.lines[: first.line])):
        return None
    if title:
        return first if one_line(title) == one_line(first.title) else None
    kind = chapter_line(first.title)
    return None if kind and kind.kind in ("chapter", "part", "named") else first


def _chosen_level(found: Scan, book_title: Heading | None, level: int | None, size: int) -> int:
    """The deepest level whose headings begin a part; 0 when marks do."""
    if level is not None:
        return level
    counts = [0] * 7
    chapters = [0] * 7
    for heading in found.headings:
        if heading is not book_title:
            counts[heading.level] += 1
            chapters[heading.level] += is_chapter_title(heading.title)
    if counts[0]:
        return 0
    likely = max(range(1, 7), key=lambda each: (chapters[each], -each))
    if chapters[likely] >= 2 and 2 * chapters[likely] >= counts[likely]:
        return likely
    present = [each for each in range(1, 7) if counts[each]]
    chosen, parts = 0, 0
    for each in present:
        parts += counts[each]
        before = parts - counts[each]
        if before < 2 or (size / before > LARGE_PART and parts >= 2 * before):
            chosen = each
    return chosen or 1


def _parts(found: Scan, level: int, book_title: Heading | None) -> tuple[Chapter, ...]:
    by_line = {heading.line: heading for heading in found.headings}
    # For each part: the line where it begins, its heading, the line where its text begins.
    borders: list[tuple[int, Heading | None, int]] = [(0, None, 0)]
    for heading in found.headings:
        if heading is book_title:
            borders = [(0, None, heading.end)]
        elif heading.level <= level and heading.line >= borders[-1][2]:
            title = heading if heading.level else _heading_below(found, heading, by_line)
            borders.append((heading.line, title, title.end if title else heading.end))
    ends = [begin for begin, _, _ in borders[1:]] + [len(found.lines)]
    parts = [_chapter(title, found.lines[start:end]) for (_, title, start), end in zip(borders, ends, strict=True)]
    if not parts[0].text:
        del parts[0]
    elif len(parts) == 1:
        return tuple(Chapter(text=piece) for piece in split_at_length(parts[0].text))
    return tuple(parts)


def _heading_below(found: Scan, mark: Heading, by_line: dict[int, Heading]) -> Heading | None:
    """The heading that follows a mark with nothing between, unless the mark says that the part has no title."""
    if mark.title == MARK_UNTITLED:
        return None
    line = mark.end
    while line < len(found.lines) and not found.lines[line].strip():
        line += 1
    heading = by_line.get(line)
    return heading if heading and heading.level else None


def _chapter(heading: Heading | None, lines: Sequence[str]) -> Chapter:
    text = trim_blank_lines("\n".join(lines))
    if heading is None:
        return Chapter(text=text)
    attributes: dict[str, Json] = {LEVEL: heading.level} if heading.level > 1 else {}
    return Chapter(title=one_line(heading.title), text=text, attributes=attributes)


def write_markdown(manuscript: Manuscript) -> str:
    """Writes a book as the text of one Markdown file, from which `read_markdown` gives the same parts."""
    book = tidy(manuscript)
    book = replace(book, chapters=tuple(replace(chapter, text=_closed(chapter.text)) for chapter in book.chapters))
    text = _render(book, marks=False)
    wanted = [(chapter.title, chapter.text) for chapter in book.chapters]
    if [(chapter.title, chapter.text) for chapter in read_markdown(text).chapters] == wanted:
        return text
    return _render(book, marks=True)


def tidy(manuscript: Manuscript) -> Manuscript:
    """A book as every format can write it: titles on one line, texts without blank ends, nothing that steers."""
    chapters = tuple(map(_tidy_chapter, manuscript.chapters))
    return replace(
        manuscript,
        title=one_line(clean(manuscript.title)),
        author=one_line(clean(manuscript.author)),
        language=one_line(clean(manuscript.language)),
        description=clean(manuscript.description).strip(),
        chapters=chapters,
    )


def _tidy_chapter(chapter: Chapter) -> Chapter:
    text = trim_blank_lines(clean(chapter.text))
    remarks = chapter.remarks
    if remarks and text != chapter.text:
        anchors = Anchors(chapter.text, text)
        places = [anchors.place(each.start, each.end) for each in remarks]
        remarks = tuple(
            replace(each, start=place.start if place else 0, end=place.end if place else 0)
            for each, place in zip(remarks, places, strict=True)
        )
    return replace(chapter, title=one_line(clean(chapter.title)), text=text, remarks=remarks)


def _render(book: Manuscript, *, marks: bool) -> str:
    kept = book.attributes.get(FRONT_MATTER)
    fields = {name: getattr(book, name) for name, _ in _FIELDS}
    pieces = [write_front_matter(fields, clean(kept) if isinstance(kept, str) else "")]
    for chapter in book.chapters:
        mark = ""
        if marks:
            mark = MARK if chapter.title or not _begins_with_heading(chapter.text) else MARK_UNTITLED
        pieces.append("\n\n".join(piece for piece in (mark, heading_line(chapter), chapter.text) if piece))
    return "\n\n".join(piece.rstrip("\n") for piece in pieces if piece) + "\n"


def heading_line(chapter: Chapter) -> str:
    """The heading of a part in Markdown, at the level that it had; empty when it has no title."""
    if not chapter.title:
        return ""
    level = chapter.attributes.get(LEVEL, 1)
    signs = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
    # A last number sign would be read as the end of the heading: one more is.
    return f"{signs} {chapter.title}{' #' if chapter.title.endswith('#') else ''}"


def _begins_with_heading(text: str) -> bool:
    found = scan(text.split("\n\n", 1)[0])
    return bool(found.headings) and found.headings[0].line == 0


def _closed(text: str) -> str:
    """A text with the fence or comment closed that it leaves open, which would swallow what follows."""
    if "```" not in text and "~~~" not in text and "<!--" not in text:
        return text
    closer = scan(text).closer
    return f"{text}\n{closer}" if closer else text
