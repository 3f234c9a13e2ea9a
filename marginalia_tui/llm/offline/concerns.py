"""What needs a person: places that may be slips, and that no rule can decide.

Half of it comes from rules of our own (words that are often mistaken for each other, doubled words and repeated
phrases that may be meant, quotation marks without a partner), half from the checks of proselint that speak about
mistakes; its checks of taste (`very`, exclamation marks, archaic words) say nothing about a novel and stay off.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from marginalia_tui.llm.offline import english
from marginalia_tui.llm.offline.habits import Style
from marginalia_tui.llm.offline.prose import Block, Page, read_page
from marginalia_tui.llm.offline.quotes import goes_on, quote_row
from marginalia_tui.llm.offline.rules import doubles

if TYPE_CHECKING:
    from proselint.registry.checks import Check

LARGEST_PIECE = 40_000
"""Characters that the linter gets at once."""
MOST_OF_A_PART = 60
"""A part with more concerns than this is told by the first ones only."""

_CHECKS = {
    "malapropisms": "mistaken word",
    "mondegreens": "mistaken word",
    "nonwords": "no word",
    "spelling": "spelling",
    "misc.back_formations": "no word",
    "misc.false_plurals": "plural",
    "misc.illogic": "says the opposite",
    "misc.inferior_superior": "mistaken word",
    "misc.many_a": "number",
    "misc.not_guilty": "says the opposite",
    "redundancy.ras_syndrome": "says it twice",
    "redundancy.misc.garner": "says it twice",
    "mixed_metaphors": "mixed picture",
    "cliches.misc.garner": "worn phrase",
    "dates_times.am_pm": "time of day",
    "typography.punctuation.misplaced": "punctuation",
}

_APOSTROPHE = "['\u2019]"
_CONFUSIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), hint)
    for pattern, hint in (
        (
            r"\bits (?=(?:an?|the|been|not|because|going|my|your|no|his|her|in|on|at|to|for|with|from)\b(?!-))",
            "its or it\u2019s?",
        ),
        (rf"\b(?:by|in|on|from|with|into|at|of|to|for) you{_APOSTROPHE}re \w+", "your or you\u2019re?"),
        (rf"\bit{_APOSTROPHE}s (?=own\b)", "its or it\u2019s?"),
        (
            r"\b(?:by|in|of|on|from|with|into|under|over|upon|at|against|between|through|behind|beside) "
            rf"it{_APOSTROPHE}s \w+",
            "its or it\u2019s?",
        ),
        (
            r"\btheir (?=(?:is|are|was|were|will|would|has|had|must|should|could|came|stood|seemed)\b)",
            "their or there?",
        ),
        (
            r"\btheir(?=[.,;:!?]| (?:on|in|at|until|and|to|with|by|for|from|when|again|the|a|is)\b(?!-))",
            "their or there?",
        ),
        (r"\bthere (?=(?:own|hands|faces|eyes|heads|names|fathers|mothers|houses|hats|number)\b)", "their or there?"),
        (r"\byour (?=(?:an?|the|not|going|welcome|being)\b)", "your or you\u2019re?"),
        (
            rf"\byou{_APOSTROPHE}re (?=(?:own|hand|hands|face|eyes|name|father|mother|house|wife|husband|turn)\b)",
            "your or you\u2019re?",
        ),
        (
            r"\b(?:more|less|rather|better|worse|larger|smaller|older|younger|bigger|fewer|greater|longer|shorter|higher|lower)"
            r" then (?=(?:an?|the|he|she|it|I|we|they|any|ever|that|this|one|two|three|his|her|you|my)\b)",
            "then or than?",
        ),
        (
            r"\bto (?=(?:much|late|soon|tired|heavy|proud|large|small|often)\b(?! (?:to|the|of|for|in|a)\b))",
            "to or too?",
        ),
        (
            r"\b(?:to|not|will|would|could|can|might|should) loose (?=(?:the|his|her|my|an?|your|it|their|sight)\b)",
            "lose or loose?",
        ),
        (
            rf"\bwho{_APOSTROPHE}s (?=(?:own|name|face|hands?|father|mother|eyes|heart|wife|son|daughter|house)\b)",
            "whose or who\u2019s?",
        ),
        (r"\bwhose (?=(?:been|going|not|there|an?|the)\b)", "whose or who\u2019s?"),
    )
)
_A_OR_AN = re.compile(
    r"\b[Aa] (?!one\b|once\b|eu|ewe|oui|onesel)(?=[aeio][a-z]+)|\b[Aa]n (?=(?:[bcdfgjkmpqrstvwyz]|l(?!\b))[a-z]+)"
)
_REPEATED = re.compile(r"\b(?P<phrase>[^\W\d_]+(?:[ ][^\W\d_]+){1,3})[ ](?P=phrase)\b(?![-'\u2019])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Concern:
    """A place that a person should look at: `text[start:end]`.

    `kind` groups it in a report, `hint` says what may be wrong with it, `quote` is the passage with a few words
    around it, in one line.
    """

    start: int
    end: int
    kind: str
    hint: str
    quote: str


@lru_cache(maxsize=4096)
def concerns(text: str, style: Style) -> tuple[Concern, ...]:
    """What a person should look at in a part, in its order; nothing in a text that is not English.

    Args:
        text: the part as it stands after its corrections, as Markdown.
        style: the habits of its book.

    Returns:
        At most `MOST_OF_A_PART` concerns.
    """
    if not english.speaks_english(text):
        return ()
    page = read_page(text)
    found: dict[int, Concern] = {}
    for start, end, kind, hint in (*_words(page), *_quotes(page, style), *_linted(page)):
        if start not in found:
            found[start] = Concern(start, end, kind, hint, _quote(text, start, end))
    return tuple(found[start] for start in sorted(found)[:MOST_OF_A_PART])


def _words(page: Page) -> Iterator[tuple[int, int, str, str]]:
    for double in doubles(page):
        if not double.certain:
            yield double.start, double.end, "doubled word?", f"\u201c{double.keep.strip()}\u201d stands twice"
    for block in page.prose():
        if english.foreign(page.mask[block.start : block.end]):
            continue
        for pattern, hint in _CONFUSIONS:
            for match in pattern.finditer(page.mask, block.start, block.end):
                yield match.start(), match.start() + len(match.group().rstrip()), "confused words?", hint
        for match in _A_OR_AN.finditer(page.mask, block.start, block.end):
            yield match.start(), match.end() - 1, "confused words?", "a or an?"
        for match in _REPEATED.finditer(page.mask, block.start, block.end):
            words = match["phrase"].lower().split(" ")
            if "and" not in words and len(set(words)) > 1:
                yield match.start(), match.end(), "repeated phrase?", "the phrase stands twice"


def _quotes(page: Page, style: Style) -> Iterator[tuple[int, int, str, str]]:
    """Paragraphs whose marks don't pair; open speech that goes on in the next paragraph is in order when it is long."""
    if style.quotes is None:
        return
    for index, block in enumerate(page.blocks):
        if block.kind != "prose":
            continue
        row = quote_row(page, block)
        if row.in_order or not row.marks:
            continue
        if row.faults or not row.clear:
            at = row.marks[row.faults[0] if row.faults else 0].at
            yield at, at + 1, "quotation marks?", "a mark is missing or too many"
            continue
        after = page.blocks[index + 1] if index + 1 < len(page.blocks) else None
        at = row.marks[-1].at
        if not goes_on(page, row, after):
            yield at, at + 1, "quotation marks?", "the speech is never closed"
        elif _ends_early(page, block, at, after):
            yield at, at + 1, "quotation marks?", "does this speech go on in the next paragraph?"


