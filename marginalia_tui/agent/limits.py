"""The limits of a run: when one is reached the run pauses and says which."""

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.runs import Run


def reached(run: Run, agent: AgentDefinition, budget: int, cap: int, next_context: int) -> str:
    """The sentence for the limit that is reached; empty while there is room.

    Args:
        run: with its counters.
        agent: with its limits.
        budget: the tokens of a run that the settings allow; 0 is no limit.
        cap: the tokens that the context may fill; 0 is not known.
        next_context: the tokens that the next request will fill, as far as they are known.
    """
    if agent.max_rounds and run.rounds >= agent.max_rounds:
        return f"The limit of {agent.max_rounds:,} rounds is reached. Raise it in the agent, then resume."
    used = run.usage.prompt + run.usage.completion
    allowed = min((each for each in (agent.token_budget, budget) if each), default=0)
    if allowed and used >= allowed:
        return f"The budget of {allowed:,} tokens is used up ({used:,}). Raise it in the agent, then resume."
    if cap and next_context >= cap:
        return (
            f"The conversation fills {next_context:,} of {cap:,} tokens of the context. "
            "Review what is done and start anew, or give the agent a model with more context, then resume."
        )
    return ""
