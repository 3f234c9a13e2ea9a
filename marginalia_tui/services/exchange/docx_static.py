"""What is the same in every DOCX that we write: names of styles, the style sheet, the lists, small parts."""

GENERATOR = "Marginalia"
"""Says in the package who wrote the book: then each mark of a part is where a part begins."""

SUBTITLE = "subtitle"
"""The attribute of a book that holds the line below its title."""

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

PART_MARK = "_part"
"""Bookmarks: `_part3` begins the third part, `_text3` one without a title."""
TEXT_MARK = "_text"
NOTE_MARK = "_note"
"""`_note3` stands around the first mark of a note, `_def3` where its text stood; its label is the variable `_note3`."""
NOTE_PLACE = "_def"
JOINT_MARK = "_joint"
"""`_joint1_3`: the third block that does not simply follow the one before it: one line end is between them."""
SOFT_BREAK = "Line End"
"""The style of a space at which a line of Markdown ends, and none of the page."""

MAX_LEVEL = 8
"""The deepest level of a list, counted from 0, and of a quote, counted from 1."""

CONTENT_TYPES = f"""{HEAD}<Types xmlns="{_PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
{{pictures}}{{overrides}}</Types>
"""

RELATIONS = f"""{HEAD}<Relationships xmlns="{_PACKAGE}/relationships">
{{relations}}</Relationships>
"""

PARTS = (
    ("word/document.xml", "document.main", "officeDocument"),
    ("word/styles.xml", "styles", "styles"),
    ("word/numbering.xml", "numbering", "numbering"),
    ("word/settings.xml", "settings", "settings"),
    ("word/footnotes.xml", "footnotes", "footnotes"),
    ("word/footer1.xml", "footer", "footer"),
)
"""The parts, with the ends of their content type and of the type of their relation."""

COMMENTS = ("word/comments.xml", "comments", "comments")
"""The part of the comments, of a book that has any."""

FOOTER = f"""{HEAD}<w:ftr xmlns:w="{W}"><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>\
<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r>\
<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>\
</w:p></w:ftr>
"""

SECTION = (
    '<w:sectPr><w:footerReference w:type="default" r:id="rId6"/><w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="720" w:footer="720" w:gutter="0"/>'
    "<w:titlePg/>{direction}</w:sectPr>"
)
"""The page: A4 with an inch around, its number below but for the first."""

_INDENT = 360
"""Twentieths of a point for each level of a list or a quote."""


def _style(kind: str, key: str, name: str, inside: str, *, based: str = "", after: str = "") -> str:
    default = ' w:default="1"' if key in ("Normal", "DefaultParagraphFont") else ""
    base = f'<w:basedOn w:val="{based}"/>' if based else ""
    following = f'<w:next w:val="{after}"/>' if after else ""
    quick = "<w:qFormat/>"
    return (
        f'<w:style w:type="{kind}"{default} w:styleId="{key}"><w:name w:val="{name}"/>'
        f"{base}{following}{quick}{inside}</w:style>\n"
    )


def _paragraph(key: str, name: str, inside: str = "", *, based: str = "Normal", after: str = "") -> str:
    return _style("paragraph", key, name, inside, based=based, after=after)


def _heading(level: int) -> str:
    size = max(36 - 4 * level, 24)
    centered = '<w:jc w:val="center"/>' if level == 1 else ""
    inside = (
        f'<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before="480" w:after="240"/>{centered}'
        f'<w:outlineLvl w:val="{level - 1}"/></w:pPr>'
        f'<w:rPr><w:b/><w:bCs/><w:sz w:val="{size}"/><w:szCs w:val="{size}"/></w:rPr>'
    )
    return _paragraph(f"Heading{level}", f"heading {level}", inside, after="FirstParagraph")


def _quote(depth: int) -> str:
    key, name = ("Quote", "Quote") if depth == 1 else (f"Quote{depth}", f"Quote {depth}")
    side = 2 * _INDENT * depth
    inside = f'<w:pPr><w:spacing w:after="120"/><w:ind w:left="{side}" w:right="{side}"/></w:pPr>'
    return _paragraph(key, name, inside)


def _contents(level: int) -> str:
    return _paragraph(f"TOC{level}", f"toc {level}", f'<w:pPr><w:ind w:left="{(level - 1) * _INDENT}"/></w:pPr>')


