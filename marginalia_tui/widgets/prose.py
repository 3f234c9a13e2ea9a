"""Markdown as prose: a light reading of a manuscript, chunk by chunk, with the way back to the source.

A source is parted into chunks (what stands between blank lines); a chunk is parsed with markdown-it when it is
looked at. What a writer rarely means is left as text: HTML, indented code, link definitions, underlined
headings. A line break inside a paragraph is kept unless the line was evidently wrapped by an editor, so verse,
dialogue and texts with one paragraph on each line read as they were written.

Offsets: a `Prose` knows for each stretch of its text where it stands in the source, in both directions.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from marginalia_tui.domain.visible import visible
from marginalia_tui.widgets.blocks import Layout, Line, Span
from marginalia_tui.widgets.chunks import LONG_LINE, Chunk, split
from marginalia_tui.widgets.text import cells, crop, wrap

_MARKDOWN = MarkdownIt("commonmark").disable(
    ["code", "html_block", "html_inline", "reference", "lheading", "text_join"]
)
_WRAPPED = range(56, 101)
"""A line this long, counted with the word that did not fit, was wrapped by an editor."""
_BRACKETS = 1_000
"""More than this in one chunk are no links, and trying to pair them takes long."""
_BREAK = re.compile(r"[\s*#⁂~•·—–-]{0,40}[*#⁂~•·][\s*#⁂~•·—–-]{0,40}")
CLASSES = frozenset(
    f"prose--{name}" for name in ("heading", "subheading", "em", "strong", "strike", "code", "link", "mark", "break")
)
"""The component classes of a view that shows prose."""
RULES = """
    & > .prose--heading { text-style: bold; color: $accent; }
    & > .prose--subheading { text-style: bold; }
    & > .prose--em { text-style: italic; }
    & > .prose--strong { text-style: bold; }
    & > .prose--strike { text-style: strike; }
    & > .prose--code { color: $muted; }
    & > .prose--link { text-style: underline; }
    & > .prose--mark { color: $muted; }
    & > .prose--break { color: $muted; }
"""
"""Their rules, to be put between the braces of the view's own."""
_STYLES = {"em": "prose--em", "strong": "prose--strong", "link": "prose--link", "s": "prose--strike"}


class Paragraph(NamedTuple):
    """A stretch of the shown text that is wrapped by itself."""

    start: int
    end: int
    kind: str
    """`text`, `heading`, `item`, `quote`, `code` or `break`."""
    lead: str = ""
    """What stands before the first line; the other lines get `rest`, as wide."""
    rest: str = ""
    gap: int = 0
    """Empty lines after it."""


class Piece(NamedTuple):
    """A stretch of the shown text that stands so in the source."""

    shown: int
    source: int
    length: int


@dataclass(frozen=True)
class Prose:
    """A chunk, read."""

    text: str
    paragraphs: Sequence[Paragraph]
    spans: Sequence[Span]
    pieces: Sequence[Piece] = field(default_factory=tuple)

    @cached_property
    def _shown(self) -> list[int]:
        return [piece.shown for piece in self.pieces]

    @cached_property
    def _sources(self) -> list[int]:
        return [piece.source for piece in self.pieces]

    def to_source(self, offset: int) -> int:
        """The place in the source of an offset in the shown text."""
        if not self.pieces:
            return 0
        piece = self.pieces[max(0, bisect_right(self._shown, offset) - 1)]
        return piece.source + max(0, min(offset - piece.shown, piece.length))

    def to_shown(self, offset: int) -> int:
        """The offset in the shown text of a place in the source; a place that is not shown gives the next one."""
        number = bisect_right(self._sources, offset) - 1
        if number < 0:
            return 0
        piece = self.pieces[number]
        return piece.shown + min(offset - piece.source, piece.length)


def beside(lines: Sequence[str], place: int) -> Prose:
    """Lines that are no part of a source, as muted text; every offset in them is one place of the source."""
    text = "\n".join(visible(line.replace("\n", " ")) for line in lines)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    paragraphs = [Paragraph(start, end - 1, "text") for start, end in pairwise(starts)]
    return Prose(text, paragraphs, (Span(0, len(text), "prose--mark"),), (Piece(0, place, 0),))


def read(source: str, start: int = 0, end: int | None = None) -> Prose:
    """Reads a stretch of a source as Markdown; `to_source` of the answer gives places in the whole source."""
    text = visible(source[start:end].replace("\r", " "))
    long = len(text) > LONG_LINE and text.count("\n") < len(text) // LONG_LINE + 1
    if long or text.count("[") > _BRACKETS:
        return Prose(text, (Paragraph(0, len(text), "text"),), (), (Piece(0, start, len(text)),))
    return _Reader(text, start).read()


