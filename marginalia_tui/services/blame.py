"""Who wrote which stretch of a part, and how much of a book is whose.

What an apply brought into the library is traced to the calls of the run for as long as the journal of its copy is
there, else it is the run's. Histories are read in one transaction and compared outside of it; a part with one
version, or whose first text came back, needs no comparison, so a book costs what was changed in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from marginalia_tui.domain.blame import Stretch, blame, carried, laid_over, lasting, words_of
from marginalia_tui.services.versions import (
    Act,
    Version,
    own_rows,
    read_versions,
    texts_of_versions,
    versions_of,
)
from marginalia_tui.store.content import rows_in
from marginalia_tui.store.space import LIBRARY, Space


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a stretch: the version that brought it, and who made that."""

    version: int
    act: Act


Stretches = list[Stretch[Writer]]
Steps = tuple[tuple[Writer | None, str], ...]
"""The texts that a part had in the copy of a run, and who wrote them; None: the book, when the run began."""


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a part with their texts, read and ready to be compared."""

    part: str
    versions: tuple[Version, ...]
    """Those that have a say in whose the text is, the oldest first, at least one."""
    texts: Mapping[bytes | None, str]
    """Key -> text; of a part with one version it may lack that text."""
    steps: Mapping[int, Steps] = field(default_factory=dict)
    """Number of a version that an apply made -> how the run came to it."""

    @property
    def text(self) -> str:
        """The text as it is."""
        return self.texts[self.versions[-1].key]

    def stretches(self) -> Stretches:
        """Whose every stretch of the text is."""
        return blame(
            ((Writer(each.number, each.act), self.texts[each.key]) for each in self.versions),
            self._traced,
        )

    def _traced(self, writer: Writer, text: str, stretches: Stretches) -> Stretches:
        """What an apply brought, with the calls that wrote it."""
        steps = self.steps.get(writer.version)
        if not steps:
            return stretches
        theirs = carried(blame(steps), steps[-1][1], text, None)
        return laid_over(stretches, theirs, writer)


@dataclass(frozen=True, slots=True)
class Share:
    """How many words are one writer's."""

    who: str
    kind: str
    """`author`, `agent`, `model` or `unknown`."""
    words: int


def histories(space: Space, parts: Sequence[str], *, compared: bool = False) -> list[History]:
    """The histories of parts that have one, in their order.

    With `compared` the text of a part with one version is left where it is.
    """
    known = {
        part: [some[place] for place in lasting([each.key for each in some])]
        for part, some in versions_of(space, parts).items()
    }
    several = {part: some for part, some in known.items() if len(some) > 1 or not compared}
    texts = texts_of_versions(space, (each for some in several.values() for each in some))
    steps = steps_of(space, several)
    return [History(part, tuple(known[part]), texts, steps.get(part, {})) for part in parts if known[part]]


def count_words(found: Iterable[History], words: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """How many words are whose, by (who, kind); `words` has those of each part."""
    counts: dict[tuple[str, str], int] = {}
    for history in found:
        if len(history.versions) == 1:
            of_part = {history.versions[0].act: words[history.part]}
        else:
            of_part = {}
            for writer, number in words_of(history.text, history.stretches()).items():
                of_part[writer.act] = of_part.get(writer.act, 0) + number
        for act, number in of_part.items():
            key = (act.who, act.kind)
            counts[key] = counts.get(key, 0) + number
    return counts


def ranked(counts: Mapping[tuple[str, str], int]) -> list[Share]:
    """The shares, the largest first; nobody who has no word left."""
    found = [Share(who, kind, number) for (who, kind), number in counts.items() if number]
    return sorted(found, key=lambda each: (-each.words, each.who))


def steps_of(space: Space, known: Mapping[str, Sequence[Version]]) -> dict[str, dict[int, Steps]]:
    """Part -> number of an applied version -> the texts in the copy of its run, up to the apply."""
    applied = [
        (part, each)
        for part, some in known.items()
        for each in some
        if each.act.actor == "apply" and each.act.run is not None
    ]
    copies = _copies(space, {each.act.run for _, each in applied if each.act.run})
    found: dict[str, dict[int, Steps]] = {}
    of_copy: dict[int, list[tuple[str, Version]]] = {}
    for part, each in applied:
        if (copy := copies.get(each.act.run or "")) is not None:
            of_copy.setdefault(copy, []).append((part, each))
    for copy, some in of_copy.items():
        rows = own_rows(space, list({part for part, _ in some}), copy, max(each.seq for _, each in some))
        for part, each in some:
            before = [row for row in rows.get(part, []) if row.seq <= each.seq]
            theirs = read_versions(space, {part: before})[part]
            texts = texts_of_versions(space, theirs)
            steps = tuple((None if one.seq == 0 else Writer(each.number, one.act), texts[one.key]) for one in theirs)
            found.setdefault(part, {})[each.number] = steps
    return found


def _copies(space: Space, runs: Iterable[str]) -> dict[str, int]:
    """Run -> its working copy, for as long as something is known of that."""
    query = (
        "SELECT DISTINCT c.run, c.space_id FROM space s JOIN change c ON c.space_id = s.id "
        f"WHERE s.id <> {LIBRARY} AND c.run IN"
    )
    return {run: copy for run, copy in rows_in(space.connection, query, set(runs))}
