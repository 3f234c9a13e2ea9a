"""An entry of world info, as SillyTavern keeps it, both ways.

What comes in and goes out unchanged is the same to the last field. Beside the fields of an entry of ours, those of the
file are kept that can't be made from them again; on the way out each goes back, unless the author changed what it
says. What world info has no field for goes out under `extensions.marginalia`, and counts on the way in only as long
as the rest of the entry still says what it said when it went out.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from hashlib import blake2b
from typing import Any

import orjson

from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.looseread import LARGEST, Loose, beyond, name_line, same
from marginalia_tui.services.exchange.lorefile import LoreEntry
from marginalia_tui.services.exchange.lorekeys import Keys, Logic, filter_of, keys_of

KEPT = "worldinfo"
"""The key of the attributes under which the rest of an entry, or of a file, is kept."""
OURS = "marginalia"
EXTENSIONS = "extensions"

TEMPLATE: dict[str, Json] = {
    "uid": 0,
    "key": [],
    "keysecondary": [],
    "comment": "",
    "content": "",
    "constant": False,
    "vectorized": False,
    "selective": True,
    "selectiveLogic": 0,
    "addMemo": True,
    "order": 100,
    "position": 0,
    "disable": False,
    "ignoreBudget": False,
    "excludeRecursion": False,
    "preventRecursion": False,
    "matchPersonaDescription": False,
    "matchCharacterDescription": False,
    "matchCharacterPersonality": False,
    "matchCharacterDepthPrompt": False,
    "matchScenario": False,
    "matchCreatorNotes": False,
    "delayUntilRecursion": False,
    "probability": 100,
    "useProbability": True,
    "depth": 4,
    "outletName": "",
    "group": "",
    "groupOverride": False,
    "groupWeight": 100,
    "scanDepth": None,
    "caseSensitive": None,
    "matchWholeWords": None,
    "useGroupScoring": None,
    "automationId": "",
    "role": None,
    "sticky": None,
    "cooldown": None,
    "delay": None,
    "triggers": [],
    "displayIndex": 0,
}
"""An entry of world info as it is when nothing is said."""

_KEY_FIELDS = ("key", "keysecondary", "selective", "selectiveLogic", "caseSensitive", "matchWholeWords", "useRegex")
SAID_BY: dict[str, tuple[str, ...]] = {
    "name": ("comment", "name"),
    "text": ("content",),
    "comment": ("comment",),
    "enabled": ("disable", "content"),
    "constant": ("constant", "content"),
    "order": ("order",),
    "filter": _KEY_FIELDS,
    "mode": _KEY_FIELDS,
    "look_back": ("scanDepth",),
    "first": (),
    "last": (),
    "tags": ("characterFilter",),
    "negative_tags": ("characterFilter",),
    "insertion": ("position",),
}
"""Field of an entry of ours -> the fields of world info that say it."""
_PLACES = ("uid", "displayIndex")
_WRITTEN = ("key", "comment", "content", "constant", "order", "position", "depth", "role", "disable", "scanDepth")
"""The fields that an entry of ours says."""
_TOLD_ELSEWHERE = frozenset(
    (*_PLACES, "addMemo", "depth", "role", "groupWeight", "groupOverride", "useProbability")
    + tuple(each for names in SAID_BY.values() for each in names)
)
"""Fields that are taken over, that mean nothing by themselves, or that another one tells of."""
_AT_DEPTH = 4
"""The position at a depth of the chat."""
_NEAREST = 1
"""The depth right before the last message."""
_PROMPT_POSITIONS = (2, 3, _AT_DEPTH)
"""At the author's note, and at a depth: near the turn, so before its prompt."""
_KNOWN_POSITIONS = (0, 1, *_PROMPT_POSITIONS)
_SCAN_DEPTH = 2
"""Messages that are looked through where nothing is said: the last one and the one before."""


# In


def read_entry(
    raw: Mapping[str, Any], place: int = 0, *, called: str = "", told: Mapping[str, str] | None = None
) -> tuple[LoreEntry, list[str]]:
    """An entry of ours, and the names of what has no place in it.

    Args:
        raw: the entry of world info.
        place: its place among the entries, from 0.
        called: a name for one that says none itself.
        told: field -> what its file calls it, where that is no world info.
    """
    flat = flatten(raw)
    entry, loose = _plain(flat, called, told)
    ours = _ours(raw)
    if ours:
        entry = _with_ours(entry, flat, ours)
    written = _written(entry, place)
    kept = beyond(beyond(flat, TEMPLATE), written)
    for name in _WRITTEN:
        value = flat.get(name, TEMPLATE[name])
        if not same(written[name], value):
            kept[name] = value
    if "uid" in flat and not same(flat["uid"], place):
        kept["uid"] = flat["uid"]
    kept.pop("displayIndex", None)
    attributes = {**entry.attributes, KEPT: kept} if kept else entry.attributes
    return replace(entry, attributes=attributes), loose.left