class _Reader:
    """One pass over the tokens of a chunk."""

    def __init__(self, source: str, base: int) -> None:
        self.source = source
        self.base = base
        self.lines = source.split("\n")
        self.line_starts = [0]
        for line in self.lines:
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)
        self.parts: list[str] = []
        self.length = 0
        self.paragraphs: list[Paragraph] = []
        self.spans: list[Span] = []
        self.pieces: list[Piece] = []
        self.leads: list[tuple[str, str]] = []
        self.fresh: list[bool] = []
        self.kind = "text"

    def read(self) -> Prose:
        tokens = _MARKDOWN.parse(self.source)
        for token in tokens:
            self.block(token)
        if not self.length:
            # An empty item or heading: a lone `*` or `-` parts scenes.
            bare = self.source.strip()
            self.write(bare, self.source.find(bare))
            self.pieces = self.pieces or [Piece(0, self.base, 0)]
            kind = "break" if _BREAK.fullmatch(bare) else "text"
            self.paragraphs = [Paragraph(0, self.length, kind)]
        return Prose("".join(self.parts), self.paragraphs, self.spans, self.pieces)

    # Blocks

    def block(self, token: Token) -> None:
        match token.type:
            case "blockquote_open":
                self.nest("│ ", "│ ")
            case "list_item_open":
                mark = f"{token.info}{token.markup} " if token.info else "• "
                self.nest(mark, " " * cells(mark))
            case "blockquote_close" | "list_item_close":
                self.leads.pop()
                self.fresh.pop()
            case "heading_open":
                self.kind = "heading" if token.tag in ("h1", "h2") else "subheading"
            case "paragraph_open":
                self.kind = "text"
            case "inline":
                self.inline(token)
            case "fence":
                self.fenced(token)
            case "hr":
                self.rule(token)
            case "paragraph_close" | "heading_close" | "bullet_list_close" | "ordered_list_close":
                if not token.hidden:
                    self.gap()
            case _:
                pass

    def nest(self, first: str, rest: str) -> None:
        self.leads.append((first, rest))
        self.fresh.append(True)

    def gap(self) -> None:
        if self.paragraphs:
            self.paragraphs[-1] = self.paragraphs[-1]._replace(gap=1)

    def paragraph(self, start: int, end: int, kind: str) -> None:
        first = "".join(a if new else b for (a, b), new in zip(self.leads, self.fresh, strict=True))
        rest = "".join(b for _, b in self.leads)
        self.fresh = [False] * len(self.fresh)
        if kind == "text" and self.leads:
            kind = "quote" if self.leads[-1][0] == "│ " else "item"
        self.paragraphs.append(Paragraph(start, end, kind, first, rest))

    def write(self, text: str, source: int, length: int | None = None) -> None:
        """Adds shown text that stands at `source` in the chunk."""
        if text:
            self.pieces.append(Piece(self.length, self.base + source, len(text) if length is None else length))
            self.parts.append(text)
            self.length += len(text)

    def part_from_last(self) -> None:
        if self.length:
            self.parts.append("\n")
            self.length += 1

    def place_of(self, line: int, content: str) -> int:
        """Where a line of a token's content begins in the chunk: block signs stand before it."""
        whole = self.lines[line] if line < len(self.lines) else ""
        bare, trimmed = whole.rstrip(), content.rstrip()
        found = len(bare) - len(trimmed) if bare.endswith(trimmed) else max(0, whole.find(trimmed))
        return self.line_starts[min(line, len(self.lines) - 1)] + found

    def rule(self, token: Token) -> None:
        line = token.map[0] if token.map else 0
        self.part_from_last()
        start = self.length
        self.write("* * *", self.place_of(line, self.lines[line].lstrip()), 1)
        self.paragraph(start, self.length, "break")
        self.gap()

    def fenced(self, token: Token) -> None:
        line = (token.map[0] if token.map else 0) + 1
        if info := token.info.strip():
            self.part_from_last()
            start = self.length
            self.write(info, self.place_of(line - 1, info))
            self.spans.append(Span(start, self.length, "prose--mark"))
            self.paragraph(start, self.length, "code")
        self.part_from_last()
        start = self.length
        for number, content in enumerate(token.content.rstrip("\n").split("\n")):
            if number:
                self.parts.append("\n")
                self.length += 1
            self.write(content, self.place_of(line + number, content))
        self.spans.append(Span(start, self.length, "prose--code"))
        self.paragraph(start, self.length, "code")
        self.gap()

    # Inline

    def inline(self, token: Token) -> None:
        self.part_from_last()
        start = self.length
        first = token.map[0] if token.map else 0
        places = [self.place_of(first + number, line) for number, line in enumerate(token.content.split("\n"))]
        kind = self.kind
        if kind != "text" and not token.content:
            bare = self.lines[first].strip()
            self.write(bare, self.place_of(first, bare))
            kind = "break"
        else:
            _Inline(self, token, places).run()
        if kind == "text" and _BREAK.fullmatch(token.content) and not self.leads:
            kind = "break"
        self.paragraph(start, self.length, kind)


