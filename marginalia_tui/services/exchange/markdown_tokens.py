"""Markdown as tokens, for the formats that lay a page out: no word of the text is lost on the way.

Where Markdown has no rule for a reader (links inside the manuscript, pictures that are not there, tags beyond a
few), the source is shown as text. Link definitions are shown too: they would vanish otherwise.
"""

import re
from bisect import bisect_left
from collections.abc import Collection

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, paragraph
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from marginalia_tui.domain.words import find_words

MAX_NESTING = 60
"""Levels of quotes and lists in one another; a text that has more is shown as it is written."""
MAX_BRACKETS = 4_000
"""Opening brackets of a part up to which links are looked for: their search takes the square of the time."""

_NOTE = re.compile(r"\[\^([\w.-]{1,80})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^([\w.-]{1,80})\]")
_STARTS_BLOCK = re.compile(r"[ \t]*(?:$|\[\^[\w.-]{1,80}\]:|#{1,6}[ \t]|```|~~~|>|<!--)")
TAGS = ("em", "i", "strong", "b", "u", "s", "del", "ins", "sub", "sup", "small", "mark")
"""The tags that are marks of a text; others are shown."""
TAG = re.compile(rf"<(/?)({'|'.join(TAGS)})>$")
BREAK = re.compile(r"<br[ ]*/?>$")
_WEB = ("http://", "https://", "mailto:")
_UNSAFE = re.compile(r"[\s\"<>\\^`{|}]")


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A comment that begins a line and ends with the line on which it is closed."""
    if state.is_code_block(start) or not state.src.startswith("<!--", state.bMarks[start] + state.tShift[start]):
        return False
    closing = _closing_of_comment(state, state.bMarks[start] + state.tShift[start])
    if closing < 0 or closing > state.eMarks[end - 1]:
        return False
    line = start
    while state.eMarks[line] < closing:
        line += 1
    if not silent:
        token = state.push("comment", "", 0)
        token.content = state.getLines(start, line + 1, state.blkIndent, False)
        token.map = [start, line + 1]
        state.line = line + 1
    return True


def _closing_of_comment(state: StateBlock, place: int) -> int:
    """Where the next comment is closed at or after a place, -1 if nowhere; the places are looked up once a text."""
    known: dict[str, list[int]] = state.env.setdefault("closings", {})
    if state.src not in known:
        known[state.src] = [found.start() for found in re.finditer("-->", state.src)]
    closings = known[state.src]
    index = bisect_left(closings, place)
    return closings[index] if index < len(closings) else -1


def _note_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A note `[^label]: text`; further paragraphs are indented."""
    if state.is_code_block(start) or state.env.get("in_note"):
        return False
    found = _NOTE.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if found is None:
        return False
    if silent:
        return True
    lines = [state.src[found.end() : state.eMarks[start]]]
    line = start + 1
    while line < end:
        text = state.getLines(line, line + 1, state.blkIndent, False)
        blank = not text.strip()
        indented = text.startswith(("    ", "\t"))
        if not blank and not indented and (_STARTS_BLOCK.match(text) or not lines[-1].strip()):
            break
        lines.append(text.removeprefix("\t") if text.startswith("\t") else text.removeprefix("    "))
        line += 1
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
        line -= 1
    opening = state.push("note_open", "aside", 1)
    opening.meta = {"label": found[1]}
    opening.map = [start, line]
    state.env["in_note"] = True
    inside: list[Token] = []
    state.md.block.parse("\n".join(lines), state.md, state.env, inside)
    state.env["in_note"] = False
    for token in inside:
        token.level += state.level
        token.map = None
    state.tokens.extend(inside)
    state.push("note_close", "aside", -1)
    state.line = line
    return True


