"""What the review asks: the plan of a run with its texts, diffs, and the apply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from marginalia_tui.agent.merge.model import FieldChange, MergeItem, MergePlan, Picks, value_words
from marginalia_tui.agent.runs import get_run
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.commands.render import to_plain
from marginalia_tui.domain.diff import Kind, Segment, word_diff
from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.history import next_undo
from marginalia_tui.studio import Studio

Side = Literal["agent", "book"]


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A run under review."""

    run: str
    agent: str
    status: str
    plan: MergePlan


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts in one under a title; with `folds`, what is the same may be folded."""

    title: str
    segments: Sequence[Segment]
    folds: bool = True


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

    def compare(
        self, plan: MergePlan, item: MergeItem, field: FieldChange, take: Side | None, text: str | None, sides: bool
    ) -> tuple[Comparison, ...]:
        """What is shown of a field: the book against what is applied, or what both sides made of the base.

        Args:
            plan: what the field belongs to.
            item: the change.
            field: the field.
            take: the side that the author took of a conflict.
            text: what the author wrote.
            sides: whether both sides are shown.
        """
        base, agent, book = (value_words(plan.names, field, value) for value in (field.base, field.agent, field.book))
        if item.change == "deleted":
            if not sides:
                return (Comparison("it goes, with these words", plain(book), folds=False),)
            return (
                Comparison("base -> book: what you changed in it", word_diff(base, book)),
                Comparison("the agent deleted it", plain(""), folds=False),
            )
        if sides:
            return (
                Comparison("base -> agent", word_diff(base, agent)),
                Comparison("base -> book", word_diff(base, book)),
            )
        result = result_text(plan, field, take, text)
        if item.change == "added":
            return (Comparison(f"{field.label} to add", plain(result), folds=False),)
        return (Comparison(f"{field.label}: book now -> text to apply", word_diff(book, result)),)

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
        titles = {item.id: item.title for item in view.plan.items}
        skipped = tuple(f"{titles.get(each.id, each.id)}: {each.reason}" for each in applied.skipped)
        return AppliedView(len(applied.applied), skipped, len(applied.conflicts))

    def discard(self, run: str) -> None:
        """Ends the run without taking anything over."""
        self._studio.reviews.discard(run)

    def undo(self, run: str) -> str:
        """Takes the apply of a run back; answers with the sentence of the command.

        Raises:
            Refused: the book was changed after it, or there is no such apply any more.
        """
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
            newest = next_undo(tx, found.book)
        if found.status is not RunStatus.APPLIED or found.applied_change is None:
            raise Refused("There is no apply of this run to take back.")
        if newest is None or newest.change != found.applied_change:
            raise Refused("The book was changed after the apply: undo that in the book first (F3, u), then the apply.")
        result = self._studio.dispatcher.run("undo", [], self._studio.scope(found.book, AlwaysYes()))
        return to_plain(result)


def plain(text: str) -> Sequence[Segment]:
    """A text of which nothing is compared."""
    return (Segment(Kind.SAME, text),)


def result_text(plan: MergePlan, field: FieldChange, take: Side | None, text: str | None) -> str:
    """What stands in the book after an apply."""
    if text is not None:
        return text
    if field.conflict and take is None:
        return value_words(plan.names, field, field.book)
    if take == "book":
        return value_words(plan.names, field, field.book)
    proposal = field.proposal if not field.conflict else None
    return value_words(plan.names, field, field.agent if proposal is None else proposal)
