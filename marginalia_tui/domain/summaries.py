"""Which parts each summary of a book stands for, and whether it still says what they say.

A summary heads a block: its part and those before it, back to the part behind the next older summary. A meta
summary also takes in older summaries, up to the one that its `until` names, and stands in the place of the one on
its own part, which is kept under it. The way from a part to the first one is the same on every branch, so a block
follows from its summary alone. What it covers is a hash of hashes: no text is read. As deep as books are long, so
nothing here recurses.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """What a summary is to its book, without its words; the fields are those of `items.Summary`."""

    uuid: str
    part: str
    text: bytes | None
    """The hash of its text; None: it has none."""
    covered: str = ""
    until: str | None = None
    meta: bool = False
    under: str | None = None
    created: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """The parts that a summary stands for."""

    summary: str
    parts: tuple[str, ...]
    """In reading order; the last one has the summary."""
    taken_in: tuple[str, ...]
    """The summaries that a meta summary stands for: older ones first, the one that it replaced last."""
    covered: str
    """The hash of what it covers now."""
    valid: bool
    """Whether that is what it covered when it was written."""


def hash_covered(parts: Iterable[bytes | None], taken_in: Iterable[bytes | None]) -> str:
    """What is stored in `Summary.covered`, from the hashes of the texts of a block (None: no text), in order."""
    digest = blake2b(digest_size=20)
    for mark, hashes in ((b"p", parts), (b"s", taken_in)):
        for each in hashes:
            digest.update(b"-" if each is None else mark + each)
    return digest.hexdigest()


class BookSummaries:
    """The summaries of a book, of all its branches.

    Args:
        parents: part -> the part that it follows, for every part of the book.
        texts: part -> the hash of its text, None for a part without words.
        rows: every summary of the book.
    """

    def __init__(
        self, parents: Mapping[str, str | None], texts: Mapping[str, bytes | None], rows: Iterable[SummaryRow]
    ) -> None:
        self.parents = parents
        self.texts = texts
        self.rows = {row.uuid: row for row in sorted(rows, key=lambda row: (row.created, row.uuid))}
        self._blocks: dict[str, tuple[Block, str | None]] = {}

    @cached_property
    def heads(self) -> dict[str, str]:
        """Part -> its summary that shows: no other one of the part stands in its place. Of several the newest."""
        found: dict[str, str] = {}
        for row in self.rows.values():
            if self.over(row.uuid) is None:
                found[row.part] = row.uuid
        return found

    def on(self, part: str) -> list[SummaryRow]:
        """Every summary of a part, those that others took in too, oldest first."""
        return [row for row in self.rows.values() if row.part == part]

    def over(self, uuid: str) -> str | None:
        """The meta summary that stands in the place of a summary, on the same part."""
        row = self.rows[uuid]
        above = self.rows.get(row.under) if row.under else None
        return above.uuid if above is not None and above.part == row.part else None

    @cached_property
    def kept(self) -> dict[str, str]:
        """Meta summary -> the summary in whose place it stands."""
        return {above: uuid for uuid in self.rows if (above := self.over(uuid)) is not None}

    def top(self, uuid: str | None) -> str | None:
        """The summary that shows where a summary stands; None when it is gone."""
        seen: set[str] = set()
        while uuid in self.rows and uuid not in seen:
            seen.add(uuid)
            if (above := self.over(uuid)) is None:
                return uuid
            uuid = above
        return None

    def block(self, uuid: str) -> Block:
        """The block of a summary; of one that was taken in the block that it would have alone."""
        return self._known(uuid)[0]

    def older(self, uuid: str) -> str | None:
        """The summary before a summary, at which its block ends; None when it reaches to the first part."""
        return self._known(uuid)[1]

    def head_above(self, part: str) -> str | None:
        """The nearest summary that shows on a part before this one."""
        here = self.parents[part]
        while here is not None and here not in self.heads:
            here = self.parents[here]
        return None if here is None else self.heads[here]

    def branch(self, leaf: str | None) -> list[Block]:
        """The blocks of the branch that ends in a part, in reading order; None: of an empty book."""
        if leaf is None:
            return []
        found: list[Block] = []
        here = self.heads.get(leaf) or self.head_above(leaf)
        while here is not None:
            found.append(self.block(here))
            here = self.older(here)
        return found[::-1]

    @cached_property
    def standing(self) -> tuple[str, ...]:
        """The summaries that stand on some branch, in no branch twice: those that are not only taken in."""
        found: dict[str, None] = {}
        passed: set[str] = set()
        followed = set(self.parents.values())
        for leaf in self.parents:
            if leaf in followed:
                continue
            here: str | None = leaf
            while here is not None and here not in passed:
                passed.add(here)
                if (head := self.heads.get(here)) is not None:
                    self._follow(head, found)
                    break
                here = self.parents[here]
        return tuple(found)

    def _follow(self, head: str | None, found: dict[str, None]) -> None:
        while head is not None and head not in found:
            found[head] = None
            head = self.older(head)

    @cached_property
    def inner(self) -> dict[str, str]:
        """Summary that was taken in -> the one that did it, on whatever branch."""
        found = {each: uuid for uuid in self.standing for each in self.block(uuid).taken_in}
        return found | {kept: meta for meta, kept in self.kept.items()}

    def taken_by(self, part: str) -> str | None:
        """The meta summary in whose block a part stands before its last one, on whatever branch."""
        return next(
            (uuid for uuid in self.standing if self.rows[uuid].meta and part in self.block(uuid).parts[:-1]), None
        )

    def outdated(self) -> list[Block]:
        """The blocks of the standing summaries that do not say any more what their parts say."""
        return [block for block in map(self.block, self.standing) if not block.valid]

    def position(self, part: str) -> int:
        """How deep a part stands; the first part is 1."""
        depth = 0
        here: str | None = part
        while here is not None:
            depth += 1
            here = self.parents[here]
        return depth

    def with_row(self, row: SummaryRow) -> "BookSummaries":
        """The same with another summary, or with a summary as it is to be."""
        return BookSummaries(self.parents, self.texts, {**self.rows, row.uuid: row}.values())

    def _known(self, uuid: str) -> tuple[Block, str | None]:
        if uuid not in self._blocks:
            self._blocks[uuid] = self._made(self.rows[uuid])
        return self._blocks[uuid]

    def _made(self, row: SummaryRow) -> tuple[Block, str | None]:
        limit = self.top(row.until)
        parts = [row.part]
        skipped: list[str] = []
        older: str | None = None
        here = self.parents[row.part]
        while here is not None:
            if (head := self.heads.get(here)) is not None:
                if not row.meta or head == limit:
                    older = head
                    break
                skipped.append(head)
            parts.append(here)
            here = self.parents[here]
        parts.reverse()
        replaced = self.kept.get(row.uuid)
        taken_in = (*reversed(skipped), *([replaced] if replaced else ()))
        covered = hash_covered((self.texts[each] for each in parts), (self.rows[each].text for each in taken_in))
        return Block(row.uuid, tuple(parts), taken_in, covered, covered == row.covered), older


def newly_outdated(before: BookSummaries | None, after: BookSummaries | None) -> list[Block]:
    """The blocks, as they are after a change, of the standing summaries that it made outdated; None: there are none."""
    if before is None or after is None:
        return []
    return [block for block in after.outdated() if block.summary in before.rows and before.block(block.summary).valid]
