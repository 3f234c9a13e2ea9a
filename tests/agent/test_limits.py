"""Limits: which one holds, when it is reached, how it is raised for one run; the room that results have."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.limits import Limits, check_raised, limits_of, reached
from marginalia_tui.agent.room import LEAST, cut_to_tokens, room_left
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.chat import ModelDefinition, Usage
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.tokens import count_tokens
from marginalia_tui.settings import Settings


def _run(limits: Mapping[str, float] | None = None, **fields: Any) -> Run:
    values: dict[str, Any] = {
        "uuid": "r", "agent": "a", "agent_name": "A", "book": "b", "space": 2, "status": RunStatus.RUNNING,
        "reason": "", "attention": False, "interactive": False, "wish": None, "epoch": 1, "worked_by": None,
        "rounds": 0, "usage": Usage(), "context_tokens": 0, "cost": 0.0, "always": (), "applied_from": None,
        "applied_change": None, "created": 0, "changed": 0, "limits": limits or {}, "worked": 0.0,
    }  # fmt: skip
    return Run(**{**values, **fields})


def _agent(**fields: Any) -> AgentDefinition:
    return AgentDefinition(uuid="a", book="b", name="A", model="m", **fields)


def test_the_smaller_limit_holds_and_what_was_raised_holds_instead() -> None:
    agent = _agent(max_rounds=10, token_budget=500, context_cap=900)
    studio, model = Settings(max_rounds=7, token_budget=900, max_cost=2.5), ModelDefinition(name="m", context=800)
    assert limits_of(_run(), agent, studio, model) == Limits(7, 500, 2.5, 0, 800)
    raised = _run({"rounds": 20, "tokens": 0, "minutes": 1.5})
    assert limits_of(raised, agent, studio, None) == Limits(20, 0, 2.5, 1.5, 900)


@pytest.mark.parametrize(
    ("limits", "fields", "says"),
    [
        (Limits(rounds=3), {"rounds": 3}, "3 rounds"),
        (Limits(tokens=100), {"usage": Usage(90, 10)}, "100 tokens"),
        (Limits(money=1.5), {"cost": 1.5}, "1.50"),
        (Limits(minutes=2), {"worked": 120.0}, "2 minutes"),
        (Limits(context=50), {}, "50 tokens of the context"),
    ],
)
def test_each_limit_says_in_words_that_it_is_reached(limits: Limits, fields: dict[str, Any], says: str) -> None:
    assert says in reached(_run(**fields), limits, 60)
    assert reached(_run(), limits, 0) == ""
    assert reached(_run(**fields), Limits(), 10**9) == ""


def test_a_context_that_tools_fill_names_the_sets_that_are_smaller() -> None:
    assert "proofread" in reached(_run(), Limits(context=50), 60, by_talk=False)


def test_a_limit_is_raised_above_what_is_used_or_taken_away() -> None:
    run = _run({"tokens": 50}, rounds=12, cost=0.5)
    assert check_raised(run, {"rounds": 13, "money": 0}) == {"tokens": 50, "rounds": 13, "money": 0}
    for wrong, says in (({"rounds": 12}, "12 rounds"), ({"money": 0.4}, "0.5 money"), ({"days": 3}, "no limit")):
        with pytest.raises(Invalid, match=says):
            check_raised(run, wrong)
    with pytest.raises(Invalid):
        check_raised(run, {"minutes": float("nan")})


TEXT = "\n".join(f"{number} The rain fell on the roof, and nobody was there to see it." for number in range(400))


@settings(max_examples=40, deadline=None)
@given(
    cap=st.integers(2_000, 12_000),
    filled=st.integers(0, 12_000),
    sizes=st.lists(st.integers(0, len(TEXT)), min_size=1, max_size=5),
)
def test_results_together_never_fill_more_than_there_is(cap: int, filled: int, sizes: list[int]) -> None:
    room, used = room_left(cap, filled, 0), 0
    for place, size in enumerate(sizes):
        left = room_left(cap, filled + used, 0)
        used += count_tokens(cut_to_tokens(TEXT[:size], left // (len(sizes) - place))) + 8
    assert used <= max(room, len(sizes) * (LEAST + 80))


def test_only_the_largest_result_is_cut_and_says_how_to_read_on() -> None:
    assert cut_to_tokens("short", 500) == "short"
    cut = cut_to_tokens(TEXT, 500)
    shown, _, note = cut.rpartition("\n")
    assert TEXT.startswith(shown)
    assert "offset" in note
    assert f"{len(TEXT)} characters" in note
    assert count_tokens(cut) <= 500
    assert len(cut_to_tokens(TEXT, 500, ratio=2.0)) < len(cut)
    assert len(cut_to_tokens(TEXT, 0)) < 1_500
