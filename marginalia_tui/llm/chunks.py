"""Single chunks of an answer: what a server's JSON holds, whatever shape it has.

Nothing here raises for a missing or a wrong field: what can't be read is not there.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

import orjson

from marginalia_tui.domain.chat import Usage

Delta = tuple[Literal["text", "reasoning", "calls"], Any, str]
"""What a chunk adds: its kind, its value, and for reasoning and calls the field it came in."""

_FINISH: dict[str, Literal["stop", "calls", "length", "other"]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "calls",
    "tool_call": "calls",
    "function_call": "calls",
    "tool_use": "calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
}


def load(text: str) -> Any:
    """JSON of a server.

    Raises:
        ValueError: it is none.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        # Stricter than servers are: half of a surrogate pair, which may come in two chunks, NaN.
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def said_in(value: Any) -> Any | None:
    """The error object that stands in place of an answer, or None."""
    if not isinstance(value, dict):
        return None
    if value.get("error"):
        return value
    return value if value.get("object") == "error" or value.get("type") == "error" else None


def choice_of(value: Any) -> dict[str, Any]:
    """The first choice of a chunk; empty when it has none (the chunk of the usage)."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if isinstance(choices, dict):
        return choices
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return {}


def finish_of(choice: dict[str, Any]) -> Literal["stop", "calls", "length", "other"] | None:
    """Why the answer ended, None while it goes on."""
    reason = choice.get("finish_reason")
    if not isinstance(reason, str) or not reason or reason.lower() == "null":
        return None
    return _FINISH.get(reason.lower(), "other")


def deltas(choice: dict[str, Any]) -> Iterator[Delta]:
    """What a choice adds, from a `delta` of a stream or the `message` of a whole answer."""
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        delta = choice.get("message")
    if not isinstance(delta, dict):
        text = choice.get("text")
        if isinstance(text, str) and text:
            yield "text", text, ""
        return
    for field in ("reasoning_content", "reasoning"):
        thought = delta.get(field)
        if isinstance(thought, str) and thought:
            yield "reasoning", thought, field
            break
    else:
        for thought in _detailed(delta.get("reasoning_details")):
            yield "reasoning", thought, "reasoning"
    yield from _content(delta.get("content"))
    refusal = delta.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield "text", refusal, ""
    for field in ("tool_calls", "function_call"):
        if delta.get(field):
            yield "calls", delta[field], field


def _content(content: Any) -> Iterator[Delta]:
    if isinstance(content, str):
        if content:
            yield "text", content, ""
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield "text", part, ""
        elif isinstance(part, dict):
            yield from _part(part)


def _part(part: dict[str, Any]) -> Iterator[Delta]:
    """One part of a content that is a list: text, or thinking (which may be a list of texts itself)."""
    text = part.get("text")
    if isinstance(text, str) and text:
        yield "text", text, ""
    thought = part.get("thinking")
    if isinstance(thought, list):
        thought = "".join(one["text"] for one in thought if isinstance(one, dict) and isinstance(one.get("text"), str))
    if isinstance(thought, str) and thought:
        yield "reasoning", thought, ""


def _detailed(details: Any) -> Iterator[str]:
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict):
            text = one.get("text") or one.get("summary")
            if isinstance(text, str) and text:
                yield text


def usage_of(value: Any) -> Usage | None:
    """The server's count, None when the chunk has none."""
    usage = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens"))
    if not prompt and not completion:
        return None
    thought = usage.get("completion_tokens_details")
    reasoning = _count(thought.get("reasoning_tokens")) if isinstance(thought, dict) else 0
    return Usage(prompt, completion, cached or _count(usage.get("prompt_cache_hit_tokens")), reasoning)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0
