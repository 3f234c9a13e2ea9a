"""What a worker works with: the agent, its model and its tools as they are when it begins."""

from dataclasses import dataclass

from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.tools import ToolSet
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.llm.models import Models
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Read at every start of a worker, so that what the author changed during a pause holds."""

    store: Store
    dispatcher: Dispatcher
    models: Models
    settings: Settings
    agent: AgentDefinition
    model: ModelDefinition
    tools: ToolSet
