"""What the package of an EPUB says: its pages in order, its contents, its style sheets; a protected one is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.epub_writer import GENERATOR
from marginalia_tui.services.exchange.from_html import BOLD, ITALIC, Styles, read_page
from marginalia_tui.services.exchange.manuscript import (
    MAX_TITLE,
    one_line,
)
from marginalia_tui.services.exchange.markup import kinds_of, local_name, parse_markup

_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""What hides fonts, and is no protection of the text."""
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_CLASS = re.compile(r"\s*[a-z0-9]{0,10}\.([\w-]+)\s*$")
_MARKED_UP = re.compile(r"</(?:p|div|span|i|b|em|strong|h[1-6])>|<br ?/?>", re.IGNORECASE)
_MAX_STYLE = 1_000_000


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book as its package names it; `name` is its entry in the archive."""

    name: str
    kind: str
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents."""

    depth: int
    title: str
    name: str
    anchor: str


@dataclass(slots=True)
class Package:
    """What the package file says."""

    title: str = ""
    author: str = ""
    language: str = ""
    description: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    spine: list[Item] = field(default_factory=list)
    cover: str = ""
    """The id of the picture on its cover."""
    contents: str = ""
    """The id of the NCX, in older books."""
    ours: bool = False
    """Whether the studio wrote it: then each page is a part, and its first heading the title."""


def refuse_protected(archive: Archive, name: str) -> None:
    """Refuses a book whose text is hidden; fonts may be.

    Raises:
        Refused: it is protected.
    """
    refused = Refused(
        f"{name} is protected (DRM): only the programs of its shop can open it. Ask for a copy without protection."
    )
    if "META-INF/rights.xml" in archive and "META-INF/encryption.xml" not in archive:
        raise refused
    if "META-INF/encryption.xml" not in archive:
        return
    root = parse_markup(page_text(archive, "META-INF/encryption.xml", name), name)
    methods = [
        element.get("Algorithm") or element.get("algorithm") or ""
        for element in (root.iter() if root is not None else ())
        if local_name(element) == "encryptionmethod"
    ]
    if not methods or any(method not in _FONT_ALGORITHMS for method in methods):
        raise refused


def _package_name(archive: Archive, name: str) -> str:
    if "META-INF/container.xml" in archive:
        root = parse_markup(page_text(archive, "META-INF/container.xml", name), name)
        for element in root.iter() if root is not None else ():
            if local_name(element) == "rootfile" and (found := element.get("full-path")):
                return archive.inside("", found)
    for entry in archive.names():
        if entry.lower().endswith(".opf"):
            return entry
    if "content.xml" in archive:
        raise Invalid(f"{name} is a LibreOffice document: save it as DOCX or EPUB and import that.")
    if "word/document.xml" in archive:
        raise Invalid(f"{name} is a Word document: import it as docx.")
    raise Invalid(f"{name} is a zip file but no EPUB: give a book as EPUB, Markdown or plain text.")


def page_text(archive: Archive, entry: str, name: str) -> str:
    """The text of a page; an encoding that it declares is tried first."""
    data = archive.read(entry)
    declared = re.match(rb"[^>]{0,200}encoding=[\"']([\w.-]{1,40})[\"']", data)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"utf-16"):
        try:
            return data.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data, f"A page of {name}").text if data.strip() else ""


