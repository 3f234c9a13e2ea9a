"""What a request holds: the system message made of named parts, the tools, and the transcript.

The system message is never stored. It is the same text in every round of a run, so that a server that keeps the
prefix of a prompt need not read it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import ModelDefinition, Request, Tool, ToolChoice
from marginalia_tui.resources import prompt


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A named part of the system message."""

    name: str
    text: str


def context_cap(agent: AgentDefinition, model: ModelDefinition) -> int:
    """The tokens that the context may fill: the smaller of the agent's cap and the model's; 0 is not known."""
    caps = [cap for cap in (agent.context_cap, model.context) if cap > 0]
    return min(caps, default=0)


def system_parts(
    agent: AgentDefinition, model: ModelDefinition, *, interactive: bool, singles: Sequence[str]
) -> list[PromptPart]:
    """The parts of the system message, in order."""
    parts = [PromptPart("system prompt", agent.system_prompt.strip() or prompt("system"))]
    if agent.instructions.strip():
        parts.append(PromptPart("task", prompt("task").format(instructions=agent.instructions.strip())))
    parts.append(PromptPart("tools", prompt("runner")))
    if interactive:
        parts.append(PromptPart("conversation", prompt("interactive")))
    if agent.language.partition("-")[0] != "en":
        parts.append(PromptPart("language", prompt("language").format(language=agent.language)))
    if agent.batch == "single":
        parts.append(PromptPart("calls", prompt("one-call")))
    elif agent.batch == "batched" and singles:
        parts.append(PromptPart("calls", prompt("single-calls").format(names=", ".join(sorted(singles)))))
    limits = [f"{cap:,} tokens of context" for cap in [context_cap(agent, model)] if cap] + [
        f"{model.max_output:,} tokens in one answer" for _ in [0] if model.max_output
    ]
    if limits:
        parts.append(PromptPart("limits", prompt("limits").format(limits=", ".join(limits))))
    return parts


def build_request(
    parts: Sequence[PromptPart],
    rows: Sequence[Entry],
    tools: Sequence[Tool],
    max_output: int,
    tool_choice: ToolChoice = "auto",
    *,
    run: str = "",
) -> Request:
    """The request of a round. Without calls the tools stay in it: what a server has kept of the prompt holds."""
    return Request(
        system="\n\n".join(part.text for part in parts),
        messages=tuple(entry.message for entry in rows),
        tools=tuple(tools),
        tool_choice=tool_choice,
        max_output=max_output,
        session=run,
    )
