"""What of a plan is taken over, by what the author picked. Pure rules.

A conflict is taken only when it was named, what depends on something is taken only with it, and what was decided
about another state of an item than the one that stands there now is not taken.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from marginalia_tui.agent.merge.model import FieldChange, FieldType, MergeItem, MergePlan, Picks, Skipped
from marginalia_tui.domain.errors import Invalid

NO_CHANGE = "It is no change any more: the book has it, or the agent took it back."
STALE = "It was changed after you reviewed it: look at it again, then decide."

Values = dict[str, str | None]
"""Field -> the text that it becomes; None is the agent's value."""


@dataclass(slots=True)
class Taken:
    """What is taken over, item by item, and what is not."""

    items: dict[str, MergeItem] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    conflicts: list[tuple[str, str]] = field(default_factory=list)

    def skip(self, item: MergeItem, name: str | None, reason: str) -> None:
        """Leaves an item, or one field of it, out again."""
        self.skipped.append(Skipped(item.id, name, reason))
        if name is not None:
            self.values[item.id].pop(name, None)
        if name is None or not self.values[item.id]:
            self.items.pop(item.id, None)

    def of(self, change: str, *, move: bool = False) -> frozenset[str]:
        """The uuids of the taken parts that were added, deleted or moved."""
        return frozenset(
            item.uuid
            for item in self.items.values()
            if item.change == change and item.is_move == move and item.kind == "part"
        )


def choose(plan: MergePlan, picks: Picks) -> Taken:
    """What is taken over.

    Raises:
        Invalid: a field is picked of what is taken whole, or a text does not fit its field.
    """
    taken = Taken()
    known = {item.id: item for item in plan.items}
    for item_id, names in picks.items.items():
        item = known.get(item_id)
        if item is None:
            taken.skipped.append(Skipped(item_id, None, NO_CHANGE))
        elif item.problem is not None:
            taken.skipped.append(Skipped(item_id, None, item.problem))
        elif item.change == "changed" and not item.is_move:
            _choose_fields(taken, item, names, picks)
        else:
            _choose_whole(taken, item, names, picks)
    drop_dependents(taken, known)
    return taken


def _choose_whole(taken: Taken, item: MergeItem, names: frozenset[str] | None, picks: Picks) -> None:
    if names is not None and not names >= {each.name for each in item.fields}:
        raise Invalid(f"{item.id} is taken whole: pick it without naming a field.")
    texts = _texts(item, picks)
    if texts and item.change != "added":
        raise Invalid(f"{item.id} takes no text: write one only for what was added or changed.")
    sides = {each.name: picks.take.get((item.id, each.name)) for each in item.conflicts}
    if "book" in sides.values():
        return
    if open_names := [name for name, side in sides.items() if side is None]:
        taken.conflicts.extend((item.id, name) for name in open_names)
    elif (sides or texts) and _is_stale(item, picks):
        taken.skipped.append(Skipped(item.id, None, STALE))
    else:
        taken.items[item.id] = item
        taken.values[item.id] = {each.name: _checked(item, each, texts.get(each.name)) for each in item.fields}


def _choose_fields(taken: Taken, item: MergeItem, names: frozenset[str] | None, picks: Picks) -> None:
    texts = _texts(item, picks)
    values: Values = {}
    there = {each.name for each in item.fields}
    for name in sorted((names or set()) - there):
        taken.skipped.append(Skipped(item.id, name, NO_CHANGE))
    for each in item.fields:
        if names is not None and each.name not in names:
            continue
        text = _checked(item, each, texts.get(each.name))
        side = picks.take.get((item.id, each.name))
        if each.problem is not None:
            taken.skipped.append(Skipped(item.id, each.name, each.problem))
        elif each.conflict and text is None and side is None:
            taken.conflicts.append((item.id, each.name))
        elif (each.conflict or text is not None) and _is_stale(item, picks):
            taken.skipped.append(Skipped(item.id, each.name, STALE))
        elif text is not None or not each.conflict:
            values[each.name] = each.proposal if text is None else text
        elif side == "agent":
            values[each.name] = None
    if values:
        taken.items[item.id] = item
        taken.values[item.id] = values


def _texts(item: MergeItem, picks: Picks) -> dict[str, str]:
    return {name: text for (item_id, name), text in picks.texts.items() if item_id == item.id}


def _is_stale(item: MergeItem, picks: Picks) -> bool:
    return picks.versions.get(item.id, item.version) != item.version


def _checked(item: MergeItem, each: FieldChange, text: str | None) -> str | None:
    if text is None:
        return None
    if not each.type.editable:
        raise Invalid(f"The {each.label} of {item.id} can't be written as a text: take it from the agent or the book.")
    if each.type is FieldType.JSON:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise Invalid(f"What you wrote for {each.label} of {item.id} is not JSON: {error}.") from error
    return text


def drop_dependents(taken: Taken, known: Mapping[str, MergeItem]) -> None:
    """Leaves out what depends on something that is not taken, until nothing more does."""

    def missing(ids: Iterable[str]) -> str | None:
        gone = next((each for each in ids if each not in taken.items), None)
        if gone is None:
            return None
        title = known[gone].title if gone in known else gone
        return f"It needs {title!r} ({gone}), which is not taken over."

    changed = True
    while changed:
        changed = False
        for item in list(taken.items.values()):
            if reason := missing(item.depends_on):
                taken.skip(item, None, reason)
                changed = True
                continue
            for each in item.fields:
                if each.name in taken.values[item.id] and (reason := missing(each.depends_on)):
                    taken.skip(item, each.name, reason)
                    changed = True
