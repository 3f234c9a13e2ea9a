"""The comments of a DOCX: where they stand in the Markdown of a part, on the way in and on the way out.

Where a comment begins and ends is a sign in the text that no text has. Reading and writing are done without the
signs first: with them the same must come out but for the signs, or they are put where it does. So a comment never
changes the book.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from markdown_it.token import Token

from marginalia_tui.domain.anchors import Anchors
from marginalia_tui.services.exchange.docx_package import Package
from marginalia_tui.services.exchange.docx_styles import NAMES, attribute
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.manuscript import Remark

MOST = 32_000
"""Comments of a document that are taken; there are no signs for more."""

_FIRST = 0x100000
_SIGN = re.compile("\x01([\U00100000-\U0010fffd])")
_EDGE = " \t\n*_~`"
"""What a passage neither begins nor ends with, unless it is nothing else."""
_SHOWN = ("text", "text_special", "code_inline")
"""The tokens in which a sign may stand."""
_TRIES = 60
"""Readings of a part in search of places for its comments."""


def sign(number: int, *, end: bool) -> str:
    """The sign where the comment of a number (from 0) begins or ends."""
    return f"\x01{chr(_FIRST + 2 * number + end)}"


def ends(text: str) -> bool:
    """Whether a sign is that of an end."""
    return bool((ord(text[-1]) - _FIRST) % 2)


def bare(text: str) -> str:
    """A text without signs."""
    return _SIGN.sub("", text) if "\x01" in text else text


def pieces_of(text: str) -> Iterator[tuple[str, int, bool]]:
    """A text in pieces, each with the number of the comment that begins or ends (True) behind it, else -1."""
    place = 0
    for found in _SIGN.finditer(text):
        number, end = divmod(ord(found[1]) - _FIRST, 2)
        yield text[place : found.start()], number, bool(end)
        place = found.end()
    yield text[place:], -1, False


def passages(text: str) -> dict[int, tuple[int, int]]:
    """Number -> where the passage of a comment stands in the bare text; it may begin or end outside of it.

    White space and marks of emphasis at its ends are left out.
    """
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    for piece, number, end in pieces_of(text):
        length += len(piece)
        if number >= 0:
            (ends if end else starts)[number] = length
    plain = bare(text)
    found = {}
    for number in starts.keys() | ends.keys():
        start, end_of_it = starts.get(number, 0), ends.get(number, length)
        quote = plain[start:end_of_it]
        inner = quote.strip(_EDGE)
        if inner:
            start += len(quote) - len(quote.lstrip(_EDGE))
            found[number] = (start, start + len(inner))
    return found


def moved(marked: str, text: str) -> str:
    """A text with the signs of another one that is nearly the same."""
    anchors = Anchors(bare(marked), text)
    there = {(number, end) for _, number, end in pieces_of(marked)}
    signs = []
    for number, (start, end) in passages(marked).items():
        place = anchors.place(start, end)
        low, high = (place.start, place.end) if place else (0, len(text))
        signs += [(low, sign(number, end=False))] if (number, False) in there else []
        signs += [(high, sign(number, end=True))] if (number, True) in there else []
    return _with_signs(text, signs)


def _with_signs(text: str, signs: Iterable[tuple[int, str]]) -> str:
    """A text with signs at places of it; where several stand at one, the ends come first."""
    out: list[str] = []
    last = 0
    for place, each in sorted(signs, key=lambda one: (one[0], not ends(one[1]), one[1])):
        out += [text[last:place], each]
        last = place
    return "".join([*out, text[last:]])


def read_remarks(package: Package) -> dict[str, Remark]:
    """The comments of a document by id; those without words are left out."""
    root = package.part("comments")
    done = _done(package)
    found: dict[str, Remark] = {}
    for element in root if root is not None else ():
        if NAMES[element.tag] != "comment" or len(found) == MOST:
            continue
        paragraphs = [each for each in element.iter() if NAMES[each.tag] == "p"]
        text = clean("\n".join(map(_words, paragraphs))).strip()
        if text:
            found[attribute(element, "id")] = Remark(
                text=text,
                author=clean(attribute(element, "author")).strip()[:200],
                created=moment(attribute(element, "date")),
                done=any(attribute(each, "paraId") in done for each in paragraphs[-1:]),
            )
    return found


def _words(paragraph: Any) -> str:
    return "".join(
        inner.text or "" if NAMES[inner.tag] == "t" else "\n" if NAMES[inner.tag] in ("br", "cr") else ""
        for inner in paragraph.iter()
    )


def _done(package: Package) -> set[str]:
    """The ids of the last paragraphs of comments that are resolved."""
    root = package.part("commentsExtended")
    return {
        attribute(element, "paraId")
        for element in (root if root is not None else ())
        if NAMES[element.tag] == "commentex" and attribute(element, "done") in ("1", "true") and element.attrib
    }


def moment(text: str) -> int:
    """A date of Word in microseconds since 1970; 0 for one that is none."""
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return max(round(at.timestamp() * 1_000_000), 0)
    except (ValueError, OverflowError, OSError):
        return 0


def date_of(created: int) -> str:
    """A moment as a date of Word; empty for one that is not known."""
    try:
        return datetime.fromtimestamp(created / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if created else ""
    except (ValueError, OverflowError, OSError):
        return ""


class Placer:
    """Puts the signs of comments into the text of a part.

    Args:
        text: of the part.
        tokens: reads a text as it is going to be written.
    """

    def __init__(self, text: str, tokens: Callable[[str], Sequence[Token]]) -> None:
        self._text = text
        self._tokens = tokens
        self._wanted = _shape(tokens(text))
        self._left = _TRIES

    def place(self, remarks: Iterable[tuple[int, Remark]]) -> tuple[str, list[int]]:
        """The text with the signs of the comments that have a passage, and the numbers of those on the whole part."""
        waiting = [(number, remark.start, remark.end) for number, remark in remarks]
        whole = [number for number, start, end in waiting if not 0 <= start < end <= len(self._text)]
        waiting = [each for each in waiting if each[0] not in set(whole)]
        fits = self._fitting(waiting)
        tight = self._fitting([self._tightened(each) for each in waiting if each not in fits])
        known = {each[0] for each in fits + tight}
        placed = fits + tight
        if not self._fits(placed):
            placed, known = [], set()
        whole += [number for number, _, _ in waiting if number not in known]
        return self._signed(placed), sorted(whole)

    def _fitting(self, waiting: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Those of the passages whose signs leave the text what it is."""
        found: list[tuple[int, int, int]] = []
        groups = [waiting] if waiting else []
        while groups and self._left > 0:
            group = groups.pop()
            self._left -= 1
            if self._fits(group):
                found += group
            elif len(group) > 1:
                groups += [group[: len(group) // 2], group[len(group) // 2 :]]
        return found

    def _tightened(self, each: tuple[int, int, int]) -> tuple[int, int, int]:
        """A passage without what is no letter or digit at its ends."""
        number, start, end = each
        letters = [place for place in range(start, end) if self._text[place].isalnum()]
        return (number, letters[0], letters[-1] + 1) if letters else each

    def _signed(self, placed: list[tuple[int, int, int]]) -> str:
        signs = [(start, sign(number, end=False)) for number, start, _ in placed]
        return _with_signs(self._text, [*signs, *((end, sign(number, end=True)) for number, _, end in placed)])

    def _fits(self, placed: list[tuple[int, int, int]]) -> bool:
        return _shape(self._tokens(self._signed(placed))) == self._wanted


def _shape(tokens: Sequence[Token]) -> list[Any]:
    """What tokens come to; signs in texts are passed over, and stay where they would be lost."""
    made: list[Any] = []
    for token in tokens:
        inside = _shape(token.children) if token.children and token.type == "inline" else None
        content = bare(token.content) if token.type in (*_SHOWN, "inline") else token.content
        if token.type == "text" and made and made[-1][0] == "text":
            made[-1] = (*made[-1][:3], made[-1][3] + content, *made[-1][4:])
            continue
        attrs = sorted((key, str(value)) for key, value in token.attrs.items())
        made.append((token.type, token.tag, token.nesting, content, attrs, token.info, str(token.meta), inside))
    return made
