"""Searching texts for what somebody typed: a text, whole words, or a regular expression with a time limit.

One limit holds for a whole command, because a pattern such as `(a+)+$` can run for hours on one line. Reading
searches take typographic variants for one another (a straight quote finds a curly one, a plain space a line
break); replacing ones are exact.
"""

import time
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Literal

import regex
from pydantic import Field

from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.pattern_guard import check_pattern
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.sentences import quoted

SECONDS = 30.0
"""The time that one command may search."""
LONGEST = 1_000
"""Characters of a pattern."""
MATCH = 200
"""Characters of a match that are shown."""

Pattern = Annotated[str, Field(max_length=LONGEST)]
Mode = Annotated[
    Literal["text", "word", "regex"],
    Param(
        "text, word (whole words only) or regex (a regular expression)",
        for_model="How to read the pattern. text: as it is. word: whole words only. regex: a regular expression. "
        "Leave it out for text.",
    ),
]

_VARIANTS = (
    "'\u2018\u2019\u201b\u02bc",
    '"\u201c\u201d\u201e\u201f',
    "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
)


class Search:
    """A pattern, ready to run over the texts of one command.

    Args:
        pattern: what was typed.
        mode: `text`, `word` or `regex`.
        case_sensitive: whether capitals count.
        tolerant: whether typographic variants of a text are found too.
        dot_all: whether the dot of a regular expression is also the end of a line.
        seconds: the time that it may take in all; without it that of a command.

    Raises:
        Invalid: the pattern is empty or no regular expression.
    """

    def __init__(
        self,
        pattern: str,
        mode: str = "text",
        *,
        case_sensitive: bool = False,
        tolerant: bool = False,
        dot_all: bool = False,
        seconds: float | None = None,
    ) -> None:
        if not pattern:
            raise Invalid("The pattern is empty: give the text to look for.")
        self.pattern = pattern
        if mode == "regex":
            check_pattern(pattern)
        source = pattern if mode == "regex" else _literal(pattern, tolerant)
        if mode == "word":
            source = rf"(?<![\w]){source}(?![\w])"
        flags = regex.V0 | regex.MULTILINE | (0 if case_sensitive else regex.IGNORECASE)
        flags |= regex.DOTALL if dot_all else 0
        try:
            self._regex = regex.compile(source, flags)
        except (regex.error, OverflowError, RecursionError) as error:
            raise Invalid(
                f"{quoted(pattern)} is no regular expression ({error}): correct it, or search with the mode text."
            ) from None
        self._seconds = self._left = SECONDS if seconds is None else seconds

    def find(self, text: str) -> "Iterator[regex.Match[str]]":
        """The places in a text, from the front; those that hold nothing are left out.

        Raises:
            Refused: the time of the command is used up.
        """
        with self._timed() as left:
            for match in self._regex.finditer(text, timeout=left):
                if match.end() > match.start():
                    yield match

    def fits(self, text: str) -> bool:
        """Whether it fits somewhere in a text, be it on nothing, as an expression does that only looks ahead.

        Raises:
            Refused: the time of the command is used up.
        """
        with self._timed() as left:
            return self._regex.search(text, timeout=left) is not None

    @contextmanager
    def _timed(self) -> Iterator[float]:
        began = time.monotonic()
        try:
            yield max(self._left, 0.001)
        except TimeoutError:
            raise Refused(
                f"The search for {quoted(self.pattern)} took longer than {self._seconds:g} seconds and was given up: "
                "make the pattern simpler (a repeat inside a repeat is slow), or search with the mode text."
            ) from None
        finally:
            self._left -= time.monotonic() - began


def _literal(pattern: str, tolerant: bool) -> str:
    if not tolerant:
        return regex.escape(pattern)
    return "".join(_any_of(piece) for piece in regex.findall(r"\s+|\P{M}\p{M}*|\p{M}+", pattern))


def _any_of(piece: str) -> str:
    if piece.isspace():
        return r"\s+"
    for variants in _VARIANTS:
        if piece in variants:
            return f"[{regex.escape(variants)}]"
    forms = {piece, unicodedata.normalize("NFC", piece), unicodedata.normalize("NFD", piece)}
    if len(forms) == 1:
        return str(regex.escape(piece))
    return "(?:" + "|".join(regex.escape(form) for form in sorted(forms)) + ")"


def around(text: str, start: int, end: int, width: int = 40) -> tuple[str, str]:
    """What stands before and behind a place, on one line, cut at a space where there is one."""
    before = text[max(0, start - width) : start]
    after = text[end : end + width]
    if start > width and " " in before[: width // 2]:
        before = before[before.index(" ") + 1 :]
    if end + width < len(text) and " " in after[width // 2 :]:
        after = after[: after.rindex(" ")]
    return _one_line(before), _one_line(after)


def in_context(text: str, start: int, end: int) -> str:
    """A place with what stands around it, on one line."""
    before, after = around(text, start, end)
    return " ".join(f"{before}{text[start:end][:MATCH]}{after}".split())


def first_hit(search: Search, fields: Mapping[str, str]) -> tuple[list[str], str] | None:
    """The names of the fields that hold what is looked for, and the first place in its context; None: none does."""
    found = [(name, match) for name, text in fields.items() if (match := next(search.find(text), None))]
    if not found:
        return None
    name, match = found[0]
    return [each for each, _ in found], in_context(fields[name], match.start(), match.end())


def first_words(text: str, width: int = 60) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: width * 4].split())
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    return (cut[: cut.rindex(" ")] if " " in cut[width // 2 :] else cut) + "\u2026"


def _one_line(text: str) -> str:
    return regex.sub(r"\s*[\r\n]+\s*", " ", text)
