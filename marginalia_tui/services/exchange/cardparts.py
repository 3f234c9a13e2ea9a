"""A character card as a book: its messages are the first part, what it says of the character is lore.

Who the character is becomes entries that are always active, in a lorebook of the book; the lorebook of the card stands
below it. Scenario and name become the turn input of the first part, the picture that carries a card the cover.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.images import COVER
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.cards import read_card, write_card
from marginalia_tui.services.exchange.looseread import Loose
from marginalia_tui.services.exchange.lorefile import CardFields, Left, LoreEntry, LoreFile, left_note
from marginalia_tui.services.exchange.loreimport import card_source
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Picture, Version
from marginalia_tui.services.images import image_of

CARD = "card"
"""The key of the attributes of a book under which the rest of its card stands."""
FIELD = "cardField"
"""The key of the attributes of an entry that is a field of a card."""

_ENTRIES = (("description", ""), ("personality", ": personality"))
"""Fields of a card that become entries, and what their names end with."""
_KEPT = ("examples", "system_prompt", "post_history", "creator_notes", "version")
"""Fields of a card that have no place in a book: its description is told to models, and creators write to people."""
_TOLD = {"examples": "mes_example", "post_history": "post_history_instructions", "version": "character_version"}


def read_card_book(path: Path) -> tuple[Manuscript, tuple[str, ...]]:
    """The book that the card in a file becomes, with sentences for the author.

    Raises:
        NotFound, Invalid, Refused: as in `card_source`.
    """
    source = card_source(path)
    book, left = manuscript_of_card(read_card(source.data, path.stem))
    count = sum(each.count() for each in book.lorebooks)
    told = [f"Its lore has {count:,} {'entry' if count == 1 else 'entries'}."] if count else []
    told += [note] if (note := left_note(left)) else []
    if source.beside:
        told.append(f"Left out: {source.beside:,} file{'' if source.beside == 1 else 's'} packed with the card.")
    if source.picture:
        try:
            image = replace(image_of(source.picture, COVER), name=COVER)
            book = replace(book, cover=Picture(image, source.picture))
        except (Invalid, Refused) as error:
            told.append(f"Its picture was left out: {error.message}")
    return book, tuple(told)


def write_card_book(book: Manuscript) -> bytes:
    """The card that a book makes, as JSON.

    Raises:
        Invalid: it can't be written.
    """
    return write_card(card_of_manuscript(book))


def manuscript_of_card(card: CardFields) -> tuple[Manuscript, tuple[Left, ...]]:
    """The book that a card becomes.

    Returns:
        The book, and what has no place in it: kept in its attributes.
    """
    turn: dict[str, Any] = {"scene": card.scenario, "present": card.name}
    empty = not card.first_message and not any(card.greetings)
    first = Chapter(
        title=card.name if empty else "",
        text=card.first_message,
        **turn,
        after=tuple(Version(text=each, **turn) for each in card.greetings),
    )
    rest: dict[str, Json] = {name: value for name in _KEPT if (value := getattr(card, name))}
    if card.attributes:
        rest["attributes"] = card.attributes
    left = [Left(_TOLD.get(name, name), 1) for name in _KEPT if name in rest]
    own = LoreFile(
        title=card.name,
        entries=tuple(
            LoreEntry(name=card.name + ending, text=text, constant=True, attributes={FIELD: name})
            for name, ending in _ENTRIES
            if (text := getattr(card, name))
        ),
        below=(card.lore,) if card.lore else (),
    )
    lore = own if own.entries else card.lore
    book = Manuscript(
        title=card.name,
        author=card.creator,
        tags=card.tags,
        chapters=(first,),
        lorebooks=(lore,) if lore else (),
        attributes={CARD: rest},
    )
    return book, (*left, *card.left, *(card.lore.left if card.lore else ()))


def card_of_manuscript(book: Manuscript) -> CardFields:
    """The card that a book makes: the version of the first part that is read is its first message."""
    rest = Loose(Loose(book.attributes).object(CARD))
    lore, said = _lore(book.lorebooks)
    first = book.chapters[0]
    versions = list(first.versions())
    empty = not any(each.text for each in versions) and first.title == book.title
    return CardFields(
        name=book.title,
        description=said.get("description", ""),
        personality=said.get("personality", ""),
        scenario=first.scene,
        first_message=first.text,
        greetings=() if empty else tuple(each.text for each in versions if each is not first),
        examples=rest.text("examples"),
        system_prompt=rest.text("system_prompt"),
        post_history=rest.text("post_history"),
        creator_notes=rest.text("creator_notes") or book.description,
        creator=book.author,
        version=rest.text("version"),
        tags=book.tags,
        lore=lore,
        attributes=rest.object("attributes"),
    )


def _lore(lorebooks: tuple[LoreFile, ...]) -> tuple[LoreFile | None, dict[str, str]]:
    """The lorebook of a card, and the fields of the card that entries stand for."""
    if not lorebooks:
        return None, {}
    root = replace(lorebooks[0], below=(*lorebooks[0].below, *lorebooks[1:])) if lorebooks[1:] else lorebooks[0]
    said: dict[str, str] = {}
    others = []
    for entry in root.entries:
        field = entry.attributes.get(FIELD)
        if isinstance(field, str) and field in dict(_ENTRIES) and field not in said:
            said[field] = entry.text
        else:
            others.append(entry)
    if said and not others and len(root.below) < 2:
        return (root.below[0] if root.below else None), said
    return replace(root, entries=tuple(others)), said
