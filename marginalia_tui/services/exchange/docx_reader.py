"""A book from a DOCX: parts by its headings, notes at the end of the part that calls them.

The document becomes one text of Markdown, which is parted as a Markdown file is: so a choice of level means the
same. Macros, embedded objects and whatever lies outside of the document are counted and never touched.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from marginalia_tui.domain.images import REFERENCE
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.blocks import text_of, with_scene_breaks
from marginalia_tui.services.exchange.chapterlines import chapter_line
from marginalia_tui.services.exchange.docx_blocks import REMARK, Para, Paragraphs, blocks_of
from marginalia_tui.services.exchange.docx_inline import Document, Inlines
from marginalia_tui.services.exchange.docx_package import (
    Package,
    Relation,
    cargo_of,
    open_package,
    read_relations,
    resolve,
)
from marginalia_tui.services.exchange.docx_remarks import bare, passages, read_remarks
from marginalia_tui.services.exchange.docx_static import GENERATOR
from marginalia_tui.services.exchange.docx_styles import NAMES, Lists, Styles, attribute, child, value
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.footnotes import Note, with_notes
from marginalia_tui.services.exchange.frontmatter import write_front_matter
from marginalia_tui.services.exchange.manuscript import (
    MAX_TITLE,
    Manuscript,
    Remark,
    guess_language,
    one_line,
    trim_blank_lines,
)
from marginalia_tui.services.exchange.markdown import read_markdown
from marginalia_tui.services.exchange.pictures import Gathered, read_entry

_REMARK = re.compile(rf"\n*^{REMARK}([^\0]*)\0$", re.MULTILINE)
_FRONT = ("title", "subtitle", "author", "date")
_CHAPTER_LINE = 80
"""Characters of a line that can begin a chapter in a document without headings."""
_COUNTED = (
    ("signs", "Left out: {:,} sign(s) of a font of pictures."),
    ("objects", "Left out: {:,} embedded object(s)."),
    ("macros", "Left out: macros ({:,} project(s))."),
    ("external", "Left out, and never followed: {:,} reference(s) to files outside of the document."),
    ("contents", "Left out: the table of contents ({:,} line(s))."),
    ("margins", "Left out: {:,} header(s) and footer(s)."),
    ("tables", "Laid out as lines: {:,} table(s)."),
    ("boxes", "Put below the paragraph that holds them: {:,} text box(es)."),
    ("remarks", "Taken as notes: {:,} comment(s)."),
    ("wordless", "Left out: {:,} comment(s) without words."),
)


@dataclass(slots=True)
class _About:
    """What the document says of itself."""

    title: str = ""
    author: str = ""
    language: str = ""
    description: str = ""
    ours: bool = False
    extra: dict[str, Json] = field(default_factory=dict)


def read_docx(path: Path, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a book from a DOCX; also what the author should know about it.

    Args:
        path: the file.
        level: every heading of this level (1 to 6) or above begins a part; None picks the level that really parts
            the book, or the marks of an earlier export.

    Raises:
        Invalid: it is no DOCX, or damaged.
        Refused: it is protected, or built like an attack.
    """
    with Archive(path, "Word document") as archive:
        package = open_package(archive, shown(path))
        about = _about(package)
        reader = _Reader(package, ours=about.ours, marks=about.ours and level is None)
        paras = _pictures_below(reader.text())
        notes = reader.notes()
        remarks = read_remarks(package)
        counts = reader.count(paras, about, remarks)
    paras = _without_front(paras, about)
    told = [*reader.gathered.notes(counts.get("pictures", 0)), *_told(counts)]
    if not about.ours and not any(para.role == "heading" for para in paras):
        paras, line = _with_headings(paras)
        told += [line] if line else []
    found, called = _book(paras, about.title, level, notes, reader.gathered)
    manuscript = replace(
        found,
        title=about.title or found.title,
        author=about.author,
        description=about.description,
        attributes=about.extra,
    )
    if any(called):
        with_signs = [replace(para, text=para.marked) if para.marked else para for para in paras]
        marked, _ = _book(with_signs, about.title, level, notes, reader.gathered)
        manuscript = _with_remarks(manuscript, called, [each.text for each in marked.chapters], remarks, reader.numbers)
    guessed = guess_language(manuscript)
    language = about.language if about.ours else about.language or guessed or reader.language
    return replace(manuscript, language=one_line(language)), tuple(told)


