"""A book from a novelWriter project: the documents of its novels, in the order of the project file, and its notes.

The texts are nearly Markdown. What a document says beside its prose (status, synopsis, references, comments) goes
into the attributes of its part; notes on characters and the like become lore; what is archived, thrown away or a
template, and documents that are not active, are counted. Nothing but the project file and the documents that it
names is read, and those only inside of the folder.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.folder import inside
from marginalia_tui.services.exchange.footnotes import Note, mark, with_notes
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, one_line, trim_blank_lines
from marginalia_tui.services.exchange.markdown import LEVEL
from marginalia_tui.services.exchange.novelnotes import TAG, ReadNote, lore_of_notes
from marginalia_tui.services.exchange.strictxml import read_xml

PROJECT = "nwProject.nwx"
"""The file of a project; its texts stand in the folder `content` beside it."""

_HANDLE = re.compile(r"[0-9a-f]{13}$")
_HEADING = re.compile(r"(#{1,4})(!?) +(.*)$")
_REFERENCE = re.compile(
    r"@(tag|pov|focus|char|plot|time|location|object|entity|custom|story|mention)[ ]*:[ ]*(.*)$", re.IGNORECASE
)
_COMMENT = re.compile(
    r"%[ ]*(?:(synopsis|short|footnote|note|story)(?:\.([\w.-]{1,40}))?[ ]*:)?[ ]*(.*)$", re.IGNORECASE
)
_LAYOUT = re.compile(r"\[(?:new ?page|vspace(?::\d+)?)\]$", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[footnote:([\w.-]{1,40})\]", re.IGNORECASE)
_CODES = {
    "[b]": "**", "[/b]": "**", "[i]": "*", "[/i]": "*", "[s]": "~~", "[/s]": "~~", "[u]": "<u>", "[/u]": "</u>",
    "[m]": "<mark>", "[/m]": "</mark>", "[sup]": "<sup>", "[/sup]": "</sup>", "[sub]": "<sub>", "[/sub]": "</sub>",
}  # fmt: skip
_ASIDE = frozenset(("ARCHIVE", "TEMPLATE", "TRASH", "NO_CLASS"))
"""The kinds of roots whose documents are neither of the book nor notes for it."""
_DEEPEST = 20
"""Folders within each other that are told of a note."""
_CODE = re.compile("|".join(re.escape(code) for code in _CODES), re.IGNORECASE)
_BREAK = re.compile(r"\[br\][ \t]*\n?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Item:
    """A line of the project file."""

    handle: str
    parent: str
    order: int
    kind: str
    group: str
    layout: str
    name: str
    status: str
    active: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line stands: the kind and the name of its root, and the names of the folders below that."""

    group: str
    root: str
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class _Section:
    """A heading with what follows it, up to the next one."""

    level: int = 0
    title: str = ""
    lines: list[str] = field(default_factory=list)
    synopsis: list[str] = field(default_factory=list)
    references: dict[str, list[str]] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