class _Inline:
    """The children of one inline token, written to a reader with their places."""

    def __init__(self, reader: _Reader, token: Token, places: list[int]) -> None:
        self.reader = reader
        self.raw = token.content
        # The content of a code span has spaces where the source has line feeds.
        self.flat = token.content.replace("\n", " ")
        self.children = token.children or []
        self.places = places
        self.starts = [0]
        for line in self.raw.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.here = 0

    def source(self, raw: int) -> int:
        line = bisect_right(self.starts, raw, 0, len(self.places)) - 1
        return self.places[line] + raw - self.starts[line]

    def run(self) -> None:
        opened: list[int] = []
        for child in self.children:
            kind, _, side = child.type.rpartition("_")
            if side == "open":
                opened.append(self.reader.length)
            elif side == "close":
                start = opened.pop()
                if style := _STYLES.get(kind):
                    self.reader.spans.append(Span(start, self.reader.length, style))
            else:
                self.leaf(child)

    def leaf(self, child: Token) -> None:
        match child.type:
            case "softbreak" | "hardbreak":
                self.line_break(child.type == "hardbreak")
            case "text_special":
                self.take(child.markup, child.content)
            case "image":
                self.picture(child)
            case "code_inline":
                self.styled(child.content, "prose--code")
            case _:
                self.take(child.content, child.content)

    def picture(self, child: Token) -> None:
        """A picture as its name and its words, in brackets."""
        words = "".join(each.content for each in child.children or [])
        target = str(child.attrs.get("src", ""))
        name = target.rpartition("/")[2]
        start = self.reader.length
        self.take(words or target, f"[{name}: {words}]" if words else f"[{name}]")
        self.reader.spans.append(Span(start, self.reader.length, "prose--link"))

    def styled(self, text: str, style: str) -> None:
        start = self.reader.length
        self.take(text, text)
        self.reader.spans.append(Span(start, self.reader.length, style))

    def take(self, raw: str, shown: str) -> None:
        found = self.flat.find(raw, self.here) if raw else -1
        if found < 0:
            found = self.here
        else:
            self.here = found + len(raw)
        self.reader.write(shown, self.source(found), len(shown) if raw == shown else 1)

    def line_break(self, hard: bool) -> None:
        end = self.raw.find("\n", self.here)
        end = self.here if end < 0 else end
        begin = self.raw.rfind("\n", 0, end) + 1
        stop = self.raw.find("\n", end + 1)
        following = self.raw[end + 1 : len(self.raw) if stop < 0 else stop].lstrip()
        word = following.split(" ", 1)[0]
        wrapped = end - begin in range(1, _WRAPPED.stop) and end - begin + 1 + len(word) in _WRAPPED
        if hard or not wrapped:
            self.reader.write("\n", self.source(end))
        elif cells(self.raw[end - 1 : end]) == 2 and cells(word[:1]) == 2:
            pass  # scripts without spaces are joined without one
        else:
            self.reader.write(" ", self.source(end))
        self.here = end + 1


def lay_out(prose: Prose, width: int, gap: int) -> Layout:
    """Wraps a chunk.

    Args:
        prose: the chunk.
        width: cells of a line.
        gap: empty lines at the end.
    """
    lines: list[Line] = []
    for paragraph in prose.paragraphs:
        lines.extend(_wrapped(prose.text, paragraph, width))
        lines.extend(
            Line(paragraph.end, paragraph.end, cells(paragraph.rest), paragraph.rest, "prose--mark")
            for _ in range(paragraph.gap if paragraph is not prose.paragraphs[-1] else 0)
        )
    end = len(prose.text)
    lines.extend(Line(end, end) for _ in range(gap))
    return Layout(prose.text, lines, prose.spans)


def _wrapped(text: str, paragraph: Paragraph, width: int) -> Iterator[Line]:
    start, end, kind, lead, rest, _ = paragraph
    indent = cells(lead)
    if indent > width // 2:
        lead, rest = crop(lead, width // 2), crop(rest, width // 2)
        indent = width // 2
    style = {"heading": "prose--heading", "subheading": "prose--subheading", "break": "prose--break"}.get(kind, "")
    for number, (a, b) in enumerate(wrap(text, width - indent, start, end)):
        before = lead if number == 0 else rest
        if kind == "break":
            yield Line(a, b, max(0, (width - cells(text[a:b])) // 2), "", "", style=style)
        else:
            yield Line(a, b, indent, before, "prose--mark", style=style)


__all__ = ["CLASSES", "RULES", "Chunk", "Paragraph", "Piece", "Prose", "beside", "lay_out", "read", "split"]