def read_package(archive: Archive, name: str) -> Package:
    """Reads the package.

    Args:
        archive: the book.
        name: how it is called in a sentence.

    Raises:
        Invalid: it is no EPUB, or names no pages.
    """
    package_name = _package_name(archive, name)
    root = parse_markup(page_text(archive, package_name, name), name)
    package = Package()
    authors: list[str] = []
    references: list[str] = []
    for element in root.iter() if root is not None else ():
        tag = local_name(element).removeprefix("dc:").removeprefix("opf:")
        if tag == "item" and (href := element.get("href")) and (key := element.get("id")):
            if "://" not in href:
                where = archive.inside(package_name, unquote(href.split("#")[0]))
                properties = frozenset((element.get("properties") or "").split())
                package.items[key] = Item(archive.written_as(where), element.get("media-type") or "", properties)
        elif tag == "itemref":
            references.append(element.get("idref") or "")
        elif tag == "meta" and element.get("name") == "cover":
            package.cover = element.get("content") or ""
        elif tag == "meta" and element.get("name") == "generator":
            package.ours = element.get("content") == GENERATOR
        elif tag == "spine":
            package.contents = element.get("toc") or ""
        elif tag == "creator":
            authors.append(one_line("".join(element.itertext())))
        elif tag in ("title", "language", "description") and not getattr(package, tag):
            setattr(package, tag, clean("".join(element.itertext())).strip())
    package.cover = next(
        (key for key, item in package.items.items() if "cover-image" in item.properties), package.cover
    )
    package.author = clean(", ".join(author for author in authors if author))
    if _MARKED_UP.search(package.description):
        blocks = read_page(f"<body>{package.description}</body>", name, Styles()).blocks
        package.description = "\n\n".join(block.text for block in blocks if block.text)
    package.spine = [item for each in references if (item := package.items.get(each)) and item.kind in _PAGES]
    if not package.spine:
        raise Invalid(f"{name} names no pages to read: it is damaged, export or download it again.")
    return package


def read_contents(archive: Archive, package: Package, name: str) -> list[Entry]:
    """The lines of the table of contents, of the newer one if there is one."""
    navigation = next((item for item in package.items.values() if "nav" in item.properties), None)
    if navigation and navigation.name in archive:
        root = parse_markup(page_text(archive, navigation.name, name), name)
        if found := list(_navigation_entries(archive, root, navigation.name)):
            return found
    older = package.items.get(package.contents) or next(
        (item for item in package.items.values() if item.kind == "application/x-dtbncx+xml"), None
    )
    if older and older.name in archive:
        root = parse_markup(page_text(archive, older.name, name), name)
        return list(_ncx_entries(archive, root, older.name))
    return []


def _navigation_entries(archive: Archive, root: Any, base: str) -> Iterator[Entry]:
    for nav in root.iter() if root is not None else ():
        if local_name(nav) != "nav" or (kinds_of(nav) and "toc" not in kinds_of(nav)):
            continue
        for link in nav.iter():
            if local_name(link) == "a" and (href := link.get("href")):
                depth = sum(local_name(outer) == "ol" for outer in link.iterancestors())
                yield _entry(archive, base, href, "".join(link.itertext()), depth)
        return


def _ncx_entries(archive: Archive, root: Any, base: str) -> Iterator[Entry]:
    for point in root.iter() if root is not None else ():
        if local_name(point) != "navpoint":
            continue
        title = href = ""
        for child in point:
            if local_name(child) == "navlabel":
                title = "".join(child.itertext())
            elif local_name(child) == "content":
                href = child.get("src") or ""
        depth = 1 + sum(local_name(outer) == "navpoint" for outer in point.iterancestors())
        if href:
            yield _entry(archive, base, href, title, depth)


def _entry(archive: Archive, base: str, href: str, title: str, depth: int) -> Entry:
    where, _, anchor = unquote(href).partition("#")
    name = archive.written_as(archive.inside(base, where)) if where and "://" not in where else base
    return Entry(depth, one_line(clean(title))[:MAX_TITLE], name, anchor)


def read_styles(archive: Archive, package: Package) -> Styles:
    """The classes that the style sheets make italic or bold."""
    italic: set[str] = set()
    bold: set[str] = set()
    for item in package.items.values():
        if item.kind != "text/css" or item.name not in archive:
            continue
        sheet = archive.read(item.name)[:_MAX_STYLE].decode("utf-8", "replace")
        for rule in sheet.split("}"):
            selectors, _, style = rule.rpartition("{")
            classes = [found[1] for each in selectors.split(",") if (found := _CLASS.match(each))]
            if classes and ITALIC.search(style):
                italic.update(classes)
            if classes and BOLD.search(style):
                bold.update(classes)
    return Styles(frozenset(italic), frozenset(bold))
