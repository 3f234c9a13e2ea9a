"""The notes of a novelWriter project (characters, plot, world ...) as lore.

A note is an entry; one that names several things by `@tag` is one for each. What the tag names is what is looked for
in a text: the tag and the name that is shown for it, else the title of the note. Comments become the comment of the
entry, which no model reads; synopsis, status and references are kept in its data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.looseread import name_line
from marginalia_tui.services.exchange.lorefile import LoreEntry, LoreFile
from marginalia_tui.services.exchange.manuscript import Chapter, one_line
from marginalia_tui.services.exchange.markdown import LEVEL

TAG = "tag"
"""The reference that names what a note is about."""
FOLDER = "folder"
"""The key of the data of an entry under which the folders stand that its note was in."""

MAX_NAMES = 50
"""Tags of a note that are looked for."""


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A note as it was read: a chapter whose attributes hold what it says beside its text."""

    chapter: Chapter
    root: str
    """The name of the part of the project that it is in, such as Characters."""
    folder: str
    active: bool


def lore_of_notes(notes: Sequence[ReadNote], title: str) -> tuple[LoreFile | None, tuple[str, ...]]:
    """The lorebook of a project, with one below it for each of its roots; also what the author should know.

    Args:
        notes: in the order of the project.
        title: the name of the lorebook; those below have the names of the roots.
    """
    below: dict[str, list[LoreEntry]] = {}
    counts: Counter[str] = Counter()
    for note in notes:
        entry = _entry(note, counts)
        if entry is not None:
            below.setdefault(note.root, []).append(entry)
    told = _told(below, counts)
    if not below:
        return None, told
    books = tuple(LoreFile(title=root or "Notes", entries=tuple(entries)) for root, entries in below.items())
    return LoreFile(title=title or "Notes", below=books), told


def _entry(note: ReadNote, counts: Counter[str]) -> LoreEntry | None:
    chapter = note.chapter
    attributes = {key: value for key, value in chapter.attributes.items() if key != LEVEL}
    references = attributes.pop("references", None)
    references = dict(references) if isinstance(references, dict) else {}
    names = _names(references.pop(TAG, None))
    comments = attributes.pop("comments", None)
    comment = "\n".join(str(each) for each in comments) if isinstance(comments, list) else ""
    if not (chapter.text or comment or names or references or "synopsis" in attributes):
        counts["empty"] += 1
        return None
    counts.update(key for key in attributes)
    counts["references"] += bool(references)
    counts["tags"] += bool(names)
    counts["comments"] += bool(comment)
    counts["off"] += not note.active
    kept: dict[str, Json] = {**attributes, **({"references": references} if references else {})}
    if note.folder:
        kept[FOLDER] = note.folder
    name = name_line(chapter.title) or (names[0] if names else "")
    filter, mode = _filter(names or ([name] if name else []))
    return LoreEntry(
        name=name,
        text=chapter.text,
        comment=comment,
        enabled=note.active and bool(filter),
        filter=filter,
        mode=mode,
        attributes=kept,
    )


def _names(tags: Json) -> list[str]:
    """What a note is about: its tags, and the names that are shown for them (`@tag: Jane | Jane Doe`)."""
    pieces = [piece for tag in tags[:MAX_NAMES] for piece in str(tag).split("|", 1)] if isinstance(tags, list) else []
    return list(dict.fromkeys(name for piece in pieces if (name := name_line(one_line(piece)))))[:MAX_NAMES]


def _filter(names: Sequence[str]) -> tuple[str, str]:
    """A filter that finds any of the names."""
    if len(names) == 1:
        return names[0], "text"
    return "|".join(re.escape(name) for name in names), "regex"


def _told(below: dict[str, list[LoreEntry]], counts: Counter[str]) -> tuple[str, ...]:
    total = sum(map(len, below.values()))
    told = []
    if total:
        each = ", ".join(f"{len(entries):,} in {root or 'Notes'!r}" for root, entries in below.items())
        told.append(
            f"Taken as lore: {total:,} note(s) ({each}), looked for by {counts['tags']:,} tag(s) and "
            f"{total - counts['tags']:,} title(s)."
        )
    kept = _listed((key, counts[key]) for key in ("references", "status", "synopsis"))
    if kept:
        told.append(f"Kept in the data of the lore: {kept}.")
    if counts["comments"]:
        told.append(f"Comments of {counts['comments']:,} note(s) are comments of the lore, which no model reads.")
    if counts["off"]:
        told.append(f"Switched off: {counts['off']:,} note(s) that are not active.")
    if counts["empty"]:
        told.append(f"Left out: {counts['empty']:,} note(s) that are empty.")
    return tuple(told)


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{key} of {count:,}" for key, count in counts if count)
