"""The inside of a paragraph of a DOCX: the tokens of a line of Markdown as runs, links and marks of notes."""

import re
from collections.abc import Callable, Sequence
from html import escape

from markdown_it.token import Token

from marginalia_tui.services.exchange.docx_remarks import pieces_of
from marginalia_tui.services.exchange.markdown_tokens import (
    BREAK,
    TAG,
    comment_text,
    paired_tags,
    target_of,
    web_address,
)

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_PROPERTIES = (
    ("line", '<w:rStyle w:val="LineEnd"/>'),
    ("code", '<w:rStyle w:val="VerbatimChar"/>'),
    ("link", '<w:rStyle w:val="Hyperlink"/>'),
    ("strong", "<w:b/><w:bCs/>"),
    ("em", "<w:i/><w:iCs/>"),
    ("s", "<w:strike/>"),
    ("hidden", "<w:vanish/>"),
    ("small", '<w:sz w:val="18"/><w:szCs w:val="18"/>'),
    ("mark", '<w:highlight w:val="yellow"/>'),
    ("u", '<w:u w:val="single"/>'),
    ("sup", '<w:vertAlign w:val="superscript"/>'),
    ("sub", '<w:vertAlign w:val="subscript"/>'),
    ("rtl", "<w:rtl/>"),
)
"""What a mark is in a run, in the order that the schema wants."""
_TAGS = {"b": "strong", "strong": "strong", "i": "em", "em": "em", "del": "s", "s": "s", "ins": "u"}

Links = Callable[[str], str]
"""The id of the relation for an address."""
Pictures = Callable[[str, str], str]
"""The XML of the picture that a text names, with what it shows; empty when the part has none of that name."""
NoteMarks = Callable[[str], str]
"""The XML of the mark of a note, by its label."""


def text(value: str) -> str:
    """A text as XML; what XML can't hold becomes U+FFFD."""
    return escape(value.translate({0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}), quote=False)


def attribute(value: str) -> str:
    """A text as the value of an attribute."""
    return escape(value.translate({0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD})).replace("\n", " ")


def run(value: str, marks: Sequence[str] = ()) -> str:
    """A run of text with marks (`em`, `strong`, `s`, `u`, `sup`, `sub`, `small`, `mark`, `code`, `link`, `hidden`)."""
    if not value:
        return ""
    wanted = {*marks, *(["rtl"] if _RIGHT_TO_LEFT.search(value) else [])}
    inside = "".join(xml for name, xml in _PROPERTIES if name in wanted)
    properties = f"<w:rPr>{inside}</w:rPr>" if inside else ""
    if "\x01" in value:
        return "".join(
            (_run(piece, properties) if piece else "") + (comment_edge(number, end=end) if number >= 0 else "")
            for piece, number, end in pieces_of(value)
        )
    return _run(value, properties)


def _run(value: str, properties: str) -> str:
    return f'<w:r>{properties}<w:t xml:space="preserve">{text(value)}</w:t></w:r>'


def comment_edge(number: int, *, end: bool) -> str:
    """Where a comment begins or ends; what shows it stands behind its end."""
    return f'<w:commentRangeEnd w:id="{number}"/>{comment_mark(number)}' if end else _RANGE.format(number)


def comment_mark(number: int) -> str:
    """The run that shows a comment."""
    style = '<w:rPr><w:rStyle w:val="CommentReference"/></w:rPr>'
    return f'<w:r>{style}<w:commentReference w:id="{number}"/></w:r>'


_RANGE = '<w:commentRangeStart w:id="{}"/>'


def code_lines(value: str) -> str:
    """The lines of a block of code as one run."""
    lines = value.removesuffix("\n").split("\n")
    inside = "<w:br/>".join(
        "<w:tab/>".join(f'<w:t xml:space="preserve">{text(piece)}</w:t>' for piece in line.split("\t"))
        for line in lines
    )
    return f"<w:r>{inside}</w:r>"


def runs(
    tokens: Sequence[Token], links: Links, notes: NoteMarks, marks: Sequence[str] = (), *, pictures: Pictures
) -> str:
    """The XML of the children of an `inline` token.

    Args:
        tokens: the children.
        links: gives the relation of an address.
        notes: gives the mark of a note.
        marks: what holds for all of it.
        pictures: gives a picture of the part.
    """
    paired = paired_tags(list(tokens))
    out: list[str] = []
    open_marks = list(marks)
    closings: list[str] = []
    for place, token in enumerate(tokens):
        kind = token.type
        if kind in ("text", "text_special"):
            out.append(run(token.content, open_marks))
        elif kind == "softbreak":
            # A run has one style: in a link it is that of the link.
            out.append(run(" ", open_marks if "link" in open_marks else [*open_marks, "line"]))
        elif kind == "hardbreak":
            out.append("<w:r><w:br/></w:r>")
        elif kind == "code_inline":
            out.append(run(token.content, [*open_marks, "code"]))
        elif kind == "html_inline":
            out.append(_tag(token.content, place in paired, open_marks))
        elif kind == "note_mark":
            out.append(notes(token.content))
        elif kind == "image":
            words = "".join(child.content for child in token.children or ())
            shown = pictures(str(token.attrs.get("src", "")), words)
            out.append(shown or run(f"![{token.content}]({target_of(token, 'src')})", open_marks))
        elif kind == "link_open":
            opening, closing = _link(token, links, open_marks)
            out.append(opening)
            closings.append(closing)
        elif kind == "link_close":
            out.append(_close_link(closings.pop(), open_marks))
        elif token.nesting > 0:
            open_marks.append(token.tag)
        elif token.nesting < 0:
            _take_off(open_marks, token.tag)
    return "".join(out)


def _tag(content: str, paired: bool, open_marks: list[str]) -> str:
    if BREAK.match(content):
        return "<w:r><w:br/></w:r>"
    if content.startswith("<!--") and content.endswith("-->"):
        return run(comment_text(content)[0], ["hidden"])
    found = TAG.match(content)
    if not paired or found is None:
        return run(content, open_marks)
    mark = _TAGS.get(found[2], found[2])
    if found[1]:
        _take_off(open_marks, mark)
    else:
        open_marks.append(mark)
    return ""


def _take_off(marks: list[str], mark: str) -> None:
    """Takes the last mark of a kind off; marks of a line are nested."""
    for place in range(len(marks) - 1, -1, -1):
        if marks[place] == mark:
            del marks[place]
            return


def _link(token: Token, links: Links, open_marks: list[str]) -> tuple[str, str]:
    """What begins a link and what its end adds: an element for the web, its source for all else."""
    address = web_address(token)
    if not address:
        return run("[", open_marks), f"]({target_of(token, 'href')})"
    open_marks.append("link")
    title = f' w:tooltip="{attribute(str(token.attrs["title"]))}"' if token.attrs.get("title") else ""
    return f'<w:hyperlink r:id="{links(address)}"{title} w:history="1">', ""


def _close_link(source: str, open_marks: list[str]) -> str:
    if source:
        return run(source, open_marks)
    _take_off(open_marks, "link")
    return "</w:hyperlink>"
