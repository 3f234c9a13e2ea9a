"""Inline HTML to Markdown: text with its emphasis, breaks, links and notes, escaped so that it reads back the same.

The pieces of a paragraph are collected first and joined at the end, because whether a mark works depends on what
stands on both sides of it: where Markdown's marks would not, the HTML tag stays.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from markdown_it.common.html_re import close_tag, open_tag

from marginalia_tui.services.exchange.markdown_tokens import TAGS

SPACES = " \t\n\r\f"
"""White space of HTML; a no-break space is none."""

_RUN = re.compile(f"[{SPACES}]+")
_EXACT = re.compile(
    r"(?P<soft>\n)|\t[ \t]*| [ \t]+"
    rf"|(?!</?(?:{'|'.join(TAGS)})>|<br[ /]*>)(?:{open_tag}|{close_tag})"
    r"|!?\[(?!\^)[^\]\[\\*_`<~!&\n]*\](?:(?=[:\[])|\((?!https?:|mailto:)[^()\s\\<>;]*\))",
    re.IGNORECASE,
)
"""What stays as it is in an exact text: white space that is more than one space, tags and links that are shown."""
_ESCAPED = re.compile(
    r"[\\`]"
    r"|\*+|_+"
    r"|\[(?=\^)|\](?=[(\[:])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,32};)"
    r"|^~|~(?=~|$)"
)
_SPECIAL = re.compile(r"[\\`*_\[\]<&~]")
"""What may have to be escaped: most paragraphs have none of it."""
_RUN_OF_MARKS = re.compile(r"\*+|_+")
_LINE_START = re.compile(
    r"(?:#{1,6}(?=[ \t]|$)|[>+-]|\*(?=[ \t]|$)|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$|=+$|~{3}"
    r"|(?P<number>\d{1,9})[.)](?=[ \t]|$))"
)
_MARKS = {"em": "*", "strong": "**", "s": "~~"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a paragraph: `text` (escaped when joined), `raw` Markdown, `break`, a side of a mark, or an anchor."""

    kind: Literal["text", "exact", "raw", "link", "break", "soft", "open", "close", "anchor"]
    """An exact text is one that we wrote: each space counts in it. A soft break ends a line of Markdown and none of the
    page. An anchor says where a comment begins or ends; nothing is joined with one."""
    text: str = ""


def _escape(text: str, doubtful: Collection[int]) -> str:
    """A text with a backslash before what Markdown would take for a mark.

    Args:
        text: the text.
        doubtful: where the runs of `*` and `_` begin that could pair with another.
    """

    def safe(found: re.Match[str]) -> str:
        if found[0][0] in "*_":
            return "".join(f"\\{char}" for char in found[0]) if found.start() in doubtful else found[0]
        return f"\\{found[0]}"

    return _ESCAPED.sub(safe, text)


def escape_line_start(line: str) -> str:
    """A line that begins no heading, list, quote or rule."""
    found = _LINE_START.match(line)
    if found is None:
        return line
    place = len(found["number"]) if found["number"] else 0
    return f"{line[:place]}\\{line[place:]}"


def collapse(text: str) -> str:
    """A text with each run of white space as one space."""
    if text.isprintable() and "  " not in text:
        return text
    return _RUN.sub(" ", text)


def join(pieces: list[Piece]) -> str:
    """The Markdown of a paragraph; lines end at breaks only. Empty when nothing but white space is there."""
    pieces = _merged(_split(pieces))
    if len(pieces) == 1 and pieces[0].kind == "text":
        text = pieces[0].text.strip(SPACES)
        if not _SPECIAL.search(text):
            return escape_line_start(text)
    pieces = _without_spaces_inside(pieces)
    before, after = _neighbours(pieces)
    as_html = _pairs_as_html(pieces, before, after)
    doubtful = _doubtful_runs(pieces, before, after)
    out: list[str] = []
    for place, piece in enumerate(pieces):
        if piece.kind == "text":
            out.append(_escape(piece.text, doubtful.get(place, ())) if _SPECIAL.search(piece.text) else piece.text)
        elif piece.kind in ("break", "soft"):
            out.append("\\\n" if piece.kind == "break" else "\n")
        elif piece.kind in ("open", "close"):
            closing = "/" if piece.kind == "close" else ""
            html = place in as_html or piece.text not in _MARKS
            out.append(f"<{closing}{piece.text}>" if html else _MARKS[piece.text])
        else:
            if piece.kind == "link" and out and out[-1].endswith("!"):
                out[-1] = f"{out[-1][:-1]}\\!"
            out.append(piece.text)
    lines = list(filter(None, (line.strip(SPACES) for line in "".join(out).split("\n"))))
    while lines and lines[-1] in ("", "\\"):
        lines.pop()
    if lines:
        lines[-1] = lines[-1].removesuffix("\\") if pieces[-1].kind == "break" else lines[-1]
    return "\n".join(escape_line_start(line) for line in lines).strip("\n")


