"""The versions of a part: the journal read for the texts that it had.

A version is a text that differs from the one before it; number 1 is the oldest, the highest is the part as it is.
The history of a working copy goes on from that of what it was copied from. Set-based: many parts cost a few queries.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, select

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Part
from marginalia_tui.services.undo import spoken
from marginalia_tui.store import tables
from marginalia_tui.store.content import get_counts, get_texts, rows_in
from marginalia_tui.store.space import Space

UNKNOWN_ACTOR = "unknown"


@dataclass(frozen=True, slots=True)
class Act:
    """Who made a version, by what and when."""

    actor: str
    """`author`, `agent`, `apply`, `restore`, `studio`; `unknown` for a text older than the journal."""
    agent: str = ""
    """The name of the agent, when the work of one made it."""
    run: str | None = None
    call: str | None = None
    label: str = ""
    """What was done, in words."""
    at: int | None = None
    """Microseconds since 1970."""
    model: str = ""
    """The model that is named as the writer of a text that came whole."""

    @property
    def who(self) -> str:
        """The name that stands for it: an agent's, a model's, or the word for the actor."""
        if self.agent:
            return self.agent
        return self.model or self.kind

    @property
    def kind(self) -> str:
        """`agent`, `model`, `author` or `unknown`."""
        if self.agent or self.model:
            return "agent" if self.agent else "model"
        return "unknown" if self.actor == UNKNOWN_ACTOR else "author"


UNKNOWN = Act(UNKNOWN_ACTOR)


@dataclass(frozen=True, slots=True)
class Version:
    """One text that a part had."""

    number: int
    key: bytes | None
    """The hash of the text; None for an empty one."""
    act: Act
    seq: int
    """The position of the journal at which it was written; 0 for a text older than the journal."""


def versions(space: Space, part: str) -> list[Version]:
    """The versions of one part, the oldest first."""
    return versions_of(space, [part]).get(part, [])


def versions_of(space: Space, parts: Iterable[str]) -> dict[str, list[Version]]:
    """The versions of parts, the oldest first."""
    return read_versions(space, rows_of(space, parts))


def rows_of(space: Space, parts: Iterable[str], until: int | None = None) -> dict[str, list[Row[Any]]]:
    """The rows of the journal for parts, the oldest first, up to a position; of what a copy was made of as well."""
    uuids = list(parts)
    found: dict[str, list[Row[Any]]] = {uuid: [] for uuid in uuids}
    stretch: tuple[int, int] | None = (space.id, until or _LAST)
    while stretch is not None:
        for row in rows_in(space.connection, _ROWS, uuids, *stretch):
            found[row.uuid].append(row)
        stretch = _origin(space, stretch[0])
    for rows in found.values():
        rows.sort(key=lambda row: row.seq)
    return found


def own_rows(space: Space, parts: Sequence[str], copy: int, until: int) -> dict[str, list[Row[Any]]]:
    """The rows that a copy itself has for parts, up to a position, also when its items are gone."""
    found: dict[str, list[Row[Any]]] = {}
    for row in rows_in(space.connection, _ROWS, parts, copy, until):
        found.setdefault(row.uuid, []).append(row)
    return {uuid: sorted(rows, key=lambda row: row.seq) for uuid, rows in found.items()}


def read_versions(space: Space, rows: Mapping[str, Sequence[Row[Any]]]) -> dict[str, list[Version]]:
    """The texts that rows of the journal tell of, the oldest first; the one before the first row is the oldest."""
    hashes = {key for some in rows.values() for row in some for key in (row.before, row.after) if key is not None}
    states = space.states(Part, hashes)
    agents = agents_of(space, (row.run for some in rows.values() for row in some))
    acts: dict[tuple[int, str], Act] = {}
    return {uuid: fold_rows(some, states, agents, acts) for uuid, some in rows.items()}


def act_of(row: Row[Any], agents: Mapping[str, str], model: str = "") -> Act:
    """Who wrote a row of the journal."""
    return Act(
        actor=row.actor,
        agent=agents.get(row.run or "", "an agent" if row.actor in ("agent", "apply") else ""),
        run=row.run,
        call=row.call,
        label=spoken(row.label),
        at=row.at,
        model=model,
    )


def agents_of(space: Space, runs: Iterable[str | None]) -> dict[str, str]:
    """Run -> the name of its agent."""
    query = "SELECT uuid, agent_name FROM run WHERE uuid IN"
    return {uuid: name for uuid, name in rows_in(space.connection, query, {run for run in runs if run})}


def fold_rows(
    rows: Sequence[Any],
    states: Mapping[bytes, Mapping[str, Any]],
    agents: Mapping[str, str],
    acts: dict[tuple[int, str], Act] | None = None,
) -> list[Version]:
    """The texts that rows of one part tell of.

    Args:
        rows: of the journal with their changes, the oldest first, as `rows_of` gives them.
        states: those that the rows name, by hash.
        agents: run -> the name of its agent.
        acts: those that are known by change and model, added to: one act may have changed thousands of parts.
    """
    acts = {} if acts is None else acts
    found: list[Version] = []
    model = ""
    if rows and rows[0].before is not None:
        first = states[rows[0].before]
        model = str(first["model"])
        found.append(Version(1, first["text"], replace(UNKNOWN, model=model), 0))
    for row in rows:
        if row.after is None:
            continue
        state = states[row.after]
        if not found or state["text"] != found[-1].key:
            # The model of a part stays what it is when a person goes on with the text.
            named = str(state["model"]) if state["model"] != model or not found else ""
            if (act := acts.get((row.change, named))) is None:
                act = acts[row.change, named] = act_of(row, agents, named)
            found.append(Version(len(found) + 1, state["text"], act, row.seq))
        model = str(state["model"])
    return found


def find_version(space: Space, part: str, number: int) -> tuple[Version, list[Version]]:
    """A version by its number, and all of the part. A number below 1 counts from the newest: 0 is the part as it is.

    Raises:
        NotFound: there is none of that number.
    """
    known = versions(space, part)
    wanted = number if number > 0 else len(known) + number
    if not 1 <= wanted <= len(known):
        raise NotFound(f"There is no version {number}: this part has the versions 1 to {len(known)}.")
    return known[wanted - 1], known


def text_of(space: Space, version: Version) -> str:
    """The text of a version."""
    return texts_of_versions(space, [version])[version.key]


def texts_of_versions(space: Space, some: Iterable[Version]) -> dict[bytes | None, str]:
    """The texts of versions by their keys."""
    found: dict[bytes | None, str] = {None: ""}
    keys = {each.key for each in some if each.key is not None}
    found.update((key, body) for key, body in get_texts(space.connection, keys).items())
    return found


def sizes_of(space: Space, some: Iterable[Version]) -> dict[bytes | None, tuple[int, int]]:
    """The words and characters of versions by their keys."""
    found: dict[bytes | None, tuple[int, int]] = {None: (0, 0)}
    keys = {each.key for each in some if each.key is not None}
    found.update((key, size) for key, size in get_counts(space.connection, keys).items())
    return found


_LAST = 2**62
_ROWS = (
    "SELECT j.uuid, j.seq, j.before, j.after, c.id AS change, c.actor, c.run, c.call, c.label, c.at "
    "FROM journal j JOIN change c ON c.id = j.change_id "
    "WHERE j.space_id = ? AND j.seq <= ? AND j.kind = 'part' AND j.uuid IN"
)


def _origin(space: Space, space_id: int) -> tuple[int, int] | None:
    """What a space was copied from, and at which position."""
    column = tables.space.c
    row = space.connection.execute(select(column.origin, column.base).where(column.id == space_id)).first()
    return None if row is None or row.origin is None else (int(row.origin), int(row.base))
