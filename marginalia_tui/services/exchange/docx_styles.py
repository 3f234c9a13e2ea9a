"""The styles and lists of a DOCX: what a paragraph is, which marks its text has, and the number before it."""

import re
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.services.exchange.docx_static import SOFT_BREAK


class _Names(dict[Any, str]):
    """Tag -> its name without a namespace, in lower case; empty for comments."""

    def __missing__(self, tag: Any) -> str:
        found = tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
        if len(self) > 5_000:
            self.clear()
        self[tag] = found
        return found


NAMES = _Names()
"""A document has a few dozen tags and a million elements."""
_OFF = frozenset(("0", "false", "off", "none"))
_MARKS = {"b": "strong", "i": "em", "strike": "s", "dstrike": "s"}
_ROLES = {
    "title": "title", "subtitle": "subtitle", "author": "author", "date": "date",
    "quote": "quote", "intense quote": "quote", "block text": "quote", "quotations": "quote", "block quote": "quote",
    "block quotation": "quote", "blockquote": "quote",
    "source code": "code", "preformatted text": "lines", "html preformatted": "lines",
    "toc heading": "contents", "contents heading": "contents",
    "verbatim char": "code", "html code": "code", "code": "code", "source text": "code",
    "horizontal line": "break", SOFT_BREAK.lower(): "soft",
}  # fmt: skip
_HEADING = re.compile(r"heading ([1-9])$")
_QUOTE = re.compile(r"quote ([2-9])$")
_CONTENTS = re.compile(r"(?:toc|contents) [0-9]$")
_BREAK = re.compile(r"scene|ornament|separator|dinkus")
_CONTINUED = re.compile(r"list continue(?: [0-9])?$")


@dataclass(frozen=True, slots=True)
class Style:
    """A style: `role` is what it makes of a paragraph, `level` that of a heading or the depth of a quote."""

    role: str = ""
    level: int = 0
    marks: frozenset[str] = frozenset()
    placed: tuple[str, int] | None = None
    """The list and the level of it that the style puts a paragraph in."""


class Styles:
    """The styles of a document, by id."""

    def __init__(self, root: Any) -> None:
        self._elements: dict[str, Any] = {}
        self._known: dict[str, Style] = {}
        self.normal = ""
        self.language = ""
        for element in root if root is not None else ():
            if NAMES[element.tag] == "style" and (key := attribute(element, "styleId")):
                self._elements[key] = element
                default = attribute(element, "default")
                if attribute(element, "type") == "paragraph" and default and default not in _OFF:
                    self.normal = key
            elif NAMES[element.tag] == "docdefaults":
                for inner in element.iter():
                    if NAMES[inner.tag] == "lang":
                        self.language = value(inner)

    def get(self, key: str) -> Style:
        """The style of an id, with what it inherits; an unknown one is plain."""
        if key not in self._known:
            chain: list[str] = []
            while key in self._elements and key not in chain and key not in self._known:
                chain.append(key)
                based = child(self._elements[key], "basedon")
                key = value(based) if based is not None else ""
            found = self._known.get(key, Style())
            for each in reversed(chain):
                found = self._known[each] = self._read(each, found)
            if not chain:
                self._known[key] = found
            return found
        return self._known[key]

    def _read(self, key: str, parent: Style) -> Style:
        element = self._elements[key]
        named = child(element, "name")
        name = (value(named) if named is not None else key).strip().lower()
        paragraph, character = child(element, "ppr"), child(element, "rpr")
        role, level = _role(name, paragraph, parent)
        marks = with_properties(parent.marks, character) if key != self.normal else frozenset()
        placed = list_of(paragraph, parent.placed) if paragraph is not None else parent.placed
        return Style(role, level, marks, placed)


def _role(name: str, paragraph: Any, parent: Style) -> tuple[str, int]:
    """What a style is, by its name (Word writes the English one in every language), else by its outline level."""
    if found := _HEADING.match(name):
        return "heading", int(found[1])
    if name in _ROLES:
        return _ROLES[name], 1
    if found := _QUOTE.match(name):
        return "quote", int(found[1])
    if _CONTENTS.match(name):
        return "contents", 0
    if _CONTINUED.match(name):
        return "continued", 0
    if _BREAK.search(name):
        return "break", 0
    level = outline_level(paragraph)
    if level is not None:
        return ("heading", level) if level else ("", 0)
    return parent.role, parent.level


def outline_level(paragraph: Any) -> int | None:
    """The level of a heading (from 1) that properties of a paragraph give, 0 for text, None when they say nothing."""
    outline = child(paragraph, "outlinelvl") if paragraph is not None else None
    if outline is None:
        return None
    level = whole(value(outline), 9)
    return level + 1 if level < 9 else 0


def list_of(paragraph: Any, inherited: tuple[str, int] | None) -> tuple[str, int] | None:
    """The list that properties of a paragraph put it in; number 0 takes it out of one."""
    placed = child(paragraph, "numpr")
    if placed is None:
        return inherited
    number, level = child(placed, "numid"), child(placed, "ilvl")
    key = value(number) if number is not None else (inherited[0] if inherited else "")
    depth = whole(value(level), 0) if level is not None else (inherited[1] if inherited else 0)
    return (key, min(depth, 8)) if key not in ("", "0") else None


