"""A book in plain text: chapters by the lines that begin them, or pieces of a readable length where there are none.

Our own export underlines the title of the book with `=` and those of the parts with `-`, as wide as the title, and
draws a line above a part without one: that is read back exactly. Everything else is recognised by what a line says
and by what stands around it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from marginalia_tui.services.exchange.chapterlines import MAX_LINE, ChapterLine, chapter_line
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, one_line, trim_blank_lines

PIECE = 12_000
"""Characters of a part where no chapter lines are found: about 2,000 English words."""

PAGE = 4_000
"""Characters of a printed page, generously."""

WRAP = 100
"""Columns up to which the lines of a text count as wrapped."""

_LINE = "-" * 40
"""Stands alone above a part without a title that follows another one."""

_BLANKS = re.compile(r"\n[ \t\u3000]*(?:\n[ \t\u3000]*)+")
_SENTENCE_END = re.compile(r"[.!?\u2026]['\"\u201d\u2019)]*[ \t]|[\u3002\uff01\uff1f][\u201d\u2019\u300d\u300f]?")


def read_plain_text(text: str) -> Manuscript:
    """Reads a book from plain text. The title is empty unless the text is an export of ours that has one."""
    lines = text.split("\n")
    borders = _underlined(lines)
    if borders:
        return _read_export(lines, borders)
    found = _chapter_borders(lines)
    paragraphs = _paragraph_style(lines)
    if not found:
        whole = trim_blank_lines(paragraphs.apply(lines))
        return Manuscript(title="", chapters=tuple(Chapter(text=piece) for piece in split_at_length(whole)))
    parts = []
    first = trim_blank_lines(paragraphs.apply(lines[: found[0].line]))
    if first:
        parts.append(Chapter(text=first))
    ends = [border.line for border in found[1:]] + [len(lines)]
    for border, end in zip(found, ends, strict=True):
        body = trim_blank_lines(paragraphs.apply(lines[border.end : end]))
        parts.append(Chapter(title=one_line(border.title), text=body))
    return Manuscript(title="", chapters=tuple(parts))


def write_plain_text(manuscript: Manuscript) -> str:
    """Writes a book as plain text: the Markdown of its parts as it stands, titles underlined."""
    pieces = []
    if manuscript.title:
        pieces.append("\n".join(filter(None, (_underline(manuscript.title, "="), manuscript.author))))
    for number, chapter in enumerate(manuscript.chapters):
        title = _underline(chapter.title, "-") if chapter.title else _LINE if number and chapter.text else ""
        pieces.append("\n\n".join(piece for piece in (title, chapter.text) if piece))
    return "\n\n\n".join(piece for piece in pieces if piece) + "\n"


def split_at_length(text: str, length: int = PIECE) -> list[str]:
    """Parts a text on paragraph borders into pieces of about `length` characters.

    A paragraph that is itself longer than two pieces is parted between sentences, or else at a space.
    """
    if len(text) <= length * 3 // 2:
        return [text] if text.strip() else []
    pieces: list[str] = []
    start = 0
    while len(text) - start > length * 3 // 2:
        end, following = _cut(text, start, length)
        pieces.append(trim_blank_lines(text[start:end]))
        start = following
    pieces.append(trim_blank_lines(text[start:]))
    return [piece for piece in pieces if piece]


def _cut(text: str, start: int, length: int) -> tuple[int, int]:
    """Where the piece that begins at `start` ends, and where the next one begins: the best border in reach."""
    wanted, reach = start + length, start + 2 * length
    if border := _BLANKS.search(text, wanted, reach):
        return border.start(), border.end()
    line = text.find("\n", wanted, reach)
    if line >= 0:
        return line, line + 1
    if sentence := _SENTENCE_END.search(text, wanted, reach):
        return sentence.end(), sentence.end()
    space = text.find(" ", wanted, reach)
    return (space, space + 1) if space >= 0 else (wanted, wanted)


@dataclass(frozen=True, slots=True)
class _Border:
    """A chapter begins at `line` with `title`; its text begins at line `end`."""

    line: int
    end: int
    title: str
    kind: ChapterLine | None = None
    rule: str = ""


def _width(title: str) -> int:
    """The width of a line under a title, in cells of a terminal."""
    wide = sum(1 for char in title if unicodedata.east_asian_width(char) in "WF")
    return min(max(len(title) + wide, 3), 72)


def _underline(title: str, rule: str) -> str:
    return f"{title}\n{rule * _width(title)}"


def _underlined(lines: Sequence[str]) -> list[_Border]:
    """The titles that an export of ours underlined; none when the first of them is not at the top or alone."""
    found = []
    for number in range(1, len(lines)):
        rule = lines[number]
        if rule == _LINE and not lines[number - 1].strip():
            found.append(_Border(number, number + 1, "", rule="-"))
            continue
        if len(rule) < 3 or rule[0] not in "=-" or rule.strip(rule[0]):
            continue
        title = lines[number - 1]
        if not title.strip() or len(rule) != _width(title) or (number > 1 and lines[number - 2].strip()):
            continue
        if rule[0] == "=" and any(line.strip() for line in lines[: number - 1]):
            continue
        found.append(_Border(number - 1, number + 1, title, rule=rule[0]))
    return found if any(border.title for border in found) else []


def _read_export(lines: Sequence[str], borders: list[_Border]) -> Manuscript:
    title = author = ""
    start = 0
    if borders[0].rule == "=":
        title, start = one_line(borders[0].title), borders[0].end
        if start < len(lines) and lines[start].strip():
            author, start = one_line(lines[start]), start + 1
        borders = borders[1:]
    ends = [border.line for border in borders] + [len(lines)]
    parts = [Chapter(text=trim_blank_lines("\n".join(lines[start : ends[0]])))]
    for border, end in zip(borders, ends[1:], strict=True):
        body = trim_blank_lines("\n".join(lines[border.end : end]))
        parts.append(Chapter(title=one_line(border.title), text=body))
    if not parts[0].text:
        del parts[0]
    return Manuscript(title=title, author=author, chapters=tuple(parts))


def _chapter_borders(lines: Sequence[str]) -> list[_Border]:
    """The lines that begin a chapter, judged by what they say, what stands around them and how they follow."""
    likely = list(_likely(lines))
    kept = _in_sequence(lines, likely, "roman") + _in_sequence(lines, likely, "number")
    sure = [border for border in likely if border.kind and border.kind.kind not in ("roman", "number")]
    found = sorted([*sure, *kept], key=lambda border: border.line)
    found = _without_contents(lines, found)
    if len(found) == 1 and any(line.strip() for line in lines[: found[0].line]):
        return []  # a single line in the midst of a text parts nothing
    return found


def _likely(lines: Sequence[str]) -> Iterator[_Border]:
    last_end = 0
    for number, line in enumerate(lines):
        if number < last_end or not line or len(line) > MAX_LINE or line.isspace():
            continue
        kind = chapter_line(line)
        if kind is None:
            continue
        alone_above = number == 0 or not lines[number - 1].strip() or number == last_end
        end = number + 1
        alone_below = end == len(lines) or not lines[end].strip() or lines[end][0] in " \t\u3000"
        if kind.east_asian or (alone_above and alone_below):
            yield _Border(number, end, line, kind)
        elif alone_above and kind.kind in ("chapter", "part", "roman") and _is_subtitle(lines, end):
            end += 1
            yield _Border(number, end, f"{line.strip()} {lines[end - 1].strip()}", kind)
        else:
            continue
        last_end = end


def _is_subtitle(lines: Sequence[str], number: int) -> bool:
    """Whether a line can be the second line of a heading: short, followed by a blank line, no sentence."""
    line = lines[number].strip()
    followed = number + 1 == len(lines) or not lines[number + 1].strip()
    return followed and len(line) <= 80 and (line.isupper() or line[-1] not in '.,;:"\u201d')


def _in_sequence(lines: Sequence[str], likely: list[_Border], kind: str) -> list[_Border]:
    """The lines of bare numbers that count up from 1 (again after each part); none when there are fewer than two.

    Bare digits may be the numbers of pages: they count only when what they part is longer than a page.
    """
    found: list[_Border] = []
    last = 0
    for border in likely:
        if border.kind is None or border.kind.kind != kind:
            continue
        if border.kind.number == last + 1 or border.kind.number == 1:
            found.append(border)
            last = border.kind.number
    if len(found) < 2:
        return []
    between = sum(len(line) for line in lines[found[0].line : found[-1].line]) / (len(found) - 1)
    return found if kind == "roman" or between > PAGE else []


def _key(border: _Border) -> str:
    return one_line(border.title).casefold()


def _without_contents(lines: Sequence[str], found: list[_Border]) -> list[_Border]:
    """Leaves out a table of contents: three or more chapter lines with nothing between that all come again."""
    last_seen = {_key(border): number for number, border in enumerate(found)}
    kept: list[_Border] = []
    number = 0
    while number < len(found):
        end = number
        while end + 1 < len(found) and not any(map(str.strip, lines[found[end].end : found[end + 1].line])):
            end += 1
        run = found[number : end + 1]
        new = [border for place, border in enumerate(run, number) if last_seen[_key(border)] == place]
        kept += run if len(run) < 3 or len(new) > 1 else new
        number = end + 1
    return kept


@dataclass(frozen=True, slots=True)
class _Paragraphs:
    """How a text shows its paragraphs: by blank lines, by an indent, or by line ends."""

    style: str

    def apply(self, lines: Sequence[str]) -> str:
        """The lines as Markdown, where a blank line parts paragraphs and an indent would be code."""
        if self.style == "blank":
            return "\n".join(lines)
        made: list[str] = []
        for line in lines:
            if line.strip() and made and made[-1] and (self.style == "line" or line[0] in " \t\u3000"):
                made.append("")
            made.append(line.strip(" \t") if self.style == "indent" else line)
        return "\n".join(made)


def _paragraph_style(lines: Sequence[str]) -> _Paragraphs:
    filled = [line for line in lines if line.strip()]
    if not filled:
        return _Paragraphs("blank")
    blank = len(lines) - len(filled)
    indented = sum(1 for line in filled if line[0] == "\t" or line.startswith(("  ", "\u3000")))
    long = sum(1 for line in filled if len(line) > WRAP)
    ended = sum(
        1 for line in filled if line.rstrip()[-1] in ".!?\u2026\"\u201d\u2019'\u3002\uff01\uff1f\u300d\u300f:\uff1a"
    )
    if long * 10 > len(filled):
        return _Paragraphs("blank" if blank * 2 > long else "line")
    if 0.08 * len(filled) < indented < 0.8 * len(filled) and blank < 0.5 * indented:
        return _Paragraphs("indent")
    if blank * 20 < len(filled) and ended > 0.8 * len(filled):
        return _Paragraphs("line")
    return _Paragraphs("blank")
