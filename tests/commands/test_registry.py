import types
from typing import Annotated

import pytest

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid, NotFound


class Said(Result):
    said: str


def make(name: str, example: str = "", for_model: str = "Says a word.") -> types.FunctionType:
    @command(
        name,
        title="Say it",
        severity=Severity.READ,
        returns="what was said",
        example=example or f"/{name} hello",
        for_model=for_model,
    )
    def say(ctx: Context, word: Annotated[str, Param("a word")]) -> Said:
        """Says a word."""
        return Said(said=word)

    assert isinstance(say, types.FunctionType)
    return say


def suite(name: str, *functions: types.FunctionType) -> types.ModuleType:
    module = types.ModuleType(name)
    for place, function in enumerate(functions):
        function.__module__ = name
        setattr(module, f"command_{place}", function)
    return module


def test_a_suite_is_registered_and_found_by_name() -> None:
    registry = Registry()
    registry.register(suite("words", make("say"), make("repeat")))
    assert registry.names == ("repeat", "say")
    assert registry.get("say").title == "Say it"
    assert [each.name for each in registry] == ["repeat", "say"]
    assert "say" in registry and len(registry) == 2 and registry.find("sing") is None


def test_commands_that_a_suite_only_imports_are_not_its_own() -> None:
    other = make("say")
    module = suite("words", make("repeat"))
    module.__dict__["say"] = other
    registry = Registry()
    registry.register(module)
    assert registry.names == ("repeat",)


def test_the_same_suite_twice_does_nothing() -> None:
    registry = Registry()
    module = suite("words", make("say"))
    (first,) = registry.register(module)
    (second,) = registry.register(module)
    assert first is second


@pytest.mark.parametrize(
    "bad", [make("sing it"), make("say"), make("hum", example="/whistle"), make("hum", "/hum a b")]
)
def test_registration_is_all_or_nothing(bad: types.FunctionType) -> None:
    registry = Registry()
    registry.register(make("say"))
    with pytest.raises(Invalid):
        registry.register(suite("words", make("first"), bad, make("last")))
    assert registry.names == ("say",)


def test_a_suite_without_a_command_is_refused() -> None:
    with pytest.raises(Invalid, match="has no command"):
        Registry().register(types.ModuleType("empty"))


@pytest.mark.parametrize("typed", ["edit_part", "edti-part", "Edit-Part", "edit-parts"])
def test_an_unknown_name_proposes_the_nearest(typed: str) -> None:
    registry = Registry()
    registry.register(make("edit-part"), make("list-parts"), make("undo"))
    with pytest.raises(NotFound, match="Did you mean edit-part"):
        registry.get(typed)


def test_a_name_like_no_other_leads_to_help() -> None:
    registry = Registry()
    registry.register(make("edit-part"))
    with pytest.raises(NotFound, match="/help"):
        registry.get("zzzzqqqq")
    with pytest.raises(NotFound) as error:
        registry.get("z" * 1_000_000 + "\x1b[2J")
    assert len(error.value.message) < 300 and "\x1b" not in error.value.message
