"""Markdown to the XHTML of an EPUB page: well-formed by construction, and no word of the text lost on the way."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from markdown_it.token import Token

from marginalia_tui.services.exchange.blocks import JOINT
from marginalia_tui.services.exchange.markdown_tokens import (
    BREAK,
    MarkdownTokens,
    comment_text,
    paired_tags,
    target_of,
    web_address,
)
from marginalia_tui.services.exchange.pictures import Shown

_NONE: Mapping[str, str] = {}


class PageWriter:
    """Turns the texts of one book into pages. `notes` is always the label of a note -> the file that holds it."""

    def __init__(self) -> None:
        self._tokens = MarkdownTokens()

    def notes_in(self, text: str) -> list[str]:
        """The labels of the notes that a text holds."""
        return self._tokens.labels(text)

    def page(self, text: str, file: str = "", notes: Mapping[str, str] = _NONE, shown: Shown | None = None) -> str:
        """The XHTML of a text that stands in `file`; `shown` knows its pictures, and learns which of them it has."""
        return _render(self._tokens.blocks(text, notes), notes, file, shown or Shown())

    def line(self, text: str, file: str = "", notes: Mapping[str, str] = _NONE) -> str:
        """The XHTML of a title."""
        return _render(self._tokens.line(text, notes), notes, file, Shown())

    def plain(self, text: str, notes: Mapping[str, str] = _NONE) -> str:
        """A title without its marks."""
        return self._tokens.plain(text, notes)


def _render(tokens: Iterable[Token], notes: Mapping[str, str], file: str, shown: Shown) -> str:
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
            out.append(_block(token, notes, file, taken, shown))
    return "".join(out)


def _block(token: Token, notes: Mapping[str, str], file: str, taken: set[str], shown: Shown) -> str:
    if token.type == "inline":
        return _inline(token.children or [], notes, file, shown)
    joint = f' {JOINT}="{lines}"' if (lines := token.meta.get("joint", 2)) != 2 else ""
    if token.type in ("fence", "code_block"):
        info = f' data-info="{_attribute(token.info.strip())}"' if token.info.strip() else ""
        return f"<pre{joint}><code{info}>{escape(token.content, quote=False)}</code></pre>\n"
    if token.type == "comment":
        return f"{_comment(token.content)}\n"
    if token.type == "note_open":
        label = token.meta["label"]
        anchor = f' id="fn-{label}"' if label not in taken and notes.get(label, file) == file else ""
        taken.add(label)
        return f'<aside epub:type="footnote" role="doc-footnote"{anchor}{joint}><b class="footnote-label">{label}</b>\n'
    if token.type == "hr":
        return f"<hr{joint} />\n"
    if token.hidden:
        return "\n" if token.nesting < 0 else ""
    if token.nesting < 0:
        return f"</{token.tag}>\n"
    attributes = "".join(f' {name}="{_attribute(str(value))}"' for name, value in token.attrs.items())
    return f"<{token.tag}{attributes}{joint}>"


def _comment(content: str) -> str:
    inside, after = comment_text(content)
    comment = f"<!-- {inside}{' ' if inside else ''}-->"
    return f"{comment}\n<p>{escape(after, quote=False)}</p>" if after else comment


def _inline(children: list[Token], notes: Mapping[str, str], file: str, shown: Shown) -> str:
    paired = paired_tags(children)
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
            out.append(_picture(token, shown))
        elif kind == "link_open":
            opening, closing = _link(token)
            out.append(opening)
            closings.append(closing)
        elif kind == "link_close":
            out.append(closings.pop())
        else:
            out.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
    return "".join(out)


def _picture(token: Token, shown: Shown) -> str:
    """A picture of the part; another one stays what the text says of it."""
    place = shown.place(str(token.attrs.get("src", "")))
    if not place:
        return escape(f"![{token.content}]({target_of(token, 'src')})", quote=False)
    title = token.attrs.get("title")
    words = "".join(child.content for child in token.children or ())
    return picture(place, words, str(title) if title else "")


def picture(place: str, words: str, title: str = "") -> str:
    """A picture that stands at a place of the book."""
    named = f' title="{_attribute(title)}"' if title else ""
    return f'<img src="{_attribute(place)}" alt="{_attribute(words)}"{named} />'


def _tag(content: str, paired: bool) -> str:
    if BREAK.match(content):
        return "<br />"
    if content.startswith("<!--") and content.endswith("-->"):
        return _comment(content)
    return content if paired else escape(content, quote=False)


def _note_link(label: str, notes: Mapping[str, str], file: str) -> str:
    where = notes[label] if notes[label] != file else ""
    return f'<a epub:type="noteref" role="doc-noteref" href="{_attribute(where)}#fn-{label}">{label}</a>'


def _link(token: Token) -> tuple[str, str]:
    """What stands before and after the text of a link: an element for the web, its source for all else."""
    address = web_address(token)
    if not address:
        return "[", escape(f"]({target_of(token, 'href')})", quote=False)
    title = f' title="{_attribute(str(token.attrs["title"]))}"' if token.attrs.get("title") else ""
    return f'<a href="{_attribute(address)}"{title}>', "</a>"


def _attribute(value: Any) -> str:
    return escape(str(value)).replace("\n", " ")
