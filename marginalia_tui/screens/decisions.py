"""What the author decided in a review: picks, sides of conflicts, texts of their own. No widget knows these rules.

What a pick needs comes along, what needs a dropped pick goes too. A decision is about one version of a change: when
the book or the copy moved on it is forgotten, and counted.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from marginalia_tui.agent.merge.model import FieldChange, MergeItem, MergePlan

Side = Literal["agent", "book"]
Mark = Literal["on", "off", "conflict"]


class Decisions:
    """The state of a review, which outlives every plan that is read."""

    def __init__(self) -> None:
        self.items: dict[str, MergeItem] = {}
        self.picks: dict[str, frozenset[str] | None] = {}
        """Item -> its picked fields, None for all; an item that is not picked is not here."""
        self.take: dict[tuple[str, str], Side] = {}
        self.texts: dict[tuple[str, str], str] = {}

    # Plans

    def follow(self, plan: "MergePlan") -> int:
        """Takes a plan for what is decided about; answers how many changes are others than they were.

        What nobody has to decide is picked when it is new; what the author left out stays out.
        """
        before, self.items = self.items, {item.id: item for item in plan.items}
        gone = [item for item in before if item not in self.items]
        moved = [item for item in before if item in self.items and self.items[item].version != before[item].version]
        for item in (*gone, *moved):
            self._forget(item)
            if item in gone or not _is_plain(self.items[item]):
                self.picks.pop(item, None)
            elif item in self.picks:
                self.picks[item] = None
        fresh = [item for item in self.items if item not in before]
        for item in fresh:
            if _is_plain(self.items[item]):
                self.pick(item)
        return len(gone) + len(moved) + (len(fresh) if before else 0)

    def _forget(self, item: str) -> None:
        for key in [key for key in (*self.take, *self.texts) if key[0] == item]:
            self.take.pop(key, None)
            self.texts.pop(key, None)

    # What is decided

    def is_decided(self, item: str, field: str) -> bool:
        """Whether the author named a side, or wrote a text, for a field."""
        return (item, field) in self.take or (item, field) in self.texts

    def open_conflicts(self, item: "MergeItem") -> list[str]:
        """The fields that both sides changed and nobody decided."""
        return [each.name for each in item.conflicts if not self.is_decided(item.id, each.name)]

    def count_open(self) -> int:
        """The conflicts that are not decided."""
        return sum(len(self.open_conflicts(item)) for item in self.items.values())

    def has_field(self, item: "MergeItem", field: str) -> bool:
        """Whether a field is picked."""
        if item.id not in self.picks:
            return False
        fields = self.picks[item.id]
        return fields is None or field in fields

    def mark(self, item: "MergeItem") -> Mark:
        """The mark of an item: picked, not picked, or something to decide first."""
        if item.problem is not None:
            return "conflict"
        waiting = self.open_conflicts(item)
        if waiting and (is_whole(item) or not self._brings_something(item, waiting)):
            return "conflict"
        return "on" if item.id in self.picks else "off"

    def _brings_something(self, item: "MergeItem", waiting: list[str]) -> bool:
        """Whether anything of an item is applied as it is picked now."""
        return any(
            self.has_field(item, each.name)
            and each.name not in waiting
            and each.problem is None
            and self.take.get((item.id, each.name)) != "book"
            for each in item.fields
        )

    def count_ready(self) -> int:
        """The picked items of which something is applied now."""
        return sum(self.mark(self.items[item]) == "on" for item in self.picks)

    # Deciding

    def pick(self, item: str) -> None:
        """Picks an item with all that it needs. Of what is taken whole, a side for the book is forgotten with that."""
        waiting = [item]
        while waiting:
            here = waiting.pop()
            found = self.items.get(here)
            if found is not None and found.problem is None and here not in self.picks:
                self.picks[here] = None
                if is_whole(found) and any(self.take.get((here, each.name)) == "book" for each in found.conflicts):
                    self._forget(here)
                waiting.extend(_needs(found))

    def drop(self, item: str) -> None:
        """Leaves an item out, with all that needs it: other items, or single fields of them."""
        waiting = [item]
        while waiting:
            here = waiting.pop()
            if here not in self.picks:
                continue
            del self.picks[here]
            for other in self.items.values():
                needed = [each.name for each in other.fields if here in each.depends_on]
                if here in other.depends_on or (needed and is_whole(other)):
                    waiting.append(other.id)
                    continue
                for name in needed:
                    if self.has_field(other, name):
                        self._without_field(other, name, waiting)

    def _without_field(self, item: "MergeItem", field: str, empty: list[str]) -> None:
        left = frozenset(each.name for each in item.fields if self.has_field(item, each.name)) - {field}
        if left:
            self.picks[item.id] = left
        else:
            empty.append(item.id)

    def toggle(self, item: str) -> None:
        """Picks an item, or leaves it out."""
        if item in self.picks:
            self.drop(item)
        else:
            self.pick(item)

    def toggle_field(self, item: "MergeItem", field: str) -> None:
        """Picks a field of a changed item, or leaves it out; an item without one is left out."""
        every = frozenset(each.name for each in item.fields)
        if item.id in self.picks:
            now = self.picks[item.id]
            picked = every if now is None else now
        else:
            picked = frozenset()
        after = picked ^ {field}
        if not after:
            self.drop(item.id)
            return
        self.pick(item.id)
        self.picks[item.id] = None if after == every else after

    def pick_all(self) -> None:
        """Picks everything that can be applied."""
        for item in self.items:
            if item in self.picks:
                self.picks[item] = None
            else:
                self.pick(item)

    def pick_none(self) -> None:
        """Picks nothing."""
        self.picks = {}

    def decide(self, item: "MergeItem", field: "FieldChange", side: Side) -> None:
        """Takes a side of a conflict; of what is taken whole, for all of its conflicts at once."""
        for each in item.conflicts if is_whole(item) else (field,):
            self.texts.pop((item.id, each.name), None)
            self.take[item.id, each.name] = side
        if side == "book" and is_whole(item):
            self.drop(item.id)
        else:
            self._with_field(item, field)

    def write(self, item: "MergeItem", field: "FieldChange", text: str) -> None:
        """Takes a text of the author's own."""
        self.take.pop((item.id, field.name), None)
        self.texts[item.id, field.name] = text
        self._with_field(item, field)

    def _with_field(self, item: "MergeItem", field: "FieldChange") -> None:
        if item.id not in self.picks:
            self.pick(item.id)
        elif (fields := self.picks[item.id]) is not None:
            self.picks[item.id] = fields | {field.name}
        for needed in field.depends_on:
            self.pick(needed)


def _is_plain(item: "MergeItem") -> bool:
    """Whether nobody has to decide anything about an item."""
    return item.problem is None and not item.conflicts


def _needs(item: "MergeItem") -> Iterator[str]:
    yield from item.depends_on
    for each in item.fields:
        yield from each.depends_on


def is_whole(item: "MergeItem") -> bool:
    """Whether an item is taken whole or not at all: what is new, deleted or moved."""
    return item.change != "changed" or item.is_move