def _book(
    paras: list[Para], title: str, level: int | None, notes: Mapping[str, Note], gathered: Gathered
) -> tuple[Manuscript, list[list[str]]]:
    """The book that paragraphs make, and for each part the ids of the comments in it."""
    # A title that is known keeps a first heading from being taken for it.
    front = write_front_matter({"title": title}, "")
    found = read_markdown(f"{front}\n{text_of(with_scene_breaks(blocks_of(paras)))}", level)
    called = [_REMARK.findall(chapter.text) if REMARK in chapter.text else [] for chapter in found.chapters]
    chapters = [
        replace(chapter, text=trim_blank_lines(_REMARK.sub("", chapter.text))) if ids else chapter
        for chapter, ids in zip(found.chapters, called, strict=True)
    ]
    if len(chapters) > 1 and called[0] and not chapters[0].title and not chapters[0].text:
        # Comments on a title page are no part of their own.
        called[:2] = [called[0] + called[1]]
        del chapters[0]
    made = tuple(gathered.settle(chapter) for chapter in with_notes(chapters, notes))
    return replace(found, chapters=made), called


def _about(package: Package) -> _About:
    about = _About()
    for relation in read_relations(package.archive, "", package.name).values():
        where = (
            package.archive.written_as(resolve(package.archive, "", relation.target)) if not relation.external else ""
        )
        if where not in package.archive:
            continue
        if relation.kind == "core-properties":
            fields = {"title": "title", "creator": "author", "language": "language", "description": "description"}
            for element in package.root(where):
                if name := fields.get(NAMES[element.tag]):
                    setattr(about, name, clean("".join(element.itertext())).strip())
        elif relation.kind == "extended-properties":
            made_by = child(package.root(where), "application")
            about.ours = made_by is not None and made_by.text == GENERATOR
    about.title, about.author = one_line(about.title), one_line(about.author)
    return about


class _Reader:
    """Reads the stories of one package."""

    def __init__(self, package: Package, *, ours: bool, marks: bool) -> None:
        self._package = package
        styles = Styles(package.part("styles"))
        self.language = styles.language
        self._lists = Lists(package.part("numbering"))
        settings = package.part("settings")
        variables = {
            attribute(element, "name"): clean(value(element))
            for element in (settings.iter() if settings is not None else ())
            if NAMES[element.tag] == "docvar"
        }
        self.gathered = Gathered(partial(read_entry, package.archive))
        self._document = Document(styles, variables, ours=ours, picture=self._picture)
        self._marks = marks

    def _picture(self, relation: Relation, words: str) -> str:
        """The mark of a picture; the text and its notes lie in one folder."""
        if relation.external:
            self.gathered.left["not in the file"] += 1
            return ""
        archive = self._package.archive
        where = archive.written_as(resolve(archive, self._package.main, relation.target))
        return self.gathered.mark(where, words)

    def text(self) -> list[Para]:
        """The paragraphs of the text."""
        body = child(self._package.root(self._package.main), "body")
        inlines = Inlines(self._document, self._package.relations)
        return Paragraphs(inlines, self._lists, marks=self._marks).read(body if body is not None else ())

    def notes(self) -> dict[str, Note]:
        """The footnotes and endnotes that the text calls, by key."""
        texts: dict[str, str] = {}
        for kind in ("footnote", "endnote"):
            where = self._package.name_of(f"{kind}s")
            if not where:
                continue
            called = {each for each in self._document.notes.values() if each.startswith(kind)}
            inlines = Inlines(self._document, self._package.relations_of(where))
            reader = Paragraphs(inlines, self._lists, marks=False)
            for element in self._package.root(where):
                key = f"{kind} {attribute(element, 'id')}"
                if NAMES[element.tag] == kind and key in called:
                    paras = [para for para in reader.read(element) if para.role not in ("gap", "remark")]
                    texts[key] = text_of(blocks_of(paras))
        return {
            key: Note(texts.get(source, ""), self._document.variables.get(key, ""))
            for key, source in self._document.notes.items()
        }

    @property
    def numbers(self) -> Mapping[str, int]:
        """The numbers of the comments that have a passage, by id."""
        return self._document.remarks

    def count(self, paras: Sequence[Para], about: _About, remarks: Mapping[str, Remark]) -> dict[str, int]:
        """What was found beside the text."""
        counts = dict(self._document.counts)
        cargo = cargo_of(self._package)
        counts |= {"macros": cargo.macros, "objects": cargo.objects, "external": cargo.external}
        called = {para.text for para in paras if para.role == "remark"}
        counts["remarks"] = len(called & remarks.keys())
        counts["wordless"] = len(called - remarks.keys())
        margins = [each for each in self._package.relations.values() if each.kind in ("header", "footer")]
        counts["margins"] = len(margins)
        if about.ours:
            counts["margins"] = counts["contents"] = 0
        return counts


