"""What an agent is: the book it works on, its task, its model, what it may call, its limits."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

MAX_INSTRUCTIONS = 40_000
"""Characters of the instructions of an agent."""
MAX_NAME = 80

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]
Destructive = Literal["deny", "ask", "auto"]
Batch = Literal["batched", "single", "free"]
Limit = Annotated[int, Field(ge=0)]


def _percent(value: int) -> int:
    if value and not 50 <= value <= 99:
        raise ValueError("give 0 for never, or 50 to 99 percent of the context")
    return value


Percent = Annotated[int, AfterValidator(_percent)]


class AgentDefinition(BaseModel):
    """An agent as the author set it up. A limit of 0 is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uuid: str
    book: str
    """The uuid of its book, which never changes."""
    name: Name
    enabled: bool = True
    model: str
    """The name of a model."""
    instructions: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] = ""
    """The task."""
    system_prompt: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] = ""
    """Replaces the studio's own; empty takes that."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")] = "en"
    """The language in which it speaks with the author; the book keeps its own."""
    commands: Literal["safe", "all"] | tuple[str, ...] = "safe"
    """What it may call: those that remove nothing, all, or these by name."""
    destructive: Destructive = "deny"
    """What a destructive command does: it is not offered, it waits for the author, it runs."""
    batch: Batch = "batched"
    """Calls in one answer: several but some alone, one, or as the model likes."""
    max_rounds: Limit = 0
    token_budget: Limit = 0
    """Tokens of a run, prompts and answers together."""
    max_cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Of a run, in the currency of the prices of its model."""
    max_minutes: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Minutes that a run is worked; what it rests is not counted."""
    context_cap: Limit = 0
    """Tokens of the context, below what the model has."""
    auto_compact: Percent = 90
    """Percent of the context at which the conversation is summarised; 0 is never."""
    compaction_prompt: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] = ""
    """What asks for a summary; empty takes that of the settings, then the studio's own."""
