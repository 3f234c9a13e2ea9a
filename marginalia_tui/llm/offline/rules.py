"""The corrections that need no judgement: what is certainly a slip, and what certainly stands there instead.

Every rule is a pure function of a page and the style of its book. It answers with nothing wherever a reader could
doubt: a slip that is left is told to a person, a wrong correction would be a new slip. Applied until nothing is
found (`proofread`), the rules leave their own result alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from marginalia_tui.llm.offline import english
from marginalia_tui.llm.offline.habits import SENTENCE_GAP, SPACED_MARK, Style, dashes
from marginalia_tui.llm.offline.prose import Block, Page, read_page
from marginalia_tui.llm.offline.quotes import missing_quotes, speech_spans, straight_quotes, turned_quotes

KINDS = (
    "doubled word",
    "doubled space",
    "space before punctuation",
    "missing quote",
    "turned quote",
    "straight quote",
    "mixed dash",
)
"""The names of what is corrected, in the order in which a report lists them."""

_PASSES = 4
_DOUBLE = re.compile(
    r"(?<![\w'\u2019\u2010\u2011*_/.\ue000-])(?P<first>[^\W\d_]+)(?P<gap>[ \t]+|[ \t]*\r?\n)(?P<second>(?i:(?P=first)))"
    r"(?=[ \t]+[\w\u201c\u2018\"'(*]|[ \t]*\r?\n\w)"
)
_GAP = re.compile(r"(?<=[^\s])[ ]{2,3}(?=[^\s])")
_COLUMNS = re.compile(r"[^\s][ ]{3,}[^\s]")
_CLAUSE_HEAD = re.compile(
    r"(?:^|[.!?;:,\u2026\u2014(\u201c\"][\u201d\u2019\"')]*\s+|\b(?:and|but|or)\s+)[\u201c\"(]?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, order=True)
class Correction:
    """Puts `new` in place of `old`, which is `text[start:end]`; `kind` is one of `KINDS`."""

    start: int
    end: int
    old: str
    new: str
    kind: str


@dataclass(frozen=True, slots=True)
class Double:
    """A word that stands twice in a row, at `text[start:end]`; `certain` when that is surely a slip."""

    start: int
    end: int
    keep: str
    certain: bool


@lru_cache(maxsize=4096)
def corrections(text: str, style: Style) -> tuple[Correction, ...]:
    """What is certain in one text, in order, none overlapping another.

    Args:
        text: a part of a book, as Markdown.
        style: the habits of the book that the part belongs to.

    Returns:
        The corrections of one pass. What two of them would touch at once is left to the next pass.
    """
    if not english.speaks_english(text):
        return ()
    page = read_page(text)
    found: list[Correction] = []
    for kind, edits in (
        ("doubled word", _doubled_words(page)),
        ("doubled space", _doubled_spaces(page, style)),
        ("space before punctuation", _spaced_marks(page, style)),
        ("straight quote", straight_quotes(page, style)),
        ("turned quote", turned_quotes(page, style)),
        ("missing quote", missing_quotes(page, style)),
        ("mixed dash", _mixed_dashes(page, style)),
    ):
        found += [Correction(start, end, text[start:end], new, kind) for start, end, new in edits]
    return tuple(_apart(sorted(found)))


def apply_corrections(text: str, found: tuple[Correction, ...]) -> str:
    """The text with corrections in it; they are in order and don't overlap."""
    pieces: list[str] = []
    position = 0
    for correction in found:
        pieces += (text[position : correction.start], correction.new)
        position = correction.end
    return "".join((*pieces, text[position:]))


def proofread(text: str, style: Style) -> str:
    """The text after as many passes as it takes until nothing is found (at most four)."""
    for _ in range(_PASSES):
        found = corrections(text, style)
        if not found:
            break
        text = apply_corrections(text, found)
    return text


