"""The typographic habits of a book: counted part by part, added up, decided where they are clear.

Only what a rule could change is counted. So a correction makes its habit clearer and never less clear, and a second
pass over a corrected book decides as the first one did.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from marginalia_tui.llm.offline.english import speaks_english
from marginalia_tui.llm.offline.prose import Page, read_page

DashForm = Literal["tight", "spaced", "spaced en", "double", "spaced double", "hyphen"]

DASHES: dict[DashForm, str] = {
    "tight": "\u2014",
    "spaced": " \u2014 ",
    "spaced en": " \u2013 ",
    "double": "--",
    "spaced double": " -- ",
    "hyphen": " - ",
}
_FORMS = {written: form for form, written in DASHES.items()}

JOINER = "\u2060"
"""The invisible word joiner that some typesetters put before a dash."""

_DASH = re.compile(
    rf"(?<=[\w'\u2019\u201d\"*).,;:!?\u2026])"
    rf"(?:[ ]{{1,3}}(?P<spaced>\u2014|\u2013|--|-)[ ]{{1,3}}(?=[\w\u201c\u2018\"'*(])"
    rf"|{JOINER}?(?P<tight>\u2014|--)(?=[\w\u201c\u201d\u2018\u2019\"'*(,;:.!?)]|\r?$))",
    re.MULTILINE,
)
_LETTER = re.compile(r"[^\W\d_]")

SPACED_MARK = re.compile(
    r"(?<=[\w\u201d\u2019\"')*])[ ]{1,3}([,;:!?.])(?=\r?$|[\u201d\u2019\"']*(?:\s|$))(?![ ]{0,3}[.\u2014\u2013-])",
    re.MULTILINE,
)
_CLOSE_MARK = re.compile(r"\w([,;:!?.])(?=[\u201d\u2019\"']*(?:\s|$))")
SENTENCE_GAP = re.compile(r"[.!?][\u201d\u2019\"')*_]*([ ]{1,3})(?=[^\s\u2014\u2013-])")
_CURLY = re.compile("[\u201c\u201d]")
_CURLY_APOSTROPHE = re.compile(r"(?<=[^\W\d_])\u2019(?=[^\W\d_])")
_STRAIGHT_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_SINGLE_SPEECH = re.compile(r"(?:^|(?<=\s))\u2018(?=\w)", re.MULTILINE)
_OTHER_QUOTES = re.compile("[\u201e\u201a\u00ab\u00bb\u2039\u203a\u300c\u300e]")


@dataclass(frozen=True, slots=True)
class Dash:
    """A dash between two stretches of prose: `text[start:end]`, its spaces (and word joiner) included.

    `inner`: letters stand on both sides, so that any form could stand here.
    """

    start: int
    end: int
    form: DashForm
    inner: bool


@dataclass(frozen=True, slots=True)
class Style:
    """What a book clearly does; None or empty where it is not clear."""

    quotes: Literal["curly", "straight"] | None = None
    curly_apostrophes: bool = False
    dash: DashForm | None = None
    joiner: bool = False
    """A word joiner stands before its dashes."""
    double_gap: bool = False
    """Two spaces between sentences are its custom."""
    spaced_marks: frozenset[str] = frozenset()
    """Marks that it sets off by a space, as old printers did."""

    @property
    def dash_text(self) -> str:
        """The dash as this book writes it."""
        written = DASHES[self.dash] if self.dash else ""
        return JOINER + written if self.joiner and self.dash == "tight" else written


@dataclass(frozen=True, slots=True)
class Habits:
    """Counts over any number of texts, by the name of what was counted."""

    counts: tuple[tuple[str, int], ...] = ()

    def style(self) -> Style:
        """The style that these counts make clear."""
        count = Counter(dict(self.counts))
        return Style(
            quotes=_quotes(count),
            curly_apostrophes=count["curly '"] >= 8 and count["curly '"] >= 9 * count["straight '"],
            dash=_dash(count),
            joiner=2 * count["joiner"] > count["dash tight"],
            double_gap=count["gap 2"] >= 3 and 3 * count["gap 2"] >= count["gap 1"],
            spaced_marks=frozenset(
                mark
                for mark in ",;:!?."
                if count["spaced " + mark] >= 4 and 12 * count["spaced " + mark] >= count["close " + mark]
            ),
        )


def add_habits(several: Iterable[Habits]) -> Habits:
    """The habits of several texts together."""
    total: Counter[str] = Counter()
    for habits in several:
        total.update(dict(habits.counts))
    return Habits(tuple(sorted(total.items())))


@lru_cache(maxsize=4096)
def habits_of(text: str) -> Habits:
    """The habits of one text; none when it is not English."""
    if not speaks_english(text):
        return Habits()
    page = read_page(text)
    count: Counter[str] = Counter()
    for dash in dashes(page):
        if dash.inner:
            count["dash " + dash.form] += 1
            count["joiner"] += dash.form == "tight" and page.text[dash.start] == JOINER
    for block in page.prose():
        passage = page.mask[block.start : block.end]
        count["curly"] += len(_CURLY.findall(passage))
        count["straight"] += passage.count('"')
        count["other quotes"] += len(_OTHER_QUOTES.findall(passage))
        count["single speech"] += len(_SINGLE_SPEECH.findall(passage))
        count["curly '"] += len(_CURLY_APOSTROPHE.findall(passage))
        count["straight '"] += len(_STRAIGHT_APOSTROPHE.findall(passage))
        count.update("spaced " + mark for mark in SPACED_MARK.findall(passage))
        count.update("close " + mark for mark in _CLOSE_MARK.findall(passage))
        count.update(f"gap {min(len(gap), 2)}" for gap in SENTENCE_GAP.findall(passage))
    return Habits(tuple(sorted((name, number) for name, number in count.items() if number)))


def dashes(page: Page) -> Iterator[Dash]:
    """The dashes of the prose that a rule may judge; ranges of numbers and signs of a list are none."""
    for block in page.prose():
        for match in _DASH.finditer(page.mask, block.start, block.end):
            start, end = match.span()
            left, right = page.mask[start - 1], page.mask[end : end + 1]
            spaced = match["spaced"]
            if left.isdigit() and right.isdigit() or (spaced == "-" and (left.isdigit() or right.isdigit())):
                continue
            form = _FORMS[f" {spaced} " if spaced else match["tight"]]
            yield Dash(start, end, form, bool(_LETTER.match(left) and _LETTER.match(right)))


def _quotes(count: Counter[str]) -> Literal["curly", "straight"] | None:
    if count["other quotes"] > 2 or 2 * count["single speech"] > count["curly"] + count["straight"]:
        return None
    if count["curly"] >= 8 and count["curly"] >= 9 * count["straight"]:
        return "curly"
    if count["straight"] >= 8 and count["straight"] >= 9 * count["curly"]:
        return "straight"
    return None


def _dash(count: Counter[str]) -> DashForm | None:
    total = sum(count["dash " + form] for form in DASHES)
    for form in DASHES:
        if form != "hyphen" and count["dash " + form] >= 3 and 4 * count["dash " + form] >= 3 * total:
            return form
    return None