def with_properties(marks: frozenset[str], properties: Any) -> frozenset[str]:
    """Marks with those that the properties of a run or a style set or take off."""
    found = set(marks)
    for element in properties if properties is not None else ():
        name = NAMES[element.tag]
        if mark := _MARKS.get(name):
            (found.discard if value(element).lower() in _OFF else found.add)(mark)
        elif name == "vanish":
            (found.discard if value(element).lower() in _OFF else found.add)("hidden")
        elif name == "highlight":
            (found.discard if value(element).lower() in _OFF else found.add)("mark")
        elif name == "u":
            (found.discard if value(element).lower() in _OFF else found.add)("u")
        elif name == "vertalign":
            found -= {"sup", "sub"}
            found |= {{"superscript": "sup", "subscript": "sub"}.get(value(element), "")} - {""}
    return frozenset(found)


def child(element: Any, name: str) -> Any:
    """The first child of that name (in lower case, without its namespace), or None."""
    return next((inner for inner in element if NAMES[inner.tag] == name), None)


def attribute(element: Any, name: str) -> str:
    """An attribute, whatever its namespace; empty without one."""
    for key, found in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(found)
    return ""


def value(element: Any) -> str:
    """The attribute `val`."""
    return attribute(element, "val")


def whole(text: str, otherwise: int) -> int:
    """A whole number of at most nine digits."""
    return int(text) if re.fullmatch(r"\d{1,9}", text) else otherwise


@dataclass(slots=True)
class _Level:
    format: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    abstract: str
    levels: dict[int, _Level] = field(default_factory=dict)
    restarts: dict[int, int] = field(default_factory=dict)


class Lists:
    """The lists of a document, counted while its paragraphs are read in order."""

    def __init__(self, root: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        styled: dict[str, str] = {}
        links: dict[str, str] = {}
        for element in root if root is not None else ():
            name = NAMES[element.tag]
            if name == "abstractnum":
                key = attribute(element, "abstractNumId")
                self._levels[key] = {
                    whole(attribute(inner, "ilvl"), 0): _level(inner) for inner in element if NAMES[inner.tag] == "lvl"
                }
                if (style := child(element, "stylelink")) is not None:
                    styled[value(style)] = key
                if (link := child(element, "numstylelink")) is not None:
                    links[key] = value(link)
            elif name == "num":
                self._add(element)
        for key, style_name in links.items():
            self._levels[key] = self._levels.get(styled.get(style_name, ""), {})

    def _add(self, element: Any) -> None:
        abstract = child(element, "abstractnumid")
        made = _List(value(abstract) if abstract is not None else "")
        for inner in element:
            if NAMES[inner.tag] == "lvloverride":
                level = whole(attribute(inner, "ilvl"), 0)
                if (start := child(inner, "startoverride")) is not None:
                    made.restarts[level] = whole(value(start), 1)
                if (own := child(inner, "lvl")) is not None:
                    made.levels[level] = _level(own)
        self._lists[attribute(element, "numId")] = made

    def mark(self, key: str, level: int) -> str:
        """The Markdown before the next paragraph of a list: `-`, a number with a full stop, or nothing.

        Nothing means that its list shows no sign there: the paragraph goes on with the item before.
        """
        found, number = self._count(key, level)
        if found.format in ("bullet", "none"):
            return "-" if found.text.strip() or (found.format == "bullet" and not found.text) else ""
        return f"{number}."

    def label(self, key: str, level: int) -> str:
        """The words before a heading that counts itself, such as `Chapter 3`."""
        found, _ = self._count(key, level)
        known = self._lists.get(key)
        counts = self._counts.get(known.abstract, {}) if known else {}
        if found.format in ("bullet", "none"):
            return ""

        def number(each: re.Match[str]) -> str:
            depth = int(each[1]) - 1
            return _written(counts.get(depth, 1), self._of(known, depth).format)

        return re.sub(r"%([1-9])", number, found.text).strip(" .:\t")

    def _of(self, known: _List | None, level: int) -> _Level:
        if known is None:
            return _Level()
        return known.levels.get(level) or self._levels.get(known.abstract, {}).get(level) or _Level()

    def _count(self, key: str, level: int) -> tuple[_Level, int]:
        known = self._lists.get(key)
        found = self._of(known, level)
        if known is None:
            return _Level("bullet"), 0
        counts = self._counts.setdefault(known.abstract, {})
        if level in known.restarts:
            counts[level] = known.restarts.pop(level)
        else:
            counts[level] = counts[level] + 1 if level in counts else found.start
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return found, counts[level]


def _level(element: Any) -> _Level:
    made = _Level(text="")
    for inner in element:
        name = NAMES[inner.tag]
        if name == "numfmt":
            made.format = value(inner)
        elif name == "lvltext":
            made.text = value(inner)
        elif name == "start":
            made.start = whole(value(inner), 1)
    return made


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def _written(number: int, format: str) -> str:
    """A number as a level of a list writes it; what is not known as digits."""
    made = ""
    if format in ("lowerRoman", "upperRoman") and number < 4000:
        for size, sign in _ROMAN:
            made += sign * (number // size)
            number %= size
    elif format in ("lowerLetter", "upperLetter") and 0 < number <= 780:
        made = "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * ((number - 1) // 26 + 1)
    else:
        return str(number)
    return made.upper() if format.startswith("upper") else made
