"""What the proofreader says: its words between the calls, and the report at the end, as Markdown."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from marginalia_tui.llm.offline.concerns import Concern, concerns
from marginalia_tui.llm.offline.english import speaks_english
from marginalia_tui.llm.offline.habits import Style
from marginalia_tui.llm.offline.passages import Passage
from marginalia_tui.llm.offline.progress import Part
from marginalia_tui.llm.offline.rules import KINDS, corrections

MOST_CONCERNS = 60
"""Places that a report quotes."""
MOST_LINES = 40
"""Parts that a report lists."""
SHOWN = 90
"""Characters of a passage that is quoted."""

GREETING = (
    "This is the offline proofreader: a set of rules, and no language model. I correct what is certain (doubled "
    "words and spaces, spaces before punctuation, quotation marks, dashes), report what needs a person, and can't "
    "judge anything else."
)
ACKNOWLEDGEMENT = (
    "I have your message. I am a set of rules and can't judge prose or follow a wish, so I go on with the "
    "proofreading; pause or stop me to keep what is done so far."
)
INTRODUCTION = "I can do one thing: proofread the whole book."
QUESTION = (
    "I am the offline proofreader, a set of rules. I can correct certain slips of the whole book and report what "
    "needs a person. Shall I begin? (\u201cno\u201d ends the run)"
)
DECLINED = "I have changed nothing, as you wished."
WAITS = "I wait for your answer."
IS_FINISHED = "The proofreading is finished. Write to me to have the book read once more."
READS_LIST = "First I look at what parts the book has."
READS_LIST_ON = "The list goes on."
CLOSING = "Every part is done. My report follows."
STEP_LIST = "Look at the parts of the book"
STEP_REPORT = "Report"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def lacks_tools(names: Iterable[str]) -> str:
    """That nothing can be read."""
    return f"I changed nothing: to read the book I need {_and(names)}, which this agent is not allowed to use."


def list_unreadable(error: str) -> str:
    """That the list of parts can't be had."""
    return "I changed nothing: I could not get the list of parts." + (
        f" The answer was: {_short(error)}" if error else ""
    )


def step(first: Part, last: Part) -> str:
    """The step of the plan for a stretch of parts."""
    if first is last:
        return f"Proofread {name(first)}"
    return f"Proofread parts {first.row.position} to {last.row.position}"


def reads(group: Sequence[Part]) -> str:
    """That parts are read now."""
    return f"I read {_and(name(part) for part in group)}."


def reads_again(part: Part) -> str:
    """That a part is read a second time."""
    return f"An edit of {name(part)} did not fit, so I read that part again."


def corrects(part: Part, edits: Sequence[Passage]) -> str:
    """What is corrected now, passage by passage."""
    lines = [f"I correct {name(part)}:", ""]
    for edit in edits:
        kinds = ", ".join(dict.fromkeys(each.kind for each in edit.corrections))
        lines.append(f"- {kinds}: {_quoted(edit.old)} becomes {_quoted(edit.new)}")
    return "\n".join(lines)


def name(part: Part) -> str:
    """A part for people: its position and title."""
    title = " ".join(_CONTROL.sub(" ", part.row.title).split())
    title = title if len(title) <= 60 else title[:59].rstrip() + "\u2026"
    return f"part {part.row.position}" + (f" ({title})" if title else "")


def whole(parts: Sequence[Part], style: Style, *, can_edit: bool) -> str:
    """The report: what was corrected by kind and part, what needs a person, what was left alone.

    Args:
        parts: all of them, as they stand now.
        style: the habits of the book.
        can_edit: whether edits could be made; otherwise the report says what they would be.
    """
    if not parts:
        return "The book has no parts: there was nothing to read."
    if can_edit:
        done = [(part, part.corrected) for part in parts if part.corrected]
    else:
        wanted = [
            (part, Counter(each.kind for each in corrections(part.text, style))) for part in parts if part.is_read
        ]
        done = [(part, kinds) for part, kinds in wanted if kinds]
    doubts = [(part, each) for part in parts if part.is_read for each in concerns(part.text, style)]
    pieces = [_summary(parts, done, len(doubts), can_edit), _by_part(done), _for_a_person(doubts)]
    pieces += [_not_done(parts, style) if can_edit else "", _left_alone(parts)]
    pieces.append("I am a set of rules: I don't know whether a sentence is good, true or complete.")
    return "\n\n".join(piece for piece in pieces if piece)


