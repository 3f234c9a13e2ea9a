"""What the review asks: the plan of a run with its texts, diffs, and the apply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from marginalia_tui.agent.merge.model import FieldChange, MergeItem, MergePlan, Picks
from marginalia_tui.agent.runs import get_run
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.diff import Segment, word_diff
from marginalia_tui.studio import Studio

Side = Literal["agent", "book"]
View = Literal["result", "agent", "book"]
"""What is compared: the book with the text to apply, or the base with what either side made of it."""


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A run under review."""

    run: str
    agent: str
    status: str
    plan: MergePlan


@dataclass(frozen=True, slots=True)
class AppliedView:
    """What became of the picks."""

    applied: int
    skipped: tuple[str, ...]
    conflicts: int


class ReviewDesk:
    """Reviews, for the screen."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def view(self, run: str) -> ReviewView:
        """What a run changed, texts included."""
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
        return ReviewView(run, found.agent_name, found.status.value, self._studio.reviews.plan(run))

    def diff(self, before: str, after: str) -> Sequence[Segment]:
        """The words that differ."""
        return word_diff(before, after)

    def apply(
        self,
        view: ReviewView,
        items: Mapping[str, frozenset[str] | None],
        take: Mapping[tuple[str, str], Side],
        texts: Mapping[tuple[str, str], str],
    ) -> AppliedView:
        """Takes over what was picked, as it was reviewed."""
        versions = {item.id: item.version for item in view.plan.items}
        picks = Picks(items=items, take=take, texts=texts, versions=versions)
        applied = self._studio.reviews.apply(view.run, picks)
        skipped = tuple(f"{view.plan.names.get(each.id, each.id)}: {each.reason}" for each in applied.skipped)
        return AppliedView(len(applied.applied), skipped, len(applied.conflicts))

    def discard(self, run: str) -> None:
        """Ends the run without taking anything over."""
        self._studio.reviews.discard(run)

    def undo(self, book: str) -> str:
        """Takes the newest change of the book back, which is the apply; answers with its sentence."""
        result = self._studio.dispatcher.run("undo", [], self._studio.scope(book, AlwaysYes()))
        return to_plain(result)


def value_text(plan: MergePlan, field: FieldChange, value: object) -> str:
    """A value of a field as a person reads it."""
    if value is None:
        return ""
    if field.type == "ref":
        return plan.names.get(str(value), str(value))
    return str(value)


def result_text(plan: MergePlan, item: MergeItem, field: FieldChange, take: Side | None, text: str | None) -> str:
    """What stands in the book after an apply."""
    if text is not None:
        return text
    if field.conflict and take is None:
        return value_text(plan, field, field.book)
    if take == "book":
        return value_text(plan, field, field.book)
    if not field.conflict and field.proposal is not None:
        return field.proposal
    return value_text(plan, field, field.agent)
