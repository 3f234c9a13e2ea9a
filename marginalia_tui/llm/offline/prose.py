"""Finds the prose of a Markdown text: what the proofreader may judge, and what it must never touch.

A page is the text, a mask of the same length, and the blocks in order. In the mask every character that is no
prose (code, front matter, tables, headings, verse, addresses, markup) is `HIDDEN`, which is neither a word, nor a
space, nor punctuation: a pattern that runs over the mask can't match what it may not touch. Where Markdown leaves
a doubt, the text counts as untouchable.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

HIDDEN = "\ue000"

Kind = Literal["prose", "verse", "heading", "break", "other"]

_QUOTE_MARK = re.compile(r"(?: {0,3}>[ ]?)+")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)\s*$")
_BREAK = re.compile(r"[\s*\-_#~=+.\u2022\u00b7\u2042\u00a7\u2217\u204e\u25c6\u25c7\u25cb\u25cf\u2014\u2013]+$")
_LIST = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:")
_HTML = re.compile(r" {0,3}<[A-Za-z/!?]")
_RAW_HTML = re.compile(r" {0,3}<(pre|script|style|textarea)\b", re.IGNORECASE)
_METADATA = re.compile(r"[\w-]+\s*[:=]")
_HARD_BREAK = re.compile(r"(?:[ ]{2,}|\\)\r?$")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_INLINE = re.compile(
    r"<[A-Za-z/!?][^<>\n]*>"  # a tag, a comment, an address in angle brackets
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)"  # where a link leads
    r"|\[\[[^\]\n]*\]\]|\{\{[^{}]*\}\}"
    r"|\b(?:https?|ftp|file|mailto|data):\S+|\bwww\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_WORD = re.compile(r"[^\W\d_]+")
_BACKTICKS = re.compile(r"`+")

VERSE_WORDS = 9
"""Several lines none of which has more words are verse, an address or a list: no paragraph."""


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of one kind: `text[start:end]`, the last line break left out."""

    kind: Kind
    start: int
    end: int
    quoted: bool = False
    """Stands in a block quotation."""


@dataclass(frozen=True, slots=True)
class Page:
    """A text with its mask (of the same length) and its blocks in order, blank lines left out."""

    text: str
    mask: str
    blocks: tuple[Block, ...]

    def prose(self) -> Iterator[Block]:
        """The blocks that may be judged."""
        return (block for block in self.blocks if block.kind == "prose")


@dataclass(slots=True)
class _Line:
    start: int
    end: int
    body: int
    """Where the line begins after the marks of a block quotation."""
    quoted: bool
    rest: str


@lru_cache(maxsize=512)
def read_page(text: str) -> Page:
    """Parts a text into blocks and hides what is no prose."""
    blocks = _Blocks(text).parse()
    mask = [character if character == "\n" else HIDDEN for character in text]
    for block in blocks:
        if block.kind == "prose":
            _reveal(text, block, mask)
    return Page(text, "".join(mask), tuple(blocks))


def _reveal(text: str, block: Block, mask: list[str]) -> None:
    """Copies the prose of a block into the mask, without marks of lists and quotations, code and addresses."""
    passage = text[block.start : block.end]
    hidden = _code_spans(passage)
    if hidden is None:
        return
    hidden += [match.span() for match in _INLINE.finditer(passage)]
    position = 0
    for number, line in enumerate(passage.split("\n")):
        mark = _QUOTE_MARK.match(line)
        begin = mark.end() if mark else 0
        item = _LIST.match(line, begin)
        if item and number == 0:
            begin = item.end()
        hidden.append((position, position + begin))
        position += len(line) + 1
    mask[block.start : block.end] = passage
    for start, end in hidden:
        for index in range(block.start + start, block.start + end):
            if text[index] != "\n":
                mask[index] = HIDDEN


def _code_spans(passage: str) -> list[tuple[int, int]] | None:
    """The spans between equal runs of backticks; None when one is left open, so that nothing there is certain."""
    spans: list[tuple[int, int]] = []
    runs = list(_BACKTICKS.finditer(passage))
    index = 0
    while index < len(runs):
        length = len(runs[index].group())
        for other in range(index + 1, len(runs)):
            if len(runs[other].group()) == length:
                spans.append((runs[index].start(), runs[other].end()))
                index = other + 1
                break
        else:
            return None
    return spans


