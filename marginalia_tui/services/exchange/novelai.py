"""Lorebooks of NovelAI: a list of entries in one JSON file, and categories, which become lorebooks below.

A key of NovelAI is a whole word where it begins and ends with a letter; one with `&` asks for all of its words, and one
between slashes is an expression. Of two entries the one with the higher order is told first.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.looseread import Loose, name_line, same
from marginalia_tui.services.exchange.lorefile import LoreEntry, LoreFile, counted
from marginalia_tui.services.exchange.lorekeys import NEVER, Filter, Keys, Logic, filter_of
from marginalia_tui.services.exchange.worldinfo import MAX_LOREBOOKS, read_entries

KEPT = "novelai"
"""The key of the attributes under which the rest of an entry, or of a file, is kept."""

_ORDER = 500
"""An entry of NovelAI has the order 400 unless it says another one: the 100 of an entry here."""
_RANGE = 1_000
"""Characters that are looked through unless an entry says another number."""
_PART = 4_000
"""Characters that stand for a part when it is told how many are looked through."""
_TAKEN = ("text", "displayName", "keys", "enabled", "forceActivation")
_USUAL: dict[str, Json] = {
    "searchRange": _RANGE,
    "keyRelative": False,
    "nonStoryActivatable": False,
    "loreBiasGroups": [],
    "category": "",
    "hidden": False,
    "advancedConditions": [],
}
_USUAL_CONTEXT: dict[str, Json] = {
    "prefix": "",
    "suffix": "\n",
    "reservedTokens": 0,
    "trimDirection": "trimBottom",
    "insertionType": "newline",
    "maximumTrimType": "sentence",
    "insertionPosition": -1,
}
_NEVER_TOLD = ("id", "lastUpdatedAt", "contextConfig", "tokenBudget", "budgetPriority")
"""Fields that say nothing, or that stand in every file: a budget of tokens is set for the whole book here."""
_LETTER = re.compile(r"[^\W_]")


def read_novelai(data: Mapping[str, Any], title: str = "") -> LoreFile:
    """A lorebook; its categories stand below it.

    Args:
        data: what the file holds.
        title: for the lorebook, since the file says none.

    Raises:
        Invalid: it has no entries, or far too many.
    """
    found, unreadable, left = read_entries(data.get("entries"), _read)
    categories, others = _categories(data.get("categories"))
    left += [name for name, _ in others]
    of: dict[str, list[LoreEntry]] = {}
    for entry, row in found:
        category = row.get("category")
        known = isinstance(category, str) and category in categories
        if not known and category:
            left.append("category that is not there")
        of.setdefault(category if known and isinstance(category, str) else "", []).append(entry)
    rest = {name: value for name, value in data.items() if name not in ("entries", "categories")}
    if unread := [value for _, value in others if value is not None]:
        rest["categories"] = unread
    kept: dict[str, Json] = {**rest, **({"entries": unreadable} if unreadable else {})}
    if isinstance(settings := data.get("settings"), dict):
        left += [f"settings.{name}" for name, value in settings.items() if value]
    below = [replace(book, entries=tuple(of.get(number, ()))) for number, book in categories.items()]
    return LoreFile(
        title=title,
        entries=tuple(of.get("", ())),
        below=tuple(below),
        attributes={KEPT: kept} if kept else {},
        left=counted(left),
    )


def _categories(found: object) -> tuple[dict[str, LoreFile], list[tuple[str, Json]]]:
    """The categories by their ids, and what was left: its name, and the value where it was none."""
    books: dict[str, LoreFile] = {}
    left: list[tuple[str, Json]] = []
    if not isinstance(found, list):
        return {}, [] if found is None else [("categories of another type", found)]  # type: ignore[list-item]
    for place, row in enumerate(found):
        number = row.get("id") if isinstance(row, dict) else None
        if not isinstance(row, dict) or not isinstance(number, str) or number in books or place >= MAX_LOREBOOKS:
            left.append(("a category that is none", row))
            continue
        loose = Loose(row)
        name = name_line(loose.text("name")) or f"Category {place + 1}"
        books[number] = LoreFile(title=name, enabled=loose.flag("enabled", True), attributes={KEPT: row})
        left += [(f"{each} of a category", None) for each in loose.left]
        if loose.raw.get("createSubcontext"):
            left.append(("createSubcontext of a category", None))
    return books, left


def _read(row: Mapping[str, Any], place: int, called: str) -> tuple[LoreEntry, list[str]]:
    loose = Loose(row)
    keys = loose.texts("keys")
    found = _filter(keys)
    constant = loose.flag("forceActivation")
    always = constant and not keys
    loose.left += [] if always else found.left
    context = Loose(loose.object("contextConfig"))
    names = (loose.text("displayName"), called, *keys[:1], "Entry")
    entry = LoreEntry(
        name=next(each for each in map(name_line, names) if each),
        text=loose.text("text"),
        enabled=loose.flag("enabled", True),
        constant=constant,
        order=_ORDER - context.number("budgetPriority", _ORDER - 100),
        filter="" if always else found.filter,
        mode="text" if always else found.mode,
        look_back=max(1, -(-loose.number("searchRange", _RANGE, 0) // _PART)),
    )
    _leave_rest(loose, context)
    kept = {name: value for name, value in row.items() if name not in _TAKEN}
    kept |= {name: row[name] for name in _TAKEN if name in row and not same(row[name], _taken(entry, keys, name))}
    return replace(entry, attributes={KEPT: {**kept, "keys": row.get("keys")}}), loose.left


def _taken(entry: LoreEntry, keys: tuple[str, ...], name: str) -> object:
    """What an entry says of a field of the file."""
    return {
        "text": entry.text,
        "displayName": entry.name,
        "keys": list(keys),
        "enabled": entry.enabled,
        "forceActivation": entry.constant,
    }[name]


def _leave_rest(loose: Loose, context: Loose) -> None:
    for name, value in loose.raw.items():
        told = name in (*_TAKEN, *_NEVER_TOLD, "category")
        if not told and not same(value, _USUAL.get(name)) and value not in (None, False, ""):
            loose.leave(name)
    loose.left += [f"contextConfig.{name}" for name in context.left]
    for name, value in context.raw.items():
        if name not in _NEVER_TOLD and not same(value, _USUAL_CONTEXT.get(name)) and value not in (None, "", 0):
            loose.left.append(f"contextConfig.{name}")


def _filter(keys: tuple[str, ...]) -> Filter:
    """The filter of some keys: each by itself, since one that asks for several words can't stand beside others."""
    plain = [key for key in keys if key.startswith("/") or "&" not in key]
    found = [_one(key) for key in keys if key not in plain]
    if plain:
        found.insert(0, _any_of(plain))
    found = [each for each in found if each.filter != NEVER] or found[:1] or [filter_of(Keys())]
    left = tuple(name for each in found for name in each.left)
    if len(found) == 1:
        return replace(found[0], left=left)
    return Filter("|".join(f"(?:{each.filter})" for each in found), "regex", left)


def _any_of(keys: list[str]) -> Filter:
    words = [key for key in keys if _is_word(key)]
    others = [key for key in keys if key not in words]
    found = [filter_of(Keys(primary=tuple(words), words=True))] if words else []
    found += [filter_of(Keys(primary=tuple(others)))] if others else []
    if len(found) == 1:
        return found[0]
    expressions = [each.filter if each.mode == "regex" else re.escape(each.filter) for each in found]
    return Filter("|".join(expressions), "regex", tuple(name for each in found for name in each.left))


def _is_word(key: str) -> bool:
    key = key.strip()
    return bool(key) and not key.startswith("/") and bool(_LETTER.match(key[0]) and _LETTER.match(key[-1]))


def _one(key: str) -> Filter:
    """A key that asks for all of its words."""
    words = tuple(each for each in key.split("&") if each.strip())
    first = Keys(primary=words[:1], secondary=words[1:], logic=Logic.AND_ALL, words=all(map(_is_word, words)))
    return filter_of(first)