def _told(counts: Mapping[str, int]) -> list[str]:
    told = [sentence.format(counts[name]) for name, sentence in _COUNTED if counts.get(name)]
    taken, left = counts.get("insertions", 0), counts.get("deletions", 0)
    if taken or left:
        told.append(f"Tracked changes: {taken:,} insertion(s) were taken, {left:,} deletion(s) left out.")
    return told


def _pictures_below(paras: list[Para]) -> list[Para]:
    """The paragraphs with the pictures that stand in a title or a heading below it."""
    made: list[Para] = []
    for para in paras:
        if para.role not in ("heading", *_FRONT) or "](image:" not in para.text:
            made.append(para)
            continue
        text = REFERENCE.sub("", para.text).strip()
        made += [replace(para, text=text, marked="")] if text else []
        made.append(Para(" ".join(found[0] for found in REFERENCE.finditer(para.text))))
    return made


def _without_front(paras: list[Para], about: _About) -> list[Para]:
    """The paragraphs without those of a title page; where several have the style of a title, they are headings."""
    titles = sum(para.role == "title" for para in paras)
    if titles > 1:
        return [replace(para, role="heading", level=1) if para.role == "title" else para for para in paras]
    number = 0
    while number < len(paras) and paras[number].role in (*_FRONT, "gap", "remark"):
        number += 1
    remarks = [para for para in paras[:number] if para.role == "remark"]
    front = {role: [one_line(para.text) for para in paras[:number] if para.role == role] for role in _FRONT}
    about.title = " ".join(front["title"])[:MAX_TITLE].strip() or about.title
    about.author = ", ".join(front["author"]) or about.author
    about.extra |= {role: " ".join(front[role]) for role in ("subtitle", "date") if front[role]}
    return [*remarks, *paras[number:]]


def _with_headings(paras: list[Para]) -> tuple[list[Para], str]:
    """A document without headings: lines that begin chapters, if there are several; and a sentence that says so."""
    found: dict[int, int] = {}
    for number, para in enumerate(paras):
        if not para.role and para.sign is None and not para.quote and len(para.text) <= _CHAPTER_LINE:
            line = chapter_line(para.text)
            if line is not None and line.kind in ("chapter", "part", "named"):
                found[number] = 1 if line.kind == "part" else 2
    if len(found) < 2:
        return paras, ""
    shallow = min(found.values())
    made = [
        replace(para, role="heading", level=found[number] - shallow + 1, text=para.text.strip("*"), marked="")
        if number in found
        else para
        for number, para in enumerate(paras)
    ]
    first = paras[min(found)].text.strip("*")
    return made, f"It has no headings: {len(found):,} lines such as {first!r} were taken as the titles of parts."


def _with_remarks(
    book: Manuscript,
    called: Sequence[Sequence[str]],
    marked: Sequence[str],
    remarks: Mapping[str, Remark],
    numbers: Mapping[str, int],
) -> Manuscript:
    """A book with its comments on the parts that call them.

    Args:
        book: without them.
        called: for each part the ids of its comments.
        marked: the texts of the parts with signs; where one is another text but for these, its comments are on all.
        remarks: the comments by id.
        numbers: id -> number, of those that have a passage.
    """
    chapters = []
    for index, (chapter, ids) in enumerate(zip(book.chapters, called, strict=True)):
        text = marked[index] if ids and len(marked) == len(called) else ""
        found = passages(text) if bare(text) == chapter.text else {}
        made = []
        for key in dict.fromkeys(ids):
            if key in remarks:
                start, end = found.get(numbers.get(key, -1), (0, 0))
                made.append(replace(remarks[key], start=start, end=end))
        chapters.append(replace(chapter, remarks=tuple(made)) if made else chapter)
    return replace(book, chapters=tuple(chapters))
