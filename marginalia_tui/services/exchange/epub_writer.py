"""A book as an EPUB 3: a title page, a page for each part, contents for new and for old reading programs.

Valid by construction; nothing is fetched, and nothing secret is in it.
"""

import io
import re
import uuid
import zipfile
from collections import ChainMap
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from marginalia_tui.domain.images import file_name
from marginalia_tui.domain.items import Image
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript
from marginalia_tui.services.exchange.markdown import tidy
from marginalia_tui.services.exchange.pictures import Shown, places
from marginalia_tui.services.exchange.to_html import PageWriter, picture

GENERATOR = "Marginalia"
"""Says in the package who wrote the book."""

_NAMESPACE = uuid.UUID("6f0b6bd6-6f53-4f6c-9d0a-5b7f0e1c0a52")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$")
RIGHT_TO_LEFT = frozenset(("ar", "fa", "he", "ur", "yi"))
_NOT_IN_XML = {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""The time of each entry: a zip can't say less, and the same book gives the same pages."""

_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""

_STYLE = """body { margin: 5%; line-height: 1.4; }
h1 { margin: 2em 0 1em; text-align: center; }
p { margin: 0; text-indent: 1.4em; }
h1 + p, h2 + p, h3 + p, hr + p, blockquote p, li p, td p, aside p { text-indent: 0; }
hr { width: 20%; margin: 1.5em auto; }
blockquote { margin: 1em 1.4em; }
pre { white-space: pre-wrap; }
table { border-collapse: collapse; margin: 1em auto; }
section.title { text-align: center; margin-top: 30%; }
section.title p { text-indent: 0; }
img { max-width: 100%; }
figure { margin: 1em 0; text-align: center; }
td, th { border: 1px solid; padding: 0.2em 0.5em; }
aside { font-size: 0.9em; margin: 1em 0; }
.footnote-label { margin-right: 0.5em; }
"""

_PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" {language}>
<head>
<title>{title}</title>
<link rel="stylesheet" type="text/css" href="style.css"/>
</head>
{body}
</html>
"""


def write_epub(manuscript: Manuscript) -> bytes:
    """Writes a book as the bytes of an EPUB, from which `read_epub` gives the same words in the same order."""
    book = _without_unwritable(tidy(manuscript))
    language = book.language if LANGUAGE.match(book.language) else "und"
    files = [f"part-{number:05d}.xhtml" for number in range(1, len(book.chapters) + 1)]
    writer = PageWriter()
    where = places(book.chapters)
    pages = list(zip(book.chapters, files, _notes(book, files, writer), where, strict=True))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        # The specification wants this entry first, stored, and without anything extra.
        archive.writestr(zipfile.ZipInfo("mimetype", _OLDEST), "application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", _CONTAINER)
        known = _write_pictures(archive, book, where)
        _add(archive, "EPUB/book.opf", _package(book, files, language, known))
        listed = _listed(book, [(file, writer.plain(chapter.title, notes)) for chapter, file, notes, _ in pages])
        _add(archive, "EPUB/contents.xhtml", _contents(book, listed, language))
        _add(archive, "EPUB/contents.ncx", _older_contents(book, listed))
        _add(archive, "EPUB/style.css", _STYLE)
        _add(archive, "EPUB/title.xhtml", _title_page(book, language))
        for chapter, file, notes, images in pages:
            heading = f"<h1>{writer.line(chapter.title, file, notes)}</h1>\n" if chapter.title else ""
            name = writer.plain(chapter.title, notes) or book.title
            shown = Shown(images)
            text = writer.page(chapter.text, file, notes, shown)
            text += "".join(_figure(each.image, images[each.image.name]) for each in shown.rest(chapter))
            _add(archive, f"EPUB/{file}", _part(heading, text, name, language))
    return buffer.getvalue()


def _without_unwritable(book: Manuscript) -> Manuscript:
    chapters = tuple(
        Chapter(
            title=chapter.title.translate(_NOT_IN_XML),
            text=chapter.text.translate(_NOT_IN_XML),
            images=chapter.images,
        )
        for chapter in book.chapters
    )
    return Manuscript(
        title=book.title.translate(_NOT_IN_XML) or "Untitled",
        author=book.author.translate(_NOT_IN_XML),
        language=book.language,
        description=book.description.translate(_NOT_IN_XML),
        chapters=chapters,
        cover=book.cover,
    )


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(name, _OLDEST)
    archive.writestr(entry, text.encode(), zipfile.ZIP_DEFLATED, 6)


def _write_pictures(archive: zipfile.ZipFile, book: Manuscript, where: list[dict[str, str]]) -> dict[str, Image]:
    """Writes the pictures, which are packed already, each place once; answers which there are."""
    known: dict[str, Image] = {}
    pictures = [
        (places_of[each.image.name], each)
        for chapter, places_of in zip(book.chapters, where, strict=True)
        for each in chapter.images
    ]
    if book.cover is not None:
        pictures.insert(0, (file_name(book.cover.image), book.cover))
    for place, each in pictures:
        if place not in known:
            known[place] = each.image
            archive.writestr(zipfile.ZipInfo(f"EPUB/{place}", _OLDEST), each.data, zipfile.ZIP_STORED)
    return known


def _figure(image: Image, place: str) -> str:
    """A picture behind the text of a part."""
    caption = image.caption.translate(_NOT_IN_XML)
    below = f"<figcaption>{_text(caption)}</figcaption>" if caption else ""
    return f"<figure>{picture(place, caption)}{below}</figure>\n"


def _notes(book: Manuscript, files: list[str], writer: PageWriter) -> list[Mapping[str, str]]:
    """For each part label -> file of the notes that a mark can mean there: its own first, else one of the book."""
    everywhere: dict[str, str] = {}
    found: list[Mapping[str, str]] = []
    for chapter, file in zip(book.chapters, files, strict=True):
        own = dict.fromkeys(writer.notes_in(chapter.text), file)
        for label in own:
            everywhere.setdefault(label, file)
        found.append(ChainMap(own, everywhere))
    return found


def _identifier(book: Manuscript) -> str:
    key = uuid.uuid5(_NAMESPACE, f"{book.title}\0{book.author}")
    return f"urn:uuid:{key}"


def _package(book: Manuscript, files: list[str], language: str, pictures: Mapping[str, Image]) -> str:
    modified = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    optional = [("dc:creator", book.author), ("dc:description", book.description)]
    metadata = "".join(f"    <{tag}>{_text(value)}</{tag}>\n" for tag, value in optional if value)
    items = "".join(
        f'    <item id="{_id(file)}" href="{file}" media-type="application/xhtml+xml"/>\n' for file in files
    )
    cover = file_name(book.cover.image) if book.cover is not None else ""
    for number, (place, image) in enumerate(pictures.items()):
        key, properties = ("cover", ' properties="cover-image"') if place == cover else (f"image-{number}", "")
        items += f'    <item id="{key}" href="{quote(place)}" media-type="{image.type}"{properties}/>\n'
    metadata += '    <meta name="cover" content="cover"/>\n' if cover else ""
    references = "".join(f'    <itemref idref="{_id(file)}"/>\n' for file in files)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="{language}">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="book-id">{_identifier(book)}</dc:identifier>
    <dc:title>{_text(book.title)}</dc:title>
    <dc:language>{language}</dc:language>
    <meta name="generator" content="{GENERATOR}"/>
{metadata}    <meta property="dcterms:modified">{modified}</meta>
  </metadata>
  <manifest>
    <item id="contents" href="contents.xhtml" media-type="application/xhtml+xml" properties="nav"/>
    <item id="ncx" href="contents.ncx" media-type="application/x-dtbncx+xml"/>
    <item id="style" href="style.css" media-type="text/css"/>
    <item id="title" href="title.xhtml" media-type="application/xhtml+xml"/>
{items}  </manifest>
  <spine toc="ncx">
    <itemref idref="title"/>
{references}  </spine>
</package>
"""


def _listed(book: Manuscript, titled: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """File and title of the parts in the contents: those without a title are not, unless that leaves nothing."""
    return [(file, title) for file, title in titled if title.strip()] or [(file, book.title) for file, _ in titled[:1]]


def _contents(book: Manuscript, listed: list[tuple[str, str]], language: str) -> str:
    """The navigation page."""
    listed = listed or [("title.xhtml", book.title)]
    lines = "\n".join(f'<li><a href="{file}">{_text(title)}</a></li>' for file, title in listed)
    body = (
        f'<body>\n<nav epub:type="toc" id="toc">\n<h1>{_text(book.title)}</h1>\n<ol>\n{lines}\n</ol>\n</nav>\n</body>'
    )
    return _page(book.title, language, body)


def _older_contents(book: Manuscript, listed: list[tuple[str, str]]) -> str:
    """The contents as EPUB 2 has them, for programs that know no others."""
    points = "".join(
        f'    <navPoint id="point-{number}" playOrder="{number}"><navLabel><text>{_text(title)}</text></navLabel>'
        f'<content src="{file}"/></navPoint>\n'
        for number, (file, title) in enumerate(listed or [("title.xhtml", book.title)], start=1)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
  <head>
    <meta name="dtb:uid" content="{_identifier(book)}"/>
  </head>
  <docTitle><text>{_text(book.title)}</text></docTitle>
  <navMap>
{points}  </navMap>
</ncx>
"""


def _title_page(book: Manuscript, language: str) -> str:
    author = f'<p class="author">{_text(book.author)}</p>\n' if book.author else ""
    inside = f"<h1>{_text(book.title)}</h1>\n{author}"
    body = f'<body>\n<section epub:type="titlepage" class="title">\n{inside}</section>\n</body>'
    return _page(book.title, language, body)


def _part(heading: str, text: str, name: str, language: str) -> str:
    # A page needs some content to be valid; a part without any is an empty paragraph.
    body = (
        f'<body>\n<section epub:type="chapter">\n{heading}{text or ("" if heading else "<p></p>")}</section>\n</body>'
    )
    return _page(name, language, body)


def _page(title: str, language: str, body: str) -> str:
    direction = ' dir="rtl"' if language.split("-")[0].lower() in RIGHT_TO_LEFT else ""
    attributes = f'lang="{language}" xml:lang="{language}"{direction}'
    return _PAGE.format(language=attributes, title=_text(title) or "Untitled", body=body)


def _text(value: str) -> str:
    return escape(value, quote=False)


def _id(file: str) -> str:
    return file.removesuffix(".xhtml")
