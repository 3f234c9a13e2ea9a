"""Where the headings of a Markdown text are, found line by line in linear time.

It knows as much of CommonMark as that takes: ATX and setext headings, and what hides them (fenced code, HTML
comments, lists, indented code). It is stricter where prose is at stake: a setext heading is one short line after a
blank one, so that a rule drawn under a paragraph stays a scene break; a fence or a comment that nothing closes hides
nothing, so that a slip in one chapter never swallows the rest of the book.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from marginalia_tui.services.exchange.manuscript import MAX_TITLE

MARK = "<!-- part -->"
"""A line that says: here a part begins. Written where headings alone would not part the text rightly."""
MARK_UNTITLED = "<!-- part, untitled -->"
"""The same for a part without a title whose text begins with a heading."""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_SETEXT = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}){0,4}(`{3,}|~{3,})(.*)$")
_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_NO_PARAGRAPH = re.compile(r" {0,3}[>|<]|\t| {4}")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, or a mark (`level` 0). It covers the lines `line` to `end`, the latter not included."""

    line: int
    end: int
    level: int
    title: str


@dataclass(slots=True)
class Scan:
    """The headings of a text, and the line that would close what it leaves open (a fence, a comment), or empty."""

    lines: Sequence[str]
    headings: list[Heading] = field(default_factory=list)
    closer: str = ""


def scan(text: str) -> Scan:
    """Finds the headings and marks of a text."""
    lines = text.split("\n")
    found = Scan(lines)
    fences = _Fences(lines)
    comments = [number for number, line in enumerate(lines) if "-->" in line]
    number, in_list = 0, False
    while number < len(lines):
        line = lines[number]
        if not line or line.isspace():
            number += 1
            continue
        in_list = _still_in_list(line, in_list)
        if (closing := fences.closing(number, in_list)) is not None:
            if closing < len(lines):
                number = closing + 1
                continue
            found.closer = found.closer or fences.closer(number)
        elif line.lstrip().startswith("<!--"):
            number = _after_comment(found, number, comments)
            continue
        heading = _heading_at(lines, number, in_list)
        if heading is None:
            number += 1
        else:
            found.headings.append(heading)
            number = heading.end
    return found


def _still_in_list(line: str, in_list: bool) -> bool:
    if _LIST.match(line):
        return not _RULE.match(line)
    return in_list and line[0] in " \t"


class _Fences:
    """The fences of a text, with the answer to "does anything close this one" kept for each kind and length."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._end = len(lines)
        self._closers: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
        for number, line in enumerate(lines):
            bare = line.strip()
            if bare[:3] in ("```", "~~~") and not bare.strip(bare[0]):
                self._closers[bare[0]].append((number, len(bare)))
        self._longest: dict[str, list[int]] = {}
        for kind, closers in self._closers.items():
            longest = [0] * (len(closers) + 1)
            for place in range(len(closers) - 1, -1, -1):
                longest[place] = max(longest[place + 1], closers[place][1])
            self._longest[kind] = longest

    def closing(self, number: int, in_list: bool) -> int | None:
        """The line that closes the fence opened at a line; the number of lines if none does; None if none opens."""
        found = self._opening(number, in_list)
        if found is None:
            return None
        kind, length = found[0], len(found)
        closers = self._closers[kind]
        place = bisect_left(closers, (number + 1, 0))
        if self._longest[kind][place] < length:
            return self._end
        # What is passed over here lies inside the fence and is not looked at again: linear in all.
        while closers[place][1] < length:
            place += 1
        return closers[place][0]

    def closer(self, number: int) -> str:
        """A line that closes the fence opened at a line, as far to the right as that."""
        fence = self._opening(number, True) or ""
        return " " * self._lines[number].find(fence) + fence

    def _opening(self, number: int, in_list: bool) -> str | None:
        line = self._lines[number]
        if "```" not in line and "~~~" not in line:
            return None
        found = _FENCE.match(line)
        if found is None or (not in_list and line.startswith(("    ", "\t"))):
            return None
        fence: str = found[1]
        return None if fence[0] == "`" and "`" in found[2] else fence


def _after_comment(found: Scan, number: int, comments: list[int]) -> int:
    """The line after a comment that begins a line; a mark is noted. One that is never closed hides nothing."""
    line = found.lines[number].strip()
    if line in (MARK, MARK_UNTITLED):
        found.headings.append(Heading(number, number + 1, 0, line))
        return number + 1
    place = bisect_left(comments, number)
    if place == len(comments):
        found.closer = found.closer or "-->"
        return number + 1
    return comments[place] + 1


def _heading_at(lines: Sequence[str], number: int, in_list: bool) -> Heading | None:
    line = lines[number]
    if in_list and (line[0] in " \t" or _LIST.match(line)):
        return None
    if found := _ATX.match(line):
        title = _without_closing(found[2] or "")
        return Heading(number, number + 1, len(found[1]), title) if title and len(title) <= MAX_TITLE else None
    if number + 1 == len(lines) or _NO_PARAGRAPH.match(line) or len(line) > MAX_TITLE:
        return None
    if number and lines[number - 1].strip() and not _ATX.match(lines[number - 1]):
        return None
    under = _SETEXT.match(lines[number + 1])
    if under is None or _RULE.match(line) or _LIST.match(line):
        return None
    return Heading(number, number + 2, 1 if under[1][0] == "=" else 2, line.strip())


def _without_closing(title: str) -> str:
    """The text of an ATX heading without the number signs that may close it."""
    title = title.strip(" \t")
    bare = title.rstrip("#")
    if not bare:
        return ""
    return bare.rstrip(" \t") if bare[-1] in " \t" else title
