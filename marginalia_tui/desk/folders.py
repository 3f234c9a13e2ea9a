"""The completer of the kind `file`: the names of the folder that is typed.

A folder is read on a thread of its own, for a disk may be away or asleep: what is not in after a moment is left out,
and is there at the next key. Only so many names of a folder are looked at.
"""

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass

from marginalia_tui.commands.completion import LIMIT, Candidate
from marginalia_tui.commands.fuzzy import ranked

NAMES = 5_000
"""Names of one folder that are looked at."""
PATIENCE = 0.03
"""Seconds that a completion waits for a folder."""
FRESH = 2.0
"""Seconds for which the names of a folder hold."""
WAITING = 8
"""Folders that are being read at once; a disk that is away makes no more threads than that."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a folder."""

    name: str
    folder: bool


class Folders:
    """Completes paths. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, tuple[float, Future[Sequence[Name]]]] = {}

    def complete(self, typed: str) -> list[Candidate]:
        """The names that begin so, or have it in them; folders end in a slash. `~` is the home."""
        head, _, tail = typed.rpartition("/")
        head += "/" if "/" in typed else ""
        if typed == "~":
            return [Candidate("~/", description="your home")]
        names = [each for each in self._names(head) if tail.startswith(".") or not each.name.startswith(".")]
        found = ranked(tail, names, lambda each: (each.name,), LIMIT)
        return [
            Candidate(
                head + each.name + ("/" if each.folder else ""),
                each.name + ("/" if each.folder else ""),
                "folder" if each.folder else "",
            )
            for each in found
        ]

    def _names(self, head: str) -> Sequence[Name]:
        folder = os.path.expanduser(head) or "."
        try:
            return self._reading(folder).result(PATIENCE)
        except NotYet:
            return ()

    def _reading(self, folder: str) -> "Future[Sequence[Name]]":
        now = time.monotonic()
        nothing: Future[Sequence[Name]] = Future()
        nothing.set_result(())
        with self._lock:
            known = {
                path: (at, names) for path, (at, names) in self._read.items() if now - at < FRESH or not names.done()
            }
            self._read = known
            if folder in known:
                return known[folder][1]
            if sum(not names.done() for _, names in known.values()) >= WAITING:
                return nothing
            reading: Future[Sequence[Name]] = Future()
            known[folder] = now, reading
        threading.Thread(target=_read_names, args=[folder, reading], name="marginalia-folder", daemon=True).start()
        return reading


def _read_names(folder: str, reading: "Future[Sequence[Name]]") -> None:
    names: list[Name] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) == NAMES:
                    break
                if _is_text(entry.name):
                    names.append(Name(entry.name, _is_folder(entry)))
    except (OSError, ValueError):
        # Nothing is proposed of a folder that can't be read; whoever opens the path says why.
        names = []
    reading.set_result(sorted(names, key=lambda each: (not each.folder, each.name.casefold(), each.name)))


def _is_text(name: str) -> bool:
    """Whether a name can be typed: its bytes are characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
