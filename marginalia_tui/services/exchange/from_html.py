"""A page of an EPUB to Markdown: a list of blocks in reading order.

Kept: text, headings, emphasis, hard breaks, scene breaks, quotes, lists, tables, code, notes, comments, links to the
web, and pictures where a mark for them is given; others are left out and counted. The parser expands no entity, loads
nothing, and forgives broken markup.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lxml import etree

from marginalia_tui.services.exchange.blocks import (
    JOINT,
    SCENE_BREAK,
    Block,
    comment,
    fenced,
    is_scene_break,
    pipe_table,
    prefixed,
    table_cell,
    text_of,
    with_scene_breaks,
)
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.epub_notes import CALLS, HOLDS, LABEL
from marginalia_tui.services.exchange.footnotes import Note, mark, place
from marginalia_tui.services.exchange.inline import SPACES, Piece, code_span, join, link
from marginalia_tui.services.exchange.markup import kinds_of, local_name, parse_markup, take_out

ITALIC = re.compile(r"font-style\s{0,9}:\s{0,9}(?:italic|oblique)")
BOLD = re.compile(r"font-weight\s{0,9}:\s{0,9}(?:bold|[6-9]00)")
_BLOCK = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt")
    + ("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup")
    + ("hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot")
    + ("th", "thead", "tr", "ul")
)
_DROPPED = frozenset(
    ("head", "script", "style", "template", "title", "meta", "link", "object", "embed", "iframe", "audio", "video")
    + ("canvas", "source", "track", "param", "rp", "map")
)
Marks = Callable[[str, str], str]
"""Where a picture is, and what it shows -> Markdown for it; empty when it is left out, which the giver counts."""
_PICTURES = frozenset(("img", "svg", "picture", "image"))
_EMPHASIS = {
    "em": "em", "i": "em", "cite": "em", "dfn": "em", "var": "em", "strong": "strong", "b": "strong",
    "s": "s", "del": "s", "strike": "s", "u": "u", "sub": "sub", "sup": "sup", "small": "small", "mark": "mark",
    "ins": "ins",
}  # fmt: skip


@dataclass(slots=True)
class Page:
    """What a page holds. `kinds` are the words of its outermost `epub:type` attributes."""

    blocks: list[Block] = field(default_factory=list)
    pictures: int = 0
    """How many were left out that the page does not name, such as drawings inside of it."""
    kinds: frozenset[str] = frozenset()
    notes: dict[str, Note] = field(default_factory=dict)
    """The notes on the page by key; a block that is a placeholder says where each stands."""


@dataclass(frozen=True, slots=True)
class Styles:
    """The classes whose style sheet makes text italic or bold."""

    italic: frozenset[str] = frozenset()
    bold: frozenset[str] = frozenset()


def read_page(text: str, name: str, styles: Styles, anchors: Iterable[str] = ()) -> Page:
    """Reads a page.

    Args:
        text: its markup.
        name: how the book is called in a sentence.
        styles: classes that stand for emphasis.
        anchors: ids whose places are wanted: a block with that `anchor` stands before the block that has it.

    Raises:
        Invalid: it is nested too deeply.
    """
    root = parse_markup(clean(text), name)
    return Page() if root is None else read_root(root, styles, anchors)


def read_root(
    root: Any,
    styles: Styles,
    anchors: Iterable[str] = (),
    mark_picture: Marks = lambda source, words: "",
    *,
    ours: bool = False,
) -> Page:
    """Reads a page that is parsed and in which the notes were looked for; see `read_page`.

    In a page that is `ours` each space and each end of a line is one of the book.
    """
    body = next((element for element in root.iter() if local_name(element) == "body"), root)
    reader = _Reader(styles, frozenset(anchors), mark_picture, ours=ours)
    blocks = reader.blocks(body)
    return Page(with_scene_breaks(blocks), reader.pictures, _kinds_at_top(body), reader.notes)


def _kinds_at_top(body: Any) -> frozenset[str]:
    found = kinds_of(body)
    element = body
    while len(children := [child for child in element if local_name(child)]) == 1:
        element = children[0]
        found |= kinds_of(element)
    return found


class _Reader:
    """Walks one page."""

    def __init__(self, styles: Styles, anchors: frozenset[str], mark_picture: Marks, *, ours: bool) -> None:
        self._styles = styles
        self._kind: Literal["exact", "text"] = "exact" if ours else "text"
        self._mark_picture = mark_picture
        self._anchors = anchors
        self.pictures = 0
        self.notes: dict[str, Note] = {}

    def blocks(self, element: Any) -> list[Block]:
        """The blocks inside of an element: its inline runs become paragraphs."""
        made: list[Block] = []
        run = self._pieces(element.text)
        for child in element:
            if self._is_block(child):
                self._end_paragraph(run, made)
                made += self._block(child)
            elif child.tag is etree.Comment and not _filled(run):
                made += self._comment(child)
            else:
                made += self._anchors_in(child)
                run += self._inline(child)
            run += self._pieces(child.tail)
        self._end_paragraph(run, made)
        return made

    @staticmethod
    def _end_paragraph(run: list[Piece], made: list[Block]) -> None:
        if text := join(run):
            made.append(Block(SCENE_BREAK if is_scene_break(text) else text))
        run.clear()

    def _is_block(self, element: Any) -> bool:
        name = local_name(element)
        if name in _BLOCK:
            return True
        return bool(name) and len(element) > 0 and any(local_name(inner) in _BLOCK for inner in element.iter())

    def _anchors_in(self, element: Any) -> list[Block]:
        if not self._anchors or not isinstance(element.tag, str):
            return []
        ids = [inner.get("id") or inner.get("name") for inner in element.iter() if isinstance(inner.tag, str)]
        return [Block("", anchor=each) for each in ids if each in self._anchors]

    def _block(self, element: Any) -> list[Block]:
        name = local_name(element)
        own = element.get("id")
        anchors = [Block("", anchor=own)] if own and own in self._anchors else []
        kinds = kinds_of(element)
        if name == "nav" and kinds & {"toc", "landmarks", "page-list"}:
            return anchors
        if name == "figcaption" and _says_the_same(element):
            return anchors
        if key := element.get(HOLDS):
            return [*anchors, replace(self._note(element, key), joint=_whole(element.get(JOINT), 2))]
        if name in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "table") or name in ("ul", "ol", "blockquote"):
            inner = [block for child in element for block in self._anchors_in(child)]
        else:
            inner = []
        made = self._converted(name, element)
        if made and element.get(JOINT):
            made[0] = replace(made[0], joint=_whole(element.get(JOINT), 2))
        return [*anchors, *inner, *made]

    def _converted(self, name: str, element: Any) -> list[Block]:
        if name in ("ul", "ol"):
            return self._list(element, ordered=name == "ol")
        if name == "blockquote":
            return _one(prefixed(text_of(self.blocks(element)), "> "))
        if name == "table":
            return self._table(element)
        if name == "pre":
            code = next((inner for inner in element if local_name(inner) == "code"), element)
            return _one(fenced("".join(element.itertext()).removesuffix("\n"), code.get("data-info") or ""))
        if name == "hr":
            return [Block(SCENE_BREAK)]
        if len(name) == 2 and name[0] == "h" and name[1].isdigit():
            pieces = self._inlines(element)
            text = join([piece for piece in pieces if not _is_mark(piece)]).replace("\\\n", " ").replace("\n", " ")
            heading = [Block(f"{'#' * int(name[1])} {text}", heading=int(name[1]))] if text else []
            return heading + _one(" ".join(piece.text for piece in pieces if _is_mark(piece)))
        made = self.blocks(element)
        if name == "p" and not any(block.text if self._kind == "exact" else block.text.strip() for block in made):
            return [Block("", gap=True)] if not any(local_name(inner) in _PICTURES for inner in element.iter()) else []
        return made

    def _note(self, element: Any, key: str) -> Block:
        for label in [inner for inner in element.iter() if _is_furniture(inner)]:
            take_out(label)
        label = element.get(LABEL) or note_label(element.get("id") or "")
        del element.attrib[HOLDS]
        inner = self._block(element) if local_name(element) == "p" else self.blocks(element)
        self.notes[key] = Note(text_of(inner), label)
        return Block(place(key))

    def _list(self, element: Any, *, ordered: bool) -> list[Block]:
        lines: list[str] = []
        number = _whole(element.get("start"), 1)
        loose = any(local_name(inner) == "p" for child in element for inner in child)
        for child in element:
            if not isinstance(child.tag, str):
                continue
            number = _whole(child.get("value"), number)
            marker = f"{number}. " if ordered else "- "
            blocks = self.blocks(child) if local_name(child) == "li" else self._block(child)
            text = text_of(blocks, "\n\n" if loose else "\n")
            if lines and loose:
                lines.append("")
            lines.append(marker + prefixed(text, " " * len(marker))[len(marker) :])
            number += 1
        return _one("\n".join(lines))

    def _table(self, element: Any) -> list[Block]:
        rows: list[list[str]] = []
        aligned: list[str] = []
        captions = [inner for inner in element if local_name(inner) == "caption"]
        made = [block for caption in captions for block in self.blocks(caption)]
        for row in (inner for inner in element.iter() if local_name(inner) == "tr"):
            cells = [cell for cell in row if local_name(cell) in ("td", "th")]
            if not rows:
                aligned = [_alignment(cell) for cell in cells]
            rows.append([table_cell(self.blocks(cell)) for cell in cells])
        width = max(map(len, rows), default=0)
        if width == 1:
            cells = [cell for cell in element.iter() if local_name(cell) in ("td", "th")]
            return made + [block for cell in cells for block in self.blocks(cell)]
        if width:
            made.append(Block(pipe_table(rows, aligned)))
        return made

    @staticmethod
    def _comment(element: Any) -> list[Block]:
        text = (element.text or "").strip(SPACES)
        return [Block(comment(text))] if text else []

    def _inlines(self, element: Any) -> list[Piece]:
        made = self._pieces(element.text)
        for child in element:
            made += self._inline(child)
            made += self._pieces(child.tail)
        return made

    def _pieces(self, text: str | None) -> list[Piece]:
        return [Piece(self._kind, text)] if text else []

    def _inline(self, element: Any) -> list[Piece]:
        if not isinstance(element.tag, str):
            return self._no_element(element)
        name = local_name(element)
        if name in _PICTURES or name in _DROPPED:
            return self._picture(element) if name in _PICTURES else []
        if name == "br":
            return [Piece("break")]
        if name == "a":
            return self._link(element)
        if name in ("code", "tt", "kbd", "samp"):
            return [Piece("raw", code)] if (code := code_span("".join(element.itertext()))) else []
        inner = self._inlines(element)
        if name == "q":
            return [Piece("text", "\u201c"), *inner, Piece("text", "\u201d")]
        if name == "rt":
            return [Piece("text", "("), *inner, Piece("text", ")")]
        for sign in self._marks(name, element):
            inner = [Piece("open", sign), *inner, Piece("close", sign)]
        return inner

    def _no_element(self, element: Any) -> list[Piece]:
        if element.tag is etree.Comment:
            return [Piece("raw", block.text.replace("\n", " ")) for block in self._comment(element)]
        if element.tag is etree.Entity:
            return [Piece("text", element.text)]
        return []

    def _picture(self, element: Any) -> list[Piece]:
        """The picture of an element, or those inside of a drawing; a drawing without any is left out."""
        found = [inner for inner in element.iter() if local_name(inner) in ("img", "image")]
        marks = []
        for each in found:
            source = next((value for name, value in each.attrib.items() if name.endswith(("src", "href"))), "").strip()
            if source:
                marks.append(self._mark_picture(source, each.get("alt") or ""))
        self.pictures += not marks
        return [Piece("raw", each) for each in marks if each]

    def _marks(self, name: str, element: Any) -> Iterator[str]:
        if name in _EMPHASIS:
            yield _EMPHASIS[name]
            return
        style = element.get("style") or ""
        classes = frozenset((element.get("class") or "").split())
        if ITALIC.search(style) or classes & self._styles.italic:
            yield "em"
        if BOLD.search(style) or classes & self._styles.bold:
            yield "strong"

    def _link(self, element: Any) -> list[Piece]:
        target = (element.get("href") or "").strip()
        if key := element.get(CALLS):
            return [Piece("raw", mark(key))]
        if kinds_of(element) & {"backlink", "referrer"}:
            return []
        inner = self._inlines(element)
        if "".join(element.itertext()) == target:
            inner = [Piece("text", target)]
        return link(target, inner, title=element.get("title") or "")


def note_label(anchor: str) -> str:
    """The label of a note that nothing calls, from the id of its element; our own ids are `fn-` and the label."""
    return re.sub(r"[^\w.-]+", "-", anchor.removeprefix("fn-")) or "note"


def _is_mark(piece: Piece) -> bool:
    return piece.kind == "raw" and piece.text.startswith("![")


def _says_the_same(caption: Any) -> bool:
    """Whether the caption of a figure says what its picture says of itself."""
    figure = caption.getparent()
    words = " ".join("".join(caption.itertext()).split())
    pictures = [inner for inner in figure.iter() if local_name(inner) == "img"] if figure is not None else []
    return any(words == " ".join((each.get("alt") or "").split()) for each in pictures)


def _filled(run: list[Piece]) -> bool:
    return any(piece.kind == "break" or piece.text.strip(SPACES) for piece in run)


def _is_furniture(element: Any) -> bool:
    """The number of a note and the way back, which a reading program shows and a manuscript does not need."""
    if not isinstance(element.tag, str):
        return False
    return bool(kinds_of(element) & {"backlink", "referrer"}) or element.get("class") == "footnote-label"


def _one(text: str) -> list[Block]:
    return [Block(text)] if text else []


def _whole(value: str | None, otherwise: int) -> int:
    return int(value) if value and re.fullmatch(r"\d{1,9}", value) else otherwise


def _alignment(cell: Any) -> str:
    found = f"{cell.get('style') or ''} {cell.get('align') or ''}"
    left, right = "left" in found or "center" in found, "right" in found or "center" in found
    return f"{':' if left else '-'}-{':' if right else '-'}"
