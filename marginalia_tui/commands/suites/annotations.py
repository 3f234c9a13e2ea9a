"""Commands that read the notes on a book, each with its passage as it stands now."""

from typing import Annotated, Literal

from marginalia_tui.commands.annotation_references import (
    AnnotationRef,
    read_note,
)
from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.patterns import around, first_words
from marginalia_tui.commands.references import OpenBook, PlaceRef, open_book
from marginalia_tui.commands.results import AnnotationHandle, PartHandle, Prose, Result
from marginalia_tui.services import annotations
from marginalia_tui.services.annotations import Note

SHOWN = 500
"""Characters of a passage that are shown in a row."""


class NoteRow(Result):
    """A note in a list. `at` and `passage` tell where it stands now; without them it is on the whole part or orphaned.

    `position` is that of the part, `number` that of the note.
    """

    number: int
    annotation: AnnotationHandle
    status: str
    type: str
    position: int
    part: PartHandle
    branch: int | None = None
    at: int | None = None
    passage: str | None = None
    """The words of the passage as they stand now; of an orphaned note as they stood."""
    changed: bool | None = None
    """There and true when the passage is another one than the note was made on."""
    text: str
    source: str
    by: str | None = None
    """The person that made it, if not the author."""


class NoteList(Page):
    """Notes in the order of the book."""

    thing = ("note", "notes")

    notes: list[NoteRow]


@command(
    "list-annotations",
    title="List the notes",
    severity=Severity.READ,
    returns="a row for each note: status, part, the passage as it stands now, what it says",
    example="/list-annotations open",
    for_model="Lists the notes (annotations) on the book. All arguments are optional. Each row has annotation (its "
    "handle), status, part (a handle), at, passage (the words it is on, as they stand now) and text (what it says). "
    "An orphaned note is one whose passage is gone.",
)
def list_annotations(
    ctx: Context,
    status: Annotated[
        Literal["all", "open", "done", "dismissed", "orphaned"],
        Param(
            "only notes of this status; orphaned: the passage is gone",
            for_model="Only notes of this status. Leave it out for all of them.",
        ),
    ] = "all",
    part: Annotated[
        PlaceRef | None,
        Param("only the notes on this part", for_model="Only the notes on this part: its handle or position."),
    ] = None,
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> NoteList:
    """Lists the notes on the book or on a part, with the passages as they stand now."""
    with open_book(ctx) as opened:
        numbers = _numbers(opened)
        if part is None:
            notes = annotations.notes_of_book(opened.space, opened.book.uuid)
        else:
            notes = annotations.notes_of_part(opened.space, opened.read_part(part))
        wanted = [note for note in notes if status in ("all", note.status)]
        places = {uuid: place for place, uuid in enumerate(opened.all_parts())}
        wanted.sort(key=lambda note: (places[note.annotation.part], _at(note), note.annotation.created))
        some, page = page_of(wanted, offset, limit)
        texts = opened.space.texts(list({note.annotation.part for note in some}))
        rows = [_row(opened, note, numbers, texts[note.annotation.part]) for note in some]
    return NoteList(notes=rows, **page)


def _numbers(opened: OpenBook) -> dict[str, int]:
    uuids = annotations.note_uuids(opened.space, opened.book.uuid)
    return {uuid: number for number, uuid in enumerate(uuids, start=1)}


def _at(note: Note) -> int:
    return note.place.start if note.place else note.annotation.start


def _row(opened: OpenBook, note: Note, numbers: dict[str, int], text: str) -> NoteRow:
    value, place = note.annotation, note.place
    passage = None
    if not note.whole:
        passage = text[place.start : place.end] if place else value.quote
    return NoteRow(
        number=numbers[value.uuid],
        annotation=value.uuid,
        status=note.status,
        type=value.type,
        position=opened.depths[value.part],
        part=value.part,
        branch=opened.off_branch(value.part),
        at=place.start if place and not note.whole else None,
        passage=passage and first_words(passage, SHOWN),
        changed=True if place and place.changed else None,
        text=first_words(value.text, SHOWN),
        source=value.source,
        by=annotations.made_by(value) or None,
    )


class FullNote(Result):
    """A note with all that is known of it. `passage` is what stands there now, `quote` what it was made on."""

    number: int
    annotation: AnnotationHandle
    status: str
    type: str
    source: str
    by: str | None = None
    model: str | None = None
    to_prompt: bool
    position: int
    part: PartHandle
    branch: int | None = None
    at: int | None = None
    until: int | None = None
    """The character before which the passage ends."""
    changed: bool
    whole_part: bool
    note: str | None = None
    """What there is to know of the passage, in a sentence."""
    before: str | None = None
    passage: Prose | None = None
    after: str | None = None
    quote: Prose | None = None
    text: Prose


@command(
    "get-annotation",
    title="Read a note",
    severity=Severity.READ,
    returns="what the note says, its passage as it stands now and as it stood, status, type, source",
    example="/get-annotation 1",
    for_model="Returns one note: what it says (text), its status, the passage it is on as it stands now, and quote, "
    "the words that it was made on. Pass annotation: its handle, such as h:a3.",
)
def get_annotation(ctx: Context, annotation: AnnotationRef) -> FullNote:
    """Shows a note with its passage, as it stands now and as it stood."""
    with open_book(ctx) as opened:
        note = annotations.find_note(opened.space, read_note(opened, annotation))
        value, place = note.annotation, note.place
        text = opened.space.texts([value.part])[value.part]
        passage = before = after = None
        if place and not note.whole:
            passage = text[place.start : place.end]
            before, after = around(text, place.start, place.end)
        return FullNote(
            number=_numbers(opened)[value.uuid],
            annotation=value.uuid,
            status=note.status,
            type=value.type,
            source=value.source,
            by=annotations.made_by(value) or None,
            model=value.model or None,
            to_prompt=value.to_prompt,
            position=opened.depths[value.part],
            part=value.part,
            branch=opened.off_branch(value.part),
            at=place.start if passage is not None and place else None,
            until=place.end if passage is not None and place else None,
            changed=bool(place and place.changed),
            whole_part=note.whole,
            note=_state_of(note),
            before=before,
            passage=passage,
            after=after,
            quote=value.quote if value.quote != passage and not note.whole else None,
            text=value.text,
        )


def _state_of(note: Note) -> str | None:
    if note.place is None:
        return "The passage is gone from the part. reattach-annotation puts the note on another one."
    if note.place.changed:
        return "The passage was changed since the note was made."
    return "It is on the whole part." if note.whole else None