class _Blocks:
    """The line parser: one walk over the lines, no recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_split(text))
        self._blocks: list[Block] = []
        self._open: list[_Line] = []

    def parse(self) -> list[Block]:
        """All blocks in order."""
        index = self._front_matter()
        while index < len(self._lines):
            index = self._step(index)
        self._close()
        return self._blocks

    def _front_matter(self) -> int:
        lines = self._lines
        if len(lines) < 3 or lines[0].rest.rstrip() not in ("---", "+++"):
            return 0
        if not _METADATA.match(lines[1].rest):
            return 0
        fence = lines[0].rest.rstrip()
        for index in range(1, len(lines)):
            if lines[index].rest.rstrip() == fence:
                self._add("other", lines[0], lines[index])
                return index + 1
        return 0

    def _step(self, index: int) -> int:
        """Takes up the line at `index`; returns the index of the next one to look at."""
        line = self._lines[index]
        rest = line.rest
        if not rest.strip():
            self._close()
        elif ends := _end_of_other(line):
            itself, test = ends
            return self._until(index, test, itself=itself)
        elif not self._open and rest.startswith(("    ", "\t")):
            self._add("other", line, line)
        elif self._open and not line.quoted and _SETEXT.match(rest):
            self._open.append(line)
            self._close("heading")
        elif _BREAK.match(rest):
            self._single("break", line)
        elif _HEADING.match(rest):
            self._single("heading", line)
        elif "|" in rest or _DEFINITION.match(rest) or (_HTML.match(rest) and not self._open):
            self._single("other", line)
        else:
            self._append(line)
        return index + 1

    def _append(self, line: _Line) -> None:
        if self._open and (self._open[-1].quoted != line.quoted or _LIST.match(line.rest)):
            self._close()
        self._open.append(line)

    def _single(self, kind: Kind, line: _Line) -> None:
        self._close()
        self._add(kind, line, line)

    def _until(self, index: int, ends: Callable[[_Line], bool], *, itself: bool = False) -> int:
        """One block from `index` to the line that ends it (or the end of the text)."""
        self._close()
        last = index if itself else index + 1
        while last < len(self._lines) and not ends(self._lines[last]):
            last += 1
        last = min(last, len(self._lines) - 1)
        self._add("other", self._lines[index], self._lines[last])
        return last + 1

    def _add(self, kind: Kind, first: _Line, last: _Line) -> None:
        self._blocks.append(Block(kind, first.start, last.end, first.quoted))

    def _close(self, kind: Kind | None = None) -> None:
        if self._open:
            lines, self._open = self._open, []
            self._add(kind or ("verse" if _is_verse(lines) else "prose"), lines[0], lines[-1])


def _end_of_other(line: _Line) -> tuple[bool, Callable[[_Line], bool]] | None:
    """For the first line of code, a comment or raw HTML: whether it may end itself, and the test for the end."""
    rest = line.rest
    if fence := _FENCE.match(rest):
        return False, lambda other: _closes(fence.group(1), other, line.quoted)
    if rest.lstrip().startswith("<!--"):
        return True, lambda other: "-->" in other.rest
    if raw := _RAW_HTML.match(rest):
        tag = f"</{raw.group(1).lower()}>"
        return True, lambda other: tag in other.rest.lower()
    return None


def _closes(fence: str, line: _Line, quoted: bool) -> bool:
    if quoted and not line.quoted:
        return True
    body = line.rest.strip()
    return len(body) >= len(fence) and set(body) == {fence[0]}


def _is_verse(lines: list[_Line]) -> bool:
    """Lines whose breaks carry meaning: hard breaks, or all of them short."""
    if any(_BREAK_TAG.search(line.rest) for line in lines):
        return True
    if len(lines) < 2:
        return False
    if any(_HARD_BREAK.search(line.rest) for line in lines[:-1]):
        return True
    return max(_words_of_lines(lines)) <= VERSE_WORDS


def _words_of_lines(lines: list[_Line]) -> list[int]:
    """The words of each line, a word that repeats the one before it left out: so no correction changes the kind."""
    counts = [0] * len(lines)
    last = ""
    for number, line in reversed(list(enumerate(lines))):
        for word in reversed(_WORD.findall(line.rest.lower())):
            counts[number] += word != last
            last = word
    return counts


def _split(text: str) -> Iterator[_Line]:
    position = 0
    for piece in text.split("\n"):
        mark = _QUOTE_MARK.match(piece)
        body = mark.end() if mark else 0
        yield _Line(position, position + len(piece), position + body, mark is not None, piece[body:])
        position += len(piece) + 1
