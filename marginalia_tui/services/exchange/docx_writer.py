"""A book as a DOCX: title page, contents, each part on a page of its own, footnotes below their pages.

The same book gives the same parts of the package but for the time at which it was written; nothing is fetched, and
nothing is said about the machine or the user.
"""

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime

from marginalia_tui.services.exchange.docx_media import Media
from marginalia_tui.services.exchange.docx_notes import BookNotes, notes_of
from marginalia_tui.services.exchange.docx_remarks import date_of
from marginalia_tui.services.exchange.docx_render import BodyWriter, Links, level_of
from marginalia_tui.services.exchange.docx_runs import attribute, run, text
from marginalia_tui.services.exchange.docx_static import (
    COMMENTS,
    CONTENT_TYPES,
    FOOTER,
    GENERATOR,
    HEAD,
    NOTE_MARK,
    PART_MARK,
    PARTS,
    RELATIONS,
    SECTION,
    SUBTITLE,
    R,
    W,
    numbering,
    styles,
)
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.epub_writer import LANGUAGE, RIGHT_TO_LEFT
from marginalia_tui.services.exchange.manuscript import Manuscript, Remark, one_line
from marginalia_tui.services.exchange.markdown import tidy
from marginalia_tui.services.exchange.markdown_tokens import MarkdownTokens

_OLDEST = (1980, 1, 1, 0, 0, 0)
_EAST_ASIAN = frozenset(("zh", "ja", "ko"))
_CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_EXTENDED = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
_Part = tuple[str, str, str]
"""Name, end of its content type, end of the type of its relation."""
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def write_docx(manuscript: Manuscript) -> bytes:
    """Writes a book as the bytes of a DOCX, from which `read_docx` gives the same words in the same order."""
    book = tidy(manuscript)
    language = book.language if LANGUAGE.match(book.language) else ""
    script = language.split("-")[0].lower()
    reader = MarkdownTokens()
    notes = notes_of(book.chapters, reader)
    media = Media(book.chapters)
    body = BodyWriter(notes, reader, media)
    parts = [body.part(index, chapter) for index, chapter in enumerate(book.chapters)]
    right_to_left = script in RIGHT_TO_LEFT
    section = SECTION.format(direction="<w:bidi/>" if right_to_left else "")
    document = f"{_title_page(book)}{_contents(book, reader)}{''.join(parts)}{section}"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        parts_of_it = (*PARTS, COMMENTS) if body.remarks else PARTS
        _add(archive, "[Content_Types].xml", _content_types(parts_of_it, media))
        _add(archive, "_rels/.rels", _package_relations())
        _add(archive, "docProps/core.xml", _core(book, language))
        _add(
            archive,
            "docProps/app.xml",
            f'{HEAD}<Properties xmlns="{_EXTENDED}"><Application>{GENERATOR}</Application></Properties>\n',
        )
        _add(archive, "word/document.xml", _root("document", f"<w:body>\n{document}\n</w:body>"))
        _add(archive, "word/_rels/document.xml.rels", _relations(parts_of_it, body.links, media))
        style = styles(language, east_asian=script in _EAST_ASIAN, right_to_left=right_to_left)
        _add(archive, "word/styles.xml", style)
        _add(archive, "word/numbering.xml", numbering(body.starts))
        _add(archive, "word/settings.xml", _settings(notes))
        _add(archive, "word/footnotes.xml", _footnotes(body.footnotes))
        _add(archive, "word/_rels/footnotes.xml.rels", _relations((), body.note_links, media))
        _add(archive, "word/footer1.xml", FOOTER)
        if body.remarks:
            _add(archive, COMMENTS[0], _comments(body.remarks))
        for place, data in media.files.items():
            # Pictures are packed already.
            archive.writestr(zipfile.ZipInfo(f"word/{place}", _OLDEST), data, zipfile.ZIP_STORED)
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: str) -> None:
    archive.writestr(zipfile.ZipInfo(name, _OLDEST), content.encode(), zipfile.ZIP_DEFLATED, 6)


def _root(name: str, inside: str) -> str:
    return f'{HEAD}<w:{name} xmlns:w="{W}" xmlns:r="{R}">{inside}</w:{name}>\n'


def _content_types(parts: Sequence[_Part], media: Media) -> str:
    names = [(name, f"{_TYPE}.{kind}+xml") for name, kind, _ in parts]
    names.append(("docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"))
    names.append(("docProps/app.xml", "application/vnd.openxmlformats-officedocument.extended-properties+xml"))
    return CONTENT_TYPES.format(
        pictures="".join(f'<Default Extension="{end}" ContentType="{kind}"/>\n' for end, kind in media.types.items()),
        overrides="".join(f'<Override PartName="/{name}" ContentType="{kind}"/>\n' for name, kind in names),
    )


