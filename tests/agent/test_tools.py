"""The tools of an agent: which commands, under which names, how much of a result."""

import re

import pytest

from marginalia_tui.agent.agents import define_agent
from marginalia_tui.agent.brief import is_small
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.live import MAX_LIVE, LiveBuffer
from marginalia_tui.agent.presets import NAMES, PRESETS
from marginalia_tui.agent.tools import (
    MAX_RESULT,
    allowed_commands,
    build_tools,
    cut_result,
    function_name,
    plan_steps,
)
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Severity
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.llm.tokens import count_frame
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store


def _names(**fields: object) -> set[str]:
    agent = define_agent(uuid="a", book="b", name="A", model="m", **fields)
    return {each.name for each in allowed_commands(builtin_registry(), agent)}


def test_safe_removes_nothing_and_all_follows_the_mode() -> None:
    safe = _names(commands="safe", destructive="auto")
    assert "edit-part" in safe
    assert not safe & {"delete-part", "replace-part-text", "search-replace-parts"}
    assert "delete-part" not in _names(commands="all", destructive="deny")
    assert "delete-part" in _names(commands="all", destructive="ask")
    assert _names(commands=("get-part", "delete-part"), destructive="deny") == {"get-part"}


def test_what_is_for_people_alone_is_no_tool() -> None:
    assert not _names(commands="all", destructive="auto") & {"undo", "redo", "help"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("get-part", r"get-part"), ("foo.bar", r"foo_bar_[0-9a-f]{6}"), ("x" * 80, r"x{57}_[0-9a-f]{6}")],
)
def test_function_names_are_accepted_by_servers(name: str, wanted: str) -> None:
    assert re.fullmatch(wanted, function_name(name))
    assert function_name(name) == function_name(name)


class Nothing(Result):
    """An answer without a field."""


@command("finish", title="X", severity=Severity.READ, returns="nothing", example="/finish", for_model="X.")
def _finish(ctx: Context) -> Nothing:
    """Is called like a tool of the run."""
    return Nothing()


def test_a_name_used_twice_is_refused() -> None:
    registry = builtin_registry()
    registry.register(_finish)
    with pytest.raises(Invalid, match="finish"):
        build_tools(registry, define_agent(uuid="a", book="b", name="A", model="m", commands="all"))


def test_results_are_cut_at_a_line_with_a_word_on_how_to_go_on() -> None:
    text = "\n".join(f"line {number}" for number in range(5_000))
    cut = cut_result(text)
    assert len(cut) < MAX_RESULT + 300
    shown, _, hint = cut.rpartition("\n")
    assert text.startswith(shown)
    assert text[len(shown)] == "\n"
    assert f"{len(text)} characters" in hint
    assert cut_result("short") == "short"
    assert len(cut_result("x" * 50_000)) < MAX_RESULT + 300


def test_steps_of_a_plan_in_the_spellings_of_models() -> None:
    steps = plan_steps({"steps": [{"step": "A", "status": "Completed"}, {"step": "B", "status": "in-progress"}, "C"]})
    assert [each["status"] for each in steps] == ["done", "in_progress", "pending"]
    for wrong in ({}, {"steps": "A"}, {"steps": [{"status": "done"}]}, {"steps": [{"step": "A", "status": "maybe"}]}):
        with pytest.raises(Invalid):
            plan_steps(wrong)


def test_handles_are_never_given_twice(store: Store) -> None:
    with store.read() as tx:
        handles = Handles(tx, "run")
    assert [handles.name("m", uuid) for uuid in ("u1", "u2", "u1")] == ["h:m1", "h:m2", "h:m1"]
    assert (handles.resolve(" h:m2 "), handles.resolve("3"), handles.resolve("a title")) == ("u2", "3", "a title")
    with pytest.raises(NotFound, match="h:m9"):
        handles.resolve("h:m9")
    handles.forget_new()
    with pytest.raises(NotFound):
        handles.resolve("h:m1")
    assert handles.name("m", "u3") == "h:m1"
    with store.write(Act(actor="agent", label="x")) as tx:
        handles.save(tx)
    handles.saved()
    with store.read() as tx:
        again = Handles(tx, "run")
        other = Handles(tx, "another run")
    assert again.resolve("h:m1") == "u3"
    assert again.name("m", "u4") == "h:m2"
    assert other.name("m", "u4") == "h:m1"


def test_the_live_answer_is_bounded_and_counts_what_it_dropped() -> None:
    live = LiveBuffer()
    assert live.look() is None
    live.begin()
    for _ in range(30):
        live.add(text="x" * 10_000)
    live.add(text="end", reasoning="why")
    seen = live.look()
    assert seen is not None
    assert (len(seen.text), seen.text_total, seen.reasoning) == (MAX_LIVE, 300_003, "why")
    assert seen.text.endswith("end")
    assert live.look(seen.version) is None
    live.end()
    assert live.look() is None
    live.begin()
    fresh = live.look()
    assert fresh is not None
    assert (fresh.text, fresh.number) == ("", seen.number + 1)


def test_presets_stand_for_commands_and_can_be_mixed_with_others() -> None:
    registry = builtin_registry()
    for name, commands in PRESETS.items():
        assert all(registry.get(each).for_agents for each in commands)
        assert _names(commands=(name,)) == set(commands)
        assert name in NAMES
    assert _names(commands=("proofread", "count-tokens")) == {*PRESETS["proofread"], "count-tokens"}


def test_a_small_context_gets_short_descriptions_and_the_same_calls() -> None:
    agent = define_agent(uuid="a", book="b", name="A", model="m", commands=("write",))
    long, short = (build_tools(builtin_registry(), agent, cap=cap) for cap in (0, 8_000))
    assert (is_small(0), is_small(16_000), is_small(16_001)) == (False, True, False)
    assert long.commands == short.commands
    assert count_frame("", short.tools) < 0.85 * count_frame("", long.tools)
    whole = {tool.name: tool for tool in long.tools}
    for tool in short.tools:
        before = whole[tool.name].parameters
        assert tool.parameters["properties"].keys() == before["properties"].keys()
        assert tool.parameters.get("required") == before.get("required")
        assert whole[tool.name].description.startswith(tool.description)


def test_an_unknown_handle_is_answered_with_the_nearest(store: Store) -> None:
    with store.read() as tx:
        handles = Handles(tx, "run")
    for number in range(1, 10):
        handles.name("m", f"u{number}")
    handles.name("l", "lore")
    for written in ("h:m3", " H:M3 ", "<h:m3>", "`h:m3`", "[h: m3].", "h:m03"):
        assert handles.resolve(written) == "u3"
    with pytest.raises(NotFound, match="nearest: h:m7, h:m8, h:m9.*list-parts"):
        handles.resolve("h:m12")
    with pytest.raises(NotFound, match="newest that you were shown.*list-lore-entries"):
        handles.resolve("h:e1")
