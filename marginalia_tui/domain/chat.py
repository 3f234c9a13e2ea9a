"""What is said between the studio and a language model: messages, calls, tools, answers.

One vocabulary for the transcript of a run, the requests of `llm` and the offline proofreader. Nothing here
knows what a provider's JSON looks like.
"""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model asked for. `arguments` is the JSON text as it was written, perhaps broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, the system message left out.

    A `tool` message answers the call `call_id`. `reasoning` is what an assistant thought aloud;
    `reasoning_field` is the name under which its server sent that (`reasoning` or `reasoning_content`).
    `notice` is the kind of what the studio says in place of the author; it is never sent to a server.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    ok: bool = True
    reasoning: str = ""
    reasoning_field: str = ""
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request.

    `cached` is the part of the prompt that the server had kept, `reasoning` the part of the answer that was thought
    aloud, where the server tells it.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def context(self) -> int:
        """What the conversation fills of the context after the answer."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling values; None is not sent, so that the server's default holds."""

    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefinition:
    """A language model that the author set up, named `name` in the studio.

    `provider` picks the wire format: `openai` (any OpenAI-compatible server; `base_url` ends in `/v1`) or
    `offline` (the embedded proofreader). The key is never here: `key_env` names the environment variable that
    holds it; without one the keys file of the home is asked by the name of the model.
    """

    name: str
    provider: Literal["openai", "offline"] = "openai"
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    context: int = 0
    """Tokens that fit; 0 is not known."""
    max_output: int = 0
    """Tokens of one answer; 0 leaves it to the server."""
    sampling: Sampling = field(default_factory=Sampling)
    timeout: float = 300.0
    """Seconds without a chunk after which an answer is given up."""
    concurrent: int = 1
    """Requests at once."""
    images: bool = False
    price_in: float = 0.0
    """Price of a million tokens of the prompt."""
    price_out: float = 0.0
    answers_with_call: bool = False
    """An agent's request says that the answer has to hold a call: for models that only talk otherwise."""
    streams: bool = True
    """Answers are asked for as a stream; some servers lose calls in one."""


ToolChoice = Literal["auto", "none", "required"]
"""Whether an answer may, may not or must hold a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model. `tool_choice` `none` keeps the tools declared but forbids calls."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = "auto"
    max_output: int = 0
    session: str = ""
    """Names the conversation to the server, which may keep what it has read of it; empty: it has no name."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks aloud, and the field in which the server sent it."""

    text: str
    field: str = "reasoning_content"


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call begins; `index` counts the calls of this answer from 0."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of the JSON text of the arguments of call `index`."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The server counted."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is whole. `reason` is `stop`, `calls`, `length` (cut off by the output limit) or `other`."""

    reason: Literal["stop", "calls", "length", "other"]


StreamEvent = TextDelta | ReasoningDelta | CallStarted | CallArguments | UsageReported | Finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a request. `complete` is False when the stream ended without saying that it was done.

    `usage` is the server's count, or the studio's own when `usage_estimated`. Times are in seconds from the
    start of the request that was answered; `waited` is what came before it: the wait for a place, and the tries
    that failed.
    """

    text: str
    reasoning: str = ""
    reasoning_field: str = ""
    calls: tuple[Call, ...] = ()
    finish: Literal["stop", "calls", "length", "other"] = "stop"
    complete: bool = True
    usage: Usage = field(default_factory=Usage)
    usage_estimated: bool = False
    first_token: float = 0.0
    seconds: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What is known of the request that an answer came from, kept beside it.

    Times are in seconds and mean what they mean in `Answer`. `estimate` is what the studio counted for the request
    before it was sent, 0 when it did not. `written` calls came in the answer, `made` of them are kept in it.
    """

    waited: float = 0.0
    first_token: float = 0.0
    seconds: float = 0.0
    finish: str = "stop"
    complete: bool = True
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    counted_here: bool = False
    """The server told no usage: the tokens are the studio's own count."""
    estimate: int = 0
    written: int = 0
    made: int = 0

    @property
    def context(self) -> int:
        """What the conversation filled of the context after the answer."""
        return self.prompt + self.completion
