"""The wire format of OpenAI-compatible chat completions.

Pure: `payload` turns a request into JSON, `AnswerReader` turns the bytes of an answer into events. Strict in
what is sent (see `history`), liberal in what is taken: a stream of events, a whole JSON answer to a streamed
request, missing and wrong fields, thinking in three places, an error in the midst of a stream.
"""

from collections.abc import Iterator
from typing import Any, Literal

from marginalia_tui.domain.chat import (
    Finished,
    Message,
    ModelDefinition,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
    Tool,
    Usage,
    UsageReported,
)
from marginalia_tui.llm.calls import CallAssembler
from marginalia_tui.llm.chunks import choice_of, deltas, finish_of, load, said_in, usage_of
from marginalia_tui.llm.errors import ModelFault, Reason, describe
from marginalia_tui.llm.faults import fault_of, read_error
from marginalia_tui.llm.history import legal
from marginalia_tui.llm.sse import EventParser
from marginalia_tui.llm.surrogates import clean_text
from marginalia_tui.llm.think import ThinkFilter

RETURNED_REASONING = frozenset({"reasoning", "reasoning_content"})
"""The fields in which reasoning is sent back, when it was received there."""

DONE = "[DONE]"

MAX_BODY = 32 * 1024 * 1024
"""Bytes of an answer that is sent as one JSON text."""


def payload(definition: ModelDefinition, request: Request, *, streamed: bool = True) -> dict[str, Any]:
    """The body of a request.

    Args:
        definition: the model: its id, sampling and limit of the answer.
        request: what is asked.
        streamed: whether the answer is wanted as a stream, with its usage.
    """
    return body_with(definition, request, wire_messages(request), streamed=streamed)


def body_with(definition: ModelDefinition, request: Request, messages: Any, *, streamed: bool = True) -> dict[str, Any]:
    """The body of a request whose messages are in wire form already; see `payload`."""
    body: dict[str, Any] = {"model": definition.model, "messages": messages}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    limit = output_limit(definition, request)
    if limit:
        body["max_tokens"] = limit
    sampling = definition.sampling
    for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty"):
        value = getattr(sampling, name)
        if value is not None:
            body[name] = value
    if streamed:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return body


def output_limit(definition: ModelDefinition, request: Request) -> int:
    """Tokens that the answer may have; 0 leaves it to the server."""
    return request.max_output or definition.max_output


def wire_messages(request: Request) -> list[dict[str, Any]]:
    """The messages of a request in wire form: one system message first, then the legal conversation."""
    return [*wire_system(request.system), *map(wire_message, legal(request.messages))]


def wire_system(text: str) -> list[dict[str, Any]]:
    """The system message, when there is one."""
    return [{"role": "system", "content": clean_text(text)}] if text.strip() else []


def wire_message(message: Message) -> dict[str, Any]:
    """A message of a legal conversation."""
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        wire["tool_call_id"] = message.call_id
    if message.calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.reasoning and message.reasoning_field in RETURNED_REASONING:
        wire[message.reasoning_field] = clean_text(message.reasoning)
    return wire


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


