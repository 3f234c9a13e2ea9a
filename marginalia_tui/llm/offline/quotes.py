"""Quotation marks: straight among curly ones, turned the wrong way, missing where one place alone is left.

A paragraph is judged by its row of opening and closing marks. One fault is put right when everything else in the
paragraph is in order and the mark can stand in one place only; speech that goes on into the next paragraph, which
begins with an opening mark again, is in order. Single quotes are never judged: they can't be told from apostrophes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from marginalia_tui.llm.offline import english
from marginalia_tui.llm.offline.habits import Style
from marginalia_tui.llm.offline.prose import HIDDEN, Block, Page

Edit = tuple[int, int, str]

_MARKS = re.compile('[\u201c\u201d"]')
_OPENS_AFTER = re.compile(r"(?:^|[\s(\[\u2014\u2013*_\u2018\u201c]|--)$")
_CLOSES_AFTER = re.compile(r"[\w.,;:!?\u2026\u2014\u2013*_)\]'\u2019\u201d-]$")
_SENTENCE_END = re.compile(r"[.!?\u2026][\u201d\u2019\"')*_]*\s")
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Capt|Rev|Messrs|No)\.")
_SPEECH_END = re.compile(r"[.,!?\u2026\u2014]$")
_NAME = (
    r"(?:[A-Z][\w'\u2019]*(?: [A-Z][\w'\u2019]*)?|(?:Mr|Mrs|Ms|Dr|St)\. [A-Z]\w+"
    r"|(?:[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Aa]n?|[Oo]ur) [a-z]+)"
)
_WHO = rf"(?:he|she|they|we|it|He|She|They|I|{_NAME})"
_SAID = (
    r"(?:said|asked|cried|replied|answered|whispered|muttered|murmured|called|shouted|added|began|went on|continued|"
    r"thought|told \w+|remarked|observed|exclaimed|returned|repeated)"
)
_TAG = re.compile(rf"(?P<mark>[,?!\u2026.])[ ](?P<tag>{_WHO} {_SAID}|{_SAID} {_WHO})(?=[.,;:])")
_NARRATED = re.compile(rf"[ ](?:{_WHO} {_SAID}|{_SAID} {_WHO})(?:[ ][\w'\u2019-]+){{0,7}}\.\s")
_NARRATION_AFTER_COMMA = re.compile(r", (?:(?:he|she|they|it|we|I|the|his|her|an?|was|were|is|came|my|our)\b|[A-Z])")
_HEAD_OF_SPEECH = re.compile(r"(?:^|[.,:;!?\u2014\u2026\u201d\"]\s?)$")
_ADDRESS = re.compile(r"\b(?:I|[Yy]ou|[Ww]e|[Mm]y|[Yy]our|[Mm]e|[Uu]s|[Oo]ur)\b|[?!]$")
_INNER_CAPITAL = re.compile(r"[,:;][ ](?!I\b)[\"\u2018']?[A-Z]")
_PERSONAL = re.compile(r"(?:He|She|They|His|Her|Their|It)\b")
_APOSTROPHE_INSIDE = re.compile(r"(?<=[^\W_])'(?=[^\W\d_])")
_APOSTROPHE_END = re.compile(r"(?<=[^\W\d_])'(?=[\s.,;:!?\u2026\u2014)\u201d\"-]|\r?$)", re.MULTILINE)
_APOSTROPHE_HEAD = re.compile(r"(?:(?<=[\s(\u2014\u201c\"])|^)'(?=([^\W\d_]+|\d0s\b))", re.MULTILINE)

LONGEST_SPEECH = 40
"""Words of a sentence that may get its missing mark; in a longer one too much could be narration."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A double quotation mark at a place of the text; `opens` is None when that can't be told."""

    at: int
    opens: bool | None


@dataclass(frozen=True, slots=True)
class Row:
    """The marks of a paragraph: where the alternation of opening and closing breaks, and how it ends.

    `faults` are indices into `marks`; `open_end` when the last mark opens and nothing closes it.
    """

    block: Block
    marks: tuple[Mark, ...]
    faults: tuple[int, ...]
    open_end: bool
    clear: bool

    @property
    def in_order(self) -> bool:
        """Whether every mark has its partner."""
        return self.clear and not self.faults and not self.open_end


def quote_row(page: Page, block: Block) -> Row:
    """Reads the marks of a paragraph."""
    marks = tuple(_mark(page, block, match.start()) for match in _MARKS.finditer(page.mask, block.start, block.end))
    faults: list[int] = []
    inside = False
    for index, mark in enumerate(marks):
        if mark.opens == inside:
            faults.append(index)
        inside = bool(mark.opens)
    return Row(block, marks, tuple(faults), inside, all(mark.opens is not None for mark in marks))