def flatten(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an entry, those of its extensions as `extensions/name`, without what is ours."""
    flat = {name: value for name, value in raw.items() if name != EXTENSIONS}
    extensions = raw.get(EXTENSIONS)
    if isinstance(extensions, dict) and extensions:
        flat |= {f"{EXTENSIONS}/{name}": value for name, value in extensions.items() if name != OURS}
    elif EXTENSIONS in raw:
        flat[EXTENSIONS] = extensions
    return flat


def unflatten(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The other way round."""
    raw: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for name, value in flat.items():
        if name.startswith(f"{EXTENSIONS}/"):
            inner[name.split("/", 1)[1]] = value
        else:
            raw[name] = value
    return {**raw, EXTENSIONS: inner} if inner else raw


def split_marks(text: str) -> tuple[list[str], str]:
    """The decorators at the head of a text, each as it stands in its line, and the text behind them."""
    lines = text.split("\n")
    count = 0
    while count < len(lines) and lines[count].startswith("@@") and lines[count].lstrip("@")[:1].isalpha():
        count += 1
    return [line.strip() for line in lines[:count]], "\n".join(lines[count:])


def _plain(flat: Mapping[str, Any], called: str = "", told: Mapping[str, str] | None = None) -> tuple[LoreEntry, Loose]:
    """The entry as world info alone says it."""
    loose = Loose(flat, told)
    keys = _keys(loose)
    found = filter_of(keys)
    constant, enabled = loose.flag("constant"), not loose.flag("disable")
    marks, text = split_marks(loose.text("content"))
    constant = constant or "@@activate" in marks
    enabled = enabled and "@@dont_activate" not in marks
    always = constant and not keys.primary
    loose.left += [] if always else found.left
    loose.left += [mark.split()[0] for mark in marks if mark not in ("@@activate", "@@dont_activate")]
    memo = loose.text("comment").strip()
    names = (loose.text("name"), memo, called, *keys.primary[:1], "Entry")
    name = next(each for each in map(name_line, names) if each)
    tags, negative_tags = _tags(loose)
    depth = loose.number("scanDepth", _SCAN_DEPTH, 0)
    position = loose.number("position", 0)
    entry = LoreEntry(
        name=name,
        text=text,
        comment="" if memo == name else memo,
        enabled=enabled,
        constant=constant,
        order=loose.number("order", 100),
        filter="" if always else found.filter,
        mode="text" if always else found.mode,
        look_back=max(depth - 1, 0),
        tags=tags,
        negative_tags=negative_tags,
        insertion="prompt" if position in _PROMPT_POSITIONS else "lore",
    )
    _leave_rest(loose, position, depth)
    return entry, loose


def _keys(loose: Loose) -> Keys:
    logic = loose.number("selectiveLogic", 0)
    if logic not in list(Logic):
        loose.leave("selectiveLogic", " that is not known")
        logic = 0
    return Keys(
        primary=loose.texts("key"),
        secondary=loose.texts("keysecondary") if loose.flag("selective", True) else (),
        logic=Logic(logic),
        case=loose.flag("caseSensitive"),
        words=loose.flag("matchWholeWords"),
        bare=loose.flag("useRegex"),
    )


def _tags(loose: Loose) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags that a book must have, and may not have, by the characters that an entry is for."""
    who = Loose(loose.object("characterFilter"))
    tags = tuple(sorted({*who.tags("names"), *who.tags("tags")}))
    excluded = who.flag("isExclude")
    loose.left += [f"characterFilter: {each}" for each in who.left]
    return ((), tags) if excluded else (tags, ())


def _leave_rest(loose: Loose, position: int, depth: int) -> None:
    """Tells what says something else than nothing and has no place."""
    if position not in _KNOWN_POSITIONS:
        loose.leave("position", f" {position}")
    elif position == _AT_DEPTH and not same(loose.raw.get("depth"), _NEAREST):
        loose.leave("depth")
    if depth == 0:
        loose.leave("scanDepth", " 0")
    for name, value in beyond(loose.raw, TEMPLATE).items():
        certain = name == "probability" and loose.raw.get("useProbability") is False
        nothing = name != "probability" and (value is None or value is False or value in ("", 0, [], {}))
        if name not in _TOLD_ELSEWHERE and not certain and not nothing:
            loose.leave(name)


# What is ours


def _ours(raw: Mapping[str, Any]) -> dict[str, Any]:
    extensions = raw.get(EXTENSIONS)
    ours = extensions.get(OURS) if isinstance(extensions, dict) else None
    return ours if isinstance(ours, dict) else {}


def _with_ours(entry: LoreEntry, flat: Mapping[str, Any], ours: Mapping[str, Any]) -> LoreEntry:
    """The entry with the fields that world info has no place for, where the rest still says what it said."""
    loose = Loose(ours)
    said = loose.object("said")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in loose.object("fields").items()
        if _fits(name, value) and (not SAID_BY[name] or said.get(name) == _said(name, flat))
    }
    attributes = {name: value for name, value in loose.object("attributes").items() if name != KEPT}
    return replace(entry, **given, attributes=attributes)


def _said(name: str, flat: Mapping[str, Any]) -> str:
    """A mark of what world info says of a field, another one when somebody changed it."""
    values = [flat.get(each, TEMPLATE.get(each)) for each in SAID_BY[name]]
    return blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()


_DEFAULTS = {each.name: each.default for each in fields(LoreEntry) if each.name in SAID_BY}
_WORDS = {"mode": ("text", "regex"), "insertion": ("lore", "prompt")}


def _fits(name: str, value: object) -> bool:
    """Whether a value may be that of a field of an entry."""
    if name not in _DEFAULTS:
        return False
    if name in _WORDS:
        return value in _WORDS[name]
    if name in ("first", "last"):
        return value is None or (type(value) is int and 1 <= value <= LARGEST)
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        return isinstance(value, list) and all(isinstance(each, str) and name_line(each) == each for each in value)
    if type(default) is int:
        return type(value) is int and -LARGEST <= value <= LARGEST
    return type(value) is type(default)


# Out


def write_entry(entry: LoreEntry, place: int) -> dict[str, Any]:
    """An entry of world info.

    Args:
        entry: the entry; what was kept of one that came in goes back where it still holds.
        place: its place among the entries, from 0, which is its number unless it came with one.
    """
    written = _written(entry, place)
    kept = entry.attributes.get(KEPT)
    merged, said = _merged(entry, written, kept) if isinstance(kept, dict) else (written, _plain(written)[0])
    beside = {name: _json(getattr(entry, name)) for name in SAID_BY if getattr(entry, name) != getattr(said, name)}
    others = {name: value for name, value in entry.attributes.items() if name != KEPT}
    marks = {name: _said(name, merged) for name in beside if SAID_BY[name]}
    ours = {name: value for name, value in (("fields", beside), ("said", marks), ("attributes", others)) if value}
    if ours:
        merged = {**merged, f"{EXTENSIONS}/{OURS}": ours}
    return unflatten(merged)


def _merged(entry: LoreEntry, written: dict[str, Any], kept: Mapping[str, Any]) -> tuple[dict[str, Any], LoreEntry]:
    """What is written, with what was kept in its place, but for what the author has changed since.

    Returns:
        The entry of world info, and what it says by itself.
    """
    merged = {**written, **kept}
    before = _plain(merged)[0]
    differing = [name for name in SAID_BY if getattr(before, name) != getattr(entry, name)]
    if not differing:
        return merged, before
    plain = _plain(written)[0]
    for name in differing:
        if getattr(before, name) == getattr(plain, name):
            continue
        for each in SAID_BY[name]:
            if each in kept:
                merged.pop(each, None)
                merged |= {each: written[each]} if each in written else {}
    if merged["content"] == entry.text and isinstance(content := kept.get("content"), str):
        marks = split_marks(content.replace("\r\n", "\n"))[0]
        merged["content"] = "\n".join([*marks, entry.text])
    return merged, _plain(merged)[0]


def _written(entry: LoreEntry, place: int) -> dict[str, Any]:
    """An entry as world info alone can say it."""
    keys = keys_of(entry.filter, entry.mode)
    near = entry.insertion == "prompt"
    return {
        **TEMPLATE,
        "uid": place,
        "key": list(keys.primary),
        "comment": entry.name,
        "content": entry.text,
        "constant": entry.constant or not entry.filter,
        "order": entry.order,
        "position": _AT_DEPTH if near else TEMPLATE["position"],
        "depth": _NEAREST if near else TEMPLATE["depth"],
        "role": 0 if near else TEMPLATE["role"],
        "disable": not entry.enabled,
        "scanDepth": entry.look_back + 1,
        "displayIndex": place,
    }


def _json(value: object) -> Json:
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]
