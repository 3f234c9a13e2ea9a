"""The sample book in the library: its parts, and what an author has beside a book.

Lore, summaries, notes, tags and other versions of parts are files that ship with it. They count on the texts of the
parts, so that a note whose passage is not there exactly once is a fault of what ships, not of who reads it. The other
versions are older than those that are read: whoever goes to another branch and back ends where the book ends.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services import annotations, lore, summaries
from marginalia_tui.services.exchange.markdown import read_part
from marginalia_tui.store.space import WritableSpace


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a passage of a part; on the whole part without a `quote`."""

    part: int
    text: str
    type: str
    quote: str = ""
    status: str = annotations.OPEN
    to_prompt: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """Another version of a part, not the one that is read."""

    part: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What lies beside the sample book. Parts are numbered from 1."""

    tags: tuple[str, ...]
    versions: tuple[Version, ...]
    summaries: Mapping[int, str]
    """Number of the newest part of a block -> its summary."""
    notes: tuple[Note, ...]
    lore: Mapping[str, Any]
    """A lorebook: `name`, `scan_depth`, `entries` with the fields of an `Entry`, and the lorebooks `below`."""


def read_desk(folder: Path) -> Desk:
    """Reads what lies beside the sample book from its folder (`resources.sample_desk`)."""
    desk = json.loads((folder / "desk.json").read_text(encoding="utf-8"))
    versions = []
    for each in desk["versions"]:
        chapter = read_part((folder / each["file"]).read_text(encoding="utf-8"))
        versions.append(Version(each["part"], chapter.title, chapter.text))
    return Desk(
        tags=tuple(desk["tags"]),
        versions=tuple(versions),
        summaries={each["part"]: each["text"] for each in desk["summaries"]},
        notes=tuple(Note(**each) for each in desk["annotations"]),
        lore=json.loads((folder / "lore.json").read_text(encoding="utf-8")),
    )


def add_sample(space: WritableSpace, book: Book, chapters: Sequence[tuple[str, str]], desk: Desk) -> None:
    """Puts the sample book and all that lies beside it into a space, within one change.

    Args:
        space: where it goes.
        book: the book, without parts and tags.
        chapters: title and text of each part that is read.
        desk: what lies beside it.
    """
    parts = _put_parts(space, replace(book, tags=desk.tags), chapters, desk.versions)
    _put_lorebook(space, book.uuid, None, desk.lore)
    for number in sorted(desk.summaries):
        summaries.set_summary(space, parts[number - 1].uuid, desk.summaries[number])
    for note in desk.notes:
        _put_note(space, parts[note.part - 1], note)


def _put_parts(
    space: WritableSpace, book: Book, chapters: Sequence[tuple[str, str]], versions: Sequence[Version]
) -> list[Part]:
    """The parts that are read, in their order; the other versions stand before them as their siblings."""
    clock = space.tx.store.clock
    parts: list[Part] = []
    others: list[Part] = []
    for number, chapter in enumerate(chapters, start=1):
        parent = parts[-1].uuid if parts else None
        siblings = [
            Part(uuid=clock.new_uuid(), book=book.uuid, parent=parent, created=clock.now(), title=title, text=text)
            for title, text in (*((each.title, each.text) for each in versions if each.part == number), chapter)
        ]
        others += siblings[:-1]
        parts.append(siblings[-1])
    space.put([replace(book, active_leaf=parts[-1].uuid), *parts, *others])
    return parts


def _put_lorebook(space: WritableSpace, book: str, parent: str | None, said: Mapping[str, Any]) -> None:
    lorebook, _ = lore.create_lorebook(space, book, said["name"], parent)
    lore.change_lorebook(space, lorebook.uuid, {"scan_depth": said.get("scan_depth", 0)})
    for entry in said["entries"]:
        lore.create_entry(
            space,
            lorebook.uuid,
            {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()},
        )
    for below in said.get("below", ()):
        _put_lorebook(space, book, lorebook.uuid, below)


def _put_note(space: WritableSpace, part: Part, note: Note) -> None:
    if note.quote and part.text.count(note.quote) != 1:
        raise RuntimeError(f"{note.quote!r} must stand once in part {note.part} of the sample book")
    start = part.text.index(note.quote)
    draft = annotations.Draft(note.text, start, start + len(note.quote), type=note.type, to_prompt=note.to_prompt)
    made = annotations.create(space, part.uuid, part.text, draft)
    annotations.resolve(space, made.uuid, note.status)
