"""What a worker works with: the agent, its model and its tools as they are when it begins."""

from dataclasses import dataclass

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.tools import ToolSet
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.llm.models import Models
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store


def with_prompts(agent: AgentDefinition, settings: Settings) -> AgentDefinition:
    """The agent with the prompts of the settings where it has none of its own; empty still is the studio's."""
    return agent.model_copy(
        update={
            "system_prompt": agent.system_prompt.strip() or settings.agent_system_prompt,
            "compaction_prompt": agent.compaction_prompt.strip() or settings.agent_compaction_prompt,
        }
    )


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Read at every start of a worker, so that what the author changed during a pause holds."""

    store: Store
    dispatcher: Dispatcher
    models: Models
    settings: Settings
    agent: AgentDefinition
    """With the prompts that hold for it."""
    model: ModelDefinition
    tools: ToolSet
