"""Notes on passages: where each stands now, and what the commands and the screens do to them.

A note keeps the text that it was made on; where it stands follows from that and the text as it is. Each function
works in the space and transaction that it is given. Notes are free while an agent holds the book.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

from sqlalchemy import ColumnElement, func, select

from marginalia_tui.domain.anchors import Anchored, Anchors
from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Annotation, Part
from marginalia_tui.store import tables
from marginalia_tui.store.space import Space, WritableSpace

OPEN, DONE, DISMISSED, ORPHANED = "open", "done", "dismissed", "orphaned"
STATUSES = (OPEN, DONE, DISMISSED)
"""What a note is set to; whether an open one is orphaned follows from the text."""
BY = "author"
"""The key of the data of a note under which the name of the person stands that made it, if not the author."""
LONGEST_TYPE = 40
"""Characters of a type."""


@dataclass(frozen=True, slots=True)
class Note:
    """An annotation, and where its passage stands in the text of its part as it is."""

    annotation: Annotation
    place: Anchored | None
    """None: the passage is gone."""

    @property
    def whole(self) -> bool:
        """Whether it is on the whole part."""
        return self.annotation.end <= self.annotation.start

    @property
    def status(self) -> str:
        """`open`, `done` or `dismissed`, or `orphaned`: open, but the passage is gone."""
        return ORPHANED if self.place is None and self.annotation.status == OPEN else self.annotation.status


@dataclass(frozen=True, slots=True)
class Draft:
    """What a new note says. `start` and `end` are the passage in the text; equal: it is on the whole part."""

    text: str
    start: int = 0
    end: int = 0
    type: str = "note"
    to_prompt: bool = False
    source: str = "author"
    model: str = ""


class Passage(TypedDict):
    """The fields of an annotation that say where it was made."""

    quote: str
    start: int
    end: int
    basis: str


def made_by(annotation: Annotation) -> str:
    """The name of the person that made a note; empty for the author, a model, an agent."""
    name = annotation.attributes.get(BY)
    return name if isinstance(name, str) else ""


def note_uuids(space: Space, book: str) -> list[str]:
    """The notes of a book, the oldest first: the place in the list is the number of a note."""
    return _uuids(space, tables.annotation.c.book == book)


def note_beginnings(space: Space, book: str, length: int) -> list[tuple[str, str]]:
    """The first characters of what each note of a book says, and its status as it was set, the oldest first."""
    column, text = tables.annotation.c, tables.text.c
    query = (
        select(func.coalesce(func.substr(text.body, 1, length), ""), column.status)
        .select_from(tables.annotation.outerjoin(tables.text, text.hash == column.text))
        .where(column.space_id == space.id, column.book == book)
        .order_by(column.created, column.uuid)
    )
    return [(says, status) for says, status in space.connection.execute(query)]


def notes_of_book(space: Space, book: str) -> list[Note]:
    """Every note of a book, in the order of their making."""
    return _notes(space, tables.annotation.c.book == book)


def notes_of_part(space: Space, part: str) -> list[Note]:
    """Every note of a part, in the order of their making."""
    return _notes(space, tables.annotation.c.part == part)


def find_note(space: Space, uuid: str) -> Note:
    """One note.

    Raises:
        NotFound: it is gone.
    """
    annotation = space.get(Annotation, uuid)
    return placed([annotation], space.texts([annotation.part]))[0]


def placed(annotations: Iterable[Annotation], texts: Mapping[str, str]) -> list[Note]:
    """Annotations with their places; each two texts are compared once. `texts` are those of the parts as they are."""
    known: dict[tuple[str, str], Anchors] = {}
    notes = []
    for each in annotations:
        key = (each.part, each.basis)
        if key not in known:
            known[key] = Anchors(each.basis, texts[each.part])
        notes.append(Note(each, known[key].place(each.start, each.end)))
    return notes


def create(space: WritableSpace, part: str, basis: str, draft: Draft) -> Annotation:
    """A new note on a passage of a part.

    Args:
        space: of the part.
        part: its uuid.
        basis: the text of the part in which `start` and `end` count.
        draft: what it says.

    Raises:
        NotFound: the part is gone.
        Invalid: the passage is not in the text, or the note says nothing.
    """
    clock = space.tx.store.clock
    note = Annotation(
        uuid=clock.new_uuid(),
        book=_part(space, part).book,
        part=part,
        text=_said(draft.text),
        type=_type(draft.type),
        to_prompt=draft.to_prompt,
        source=draft.source,
        model=draft.model,
        created=clock.now(),
        **_passage(basis, draft.start, draft.end),
    )
    space.put([note])
    return note


def update(
    space: WritableSpace,
    uuid: str,
    *,
    text: str | None = None,
    type: str | None = None,
    to_prompt: bool | None = None,
) -> list[str]:
    """Changes what a note says; None leaves a field.

    Returns:
        The names of the fields that were changed.
    """
    before = space.get(Annotation, uuid)
    after = replace(
        before,
        text=before.text if text is None else _said(text),
        type=before.type if type is None else _type(type),
        to_prompt=before.to_prompt if to_prompt is None else to_prompt,
    )
    space.put([after])
    return [name for name in ("text", "type", "to_prompt") if getattr(before, name) != getattr(after, name)]


def resolve(space: WritableSpace, uuid: str, status: str, *, by_agent: bool = False) -> bool:
    """Sets the status of a note; returns whether it was another one.

    Raises:
        Invalid: there is no such status.
        Refused: an agent reopens a note whose passage is gone.
    """
    if status not in STATUSES:
        raise Invalid(f"{status!r} is no status of a note: use {', '.join(STATUSES[:-1])} or {STATUSES[-1]}.")
    note = find_note(space, uuid)
    if by_agent and status == OPEN and note.place is None:
        raise Refused("The passage of this note is gone, so it can't be opened again: reattach it to another one.")
    return bool(space.put([replace(note.annotation, status=status)]))


def reattach(space: WritableSpace, uuid: str, basis: str, start: int, end: int) -> bool:
    """Puts a note on another passage of its part; returns whether it was another one.

    Raises:
        Invalid: the passage is not in the text.
    """
    note = space.get(Annotation, uuid)
    return bool(space.put([replace(note, **_passage(basis, start, end))]))


def delete(space: WritableSpace, uuid: str) -> None:
    """Deletes a note.

    Raises:
        NotFound: it is gone already.
    """
    if not space.delete(Annotation, [uuid]):
        raise NotFound("This note was deleted meanwhile: list-annotations shows those that are there.")


def _notes(space: Space, of: ColumnElement[bool]) -> list[Note]:
    found = space.get_many(Annotation, _uuids(space, of))
    return placed(found.values(), space.texts(list({each.part for each in found.values()})))


def _uuids(space: Space, of: ColumnElement[bool]) -> list[str]:
    column = tables.annotation.c
    query = select(column.uuid).where(column.space_id == space.id, of).order_by(column.created, column.uuid)
    return list(space.connection.execute(query).scalars())


def _part(space: Space, uuid: str) -> Part:
    part = space.find(Part, uuid)
    if part is None:
        raise NotFound("The part was deleted meanwhile: list-parts shows the parts.")
    return part


def _passage(basis: str, start: int, end: int) -> Passage:
    if start == end:
        return Passage(quote="", start=0, end=0, basis="")
    if not 0 <= start < end <= len(basis):
        raise Invalid(f"The passage must lie between 0 and {len(basis)}, the end of the part: not {start} to {end}.")
    return Passage(quote=basis[start:end], start=start, end=end, basis=basis)


def _said(text: str) -> str:
    if not text.strip():
        raise Invalid("The note says nothing: give the words of the note.")
    return text.strip()


def _type(word: str) -> str:
    word = word.strip()
    if not word or len(word) > LONGEST_TYPE or "\n" in word:
        raise Invalid(f"The type of a note is a word such as note, fix or question, of at most {LONGEST_TYPE} letters.")
    return word
