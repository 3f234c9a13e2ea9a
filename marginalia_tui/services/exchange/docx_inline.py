"""The inside of the paragraphs of a DOCX: runs with their marks, links, fields, notes, what was tracked.

Insertions are taken, deletions are left out; hidden text becomes a comment; a picture becomes the mark that is given
for it; embedded objects and what stands outside of the document are counted and left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.services.exchange.docx_line import Line
from marginalia_tui.services.exchange.docx_package import Relation
from marginalia_tui.services.exchange.docx_remarks import MOST
from marginalia_tui.services.exchange.docx_static import NOTE_MARK, NOTE_PLACE
from marginalia_tui.services.exchange.docx_styles import NAMES, Styles, attribute, child, value, whole, with_properties
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.footnotes import mark
from marginalia_tui.services.exchange.inline import Piece

_OF_PICTURE = ("blip", "imagedata")
_WRAPPERS = frozenset(
    ("smarttag", "sdt", "sdtcontent", "customxml", "dir", "bdo", "ins", "moveto", "rubybase", "omathpara", "omath")
)
_HYPERLINK = re.compile(
    r"\s*HYPERLINK\s+(?:\\[a-z]\s+)*\"([^\"]{1,4000})\"(?:.*\\o\s+\"([^\"]{0,4000})\")?", re.IGNORECASE
)
_NOTE_REFERENCE = re.compile(r"\s*NOTEREF\s+(\S{1,80})", re.IGNORECASE)


@dataclass(slots=True)
class _Field:
    """A field that is open."""

    code: list[str] = field(default_factory=list)
    """What it does, in the pieces that were read."""
    begun: bool = False
    """Whether its result has begun, which is text."""
    address: tuple[str, str] = ("", "")
    """Of a link: where it leads, and its title."""
    line: Line | None = None
    """Of a link: what its result is read into."""
    note: str = ""
    """The key of the note that it is a mark of; its result is no text then."""


@dataclass(slots=True)
class Document:
    """What the stories of a document (the text, its notes) share."""

    styles: Styles
    variables: Mapping[str, str]
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, str] = field(default_factory=dict)
    """Key of a note that is called -> `footnote 3` or `endnote 3`."""
    named: dict[str, str] = field(default_factory=dict)
    """Bookmark around the mark of a note -> its key."""
    remarks: dict[str, int] = field(default_factory=dict)
    """Id of a comment -> its number, of those that have a passage."""
    ours: bool = False
    """Whether the studio wrote it: then each space in it is one of the book."""
    picture: Callable[[Relation, str], str] = lambda relation, words: ""
    """Where a picture is, and what it shows -> Markdown for it; empty when it is left out, which the giver counts."""


class Inlines:
    """Reads the inside of the paragraphs of one story, in order: a field may go on in the next paragraph."""

    def __init__(self, document: Document, relations: Mapping[str, Relation]) -> None:
        self.document = document
        self.relations = relations
        self._fields: list[_Field] = []
        self._bookmarks: dict[str, str] = {}
        self._base: frozenset[str] = frozenset()
        self._verbatim = False
        self._deepest = 0
        self.boxes: list[Any] = []
        """Text boxes of the paragraph, to be read after it."""
        self.remarks: list[str] = []
        """Ids of the comments of the paragraph."""
        self.bookmarks: list[str] = []
        """Names of the bookmarks that begin in the paragraph."""
        self.furniture = False
        """Whether the paragraph has something that is no text: a picture, a page break, a field."""
        self.rule = False
        """Whether the paragraph has a drawn line."""

    def read(self, element: Any, marks: frozenset[str], *, code: bool = False) -> list[Piece]:
        """The pieces of a paragraph; what is beside its text stands in the attributes.

        Args:
            element: the paragraph.
            marks: those of its style.
            code: it is code as a whole, so no run of it is for itself.
        """
        self.boxes, self.remarks, self.bookmarks = [], [], []
        self.furniture = self.rule = False
        self._base, self._verbatim = marks, code
        line = Line()
        self._inside(element, line)
        for each in self._fields:
            # A field that goes on in the next paragraph is text from here: one that never ends hides nothing.
            if each.note:
                line.put(Piece("raw", mark(each.note)))
            elif each.line is not None:
                line.end()
                line.pieces += each.line.end()
            each.begun, each.line, each.note = True, None, ""
        return line.end()

    def _inside(self, element: Any, line: Line) -> None:
        for inner in element:
            name = NAMES[inner.tag]
            if name == "r":
                self._run(inner, line)
            elif name == "hyperlink":
                self._hyperlink(inner, line)
            elif name in _WRAPPERS:
                self.document.counts["insertions"] += name in ("ins", "moveto")
                self._inside(inner, line)
            elif name in ("del", "movefrom"):
                self.document.counts["deletions"] += 1
            elif name == "fldsimple":
                self._simple_field(inner, line)
            elif name == "bookmarkstart":
                self._bookmarks[attribute(inner, "id")] = attribute(inner, "name")
                self.bookmarks.append(attribute(inner, "name"))
            elif name == "bookmarkend":
                self._bookmarks.pop(attribute(inner, "id"), None)
            elif name == "alternatecontent":
                self._inside(_alternative(inner), line)
            elif name in ("commentrangestart", "commentrangeend"):
                self.comment_range(name, attribute(inner, "id"), self._target(line))
            elif name not in ("ppr", "rpr") and len(inner) and _is_math(inner):
                self._inside(inner, line)

    def comment_range(self, name: str, key: str, line: Line) -> None:
        """Where a comment begins or ends."""
        known = self.document.remarks
        if len(known) < MOST or key in known:
            line.anchor(known.setdefault(key, len(known)), end=name == "commentrangeend")

    def _target(self, line: Line) -> Line:
        """Where text goes: into the link whose result is being read, else into the paragraph."""
        for each in reversed(self._fields):
            if each.line is not None:
                return each.line
        return line

    def _run(self, element: Any, line: Line) -> None:
        marks, code, soft = self._base, False, False
        for inner in element:
            name = NAMES[inner.tag]
            if name == "t":
                if inner.text and not (self._fields and self._quiet()):
                    # What can be printed has nothing to clean: asking is ten times as fast.
                    text = inner.text if inner.text.isprintable() else clean(inner.text)
                    target = self._target(line) if self._fields else line
                    if soft and text == " ":
                        target.put(Piece("soft"), marks)
                    else:
                        target.add(text, marks, code=code, exact=self.document.ours)
            elif name == "rpr":
                marks, code, soft = self._marks(inner)
            elif name in ("br", "cr"):
                if attribute(inner, "type") in ("page", "column"):
                    self.furniture = True
                elif not self._quiet():
                    self._break(line, marks, code=code)
            elif name in ("tab", "ptab"):
                self._target(line).add("\t", marks, code=code)
            elif name == "fldchar":
                self._field(attribute(inner, "fldCharType"), line)
            elif name == "instrtext":
                if self._fields:
                    self._fields[-1].code.append(inner.text or "")
            else:
                self._rare(name, inner, line, marks)

    def _break(self, line: Line, marks: frozenset[str], *, code: bool) -> None:
        if code or "hidden" in marks:
            self._target(line).add(" ", marks, code=code)
        else:
            self._target(line).put(Piece("break"), marks - {"sup", "sub", "u"})

    def _rare(self, name: str, element: Any, line: Line, marks: frozenset[str]) -> None:
        if name in ("footnotereference", "endnotereference"):
            self._note(name.removesuffix("reference"), attribute(element, "id"), line, marks)
        elif name == "nobreakhyphen":
            self._target(line).add("\u2011", marks)
        elif name == "softhyphen":
            self._target(line).add("\u00ad", marks)
        elif name == "sym":
            self._symbol(element, line, marks)
        elif name in ("drawing", "pict", "object"):
            self._drawing(name, element, line)
        elif name == "alternatecontent":
            for inner in _alternative(element):
                self._rare(NAMES[inner.tag], inner, line, marks)
        elif name == "ruby":
            self._ruby(element, line)
        elif name == "commentreference":
            self.remarks.append(attribute(element, "id"))

    def _marks(self, properties: Any) -> tuple[frozenset[str], bool, bool]:
        """The marks of a run, whether it is code, and whether it is the end of a line of Markdown."""
        marks, code, soft = self._base, False, False
        if (named := child(properties, "rstyle")) is not None:
            style = self.document.styles.get(value(named))
            code = style.role == "code" and not self._verbatim
            soft = style.role == "soft"
            # A mark of the paragraph's style and the same one of the run's take each other off.
            marks = marks ^ style.marks
        return with_properties(marks, properties), code, soft

    def _quiet(self) -> bool:
        """Whether what comes is the code of a field, or the mark of a note that is known."""
        return any(not each.begun or each.note for each in self._fields)

    def _field(self, kind: str, line: Line) -> None:
        self.furniture = True
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            current = self._fields[-1]
            code = "".join(current.code)
            current.begun = True
            if found := _HYPERLINK.match(code):
                current.address, current.line = (found[1], found[2] or ""), Line()
            elif (found := _NOTE_REFERENCE.match(code)) and found[1] in self.document.named:
                current.note = self.document.named[found[1]]
        elif kind == "end" and self._fields:
            done = self._fields.pop()
            if done.note:
                self._target(line).put(Piece("raw", mark(done.note)))
            elif done.line is not None:
                address, title = done.address
                self._target(line).link(address, done.line.end(), title)

    def _simple_field(self, element: Any, line: Line) -> None:
        code = attribute(element, "instr")
        if (found := _NOTE_REFERENCE.match(code)) and found[1] in self.document.named:
            self._target(line).put(Piece("raw", mark(self.document.named[found[1]])))
            return
        address = _HYPERLINK.match(code)
        self._linked(element, line, address[1] if address else "", "")

    def _hyperlink(self, element: Any, line: Line) -> None:
        relation = self.relations.get(attribute(element, "id"))
        address = relation.target if relation and relation.external and relation.kind == "hyperlink" else ""
        anchor = attribute(element, "anchor")
        address = f"{address}#{anchor}" if address and anchor and "#" not in address else address
        self._linked(element, line, address, attribute(element, "tooltip"))

    def _linked(self, element: Any, line: Line, address: str, title: str) -> None:
        if not address.lower().startswith(("http://", "https://", "mailto:")):
            self._inside(element, line)
            return
        inner = Line()
        base, self._base = self._base, frozenset()
        fields, self._fields = self._fields, []
        self._inside(element, inner)
        self._base, self._fields = base, fields
        target = self._target(line)
        pieces = [piece for piece in inner.end() if piece.kind in ("text", "raw", "link", "break") or piece.text != "u"]
        target.link(address, pieces, title)

    def _note(self, kind: str, number: str, line: Line, marks: frozenset[str]) -> None:
        around = next((name for name in self._bookmarks.values() if name.startswith(NOTE_MARK)), "")
        key = around or f"{kind} {number}"
        if self.document.notes.setdefault(key, f"{kind} {number}") != f"{kind} {number}":
            key = f"{kind} {number}"
            self.document.notes[key] = key
        for name in self._bookmarks.values():
            self.document.named.setdefault(name, key)
        self._target(line).put(Piece("raw", mark(key)), marks - {"sup", "sub", "hidden", "u"})

    def _symbol(self, element: Any, line: Line, marks: frozenset[str]) -> None:
        """A sign of a font of signs: what it shows is not known, unless its code is that of a character."""
        code = attribute(element, "char")
        number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", code) else 0
        if number < 0x20 or 0xD800 <= number <= 0xF8FF:
            self.document.counts["signs"] += 1
        else:
            self._target(line).add(clean(chr(number)), marks)

    def _drawing(self, name: str, element: Any, line: Line) -> None:
        self.furniture = True
        inside = [(NAMES[inner.tag], inner) for inner in element.iter()]
        boxes = [inner for tag, inner in inside if tag == "txbxcontent"]
        if name == "pict" and any(
            attribute(inner, "hr") in ("t", "true", "1") for tag, inner in inside if tag == "rect"
        ):
            self.rule = True
        elif boxes:
            # A box in a box is read with the outer one.
            self.boxes += [
                box for box in boxes if not any(NAMES[up.tag] == "txbxcontent" for up in box.iterancestors())
            ]
        elif name != "object":
            self._picture(inside, line)

    def _picture(self, inside: list[tuple[str, Any]], line: Line) -> None:
        """The pictures of a drawing; a drawing of lines alone is left out."""
        words = next((found for tag, each in inside if tag == "docpr" and (found := attribute(each, "descr"))), "")
        keys = [attribute(each, "embed" if tag == "blip" else "id") for tag, each in inside if tag in _OF_PICTURE]
        relations = [self.relations[key] for key in keys if key in self.relations]
        if not relations or self._verbatim:
            self.document.counts["pictures"] += 1
            return
        for relation in relations:
            if mark_of_it := self.document.picture(relation, clean(words)):
                self._target(line).put(Piece("raw", mark_of_it))

    def _ruby(self, element: Any, line: Line) -> None:
        """Signs with their reading: the reading follows in brackets."""
        base, reading = child(element, "rubybase"), child(element, "rt")
        if base is not None:
            self._inside(base, line)
        text = (
            "".join(inner.text or "" for inner in reading.iter() if NAMES[inner.tag] == "t")
            if reading is not None
            else ""
        )
        if text:
            self._target(line).add(f"({clean(text)})", self._base)


def placed_note(bookmark: str) -> str:
    """The key of the note whose text stands at a bookmark, empty for other bookmarks."""
    number = bookmark.removeprefix(NOTE_PLACE)
    return f"{NOTE_MARK}{number}" if number != bookmark and whole(number, -1) >= 0 else ""


def _alternative(element: Any) -> Any:
    """Of several ways to draw the same thing the first, which the newest program would take."""
    for inner in element:
        if NAMES[inner.tag] == "choice" and len(inner):
            return inner
    fallback = child(element, "fallback")
    return fallback if fallback is not None else ()


def _is_math(element: Any) -> bool:
    return isinstance(element.tag, str) and element.tag.startswith("{") and "/math}" in element.tag
