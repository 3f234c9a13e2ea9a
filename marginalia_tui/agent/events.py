"""What a working run tells whoever listens, in the shapes of the headless stream."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import orjson


@dataclass(frozen=True, slots=True)
class RunEvent:
    """The base; `to_json` gives the object of one line."""

    EVENT: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """The object of the stream."""
        return {"event": self.EVENT, **asdict(self)}


@dataclass(frozen=True, slots=True)
class StatusChanged(RunEvent):
    """The run has another status."""

    EVENT: ClassVar[str] = "status"
    run: str
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class RoundBegan(RunEvent):
    """The model is asked for the n-th time."""

    EVENT: ClassVar[str] = "round"
    n: int


@dataclass(frozen=True, slots=True)
class ReasoningArrived(RunEvent):
    """The model thinks aloud."""

    EVENT: ClassVar[str] = "reasoning"
    delta: str


@dataclass(frozen=True, slots=True)
class TextArrived(RunEvent):
    """A piece of the answer."""

    EVENT: ClassVar[str] = "text"
    delta: str


@dataclass(frozen=True, slots=True)
class CallMade(RunEvent):
    """A call begins. `arguments` is the JSON text as the model wrote it."""

    EVENT: ClassVar[str] = "call"
    id: str
    thread: str | None
    name: str
    arguments: str

    def to_json(self) -> dict[str, Any]:
        """The object of the stream; arguments that are no JSON stay a text."""
        try:
            arguments = orjson.loads(self.arguments or "{}")
        except orjson.JSONDecodeError:
            arguments = self.arguments
        return {"event": self.EVENT, "id": self.id, "thread": self.thread, "name": self.name, "arguments": arguments}


@dataclass(frozen=True, slots=True)
class CallAnswered(RunEvent):
    """A call has its result."""

    EVENT: ClassVar[str] = "result"
    id: str
    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class UsageCounted(RunEvent):
    """The tokens of a round."""

    EVENT: ClassVar[str] = "usage"
    prompt: int
    completion: int
    cached: int
    context: int


@dataclass(frozen=True, slots=True)
class NoticeGiven(RunEvent):
    """The studio, or the author, said something to the agent, or tells what it waits for."""

    EVENT: ClassVar[str] = "notice"
    text: str


@dataclass(frozen=True, slots=True)
class Rested(RunEvent):
    """Nothing more happens until the author acts."""

    EVENT: ClassVar[str] = "rest"
    run: str
    status: str
    reason: str | None
