"""What must stand in a text for a filter of lore to fit it: the quick test before the real one.

Texts and needles are folded alike: one case, one form of each letter, one kind of quote and dash, one space for any
space. A needle of a regular expression is read off the expression only where it is plain; then the expression is
also known to be right, so that leaving it out says nothing wrong about it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_SAME = {"\u0131": "i", "\u0130": "i"} | {
    each: plain
    for plain, variants in (
        ("'", "\u2018\u2019\u201b\u02bc"),
        ('"', "\u201c\u201d\u201e\u201f"),
        ("-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"),
    )
    for each in variants
}
"""The Turkish letters are those that an expression takes for an i."""
_SPACE = re.compile(r"\s+")
_GRAM = 3
"""Characters by which texts are looked up."""


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text)
    for variant, plain in _SAME.items():
        text = text.replace(variant, plain)
    return text.casefold()


def fold(text: str) -> str:
    """A text in which needles are looked for: folded, a space at each end."""
    return f" {' '.join(_folded(text).split())} "


@lru_cache(maxsize=16_384)
def fold_needle(text: str) -> str:
    """A text that is looked for: folded, a space at its ends kept."""
    return _SPACE.sub(" ", _folded(text))


class Haystack:
    """Texts in which thousands of needles are looked for. Most that are in none are told by one look into a table.

    Args:
        texts: as they are, those that count most first.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.folded = [fold(text) for text in texts]
        self.composed = all(text.isascii() or unicodedata.is_normalized("NFC", text) for text in texts)
        """Whether a needle of an expression is where the expression fits: it reads letters as they are composed."""
        words: dict[str, int] = {}
        for place, text in enumerate(self.folded):
            for word in set(text.split(" ")):
                words.setdefault(word, place)
        # Read backwards, so that of the places of a piece the first is kept.
        self._grams = {
            padded[start : start + _GRAM]: place
            for padded, place in [(f" {word} ", place) for word, place in reversed(words.items())]
            for start in range(len(padded) - _GRAM + 1)
        }

    def places(self, needles: Iterable[str], within: int) -> list[int]:
        """The places of the texts that hold one of the needles (folded), among the first `within`."""
        found: set[int] = set()
        for needle in needles:
            start = self._earliest(needle, within)
            found.update(place for place in range(start, within) if needle in self.folded[place])
        return sorted(found)

    def first(self, needle: str, within: int) -> int | None:
        """The place of the first text that holds a needle (folded), among the first `within`."""
        for place in range(self._earliest(needle, within), within):
            if needle in self.folded[place]:
                return place
        return None

    def _earliest(self, needle: str, within: int) -> int:
        """The first place where the needle can be; `within` when it can't be in one before that."""
        earliest = 0
        for start in range(len(needle) - _GRAM + 1):
            gram = needle[start : start + _GRAM]
            if gram[1] == " ":  # the words stand in the table, not what stands across two of them
                continue
            place = self._grams.get(gram, within)
            if place > earliest:
                if place >= within:
                    return within
                earliest = place
        return earliest


_TOKEN = re.compile(
    r"\\(?P<escape>.)"
    r"|(?P<set>\[\^?(?:0-9|A-Z|a-z|[^\]\\\[&|~^-])+\])"
    r"|(?P<behind>\(\?<[=!])"
    r"|(?P<ahead>\(\?[=!])"
    r"|(?P<open>\((?:\?(?:a|-i)?:|(?![?*])))"
    r"|(?P<close>\))"
    r"|(?P<bar>\|)"
    r"|(?P<repeat>[*+?][?+]?)"
    r"|(?P<any>\.)"
    r"|(?P<edge>[\^$])"
    r"|(?P<char>[^\\\[({])",
    re.DOTALL,
)
_WORDS = r"[\w' -]+(?:\|[\w' -]+)*"
_ALTERNATIVES = re.compile(rf"(?:\\b)?(?:\((?:\?:)?({_WORDS})\)|({_WORDS}))(?:\\b)?")
"""The shape of nearly all of them: words, or one of several."""
_EDGES, _KINDS = "bBAZ", "sSwWdD"
_DEEPEST = 20

_Needles = tuple[str, ...] | None
_Item = str | _Needles
"""Of a sequence: a character, the needles of a group, None for what may be anything."""


@lru_cache(maxsize=16_384)
def needles_of(pattern: str) -> _Needles:
    """The needles of a regular expression, folded: where it fits, one of them stands.

    Returns:
        None when the expression is not plain enough to tell.
    """
    if match := _ALTERNATIVES.fullmatch(pattern):
        words = match[1] or match[2]
        if words.isascii():
            return tuple(dict.fromkeys(map(fold_needle, words.split("|"))))
    reader = _Reader()
    end = 0
    while end < len(pattern):
        match = _TOKEN.match(pattern, end)
        if match is None or not reader.take(match):
            return None
        end = match.end()
    return reader.needles()


class _Group:
    """A group that is open: the needles of its alternatives so far, and the sequence that is read."""

    def __init__(self, opening: str = "") -> None:
        self.opening = opening
        self.ended: list[_Needles] = []
        self.items: list[_Item] = []

    def end_sequence(self) -> None:
        self.ended.append(_best(self.items))
        self.items = []

    def needles(self) -> _Needles:
        """Those of all alternatives; None when one of them has none."""
        self.end_sequence()
        known = [each for each in self.ended if each is not None]
        return tuple(dict.fromkeys(one for each in known for one in each)) if len(known) == len(self.ended) else None


class _Reader:
    """Reads an expression token by token."""

    def __init__(self) -> None:
        self._groups = [_Group()]
        self._repeatable = False
        """Whether the last token may be repeated."""

    def take(self, token: "re.Match[str]") -> bool:
        """Reads a token; False when the expression is not plain."""
        items = self._groups[-1].items
        text, repeatable = token.group(), False
        match token.lastgroup:
            case "open" | "ahead" | "behind":
                self._groups.append(_Group(text))
            case "close":
                repeatable = len(self._groups) > 1 and not self._groups[-1].opening.endswith(("=", "!"))
                self._close()
            case "bar":
                self._groups[-1].end_sequence()
            case "repeat":
                if not self._repeatable:
                    return False
                items[-1:] = [items[-1], None] if text.startswith("+") else [None]
            case "escape" if token["escape"] in _EDGES:
                pass
            case "escape" if token["escape"].isalnum() and token["escape"] not in _KINDS:
                return False
            case "escape" | "char" if text[-1] not in _KINDS or len(text) == 1:
                items.append(text[-1])
                repeatable = True
            case "escape" | "set" | "any":
                items.append(None)
                repeatable = True
        self._repeatable = repeatable
        return 0 < len(self._groups) <= _DEEPEST

    def needles(self) -> _Needles:
        """Those of the whole; None when a group was not closed."""
        return self._groups[0].needles() if len(self._groups) == 1 else None

    def _close(self) -> None:
        group = self._groups.pop()
        found = group.needles()
        if self._groups:
            self._groups[-1].items.append(None if group.opening.endswith("!") else found)


def _best(items: Sequence[_Item]) -> _Needles:
    """The needles of a sequence: those of the piece that is hardest to meet by chance."""
    pieces: list[tuple[str, ...]] = []
    run = ""
    for item in (*items, None):
        if isinstance(item, str):
            run += item
            continue
        if needle := fold_needle(run) if run and unicodedata.is_normalized("NFC", run) else "":
            pieces.append((needle,))
        run = ""
        if item:
            pieces.append(item)
    return max(pieces, key=lambda piece: (min(map(len, piece)), -len(piece)), default=None)
