"""DOCX files for tests, part by part."""

from collections.abc import Mapping

from tests.support.books import zipped

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SPACES = (
    f'xmlns:w="{W}" xmlns:r="{R}" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
KINDS = ("styles", "numbering", "settings", "footnotes", "endnotes", "comments", "header1")


def relations(*each: tuple[str, str, str], outside: bool = False) -> str:
    """A part of relations: id, end of the type, target."""
    mode = ' TargetMode="External"' if outside else ""
    inside = "".join(f'<Relationship Id="{key}" Type="{R}/{kind}" Target="{to}"{mode}/>' for key, kind, to in each)
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'
    )


def docx(body: str, *, extra: str = "", parts: Mapping[str, str | bytes] | None = None, **roots: str) -> bytes:
    """The bytes of a DOCX.

    Args:
        body: what stands in the body of the text.
        extra: further relations of the text, as elements.
        parts: further entries.
        roots: the insides of other parts by their kind, such as `footnotes`.
    """
    entries: dict[str, str | bytes] = {"[Content_Types].xml": TYPES}
    entries["_rels/.rels"] = relations(("r1", "officeDocument", "word/document.xml"))
    entries["word/document.xml"] = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
    own = relations(*((f"own{kind}", kind.rstrip("1"), f"{kind}.xml") for kind in roots))
    entries["word/_rels/document.xml.rels"] = own.replace("</Relationships>", f"{extra}</Relationships>")
    for kind, inside in roots.items():
        entries[f"word/{kind}.xml"] = f"<w:{kind.rstrip('1')} {SPACES}>{inside}</w:{kind.rstrip('1')}>"
    return zipped({**entries, **(parts or {})})


def p(*runs: str, style: str = "", more: str = "") -> str:
    """A paragraph; a run that is no markup is text."""
    inside = "".join(each if each.startswith("<") else r(each) for each in runs)
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{more}</w:pPr>{inside}</w:p>"


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def field(code: str, result: str, *, ended: bool = True) -> str:
    """The runs of a field."""
    begin = f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> {code} </w:instrText></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>' if ended else ""
    return f'{begin}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{r(result)}{end}'


def levels(*each: tuple[str, str, int]) -> str:
    """The levels of a list: format, text, first number."""
    return "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for level, (form, text, start) in enumerate(each)
    )


def style(key: str, name: str, inside: str = "", *, kind: str = "paragraph") -> str:
    """A style."""
    return f'<w:style w:type="{kind}" w:styleId="{key}"><w:name w:val="{name}"/>{inside}</w:style>'


HEADINGS = "".join(style(f"H{level}", f"heading {level}") for level in (1, 2, 3)) + style("T", "Title")
"""Styles of headings as Word names them, whatever their ids are."""
