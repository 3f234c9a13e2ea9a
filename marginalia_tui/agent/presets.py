"""Sets of commands that a small model can hold, by name: an agent may be allowed these instead of single commands.

A name stands for its commands wherever commands are named. A large set costs a small model twice: the descriptions
fill its context, and among seventy tools it takes the wrong one.
"""

from collections.abc import Iterable, Mapping

_READING = ("get-book-info", "list-parts", "get-part", "search-parts", "find-occurrences")
_LORE = ("list-lorebooks", "list-lore-entries", "get-lore-entry", "search-lore")

PRESETS: Mapping[str, tuple[str, ...]] = {
    "proofread": ("list-parts", "get-part", "find-occurrences", "edit-part"),
    "read": (*_READING, "list-summaries", "get-summary", *_LORE),
    "notes": (*_READING, "list-annotations", "get-annotation", "create-annotation", "resolve-annotation"),
    "write": (*_READING, "edit-part", "append-to-part", "create-part", "insert-part", "set-part-fields"),
    "lore": (*_READING, *_LORE, "create-lore-entry", "update-lore-entry"),
}
"""Name -> commands."""

NAMES = "safe, all, " + ", ".join(PRESETS)
"""What can be named instead of commands, for people."""


def expand(names: Iterable[str]) -> frozenset[str]:
    """The commands that are named, with those that presets stand for."""
    return frozenset(command for name in names for command in PRESETS.get(name, (name,)))