def read_novelwriter(folder: Path, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a book from a novelWriter project; also what the author should know about it.

    Args:
        folder: the folder of the project.
        level: every heading of this level or above begins a part; None takes each document as one part.

    Raises:
        Invalid: it holds no project, or one that can't be read.
        Refused: the project file declares entities, or a document lies outside of the folder.
    """
    path = folder / PROJECT
    if not path.is_file():
        raise Invalid(f"{shown(folder)} holds no {PROJECT}: give the folder of a novelWriter project.")
    root = read_xml(files.read_file(path), shown(path))
    if _name(root) != "novelwriterxml":
        raise Invalid(f"{shown(path)} is no project of novelWriter: give the folder of one.")
    counts: Counter[str] = Counter()
    notes: dict[str, Note] = {}
    chapters: list[Chapter] = []
    beside: list[ReadNote] = []
    begins = _begins_document if level is None else lambda number, section: 0 < section.level <= level
    size = 0
    for item, place in _documents(root, counts):
        data = _read_document(folder, item, counts)
        size += len(data)
        if size > files.MAX_TEXT_BYTES:
            raise Invalid(f"The texts in {shown(folder)} are larger than {files.megabytes(files.MAX_TEXT_BYTES)}.")
        sections = _sections(decode(data, item.name).text if data.strip() else "", item.handle, notes)
        if item.group != "NOVEL" or item.layout == "NOTE":
            beside += _read_notes(sections, item, place)
        else:
            _add(chapters, sections, item, begins)
    made = with_notes(chapters, notes)
    project, settings = _child(root, "project"), _child(root, "settings")
    language = _text(settings, "language")
    title = _text(project, "title") or _text(project, "name")
    texts = with_notes([note.chapter for note in beside], notes)
    lore, about_lore = lore_of_notes(
        [replace(note, chapter=chapter) for note, chapter in zip(beside, texts, strict=True)], title
    )
    manuscript = Manuscript(
        title=title,
        author=", ".join(_texts(project, "author")),
        language="" if language == "None" else language.replace("_", "-"),
        chapters=made,
        lorebooks=(lore,) if lore is not None else (),
    )
    return manuscript, (*_told(made, counts), *about_lore)


def _name(element: Any) -> str:
    return element.tag.lower() if isinstance(element.tag, str) else ""


def _child(element: Any, name: str) -> Any:
    return next((inner for inner in element if _name(inner) == name), None) if element is not None else None


def _texts(element: Any, name: str) -> list[str]:
    """The texts of the children of that name."""
    found = (
        [one_line(clean(inner.text or "")) for inner in element if _name(inner) == name] if element is not None else []
    )
    return [text for text in found if text]


def _text(element: Any, name: str) -> str:
    return next(iter(_texts(element, name)), "")


def _items(root: Any) -> list[_Item]:
    """The lines of the project file, of the format of versions 1 and 2."""
    settings = _child(root, "settings")
    statuses, importances = _labels(_child(settings, "status")), _labels(_child(settings, "importance"))
    made = []
    content = _child(root, "content")
    for element in content if content is not None else ():
        named = _child(element, "name")
        if _name(element) != "item" or named is None:
            continue

        def value(name: str, element: Any = element) -> str:
            return element.get(name) or _text(element, name)

        group = value("class").upper()
        status = named.get("status") or _text(element, "status")
        importance = named.get("import") or status
        active = named.get("active") or _text(element, "exported") or "yes"
        order = value("order")
        made.append(
            _Item(
                handle=value("handle"),
                parent=value("parent"),
                order=int(order) if order.isascii() and order.isdigit() and len(order) < 10 else 0,
                kind=value("type").upper(),
                group=group,
                layout=value("layout").upper(),
                name=one_line(clean(named.text or "")),
                status=statuses.get(status, status) if group == "NOVEL" else importances.get(importance, importance),
                active=active.lower() not in ("no", "false"),
            )
        )
    return made


def _labels(element: Any) -> dict[str, str]:
    """Key -> what a status, or an importance, is called."""
    return {entry.get("key"): clean(entry.text or "") for entry in (element if element is not None else ())}


def _documents(root: Any, counts: Counter[str]) -> Iterator[tuple[_Item, _Place]]:
    """The documents of the novels and the notes, parents before their children; what is left out is counted."""
    below: dict[str, list[_Item]] = {}
    items = _items(root)
    for item in items:
        below.setdefault(item.parent, []).append(item)
    known = {item.handle for item in items}
    # What has no parent in the file is at the top, as novelWriter shows it.
    top = sorted(reversed([item for item in items if item.parent not in known]), key=lambda item: -item.order)
    waiting = [(item, _Place(item.group, item.name if item.kind == "ROOT" else "")) for item in top]
    seen: set[str] = set()
    counts["novels"] = sum(item.kind == "ROOT" and item.group == "NOVEL" for item in top)
    while waiting:
        item, place = waiting.pop()
        if item.handle in seen:
            continue
        seen.add(item.handle)
        inside = place if item.kind == "ROOT" else replace(place, folders=(*place.folders, item.name)[-_DEEPEST:])
        below_it = sorted(reversed(below.get(item.handle, [])), key=lambda each: -each.order)
        waiting += [(each, inside) for each in below_it]
        if item.kind != "FILE":
            continue
        aside = place.group if place.group in _ASIDE else item.group
        if aside in _ASIDE or not aside:
            counts[f"of {aside.lower() or 'no kind'}"] += 1
        elif item.group == "NOVEL" and item.layout != "NOTE" and not item.active:
            counts["inactive"] += 1
        else:
            yield item, place


def _read_document(folder: Path, item: _Item, counts: Counter[str]) -> bytes:
    if not _HANDLE.match(item.handle):
        raise Invalid(f"The project in {shown(folder)} names a document {item.handle[:40]!r}: mend {PROJECT}.")
    name = f"content/{item.handle}.nwd"
    try:
        (folder / name).lstat()
    except FileNotFoundError:
        counts["missing"] += 1
        return b""
    try:
        return files.read_file(inside(folder, name), empty=True)
    except NotFound:
        counts["missing"] += 1
        return b""


def _sections(text: str, handle: str, notes: dict[str, Note]) -> list[_Section]:
    """The sections of a document; the first has no heading when the document begins without one."""
    made = [_Section()]
    for line in text.split("\n"):
        current = made[-1]
        bare = line.strip()
        if bare.startswith("%%~"):
            continue
        if heading := _HEADING.match(line):
            made.append(_Section(len(heading[1]), _inline(heading[3].strip(), handle)))
        elif reference := _REFERENCE.match(bare):
            names = [name.strip() for name in reference[2].split(",")]
            current.references.setdefault(reference[1].lower(), []).extend(name for name in names if name)
        elif bare.startswith("%"):
            _add_comment(current, bare, handle, notes)
        elif not _LAYOUT.match(bare):
            current.lines.append(line)
    if not any(line.strip() for line in made[0].lines) and len(made) > 1:
        # What stands above the first heading belongs to it.
        first, second = made[0], made[1]
        second.synopsis[:0], second.comments[:0] = first.synopsis, first.comments
        second.references = {**first.references, **second.references}
        del made[0]
    return made


def _add_comment(section: _Section, line: str, handle: str, notes: dict[str, Note]) -> None:
    found = _COMMENT.match(line)
    if found is None or not found[3]:
        return
    kind, key, text = (found[1] or "").lower(), found[2] or "", found[3]
    if kind in ("synopsis", "short"):
        section.synopsis.append(text)
    elif kind == "footnote" and key:
        notes[f"{handle} {key}"] = Note(_prose([text], handle))
    else:
        section.comments.append(f"{kind}.{key}: {text}" if key else text.removeprefix("~").strip())


def _inline(text: str, handle: str) -> str:
    """The codes of novelWriter as marks of Markdown."""
    text = _CODE.sub(lambda found: _CODES[found[0].lower()], text)
    return _FOOTNOTE.sub(lambda found: mark(f"{handle} {found[1]}"), text)


def _prose(lines: Sequence[str], handle: str) -> str:
    """The paragraphs of lines: a line that ends within one is a break; alignment is left out, an indent is a quote."""
    paragraphs: list[list[str]] = [[]]
    for line in _BREAK.sub("\n", "\n".join(lines)).split("\n"):
        bare = line.strip()
        if not bare:
            paragraphs.append([])
            continue
        quoted = bare == ">" or (bare.startswith("> ") and not bare.startswith(">> "))
        bare = re.sub(r"^>{1,2}(?: +|$)| +<{1,2}$", "", bare)
        # A line of hyphens would make a heading of the line above it.
        bare = f"\\{bare}" if bare and not bare.strip("-=") else bare
        paragraphs[-1].append(f"> {bare}" if quoted else bare)
    return "\n\n".join(_inline("\\\n".join(paragraph), handle) for paragraph in paragraphs if paragraph)


def _begins_document(number: int, section: _Section) -> bool:
    return number == 0


def _begins_note(number: int, section: _Section) -> bool:
    return number == 0 or TAG in section.references


def _read_notes(sections: Sequence[_Section], item: _Item, place: _Place) -> list[ReadNote]:
    """A document of notes: the first, and one for each tag that it names."""
    chapters: list[Chapter] = []
    _add(chapters, sections, item, _begins_note)
    return [
        ReadNote(
            each if each.title else replace(each, title=item.name), place.root, " / ".join(place.folders), item.active
        )
        for each in chapters
    ]


def _add(
    chapters: list[Chapter], sections: Sequence[_Section], item: _Item, begins: Callable[[int, _Section], bool]
) -> None:
    """Adds a document: its sections by number as parts of their own, or behind the part before."""
    for number, section in enumerate(sections):
        prose = _prose(section.lines, item.handle)
        if begins(number, section) or not chapters:
            attributes = _attributes(section, {"status": item.status} if item.status else {})
            title = one_line(section.title) or ("" if section.level else item.name)
            attributes |= {LEVEL: section.level} if section.level > 1 else {}
            chapters.append(Chapter(title=title, text=prose, attributes=attributes))
            continue
        before = chapters[-1]
        heading = f"{'#' * section.level} {section.title}" if section.level else ""
        text = "\n\n".join(piece for piece in (before.text, heading, prose) if piece)
        attributes = _attributes(section, dict(before.attributes))
        chapters[-1] = Chapter(title=before.title, text=trim_blank_lines(text), attributes=attributes)


def _attributes(section: _Section, known: dict[str, Json]) -> dict[str, Json]:
    """What a section says beside its prose, added to what is known of its part."""
    made = dict(known)
    if section.synopsis:
        before = made.get("synopsis")
        made["synopsis"] = "\n".join([*([before] if isinstance(before, str) else []), *section.synopsis])
    if section.comments:
        others = made.get("comments")
        made["comments"] = [*(others if isinstance(others, list) else []), *section.comments]
    if section.references:
        known_references = made.get("references")
        references: dict[str, Json] = dict(known_references) if isinstance(known_references, dict) else {}
        for kind, names in section.references.items():
            earlier = references.get(kind)
            references[kind] = list(dict.fromkeys([*(earlier if isinstance(earlier, list) else []), *names]))
        made["references"] = references
    return made


def _told(chapters: Sequence[Chapter], counts: Counter[str]) -> tuple[str, ...]:
    told = []
    kept = Counter(key for chapter in chapters for key in chapter.attributes if key != LEVEL)
    if kept:
        words = {"status": "status", "synopsis": "synopsis", "references": "references", "comments": "comments"}
        listed = ", ".join(f"{words[key]} of {count:,}" for key, count in sorted(kept.items()))
        told.append(f"Kept in the data of the parts: {listed}.")
    notes = [f"{count:,} {kind}" for kind, count in sorted(counts.items()) if kind.startswith("of ")]
    if notes:
        told.append(f"Left out: documents outside of the novel ({', '.join(notes)}).")
    if counts["inactive"]:
        told.append(f"Left out: {counts['inactive']:,} document(s) of the novel that are not active.")
    if counts["missing"]:
        told.append(f"The project names {counts['missing']:,} document(s) that are not there: it may be damaged.")
    if counts["novels"] > 1:
        told.append(f"The project holds {counts['novels']:,} novels: they follow each other.")
    return tuple(told)
