"""Commands that make and change notes. They never change the story, and are free while an agent works."""

from typing import Annotated, Literal

from pydantic import Field

from marginalia_tui.commands.annotation_references import (
    AnnotationRef,
    Occurrence,
    Quote,
    Span,
    find_range,
    read_note,
)
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import PartRef, open_book
from marginalia_tui.commands.results import AnnotationHandle, PartHandle, Result
from marginalia_tui.commands.suites.annotations import SHOWN
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Annotation
from marginalia_tui.domain.sentences import listed, quoted
from marginalia_tui.services import annotations
from marginalia_tui.services.annotations import Draft, Note
from marginalia_tui.store.store import WriteTx

NoteText = Annotated[
    str,
    Field(max_length=20_000),
    Param("what the note says", for_model="What the note says, in plain sentences."),
]
NoteType = Annotated[
    str,
    Field(max_length=annotations.LONGEST_TYPE),
    Param("the type: note, question, fix or a word of your own", for_model="A word such as note, question or fix."),
]


class NoteChanged(Result):
    """What became of a note."""

    result: str
    """`created`, `changed`, `unchanged` or `deleted`."""
    annotation: AnnotationHandle
    number: int | None = None
    status: str | None = None
    part: PartHandle
    at: int | None = None
    passage: str | None = None
    changed: list[str] | None = None
    """The fields that were changed."""

    def sentence(self) -> str:
        """What was done, in words."""
        which = "The note" if self.number is None else f"Note {self.number}"
        fields = f" ({listed(self.changed)})" if self.changed else ""
        place = f": {quoted(self.passage)}" if self.passage and self.result != "unchanged" else ""
        return f"{which} is {self.result}{fields}{place}."

    def untold(self) -> frozenset[str]:
        """The sentence says the rest."""
        return frozenset({"result", "annotation", "number", "part", "at", "passage", "changed"})


@command(
    "create-annotation",
    title="Make a note",
    severity=Severity.ADD,
    returns="the new note, and where it stands",
    example='/create-annotation 3 "Which lamp is this?" "the lamp"',
    for_model="Makes a note on a passage of a part; the story stays as it is. Pass part (its handle), text (what the "
    "note says) and quote (the words it is on, copied from the part). Without quote it is on the whole part. Returns "
    "annotation, the handle of the note.",
)
def create_annotation(
    ctx: Context,
    part: PartRef,
    text: NoteText,
    quote: Annotated[
        Quote,
        Param(
            "the passage that it is on; without it the whole part",
            for_model="The words that the note is on, copied from the part. Leave it out for the whole part.",
        ),
    ] = "",
    type: NoteType = "note",
    to_prompt: Annotated[
        bool,
        Param(
            "whether models that write are told it",
            for_model="true: models that write the story are told the note.",
        ),
    ] = False,
    occurrence: Occurrence = None,
    span: Span = "",
) -> Effect[NoteChanged]:
    """Makes a note on a passage of a part, or on the whole part."""
    with open_book(ctx) as opened:
        value, _ = opened.load(opened.written_part(part))
        where = opened.label(value.uuid)
        low, high = find_range(value.text, where, quote, occurrence, span) or (0, 0)
    draft = Draft(
        text=text,
        start=low,
        end=high,
        type=type,
        to_prompt=to_prompt,
        source="agent" if ctx.scope.is_agent else "author",
        model=(ctx.scope.model or "") if ctx.scope.is_agent else "",
    )

    def apply(tx: WriteTx) -> NoteChanged:
        made = annotations.create(tx.space(ctx.scope.space), value.uuid, value.text, draft)
        return NoteChanged(
            result="created",
            annotation=made.uuid,
            status=made.status,
            part=made.part,
            at=low if high > low else None,
            passage=first_words(made.quote, SHOWN) or None,
        )

    return Effect(apply)


@command(
    "update-annotation",
    title="Change a note",
    severity=Severity.CHANGE,
    returns="the fields that were changed",
    example='/update-annotation 1 "Which of the lamps is this?"',
    for_model="Changes what a note says, its type, or whether models are told it. Pass annotation (its handle) and "
    "only what should change. The passage stays; reattach-annotation moves it, resolve-annotation sets the status.",
)
def update_annotation(
    ctx: Context,
    annotation: AnnotationRef,
    text: Annotated[NoteText | None, Param("what it says now", for_model="What the note should say now.")] = None,
    type: Annotated[NoteType | None, Param("its type", for_model="A word such as note, question or fix.")] = None,
    to_prompt: Annotated[
        bool | None,
        Param("whether models that write are told it", for_model="true: models that write the story are told it."),
    ] = None,
) -> Effect[NoteChanged]:
    """Changes what a note says, its type, or whether models are told it."""
    uuid, seen = _seen(ctx, annotation)
    if text is None and type is None and to_prompt is None:
        raise Invalid("Give what should change: text, type or toPrompt.")

    def apply(tx: WriteTx) -> NoteChanged:
        space = tx.space(ctx.scope.space)
        changed = annotations.update(space, uuid, text=text, type=type, to_prompt=to_prompt)
        return _done(annotations.find_note(space, uuid), changed)

    return Effect(apply, reads={("annotation", uuid): seen})


