"""Lines that begin a chapter in a text without markup, in the languages that writers send."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["chapter", "part", "named", "roman", "number"]

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last"
    "|premi[eè]re?|primero|primeiro|primo|erste[rs]?"
)
_NUMBER = rf"(?:\d{{1,4}}|[ivxlcdm]{{1,9}}|(?:{_TENS})(?:[ -](?:{_ONES}))?|{_TEENS}|{_ONES}|(?:the )?(?:{_ORDINALS}))"
_CHAPTER_WORDS = (
    "chapter|chap\\.|letter|canto|stave|scene|act|chapitre|kapitel|cap[ií]tulo|capitolo|глава|hoofdstuk|rozdzia[łl]"
    "|kapittel|kapitola|luku|bölüm"
)
_PART_WORDS = "part|book|volume|vol\\.|section|partie|livre|tome|teil|buch|band|parte|libro|часть|книга|том|deel"
_REST = r"(?:[ \t]*[.:)\u2014\u2013-][ \t]*(?P<marked>.{0,150})|[ \t]+(?P<loose>\S.{0,90}))?"
_CHAPTER = re.compile(rf"(?:{_CHAPTER_WORDS})[ \t]+{_NUMBER}(?!\w){_REST}$", re.IGNORECASE)
_PART = re.compile(rf"(?:{_PART_WORDS})[ \t]+{_NUMBER}(?!\w){_REST}$", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:prologue?|epilogue?|preface|introduction|foreword|afterword|interlude|dedication|acknowledge?ments|conclusion"
    r"|postscript|prolog|epilog|vorwort|nachwort|préface|avant-propos|épilogue|prólogo|epílogo|пролог|эпилог)"
    r"(?:[ \t]*[.:\u2014\u2013-][ \t]*.{0,90}|\.)?$",
    re.IGNORECASE,
)
_HAN_NUMBER = "[0-9０-９〇零一二三四五六七八九十百千两兩]{1,9}"
_HAN = re.compile(rf"第[ \u3000]?{_HAN_NUMBER}[ \u3000]?(?P<unit>[章回节節卷部集篇幕折話话])(?P<rest>.{{0,60}})$")
_HAN_NAMED = re.compile(
    r"(?:楔子|序章|序言|自序|序|前言|引子|引言|尾声|尾聲|后记|後記|跋|番外|终章|終章|プロローグ|エピローグ)"
    r"(?:[ \u3000:：].{0,40})?$"
)
_KOREAN = re.compile(r"제[ ]?\d{1,4}[ ]?[장화부편회](?:[ .:].{0,60})?$")
_ROMAN = re.compile(r"(M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?:\.?|[.:)][ \t]+\S.{0,120})$")
_DIGITS = re.compile(r"(\d{1,4})\.?$")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

MAX_LINE = 200
"""Characters of a line that can begin a chapter."""


@dataclass(frozen=True, slots=True)
class ChapterLine:
    """What a line says about itself. `number` is its number for the kinds `roman` and `number`, else 0."""

    kind: Kind
    number: int = 0
    east_asian: bool = False


def chapter_line(line: str) -> ChapterLine | None:
    """What kind of chapter line a line is, or None. Only the line itself is looked at, not what stands around it."""
    line = line.strip(" \t\u3000*_#")
    if not line or len(line) > MAX_LINE:
        return None
    if east_asian := _east_asian(line):
        return east_asian
    if _NAMED.match(line):
        return ChapterLine("named")
    for kind, pattern in (("chapter", _CHAPTER), ("part", _PART)):
        if (found := pattern.match(line)) and not _is_prose(found):
            return ChapterLine("chapter" if kind == "chapter" else "part")
    if found := _DIGITS.match(line):
        return ChapterLine("number", int(found[1]))
    if (found := _ROMAN.match(line)) and found[1]:
        return ChapterLine("roman", _roman(found[1]))
    return None


def _east_asian(line: str) -> ChapterLine | None:
    if found := _HAN.match(line):
        if found["rest"].rstrip().endswith(("。", "！", "？", "”", "，", "；")):
            return None
        return ChapterLine("part" if found["unit"] in "卷部集篇" else "chapter", east_asian=True)
    if _HAN_NAMED.match(line) or _KOREAN.match(line):
        return ChapterLine("named", east_asian=True)
    return None


def is_chapter_title(title: str) -> bool:
    """Whether a heading says that it is a chapter, or one of the pieces beside chapters (not a part or volume)."""
    found = chapter_line(title)
    return found is not None and found.kind != "part"


def _is_prose(found: re.Match[str]) -> bool:
    """`Chapter 3 Was never finished.` is a sentence: a title that nothing sets off has no full stop."""
    loose = found["loose"]
    return loose is not None and (loose[0].islower() or loose.rstrip()[-1:] in '.,;!?"\u201d')


def _roman(numeral: str) -> int:
    total = 0
    for here, following in zip(numeral, numeral[1:] + " ", strict=True):
        value = _VALUES[here]
        total += -value if _VALUES.get(following, 0) > value else value
    return total