def _note_mark(state: StateInline, silent: bool) -> bool:
    """The mark `[^label]` of a note that the book has."""
    if state.src[state.pos] != "[":
        return False
    found = _NOTE_MARK.match(state.src, state.pos)
    if found is None or found[1] not in state.env.get("notes", ()):
        return False
    if not silent:
        token = state.push("note_mark", "", 0)
        token.content = found[1]
    state.pos = found.end()
    return True


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph; what it is indented with beside blanks and tabs, such as wide spaces, stays."""
    found = paragraph(state, start, end, silent)
    inline = state.tokens[-2]
    inline.content = state.getLines(start, state.line, state.blkIndent, False).strip(" \t\n")
    return found


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING * 2, "xhtmlOut": True, "html": True})
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["reference", "html_block"])
    markdown.block.ruler.at("paragraph", _paragraph)
    markdown.block.ruler.before("fence", "comment", _comment_block, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.block.ruler.before("fence", "note", _note_block, {"alt": ["paragraph"]})
    markdown.inline.ruler.before("link", "note_mark", _note_mark)
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return markdown


class MarkdownTokens:
    """Reads texts into the tokens of markdown-it, with `comment`, `note_open`, `note_close` and `note_mark` beside.

    A token that begins a block of the text has the number of line ends before it as `joint` in its meta, where these
    are not two or where the block before is of the same kind.
    """

    def __init__(self) -> None:
        self._parser = _parser()
        self._plain = _parser().disable(["link", "image", "autolink"])

    def labels(self, text: str) -> list[str]:
        """The labels of the notes that a text holds."""
        tokens = self.blocks(text) if "[^" in text else []
        return [token.meta["label"] for token in tokens if token.type == "note_open"]

    def blocks(self, text: str, notes: Collection[str] = ()) -> list[Token]:
        """The tokens of a text; `notes` are the labels whose marks are marks of a note."""
        parser = self._plain if text.count("[") > MAX_BRACKETS else self._parser
        tokens = parser.parse(text, {"notes": notes})
        if any(token.level > MAX_NESTING for token in tokens):
            return [Token("fence", "", 0, content=text, block=True)]
        if _table_lost_words(text, tokens):
            parser.disable("table")
            tokens = parser.parse(text, {"notes": notes})
            parser.enable("table")
        _note_joints(text, tokens)
        return tokens

    def line(self, text: str, notes: Collection[str] = ()) -> list[Token]:
        """The tokens of a title: one of type `inline`."""
        return self._parser.parseInline(text, {"notes": notes})

    def plain(self, text: str, notes: Collection[str] = ()) -> str:
        """A title without its marks."""
        children = [child for token in self.line(text, notes) for child in token.children or ()]
        return "".join(child.content for child in children if child.type not in ("html_inline", "note_mark"))


def _table_lost_words(text: str, tokens: list[Token]) -> bool:
    """Whether a row has more cells than the head of its table: the parser drops what is in them."""
    lines: list[str] = []
    inside: list[str] = []
    opening: Token | None = None
    for token in tokens:
        if token.type == "table_open":
            opening = token
            inside.clear()
        elif token.type != "table_close":
            inside.append(token.content)
        elif opening is not None and opening.map is not None:
            lines = lines or text.split("\n")
            if len(find_words(" ".join(inside))) < len(find_words("\n".join(lines[slice(*opening.map)]))):
                return True
    return False


def _note_joints(text: str, tokens: list[Token]) -> None:
    lines: list[str] = []
    before = ""
    for token in tokens:
        if token.level or token.nesting < 0 or token.map is None:
            continue
        lines = lines or text.split("\n")
        line = token.map[0]
        while line and not lines[line - 1].strip(" \t"):
            line -= 1
        joint = token.map[0] - line + 1
        kind = token.type.removeprefix("bullet_").removeprefix("ordered_")
        if before and (joint != 2 or kind == before):
            token.meta["joint"] = joint
        before = kind


def paired_tags(children: list[Token]) -> set[int]:
    """The places of the HTML tags that open and close within one another; others are shown as text."""
    waiting: list[tuple[str, int]] = []
    found: set[int] = set()
    for place, token in enumerate(children):
        if token.nesting > 0:
            waiting.append(("", place))
        elif token.nesting < 0:
            while waiting and waiting.pop()[0]:
                pass
        elif token.type == "html_inline" and (tag := TAG.match(token.content)):
            if not tag[1]:
                waiting.append((tag[2], place))
            elif waiting and waiting[-1][0] == tag[2]:
                found.update((waiting.pop()[1], place))
    return found


def target_of(token: Token, name: str) -> str:
    """Where a link or a picture leads, with its title, as Markdown writes it."""
    title = token.attrs.get("title")
    return f'{token.attrs.get(name, "")} "{title}"' if title else str(token.attrs.get(name, ""))


def web_address(token: Token) -> str:
    """The address of a link to the web, made safe for an attribute; empty for a link that leads elsewhere."""
    href = str(token.attrs.get("href", ""))
    if not href.lower().startswith(_WEB):
        return ""
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), href)


def comment_text(content: str) -> tuple[str, str]:
    """The text of a comment as XML allows it (no two hyphens within), and what follows it on its line."""
    inside, _, after = content.strip().removeprefix("<!--").partition("-->")
    while "--" in inside:
        inside = inside.replace("--", "- -")
    return inside.strip(), after.strip()
