"""A plan, written down: as JSON for programs, as text with inline word diffs for people.

Both need the texts of the items: `shown.load_texts` first.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from marginalia_tui.agent.merge.model import FieldChange, MergeItem, MergePlan, value_words
from marginalia_tui.domain.diff import Kind, Segment, word_diff
from marginalia_tui.domain.visible import visible_line

CONTEXT = 40
"""Characters that are shown around a change."""
LONGEST = 2_000
"""Characters that are shown of one field."""

_SIGNS = {Kind.SAME: ("", ""), Kind.REMOVED: ("[-", "-]"), Kind.ADDED: ("{+", "+}")}


def to_json(plan: MergePlan, run: str) -> dict[str, Any]:
    """The plan as the verb `run review` answers it."""
    return {
        "run": run,
        "items": [
            {
                "id": item.id,
                "kind": item.kind,
                "change": item.change,
                "title": item.title,
                "place": item.place,
                "fields": [_field_json(each) for each in item.fields],
                "problem": item.problem,
                "depends_on": list(item.depends_on),
                "children": list(item.children),
            }
            for item in plan.items
        ],
    }


def _field_json(each: FieldChange) -> dict[str, Any]:
    _check_loaded(each)
    return {
        "name": each.name,
        "label": each.label,
        "type": each.type.value,
        "base": each.base,
        "agent": each.agent,
        "book": each.book,
        "conflict": each.conflict,
        "proposal": each.proposal,
        "note": each.note,
        "problem": each.problem,
        "depends_on": list(each.depends_on),
    }


def _check_loaded(each: FieldChange) -> None:
    if not each.loaded:
        raise RuntimeError(f"the values of {each.name!r} were not loaded")


def to_text(plan: MergePlan, longest: int = LONGEST) -> str:
    """The plan for people: what was changed, word by word, at most `longest` characters of each field."""
    if not plan.items:
        return "The agent changed nothing that the book does not have already."
    conflicts = len(plan.conflicts)
    head = f"{len(plan.items)} change{_s(len(plan.items))}, {conflicts} conflict{_s(conflicts)}"
    return "\n\n".join([head, *(_item_text(plan, item, longest) for item in plan.items)])


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _item_text(plan: MergePlan, item: MergeItem, longest: int) -> str:
    word = "moved" if item.is_move else item.change
    place = "" if item.place is None else f" {item.place}"
    lines = [f"{word} {item.kind}{place}  {visible_line(item.title)}", f"  {item.id}"]
    if item.problem is not None:
        lines.append(f"  can't be applied: {item.problem}")
    if item.depends_on:
        lines.append(f"  needs {', '.join(item.depends_on)}")
    if item.children:
        names = ", ".join(visible_line(plan.names.get(child, child)) for child in item.children)
        lines.append(f"  {'now follow it' if item.change == 'added' else 'move up'}: {names}")
    for each in item.fields:
        lines += [f"  {line}" for line in _field_text(plan, each, longest)]
    return "\n".join(lines)


def _field_text(plan: MergePlan, each: FieldChange, longest: int) -> Iterable[str]:
    _check_loaded(each)
    base, agent, book = (value_words(plan.names, each, value) for value in (each.base, each.agent, each.book))
    if each.conflict:
        yield f"! {each.label}: changed by both"
        yield f"    agent  {inline(base, agent, longest)}"
        yield f"    book   {inline(base, book, longest)}"
    else:
        after = agent if each.proposal is None else value_words(plan.names, each, each.proposal)
        yield f"{each.label}: {inline(book, after, longest)}"
    if each.note:
        yield f"    {each.note}"
    if each.problem is not None:
        yield f"    can't be applied: {each.problem}"


def inline(before: str, after: str, longest: int = LONGEST) -> str:
    """One line with what changed between two texts: `[-removed-]{+added+}`, and a little of what stands around it."""
    pieces: list[str] = []
    left = longest
    segments = word_diff(before, after)
    for number, segment in enumerate(segments):
        text = _bounded(segments, number, segment)
        opens, closes = _SIGNS[segment.kind]
        pieces.append(f"{opens}{visible_line(text[:left])}{'…' if len(text) > left else ''}{closes}")
        left -= len(text)
        if left <= 0:
            if number + 1 < len(segments):
                pieces.append(" …")
            break
    return "".join(pieces)


def _bounded(segments: Sequence[Segment], number: int, segment: Segment) -> str:
    if segment.kind is not Kind.SAME:
        return segment.text
    first, last = number == 0, number == len(segments) - 1
    text = segment.text
    if first and last:
        return text
    if len(text) <= CONTEXT * (1 if first or last else 2):
        return text
    head = "" if first else text[:CONTEXT]
    tail = "" if last else text[-CONTEXT:]
    return f"{head} … {tail}"
