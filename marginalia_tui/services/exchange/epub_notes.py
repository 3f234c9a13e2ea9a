"""The footnotes of an EPUB: which links call a note, and which elements are the notes, over all of its pages.

EPUB 3 says it (`epub:type`, `role`). Older books do it by habit: a short mark, mostly raised, links to a paragraph
that links back or begins with the same mark. What is found is written into the pages as attributes of ours, by which
`from_html` reads them; the way back and the number of a note, which a manuscript does not need, are taken out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from lxml import etree

from marginalia_tui.services.exchange.markup import kinds_of, local_name, take_out

CALLS = "data-marginalia-calls"
"""On a link: the key of the note that it calls."""
HOLDS = "data-marginalia-holds"
"""On an element: the key of the note that it is."""
LABEL = "data-marginalia-label"
"""On an element that is a note: the mark that calls it, without brackets."""

Resolve = Callable[[str, str], tuple[str, str] | None]
"""Page and address -> page and anchor, None for what leads out of the book."""

_SHOWN = re.compile(
    r"\s*[\[({]?\s*([0-9]{1,4}|[A-Za-z]|[ivxl]{1,6}|[*\u2217\u2020\u2021\u00a7\u2016\u00b6#]{1,4})\s*[\])}]?\s*$"
)
_BLOCKS = frozenset(("p", "li", "aside", "div", "dd", "section", "td", "blockquote"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_NOTES = frozenset(("footnote", "endnote", "rearnote", "note"))
_SECTIONS = frozenset(("footnotes", "endnotes", "rearnotes"))
_START = 80
"""Characters in which the mark of a note stands."""
_RAISED = re.compile(r"note|fn|super|\bsup\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Call:
    """A link that calls a note, with the mark that it shows."""

    page: str
    element: Any
    shown: str


@dataclass(slots=True)
class _Note:
    """An element that may be a note, and the links that would call it."""

    element: Any
    typed: bool
    calls: list[_Call] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What has to be known of an element before it is taken for a note."""

    headed: bool
    start: str
    leads: frozenset[tuple[str, str]]
    """Where its links lead."""


def find_notes(pages: Mapping[str, Any], resolve: Resolve) -> None:
    """Writes into the pages of a book which links call notes, and which elements are notes.

    Args:
        pages: name -> root element; they are changed.
        resolve: says where an address leads.
    """
    _Finder(pages, resolve).settle()


class _Finder:
    def __init__(self, pages: Mapping[str, Any], resolve: Resolve) -> None:
        self._resolve = resolve
        self._anchors: dict[tuple[str, str], Any] = {}
        self._notes: dict[str, _Note] = {}
        self._keys: dict[Any, str] = {}
        self._facts: dict[Any, _Facts] = {}
        links: list[tuple[str, Any]] = []
        for page, root in pages.items():
            for element in root.iter():
                if isinstance(element.tag, str):
                    self._look_at(page, element, links)
        for page, element in links:
            self._call(page, element)

    def _look_at(self, page: str, element: Any, links: list[tuple[str, Any]]) -> None:
        name, anchor = local_name(element), element.get("id")
        if anchor:
            self._anchors.setdefault((page, anchor), element)
        if name == "a":
            if element.get("name"):
                self._anchors.setdefault((page, element.get("name")), element)
            if "#" in (element.get("href") or ""):
                links.append((page, element))
        elif anchor and name in _BLOCKS and kinds_of(element) & _NOTES:
            self._key(page, anchor, element, typed=True)

    def _key(self, page: str, anchor: str, element: Any, *, typed: bool) -> str:
        """The key of an element that may be a note."""
        if element not in self._keys:
            key = f"{page}#{anchor}"
            self._keys[element] = key
            self._notes[key] = _Note(element, typed)
        return self._keys[element]

    def _call(self, page: str, element: Any) -> None:
        kinds = kinds_of(element)
        where = self._resolve(page, element.get("href"))
        target = self._anchors.get(where) if where else None
        if where is None or target is None or kinds & {"backlink", "referrer"}:
            return
        text = "".join(element.itertext())
        shown = _SHOWN.match(text)
        block = _block_of(target)
        if block is None or any(outer is block for outer in element.iterancestors()):
            return
        typed = "noteref" in kinds
        if typed or (shown is not None and self._by_habit(page, element, where[0], block, shown[1])):
            key = self._key(where[0], where[1], block, typed=typed)
            self._notes[key].calls.append(_Call(page, element, shown[1] if shown else text.strip()))

    def _by_habit(self, page: str, link: Any, other: str, block: Any, shown: str) -> bool:
        """Whether a link that no type says anything of calls a note, which stands in a block of the page `other`."""
        facts = self._facts_of(other, block)
        if facts.headed or not _text_before(link):
            return False
        if not facts.leads.isdisjoint((page, anchor) for anchor in _anchors_near(link)):
            return True
        return _is_raised(link) and re.match(rf"\s*[\[(]?\s*{re.escape(shown)}(?!\w)", facts.start) is not None

    def _facts_of(self, page: str, block: Any) -> _Facts:
        if block not in self._facts:
            inside = [(local_name(inner), inner) for inner in block.iter()]
            leads = (
                self._resolve(page, inner.get("href")) for name, inner in inside if name == "a" and inner.get("href")
            )
            self._facts[block] = _Facts(
                any(name in _HEADINGS for name, _ in inside),
                "".join(text for _, _, text in islice(_slots(block), 8))[:_START],
                frozenset(each for each in leads if each),
            )
        return self._facts[block]

    def settle(self) -> None:
        """Writes what was found into the pages."""
        outer = {each for element in self._keys for each in element.iterancestors() if each in self._keys}
        for key, note in self._notes.items():
            if note.element in outer or (not note.calls and not note.typed):
                continue
            if local_name(note.element) == "li" and not self._list_of_notes(note.element.getparent(), outer):
                continue
            self._write(key, note)

    def _list_of_notes(self, parent: Any, outer: set[Any]) -> bool:
        """Whether all items of a list are notes; then it is a list no more."""
        if local_name(parent) == "div":
            return True
        items = [child for child in parent if isinstance(child.tag, str)]
        if not all(child in self._keys and child not in outer for child in items):
            return False
        if any(not (note := self._notes[self._keys[child]]).calls and not note.typed for child in items):
            return False
        _rename(parent, "div")
        return True

    def _write(self, key: str, note: _Note) -> None:
        element = note.element
        page = key.rpartition("#")[0]
        shown = {call.shown for call in note.calls}
        back = {(call.page, anchor) for call in note.calls for anchor in _anchors_near(call.element)}
        for call in note.calls:
            call.element.set(CALLS, key)
            _lower(call.element)
        element.set(HOLDS, key)
        element.set(LABEL, note.calls[0].shown if note.calls else "")
        _strip_mark(element, shown)
        for link in [inner for inner in element.iter() if local_name(inner) == "a" and inner is not element]:
            if link.get("href") and self._resolve(page, link.get("href")) in back:
                take_out(link)
        for outer in islice(element.iterancestors(), 2):
            if kinds_of(outer) & _SECTIONS or "footnotes" in (outer.get("class") or ""):
                for rule in [child for child in outer if local_name(child) == "hr"]:
                    take_out(rule)


