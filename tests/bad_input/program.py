"""The program in this process, and what it answers, for tests of what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.scripted_server import calls


class Said:
    """What one call of the program answered."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one JSON document."""
        return json.loads(self.out)

    def refused(self, *words: str) -> str:
        """Checks that it was refused in one sentence that has the words, on both streams; answers the sentence."""
        assert self.code == 1, (self.code, self.out, self.err)
        assert self.err.startswith("Error: ")
        assert self.err.count("\n") == 1
        assert not set(self.err[:-1]) & set(map(chr, [*range(32), 127, *range(128, 160)]))
        message = self.json["error"]["message"]
        assert isinstance(message, str)
        assert message.rstrip(")”").endswith((".", "?", "!", "`")) or "The server says: “" in message
        for word in words:
            assert word in message
        return message


Program = Callable[..., Said]


def file_of(folder: Path, name: str, data: bytes) -> Path:
    """A file of these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


SCRIPT = [
    calls(("edit-part", {"part": "h:m1", "old": "All", "new": "Most"})),
    calls(("finish", {"report": "Done."})),
]


def add_agent(program: Program, url: str) -> None:
    """An agent on the book that is kept, whose model is at an address."""
    assert program("model", "add", "served", "--base-url", url, "--model", "m", "--timeout", "1").code == 0
    assert program("agent", "add", "Worker", "--book", "Kept", "--model", "served").code == 0
