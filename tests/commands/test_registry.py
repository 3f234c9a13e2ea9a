import threading
import types
from typing import Annotated

import pytest

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.registry import Registry, nearest
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


def names(registry: Registry) -> tuple[str, ...]:
    return tuple(registry.names)


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


def test_a_name_that_another_suite_holds() -> None:
    registry = Registry()
    registry.register(suite("words", make("say")))
    with pytest.raises(Invalid, match="There is a command say already: give this one another name"):
        registry.register(suite("others", make("sing"), make("say")))
    assert names(registry) == ("say",)


def test_two_suites_of_one_call_that_hold_the_same_name() -> None:
    registry = Registry()
    with pytest.raises(Invalid, match="There is a command say already"):
        registry.register(suite("words", make("say")), suite("others", make("say")))
    assert len(registry) == 0


def test_the_same_suite_twice_in_one_call_is_there_once() -> None:
    registry = Registry()
    module = suite("words", make("say"))
    first, second = registry.register(module, module)
    assert first is second and names(registry) == ("say",)


def test_a_suite_that_is_taken_away_takes_its_commands_and_no_others() -> None:
    registry = Registry()
    words, others = suite("words", make("say"), make("repeat")), suite("others", make("sing"))
    registry.register(words, others)
    kept = registry.get("say")
    assert registry.unregister(words) == ("repeat", "say")
    assert registry.unregister(words) == ()
    assert names(registry) == ("sing",) and registry.find("say") is None and "say" not in registry
    with pytest.raises(NotFound):
        registry.get("say")
    registry.register(words)
    assert names(registry) == ("repeat", "say", "sing") and registry.get("say") is not kept


def test_a_command_that_is_taken_away_comes_back_with_its_suite() -> None:
    registry = Registry()
    words = suite("words", make("say"), make("repeat"))
    registry.register(words)
    kept = registry.get("repeat")
    assert registry.unregister_command("say") is True
    assert registry.unregister_command("say") is False
    assert names(registry) == ("repeat",)
    registry.register(suite("others", make("say")))  # the name is free
    assert registry.unregister(words) == ("repeat",)
    assert names(registry) == ("say",)
    registry.unregister_command("say")
    registry.register(words)
    assert names(registry) == ("repeat", "say") and registry.get("repeat") is not kept


def test_who_walks_through_the_commands_sees_the_table_as_it_was() -> None:
    registry = Registry()
    registry.register(make("say"), make("sing"))
    seen = []
    for each in registry:
        registry.unregister_command("sing")
        seen.append(each.name)
    assert seen == ["say", "sing"] and names(registry) == ("say",)


def test_of_many_suites_that_want_one_name_one_gets_it() -> None:
    """32 threads at once; each suite has a command of its own and one that all of them want."""
    registry = Registry()
    suites = [suite(f"suite_{number}", make(f"own-{number}"), make("wanted")) for number in range(32)]
    together = threading.Barrier(len(suites))
    refused: list[str] = []

    def work(module: types.ModuleType) -> None:
        together.wait(30)
        try:
            registry.register(module)
        except Invalid as error:
            refused.append(error.message)

    threads = [threading.Thread(target=work, args=[module], daemon=True) for module in suites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(refused) == 31 and len(registry) == 2
    assert "wanted" in registry
    (holder,) = [module for module in suites if registry.unregister(module)]
    assert len(registry) == 0
    registry.register(holder)
    assert len(registry) == 2


def test_suites_that_come_and_go_in_many_threads_leave_nothing_and_lose_nothing() -> None:
    registry = Registry()
    stays = suite("stays", make("stay"))
    registry.register(stays)
    missing: list[int] = []

    def work(number: int) -> None:
        module = suite(f"suite_{number}", make(f"own-{number}"))
        for _ in range(20):
            registry.register(module)
            if f"own-{number}" not in registry or "stay" not in registry:
                missing.append(number)
            if registry.unregister(module) != (f"own-{number}",):
                missing.append(number)

    threads = [threading.Thread(target=work, args=[number], daemon=True) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert missing == [] and names(registry) == ("stay",)


@pytest.mark.parametrize("typed", ["", "\x1b[31m", "\u202e" * 50, "a" * 1_000_000, "\ud800", "\n\n"])
def test_what_is_no_name_at_all_is_a_short_sentence(typed: str) -> None:
    registry = Registry()
    registry.register(make("edit-part"))
    with pytest.raises(NotFound) as error:
        registry.get(typed)
    assert error.value.message.isprintable() and len(error.value.message) < 200


def test_at_most_three_names_are_proposed() -> None:
    assert len(nearest("part", [f"part-{number}" for number in range(50)])) == 3
    assert nearest("qqqq", ["part"]) == []
    assert nearest("EDIT_PART", ["undo", "edit-part"], limit=1) == ["edit-part"]
