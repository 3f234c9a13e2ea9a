"""How the author looks at things, kept between two starts: the open panel, the ways of the editor.

A small file of its own beside the settings, since it is written at a key press. It is read anew before a value is
kept, so that two studios on one home keep what each of them changed; one that can't be read is taken for defaults.
"""

import json
import logging
import os
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path

log = logging.getLogger(__name__)

VIEW_FILE = "view.json"
LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class View:
    """What is kept."""

    panel: str = ""
    """The panel that stands beside the page; empty: none does."""
    focus: bool = False
    """Whether the editor dims all but the paragraph of the cursor."""
    typewriter: bool = False
    """Whether the line of the cursor stays in the middle."""
    console_tab: str = ""
    """The tab of the console that was looked at last."""
    spelling: bool = True
    """Whether the editor marks words that are not right."""


class Views:
    """Reads and keeps the view of a home. Safe to use from any thread."""

    def __init__(self, home: Path) -> None:
        self._path = home / VIEW_FILE
        self._lock = threading.Lock()
        self._unwritten: View | None = None
        """What the file should hold, while it can't be written."""

    def read(self) -> View:
        """The view as it was kept last."""
        with self._lock:
            return self._read()

    def keep(self, **values: str | bool) -> None:
        """Keeps values by name."""
        with self._lock:
            now = self._read()
            changed = replace(now, **values)  # type: ignore[arg-type]
            if changed != now:
                self._write(changed)

    def _read(self) -> View:
        if self._unwritten is not None:
            return self._unwritten
        try:
            with open(self._path, "rb") as file:
                found = json.loads(file.read(LONGEST))
        except (OSError, ValueError, RecursionError):
            return View()
        if not isinstance(found, dict):
            return View()
        whole = asdict(View())
        return View(**{name: found[name] if type(found.get(name)) is type(own) else own for name, own in whole.items()})

    def _write(self, view: View) -> None:
        draft = self._path.with_suffix(".new")
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(view), file)
            draft.replace(self._path)
        except OSError as error:
            # A panel that is not remembered is no reason to refuse to open it.
            log.warning("the view can't be kept: %s", error)
            self._unwritten = view
        else:
            self._unwritten = None