def link(target: str, inner: list[Piece], *, title: str = "") -> list[Piece]:
    """A link to the web around pieces; what leads elsewhere is its text only."""
    if not target.lower().startswith(("http://", "https://", "mailto:")):
        return inner
    if (
        len(inner) == 1
        and inner[0].kind in ("text", "exact")
        and inner[0].text == target
        and not re.search(r"[\s<>]", target)
    ):
        return [Piece("link", f"<{target}>")]
    target = f"<{target}>" if re.search(r"[\s()]", target) else target.replace("<", "%3C")
    title = collapse(title).replace("\\", "\\\\").replace('"', '\\"')
    label = join(inner).replace("\\\n", " ")
    label = label if "`" in label else re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", label)
    return [Piece("link", f'[{label}]({target} "{title}")' if title else f"[{label}]({target})")]


def code_span(text: str) -> str:
    """A text as a span of code."""
    text = text.replace("\n", " ")
    if not text.strip():
        return text
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _split(pieces: list[Piece]) -> list[Piece]:
    """The pieces with those of exact texts in their places."""
    if all(piece.kind != "exact" for piece in pieces):
        return pieces
    made: list[Piece] = []
    for exact, group in groupby(pieces, lambda piece: piece.kind == "exact"):
        if not exact:
            made += group
            continue
        text, place = "".join(piece.text for piece in group), 0
        for found in _EXACT.finditer(text):
            made.append(Piece("text", text[place : found.start()]))
            made.append(Piece("soft") if found["soft"] else Piece("raw", found[0]))
            place = found.end()
        made.append(Piece("text", text[place:]))
    return made


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
            after_space = after_space if piece.kind in ("open", "close") else piece.kind in ("break", "soft")
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


def _pairs_as_html(pieces: list[Piece], before: list[str], after: list[str]) -> set[int]:
    """The places of the marks that Markdown would not see as marks where they stand."""
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


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of `*` or `_` in the text of a piece, and whether it could begin or end an emphasis."""

    place: int
    start: int
    begins: bool
    ends: bool


def _doubtful_runs(pieces: list[Piece], before: list[str], after: list[str]) -> dict[int, set[int]]:
    """Piece -> where the runs of `*` and `_` in it begin that could pair with another run or with a mark of ours."""
    found: dict[int, set[int]] = {}
    for sign in "*_":
        if not any(piece.kind == "text" and sign in piece.text for piece in pieces):
            continue
        runs = _runs(pieces, sign, before, after)
        last_end = max((number for number, run in enumerate(runs) if run.ends), default=-1)
        begun = False
        for number, run in enumerate(runs):
            if run.start >= 0 and ((run.begins and number < last_end) or (run.ends and begun)):
                found.setdefault(run.place, set()).add(run.start)
            begun = begun or run.begins
    return found


def _runs(pieces: list[Piece], sign: str, before: list[str], after: list[str]) -> list[_Run]:
    """The runs of a sign in order; a mark of ours counts as one that starts at -1."""
    found: list[_Run] = []
    for place, piece in enumerate(pieces):
        if piece.kind in ("open", "close") and sign == "*":
            found.append(_Run(place, -1, True, True))
        if piece.kind != "text" or sign not in piece.text:
            continue
        text = piece.text
        for run in _RUN_OF_MARKS.finditer(text):
            if run[0][0] != sign:
                continue
            left = text[run.start() - 1] if run.start() else before[place]
            right = text[run.end()] if run.end() < len(text) else after[place]
            begins, ends = _flanks(left, right), _flanks(right, left)
            if sign == "_":
                begins, ends = (
                    begins and (not ends or _is_punctuation(left)),
                    ends and (not begins or _is_punctuation(right)),
                )
            at_mark = (not run.start() and place and pieces[place - 1].kind in ("open", "close")) or (
                run.end() == len(text) and place + 1 < len(pieces) and pieces[place + 1].kind in ("open", "close")
            )
            found.append(_Run(place, run.start(), begins or bool(at_mark), ends or bool(at_mark)))
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
    return " " if piece.kind in ("break", "soft") else piece.text[side]


def _flanks(outside: str, inside: str) -> bool:
    """Whether a mark between these two characters can begin (or, seen from the other side, end) an emphasis."""
    if inside.isspace():
        return False
    return not _is_punctuation(inside) or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
