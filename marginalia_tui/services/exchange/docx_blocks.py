"""The paragraphs of a DOCX as Markdown: headings, quotes, lists, code, tables, scene breaks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from marginalia_tui.services.exchange.blocks import (
    SCENE_BREAK,
    Block,
    fenced,
    is_scene_break,
    pipe_table,
    prefixed,
    table_cell,
    text_of,
)
from marginalia_tui.services.exchange.docx_inline import Inlines, placed_note
from marginalia_tui.services.exchange.docx_line import Line
from marginalia_tui.services.exchange.docx_remarks import bare, moved
from marginalia_tui.services.exchange.docx_static import JOINT_MARK, PART_MARK, TEXT_MARK
from marginalia_tui.services.exchange.docx_styles import (
    NAMES,
    Lists,
    Style,
    attribute,
    child,
    list_of,
    outline_level,
    value,
    whole,
)
from marginalia_tui.services.exchange.footnotes import place
from marginalia_tui.services.exchange.headings import MARK, MARK_UNTITLED
from marginalia_tui.services.exchange.inline import Piece, join
from marginalia_tui.services.exchange.manuscript import MAX_TITLE

_PART = re.compile(rf"(?:{PART_MARK}|{TEXT_MARK})\d{{1,9}}$")
_JOINT = re.compile(rf"{JOINT_MARK}(\d{{1,3}})_\d{{1,9}}$")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_SIGN = re.compile(r"(?:\\?#[ \xa0]*){1,3}$")
_HIDDEN = re.compile(r"(?:<!-- .*? -->\s*)+$")


@dataclass(frozen=True, slots=True)
class Para:
    """A paragraph. `text` is Markdown, but for code, where it is what stands there."""

    text: str
    role: str = ""
    """Empty for text, else a role of `Style`, `gap` (nothing in it), `raw` (Markdown that is whole) or `remark`.

    A `joint` says of the next paragraph by how many line ends (its level) it follows the one before.
    """
    level: int = 0
    """Of a heading; of a list item how deep it is, -1 when it goes on with the item before at a depth not known."""
    quote: int = 0
    sign: str | None = None
    """Before a list item `-` or a number, empty for what goes on with the item before, None outside of lists."""
    loose: bool = False
    """Of a list item: whether it stands away from the one before."""
    side: str = ""
    """Where its lines begin, as a table says it: `:--`, `:-:` or `--:`; empty when it does not say."""
    marked: str = ""
    """The text with the signs of the comments on it; empty when there are none."""


class Paragraphs:
    """Reads the paragraphs of one story (the text, a note) in order.

    Args:
        inlines: reads what is inside of them.
        lists: counts the lists of the document.
        marks: whether the marks of parts are heeded.
    """

    def __init__(self, inlines: Inlines, lists: Lists, *, marks: bool) -> None:
        self._inlines = inlines
        self._document = inlines.document
        self._lists = lists
        self._marks = marks
        self._carried: list[Piece] = []

    def read(self, element: Any) -> list[Para]:
        """The paragraphs inside of an element, those of its tables and text boxes too."""
        made: list[Para] = []
        for inner in element:
            name = NAMES[inner.tag]
            if name == "p":
                self._paragraph(inner, made)
            elif name == "tbl":
                made += self._table(inner)
            elif name == "sdt" and _is_contents(inner):
                found = self.read(child(inner, "sdtcontent") if child(inner, "sdtcontent") is not None else ())
                self._document.counts["contents"] += sum(para.role != "gap" for para in found)
            elif name in ("sdt", "sdtcontent", "customxml", "ins", "moveto"):
                made += self.read(inner)
            elif name in ("del", "movefrom"):
                self._document.counts["deletions"] += 1
            elif name == "bookmarkstart":
                made += self._at_bookmarks([attribute(inner, "name")])
            elif name == "alternatecontent":
                made += self.read(child(inner, "choice") if child(inner, "choice") is not None else ())
            elif name in ("commentrangestart", "commentrangeend"):
                line = Line()
                self._inlines.comment_range(name, attribute(inner, "id"), line)
                self._carried += line.pieces
        return made

    def _at_bookmarks(self, names: Iterable[str]) -> Iterator[Para]:
        for name in names:
            if key := placed_note(name):
                yield Para(place(key), "raw")
            elif joint := _JOINT.match(name):
                yield Para("", "joint", int(joint[1]))
            elif self._marks and _PART.match(name):
                yield Para(MARK if name.startswith(PART_MARK) else MARK_UNTITLED, "raw")

    def _paragraph(self, element: Any, made: list[Para]) -> None:
        properties = child(element, "ppr")
        style = self._style(properties)
        inlines = self._inlines
        code = style.role in ("code", "lines")
        pieces = self._carried + inlines.read(element, frozenset() if style.role else style.marks, code=code)
        self._carried = []
        boxes, remarks, bookmarks = inlines.boxes, inlines.remarks, inlines.bookmarks
        run = child(properties, "rpr") if properties is not None else None
        if run is not None and child(run, "del") is not None and NAMES[element.getparent().tag] == "body":
            # The end of the paragraph was deleted: its text goes on in the next one.
            self._carried = pieces
        else:
            made += self._at_bookmarks(bookmarks)
            anchors = [piece for piece in pieces if piece.kind == "anchor"]
            shown = [piece for piece in pieces if piece.kind != "anchor"] if anchors else pieces
            para = self._made(style, properties, shown)
            if anchors and para is not None and para.text:
                para = replace(para, marked=_marked(para, pieces))
            elif anchors:
                self._carried = anchors
            if para is not None:
                made.append(replace(para, side=side) if (side := _side(properties)) else para)
        made += (Para(remark, "remark") for remark in remarks)
        for box in boxes:
            self._document.counts["boxes"] += 1
            made += Paragraphs(Inlines(self._document, inlines.relations), self._lists, marks=False).read(box)

    def _style(self, properties: Any) -> Style:
        styles = self._document.styles
        named = child(properties, "pstyle") if properties is not None else None
        style = styles.get(value(named) if named is not None else styles.normal)
        if properties is None:
            return style
        level = outline_level(properties)
        if level and not style.role:
            style = replace(style, role="heading", level=level)
        return replace(style, placed=list_of(properties, style.placed))

    def _made(self, style: Style, properties: Any, pieces: list[Piece]) -> Para | None:
        if style.role in ("code", "lines"):
            text = _verbatim(pieces)
            return Para(text, style.role) if text.strip() else None
        if style.role == "contents":
            self._document.counts["contents"] += any(piece.text.strip() for piece in pieces)
            return None
        heading = style.role == "heading"
        text = join(_not_all_bold(pieces) if heading else pieces)
        if heading and len(text) > MAX_TITLE:
            heading, style = False, replace(style, role="")
        if heading:
            return self._heading(style, text)
        quote = style.level if style.role == "quote" else 0
        if style.placed is not None:
            key, level = style.placed
            return Para(text, "", level, quote, self._lists.mark(key, level), loose=_stands_away(properties))
        return self._text(style, properties, text, quote) if text else self._empty(style, properties, quote)

    @staticmethod
    def _text(style: Style, properties: Any, text: str, quote: int) -> Para:
        if is_scene_break(text) or _SIGN.match(text):
            return Para(SCENE_BREAK, "raw", quote=quote)
        if style.role == "continued":
            return Para(text, "", _depth(properties), quote, "")
        if _HIDDEN.match(text):
            return Para(text, "raw", quote=quote)
        return Para(text, "" if style.role in ("quote", "break") else style.role, quote=quote)

    def _heading(self, style: Style, text: str) -> Para | None:
        text = text.replace("\\\n", " ")
        if style.placed is not None:
            label = self._lists.label(*style.placed)
            if label and (not text or re.search(r"[^\W\d_]{2}", label)):
                text = f"{label}: {text}" if text else label
        return Para(text, "heading", min(style.level, 6)) if text else None

    def _empty(self, style: Style, properties: Any, quote: int) -> Para | None:
        """A paragraph without text: a scene break where it is drawn or named as one, else a gap or nothing."""
        bordered = child(properties, "pbdr") if properties is not None else None
        if (
            self._inlines.rule
            or style.role == "break"
            or (bordered is not None and child(bordered, "bottom") is not None)
        ):
            return Para(SCENE_BREAK, "raw", quote=quote)
        if self._inlines.furniture or quote:
            return None
        page = child(properties, "pagebreakbefore") if properties is not None else None
        run = child(properties, "rpr") if properties is not None else None
        hidden = run is not None and child(run, "vanish") is not None
        section = properties is not None and child(properties, "sectpr") is not None
        return None if page is not None or hidden or section else Para("", "gap")

    def _table(self, element: Any) -> list[Para]:
        """A table: rows of Markdown where each cell is one paragraph, else its paragraphs one after the other."""
        rows: list[list[list[Para]]] = []
        nested = False
        remarks: list[Para] = []
        for row in _rows(element):
            cells: list[list[Para]] = []
            for cell in (inner for inner in _unwrapped(row) if NAMES[inner.tag] == "tc"):
                nested = nested or any(NAMES[inner.tag] == "tbl" for inner in cell)
                inside = [para for para in self.read(cell) if para.role != "gap"]
                remarks += (para for para in inside if para.role == "remark")
                cells.append([para for para in inside if para.role != "remark"])
            rows.append(cells)
        width = max(map(len, rows), default=0)
        simple = all(
            len(cell) <= 1 and all(not para.role and not para.quote and para.sign is None for para in cell)
            for cells in rows
            for cell in cells
        )
        if width > 1 and simple and not nested:
            lines = [[table_cell([Block(para.text) for para in cell]) for cell in cells] for cells in rows]
            marked = [
                [table_cell([Block(para.marked or para.text) for para in cell]) for cell in cells] for cells in rows
            ]
            sides = [cell[0].side if cell and cell[0].side else "---" for cell in rows[0]]
            with_signs = pipe_table(marked, sides) if marked != lines else ""
            return [Para(pipe_table(lines, sides), "raw", marked=with_signs), *remarks]
        if width:
            self._document.counts["tables"] += 1
        return [*(para for cells in rows for cell in cells for para in cell), *remarks]


def _is_contents(element: Any) -> bool:
    properties = child(element, "sdtpr")
    for inner in properties.iter() if properties is not None else ():
        if NAMES[inner.tag] == "docpartgallery":
            return value(inner) == "Table of Contents"
    return False


def _rows(table: Any) -> Iterator[Any]:
    """The rows of a table; those that were deleted are left out."""
    for row in _unwrapped(table):
        if NAMES[row.tag] == "tr":
            properties = child(row, "trpr")
            if properties is None or child(properties, "del") is None:
                yield row


def _unwrapped(element: Any) -> Iterator[Any]:
    """The children of an element, those inside of controls and the like in the place of these."""
    for inner in element:
        if NAMES[inner.tag] in ("sdt", "sdtcontent", "customxml"):
            yield from _unwrapped(inner)
        else:
            yield inner


def _not_all_bold(pieces: list[Piece]) -> list[Piece]:
    """A heading without the bold that only its look has."""
    bold = [number for number, piece in enumerate(pieces) if piece.kind in ("open", "close") and piece.text == "strong"]
    outside = [piece for piece in (*pieces[: bold[0]], *pieces[bold[-1] :]) if piece.text.strip()] if bold else []
    if len(bold) == 2 and all(piece.kind in ("open", "close") for piece in outside):
        return [piece for number, piece in enumerate(pieces) if number not in bold]
    return pieces


def _verbatim(pieces: list[Piece]) -> str:
    text = "".join(
        "\n" if piece.kind == "break" else piece.text for piece in pieces if piece.kind not in ("open", "close")
    )
    return text.replace("\xa0", " ")


def _marked(para: Para, pieces: list[Piece]) -> str:
    """The text of a paragraph with signs: where they stand. A title has none."""
    if para.role == "heading":
        return ""
    joined = _verbatim if para.role in ("code", "lines") else join
    kind: Literal["exact", "text"] = "exact" if any(piece.kind == "exact" for piece in pieces) else "text"
    text = joined([Piece(kind, piece.text) if piece.kind == "anchor" else piece for piece in pieces])
    return text if bare(text) == para.text else moved(text, para.text)


def _depth(properties: Any) -> int:
    """How deep the item is that a paragraph goes on with, by its indent; -1 when that is not said."""
    indent = child(properties, "ind") if properties is not None else None
    left = attribute(indent, "left") or attribute(indent, "start") if indent is not None else ""
    return max(whole(left, 720) // 720 - 1, 0) if left else -1


_SIDES = {"left": ":--", "start": ":--", "center": ":-:", "right": "--:", "end": "--:"}


def _side(properties: Any) -> str:
    """How the lines of a paragraph are aligned, if its own properties say it."""
    aligned = child(properties, "jc") if properties is not None else None
    return _SIDES.get(value(aligned), "") if aligned is not None else ""


def _stands_away(properties: Any) -> bool:
    """Whether an item of a list has its space although the one before it is of the same style."""
    spacing = child(properties, "contextualspacing") if properties is not None else None
    return spacing is not None and value(spacing).lower() in ("0", "false", "off")


def blocks_of(paras: list[Para]) -> list[Block]:
    """The blocks of Markdown that paragraphs make. A remark stands after the block in which it was."""
    made: list[Block] = []
    number = 0
    joint = 2
    while number < len(paras):
        para = paras[number]
        end, first = number + 1, len(made)
        if para.role == "joint":
            joint, number = para.level, end
            continue
        if para.quote:
            end = _end_of(paras, number, lambda each: each.quote > 0)
            inner = [replace(each, quote=each.quote - 1) for each in paras[number:end] if each.role != "remark"]
            made.append(Block(prefixed(text_of(blocks_of(inner)), "> ")))
        elif para.sign is not None:
            end = _end_of(paras, number, lambda each: each.sign is not None and not each.quote)
            made.append(Block(_list([each for each in paras[number:end] if each.role != "remark"])))
        elif para.role == "lines":
            end = _end_of(paras, number, lambda each: each.role == "lines")
            made.append(Block(fenced("\n".join(each.text for each in paras[number:end] if each.role == "lines"))))
        else:
            made.append(_block(para))
        made[first], joint = replace(made[first], joint=joint), 2
        if end > number + 1:
            made += (Block(_remark(each)) for each in paras[number:end] if each.role == "remark")
        number = end
    return made


def _end_of(paras: list[Para], start: int, belongs: Any) -> int:
    """Where a run of paragraphs of one kind ends; remarks within belong to it."""
    end = last = start + 1
    while end < len(paras) and (belongs(paras[end]) or paras[end].role == "remark"):
        end += 1
        if belongs(paras[end - 1]):
            last = end
    return last


def _block(para: Para) -> Block:
    if para.role == "heading":
        # A last number sign would be read as the end of the heading: one more is.
        closing = " #" if para.text.endswith("#") else ""
        return Block(f"{'#' * para.level} {para.text}{closing}", heading=para.level)
    if para.role == "gap":
        return Block("", gap=True)
    if para.role == "remark":
        return Block(_remark(para))
    if para.role == "code":
        found = _FENCE.match(para.text)
        whole_fence = found is not None and para.text.endswith(f"\n{found[1]}")
        return Block(para.text if whole_fence else fenced(para.text))
    return Block(para.text)


REMARK = "\0remark "
"""Begins the block that stands for a comment; its id and a NUL follow."""


def _remark(para: Para) -> str:
    return f"{REMARK}{para.text}\0"


def _list(paras: list[Para]) -> str:
    lines: list[str] = []
    above: list[tuple[int, int]] = []
    for para in paras:
        if para.sign:
            lines += [""] if para.loose and above and above[-1][0] >= para.level else []
            while above and above[-1][0] >= para.level:
                above.pop()
            indent = " " * sum(width for _, width in above)
            marker = f"{para.sign} "
            above.append((para.level, len(marker)))
            lines.append(
                indent + (marker + prefixed(para.text, " " * (len(indent) + len(marker))).lstrip(" ")).rstrip(" ")
            )
        else:
            while len(above) > 1 and 0 <= para.level < above[-1][0]:
                above.pop()
            lines += ["", prefixed(para.text, " " * sum(width for _, width in above))]
    return "\n".join(lines).lstrip("\n")
