"""Bad arguments and lines for the commands of lore, in a book that has lore: an answer, or a sentence."""

from typing import Any

import pytest

from marginalia_tui.commands.definition import CommandDefinition
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.domain.errors import MarginaliaError
from tests.commands.lore_world import LoreWorld
from tests.commands.test_bad_lines import ALL, GOOD, TEXTS, VALUES, answered, is_a_sentence
from tests.commands.world import DISPATCHER, World

OF_LORE = [each for each in ALL if each.for_agents and ("lore" in each.name or "subbook" in each.name)]


def test_there_are_the_commands_of_lore() -> None:
    assert {each.name for each in OF_LORE} == {
        "add-subbook", "create-lore-entry", "create-lorebook", "delete-lore-entry", "delete-lorebook",
        "get-lore-entry", "list-lore-entries", "list-lorebooks", "move-lore-entry", "preview-lore-activation",
        "remove-subbook", "search-lore", "search-replace-lore-entries", "update-lore-entry", "update-lorebook",
    }  # fmt: skip


@pytest.mark.parametrize("definition", OF_LORE, ids=[each.name for each in OF_LORE])
def test_bad_arguments_are_answered_with_a_sentence(world: World, definition: CommandDefinition) -> None:
    lore = LoreWorld(world)
    known = {**GOOD, "entry": lore["Lamp"], "lorebook": lore["Places"]}
    for form in definition.forms:
        needed: dict[str, Any] = {each.name: known[each.type] for each in form.parameters if each.required}
        for parameter in form.parameters:
            for value in VALUES:
                for scope in (world.author, world.agent):
                    answered(world, definition, {**needed, parameter.name: value}, scope)


@pytest.mark.parametrize("definition", OF_LORE, ids=[each.name for each in OF_LORE])
def test_bad_lines_are_answered_with_a_sentence(world: World, definition: CommandDefinition) -> None:
    LoreWorld(world)
    for text in TEXTS:
        for place in range(min(len(definition.parameters), 4) + 1):
            try:
                DISPATCHER.run_line(f"/{definition.name} {'1 ' * place}{CommandLine.escape(text)}", world.author)
            except MarginaliaError as error:
                assert is_a_sentence(error.message), error.message
