"""What a change of texts wrote: words and characters that were added, and that were deleted.

They are those of a word diff, so that a save of a long part counts what was changed in it. What only went from one
part to another in the same change (a part that was split, or merged with the next) is counted as neither.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marginalia_tui.domain.diff import Kind, word_diff
from marginalia_tui.domain.words import count_words

UNWRITTEN = frozenset(
    {
        "import",
        "sample book",
        "Branch at a part",
        "Bring back a version",
        "Bring back what is gone",
        "Restore a backup",
    }
)
"""Labels of changes in which nobody wrote: they bring in, copy or bring back what was written before."""


def is_written(actor: str, label: str, undoes: int | None, *, in_copy: bool) -> bool:
    """Whether the words of a change are counted as written and deleted, or change only the size of the book.

    Args:
        actor: who made it.
        label: its name in the history.
        undoes: the change that it takes back, if it does.
        in_copy: whether it was made in the working copy of a run. There only the agent writes; what is applied of
            it later was counted then.
    """
    writes = "agent" if in_copy else "author"
    return actor == writes and undoes is None and label not in UNWRITTEN


@dataclass(frozen=True, slots=True)
class Written:
    """Words and characters, added and deleted."""

    words_added: int = 0
    words_deleted: int = 0
    chars_added: int = 0
    chars_deleted: int = 0

    def __add__(self, other: "Written") -> "Written":
        return Written(
            self.words_added + other.words_added,
            self.words_deleted + other.words_deleted,
            self.chars_added + other.chars_added,
            self.chars_deleted + other.chars_deleted,
        )

    def without(self, words: int, chars: int) -> "Written":
        """The same without what was both added and deleted."""
        words = min(words, self.words_added, self.words_deleted)
        chars = min(chars, self.chars_added, self.chars_deleted)
        return Written(
            self.words_added - words, self.words_deleted - words, self.chars_added - chars, self.chars_deleted - chars
        )


Edit = tuple[str, str]
"""The text of a part before and after."""


def written_in(before: str, after: str) -> Written:
    """What an edit of one text wrote."""
    return _count(_pieces(before, after))


def written_across(edits: Iterable[Edit]) -> Written:
    """What one change of several parts wrote, without what it moved from one to another."""
    pieces = [piece for before, after in edits for piece in _pieces(before, after)]
    counted = _count(pieces)
    added = "\n".join(text for kind, text in pieces if kind is Kind.ADDED)
    deleted = "\n".join(text for kind, text in pieces if kind is Kind.REMOVED)
    if not added or not deleted:
        return counted
    moved = [each.text for each in word_diff(deleted, added) if each.kind is Kind.SAME]
    return counted.without(sum(map(count_words, moved)), sum(len(text.replace("\n", "")) for text in moved))


def _pieces(before: str, after: str) -> Sequence[tuple[Kind, str]]:
    if not before or not after:
        kind = Kind.ADDED if after else Kind.REMOVED
        return [(kind, before or after)] if before or after else []
    return [(each.kind, each.text) for each in word_diff(before, after) if each.kind is not Kind.SAME]


def _count(pieces: Iterable[tuple[Kind, str]]) -> Written:
    total = {Kind.ADDED: [0, 0], Kind.REMOVED: [0, 0]}
    for kind, text in pieces:
        total[kind][0] += count_words(text)
        total[kind][1] += len(text)
    return Written(total[Kind.ADDED][0], total[Kind.REMOVED][0], total[Kind.ADDED][1], total[Kind.REMOVED][1])
