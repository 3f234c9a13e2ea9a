"""The footnotes of a book for a DOCX: which definitions are called, by what number, and how their labels are kept.

A footnote of Word stands below the page of its mark and has a number only. What Markdown knows beside (a label, a
place in the text, a part of its own) is kept in bookmarks and document variables, which Word leaves alone.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from marginalia_tui.services.exchange.manuscript import Chapter
from marginalia_tui.services.exchange.markdown_tokens import MarkdownTokens

Key = tuple[int, str]
"""A definition: the index of its part, and its label."""


@dataclass(slots=True)
class BookNotes:
    """The notes of a book. `numbers` has those that are called, in the order of their first marks, from 1."""

    targets: list[Mapping[str, Key]]
    """For each part: label -> the definition that a mark means there (its own, else the first of the book)."""
    numbers: dict[Key, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    """Number -> label, of the notes whose label does not follow from the order of their marks."""


def notes_of(chapters: Sequence[Chapter], reader: MarkdownTokens) -> BookNotes:
    """Looks for the notes of a book."""
    own: list[dict[str, Key]] = []
    everywhere: dict[str, Key] = {}
    for index, chapter in enumerate(chapters):
        here = {label: (index, label) for label in reader.labels(chapter.text)}
        own.append(here)
        for label, key in here.items():
            everywhere.setdefault(label, key)
    found = BookNotes([ChainMap(here, everywhere) for here in own])
    callers: dict[Key, set[int]] = {}
    plain: dict[Key, bool] = {}
    for index, chapter in enumerate(chapters):
        if not everywhere or ("[^" not in chapter.text and "[^" not in chapter.title):
            continue
        targets = found.targets[index]
        tokens = [*reader.line(chapter.title, targets), *reader.blocks(chapter.text, targets)]
        called = dict.fromkeys(targets[label] for label in _called(tokens))
        for order, key in enumerate(called, start=1):
            found.numbers.setdefault(key, len(found.numbers) + 1)
            callers.setdefault(key, set()).add(index)
            plain[key] = key[1] == str(order)
    for key, number in found.numbers.items():
        if not plain[key] or callers[key] != {key[0]}:
            found.labels[number] = key[1]
    return found


def _called(tokens: Iterable[Token]) -> Iterable[str]:
    """The labels of the marks outside of notes."""
    inside = False
    for token in tokens:
        if token.type in ("note_open", "note_close"):
            inside = token.type == "note_open"
        elif not inside:
            yield from (child.content for child in token.children or () if child.type == "note_mark")