def _ends_early(page: Page, block: Block, at: int, after: Block | None) -> bool:
    """Whether speech that is said to go on is so short that it rather lacks its closing mark."""
    if after is None:
        return True
    if block.quoted or after.quoted or "\u2018" in page.mask[block.start : block.end]:
        return False
    return len(english.words_of(page.mask[at : block.end])) <= 20


def _linted(page: Page) -> Iterator[tuple[int, int, str, str]]:
    """What proselint finds in the prose; hidden text never reaches it."""
    for offset, piece in _pieces(page.mask):
        for kind, check in _checks():
            for result in check.check_with_flags(f"\n{piece}\n"):
                if check.path == "spelling.ve_of" and piece[result.span[1] - 1 :].startswith(" course"):
                    continue
                start, end = (offset + position - 1 for position in result.span)
                hint = f"perhaps \u201c{result.replacements}\u201d" if result.replacements else kind
                yield start, end, f"{kind}?", hint


@cache
def _checks() -> tuple[tuple[str, "Check"], ...]:
    """The checks that are on, each with the name of its kind. Imported when the first text is linted, not before."""
    from proselint.checks import __register__

    chosen: list[tuple[str, Check]] = []
    for check in __register__:
        for prefix, kind in _CHECKS.items():
            if check.matches_partial(prefix):
                chosen.append((kind, check))
    return tuple(chosen)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces of bounded length, cut at the ends of lines where there are any."""
    position = 0
    while position < len(text):
        end = min(position + LARGEST_PIECE, len(text))
        if end < len(text):
            end = max(text.rfind("\n", position, end), position + LARGEST_PIECE // 2)
        yield position, text[position:end]
        position = end


def _quote(text: str, start: int, end: int) -> str:
    """The passage with about four words of its line on each side, in one line."""
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    before = list(re.finditer(r"\S+", text[line:start]))
    after = list(re.finditer(r"\S+", text[end : stop if stop >= 0 else len(text)]))
    few_before, few_after = 4 + max(0, 4 - len(after)), 4 + max(0, 4 - len(before))
    left = line + before[-few_before:][0].start() if before else start
    right = end + after[:few_after][-1].end() if after else end
    return " ".join(text[left:right].split())
