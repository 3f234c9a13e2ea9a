"""Markdown to the XHTML of an EPUB page: well-formed by construction, and no word of the text lost on the way.

Where Markdown has no rule for a reader (links inside the manuscript, pictures that are not there, tags beyond a
few), the source is shown as text. Link definitions are shown too: they would vanish otherwise.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
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
_TAG = re.compile(r"<(/?)(em|i|strong|b|u|s|del|ins|sub|sup|small|mark)>$")
_BREAK = re.compile(r"<br[ ]*/?>$")
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


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING * 2, "xhtmlOut": True, "html": True})
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["reference", "html_block"])
    markdown.block.ruler.before("fence", "comment", _comment_block, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.block.ruler.before("fence", "note", _note_block, {"alt": ["paragraph"]})
    markdown.inline.ruler.before("link", "note_mark", _note_mark)
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return markdown


class PageWriter:
    """Turns the texts of one book into pages.

    Args:
        notes: label of a note -> the file that holds it.
    """

    def __init__(self, notes: Mapping[str, str] | None = None) -> None:
        self._notes = notes or {}
        self._parser = _parser()
        self._plain = _parser().disable(["link", "image", "autolink"])

    def notes_in(self, text: str) -> list[str]:
        """The labels of the notes that a text holds."""
        tokens = self._tokens(text) if "[^" in text else []
        return [token.meta["label"] for token in tokens if token.type == "note_open"]

    def page(self, text: str, file: str = "") -> str:
        """The XHTML of a text that stands in `file`."""
        return _render(self._tokens(text), self._notes, file)

    def line(self, text: str, file: str = "") -> str:
        """The XHTML of a title."""
        tokens = self._parser.parseInline(text, {"notes": self._notes})
        return _render(tokens, self._notes, file)

    def plain(self, text: str) -> str:
        """A title without its marks."""
        tokens = self._parser.parseInline(text, {"notes": self._notes})
        children = [child for token in tokens for child in token.children or ()]
        return "".join(child.content for child in children if child.type not in ("html_inline", "note_mark"))

    def _tokens(self, text: str) -> list[Token]:
        parser = self._plain if text.count("[") > MAX_BRACKETS else self._parser
        tokens = parser.parse(text, {"notes": self._notes})
        if any(token.level > MAX_NESTING for token in tokens):
            return [Token("fence", "", 0, content=text, block=True)]
        if _table_lost_words(text, tokens):
            parser.disable("table")
            tokens = parser.parse(text, {"notes": self._notes})
            parser.enable("table")
        return tokens


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


def _render(tokens: Iterable[Token], notes: Mapping[str, str], file: str) -> str:
    out: list[str] = []
    number = 0
    taken: set[str] = set()
    starts: list[int] = []
    for token in tokens:
        if token.type == "ordered_list_open":
            starts.append(int(token.attrs.get("start", 1)))
        elif token.type == "ordered_list_close":
            starts.pop()
        elif token.type == "bullet_list_open":
            starts.append(-1)
        elif token.type == "bullet_list_close":
            starts.pop()
        if token.type == "list_item_open" and starts and starts[-1] >= 0:
            number = int(token.info or starts[-1])
            out.append("<li>" if number == starts[-1] else f'<li value="{number}">')
            starts[-1] = number + 1
        else:
            out.append(_block(token, notes, file, taken))
    return "".join(out)


def _block(token: Token, notes: Mapping[str, str], file: str, taken: set[str]) -> str:
    if token.type == "inline":
        return _inline(token.children or [], notes, file)
    if token.type in ("fence", "code_block"):
        info = f' data-info="{_attribute(token.info.strip())}"' if token.info.strip() else ""
        return f"<pre><code{info}>{escape(token.content, quote=False)}</code></pre>\n"
    if token.type == "comment":
        return f"{_comment(token.content)}\n"
    if token.type == "note_open":
        label = token.meta["label"]
        anchor = f' id="fn-{label}"' if label not in taken and notes.get(label, file) == file else ""
        taken.add(label)
        return f'<aside epub:type="footnote" role="doc-footnote"{anchor}><b class="footnote-label">{label}</b>\n'
    if token.type == "hr":
        return "<hr />\n"
    if token.hidden:
        return "\n" if token.nesting < 0 else ""
    if token.nesting < 0:
        return f"</{token.tag}>\n"
    attributes = "".join(f' {name}="{_attribute(str(value))}"' for name, value in token.attrs.items())
    return f"<{token.tag}{attributes}>"


def _comment(content: str) -> str:
    """A comment as XML allows it: no two hyphens within. What follows it on its line is text."""
    inside, _, after = content.strip().removeprefix("<!--").partition("-->")
    while "--" in inside:
        inside = inside.replace("--", "- -")
    inside = inside.strip()
    comment = f"<!-- {inside}{' ' if inside else ''}-->"
    return f"{comment}\n<p>{escape(after.strip(), quote=False)}</p>" if after.strip() else comment


def _inline(children: list[Token], notes: Mapping[str, str], file: str) -> str:
    paired = _paired_tags(children)
    out: list[str] = []
    closings: list[str] = []
    for place, token in enumerate(children):
        kind = token.type
        if kind in ("text", "text_special"):
            out.append(escape(token.content, quote=False))
        elif kind == "softbreak":
            out.append("\n")
        elif kind == "hardbreak":
            out.append("<br />\n")
        elif kind == "code_inline":
            out.append(f"<code>{escape(token.content, quote=False)}</code>")
        elif kind == "html_inline":
            out.append(_tag(token.content, place in paired))
        elif kind == "note_mark":
            out.append(_note_link(token.content, notes, file))
        elif kind == "image":
            source = f"![{token.content}]({_target(token, 'src')})"
            out.append(escape(source, quote=False))
        elif kind == "link_open":
            opening, closing = _link(token)
            out.append(opening)
            closings.append(closing)
        elif kind == "link_close":
            out.append(closings.pop())
        else:
            out.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
    return "".join(out)


def _paired_tags(children: list[Token]) -> set[int]:
    """The places of the HTML tags that open and close within one another; others are shown as text."""
    waiting: list[tuple[str, int]] = []
    found: set[int] = set()
    for place, token in enumerate(children):
        if token.nesting > 0:
            waiting.append(("", place))
        elif token.nesting < 0:
            while waiting and waiting.pop()[0]:
                pass
        elif token.type == "html_inline" and (tag := _TAG.match(token.content)):
            if not tag[1]:
                waiting.append((tag[2], place))
            elif waiting and waiting[-1][0] == tag[2]:
                found.update((waiting.pop()[1], place))
    return found


def _tag(content: str, paired: bool) -> str:
    if _BREAK.match(content):
        return "<br />"
    if content.startswith("<!--") and content.endswith("-->"):
        return _comment(content)
    return content if paired else escape(content, quote=False)


def _note_link(label: str, notes: Mapping[str, str], file: str) -> str:
    where = notes[label] if notes[label] != file else ""
    return f'<a epub:type="noteref" role="doc-noteref" href="{_attribute(where)}#fn-{label}">{label}</a>'


def _target(token: Token, name: str) -> str:
    title = token.attrs.get("title")
    return f'{token.attrs.get(name, "")} "{title}"' if title else str(token.attrs.get(name, ""))


def _link(token: Token) -> tuple[str, str]:
    """What stands before and after the text of a link: an element for the web, its source for all else."""
    href = str(token.attrs.get("href", ""))
    if not href.lower().startswith(_WEB):
        return "[", escape(f"]({_target(token, 'href')})", quote=False)
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), href)
    title = f' title="{_attribute(str(token.attrs["title"]))}"' if token.attrs.get("title") else ""
    return f'<a href="{_attribute(safe)}"{title}>', "</a>"


def _attribute(value: Any) -> str:
    return escape(str(value)).replace("\n", " ")
