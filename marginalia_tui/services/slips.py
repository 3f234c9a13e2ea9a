"""Slips of the kinds that drafts have: put into a clean book with a fixed seed, and counted afterwards.

`make_slips` gives a draft of a book and remembers where it spoiled what: never in code, headings or verse, at most
one in a paragraph, and the same ones for the same book and seed. `judge` compares what came of the draft with the
clean book, character by character: which slips are corrected, which were only told, which are left, and what was
touched beside them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from random import Random

from marginalia_tui.domain.words import count_words
from marginalia_tui.llm.offline.prose import Page, read_page

WORDS_FOR_A_SLIP = 230
"""About sixty slips in a novella of 14,000 words."""

QUOTE_KINDS = ("missing closing quote", "missing opening quote")

_DOUBLED = re.compile(r"(?<=[ ])(?:the|a|an|and|of|to|in|was|with|their|his|at|for|from)(?=[ ][a-z])")
_SPACE = re.compile(r"(?<=[a-z,;.])[ ](?=[a-z])")
_MARK = re.compile(r"(?<=[a-z])(?:[,;:?!]|\.(?!\.))(?=[ ]|\u201d|$)")
_STRAIGHT = re.compile("[\u201c\u201d]|(?<=[a-z])\u2019(?=[a-z])")
_DASH = re.compile("(?<=[a-z])\u2014(?=[a-z])")
_DROPPED = re.compile(r"(?<=[a-z][ ])(?:the|a|to|of|in)[ ](?=[a-z])")
_PHRASE = re.compile(r"(?<=[a-z][ ])(?:of|in|to|at|on|for|with|by) (?:the|a|his|her|my|their) [a-z]+(?=[ ][a-z])")
_CONFUSED = {
    "its": "it\u2019s",
    "it\u2019s": "its",
    "their": "there",
    "there": "their",
    "your": "you\u2019re",
    "you\u2019re": "your",
    "than": "then",
    "whose": "who\u2019s",
    "who\u2019s": "whose",
    "too": "to",
    "lose": "loose",
}
_CONFUSION = re.compile(
    r"(?<![\w\u2019-])(?:" + "|".join(sorted(map(re.escape, _CONFUSED), key=len, reverse=True)) + r")(?![\w\u2019-])"
)
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_CONTEXTS = sorted(product((400, 80, 24, 14, 8, 4, 2), repeat=2), key=lambda widths: -min(widths) * 1000 - max(widths))
"""Characters before and after a slip by which it is looked for, the widest first."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One spoiled place: `old` at offset `at` of the clean chapter became `new`.

    `clean` and `slipped` are the two passages with a few words around them, for people.
    """

    chapter: int
    kind: str
    at: int
    old: str
    new: str
    clean: str
    slipped: str


@dataclass(frozen=True, slots=True)
class Touch:
    """A passage that differs from the clean text though no slip was there; with a word or two around it."""

    chapter: int
    clean: str
    result: str


@dataclass(frozen=True, slots=True)
class SlipReport:
    """What became of the slips. Every slip is in exactly one of the first four.

    `corrected`: the clean text stands there again. `reported`: left, but told to the author. `left`: left, and not
    told. `altered`: something else than either text stands there (its difference is also in `touched_beside`).
    """

    corrected: tuple[Slip, ...]
    reported: tuple[Slip, ...]
    left: tuple[Slip, ...]
    altered: tuple[Slip, ...]
    touched_beside: tuple[Touch, ...]

    @property
    def found(self) -> int:
        """How many were corrected or told."""
        return len(self.corrected) + len(self.reported)

    @property
    def total(self) -> int:
        """How many there were."""
        return len(self.corrected) + len(self.reported) + len(self.left) + len(self.altered)

    def by_kind(self) -> dict[str, tuple[int, int, int]]:
        """For each kind, in alphabetical order: how many there were, were corrected, were only told."""
        table: dict[str, tuple[int, int, int]] = {}
        every = (*self.corrected, *self.reported, *self.left, *self.altered)
        for kind in sorted({slip.kind for slip in every}):
            table[kind] = (
                sum(slip.kind == kind for slip in every),
                sum(slip.kind == kind for slip in self.corrected),
                sum(slip.kind == kind for slip in self.reported),
            )
        return table


Edit = tuple[int, int, str]
Spoil = Callable[[str, Random], Iterator[Edit]]
"""Finds the places of a passage (a mask) that a kind of slip may spoil, and what stands there afterwards."""


def _spoil_doubled(passage: str, _: Random) -> Iterator[Edit]:
    for match in _DOUBLED.finditer(passage):
        yield match.end(), match.end(), " " + match.group()


def _spoil_space(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.end(), match.end(), " ") for match in _SPACE.finditer(passage))


def _spoil_mark(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.start(), match.start(), " ") for match in _MARK.finditer(passage))


def _spoil_closing(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.start(), match.end(), "") for match in re.finditer("\u201d", passage))


def _spoil_opening(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.start(), match.end(), "") for match in re.finditer("\u201c", passage))


def _spoil_dash(passage: str, random: Random) -> Iterator[Edit]:
    for match in _DASH.finditer(passage):
        yield match.start(), match.end(), " - " if random.random() < 0.5 else "--"


def _spoil_curly(passage: str, _: Random) -> Iterator[Edit]:
    for match in _STRAIGHT.finditer(passage):
        yield match.start(), match.end(), "'" if match.group() == "\u2019" else '"'


def _spoil_confusion(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.start(), match.end(), _CONFUSED[match.group()]) for match in _CONFUSION.finditer(passage))


def _spoil_dropped(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.start(), match.end(), "") for match in _DROPPED.finditer(passage))


def _spoil_phrase(passage: str, _: Random) -> Iterator[Edit]:
    return ((match.end(), match.end(), " " + match.group()) for match in _PHRASE.finditer(passage))


SPOILERS: dict[str, tuple[float, Spoil]] = {
    "hyphen for a dash": (0.08, _spoil_dash),
    "confused words": (0.08, _spoil_confusion),
    "repeated phrase": (0.05, _spoil_phrase),
    "missing opening quote": (0.08, _spoil_opening),
    "missing closing quote": (0.10, _spoil_closing),
    "straight quote": (0.12, _spoil_curly),
    "dropped word": (0.06, _spoil_dropped),
    "space before punctuation": (0.13, _spoil_mark),
    "doubled space": (0.13, _spoil_space),
    "doubled word": (0.17, _spoil_doubled),
}
"""The kinds, the rarest places first; each with its share of all slips."""


@dataclass(frozen=True, slots=True)
class _Place:
    chapter: int
    block: int
    at: int
    end: int
    new: str


def make_slips(chapters: Sequence[str], seed: int = 20) -> tuple[tuple[str, ...], tuple[Slip, ...]]:
    """Spoils a clean book.

    Args:
        chapters: the clean chapters, as Markdown.
        seed: another one gives other slips.

    Returns:
        The chapters with slips in them, and the slips in the order of the book.
    """
    random = Random(seed)
    pages = [read_page(text) for text in chapters]
    wanted = sum(map(count_words, chapters)) / WORDS_FOR_A_SLIP
    used: set[tuple[int, int]] = set()
    slips: list[Slip] = []
    for kind, (share, spoil) in SPOILERS.items():
        # Not more than a quarter of its places: what a book does most of the time must stay clear.
        places = list(_places(pages, spoil, random))
        left = min(round(wanted * share), max(1, len(places) // 4))
        while left and places:
            index = int(random.random() * len(places))
            place, places[index] = places[index], places[-1]
            places.pop()
            if (place.chapter, place.block) not in used:
                used.add((place.chapter, place.block))
                slips.append(_slip(kind, place, chapters[place.chapter]))
                left -= 1
    slips.sort(key=lambda slip: (slip.chapter, slip.at))
    return tuple(_spoiled(text, _in(slips, index)) for index, text in enumerate(chapters)), tuple(slips)


def judge(
    slips: Sequence[Slip],
    clean_texts: Sequence[str],
    slipped_texts: Sequence[str],
    result_texts: Sequence[str],
    told: str = "",
) -> SlipReport:
    """Says what became of the slips.

    Args:
        slips: as `make_slips` gave them.
        clean_texts: the chapters before.
        slipped_texts: the chapters that were worked on.
        result_texts: the chapters that came of it, in the same order.
        told: everything that was told to the author about them: the report, the text of the run.

    Returns:
        The report.

    Raises:
        ValueError: the three lists are of different length, or the slips belong to another book.
    """
    if not len(clean_texts) == len(slipped_texts) == len(result_texts):
        raise ValueError("the clean, the slipped and the resulting book have different numbers of chapters")
    fates: dict[str, list[Slip]] = {"corrected": [], "reported": [], "left": [], "altered": []}
    touches: list[Touch] = []
    told = " ".join(told.split())
    for chapter, (clean, slipped, result) in enumerate(zip(clean_texts, slipped_texts, result_texts, strict=True)):
        own = _in(slips, chapter)
        if _spoiled(clean, own) != slipped:
            raise ValueError(f"the slips of chapter {chapter} belong to another text")
        left: list[Slip] = []
        for slip in own:
            fate = _fate(slip, own, clean, result)
            if fate == "left":
                left.append(slip)
                fate = "reported" if _is_told(slip, left, clean, told) else "left"
            fates[fate].append(slip)
        touches += _touches(chapter, _spoiled(clean, left), result)
    return SlipReport(
        corrected=tuple(fates["corrected"]),
        reported=tuple(fates["reported"]),
        left=tuple(fates["left"]),
        altered=tuple(fates["altered"]),
        touched_beside=tuple(touches),
    )


def _places(pages: Sequence[Page], spoil: Spoil, random: Random) -> Iterator[_Place]:
    for chapter, page in enumerate(pages):
        for number, block in enumerate(page.blocks):
            if block.kind == "prose":
                for start, end, new in spoil(page.mask[block.start : block.end], random):
                    yield _Place(chapter, number, block.start + start, block.start + end, new)


def _slip(kind: str, place: _Place, text: str) -> Slip:
    start, end = place.at, place.end
    before, after = _words_before(text, start, 4), _words_after(text, end, 4)
    return Slip(
        place.chapter,
        kind,
        start,
        text[start:end],
        place.new,
        text[before:after],
        text[before:start] + place.new + text[end:after],
    )


def _in(slips: Sequence[Slip], chapter: int) -> list[Slip]:
    return [slip for slip in slips if slip.chapter == chapter]


def _spoiled(text: str, slips: Sequence[Slip]) -> str:
    """A chapter with these slips (in order) in it."""
    pieces: list[str] = []
    position = 0
    for slip in slips:
        pieces += (text[position : slip.at], slip.new)
        position = slip.at + len(slip.old)
    return "".join((*pieces, text[position:]))


def _fate(slip: Slip, own: Sequence[Slip], clean: str, result: str) -> str:
    """`corrected`, `left` or `altered`, by the widest surroundings in which only one of the two texts stands.

    The surroundings never reach another slip, so that its fate doesn't matter.
    """
    end = slip.at + len(slip.old)
    floor = max((other.at + len(other.old) for other in own if other.at < slip.at), default=0)
    ceiling = min((other.at for other in own if other.at > slip.at), default=len(clean))
    for before, after in _CONTEXTS:
        left, right = clean[max(floor, slip.at - before) : slip.at], clean[end : min(ceiling, end + after)]
        whole, spoiled = result.count(left + slip.old + right), result.count(left + slip.new + right)
        if clean.count(left + slip.old + right) == 1 and whole + spoiled == 1:
            return "corrected" if whole else "left"
    return "altered"


def _is_told(slip: Slip, left: Sequence[Slip], clean: str, told: str) -> bool:
    """Whether the slip is quoted with its neighbouring words; for a quotation mark any four words of its paragraph."""
    end = slip.at + len(slip.old)
    if slip.kind in QUOTE_KINDS:
        start = clean.rfind("\n\n", 0, slip.at) + 1
        stop = clean.find("\n\n", end)
        words = " ".join(clean[start : stop if stop > 0 else len(clean)].split()).split(" ")
        return any(" ".join(words[index : index + 4]) in told for index in range(max(1, len(words) - 3)))
    before, after = _words_before(clean, slip.at, 1), _words_after(clean, end, 1)
    quoted = clean[before : slip.at] + slip.new + clean[end:after]
    return " ".join(quoted.split()) in told and (not (slip.new + slip.old).isspace() or quoted in told)


def _touches(chapter: int, expected: str, result: str) -> Iterator[Touch]:
    """The differences, word by word; paragraphs are aligned first, so that a long chapter costs little."""
    if expected == result:
        return
    before, after = expected.split("\n\n"), result.split("\n\n")
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            if j - i == m - k:
                for one, other in zip(before[i:j], after[k:m], strict=True):
                    yield from _touched_words(chapter, one, other)
            else:
                yield from _touched_words(chapter, "\n\n".join(before[i:j]), "\n\n".join(after[k:m]))


def _touched_words(chapter: int, expected: str, result: str) -> Iterator[Touch]:
    before, after = _TOKEN.findall(expected), _TOKEN.findall(result)
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Touch(chapter, "".join(before[max(0, i - 2) : j + 2]), "".join(after[max(0, k - 2) : m + 2]))


def _words_before(text: str, at: int, number: int) -> int:
    """Where the last `number` words of the line before `at` begin."""
    line = text.rfind("\n", 0, at) + 1
    starts = [match.start() for match in _WORD.finditer(text, line, at)]
    if not starts:
        return line
    start = starts[-number] if len(starts) >= number else line
    return start


def _words_after(text: str, at: int, number: int) -> int:
    """Where the first `number` words of the line after `at` end."""
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    ends = [match.end() for match in _WORD.finditer(text, at, stop)]
    return ends[number - 1] if len(ends) >= number else stop
