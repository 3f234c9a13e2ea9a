"""Footnotes on their way in: where a reader found marks and notes, and which label each gets in its part.

A reader knows where a note is called and where its text is, but not yet the borders of the parts. So it writes
placeholders, which hold a NUL (no text does) and the key of the note; when the parts stand, `with_notes` gives each
part its labels and puts the texts where they belong: at the place that was marked, or at the end of the part that
calls the note. Every note is called in a part that has its text, whatever file it came from.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from marginalia_tui.services.exchange.manuscript import Chapter

_MARK = re.compile(r"\[\^\0([^\0]+)\0\]")
_PLACE = re.compile(r"^\0([^\0]+)\0$", re.MULTILINE)
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


def with_notes(chapters: Sequence[Chapter], notes: Mapping[str, Note]) -> tuple[Chapter, ...]:
    """The parts with their notes in place of the placeholders.

    Args:
        chapters: titles and texts, with placeholders.
        notes: key -> note. A mark whose note is missing is left out.
    """
    placed = {key for chapter in chapters for key in _PLACE.findall(chapter.text)}
    return tuple(_chapter(chapter, notes, placed) for chapter in chapters)


def _chapter(chapter: Chapter, notes: Mapping[str, Note], placed: set[str]) -> Chapter:
    if "\0" not in chapter.title and "\0" not in chapter.text:
        return chapter
    called = [key for text in (chapter.title, chapter.text) for key in _MARK.findall(text)]
    here = _PLACE.findall(chapter.text)
    labels = _labels([key for key in dict.fromkeys([*called, *here]) if key in notes], notes)

    def marked(found: re.Match[str]) -> str:
        return f"[^{labels[found[1]]}]" if found[1] in labels else ""

    def defined(found: re.Match[str]) -> str:
        return definition(labels[found[1]], notes[found[1]].text) if found[1] in labels else ""

    below = [definition(labels[key], notes[key].text) for key in labels if key not in placed]
    text = _PLACE.sub(defined, _MARK.sub(marked, chapter.text))
    return replace(chapter, title=_MARK.sub(marked, chapter.title), text="\n\n".join(filter(None, [text, *below])))


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
