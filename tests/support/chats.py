"""Chats for tests: messages as chat programs write them."""

import json
from pathlib import Path
from typing import Any

from marginalia_tui.services.exchange.chat_reader import read_chat
from marginalia_tui.services.exchange.manuscript import Manuscript

HEADER: dict[str, Any] = {
    "user_name": "Tom",
    "character_name": "Ada",
    "create_date": "2025-03-01@10h00m00s",
    "chat_metadata": {"note_prompt": "Short answers.", "timedWorldInfo": {"sticky": {}}},
}


def message(mes: Any = "It rained.", **more: Any) -> dict[str, Any]:
    """A message of the character."""
    return {"name": "Ada", "is_user": False, "is_system": False, "mes": mes, **more}


def chat(*lines: dict[str, Any] | str, header: dict[str, Any] | None = HEADER) -> bytes:
    """A chat of messages, and of lines as they stand."""
    said = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    return "\n".join([json.dumps(header), *said] if header is not None else said).encode()


def written(path: Path, *lines: dict[str, Any] | str) -> Path:
    """The file of a chat."""
    path.write_bytes(chat(*lines))
    return path


def read(*lines: dict[str, Any] | str, header: dict[str, Any] | None = HEADER) -> tuple[Manuscript, tuple[str, ...]]:
    """What is read from a chat."""
    return read_chat(chat(*lines, header=header), "'chat.jsonl'")
