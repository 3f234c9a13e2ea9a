"""The lorebook inside a character card: the entries of world info under other names.

Each entry is read and written by way of world info, so that the two mean the same. The names of SillyTavern's own
fields stand in `extensions`, in small letters with underscores.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from marginalia_tui.services.exchange.looseread import Loose, beyond
from marginalia_tui.services.exchange.lorefile import LoreEntry, LoreFile
from marginalia_tui.services.exchange.worldentry import (
    EXTENSIONS,
    KEPT,
    OURS,
    SAID_BY,
    TEMPLATE,
    flatten,
    read_entry,
    unflatten,
    write_entry,
)
from marginalia_tui.services.exchange.worldinfo import MAX_SCAN_DEPTH, read_worldinfo, worldinfo_of

CARD = "card"
"""The key of the attributes under which what world info does not know of an entry is kept."""

_NAMES = {
    "keys": "key",
    "secondary_keys": "keysecondary",
    "content": "content",
    "comment": "comment",
    "constant": "constant",
    "selective": "selective",
    "insertion_order": "order",
    "case_sensitive": "caseSensitive",
    "use_regex": "useRegex",
    "id": "uid",
}
"""Field of an entry of a card -> that of world info that says the same."""
_EXTENSIONS = {
    "position": "position",
    "exclude_recursion": "excludeRecursion",
    "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion",
    "probability": "probability",
    "useProbability": "useProbability",
    "depth": "depth",
    "role": "role",
    "selectiveLogic": "selectiveLogic",
    "outlet_name": "outletName",
    "group": "group",
    "group_override": "groupOverride",
    "group_weight": "groupWeight",
    "use_group_scoring": "useGroupScoring",
    "scan_depth": "scanDepth",
    "match_whole_words": "matchWholeWords",
    "case_sensitive": "caseSensitive",
    "automation_id": "automationId",
    "vectorized": "vectorized",
    "sticky": "sticky",
    "cooldown": "cooldown",
    "delay": "delay",
    "triggers": "triggers",
    "ignore_budget": "ignoreBudget",
    "display_index": "displayIndex",
    "match_persona_description": "matchPersonaDescription",
    "match_character_description": "matchCharacterDescription",
    "match_character_personality": "matchCharacterPersonality",
    "match_character_depth_prompt": "matchCharacterDepthPrompt",
    "match_scenario": "matchScenario",
    "match_creator_notes": "matchCreatorNotes",
}
"""The same for the fields in its extensions."""
_TOLD = {theirs: ours for ours, theirs in _NAMES.items() if ours != theirs} | {
    theirs: f"extensions.{ours}" for ours, theirs in _EXTENSIONS.items() if theirs != "caseSensitive"
}
_POSITIONS = ("before_char", "after_char")
_FROM_SILLYTAVERN = {"selectiveLogic", "display_index"}
"""SillyTavern marks each key as an expression, and takes for one only what stands between slashes."""
_BOOK_FIELDS = ("scan_depth", "recursive_scanning")


# In


def read_cardbook(data: Mapping[str, Any], title: str = "") -> LoreFile:
    """The lorebook of a card.

    Args:
        data: `character_book` of the card.
        title: for one that says none.

    Raises:
        Invalid: it has no entries, or far too many.
    """
    depth = _depth(data)

    def read(row: Mapping[str, Any], place: int, called: str) -> tuple[LoreEntry, list[str]]:
        entry, left = _read(row, place, called, depth)
        again = flatten(card_entry(write_entry(entry, place)))
        rest = beyond(flatten(row), again)
        if rest:
            entry = replace(entry, attributes={**entry.attributes, CARD: rest})
        return entry, left

    found = read_worldinfo(data, title, read=read, known=_BOOK_FIELDS)
    recursive = Loose(data).flag("recursive_scanning")
    return replace(found, scan_depth=MAX_SCAN_DEPTH) if recursive and not found.scan_depth else found


def _depth(data: Mapping[str, Any]) -> int | None:
    """The recent messages that all entries look through, when the lorebook says it."""
    return None if data.get("scan_depth") is None else Loose(data).number("scan_depth", 2, 0)


def _read(row: Mapping[str, Any], place: int, called: str, depth: int | None) -> tuple[LoreEntry, list[str]]:
    raw = world_entry(row)
    if depth is not None and raw.get("scanDepth") is None:
        raw["scanDepth"] = depth
    entry, left = read_entry(raw, place, called=called, told=_TOLD)
    known = {*_NAMES, "enabled", "position", "name", EXTENSIONS}
    left += [name for name, value in row.items() if name not in known and value]
    return entry, left


def world_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of a card as one of world info; what has no name there is left out."""
    raw: dict[str, Any] = {theirs: row[ours] for ours, theirs in _NAMES.items() if ours in row}
    if row.get("name") is not None:
        raw["name"] = row["name"]
    if "enabled" in row:
        raw["disable"] = (
            not row["enabled"] if isinstance(row["enabled"], bool) else not Loose(row).flag("enabled", True)
        )
    if row.get("position") in _POSITIONS:
        raw["position"] = _POSITIONS.index(row["position"])
    extensions = row.get(EXTENSIONS)
    if isinstance(extensions, dict):
        for name, value in extensions.items():
            theirs = _EXTENSIONS.get(name)
            if theirs is None:
                raw.setdefault(EXTENSIONS, {})[name] = value
            elif value is not None or theirs not in raw:
                raw[theirs] = value
        if extensions.keys() >= _FROM_SILLYTAVERN:
            raw.pop("useRegex", None)
    if row.get("case_sensitive") is not None:
        raw["caseSensitive"] = row["case_sensitive"]
    return raw


