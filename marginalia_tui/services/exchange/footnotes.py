"""Footnotes on their way in: where a reader found marks and notes, and which label each gets in its part.

A reader knows where a note is called and where its text is, but not yet the borders of the parts. So it writes
placeholders, which hold a NUL (no text does) and the key of the note; when the parts stand, `with_notes` gives each
part its labels and puts the texts where they belong: at the place that was marked, or at the end of the part that
calls the note. Every note is called in a part that has its text, whatever file it came from.
"""

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from marginalia_tui.services.exchange.manuscript import Chapter, trim_blank_lines

_MARK = re.compile(r"\[\^\0([^\0]+)\0\]")
_PLACE = re.compile(r"^((?:[ >]|(?:[-*+]|\d{1,9}[.)])[ ])*)\0([^\0]+)\0(\n*)", re.MULTILINE)
"""What may stand before a note on its line, its key, the blank lines after it."""
_STRAY = re.compile(r"\0([^\0]+)\0")
"""A note where none can be defined, such as in the cell of a table."""
_LABEL = re.compile(r"[\w.-]{1,80}")


@dataclass(frozen=True, slots=True)
class Note:
    """A note: its Markdown, and the label that it had (a number is given where it is empty or can't be kept)."""

    text: str
    label: str = ""


def mark(key: str) -> str:
    """The placeholder of a mark that calls a note."""
    return f"[^\0{key}\0]"


def place(key: str) -> str:
    """The placeholder, a block of its own, of the text of a note."""
    return f"\0{key}\0"


def definition(label: str, text: str) -> str:
    """The text of a note as Markdown defines it: what is below its first line is indented."""
    first, _, rest = text.partition("\n")
    below = "".join(f"\n    {line}" if line else "\n" for line in rest.split("\n")) if rest else ""
    return f"[^{label}]: {first}{below}"


def with_notes(chapters: Sequence[Chapter], notes: Mapping[str, Note], *, gather: bool = False) -> tuple[Chapter, ...]:
    """The parts with their notes in place of the placeholders.

    Args:
        chapters: titles and texts, with placeholders.
        notes: key -> note. A mark whose note is missing is left out.
        gather: a note that stands in another part than those that call it goes to these.
    """
    placed = [{found[2] for found in _PLACE.finditer(chapter.text)} for chapter in chapters]
    first = [_marks_of(f"{chapter.title}\n{chapter.text}") for chapter in chapters]
    if gather:
        wanted = {key for keys in first for key in _called(keys, (), notes)}
        placed = [here - (wanted - set(_called(keys, (), notes))) for here, keys in zip(placed, first, strict=True)]
    called = [_called(keys, here, notes) for keys, here in zip(first, placed, strict=True)]
    everywhere = {key for keys in placed for key in keys}
    return tuple(
        _chapter(chapter, notes, [*calls, *sorted(here - set(calls))], here if gather else everywhere)
        for chapter, calls, here in zip(chapters, called, placed, strict=True)
    )


def _marks_of(text: str) -> list[str]:
    return _MARK.findall(text) if "\0" in text else []


def _called(first: list[str], here: Collection[str], notes: Mapping[str, Note]) -> list[str]:
    """The notes that a part calls, in order, and those that these notes call."""
    found = dict.fromkeys(key for key in first if key in notes)
    waiting = deque([*found, *here])
    while waiting:
        key = waiting.popleft()
        for inner in _marks_of(notes[key].text) if key in notes else ():
            if inner not in found and inner in notes:
                found[inner] = None
                waiting.append(inner)
    return list(found)


def _chapter(chapter: Chapter, notes: Mapping[str, Note], keys: list[str], placed: set[str]) -> Chapter:
    """A part with its notes; those of its `keys` that are not `placed` stand below its text."""
    if "\0" not in chapter.title and "\0" not in chapter.text:
        return chapter
    labels = _labels([key for key in keys if key in notes], notes)

    def marked(found: re.Match[str]) -> str:
        return f"[^{labels[found[1]]}]" if found[1] in labels else ""

    def defined(found: re.Match[str]) -> str:
        before, key, after = found[1], found[2], found[3]
        if key not in labels or key not in placed:
            return ""
        first, *lines = definition(labels[key], notes[key].text).split("\n")
        below = re.sub(r"[^>]", " ", before)
        return "\n".join([before + first, *((below + line).rstrip() for line in lines)]) + after

    text = _MARK.sub(marked, chapter.text)
    stray = set(_STRAY.findall(_PLACE.sub("", text)))
    text = trim_blank_lines(_STRAY.sub("", _MARK.sub(marked, _PLACE.sub(defined, text))))
    below = [definition(labels[key], notes[key].text) for key in labels if key not in placed or key in stray]
    whole = "\n\n".join(filter(None, [text, *(_MARK.sub(marked, each) for each in below)]))
    return replace(chapter, title=_MARK.sub(marked, chapter.title), text=whole)


def _labels(keys: Sequence[str], notes: Mapping[str, Note]) -> dict[str, str]:
    """A label for each note of a part: its own where it has one that is free, else the next number."""
    found: dict[str, str] = {}
    wanted = {notes[key].label for key in keys}
    taken: set[str] = set()
    for number, key in enumerate(keys, start=1):
        label = notes[key].label
        if not _LABEL.fullmatch(label) or label in taken:
            label = str(number)
            while label in taken or (label in wanted and label != notes[key].label):
                label = str(int(label) + 1)
        taken.add(label)
        found[key] = label
    return found
