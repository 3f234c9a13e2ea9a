"""Short descriptions of tools, for contexts that the long ones would fill.

What a tool does and what it is to be passed stays; what can be learned from an error or a result goes.
"""

import re
from typing import Any

from marginalia_tui.domain.chat import Tool

SMALL = 16_000
"""Tokens of a context, and less, for which descriptions are short."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def is_small(cap: int) -> bool:
    """Whether a context is small; 0 is not known."""
    return 0 < cap <= SMALL


def brief(tool: Tool) -> Tool:
    """The tool with the first two sentences of its description, and the first one of each parameter."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    short = {name: _parameter(schema) for name, schema in properties.items()}
    return Tool(tool.name, _first(tool.description, 2), {**tool.parameters, "properties": short})


def _parameter(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name != "default"}
    if "description" in kept:
        kept["description"] = _first(kept["description"], 1)
    return kept


def _first(text: str, sentences: int) -> str:
    return " ".join(_SENTENCE.split(text)[:sentences])