# Out


def write_cardbook(lorebook: LoreFile) -> dict[str, Any]:
    """`character_book` of a card, with the entries of the lorebooks below."""
    kept = lorebook.attributes.get(KEPT)
    depth = _depth(kept) if isinstance(kept, dict) else None

    def write(entry: LoreEntry, place: int) -> dict[str, Any]:
        others = {name: value for name, value in entry.attributes.items() if name != CARD}
        made = card_entry(write_entry(replace(entry, attributes=others), place))
        rest = entry.attributes.get(CARD)
        return _merged(made, rest, depth) if isinstance(rest, dict) else made

    made = worldinfo_of(lorebook, write, as_list=True)
    made.setdefault(EXTENSIONS, {})
    if bool(made.get("recursive_scanning")) != bool(lorebook.scan_depth):
        made["recursive_scanning"] = bool(lorebook.scan_depth)
    return made


def _merged(made: dict[str, Any], rest: Mapping[str, Any], depth: int | None) -> dict[str, Any]:
    """The entry with what it had beside world info, but for what the author has changed since."""
    flat = flatten(made)
    ours = made.get(EXTENSIONS, {})
    merged = unflatten({**flat, **rest})
    before, plain = _read(merged, 0, "", depth)[0], _read(made, 0, "", depth)[0]
    if any(getattr(before, name) != getattr(plain, name) for name in SAID_BY):
        known = {*_NAMES, "enabled", "position", "name", *(f"{EXTENSIONS}/{name}" for name in _EXTENSIONS)}
        merged = unflatten({**flat, **{name: value for name, value in rest.items() if name not in known}})
    if OURS in ours:
        merged[EXTENSIONS] = {**merged.get(EXTENSIONS, {}), OURS: ours[OURS]}
    return merged


def card_entry(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of world info as one of a card."""
    names = {**TEMPLATE, **raw}
    position = names["position"]
    row: dict[str, Any] = {ours: names[theirs] for ours, theirs in _NAMES.items() if theirs in names}
    row |= {
        "name": names.get("name", names["comment"]),
        "enabled": names["disable"] is False,
        "position": _POSITIONS[position != 0],
    }
    if row["case_sensitive"] is None:
        del row["case_sensitive"]
    extensions = {ours: names[theirs] for ours, theirs in _EXTENSIONS.items() if theirs in names}
    others = raw.get(EXTENSIONS)
    row[EXTENSIONS] = {**extensions, **(others if isinstance(others, dict) else {})}
    return row
