"""Character cards (V1, V2, V3) as JSON: what they say, and the whole of it kept.

A field that is not known, or not as it should be, stays in the attributes as it was and goes back into a card that is
written.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.cardbook import read_cardbook, write_cardbook
from marginalia_tui.services.exchange.looseread import Loose, beyond, name_line
from marginalia_tui.services.exchange.lorefile import CardFields, counted

SPECS = ("chara_card_v2", "chara_card_v3")
OUTER = "outer"
"""Of the attributes of a card: fields beside its `data`."""
DATA = "data"
"""Of the attributes of a card: the fields of its `data` that are not taken over."""

_TEXTS = {
    "description": "description",
    "personality": "personality",
    "scenario": "scenario",
    "first_mes": "first_message",
    "mes_example": "examples",
    "creator_notes": "creator_notes",
    "system_prompt": "system_prompt",
    "post_history_instructions": "post_history",
    "creator": "creator",
    "character_version": "version",
}
"""Field of a card -> that of ours."""
_LISTS = {"alternate_greetings": "greetings", "tags": "tags"}
_FIRST_VERSION = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
"""The fields of V1, which stand beside `data` in some cards too."""
_BOOK = "character_book"
_QUIET = ("creation_date", "modification_date", "source", "extensions")
"""Fields that say nothing about the text."""


def is_card(found: object) -> bool:
    """Whether a value of JSON is a character card."""
    if not isinstance(found, dict):
        return False
    if found.get("spec") in SPECS:
        return True
    data = found.get("data", found)
    return isinstance(data, dict) and "name" in data and any(each in data for each in _FIRST_VERSION[1:])


def read_card(found: Mapping[str, Any], name: str = "") -> CardFields:
    """The fields of a card.

    Args:
        found: what the file holds.
        name: for a card without one.

    Raises:
        Invalid: its lorebook has no entries, or far too many.
    """
    flat = not isinstance(found.get("data"), dict)
    data: Mapping[str, Any] = found if flat else found["data"]
    loose = Loose(data)
    texts: dict[str, Any] = {ours: loose.text(theirs) for theirs, ours in _TEXTS.items()}
    called = name_line(loose.text("name")) or name_line(name) or "Character"
    book = data.get(_BOOK)
    card = CardFields(
        name=called,
        greetings=loose.texts("alternate_greetings"),
        tags=loose.tags("tags"),
        lore=read_cardbook(book, called) if isinstance(book, dict) and "entries" in book else None,
        **texts,
    )
    written = _data(card)
    rest = {
        key: value
        for key, value in beyond(data, written).items()
        if (key != _BOOK or card.lore is None) and not (flat and key == DATA)
    }
    outer = {} if flat else {key: value for key, value in found.items() if key != DATA}
    if flat:
        outer = {key: found[key] for key in ("spec", "spec_version", DATA) if key in found}
        rest = {key: value for key, value in rest.items() if key not in outer}
    attributes: dict[str, Json] = {}
    attributes |= {DATA: rest} if rest else {}
    attributes |= {OUTER: outer} if outer else {}
    left = [*loose.left, *(key for key in rest if key not in (*written, *_QUIET) and rest[key] not in (None, "", []))]
    if _BOOK in rest and rest[_BOOK] is not None:
        left.append(_BOOK)
    extensions = data.get("extensions")
    left += [f"extensions.{key}" for key in extensions] if isinstance(extensions, dict) else []
    return replace(card, attributes=attributes, left=counted(left))


def write_card(card: CardFields) -> bytes:
    """A card of version 2 as JSON.

    Raises:
        Invalid: it can't be written.
    """
    try:
        return orjson.dumps(card_data(card), option=orjson.OPT_INDENT_2) + b"\n"
    except TypeError as error:
        raise Invalid(f"The card can't be written ({error}): take its data out of the attributes.") from None


def card_data(card: CardFields) -> dict[str, Any]:
    """A card of version 2: what it came with goes back where it still says the same."""
    written = _data(card)
    kept = Loose(card.attributes).object(DATA)
    before = read_card({"spec": SPECS[0], DATA: {**written, **kept}}, card.name)
    data = {**written, **{key: value for key, value in kept.items() if key not in written or _still(key, before, card)}}
    if card.lore is not None:
        data[_BOOK] = write_cardbook(card.lore)
    outer = Loose(card.attributes).object(OUTER)
    # Some programs read the fields of V1 beside `data` first: they say the same.
    doubled = {key: data[key] for key in (*_FIRST_VERSION, *_TEXTS, *_LISTS) if key in outer and key in data}
    return {**outer, **doubled, "spec": SPECS[0], "spec_version": "2.0", DATA: data}


def _still(key: str, before: CardFields, card: CardFields) -> bool:
    """Whether a field as it came in still says what the card says now."""
    ours = {**_TEXTS, **_LISTS, "name": "name"}.get(key)
    return ours is None or getattr(before, ours) == getattr(card, ours)


def _data(card: CardFields) -> dict[str, Any]:
    return {
        "name": card.name,
        **{theirs: getattr(card, ours) for theirs, ours in _TEXTS.items()},
        "alternate_greetings": list(card.greetings),
        "tags": list(card.tags),
        "extensions": {},
    }