def speech_spans(page: Page, block: Block) -> list[tuple[int, int]]:
    """Where somebody speaks in a paragraph, as far as its marks tell; from an open mark to the end."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for mark in quote_row(page, block).marks:
        if mark.opens:
            start = mark.at if start is None else start
        elif start is not None:
            spans.append((start, mark.at + 1))
            start = None
        else:
            spans.append((block.start, mark.at + 1))
    if start is not None:
        spans.append((start, block.end))
    return spans


def straight_quotes(page: Page, style: Style) -> Iterator[Edit]:
    """Straight marks and apostrophes of a book that writes curly ones."""
    if style.quotes == "curly":
        for block in page.prose():
            row = quote_row(page, block)
            if row.clear and not row.faults:
                for mark in row.marks:
                    if page.text[mark.at] == '"':
                        yield mark.at, mark.at + 1, "\u201c" if mark.opens else "\u201d"
    if style.curly_apostrophes:
        for block in page.prose():
            yield from _apostrophes(page, block)


def turned_quotes(page: Page, style: Style) -> Iterator[Edit]:
    """Curly marks that point the wrong way, when turning them puts the whole paragraph in order."""
    if style.quotes != "curly":
        return
    for block in page.prose():
        row = quote_row(page, block)
        if not row.faults and not row.open_end:
            continue
        looks = [_looks(page, block, mark.at) for mark in row.marks]
        expected = [index % 2 == 0 for index in range(len(looks))]
        if len(looks) % 2 or looks != expected:
            continue
        for mark, opens in zip(row.marks, looks, strict=True):
            turned = "\u201c" if opens else "\u201d"
            if page.text[mark.at] not in ('"', turned):
                yield mark.at, mark.at + 1, turned


def missing_quotes(page: Page, style: Style) -> Iterator[Edit]:
    """The one mark that a paragraph lacks, where only one place is left for it."""
    if style.quotes is None:
        return
    opening, closing = ("\u201c", "\u201d") if style.quotes == "curly" else ('"', '"')
    for index, block in enumerate(page.blocks):
        if block.kind != "prose":
            continue
        row = quote_row(page, block)
        if not row.clear or len(row.faults) + row.open_end != 1 or not _judgeable(page, block, style):
            continue
        before = page.blocks[index - 1] if index else None
        after = page.blocks[index + 1] if index + 1 < len(page.blocks) else None
        if row.open_end and not row.faults:
            place = _close_at_end(page, row, after)
            mark = closing
        elif row.marks[row.faults[0]].opens:
            place, mark = _close_before_tag(page, row), closing
        elif row.faults[0] == 0:
            place, mark = _open_at_start(page, row, before), opening
        else:
            place, mark = _open_after_tag(page, row), opening
        if place is not None:
            yield place, place, mark


def goes_on(page: Page, row: Row, after: Block | None) -> bool:
    """Whether a paragraph that ends in open speech may go on in the next one."""
    if after is None or after.kind in ("verse", "other") or after.quoted:
        return True
    if after.kind != "prose":
        return False
    first = _first_letter(page, after)
    marks = quote_row(page, after).marks
    return page.mask[first : first + 1] in ("\u2018", "'") or (
        bool(marks) and (marks[0].at == first or not marks[0].opens)
    )


def _mark(page: Page, block: Block, at: int) -> Mark:
    character = page.text[at]
    if character == '"':
        return Mark(at, _looks(page, block, at))
    return Mark(at, character == "\u201c")


def _looks(page: Page, block: Block, at: int) -> bool | None:
    """Which way the neighbours say that a mark points: True opens, False closes, None can't be told."""
    before, after = page.mask[block.start : at], page.mask[at + 1 : block.end]
    left = bool(_OPENS_AFTER.search(before[-2:].replace(HIDDEN, " ")))
    right = not after or after[0].isspace() or after[0] in ".,;:!?)]\u2014\u2013*_-\u2019\u201d"
    closes = bool(_CLOSES_AFTER.search(before[-1:])) and right
    opens = left and bool(after) and not after[0].isspace() and after[0] not in ".,;:!?)]"
    if opens == closes:
        return None
    return opens


