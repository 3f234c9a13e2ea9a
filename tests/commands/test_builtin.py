import json
import re
import subprocess
import sys

import pytest

from marginalia_tui.commands.arguments import resolve
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.declare import define
from marginalia_tui.commands.definition import CommandDefinition, Severity
from marginalia_tui.commands.line import CommandLine

REGISTRY = builtin_registry()

ALL = list(REGISTRY)


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_every_command_is_described_for_people(definition: CommandDefinition) -> None:
    assert definition.description.endswith(".") and len(definition.description) < 160
    assert definition.title and not definition.title.endswith(".")
    for parameter in definition.parameters:
        assert parameter.description and not parameter.description.endswith(".")


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_every_command_is_described_for_a_small_model(definition: CommandDefinition) -> None:
    if not definition.for_agents:
        return
    assert 60 < len(definition.for_model) < 400
    for parameter in definition.parameters:
        assert parameter.schema["description"].endswith("."), parameter.name
        if parameter.required and parameter.name != "command":
            assert re.search(rf"\b({parameter.name}|Takes no)\b", definition.for_model), parameter.name
    schema = json.dumps(definition.schema)
    assert "$ref" not in schema and "anyOf" not in schema and "maxLength" not in schema and 'title": "' not in schema
    assert len(schema) < 2_500


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_the_example_of_every_command_can_be_called(definition: CommandDefinition) -> None:
    line = CommandLine.parse(definition.example)
    resolve(definition, line.values, typed=True)


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_every_command_is_complete(definition: CommandDefinition) -> None:
    """Those that ship are not looked through when the program starts."""
    assert define(*(form.function for form in definition.forms)).to_json() == definition.to_json()


def test_a_registry_that_is_made_reads_no_signature() -> None:
    code = """
def refuse(*_, **__): raise AssertionError("the model of a command is made at the start")
import marginalia_tui.commands.declare as declare
declare.create_model = refuse
from marginalia_tui.commands.builtin import builtin_registry
assert len(builtin_registry()) > 100
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_registries_share_what_was_read_and_nothing_else() -> None:
    one, other = builtin_registry(), builtin_registry()
    assert one.get("undo") is other.get("undo")
    assert one.unregister_command("undo") and "undo" in other and "undo" in builtin_registry()


def test_the_commands_of_the_first_release_with_their_severities() -> None:
    severities = {each.name: (each.severity, each.destructive) for each in ALL}
    read = {
        "get-book-info",
        "list-parts",
        "get-part",
        "list-branches",
        "list-swipes",
        "search-parts",
        "find-occurrences",
        "count-tokens",
        "help",
        "manual",
    }
    first = {
        **{name: (Severity.READ, False) for name in read},
        **{name: (Severity.ADD, False) for name in ("create-part", "insert-part", "branch-part", "append-to-part")},
        **{name: (Severity.CHANGE, False) for name in ("edit-part", "switch-branch", "set-book-info", "undo", "redo")},
        "replace-part-text": (Severity.CHANGE, True),
        "search-replace-parts": (Severity.CHANGE, True),
        "delete-part": (Severity.REMOVE, True),
    }
    assert {name: severities.get(name) for name in first} == first


def test_the_registry_as_json_is_json() -> None:
    rows = json.loads(json.dumps([each.to_json() for each in ALL]))
    assert [row["name"] for row in rows] == list(REGISTRY.names)


def test_every_registry_is_its_own() -> None:
    assert builtin_registry().names == REGISTRY.names