def _summary(parts: Sequence[Part], done: Sequence[tuple[Part, Counter[str]]], doubts: int, can_edit: bool) -> str:
    total: Counter[str] = Counter()
    for _, kinds in done:
        total.update(kinds)
    read = f"I read {_count(sum(part.is_read for part in parts), 'part')}"
    ask = (
        f"{_count(doubts, 'place')} {'needs' if doubts == 1 else 'need'} a person."
        if doubts
        else "No place needs a person."
    )
    if not total:
        return f"{read} and found nothing to correct. {ask}"
    verb = "corrected" if can_edit else "would correct"
    where = f"in {_count(len(done), 'of them', 'of them')}"
    missing = "" if can_edit else " I changed nothing: this agent is not allowed to use edit-part."
    return f"{read} and {verb} {_count(total.total(), 'slip')} {where}: {_kinds(total)}. {ask}{missing}"


def _by_part(done: Sequence[tuple[Part, Counter[str]]]) -> str:
    lines = [f"- {name(part)}: {_kinds(kinds)}" for part, kinds in done[:MOST_LINES]]
    if len(done) > MOST_LINES:
        lines.append(f"- and {_count(len(done) - MOST_LINES, 'part')} more")
    return "\n".join(lines)


def _for_a_person(doubts: Sequence[tuple[Part, Concern]]) -> str:
    if not doubts:
        return ""
    lines = ["What needs a person:", ""]
    for part, each in doubts[:MOST_CONCERNS]:
        lines.append(f"- part {part.row.position}, {each.kind.rstrip('?')}: {_quoted(each.quote)}, {each.hint}")
    rest = Counter(each.kind.rstrip("?") for _, each in doubts[MOST_CONCERNS:])
    if rest:
        lines.append(f"- and {_count(rest.total(), 'place')} more: {_tally(rest.most_common())}")
    return "\n".join(lines)


def _not_done(parts: Sequence[Part], style: Style) -> str:
    """The corrections that could not be made."""
    lines = []
    for part in parts:
        for each in corrections(part.text, style) if part.is_read else ():
            around = part.text[max(0, each.start - 30) : each.end + 30]
            lines.append(f"- {name(part)}, {each.kind}: {_quoted(around)}")
    if not lines:
        return ""
    more = [f"- and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return "\n".join(["These I could not correct, since the edit was refused:", "", *lines[:MOST_LINES], *more])


def _left_alone(parts: Sequence[Part]) -> str:
    foreign = [part for part in parts if part.is_read and part.text.strip() and not speaks_english(part.text)]
    lost = [part for part in parts if not part.is_read]
    pieces = []
    if foreign:
        pieces.append(f"My rules are for English, so I left {_some(foreign)} alone.")
    if lost:
        pieces.append(f"I could not read {_some(lost)}.")
    return " ".join(pieces)


def _some(parts: Sequence[Part]) -> str:
    names = [name(part) for part in parts[:8]]
    if len(parts) > 8:
        names.append(_count(len(parts) - 8, "other part"))
    return _and(names)


def _kinds(total: Counter[str]) -> str:
    return _tally((kind, total[kind]) for kind in KINDS if total[kind])


def _tally(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in pairs)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _and(names: Iterable[str]) -> str:
    every = list(names)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def _quoted(passage: str) -> str:
    """A passage of the book in one line, in straight marks, so that its own curly ones are seen."""
    return f'"{_short(passage)}"'


def _short(passage: str) -> str:
    line = _CONTROL.sub(" ", passage).strip()
    return line if len(line) <= SHOWN else f"{line[: SHOWN * 2 // 3]} \u2026 {line[-SHOWN // 3 :]}"
