"""Finding a passage that somebody quoted, and putting another in its place.

Models and people retype what they read: straight quotes for curly ones, a plain space for a hard one, `--` for a
dash, another form of the same accent. So a passage is looked for exactly first; only when it is not there, in a
folded text in which those are one, and only a single find counts. What the new text keeps of the old one keeps
the typography of the book, and quotes that are added take the style of the part.
"""

import re as standard_re
import unicodedata
from dataclasses import dataclass

import regex
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

SHOWN = 300
"""Characters of a closest passage."""
NEAR = 60.0
"""The score from which a passage is near enough to be shown."""

_CLUSTER = regex.compile(
    r"(?P<dash>[-\u2010-\u2015\u2212\u2e3a\u2e3b]+)"
    r"|(?P<dots>\u2026|\.\.\.)"
    r"|(?P<nothing>[\u2060\u200b\u00ad\ufeff])"
    r"|(?P<space>[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+)"
    r"|(?P<line>\r\n|\r|\n)"
    '|(?P<double>["\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033])'
    "|(?P<single>['\u2018\u2019\u201a\u201b\u02bc\u2032`\u00b4])"
    r"|\P{M}\p{M}*|\p{M}+"
)
_FOLDED = {"dash": "-", "dots": "...", "nothing": "", "space": " ", "line": "\n", "double": '"', "single": "'"}
_TOKEN = regex.compile(
    r"[\p{L}\p{M}\p{N}_]+|[-\u2010-\u2015\u2212\u2e3a\u2e3b]+|\.\.\.|\s+\p{M}*|.\p{M}*", regex.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Folded:
    """A folded text; character k of it stands for `source[starts[k]:ends[k]]`."""

    text: str
    starts: list[int]
    ends: list[int]


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a quoted passage stands. `exact` is False when only its typography differs."""

    start: int
    end: int
    exact: bool


def find_passage(text: str, quoted: str) -> list[Passage]:
    """Every place of a passage, overlapping ones too: exact ones, or else those that differ in typography only."""
    exact = [Passage(start, start + len(quoted), True) for start in _places(text, quoted)]
    if exact or not quoted.strip():
        return exact
    wanted, folded = _fold(quoted), _fold(text)
    found = []
    for start in _places(folded.text, wanted.text):
        end = start + len(wanted.text)
        whole = _is_edge(folded, start) and _is_edge(folded, end)
        if whole:
            found.append(Passage(folded.starts[start], folded.ends[end - 1], False))
    return found


def replace_passage(text: str, passage: Passage, quoted: str, new: str) -> str:
    """The text with the passage replaced by `new`, where `quoted` is what the passage was called by.

    What `new` has in common with `quoted` stays as it stands in the text; what it adds takes the quotes of the
    text, unless `quoted` names quotes exactly, so that a change of quotes is meant.
    """
    styled = _styled(new, text, passage, quoted)
    edges = _edges(text, passage, quoted)
    before, after = _tokens(quoted), _tokens(new)
    pieces = []
    for code in LCSseq.opcodes([quoted[a:b] for a, b in before], [new[a:b] for a, b in after]):
        if code.tag == "equal":
            begin = edges[before[code.src_start][0]]
            end = edges[before[code.src_end - 1][1]]
            pieces.append(text[begin:end])
        elif code.dest_end > code.dest_start:
            pieces.append(styled[after[code.dest_start][0] : after[code.dest_end - 1][1]])
    return text[: passage.start] + "".join(pieces) + text[passage.end :]


def closest_passage(text: str, quoted: str) -> str:
    """The passage of a text that is most like a quoted one, at most `SHOWN` characters; empty when none is near."""
    if not text or not quoted.strip():
        return ""
    best = fuzz.partial_ratio_alignment(quoted, text, score_cutoff=NEAR)
    if best is None or best.dest_end <= best.dest_start:
        return ""
    start, end = best.dest_start, best.dest_end
    if len(quoted) > len(text):
        start, end = 0, len(text)
    while start > 0 and text[start - 1].isalnum() and best.dest_start - start < 20:
        start -= 1
    while end < len(text) and text[end].isalnum() and end - best.dest_end < 20:
        end += 1
    if end - start > SHOWN:
        differs = _first_difference(text[start:end], quoted)
        start = max(start, start + differs - SHOWN // 3)
        end = min(end, start + SHOWN)
    return text[start:end]


def _places(text: str, wanted: str) -> list[int]:
    if not wanted:
        return []
    found = []
    here = text.find(wanted)
    while here >= 0:
        found.append(here)
        here = text.find(wanted, here + 1)
    return found


def _fold(text: str) -> _Folded:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        kind = match.lastgroup
        piece = _FOLDED[kind] if kind else unicodedata.normalize("NFD", match.group())
        pieces.append(piece)
        starts.extend([match.start()] * len(piece))
        ends.extend([match.end()] * len(piece))
    return _Folded("".join(pieces), starts, ends)


def _is_edge(folded: _Folded, place: int) -> bool:
    """Whether a place of the folded text parts two characters of the source, and not a letter and its accent."""
    return place in (0, len(folded.text)) or folded.starts[place] != folded.starts[place - 1]


def _edges(text: str, passage: Passage, quoted: str) -> list[int]:
    """For each offset of `quoted` between two tokens, the offset in the text that it stands for."""
    if passage.exact:
        return [passage.start + place for place in range(len(quoted) + 1)]
    wanted, found = _fold(quoted), _fold(text[passage.start : passage.end])
    edges = [passage.start]
    place = 0
    for offset in range(1, len(quoted) + 1):
        while place < len(wanted.text) and wanted.starts[place] < offset:
            place += 1
        inside = place < len(found.starts)
        edges.append(passage.start + found.starts[place] if inside else passage.end)
    return edges


def _tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(text)]


def _first_difference(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


_CURLY_DOUBLE = "\u201c\u201d"
_CURLY_SINGLE = "\u2018\u2019"
_OPENS_BEFORE = standard_re.compile(r"(?:^|[\s(\[{\u2013\u2014\u2015-]|[\u201c\u2018\u201e\u00ab\"'])\Z")
_ELIDED = standard_re.compile(
    r"(?:tis|twas|twere|twill|em|cause|bout|til|till|round|neath|n|\d\ds?)\b", standard_re.IGNORECASE
)


def _styled(new: str, text: str, passage: Passage, quoted: str) -> str:
    """`new` with the quotes of the text; as long as `new`, character by character."""
    double = _keeps(quoted, passage, '"' + _CURLY_DOUBLE)
    single = _keeps(quoted, passage, "'" + _CURLY_SINGLE)
    return with_quotes_of(
        text, new, before=text[max(0, passage.start - 1) : passage.start], double=not double, single=not single
    )


def _keeps(quoted: str, passage: Passage, quotes: str) -> bool:
    return passage.exact and any(char in quotes for char in quoted)


def with_quotes_of(text: str, new: str, *, before: str = "", double: bool = True, single: bool = True) -> str:
    """`new` with its quotes straight or curly, as all those of `text` are; unchanged where `text` has both.

    Args:
        text: the text whose style counts.
        new: what is written; the answer has the same length.
        before: the character in front of it.
        double: whether double quotes are styled.
        single: whether single quotes and apostrophes are.
    """
    double_pair = _double_pair(text) if double else None
    single_pair = _single_pair(text) if single else None
    written: list[str] = []
    for place, char in enumerate(new):
        ahead = written[-1] if written else before
        opens = bool(_OPENS_BEFORE.search(ahead))
        if double_pair and char in '"' + _CURLY_DOUBLE and (char == '"' or double_pair == '""'):
            char = double_pair[0] if opens else double_pair[1]
        elif single_pair == "''" and char in _CURLY_SINGLE:
            char = "'"
        elif single_pair == _CURLY_SINGLE and char == "'":
            char = single_pair[0] if opens and not _ELIDED.match(new, place + 1) else single_pair[1]
        written.append(char)
    return "".join(written)


def _double_pair(text: str) -> str | None:
    straight, opening, closing, low = (text.count(char) for char in '"\u201c\u201d\u201e')
    if "\u00ab" in text or "\u00bb" in text or (straight and opening + closing + low):
        return None
    if straight:
        return '""'
    if low:
        return "\u201e" + ("\u201c" if opening >= closing else "\u201d")
    if opening + closing:
        return _CURLY_DOUBLE
    return _CURLY_DOUBLE if _single_pair(text) == _CURLY_SINGLE else None


def _single_pair(text: str) -> str | None:
    straight, curly = text.count("'"), sum(text.count(char) for char in _CURLY_SINGLE)
    if straight and curly:
        return None
    return "''" if straight else (_CURLY_SINGLE if curly else None)
