"""The look of the studio before anything else is read: theme and keys, straight from the settings file.

The settings themselves are checked when the studio opens; this reads what the first picture needs without pydantic,
and takes defaults for what it can't read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILE = "settings.json"
LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """How the first picture looks. An empty theme is the default one."""

    theme: str = ""
    keymap: dict[str, str] = field(default_factory=dict)


def read_look(home: Path) -> Look:
    """The theme and the keymap of a home."""
    try:
        with open(home / FILE, "rb") as file:
            values = json.loads(file.read(LONGEST))
    except (OSError, ValueError, RecursionError):
        return Look()
    if not isinstance(values, dict):
        return Look()
    theme, keymap = values.get("theme", ""), values.get("keymap", {})
    return Look(theme if isinstance(theme, str) else "", usable_keymap(keymap) if isinstance(keymap, dict) else {})


def usable_keymap(keymap: Mapping[str, object]) -> dict[str, str]:
    """A keymap without what the toolkit can't take: an action with no key keeps the one that it has by itself."""
    found: dict[str, str] = {}
    for id, keys in keymap.items():
        if isinstance(keys, str) and (named := [key.strip() for key in keys.split(",") if key.strip()]):
            found[id] = ",".join(named)
    return found
