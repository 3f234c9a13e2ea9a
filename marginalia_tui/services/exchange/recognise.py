"""The format of a book from its content; the suffix of its name decides only where the content leaves it open."""

from collections.abc import Iterable
from typing import Literal, get_args

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.chapterlines import chapter_line
from marginalia_tui.services.exchange.frontmatter import part_front_matter
from marginalia_tui.services.exchange.headings import scan

Written = Literal["markdown", "text", "epub", "docx", "chat", "card", "backup", "folder", "longform"]
"""The formats that are written."""
Format = Literal[Written, "novelwriter"]

FORMATS: tuple[Format, ...] = get_args(Format)
"""One Markdown file, plain text, EPUB, a Word document, a chat of SillyTavern, a character card, a backup of
the studio, a folder of Markdown files, one with the index note of Longform, a project of novelWriter."""

FOLDERS: tuple[Format, ...] = ("folder", "longform", "novelwriter")
"""Those that are folders."""
ONLY_IN: tuple[Format, ...] = ("novelwriter",)
"""Those that are read and not written."""
SUFFIXES: dict[str, Written] = {
    ".md": "markdown",
    ".txt": "text",
    ".epub": "epub",
    ".docx": "docx",
    ".jsonl": "chat",
    ".json": "card",
    ".zip": "backup",
    "": "folder",
}
"""How the name of a file that is written ends -> its format when no other is wanted."""

_SHORT: dict[str, Format] = {"md": "markdown", "txt": "text", "plain": "text", "jsonl": "chat", "sillytavern": "chat"}
_ADVICE = "save it as DOCX, EPUB, Markdown or plain text and import that."
_FOREIGN = (
    (0, b"%PDF", "a PDF"),
    (0, b"{\\rtf", "a rich text file (RTF)"),
    (0, b"\xd0\xcf\x11\xe0", "an old Word document (.doc), or one with a password"),
    (60, b"BOOKMOBI", "a Kindle book"),
    (0, b"\x1f\x8b", "a packed file (gzip)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a packed file (7z)"),
    (0, b"Rar!", "a packed file (RAR)"),
    (0, b"\x89PNG", "a picture"),
    (0, b"\xff\xd8\xff", "a picture"),
    (0, b"GIF8", "a picture"),
    (0, b"SQLite format 3", "a database"),
    (0, b"\x7fELF", "a program"),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def format_named(name: str) -> Format:
    """The format of a name as the author writes it; `md`, `txt` and `jsonl` are others.

    Raises:
        Invalid: there is no such format; the sentence lists them.
    """
    wanted = name.strip().lower()
    for known in FORMATS:
        if wanted == known:
            return known
    if wanted in _SHORT:
        return _SHORT[wanted]
    raise Invalid(f"There is no format {name!r}: choose one of {', '.join(FORMATS)}.")


def written_format(suffix: str) -> Written:
    """The format of a file to write, by how its name ends.

    Raises:
        Invalid: that says nothing.
    """
    known = SUFFIXES.get(suffix.lower())
    if known is None:
        raise Invalid(f"Name the format: {suffix!r} says none (those of {', '.join(filter(None, SUFFIXES))} do).")
    return known


def is_zip(start: bytes, name: str) -> bool:
    """Whether a file that begins with these bytes is a zip file; if not, it is to be read as a text.

    Raises:
        Invalid: it is known to be neither; the sentence says what it is.
    """
    if start.startswith(_ZIP):
        return True
    for place, mark, what in _FOREIGN:
        if start[place:].startswith(mark):
            raise Invalid(f"{name} is {what}: {_ADVICE}")
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise Invalid(f"{name} is a web page: {_ADVICE}")
    return False


def zip_format(names: Iterable[str]) -> Literal["epub", "docx"]:
    """Which book a zip file is, by the names of its entries; what is neither is for the EPUB reader to refuse."""
    known = {name.lower() for name in names}
    if "meta-inf/container.xml" in known or "mimetype" in known:
        return "epub"
    return "docx" if "[content_types].xml" in known else "epub"


def text_format(text: str, suffix: str) -> Literal["markdown", "text"]:
    """Whether a text is Markdown or plain: by its headings and chapter lines, by its suffix (`.md`) in doubt."""
    front, body = part_front_matter(text)
    if front.entries:
        return "markdown"
    headings = scan(body).headings
    marked = sum(1 for heading in headings if heading.end == heading.line + 1)
    if suffix.lower() in (".md", ".markdown", ".mdown", ".mkd"):
        return "markdown" if headings or _chapter_lines(body) < 2 else "text"
    return "markdown" if marked > 1 or (marked and marked > _chapter_lines(body)) else "text"


def _chapter_lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line and len(line) < 120 and _is_chapter(line))


def _is_chapter(line: str) -> bool:
    found = chapter_line(line)
    return found is not None and found.kind in ("chapter", "part", "named")
