"""Every command of the registry is called once as it should be and once as it should not be, on one small store."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.commands.definition import CommandDefinition, Severity
from marginalia_tui.commands.render import to_plain
from marginalia_tui.commands.steering import Steered
from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound
from marginalia_tui.domain.items import Lorebook
from marginalia_tui.store.store import ReadTx, WriteTx
from tests.commands.every_command import ROWS, Row, table
from tests.commands.lore_world import LoreWorld
from tests.commands.world import DISPATCHER, World, other_book
from tests.support.images import picture

REGISTRY = DISPATCHER.registry
HANDLES = {"part", "lorebook", "entry", "annotation"}
"""The kinds of items that an agent names by handles."""
GIVEN = {"text": "words", "integer": 1, "number": 1.0, "boolean": True, "branch": "1"}
"""Something for each type of parameter."""


class Runs:
    """The run of an agent, which does whatever it is told; `agent.steered` has the real ones."""

    def find(self, tx: ReadTx, agent: str | None, book: str | None) -> Steered:
        if agent not in (None, "Copyist"):
            raise NotFound(f"There is no agent {agent!r}.")
        return Steered("r1", "Copyist", "RUNNING")

    def pause(self, tx: WriteTx, run: str, *, now: bool) -> None: ...
    def stop(self, tx: WriteTx, run: str, *, keep: bool) -> None: ...
    def finish(self, tx: WriteTx, run: str) -> None: ...
    def resume(self, tx: WriteTx, run: str, note: str) -> None: ...
    def send(self, tx: WriteTx, run: str, text: str) -> None:
        if not text:
            raise Invalid("Write something to send.")


@pytest.fixture
def lore(world: World) -> LoreWorld:
    return LoreWorld(world)


@pytest.fixture
def library(world: World, lore: LoreWorld, tmp_path: Path) -> World:
    """A book with lore, another book, a lorebook that no book uses; a picture beside them."""
    other_book(world)
    lore.put(Lorebook(uuid=world.store.clock.new_uuid(), name="Spare", created=1))
    (tmp_path / "map.png").write_bytes(picture())
    return world


def test_every_command_has_a_row_and_every_row_a_command() -> None:
    named = Counter(row.name for row in ROWS)
    assert set(REGISTRY.names) - named.keys() == set(), "give these a line that works and one that is refused"
    assert named.keys() - set(REGISTRY.names) == set()
    for row in ROWS:
        assert row.bad.split()[0] == f"/{row.name}" and row.says and row.refused
    printed = table()
    assert [name for name in REGISTRY.names if f"| {name} |" not in printed] == []


def test_every_command_works_and_refuses(library: World, tmp_path: Path) -> None:
    """In the order of the rows, so that what one makes the next can read; all that is wrong is told at once."""
    wrong: list[str] = []
    for row in ROWS:
        wrong += [f"{row.good}: {each}" for each in _answers(library, row, str(tmp_path))]
        wrong += [f"{row.bad}: {each}" for each in _refuses(library, row, str(tmp_path))]
    assert not wrong, "\n".join(wrong)


def _answers(library: World, row: Row, folder: str) -> list[str]:
    before = library.journal()
    try:
        said = to_plain(DISPATCHER.run_line(row.good.replace("{tmp}", folder), replace(library.author, steering=Runs)))
    except MarginaliaError as error:
        return [f"refused with {error.message!r}"]
    wrong = [] if row.says in said else [f"{row.says!r} is not in {said!r}"]
    if REGISTRY.get(row.name).severity is Severity.READ and library.journal() != before:
        wrong.append("a command that reads has changed something")
    return wrong


def _refuses(library: World, row: Row, folder: str) -> list[str]:
    before = library.journal()
    try:
        said = to_plain(DISPATCHER.run_line(row.bad.replace("{tmp}", folder), replace(library.author, steering=Runs)))
    except MarginaliaError as error:
        wrong = [] if row.refused in error.message else [f"{row.refused!r} is not in {error.message!r}"]
        return wrong + (["it was refused and has changed something"] if library.journal() != before else [])
    return [f"not refused, but answered {said!r}"]


def _writers() -> list[tuple[CommandDefinition, str]]:
    return [
        (each, parameter.name)
        for each in REGISTRY
        if each.for_agents and each.severity is not Severity.READ
        for parameter in each.forms[0].parameters
        if parameter.type in HANDLES
    ]


def test_an_agent_names_what_it_writes_by_handles_only(library: World, lore: LoreWorld) -> None:
    """Positions, numbers and titles are refused for each parameter of each writer, whatever else is given."""
    note = library.run("/create-annotation 1 Note")["annotation"]
    good = {"part": library.parts[0], "lorebook": lore["World"], "entry": lore["Lamp"], "annotation": note}
    writers = _writers()
    assert len(writers) > 30
    before = library.journal()
    for definition, name in writers:
        given = {
            each.name: good.get(each.type, GIVEN.get(each.type, "words"))
            for each in definition.forms[0].parameters
            if each.required or each.name in ("title", "name")
        }
        for wrong in ("1", "Chapter 1"):
            with pytest.raises(Invalid, match="handle"):
                library.call(definition.name, **{**given, name: wrong})
    assert library.journal() == before