@command(
    "resolve-annotation",
    title="Resolve a note",
    severity=Severity.CHANGE,
    returns="the note and its status",
    example="/resolve-annotation 1",
    for_model="Sets the status of a note. Pass annotation (its handle) and status: done (what it asks for is done), "
    "dismissed (it needs nothing) or open (again). A note whose passage is gone can't be opened again.",
)
def resolve_annotation(
    ctx: Context,
    annotation: AnnotationRef,
    status: Annotated[
        Literal["done", "dismissed", "open"],
        Param("done, dismissed, or open again", for_model="done, dismissed or open. Leave it out for done."),
    ] = "done",
) -> Effect[NoteChanged]:
    """Marks a note as done or dismissed, or opens it again."""
    uuid, seen = _seen(ctx, annotation)

    def apply(tx: WriteTx) -> NoteChanged:
        space = tx.space(ctx.scope.space)
        changed = annotations.resolve(space, uuid, status, by_agent=ctx.scope.is_agent)
        return _done(annotations.find_note(space, uuid), ["status"] if changed else [])

    return Effect(apply, reads={("annotation", uuid): seen})


@command(
    "reattach-annotation",
    title="Move a note to another passage",
    severity=Severity.CHANGE,
    returns="the note and the passage that it is on now",
    example='/reattach-annotation 1 "the lantern"',
    for_model="Puts a note on another passage of its part, for example one whose passage is gone. Pass annotation (its "
    "handle) and quote (the words it should be on, copied from the part).",
)
def reattach_annotation(
    ctx: Context,
    annotation: AnnotationRef,
    quote: Annotated[
        Quote,
        Param(
            "the passage that it is on from now",
            for_model="The words that the note should be on, copied from the part.",
        ),
    ] = "",
    occurrence: Occurrence = None,
    span: Span = "",
) -> Effect[NoteChanged]:
    """Puts a note on another passage of its part."""
    with open_book(ctx) as opened:
        uuid = read_note(opened, annotation)
        seen = opened.space.hashes(Annotation, [uuid])[uuid]
        part, _ = opened.load(opened.space.get(Annotation, uuid).part)
        found = find_range(part.text, opened.label(part.uuid), quote, occurrence, span)
    if found is None:
        raise Invalid("Give the passage that the note should be on: its words as quote, or span.")

    def apply(tx: WriteTx) -> NoteChanged:
        space = tx.space(ctx.scope.space)
        changed = annotations.reattach(space, uuid, part.text, *found)
        return _done(annotations.find_note(space, uuid), ["passage"] if changed else [])

    return Effect(apply, reads={("annotation", uuid): seen})


@command(
    "delete-annotation",
    title="Delete a note",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the note that was deleted",
    example="/delete-annotation 1",
    for_model="Deletes a note; the story stays. Pass annotation (its handle). To say that a note is settled, call "
    "resolve-annotation instead: the author then still sees it.",
)
def delete_annotation(ctx: Context, annotation: AnnotationRef) -> Effect[NoteChanged]:
    """Deletes a note."""
    with open_book(ctx) as opened:
        uuid = read_note(opened, annotation)
        seen = opened.space.hashes(Annotation, [uuid])[uuid]
        note = opened.space.get(Annotation, uuid)
        where = opened.label(note.part)
    ctx.confirm(f"Delete the note on {where}?", [f"It says: {first_words(note.text, 200)}"])

    def apply(tx: WriteTx) -> NoteChanged:
        annotations.delete(tx.space(ctx.scope.space), uuid)
        return NoteChanged(result="deleted", annotation=uuid, part=note.part)

    return Effect(apply, reads={("annotation", uuid): seen})


def _seen(ctx: Context, annotation: str) -> tuple[str, bytes]:
    """The note that was named, and the hash of its state."""
    with open_book(ctx) as opened:
        uuid = read_note(opened, annotation)
        return uuid, opened.space.hashes(Annotation, [uuid])[uuid]


def _done(note: Note, changed: list[str]) -> NoteChanged:
    place = None if note.whole else note.place
    return NoteChanged(
        result="changed" if changed else "unchanged",
        annotation=note.annotation.uuid,
        status=note.status,
        part=note.annotation.part,
        at=place.start if place else None,
        passage=first_words(note.annotation.quote, SHOWN) or None,
        changed=changed or None,
    )
