"""What lore is measured against: a turn of a book, with as many of the parts before it as the entries look into."""

from collections.abc import Iterable

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.lore import LoreRow, LoreTree, Turn, parts_needed
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.store.space import Space

TURN_INPUT = ("instructions", "scene", "pov", "present")
"""The fields of a part that say what its turn is asked to tell."""


def turn_of_part(
    space: Space, book: Book, story: StoryTree, part: Part, lore: LoreTree, rows: Iterable[LoreRow]
) -> Turn:
    """The turn of a part that is there: what it was asked to tell and what it tells, behind the parts before it."""
    before = story.branch(part.uuid)[:-1]
    said = [getattr(part, name) for name in TURN_INPUT]
    text = "\n\n".join(each for each in (*said, part.text) if each)
    return _turn(space, book, before, text, parts_needed(lore, rows))


def next_turn(space: Space, book: Book, story: StoryTree, text: str, lore: LoreTree, rows: Iterable[LoreRow]) -> Turn:
    """The next turn of the active branch, which is asked to tell a text."""
    return _turn(space, book, story.active, text, parts_needed(lore, rows))


def _turn(space: Space, book: Book, before: list[str], text: str, needed: int) -> Turn:
    recent = before[-needed:][::-1] if needed > 0 else []
    texts = space.texts(recent)
    return Turn(text, [texts[uuid] for uuid in recent], len(before) + 1, book.tags)
