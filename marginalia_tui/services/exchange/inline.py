"""Inline HTML to Markdown: text with its emphasis, breaks, links and notes, escaped so that it reads back the same.

The pieces of a paragraph are collected first and joined at the end, because whether a mark works depends on what
stands on both sides of it: where Markdown's marks would not, the HTML tag stays.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

SPACES = " \t\n\r\f"
"""White space of HTML; a no-break space is none."""

_RUN = re.compile(f"[{SPACES}]+")
_ESCAPED = re.compile(
    r"[\\*`]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|\[(?=\^)|\](?=[(\[:])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,32};)"
    r"|~(?=~)"
)
_LINE_START = re.compile(r"(?:#{1,6}(?=[ \t]|$)|[>+-]|=+$|~{3}|(?P<number>\d{1,9})[.)](?=[ \t]|$))")
_MARKS = {"em": "*", "strong": "**", "s": "~~"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a paragraph: `text` (escaped when joined), `raw` Markdown, `break`, or one side of a mark."""

    kind: Literal["text", "raw", "link", "break", "open", "close"]
    text: str = ""


def escape(text: str) -> str:
    """A text with a backslash before what Markdown would take for a mark."""
    return _ESCAPED.sub(r"\\\g<0>", text)


def escape_line_start(line: str) -> str:
    """A line that begins no heading, list, quote or rule."""
    found = _LINE_START.match(line)
    if found is None:
        return line
    place = len(found["number"]) if found["number"] else 0
    return f"{line[:place]}\\{line[place:]}"


def collapse(text: str) -> str:
    """A text with each run of white space as one space."""
    return _RUN.sub(" ", text)


def join(pieces: list[Piece]) -> str:
    """The Markdown of a paragraph; lines end at hard breaks only. Empty when nothing but white space is there."""
    pieces = _without_spaces_inside(_merged(pieces))
    as_html = _pairs_as_html(pieces)
    out: list[str] = []
    for place, piece in enumerate(pieces):
        if piece.kind == "text":
            out.append(escape(piece.text))
        elif piece.kind == "break":
            out.append("\\\n")
        elif piece.kind in ("open", "close"):
            closing = "/" if piece.kind == "close" else ""
            html = place in as_html or piece.text not in _MARKS
            out.append(f"<{closing}{piece.text}>" if html else _MARKS[piece.text])
        else:
            if piece.kind == "link" and out and out[-1].endswith("!"):
                out[-1] = f"{out[-1][:-1]}\\!"
            out.append(piece.text)
    lines = [line.strip(SPACES) for line in "".join(out).split("\n")]
    while lines and lines[-1] in ("", "\\"):
        lines.pop()
    if lines:
        lines[-1] = lines[-1].removesuffix("\\") if pieces[-1].kind == "break" else lines[-1]
    return "\n".join(escape_line_start(line) for line in lines).strip("\n")


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Neighbouring texts as one, white space collapsed across pieces."""
    made: list[Piece] = []
    texts: list[str] = []
    after_space = True
    for piece in [*pieces, None]:
        if piece is not None and piece.kind == "text":
            text = collapse(piece.text)
            text = text.lstrip(" ") if after_space else text
            after_space = text.endswith(" ") if text else after_space
            texts.append(text)
            continue
        if whole := "".join(texts):
            made.append(Piece("text", whole))
        texts.clear()
        if piece is not None:
            made.append(piece)
            after_space = after_space if piece.kind in ("open", "close") else piece.kind == "break"
    return made


def _without_spaces_inside(pieces: list[Piece]) -> list[Piece]:
    """Spaces just inside a mark moved out of it, marks around nothing left out."""
    made: list[Piece] = []
    for piece in pieces:
        if piece.kind == "close":
            spaces = False
            if made and made[-1].kind == "text" and made[-1].text.endswith(" "):
                spaces = True
                made[-1] = Piece("text", made[-1].text[:-1])
                if not made[-1].text:
                    made.pop()
            if made and made[-1] == Piece("open", piece.text):
                made.pop()
            else:
                made.append(piece)
            if spaces:
                _add_text(made, " ")
        elif piece.kind == "text" and piece.text.startswith(" ") and made and made[-1].kind == "open":
            place = len(made)
            while place and made[place - 1].kind == "open":
                place -= 1
            made.insert(place, Piece("text", " "))
            if rest := piece.text[1:]:
                made.append(Piece("text", rest))
        elif piece.kind == "text":
            _add_text(made, piece.text)
        else:
            made.append(piece)
    return made


def _add_text(made: list[Piece], text: str) -> None:
    if made and made[-1].kind == "text":
        text = made.pop().text + text
    made.append(Piece("text", text))


def _pairs_as_html(pieces: list[Piece]) -> set[int]:
    """The places of the marks that Markdown would not see as marks where they stand."""
    before, after = _neighbours(pieces)
    open_places: list[int] = []
    found: set[int] = set()
    for place, piece in enumerate(pieces):
        if piece.kind == "open":
            open_places.append(place)
        elif piece.kind == "close":
            opening = open_places.pop()
            nested = any(pieces[outer].text == piece.text for outer in open_places)
            doubtful = (opening and pieces[opening - 1].kind == "close") or nested
            if doubtful or not _flanks(before[opening], after[opening]) or not _flanks(after[place], before[place]):
                found.update((opening, place))
    return found


def _neighbours(pieces: list[Piece]) -> tuple[list[str], list[str]]:
    """For each piece the character before and after it, marks passed over; a space stands for none."""
    before, after = [" "] * len(pieces), [" "] * len(pieces)
    last = " "
    for place, piece in enumerate(pieces):
        before[place] = last
        last = _edge(piece, -1) or last
    last = " "
    for place in range(len(pieces) - 1, -1, -1):
        after[place] = last
        last = _edge(pieces[place], 0) or last
    return before, after


def _edge(piece: Piece, side: int) -> str:
    if piece.kind in ("open", "close"):
        return ""
    return " " if piece.kind == "break" else piece.text[side]


def _flanks(outside: str, inside: str) -> bool:
    """Whether a mark between these two characters can begin (or, seen from the other side, end) an emphasis."""
    if inside.isspace():
        return False
    return not _is_punctuation(inside) or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
