"""How an argument names a summary, and what a change of the story made of summaries.

A summary is named by the part that it stands on, or by its own handle, which also reaches one that a meta summary
took in. A command that changes a text or the tree watches the summaries of the book: what it made outdated stands in
its answer, with the way to say that it is still right.
"""

from collections.abc import Collection
from typing import Annotated

from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.references import OpenBook, Reference
from marginalia_tui.commands.results import PartHandle, Result, SummaryHandle, Told
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.sentences import counted, listed
from marginalia_tui.domain.summaries import Block, BookSummaries, newly_outdated
from marginalia_tui.services.summaries import read_again, read_summaries
from marginalia_tui.store.space import Space

SummaryPlace = Annotated[
    Reference,
    Param(
        "the part that has the summary: its number, its title or its uuid",
        for_model="The handle of the part that the summary stands on, such as h:m6, or of the summary, such as h:s2. "
        "list-summaries shows both.",
        names="part",
    ),
]


def find_summary(opened: OpenBook, known: BookSummaries, text: str, *, writes: bool = False) -> str:
    """The uuid of the summary that was named.

    Args:
        opened: the book.
        known: its summaries.
        text: a part, or the uuid of a summary.
        writes: whether an agent must give a handle.

    Raises:
        NotFound: there is no such part, or it has no summary.
        Invalid, Ambiguous: as for a part.
    """
    wanted = text.strip()
    if wanted in known.rows:
        return wanted
    part = opened.written_part(text) if writes else opened.read_part(text)
    if part not in known.heads:
        raise NotFound(f"{_capital(opened.label(part))} has no summary: list-summaries shows those that have one.")
    return known.heads[part]


def covers(known: BookSummaries, block: Block) -> str:
    """The positions of the parts of a block, such as `3..6`."""
    last = known.position(block.parts[-1])
    first = last - len(block.parts) + 1
    return f"{first}..{last}" if first < last else str(last)


def parts_of(known: BookSummaries, block: Block) -> str:
    """The same for a sentence, such as `parts 3 to 6`."""
    first, _, last = covers(known, block).partition("..")
    return f"parts {first} to {last}" if last else f"part {first}"


class OutdatedRow(Result):
    """A summary that does not say any more what its parts say. `covers` are their positions on its branch."""

    position: int
    part: PartHandle
    summary: SummaryHandle
    covers: str


class Outdated(Told):
    """The summaries that a change made outdated, and what may be done about it."""

    summaries: list[OutdatedRow]
    hint: str

    def sentence(self) -> str:
        """Which they are."""
        places = listed([f"part {row.position}" for row in self.summaries], 5)
        return f"{counted(len(self.summaries), 'summary', 'summaries')} outdated by it ({places}). {self.hint}"


HINT = "Write them anew with set-summary; if they are still right, revalidate-summaries says so."


def outdated_row(known: BookSummaries, block: Block) -> OutdatedRow:
    """A block as a row."""
    part = block.parts[-1]
    return OutdatedRow(position=known.position(part), part=part, summary=block.summary, covers=covers(known, block))


class SummaryWatch:
    """Looks at the summaries of a book before and after a change, in the transaction that makes it.

    A book without summaries costs one indexed look-up.
    """

    def __init__(self, space: Space, book: str) -> None:
        self._space = space
        self._book = book
        self._before = read_summaries(space, book)

    def outdated(self, parts: Collection[str] | None = None) -> Outdated | None:
        """What the change made outdated; None: nothing.

        Args:
            parts: the only parts that it touched; None: it may have touched any.
        """
        if self._before is None:
            return None
        if parts is None:
            after = read_summaries(self._space, self._book)
        else:
            after = read_again(self._space, self._book, self._before, parts)
        blocks = newly_outdated(self._before, after)
        if after is None or not blocks:
            return None
        rows = sorted((outdated_row(after, block) for block in blocks), key=lambda row: (row.position, row.summary))
        return Outdated(summaries=rows, hint=HINT)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