def _block_of(element: Any) -> Any:
    """The block that an anchor stands for: the smallest one around it, or what holds it as the note's number."""
    while element is not None and local_name(element) not in _BLOCKS:
        if local_name(element) in _HEADINGS or local_name(element) == "body":
            return None
        element = element.getparent()
    if element is None or local_name(element) != "p":
        return element
    parent = element.getparent()
    first = next((child for child in parent if isinstance(child.tag, str)), None)
    if first is not element or (parent.text or "").strip():
        return element
    named = local_name(parent) in _BLOCKS and (kinds_of(parent) & _NOTES or "note" in (parent.get("class") or ""))
    several = "notes" in (parent.get("class") or "")
    return parent if local_name(parent) == "li" or (named and not several) else element


def _slots(element: Any) -> Iterator[tuple[Any, str, str]]:
    """The texts inside of an element in order: what holds each (`text` or `tail` of an element), and the text."""
    for event, inner in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "start" and inner.text:
            yield inner, "text", inner.text
        elif event != "start" and inner is not element and inner.tail:
            yield inner, "tail", inner.tail


def _text_before(link: Any) -> bool:
    """Whether words stand before a link in its block: a mark follows what it is a note on."""
    block = link.getparent()
    while local_name(block) not in _BLOCKS and local_name(block) not in _HEADINGS and block.getparent() is not None:
        block = block.getparent()
    for holder, kind, text in _slots(block):
        if kind == "text" and (holder is link or any(outer is link for outer in holder.iterancestors())):
            return False
        if text.strip():
            return True
    return False


def _is_raised(link: Any) -> bool:
    """Whether a link is written above the line, or called a note by its class."""
    near = [link, link.getparent(), *link]
    return any(
        local_name(each) == "sup" or _RAISED.search(each.get("class") or "") for each in near if local_name(each)
    )


def _anchors_near(link: Any) -> set[str]:
    """The ids by which a note may lead back to the link that called it."""
    near = [inner for inner in link.iter() if isinstance(inner.tag, str)]
    if (before := link.getprevious()) is not None and isinstance(before.tag, str):
        near.append(before)
    for outer in link.iterancestors():
        near.append(outer)
        if local_name(outer) in _BLOCKS or local_name(outer) in _HEADINGS:
            break
    names = (name for each in near for name in (each.get("id"), each.get("name")))
    return {name for name in names if name}


def _lower(link: Any) -> None:
    """Takes away that a mark is raised: as a mark of a note it will be."""
    outer = link.getparent()
    while outer is not None and local_name(outer) == "sup" and len(outer) == 1 and not (outer.text or "").strip():
        _rename(outer, "span")
        outer = outer.getparent()


def _rename(element: Any, name: str) -> None:
    space, bracket, _ = element.tag.rpartition("}")
    element.tag = f"{space}{bracket}{name}"


def _strip_mark(element: Any, shown: set[str]) -> None:
    """Takes the mark of a note, with what sets it off, away from the start of its text."""
    slots = []
    start = ""
    for slot in _slots(element):
        slots.append(slot)
        start += slot[2]
        if len(start) > _START or len(slots) > _START:
            break
    marks = "|".join(re.escape(each) for each in sorted(shown, key=len, reverse=True) if each)
    found = re.match(rf"\s*[\[({{]?\s*(?:{marks})(?!\w)\s*[\])}}]?[ \t]*[.:)]?\s*", start) if marks else None
    left = found.end() if found else 0
    for holder, kind, text in slots:
        if not left:
            break
        setattr(holder, kind, text[left:])
        left = max(0, left - len(text))