class AnswerReader:
    """Bytes of an answer to events.

    `feed` the body as it comes, `close` at its end. `done` turns True at `[DONE]`: nothing more is to be read.
    `ended` turns True when the model has said why it stopped; a chunk with the usage may still follow. The
    `Finished` event is the last one, and is missing when the stream was cut.
    """

    def __init__(self, definition: ModelDefinition, *, secret: str | None = None) -> None:
        self.done = False
        self._definition = definition
        self._secret = secret
        self._shape: Literal["unknown", "stream", "json"] = "unknown"
        self._events = EventParser()
        self._body: list[bytes] = []
        self._size = 0
        self._chunks = 0
        self._think = ThinkFilter()
        self._calls = CallAssembler()
        self._finish: Literal["stop", "calls", "length", "other"] | None = None
        self._usage: Usage | None = None
        self._said = False
        self._half = ""
        self._format = ""

    @property
    def ended(self) -> bool:
        """Whether the model has said why it stopped."""
        return self._finish is not None

    def feed(self, piece: bytes) -> Iterator[StreamEvent]:
        """Take a piece of the body.

        Raises:
            ModelFault: it is no answer, or the server tells an error in it.
        """
        if self._shape == "unknown":
            piece = self._sniff(piece)
        if self._shape == "json":
            self._gather(piece)
        elif self._shape == "stream":
            for event in self._events.feed(piece):
                yield from self._event(event.name, event.data)

    def close(self) -> Iterator[StreamEvent]:
        """The body is over.

        Raises:
            ModelFault: nothing of an answer was in it.
        """
        if self._shape == "stream" and not self.done:
            for event in self._events.close():
                yield from self._event(event.name, event.data, last=True)
        elif self._shape != "stream" and self._body:
            yield from self._whole(b"".join(self._body))
        if not self._chunks and not self.done:
            raise self._broken("It sent only signs of life." if self._events.comments else "It sent no answer at all.")
        finish = self._finish or ("stop" if self.done else None)
        stopped = finish == "stop" and not self._calls.any
        if self._half:
            yield from self._parted(self._think.feed(clean_text(self._half)))
        yield from self._parted(self._think.close(stopped=stopped))
        yield from self._calls.close()
        if finish is None:
            return
        if finish == "calls" and not self._calls.any:
            if not self._said:
                raise ModelFault(Reason.UNREADABLE_CALL, describe(Reason.UNREADABLE_CALL, self._definition))
            finish = "stop"
        yield Finished("calls" if finish == "stop" and self._calls.any else finish)

    def _sniff(self, piece: bytes) -> bytes:
        """Judge the body by its first sign, not by its declared type, which is often wrong."""
        self._body.append(piece)
        start = b"".join(self._body)
        head = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not head:
            self._gather(b"")
            return b""
        self._body.clear()
        if head[:1] in b"{[<":
            self._shape = "json"
        else:
            self._shape = "stream"
        return start

    def _gather(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_BODY or len(self._body) > 100_000:
            raise self._broken("Its answer does not end.")
        self._body.append(piece)

    def _whole(self, body: bytes) -> Iterator[StreamEvent]:
        """An answer that was sent as one JSON text, or a page that is none."""
        text = body.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if text.startswith("<"):
            raise self._broken("It sent a web page instead of JSON.")
        if not text:
            return
        try:
            value = load(text)
        except ValueError:
            raise self._broken("Its JSON can't be read.") from None
        yield from self._chunk(value[0] if isinstance(value, list) and value else value)
        # A whole answer is whole, even without a reason why it ended.
        self.done = bool(self._chunks)

    def _event(self, name: str, data: str, *, last: bool = False) -> Iterator[StreamEvent]:
        """One event; `last` when the stream ended without its blank line, perhaps in its midst."""
        data = data.strip()
        if self.done or not data or data.startswith(":"):
            return
        for value in self._values(data, last=last):
            if name == "error" and said_in(value) is None:
                raise fault_of(self._definition, read_error(value), secret=self._secret)
            yield from self._chunk(value)

    def _values(self, data: str, *, last: bool) -> Iterator[Any]:
        """The JSON of an event; servers that leave out blank lines put several into one."""
        lines = [data] if data == DONE or "\n" not in data else _jsons(data)
        for at, line in enumerate(lines):
            if line == DONE:
                self.done = True
                return
            try:
                yield load(line)
            except ValueError:
                if last and at == len(lines) - 1:
                    self._chunks += 1
                    return
                raise self._broken("A part of its answer can't be read.") from None

    def _chunk(self, value: Any) -> Iterator[StreamEvent]:
        said = said_in(value)
        if said is not None:
            raise fault_of(self._definition, read_error(said), secret=self._secret)
        if not isinstance(value, dict) or not (value.keys() & {"choices", "usage", "object", "id"}):
            return  # gateways mix in signs of life of their own
        self._chunks += 1
        choice = choice_of(value)
        for kind, what, field in deltas(choice):
            match kind:
                case "text":
                    yield from self._parted(self._think.feed(self._joined(what)))
                case "reasoning":
                    # A server that parts thinking itself leaves a literal tag in the text alone.
                    yield from self._parted(self._think.plain())
                    self._said = True
                    yield ReasoningDelta(clean_text(what), field)
                case "calls":
                    # Servers that know both formats send a call in each: the first that comes is taken.
                    self._format = self._format or field
                    if field == self._format:
                        yield from self._calls.feed(what)
        self._finish = finish_of(choice) or self._finish
        usage = usage_of(value)
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsageReported(usage)

    def _joined(self, text: str) -> str:
        """The text with half a surrogate pair kept back until its other half comes."""
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean_text(text)

    def _parted(self, pieces: list[tuple[Literal["text", "reasoning"], str]]) -> Iterator[StreamEvent]:
        for kind, text in pieces:
            self._said = True
            yield TextDelta(text) if kind == "text" else ReasoningDelta(text, "")

    def _broken(self, why: str) -> ModelFault:
        return ModelFault(Reason.BROKEN, f"{describe(Reason.BROKEN, self._definition)} {why}")


def _jsons(data: str) -> list[str]:
    """The lines of an event whose data is several JSON texts; one when it is a single text on many lines."""
    lines = [line.strip() for line in data.split("\n") if line.strip()]
    try:
        load(lines[0])
    except ValueError:
        return [data]
    return lines
