"""Trying a model out: one short answer, one call, one picture.

What a server takes without a complaint it may still ignore, so each is judged by the answer: the tool must be
called by its name, the colour of the picture must be named.
"""

import base64
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Any

from marginalia_tui.domain.chat import Answer, Message, ModelDefinition, Request, Tool
from marginalia_tui.domain.errors import ModelError
from marginalia_tui.llm.answer import broken_calls
from marginalia_tui.llm.errors import ModelFault, refuses_choice
from marginalia_tui.llm.models import Models
from marginalia_tui.llm.openai_chat import payload

SHORT = 512
"""Tokens that each answer may have; a model that thinks needs some before it speaks."""

_SYSTEM = "You are being tested. Answer as briefly as you can."
_QUESTION = "Which day comes after Monday? Answer with one word."
_TOOL = Tool(
    "note_colour",
    "Notes the colour that the author names.",
    {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
)
_ORDER = "Call the tool note_colour with the colour green. Do not answer with text."
_PICTURE = "What is the colour of this picture? Answer with one English word."
_COLOUR = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What a model can do.

    Attributes:
        answer: the start of the short answer.
        first_token: seconds from the question to the first piece of the answer.
        tokens_per_second: of the answer, after its first piece; 0 when it came in one.
        seconds: of the whole short answer.
        usage: whether the server counts tokens.
        tools: whether a tool was called as told.
        images: whether the picture was seen; None when the model's provider can't be shown one.
        reasoning: whether it thinks aloud.
        notes: what went wrong with the call and the picture, a sentence each.
    """

    name: str
    answer: str
    first_token: float
    tokens_per_second: float
    seconds: float
    usage: bool
    tools: bool
    images: bool | None
    reasoning: bool
    notes: tuple[str, ...] = ()


def test_model(models: Models, definition: ModelDefinition) -> ModelReport:
    """Ask a model three short questions, and wait: not for the thread of a screen.

    Raises:
        ModelError: it does not even give the short answer.
        Cancelled: the models were closed meanwhile.
    """
    limit = min(definition.max_output or SHORT, SHORT)
    asked = replace(definition, max_output=limit)
    notes: list[str] = []
    question = Request(system=_SYSTEM, messages=(Message(role="user", text=_QUESTION),))
    answer = models.ask(asked, question).future.result()
    if not answer.complete:
        notes.append("The answer was cut off: the server closed the stream early.")
    tools = _try_tool(models, asked, notes)
    images = _try_picture(models, asked, notes)
    spoken = answer.seconds - answer.first_token
    return ModelReport(
        name=definition.name,
        answer=answer.text.strip()[:200],
        first_token=answer.first_token,
        tokens_per_second=(answer.usage.completion - 1) / spoken if spoken > 0 and answer.usage.completion > 1 else 0.0,
        seconds=answer.seconds,
        usage=not answer.usage_estimated,
        tools=tools,
        images=images,
        reasoning=bool(answer.reasoning),
        notes=tuple(notes),
    )


def _try_tool(models: Models, definition: ModelDefinition, notes: list[str]) -> bool:
    order = Request(
        system=_SYSTEM, messages=(Message(role="user", text=_ORDER),), tools=(_TOOL,), tool_choice="required"
    )
    try:
        answer = _ask_for_call(models, definition, order, notes)
    except ModelError as error:
        notes.append(f"Tools: {error.message}")
        return False
    broken = broken_calls(answer)
    if any(call.name == _TOOL.name and call not in broken for call in answer.calls):
        return True
    notes.append("Tools: it answered without calling the tool; agents need a model that can.")
    return False


def _ask_for_call(models: Models, definition: ModelDefinition, order: Request, notes: list[str]) -> Answer:
    try:
        return models.ask(definition, order).future.result()
    except ModelFault as fault:
        if not refuses_choice(fault):
            raise
    notes.append("Tools: the server can't be told that an answer has to hold a call; leave that setting off.")
    return models.ask(definition, replace(order, tool_choice="auto")).future.result()


def _try_picture(models: Models, definition: ModelDefinition, notes: list[str]) -> bool | None:
    if definition.provider != "openai":
        return None
    try:
        answer: Answer = models.ask_body(definition, picture_body(definition)).future.result()
    except ModelError as error:
        notes.append(f"Images: {error.message}")
        return False
    if _COLOUR in answer.text.lower():
        return True
    notes.append("Images: it took the picture and did not see it.")
    return False


def picture_body(definition: ModelDefinition) -> dict[str, Any]:
    """The body of a question about a picture of one colour."""
    body = payload(definition, Request(system=_SYSTEM, messages=(Message(role="user", text=_PICTURE),)))
    url = f"data:image/png;base64,{base64.b64encode(plain_png(64, (214, 20, 20))).decode()}"
    body["messages"][-1]["content"] = [
        {"type": "text", "text": _PICTURE},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    return body


def plain_png(side: int, colour: tuple[int, int, int]) -> bytes:
    """A square PNG of one colour, `side` pixels wide."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(colour) * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
