"""The markup of an EPUB, parsed with distrust: no entity is expanded, nothing is loaded, broken tags are forgiven."""

import html
import html.entities
import re
from typing import Any

from lxml import etree

from marginalia_tui.domain.errors import Invalid

MAX_DEPTH = 120
"""Elements inside of one another; what is deeper is no page of a book."""

_OPS = "{http://www.idpf.org/2007/ops}type"
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_KEPT_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,300}\?>")
_DOCTYPE = re.compile(r"\s*<!DOCTYPE[^>\[]{0,1000}(?:\[[^\]]{0,100000}\])?[^>]{0,100}>", re.IGNORECASE)
_SELF_CLOSED = re.compile(r"<(title|script|style|textarea|iframe)\b([^<>]{0,1000})/>", re.IGNORECASE)


def parse_markup(text: str, name: str) -> Any:
    """The root element of a page, or None when there is none.

    Raises:
        Invalid: it is nested too deeply.
    """
    for head in (_DECLARATION, _DOCTYPE):
        if found := head.match(text):
            text = text[found.end() :]
    text = _ENTITY.sub(_character, text)
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_pis=True)
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError:
        forgiving = etree.HTMLParser(no_network=True, encoding="utf-8", remove_pis=True)
        root = etree.fromstring(_SELF_CLOSED.sub(r"<\1\2></\1>", text).encode(), forgiving)
        if any("depth" in str(entry.message) for entry in forgiving.error_log):
            raise Invalid(f"A page of {name} is nested too deeply to be read: export it again.") from None
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")) if root is not None else ():
        depth += 1 if event == "start" else -1
        if depth > MAX_DEPTH:
            raise Invalid(f"A page of {name} is nested too deeply to be read: export it again.")
    return root


def _character(found: re.Match[str]) -> str:
    """A named entity as the character; those of XML and unknown ones stay."""
    name = found[1]
    if name in _KEPT_ENTITIES:
        return found[0]
    return html.escape(html.entities.html5.get(f"{name};", found[0]))


def local_name(element: Any) -> str:
    """The name of an element without its namespace, in lower case; empty for comments and the like."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def kinds_of(element: Any) -> frozenset[str]:
    """The words of an element's `epub:type` and `role`."""
    if not isinstance(element.tag, str):
        return frozenset()
    found = element.get(_OPS) or element.get("epub:type") or ""
    return frozenset(f"{found} {(element.get('role') or '').replace('doc-', '')}".split())


def take_out(element: Any) -> None:
    """Takes an element out of its page; the text that follows it stays."""
    parent = element.getparent()
    before = element.getprevious()
    if element.tail:
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)
