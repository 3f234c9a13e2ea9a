"""A lorebook or a character card from a file, whichever program wrote it: recognised by what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.backup_format import FORMAT as BACKUP
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.cardbook import read_cardbook
from marginalia_tui.services.exchange.cards import is_card, read_card
from marginalia_tui.services.exchange.chat_lines import looks_like_chat
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.looseread import load_json, name_line
from marginalia_tui.services.exchange.lorefile import CardFields, LoreFile
from marginalia_tui.services.exchange.novelai import read_novelai
from marginalia_tui.services.exchange.pngtext import SIGNATURE, from_base64, png_texts
from marginalia_tui.services.exchange.worldinfo import read_worldinfo

_ZIP, _MEMBER = b"PK\x03\x04", "card.json"
"""A card packed with its pictures (.charx), and its name in there."""
_SPEC = b'"chara_card_v'
_NEWER_CARD, _CARD, _NOVELAI = "ccv3", "chara", "naidata"
"""Keywords of texts in a picture; the newer form of a card wins."""


class Kind(Enum):
    """What a file is."""

    WORLD_INFO = "world info"
    CARD_BOOK = "a lorebook"
    NOVELAI = "a lorebook of NovelAI"
    CARD = "a character card"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read: what it is, and what it holds."""

    kind: Kind
    data: Mapping[str, Any]
    why: str = ""
    """OTHER: what it is instead, as the end of a sentence."""
    picture: bytes = b""
    """The picture that carried it; empty when none did."""
    beside: int = 0
    """Files that were packed together with it."""


def read_lore(path: Path) -> LoreFile:
    """The lorebook in a file: world info, of NovelAI, or that of a character card. The file is never changed.

    Raises:
        NotFound: there is nothing at the path.
        Invalid: it holds no lorebook, or is damaged; the sentence says what to do.
        Refused: it may not be read, or a text in it is far too large.
    """
    source = read_source(path)
    title = name_line(path.stem) or "Lore"
    match source.kind:
        case Kind.WORLD_INFO:
            return read_worldinfo(source.data, title)
        case Kind.CARD_BOOK:
            return read_cardbook(source.data, title)
        case Kind.NOVELAI:
            return read_novelai(source.data, title)
        case Kind.CARD:
            card = read_card(source.data, title)
            if card.lore is None:
                raise Invalid(f"The card of {card.name!r} has no lorebook: import it as a book, in the library.")
            return card.lore
    raise Invalid(f"{shown(path)} holds no lorebook{source.why}: give world info, a .lorebook, or a character card.")


def read_card_file(path: Path) -> CardFields:
    """The character card in a file.

    Raises:
        NotFound, Invalid, Refused: as in `read_lore`.
    """
    return read_card(card_source(path).data, path.stem)


def card_source(path: Path) -> Source:
    """The same before its fields are read: what the file holds."""
    source = read_source(path)
    if source.kind is Kind.CARD:
        return source
    if source.kind is Kind.OTHER:
        raise Invalid(f"{shown(path)} holds no character card{source.why}: give one as JSON or as a picture.")
    raise Invalid(f"{shown(path)} holds {source.kind.value}: open a book, then bring it in with import-lore.")


def may_be_card(path: Path) -> bool:
    """Whether a file is to be read as a card: by its beginning, and its name where that leaves it open."""
    files.size_of_file(path, files.MAX_ARCHIVE_BYTES)
    start = files.read_start(path)
    if start.startswith(_ZIP):
        return path.suffix.lower() == ".charx"
    if start.startswith(SIGNATURE):
        return path.suffix.lower() == ".png"
    is_object = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return is_object and (path.suffix.lower() == ".json" or _SPEC in start) and not looks_like_chat(start)


def read_source(path: Path) -> Source:
    """What a file is. Errors as in `read_lore`."""
    data = files.read_file(path, files.MAX_ARCHIVE_BYTES)
    if data.startswith(SIGNATURE):
        return replace(_in_picture(data, shown(path)), picture=data)
    if data.startswith(_ZIP):
        del data
        return _packed(path)
    return recognise(load_json(data, shown(path)))


def recognise(found: object) -> Source:
    """What a value of JSON is."""
    if not isinstance(found, dict):
        return Source(Kind.OTHER, {}, " (it is no object)")
    if found.get("format") == BACKUP:
        return Source(Kind.OTHER, found, " but the backup of a book, which restore-backup takes")
    if found.get("spec") == "lorebook_v3" and isinstance(found.get("data"), dict):
        return Source(Kind.CARD_BOOK, found["data"])
    if is_card(found):
        return Source(Kind.CARD, found)
    content = found.get("content")
    if "storyContainerVersion" in found and isinstance(content, dict) and isinstance(content.get("lorebook"), dict):
        return Source(Kind.NOVELAI, content["lorebook"])
    if not isinstance(found.get("entries"), dict | list):
        why = " but settings for a model" if "prompts" in found or "temperature" in found else ""
        return Source(Kind.OTHER, found, why)
    return Source(_kind_of_entries(found), found)


def _kind_of_entries(found: Mapping[str, Any]) -> Kind:
    entries = found["entries"]
    rows = [row for row in (entries if isinstance(entries, list) else entries.values()) if isinstance(row, dict)]
    if "lorebookVersion" in found or any("contextConfig" in row or ("text" in row and "keys" in row) for row in rows):
        return Kind.NOVELAI
    return Kind.CARD_BOOK if any("keys" in row for row in rows) else Kind.WORLD_INFO


def _packed(path: Path) -> Source:
    with Archive(path, "card") as archive:
        if _MEMBER not in archive:
            return Source(Kind.OTHER, {}, " (it is a zip file without one)")
        found = recognise(load_json(archive.read(_MEMBER), f"The card in {shown(path)}"))
        return replace(found, beside=len([name for name in archive.names() if not name.endswith("/")]) - 1)


def _in_picture(data: bytes, name: str) -> Source:
    texts = png_texts(data, (_NEWER_CARD, _CARD, _NOVELAI), name)
    for keyword in (_NEWER_CARD, _CARD, _NOVELAI):
        if keyword in texts:
            return recognise(load_json(from_base64(texts[keyword], name), f"The text in {name}"))
    return Source(Kind.OTHER, {}, " (it is a picture without one)")
