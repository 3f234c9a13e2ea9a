"""Copying: to the terminal first (OSC 52), then with a local tool, then into a file; it says which.

A terminal never says whether it took an OSC 52, and over SSH a tool would fill the clipboard of the wrong
machine. So the sequence is always written (inside tmux in its wrapping), the tools are only asked on the machine
where the author sits, and a text too long for terminals goes to a file.
"""

import base64
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT = 74_994
"""Bytes of text that terminals take in one OSC 52 (100,000 characters of base64 with what is around it)."""
_TIMEOUT = 2.0
"""Seconds that a tool may take."""
Run = Callable[[Sequence[str], bytes], bool]


@dataclass(frozen=True, slots=True)
class Copied:
    """Where a text went, in one sentence; `path` when that is a file."""

    sentence: str
    path: Path | None = None


def osc52(text: str, *, tmux: bool = False) -> str:
    """The sequence that asks a terminal to take a text into its clipboard."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{encoded}\x07"
    if tmux:
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


def tools(environment: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The tools that could reach the clipboard of this machine, best first; none over SSH."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return []
    found: list[tuple[str, ...]] = []
    if environment.get("WAYLAND_DISPLAY"):
        found.append(("wl-copy",))
    if environment.get("DISPLAY"):
        found.extend([("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")])
    found.extend([("pbcopy",), ("clip.exe",)])
    return found


def run_tool(command: Sequence[str], text: bytes) -> bool:
    """Gives a text to a tool; answers whether it took it."""
    if shutil.which(command[0]) is None:
        return False
    try:
        done = subprocess.run(
            command,
            input=text,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def copy(
    text: str,
    write: Callable[[str], object],
    *,
    environment: Mapping[str, str] = os.environ,
    run: Run = run_tool,
    folder: Path | None = None,
) -> Copied:
    """Copies a text. May wait two seconds for a tool: call it off the screen's loop.

    Args:
        text: what is copied.
        write: writes to the terminal, such as `driver.write`; must be safe on the calling thread.
        environment: of the process.
        run: runs a tool.
        folder: where a file is made; None is the folder for temporary files.

    Returns:
        Which way it took.

    Raises:
        OSError: the text was too long for the terminal and the file could not be written.
    """
    data = text.encode("utf-8", "replace")
    fits = len(data) <= LIMIT
    if fits:
        write(osc52(text, tmux=bool(environment.get("TMUX"))))
    for command in tools(environment):
        if run(command, data):
            return Copied(f"Copied {len(text):,} characters with {command[0]}.")
    if fits:
        return Copied(f"Copied {len(text):,} characters by way of the terminal (OSC 52).")
    handle, name = tempfile.mkstemp(prefix="marginalia-copy-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return Copied(f"Too long for the terminal's clipboard: written to {name}.", Path(name))