def styles(language: str, *, east_asian: bool, right_to_left: bool) -> str:
    """The style sheet of a book in a language (a BCP 47 tag; empty: none is named)."""
    names = [f'w:val="{language}"'] if language else []
    names += [f'w:eastAsia="{language}"'] if language and east_asian else []
    names += [f'w:bidi="{language}"'] if language and right_to_left else []
    spoken = f"<w:lang {' '.join(names)}/>" if names else ""
    direction = "<w:bidi/>" if right_to_left else ""
    font = '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:cs="Times New Roman"/>'
    defaults = (
        f'<w:docDefaults><w:rPrDefault><w:rPr>{font}<w:sz w:val="24"/><w:szCs w:val="24"/>{spoken}</w:rPr>'
        f'</w:rPrDefault><w:pPrDefault><w:pPr>{direction}<w:spacing w:line="360" w:lineRule="auto"/></w:pPr>'
        "</w:pPrDefault></w:docDefaults>\n"
    )
    centered = '<w:pPr><w:spacing w:before="{0}" w:after="240"/><w:jc w:val="center"/></w:pPr>'
    small = '<w:sz w:val="20"/><w:szCs w:val="20"/>'
    single = '<w:pPr><w:spacing w:line="240" w:lineRule="auto"/></w:pPr>'
    made = [
        _style("paragraph", "Normal", "Normal", ""),
        _style("character", "DefaultParagraphFont", "Default Paragraph Font", ""),
        _paragraph("BodyText", "Body Text", '<w:pPr><w:ind w:firstLine="567"/></w:pPr>'),
        _paragraph("FirstParagraph", "First Paragraph", after="BodyText"),
        *(_heading(level) for level in range(1, 7)),
        _paragraph("Title", "Title", centered.format(2880) + '<w:rPr><w:b/><w:bCs/><w:sz w:val="48"/></w:rPr>'),
        _paragraph("Subtitle", "Subtitle", centered.format(120)),
        _paragraph("Author", "Author", centered.format(240)),
        *(_quote(depth) for depth in range(1, MAX_LEVEL + 1)),
        _paragraph("SceneBreak", "Scene Break", centered.format(240), after="FirstParagraph"),
        _paragraph("ListParagraph", "List Paragraph", "<w:pPr><w:contextualSpacing/></w:pPr>"),
        _paragraph("ListContinue", "List Continue"),
        _paragraph("SourceCode", "Source Code", f"{single}<w:rPr>{_MONO}{small}</w:rPr>"),
        *(_contents(level) for level in range(1, 7)),
        _paragraph("Footer", "footer", '<w:pPr><w:jc w:val="center"/></w:pPr>'),
        _paragraph("CommentText", "annotation text", f"{single}<w:rPr>{small}</w:rPr>"),
        _style("character", "CommentReference", "annotation reference", '<w:rPr><w:sz w:val="16"/></w:rPr>'),
        _paragraph("FootnoteText", "footnote text", f"{single}<w:rPr>{small}</w:rPr>"),
        _style(
            "character", "FootnoteReference", "footnote reference", '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
        ),
        _style("character", "VerbatimChar", "Verbatim Char", f"<w:rPr>{_MONO}</w:rPr>"),
        _style("character", "LineEnd", SOFT_BREAK, ""),
        _style("character", "Hyperlink", "Hyperlink", '<w:rPr><w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr>'),
        _TABLE,
    ]
    return f'{HEAD}<w:styles xmlns:w="{W}">\n{defaults}{"".join(made)}</w:styles>\n'


_MONO = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>'
_BORDERS = "".join(
    f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
)
_TABLE = (
    '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>'
    f"{_BORDERS}</w:tblBorders></w:tblPr></w:style>\n"
)

BULLETS = 1
NUMBERS = 2
"""The lists of `numbering`: bullets are number 1 itself, each list with numbers is a number of its own."""


def numbering(starts: list[tuple[int, int]]) -> str:
    """The lists of a book: for each list with numbers its level and its first number; the first of them is list 2."""
    bullets = "".join(_level(level, "bullet", "\u2022\u25e6\u25aa"[level % 3]) for level in range(MAX_LEVEL + 1))
    numbers = "".join(_level(level, "decimal", f"%{level + 1}.") for level in range(MAX_LEVEL + 1))
    lists = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="{level}">'
        f'<w:startOverride w:val="{start}"/></w:lvlOverride></w:num>\n'
        for number, (level, start) in enumerate(starts, start=NUMBERS)
    )
    return (
        f'{HEAD}<w:numbering xmlns:w="{W}">\n'
        f'<w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="hybridMultilevel"/>{bullets}</w:abstractNum>\n'
        f'<w:abstractNum w:abstractNumId="1"><w:multiLevelType w:val="hybridMultilevel"/>{numbers}</w:abstractNum>\n'
        f'<w:num w:numId="{BULLETS}"><w:abstractNumId w:val="0"/></w:num>\n{lists}</w:numbering>\n'
    )


def _level(level: int, format: str, sign: str) -> str:
    return (
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{sign}"/>'
        f'<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="{indent_of(level)}" w:hanging="{_INDENT}"/></w:pPr></w:lvl>'
    )


def indent_of(level: int) -> int:
    """How far the text of a list item of a level stands from the edge, in twentieths of a point."""
    return 2 * _INDENT * (level + 1)
