"""The lines that were run in a home, each with the book that was open.

They lie in a file that only its owner can read, newest last, in bounds of number and size. The file is read anew
before a line is added, so that two studios on one home keep the lines of both. An older file that is a plain list of
lines is read as lines without a book.
"""

import json
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from marginalia_tui.commands.line import CommandLine

log = logging.getLogger(__name__)

HISTORY_FILE = "history.json"
HISTORY = 1_000
"""Lines that are kept."""
LONGEST = 20_000
"""Characters of a line that is kept; a longer one is a text more than a command."""
SIZE = 1_000_000
"""Characters of all lines together."""


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line that was run, and the uuid of the book that was open."""

    line: str
    book: str | None = None


class History:
    """The lines that were run in a home. Safe to use from any thread.

    Args:
        path: of the file; one that can't be read is taken for empty, and written anew with the next line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._unwritten: list[PastLine] | None = None
        """What the file should hold, while it can't be written."""

    def lines(self, book: str | None = None) -> list[str]:
        """The lines as Up walks through them, the last first: those of a book behind all others, each line once.

        Args:
            book: the uuid of the open book; None: no book is open, and the lines stand in the order of their use.
        """
        with self._lock:
            past = self._read()
        if book is not None:
            past.sort(key=lambda each: each.book == book)
        newest_last = dict.fromkeys(each.line for each in reversed(past))
        return list(reversed(newest_last))

    def add(self, line: str, book: str | None = None) -> None:
        """Keeps a line; the same line of the same book again moves to the end. What is no command is not kept."""
        if len(line) > LONGEST or not CommandLine.parse(line).is_command:
            return
        new = PastLine(line, book)
        with self._lock:
            past = [each for each in self._read() if each != new]
            self._write(_bounded([*past, new]))

    def _read(self) -> list[PastLine]:
        if self._unwritten is not None:
            return list(self._unwritten)
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return []
        past = map(_past_line, found if isinstance(found, list) else [])
        return [each for each in past if each is not None]

    def _write(self, past: list[PastLine]) -> None:
        draft = self._path.with_suffix(".new")
        data = json.dumps([{"line": each.line, "book": each.book} for each in past])
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                os.fchmod(handle, 0o600)
                file.write(data)
            draft.replace(self._path)
        except OSError as error:
            # A line that is not remembered is no reason to refuse the command.
            log.warning("the history can't be written: %s", error)
            self._unwritten = past
        else:
            self._unwritten = None


def _past_line(value: object) -> PastLine | None:
    match value:
        case str():
            return PastLine(value)
        case {"line": str(line), "book": str() | None as book}:
            return PastLine(line, book)
    return None


def _bounded(past: list[PastLine]) -> list[PastLine]:
    """The newest ones that may be kept."""
    room = SIZE
    for kept, each in enumerate(reversed(past)):
        room -= len(each.line)
        if kept == HISTORY or room < 0:
            return past[len(past) - kept :]
    return past