def doubles(page: Page) -> Iterator[Double]:
    """Every word that stands twice in a row and is not one of those that often do on purpose."""
    for block in page.prose():
        passage = page.mask[block.start : block.end]
        if english.foreign(passage):
            continue
        doubtful = english.is_dialect(passage)
        spans = speech_spans(page, block)
        for match in _DOUBLE.finditer(page.mask, block.start, block.end):
            word = match["first"].lower()
            if word in english.PLAIN_DOUBLES or _runs_on(page, match, word):
                continue
            spoken = any(start <= match.start() < end for start, end in spans)
            start, keep = match.start(), match["first"]
            if "\n" in match["gap"]:
                # The line break stays: the word before it goes, with its space.
                start, keep = start - 1, match["gap"].lstrip(" \t") + match["second"]
                if page.mask[start] != " " or match["first"] != match["second"]:
                    continue
            yield Double(start, match.end(), keep, not doubtful and _is_slip(page, block, match, spoken))


def _runs_on(page: Page, match: re.Match[str], word: str) -> bool:
    """Three in a row are an emphasis or a stammer; a capital in the second word begins a name."""
    before = english.words_of(page.mask[max(0, match.start() - 40) : match.start()])
    after = english.words_of(page.mask[match.end() : match.end() + 40])
    if word in (before[-1:] + after[:1]):
        return True
    return word != "i" and match["second"] != match["second"].lower()


def _is_slip(page: Page, block: Block, match: re.Match[str], spoken: bool) -> bool:
    word = match["first"].lower()
    after = page.mask[match.end() : match.end() + 24].lstrip().lower()
    if word in english.CERTAIN_DOUBLES:
        if word in ("a", "an", "the") and re.match(r"[a-z]\b", after):
            return False
        return word != "of" or not any(after.startswith(following) for following in english.OF_BEFORE)
    if word in english.NARRATED_DOUBLES:
        return not spoken and "\u2018" not in page.mask[block.start : match.start()]
    if word in english.POSSESSED_DOUBLES:
        before = english.words_of(page.mask[max(block.start, match.start() - 20) : match.start()])
        return bool(before) and before[-1] in english.PREPOSITIONS
    if word in english.LEADING_DOUBLES:
        return bool(_CLAUSE_HEAD.search(page.mask[block.start : match.start()]))
    return False


def _doubled_words(page: Page) -> Iterator[tuple[int, int, str]]:
    return ((double.start, double.end, double.keep) for double in doubles(page) if double.certain)


def _doubled_spaces(page: Page, style: Style) -> Iterator[tuple[int, int, str]]:
    """Runs of two or three spaces inside a line; longer ones, and lines set in columns, are a layout."""
    for block in page.prose():
        passage = page.mask[block.start : block.end]
        if len(_COLUMNS.findall(passage)) > 1:
            continue
        sentence_gaps = {match.start(1) for match in SENTENCE_GAP.finditer(passage)}
        for match in _GAP.finditer(passage):
            if not (style.double_gap and match.start() in sentence_gaps):
                yield block.start + match.start(), block.start + match.end(), " "


def _spaced_marks(page: Page, style: Style) -> Iterator[tuple[int, int, str]]:
    for block in page.prose():
        if english.foreign(page.mask[block.start : block.end]):
            continue
        for match in SPACED_MARK.finditer(page.mask, block.start, block.end):
            if match[1] not in style.spaced_marks:
                yield match.start(), match.end(), match[1]


def _mixed_dashes(page: Page, style: Style) -> Iterator[tuple[int, int, str]]:
    """Dashes of another form than the book's; a dash between other marks than letters keeps its lack of spaces."""
    if style.dash is None:
        return
    loose = style.dash_text.startswith(" ")
    for dash in dashes(page):
        tight = dash.form in ("tight", "double")
        if dash.form == style.dash or (loose and tight and not _may_be_loose(page, dash.start, dash.end)):
            continue
        yield dash.start, dash.end, style.dash_text


def _may_be_loose(page: Page, start: int, end: int) -> bool:
    """Whether a tight dash parts two words, and is no stammer (`I--I`)."""
    left = re.search(r"([^\W\d_]+)$", page.mask[max(0, start - 30) : start])
    right = re.match(r"[^\W\d_]+", page.mask[end : end + 30])
    return bool(left and right) and left[1].lower() != right[0].lower()  # type: ignore[index]


def _apart(found: list[Correction]) -> Iterator[Correction]:
    """Leaves out what touches the correction before it: the next pass finds it again."""
    reached = -1
    for correction in found:
        if correction.start > reached:
            yield correction
            reached = correction.end