def _apostrophes(page: Page, block: Block) -> Iterator[Edit]:
    """Straight apostrophes; at the end of a word only where no single quote opens that it might close."""
    for match in _APOSTROPHE_INSIDE.finditer(page.mask, block.start, block.end):
        left = page.mask[match.start() - 1]
        if not (left.isdigit() and page.mask[match.end() : match.end() + 1] != "s"):
            yield match.start(), match.end(), "\u2019"
    opens = False
    for match in _APOSTROPHE_HEAD.finditer(page.mask, block.start, block.end):
        if match[1].lower() in english.ELISIONS or match[1][0].isdigit():
            yield match.start(), match.end(), "\u2019"
        else:
            opens = True
    if not opens:
        for match in _APOSTROPHE_END.finditer(page.mask, block.start, block.end):
            yield match.start(), match.end(), "\u2019"


def _judgeable(page: Page, block: Block, style: Style) -> bool:
    """No other kind of quotes, no hidden text beside them, no foreign passage: only then is a place certain."""
    passage = page.mask[block.start : block.end]
    if HIDDEN in passage or "\u2018" in passage or english.foreign(passage):
        return False
    if style.quotes == "curly":
        return '"' not in passage
    return not re.search(r"[\u201c\u201d]|(?:^|\s)'(?!\w{1,5}\b)", passage)


def _one_sentence(said: str) -> bool:
    """Whether words are one sentence without a dash, a colon, a verb of speech or too much of everything."""
    if _SENTENCE_END.search(_TITLE.sub(r"\1,", said)) or re.search(r"[\u2014\u2013*_()\[\]:]|--| - ", said):
        return False
    words = english.words_of(said)
    return 0 < len(words) <= LONGEST_SPEECH and not _said(said)


def _close_at_end(page: Page, row: Row, after: Block | None) -> int | None:
    """Speech that was opened last and is one sentence up to the end of the paragraph."""
    if goes_on(page, row, after):
        return None
    start = row.marks[-1].at + 1
    said = page.mask[start : row.block.end].rstrip()
    if not said or said[-1] not in ".!?\u2026" or not _one_sentence(said):
        return None
    if _NARRATION_AFTER_COMMA.search(said) or not _HEAD_OF_SPEECH.search(page.mask[row.block.start : start - 1]):
        return None
    return start + len(said)


def _close_before_tag(page: Page, row: Row) -> int | None:
    """Speech, one tag (`he said.`), then a mark that opens again: the speech ended before the tag."""
    fault = row.faults[0]
    start, end = row.marks[fault - 1].at + 1, row.marks[fault].at
    between = page.mask[start:end]
    tags = list(_TAG.finditer(between))
    if (
        len(tags) != 1
        or _said(between[: tags[0].start("tag")])
        or _SENTENCE_END.search(between[: tags[0].start("mark")])
    ):
        return None
    return start + tags[0].start("mark") + 1


def _open_at_start(page: Page, row: Row, before: Block | None) -> int | None:
    """A closing mark that comes first: the paragraph begins with speech, if it is one sentence up to there."""
    start = row.block.start
    if before is not None and (before.kind in ("verse", "other") or before.quoted):
        return None
    if before is not None and before.kind == "prose" and quote_row(page, before).open_end:
        return None
    said = page.mask[start : row.marks[0].at]
    if not said or not said[0].isupper() or not _SPEECH_END.search(said) or not _one_sentence(said):
        return None
    rest = english.words_of(page.mask[row.marks[0].at : row.block.end])
    tagged = any(word in english.SPEECH_VERBS for word in rest[:4]) and rest[0] not in ("as", "so", "which", "that")
    if not tagged and (rest or not _ADDRESS.search(said)):
        return None
    capitals = re.findall(r"(?<=[a-z] )[A-Z]\w*", said)
    if _INNER_CAPITAL.search(said) or any(word != "I" and word.lower() in english.FUNCTION_WORDS for word in capitals):
        return None
    return start


def _open_after_tag(page: Page, row: Row) -> int | None:
    """Two closing marks with a tag and one sentence between them: the sentence is speech again."""
    fault = row.faults[0]
    start, end = row.marks[fault - 1].at + 1, row.marks[fault].at
    between = page.mask[start:end]
    ends = list(_SENTENCE_END.finditer(_TITLE.sub(r"\1,", between)))
    if len(ends) != 1 or not _SPEECH_END.search(between):
        return None
    narrated, said = between[: ends[0].end()], between[ends[0].end() :]
    if not _NARRATED.match(narrated):
        return None
    if not said[:1].isupper() or _PERSONAL.match(said) or not _one_sentence(said):
        return None
    return start + ends[0].end()


def _said(words: str) -> bool:
    return any(word in english.SPEECH_VERBS for word in english.words_of(words))


def _first_letter(page: Page, block: Block) -> int:
    """Where the prose of a block begins, marks of lists and quotations left out."""
    at = block.start
    while at < block.end and (page.mask[at] == HIDDEN or page.mask[at].isspace()):
        at += 1
    return at