def _relation(key: str, kind: str, target: str, mode: str = "") -> str:
    return f'<Relationship Id="{key}" Type="{kind}" Target="{attribute(target)}"{mode}/>\n'


def _package_relations() -> str:
    core = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
    return RELATIONS.format(
        relations=_relation("rId1", f"{R}/officeDocument", "word/document.xml")
        + _relation("rId2", core, "docProps/core.xml")
        + _relation("rId3", f"{R}/extended-properties", "docProps/app.xml")
    )


def _relations(parts: Sequence[_Part], links: Links, media: Media) -> str:
    """The relations of a part of the package: to other parts (the first is it itself), and to the web."""
    inner = [
        _relation(f"rId{number}", f"{R}/{kind}", name.removeprefix("word/"))
        for number, (name, _, kind) in enumerate(parts, start=1)
        if number > 1
    ]
    outer = [
        _relation(key, f"{R}/hyperlink", address, ' TargetMode="External"') for address, key in links.known.items()
    ]
    shown = [_relation(key, f"{R}/image", place) for place, key in media.relations.items()]
    return RELATIONS.format(relations="".join(inner + outer + shown))


def _core(book: Manuscript, language: str) -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = [
        ("dc:title", book.title),
        ("dc:creator", book.author),
        ("dc:description", book.description),
        ("dc:language", language),
    ]
    lines = "".join(f"<{tag}>{text(value)}</{tag}>\n" for tag, value in fields if value)
    times = "".join(
        f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{now}</dcterms:{name}>\n' for name in ("created", "modified")
    )
    return (
        f'{HEAD}<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        f"{lines}{times}</cp:coreProperties>\n"
    )


def _settings(notes: BookNotes) -> str:
    known = "".join(
        f'<w:docVar w:name="{NOTE_MARK}{number}" w:val="{attribute(label)}"/>\n'
        for number, label in notes.labels.items()
    )
    variables = f"<w:docVars>\n{known}</w:docVars>" if known else ""
    own = '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
    modern = (
        '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" '
        'w:val="15"/></w:compat>'
    )
    return _root("settings", f'<w:defaultTabStop w:val="720"/>{own}{modern}{variables}')


def _footnotes(written: list[str]) -> str:
    """The part of the footnotes; Word wants its two separators before them."""
    separators = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{tag}/></w:r></w:p></w:footnote>\n'
        for kind, number, tag in (
            ("separator", -1, "separator"),
            ("continuationSeparator", 0, "continuationSeparator"),
        )
    )
    return _root("footnotes", f"\n{separators}{''.join(written)}")


def _comments(remarks: Sequence[Remark]) -> str:
    """The part of the comments; a line of one is a paragraph."""
    mark = '<w:r><w:rPr><w:rStyle w:val="CommentReference"/></w:rPr><w:annotationRef/></w:r>'
    made = []
    for number, remark in enumerate(remarks):
        date = f' w:date="{moment}"' if (moment := date_of(remark.created)) else ""
        lines = clean(remark.text).split("\n")
        inside = "".join(
            f'<w:p><w:pPr><w:pStyle w:val="CommentText"/></w:pPr>{mark if place == 0 else ""}{run(line)}</w:p>'
            for place, line in enumerate(lines)
        )
        author = attribute(one_line(clean(remark.author)))
        made.append(f'<w:comment w:id="{number}" w:author="{author}"{date}>{inside}</w:comment>\n')
    return _root("comments", f"\n{''.join(made)}")


def _title_page(book: Manuscript) -> str:
    kept = book.attributes.get(SUBTITLE)
    subtitle = one_line(clean(kept)) if isinstance(kept, str) else ""
    lines = [("Title", book.title), ("Subtitle", subtitle), ("Author", book.author)]
    return "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{run(value)}</w:p>\n' for style, value in lines if value
    )


def _contents(book: Manuscript, reader: MarkdownTokens) -> str:
    """The contents on a page of their own: a field that Word can renew, with its lines as they are now."""
    titled = [
        (index, level_of(chapter), reader.plain(chapter.title).strip())
        for index, chapter in enumerate(book.chapters)
        if chapter.title
    ]
    titled = [(index, level, title) for index, level, title in titled if title]
    if not titled:
        return ""
    deepest = max(level for _, level, _ in titled)
    begin = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> TOC \\o "1-{deepest}" \\h \\z \\u </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    )
    lines = []
    for place, (index, level, title) in enumerate(titled):
        first = begin if place == 0 else ""
        page = "<w:pageBreakBefore/>" if place == 0 else ""
        link = f'<w:hyperlink w:anchor="{PART_MARK}{index + 1}" w:history="1">{run(title)}</w:hyperlink>'
        properties = f'<w:pPr><w:pStyle w:val="TOC{level}"/>{page}</w:pPr>'
        lines.append(f"<w:p>{properties}{first}{link}</w:p>\n")
    return "".join(lines) + '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>\n'
