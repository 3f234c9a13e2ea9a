"""How an argument names a note, or a passage that a note is put on.

An agent names a note by its handle. The author may also give its number in the list (the oldest is 1) or words that
only one note has. A passage is quoted as it stands; the typography of the book may differ.
"""

import re
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.passages import closest_passage, find_passage
from marginalia_tui.commands.patterns import around, first_words
from marginalia_tui.commands.references import OpenBook, Reference
from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound
from marginalia_tui.domain.items import Annotation
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services.annotations import note_uuids

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SPAN = re.compile(r"(\d{1,9})\.\.(\d{1,9})")
_GONE = "list-annotations shows the notes there are."

AnnotationRef = Annotated[
    Reference,
    Param(
        "the note: its number in list-annotations, words of it, or its uuid",
        for_model="The handle of the note, such as h:a3. list-annotations shows the handles.",
        names="annotation",
    ),
]
Quote = Annotated[str, Field(max_length=100_000)]
Occurrence = Annotated[
    int | None,
    Field(ge=1),
    Param(
        "which one, where the passage is there several times",
        for_model="Which one, when the quote is in the part several times: 1 is the first.",
    ),
]
Span = Annotated[
    str,
    Field(max_length=50),
    Param(
        "the characters of the passage instead of a quote, such as 120..145",
        for_model="Instead of quote: the characters of the passage, such as 120..145. Leave it out.",
    ),
]


def read_note(opened: OpenBook, text: str) -> str:
    """The uuid of the note that was named.

    Raises:
        Invalid: an agent gave something else than a handle.
        NotFound, Ambiguous: no note of the book, or several, fit.
    """
    wanted = text.strip()
    if _UUID.fullmatch(wanted):
        note = opened.space.find(Annotation, wanted)
        if note is None or note.book != opened.book.uuid:
            raise NotFound(f"This note was deleted, or is of another book: {_GONE}")
        return wanted
    if wanted.startswith("h:"):
        raise NotFound(f"No note of this book has the handle {quoted(wanted)}: list-annotations shows the handles.")
    if opened.scope.is_agent:
        raise Invalid(
            f"Give the handle of the note, such as h:a3, not {quoted(text)}: list-annotations shows the handle of each."
        )
    uuids = note_uuids(opened.space, opened.book.uuid)
    if wanted.isascii() and wanted.isdigit():
        if len(wanted) <= 9 and 1 <= int(wanted) <= len(uuids):
            return uuids[int(wanted) - 1]
        raise NotFound(f"There is no note {quoted(wanted, 20)}: the book has {counted(len(uuids), 'note')}.")
    return _by_words(opened, uuids, wanted)


def _by_words(opened: OpenBook, uuids: list[str], wanted: str) -> str:
    key = wanted.casefold()
    notes = opened.space.get_many(Annotation, uuids)
    found = [uuid for uuid, note in notes.items() if key and key in f"{note.text}\n{note.quote}".casefold()]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(f"No note of this book has the words {quoted(wanted)}: {_GONE}")
    shown = listed([f"{uuids.index(uuid) + 1} ({quoted(first_words(notes[uuid].text, 40))})" for uuid in found], 5)
    raise Ambiguous(f"Several notes have the words {quoted(wanted)}: {shown}. Give the number of the note.")


def find_range(text: str, where: str, quote: str, occurrence: int | None, span: str) -> tuple[int, int] | None:
    """The passage of a part that was named, by its words or by its characters.

    Args:
        text: of the part.
        where: the part for a sentence.
        quote: the words of the passage, or nothing.
        occurrence: which of several, 1 is the first; None: there must be one.
        span: its characters as `start..end`, or nothing.

    Returns:
        Where it begins and ends; None when nothing was named.

    Raises:
        Invalid, NotFound, Ambiguous: what was given names no passage of the part, or several.
    """
    if quote and span:
        raise Invalid("A passage is given by its words or by its characters: leave out quote or span.")
    if span:
        return _by_characters(text, span)
    if quote:
        return _by_quote(text, where, quote, occurrence)
    if occurrence is not None:
        raise Invalid("occurrence says which of several quotes is meant: give the quote too.")
    return None


def _by_characters(text: str, span: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(span.strip())
    start, end = (int(found[1]), int(found[2])) if found else (0, 0)
    if not start < end <= len(text):
        raise Invalid(
            f"The span {quoted(span)} is no passage: give the first character and the one behind the last, such as "
            f"120..145; the part ends at {len(text)}."
        )
    return start, end


def _by_quote(text: str, where: str, quote: str, occurrence: int | None) -> tuple[int, int]:
    if not quote.strip():
        raise Invalid("The quote holds no letter: give the words that the note is on, or leave it out.")
    found = find_passage(text, quote)
    if not found:
        near = closest_passage(text, quote)
        hint = f"The closest there is: {quoted(near, 320)}." if near else "Nothing there is like it."
        raise NotFound(f"The passage {quoted(quote)} is not in {where}. {hint} Copy the words exactly as they stand.")
    if occurrence is not None:
        if occurrence > len(found):
            raise NotFound(f"The passage {quoted(quote)} is {len(found)} times in {where}, not {occurrence} times.")
        return found[occurrence - 1].start, found[occurrence - 1].end
    if len(found) > 1:
        places = "; ".join(
            f"{number}: \u201c{before}{text[each.start : each.end]}{after}\u201d"
            for number, each in enumerate(found[:5], start=1)
            for before, after in [around(text, each.start, each.end, 25)]
        )
        raise Ambiguous(
            f"The passage {quoted(quote)} is {len(found)} times in {where}. Pass occurrence, or quote more words. "
            f"It stands in {places}"
        )
    return found[0].start, found[0].end
