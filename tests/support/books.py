"""Books for tests: made-up prose, manuscripts by hypothesis, EPUBs good and bad, books in a store."""

import io
import zipfile
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services.exchange.library import items_of
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

_SENTENCES = (
    "The ferry was late, and nobody on the pier said so.",
    "She counted the lamps along the quay and came to a different number each time.",
    "“You could write to him,” said Ada, “but he would only answer.”",
    "Below the window a cart went by with nothing on it.",
    "It rained the way it does when it has decided to.",
    "He kept the key in the tea tin, where everybody knew to look.",
)


def prose(paragraphs: int, seed: int = 0) -> str:
    """Paragraphs of three sentences each; other seeds give other ones."""
    count = len(_SENTENCES)
    return "\n\n".join(
        " ".join(_SENTENCES[(seed + 3 * number + place * (1 + number % 2)) % count] for place in range(3))
        for number in range(paragraphs)
    )


def a_manuscript(*texts: str, title: str = "The Ferry", author: str = "", language: str = "en") -> Manuscript:
    """A manuscript whose parts are called Chapter 1, Chapter 2 and so on."""
    chapters = tuple(Chapter(title=f"Chapter {number}", text=text) for number, text in enumerate(texts, start=1))
    return Manuscript(title=title, author=author, language=language, chapters=chapters)


def add_book(store: Store, texts: Sequence[str], title: str = "The Ferry") -> tuple[Book, list[Part]]:
    """Puts a book into the library of a store: a chain of parts called Chapter 1, Chapter 2 and so on."""
    book, parts = items_of(store, a_manuscript(*texts, title=title))
    with store.write(Act(actor="author", label="import", book=book.uuid)) as tx:
        tx.space(LIBRARY).put([book, *parts])
    return book, parts


CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def package(pages: Sequence[str], *, title: str = "A Found Book", extra: str = "", metadata: str = "") -> str:
    """The package file of an EPUB that stands in the folder `OPS`."""
    items = "".join(
        f'<item id="p{number}" href="{page}" media-type="application/xhtml+xml"/>' for number, page in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(pages)))
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>{metadata}</metadata>'
        f"<manifest>{items}{extra}</manifest><spine>{spine}</spine></package>"
    )


def page(body: str) -> str:
    """An XHTML page."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>page title</title></head><body>{body}</body></html>'
    )


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    """The bytes of a zip file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def epub(bodies: Mapping[str, str], **options: str) -> bytes:
    """The bytes of an EPUB with these pages (file name in `OPS` -> body) in order; options as of `package`."""
    pages = {f"OPS/{name}": page(body) for name, body in bodies.items()}
    return zipped({"META-INF/container.xml": CONTAINER, "OPS/book.opf": package(list(bodies), **options), **pages})


_WORD = st.sampled_from(
    (
        "ferry",
        "Ada",
        "it's",
        "well-kept",
        "naïve",
        "cafe\u0301",
        "第一回",
        "且说",
        "ねこ",
        "1912",
        "I",
        "x_y",
        "№5",
        "été",
    )
)
_WORDS = st.lists(_WORD, min_size=1, max_size=5).map(" ".join)
_SPECIAL = st.sampled_from(("*", "_", "`", "[", "]", "<", ">", "#", "\\", "!", "~", "|", "“", "—", "。", "&", "1."))


_RUNS = (
    "{0}",
    "{0} *{1}*",
    "{0} **{1}** {0}",
    "***{1}*** {0}",
    "{0} **{1} *{0}* {1}**",
    "{0} `{1} < * _`",
    "~~{1}~~ {0}",
    "{0} {sign} {1}",
    "{0} [{1}](https://example.org/7)",
    "_{1}_, {0}",
)
"""Runs of text with an unruly sign or an emphasis in them."""


@st.composite
def _spoken(draw: st.DrawFn) -> str:
    shape = draw(st.sampled_from(_RUNS))
    return shape.format(draw(_WORDS), draw(_WORDS), sign=draw(_SPECIAL) if "{sign}" in shape else "")


_LINE = st.lists(_spoken(), min_size=1, max_size=3).map(" ".join)


_SHAPES = (
    "{0}",
    "{0}\n{1}",
    "{0}\\\n{1}  \n{2}",
    "* * *",
    "## {0}",
    "> {0}\n>\n> {1}",
    "> {0}\n> > {1}",
    "- {0}\n- {1}\n  - {2}",
    "- {0}\n\n  {1}\n\n- {2}",
    "{n}. {0}\n{n1}. {1}",
    "| {w} | b |\n| --- | :-: |\n| {w} | *c* |",
    '```python {w}\n{w} = "<*_>"\n\n# {w}\n```',
    "~~~\n{w}\n~~~",
    "    {w}\n    {w}",
    "{0}[^{label}] {1}",
    "[^{label}]: {0}\n\n    {1}",
    "<!-- {w} -->",
    "{w} <!-- {w} --> {w}",
    "{w}\n---",
)


@st.composite
def _block(draw: st.DrawFn) -> str:
    shape = draw(st.sampled_from(_SHAPES))
    lines = [draw(_LINE) if f"{{{number}}}" in shape else "" for number in range(3)]
    words = draw(_WORDS) if "{w}" in shape else ""
    number = draw(st.integers(1, 40)) if "{n}" in shape else 0
    label = draw(st.sampled_from(("1", "ferry", "note-2"))) if "{label}" in shape else ""
    return shape.format(*lines, w=words, n=number, n1=number + 1, label=label)


TEXTS = st.lists(_block(), max_size=5).map("\n\n".join)
"""Markdown of the kinds that a book holds."""

TITLES = st.one_of(st.just(""), _LINE, _WORDS, st.sampled_from(("Chapter 3", "IV", "第三回 桃园", "# ##", "a [b] *c*")))


@st.composite
def manuscripts(draw: st.DrawFn) -> Manuscript:
    """A manuscript of a few parts, some without a title, some without a text."""
    chapters = draw(st.lists(st.builds(lambda title, text: Chapter(title=title, text=text), TITLES, TEXTS), max_size=5))
    return Manuscript(
        title=draw(_WORDS),
        author=draw(st.one_of(st.just(""), _WORDS)),
        description=draw(st.one_of(st.just(""), _WORDS)),
        language=draw(st.sampled_from(("", "en", "zh"))),
        chapters=tuple(chapters),
    )
