"""A book as a chat of SillyTavern (JSON lines): each part is a message, each swipe a swipe.

What a chat said when it was read is said again. What a chat has no place for (titles, the turn input, attributes)
stands in the data of its message, which chat programs keep: read again, the book is the same.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange import chat_data as data
from marginalia_tui.services.exchange.chat_data import name_of
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Version, one_line

_USER = "User"
"""The user of a chat that has none."""


def write_chat(book: Manuscript) -> str:
    """The lines of a chat, without an end behind the last, as chat programs write them."""
    lines = [_header(book), *(_message(chapter, book.title) for chapter in book.chapters)]
    return "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)


def _header(book: Manuscript) -> dict[str, Any]:
    kept = book.attributes.get(data.CHAT)
    own: dict[str, Any] = {
        name: clean(value)
        for name in ("title", "author", "language", "description")
        if (value := str(getattr(book, name)))
    }
    if book.tags:
        own["tags"] = list(book.tags)
    if others := {key: value for key, value in book.attributes.items() if key != data.CHAT}:
        own[data.ATTRIBUTES] = others
    header: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
    if not header:
        own[data.MADE_HERE] = True
        header = {"user_name": one_line(clean(book.author)) or _USER, "character_name": one_line(clean(book.title))}
    metadata = header.get("chat_metadata")
    return {**header, "chat_metadata": {**(metadata if isinstance(metadata, dict) else {}), data.OWN: own}}


def _message(chapter: Chapter, character: str) -> dict[str, Any]:
    """A part with its swipes as a message."""
    shared = _shared(chapter, character)
    name = name_of(shared.get("name"))
    texts = [clean(version.text) for version in chapter.versions()]
    says = [_says(version, name) for version in chapter.versions()]
    shown = len(chapter.before)
    infos = [dict(each) for each in says]
    if listed := _piece(chapter, data.SWIPE_INFO):
        infos[shown] = dict(listed)
    message = {
        **shared,
        **{key: value for key, value in says[shown].items() if key in data.OF_A_SWIPE},
        "mes": texts[shown],
    }
    if len(texts) > 1 or listed:
        # Programs that read the list look for an object with an `extra` at every place.
        message |= {
            "swipe_id": shown,
            "swipes": texts,
            "swipe_info": [each or {"extra": {}} for each in infos],
        }
    return message


def _shared(chapter: Chapter, character: str) -> dict[str, Any]:
    """What holds for a message, whichever swipe is shown. Who says it is the point of view of what is read."""
    pov = name_of(chapter.pov)
    if not any(data.CHAT in version.attributes for version in chapter.versions()):
        return {"name": pov or name_of(character), "is_user": False, "is_system": False}
    shared = next((found for each in (chapter, *chapter.swipes) if (found := _piece(each, data.MESSAGE))), {})
    return {**shared, "name": pov} if pov and name_of(shared.get("name")) != pov else dict(shared)


def _says(version: Version, name: str) -> dict[str, Any]:
    """What holds for one text of a message alone."""
    says: dict[str, Any] = dict(_piece(version, data.VERSION))
    kept = says.get("extra")
    extra: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
    if version.model:
        extra["model"] = clean(version.model)
    own = _own(version, name)
    if data.CHAT not in version.attributes:
        own[data.MADE_HERE] = True
        if version.created:
            says["send_date"] = _date(version.created)
    if own:
        extra[data.OWN] = own
    return {**says, "extra": extra} if extra or "extra" in says else says


def _own(version: Version, name: str) -> dict[str, Any]:
    """What the message can't say of a part otherwise."""
    implied = {"pov": name}
    own: dict[str, Any] = {
        field: clean(value) for field in data.TURN if (value := str(getattr(version, field))) != implied.get(field, "")
    }
    if others := {key: value for key, value in version.attributes.items() if key != data.CHAT}:
        own[data.ATTRIBUTES] = others
    return own


def _piece(version: Version, name: str) -> Mapping[str, Json]:
    pieces = version.attributes.get(data.CHAT)
    piece = pieces.get(name) if isinstance(pieces, dict) else None
    return piece if isinstance(piece, dict) else {}


def _date(microseconds: int) -> str:
    return (
        datetime.fromtimestamp(microseconds / 1_000_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
