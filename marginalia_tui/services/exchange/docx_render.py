"""The body of a DOCX from the texts of a book: paragraphs with their styles, lists, tables, footnotes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from marginalia_tui.domain.items import Image
from marginalia_tui.services.exchange.blocks import SCENE_BREAK, fenced
from marginalia_tui.services.exchange.docx_media import Media
from marginalia_tui.services.exchange.docx_notes import BookNotes, Key
from marginalia_tui.services.exchange.docx_remarks import Placer
from marginalia_tui.services.exchange.docx_runs import code_lines, comment_mark, run, runs
from marginalia_tui.services.exchange.docx_static import (
    BULLETS,
    JOINT_MARK,
    MAX_LEVEL,
    NOTE_MARK,
    NOTE_PLACE,
    NUMBERS,
    PART_MARK,
    TEXT_MARK,
    indent_of,
)
from marginalia_tui.services.exchange.manuscript import Chapter, Remark
from marginalia_tui.services.exchange.markdown import LEVEL
from marginalia_tui.services.exchange.markdown_tokens import MarkdownTokens, comment_text
from marginalia_tui.services.exchange.pictures import Shown

_LARGEST = 32_767
"""The largest number at which Word begins a list; what is larger stands as text."""


@dataclass(slots=True)
class _List:
    """A list that is open: `number` is that of its next item, `key` the list of Word; bullets have no number."""

    number: int | None
    key: int


@dataclass(slots=True)
class Links:
    """The addresses of one part of the package, each with its relation."""

    known: dict[str, str] = field(default_factory=dict)

    def __call__(self, address: str) -> str:
        """The relation of an address."""
        return self.known.setdefault(address, f"link{len(self.known) + 1}")


class BodyWriter:
    """Writes the parts of one book, one after the other.

    Attributes:
        starts: for each list with numbers its level and its first number.
        footnotes: the XML of the footnotes that were written.
        remarks: the comments of the parts that were written; the place of each is its id.
    """

    def __init__(self, notes: BookNotes, reader: MarkdownTokens, media: Media) -> None:
        self._notes = notes
        self._media = media
        self._shown = Shown()
        self._images: dict[str, Image] = {}
        self._reader = reader
        self._index = 0
        self.links, self.note_links = Links(), Links()
        self.starts: list[tuple[int, int]] = []
        self.footnotes: list[str] = []
        self.remarks: list[Remark] = []
        self._called: set[Key] = set()
        self._bookmarks = 0
        self._part = ""
        self._joints = 0
        self._joint = ""

    def part(self, index: int, chapter: Chapter) -> str:
        """The XML of a part, which begins on a page of its own, with the comments on it."""
        self._index = index
        self._shown = Shown(self._media.places[index])
        self._images = {each.image.name: each.image for each in chapter.images}
        targets = self._notes.targets[index]
        self._part = self.bookmark(f"{PART_MARK if chapter.title else TEXT_MARK}{index + 1}")
        text = self._with_comments(chapter, targets)
        out: list[str] = []
        if chapter.title:
            line = self._reader.line(chapter.title, targets)
            style = f"Heading{level_of(chapter)}"
            out.append(self.paragraph(style, "".join(self.runs(token) for token in line)))
        out.append(_Blocks(self, self._reader.blocks(text, targets)).write())
        for each in self._shown.rest(chapter):
            out.append(self.paragraph("FirstParagraph", self.picture(each.image.name, each.image.caption)))
        if self._part:
            out.append(self.paragraph("FirstParagraph", ""))
        return "".join(out)

    def _with_comments(self, chapter: Chapter, targets: Mapping[str, Key]) -> str:
        """The text of a part with the signs of its comments; those on all of it stand where it begins."""
        if not chapter.remarks:
            return chapter.text
        numbered = list(enumerate(chapter.remarks, start=len(self.remarks)))
        self.remarks += chapter.remarks
        text, whole = Placer(chapter.text, lambda text: self._reader.blocks(text, targets)).place(numbered)
        self._part += "".join(map(comment_mark, whole))
        return text

    def bookmark(self, name: str, inside: str = "") -> str:
        """A bookmark around something."""
        self._bookmarks += 1
        return (
            f'<w:bookmarkStart w:id="{self._bookmarks}" w:name="{name}"/>{inside}'
            f'<w:bookmarkEnd w:id="{self._bookmarks}"/>'
        )

    def paragraph(self, style: str, inside: str, *, after_style: str = "", last: str = "") -> str:
        """A paragraph; the first of a part begins a page and has the mark of the part.

        `after_style` and `last` are properties: those next to the style, and those at the end.
        """
        page = "<w:pageBreakBefore/>" if self._part else ""
        inside, self._part = self._part + self.joint() + inside, ""
        properties = f'<w:pStyle w:val="{style}"/>{page}{after_style}{last}'
        return f"<w:p><w:pPr>{properties}</w:pPr>{inside}</w:p>\n"

    def follow(self, lines: int) -> None:
        """What is written next is a block with so many line ends before it."""
        self._joints += 1
        self._joint = self.bookmark(f"{JOINT_MARK}{min(lines, 999)}_{self._joints}")

    def joint(self) -> str:
        """How the next block follows, if that has to be said; it is said once."""
        said, self._joint = self._joint, ""
        return said

    @property
    def begins_part(self) -> bool:
        """Whether the next paragraph is the first of a part."""
        return bool(self._part)

    def runs(self, token: Token, marks: Sequence[str] = ()) -> str:
        """The XML of an `inline` token of the text."""
        return runs(token.children or [], self.links, self._note_mark, marks, pictures=self.picture)

    def picture(self, target: str, words: str) -> str:
        """The picture of the part that a text names; empty for another one."""
        place = self._shown.place(target)
        return self._media.drawing(place, self._images[target], words) if place else ""

    def _note_mark(self, label: str) -> str:
        key = self._notes.targets[self._index][label]
        number = self._notes.numbers[key]
        style = '<w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>'
        if key in self._called:
            again = f"<w:r>{style}<w:t>{number}</w:t></w:r>"
            return f'<w:fldSimple w:instr=" NOTEREF {NOTE_MARK}{number} \\f \\h ">{again}</w:fldSimple>'
        self._called.add(key)
        reference = f'<w:r>{style}<w:footnoteReference w:id="{number}"/></w:r>'
        return self.bookmark(f"{NOTE_MARK}{number}", reference)

    def note(self, label: str, inside: list[Token], first: bool) -> str:
        """A definition: a footnote where it is called, else shown as it is written."""
        number = self._notes.numbers.get((self._index, label)) if first else None
        if number is None:
            return ""
        blocks = _Blocks(self, inside, footnote=True)
        mark = '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
        blocks.lead = f"{mark}{run(' ')}"
        kept, self._part, joint = self._part, "", self.joint()
        self.footnotes.append(f'<w:footnote w:id="{number}">{blocks.write()}</w:footnote>\n')
        self._part = kept
        return joint + self.bookmark(f"{NOTE_PLACE}{number}") + "\n"


class _Blocks:
    """Writes a run of tokens: the text of a part, or that of a footnote."""

    def __init__(self, book: BodyWriter, tokens: list[Token], *, footnote: bool = False) -> None:
        self._book = book
        self._tokens = tokens
        self._footnote = footnote
        self.lead = ""
        self._out: list[str] = []
        self._lists: list[_List] = []
        self._item: str | None = None
        self._loose = False
        self._quotes = 0
        self._first = True
        self._taken: set[str] = set()
        self._shown_note = False

    def write(self) -> str:
        """The XML."""
        place = 0
        while place < len(self._tokens):
            place = self._block(place)
        if self.lead:
            self._add("")
        return "".join(self._out)

    def _block(self, place: int) -> int:
        """Writes what begins at a place; answers where the next begins."""
        token = self._tokens[place]
        kind = token.type
        if lines := token.meta.get("joint"):
            self._flush_item()
            self._book.follow(lines)
        if kind == "inline":
            self._add(self._runs(token))
        elif kind == "heading_open":
            return self._heading(place)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._flush_item()
            self._lists.append(_List(None if kind[0] == "b" else int(token.attrs.get("start", 1)), 0))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind == "list_item_open":
            self._open_item(token)
            self._loose = self._tokens[place + 1].type == "paragraph_open" and not self._tokens[place + 1].hidden
        elif kind == "list_item_close":
            self._flush_item()
        elif kind == "blockquote_open":
            self._flush_item()
            self._quotes += 1
        elif kind == "blockquote_close":
            self._quotes -= 1
        elif kind == "table_open":
            return self._table(place)
        elif kind == "note_open":
            return self._note(place)
        elif kind == "note_close":
            self._shown_note = False
        else:
            self._leaf(token)
        return place + 1

    def _leaf(self, token: Token) -> None:
        if token.type in ("fence", "code_block"):
            info = token.info.strip()
            shown = fenced(token.content.removesuffix("\n"), info) if info else token.content
            self._add(code_lines(shown), "SourceCode")
        elif token.type == "hr":
            self._add(run(SCENE_BREAK), "SceneBreak")
            self._first = True
        elif token.type == "comment":
            inside, after = comment_text(token.content)
            self._add(run(inside, ["hidden"]), hidden=True)
            if after:
                self._add(run(after))

    def _runs(self, token: Token, marks: Sequence[str] = ()) -> str:
        if not self._footnote and not self._shown_note:
            return self._book.runs(token, marks)
        links = self._book.note_links if self._footnote else self._book.links
        return runs(token.children or [], links, lambda label: run(f"[^{label}]"), marks, pictures=self._book.picture)

    def _heading(self, place: int) -> int:
        token, line = self._tokens[place], self._tokens[place + 1]
        nested = self._lists or self._quotes or self._footnote
        if nested:
            self._add(self._runs(line, ["strong"]))
        else:
            self._add(self._runs(line), f"Heading{token.tag[1]}")
            self._first = True
        return place + 3

    def _open_item(self, token: Token) -> None:
        level = min(len(self._lists) - 1, MAX_LEVEL)
        inner = self._lists[-1]
        if inner.number is None:
            inner.key = BULLETS
        else:
            number = int(token.info or inner.number)
            if number > _LARGEST:
                inner.key, inner.number = 0, number + 1
                self._item = run(f"{number}. ")
                return
            if not inner.key or number != inner.number:
                self._book.starts.append((level, number))
                inner.key = len(self._book.starts) + NUMBERS - 1
            inner.number = number + 1
        self._item = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{inner.key}"/></w:numPr>'

    def _flush_item(self) -> None:
        """An item whose mark still waits for a paragraph gets an empty one."""
        if self._item is not None:
            self._add("")

    def _add(self, inside: str, style: str = "", *, hidden: bool = False) -> None:
        """A paragraph where the writer stands; `style` is what it is when it stands for itself."""
        inside, self.lead = self.lead + inside, ""
        item, self._item = self._item, None
        numbered, last = "", "<w:rPr><w:vanish/></w:rPr>" if hidden else ""
        if item is not None and item.startswith("<w:numPr>"):
            numbered = item
            last = f'<w:contextualSpacing w:val="0"/>{last}' if self._loose else last
        elif item is not None:
            inside = item + inside
        elif self._lists and not self._quotes:
            last = f'<w:ind w:left="{indent_of(min(len(self._lists) - 1, MAX_LEVEL))}"/>{last}'
        if not style:
            style = self._style(numbered)
        self._out.append(self._book.paragraph(style, inside, after_style=numbered, last=last))
        self._first = False

    def _style(self, numbered: str) -> str:
        if self._quotes:
            depth = min(self._quotes, MAX_LEVEL)
            return "Quote" if depth == 1 else f"Quote{depth}"
        if numbered:
            return "ListParagraph"
        if self._lists:
            return "ListContinue"
        if self._footnote:
            return "FootnoteText"
        return "FirstParagraph" if self._first else "BodyText"

    def _table(self, place: int) -> int:
        self._flush_item()
        self._begin_part()
        rows: list[str] = []
        cells: list[str] = []
        width, aligned = 0, ""
        while (token := self._tokens[place]).type != "table_close":
            if token.type in ("th_open", "td_open"):
                side = str(token.attrs.get("style", "")).removeprefix("text-align:")
                aligned = f'<w:pPr><w:jc w:val="{side}"/></w:pPr>' if side else ""
            elif token.type == "inline":
                cells.append(f"<w:tc><w:tcPr/><w:p>{aligned}{self._runs(token)}</w:p></w:tc>")
            elif token.type == "tr_close":
                width = max(width, len(cells))
                rows.append(f"<w:tr>{''.join(cells)}</w:tr>")
                cells.clear()
            place += 1
        grid = "<w:gridCol/>" * width
        joint = self._book.joint()
        properties = '<w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
        self._out.append(f"{joint}<w:tbl>{properties}<w:tblGrid>{grid}</w:tblGrid>{''.join(rows)}</w:tbl>\n")
        # Tables that follow each other would become one, and a section may not end with one.
        self._out.append(self._book.paragraph("FirstParagraph", "", last="<w:rPr><w:vanish/></w:rPr>"))
        self._first = True
        return place + 1

    def _note(self, place: int) -> int:
        end = place
        while self._tokens[end].type != "note_close":
            end += 1
        label = self._tokens[place].meta["label"]
        self._flush_item()
        written = self._book.note(label, self._tokens[place + 1 : end], label not in self._taken)
        self._taken.add(label)
        if written:
            self._begin_part()
            self._out.append(written)
            return end + 1
        self._shown_note = True
        self.lead += run(f"[^{label}]: ")
        if self._tokens[place + 1].type != "paragraph_open":
            self._add("")
        return place + 1

    def _begin_part(self) -> None:
        """What is no paragraph can't begin a page: an empty paragraph before it does."""
        if self._book.begins_part:
            self._add("")


def level_of(chapter: Chapter) -> int:
    """The level of the heading of a part, 1 to 6."""
    level = chapter.attributes.get(LEVEL, 1)
    return level if isinstance(level, int) and 1 <= level <= 6 else 1
