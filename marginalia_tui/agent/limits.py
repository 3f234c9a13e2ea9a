"""The limits of a run: when one is reached the run pauses and says which, and can go on with more.

A limit is the smaller one of the agent and of the settings; what was raised for one run stands in its row and holds
instead of both. 0 is no limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.presets import PRESETS
from marginalia_tui.agent.prompt import context_cap
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.settings import Settings

RAISED = ("rounds", "tokens", "money", "minutes")
"""What can be raised for one run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use; 0 is no limit. `money` is in the currency of the prices."""

    rounds: int = 0
    tokens: int = 0
    money: float = 0.0
    minutes: float = 0.0
    context: int = 0
    """The tokens that the conversation may fill; 0 is not known."""


def limits_of(run: Run, agent: AgentDefinition, settings: Settings, model: ModelDefinition | None) -> Limits:
    """The limits that hold for a run; without its model the context is what the agent allows."""
    rounds, tokens = _least(agent.max_rounds, settings.max_rounds), _least(agent.token_budget, settings.token_budget)
    money, minutes = _least(agent.max_cost, settings.max_cost), _least(agent.max_minutes, settings.max_minutes)
    return Limits(
        rounds=int(run.limits.get("rounds", rounds)),
        tokens=int(run.limits.get("tokens", tokens)),
        money=run.limits.get("money", money),
        minutes=run.limits.get("minutes", minutes),
        context=context_cap(agent, model) if model is not None else agent.context_cap,
    )


def _least(*limits: float) -> float:
    return min((each for each in limits if each), default=0)


def used(run: Run) -> dict[str, float]:
    """What a run has used of what can be raised."""
    return {
        "rounds": run.rounds,
        "tokens": run.usage.prompt + run.usage.completion,
        "money": run.cost,
        "minutes": run.worked / 60,
    }


def reached(run: Run, limits: Limits, next_context: int = 0, *, by_talk: bool = True) -> str:
    """The sentence for the limit that is reached; empty while there is room.

    Args:
        run: with its counters.
        limits: of the run.
        next_context: the tokens that the next request will fill, as far as they are known.
        by_talk: whether the conversation has a share in it, and not tools and instructions alone.
    """
    spent = used(run)
    more = "Allow more when you resume, or in the agent."
    if limits.rounds and run.rounds >= limits.rounds:
        return f"The limit of {limits.rounds:,} rounds is reached. {more}"
    if limits.tokens and spent["tokens"] >= limits.tokens:
        return f"The limit of {limits.tokens:,} tokens is reached: {spent['tokens']:,} are used. {more}"
    if limits.money and run.cost >= limits.money:
        return f"The limit of {_sum(limits.money)} for its cost is reached: it cost {_sum(run.cost)} so far. {more}"
    if limits.minutes and spent["minutes"] >= limits.minutes:
        return f"The limit of {limits.minutes:,.4g} minutes of work is reached. {more}"
    if limits.context and next_context >= limits.context and not by_talk:
        return (
            f"Tools and instructions fill {next_context:,} of {limits.context:,} tokens of the context. "
            f"Allow the agent fewer commands (such as {', '.join(PRESETS)}), or more context, then resume."
        )
    if limits.context and next_context >= limits.context:
        return (
            f"The conversation fills {next_context:,} of {limits.context:,} tokens of the context. "
            "Have it summarised with /compact, or give the agent a model with more context, then resume."
        )
    return ""


def _sum(money: float) -> str:
    return f"{money:,.2f}" if money >= 1 else f"{money:.3g}"


def check_raised(run: Run, raised: Mapping[str, float]) -> dict[str, float]:
    """The limits of a run after these were raised.

    Args:
        run: as it is.
        raised: name of `RAISED` -> the new limit, in all; 0 is none.

    Raises:
        Invalid: one is no limit, or the run used as much already.
    """
    spent = used(run)
    for name, value in raised.items():
        if name not in RAISED:
            raise Invalid(f"{name!r} is no limit of a run: there are {', '.join(RAISED)}.")
        if not 0 <= value < 1e15 or (value and value <= spent[name]):
            words = f"{spent[name]:,.2f}".rstrip("0").rstrip(".")
            raise Invalid(f"The run has used {words} {name} already: allow more than that, or 0 for no limit.")
    return {**run.limits, **raised}
