"""EPUBs of other programs: reading order, titles, what a page holds."""

from pathlib import Path

import pytest

from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.from_html import Styles, read_page
from marginalia_tui.services.exchange.manuscript import Manuscript
from tests.support.books import CONTAINER, epub, package, page, prose, zipped

NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
NAV_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'


def read(path: Path, data: bytes, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    path.write_bytes(data)
    return read_epub(path, level)


def parts(manuscript: Manuscript) -> list[tuple[str, str]]:
    return [(chapter.title, chapter.text) for chapter in manuscript.chapters]


def text(body: str, styles: Styles | None = None) -> str:
    return "\n\n".join(block.text for block in read_page(page(body), "'x'", styles or Styles()).blocks if block.text)


def nav(*entries: str) -> str:
    return page(f'<nav epub:type="toc"><ol>{"".join(entries)}</ol></nav>')


def with_contents(bodies: dict[str, str], contents: str, item: str = NAV_ITEM, name: str = "nav.xhtml") -> bytes:
    pages = {f"OPS/{file}": page(body) for file, body in bodies.items()}
    book = package(list(bodies), extra=item)
    return zipped({"META-INF/container.xml": CONTAINER, "OPS/book.opf": book, f"OPS/{name}": contents, **pages})


def test_the_spine_gives_the_order_and_headings_the_titles(tmp_path: Path) -> None:
    book, notes = read(
        tmp_path / "b.epub",
        epub(
            {"z.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h2>Two</h2><p>Second.</p>"},
            metadata="<dc:creator>Ada B.</dc:creator><dc:creator>C. D.</dc:creator><dc:language>fr</dc:language>"
            "<dc:description>&lt;p&gt;About &lt;i&gt;it&lt;/i&gt;.&lt;/p&gt;</dc:description>",
        ),
    )
    assert parts(book) == [("One", "First."), ("Two", "Second.")]
    assert (book.title, book.author, book.language) == ("A Found Book", "Ada B., C. D.", "fr")
    assert book.description == "About *it*."
    assert notes == ()


def test_titles_come_from_the_contents_where_a_page_has_none(tmp_path: Path) -> None:
    data = with_contents(
        {"one.xhtml": "<p>First.</p>", "two.xhtml": "<h1>Its own</h1><p>Second.</p>"},
        nav('<li><a href="one.xhtml">From &amp; above</a></li>', '<li><a href="two.xhtml">Other</a></li>'),
    )
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("From & above", "First."), ("Its own", "Second.")]


def test_the_contents_of_older_books_are_read(tmp_path: Path) -> None:
    point = '<navPoint><navLabel><text>{}</text></navLabel><content src="{}"/>{}</navPoint>'
    ncx = (
        '<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        + point.format("Part I", "one.xhtml", point.format("The Inn", "two.xhtml", ""))
        + "</navMap></ncx>"
    )
    data = with_contents({"one.xhtml": "<p>a</p>", "two.xhtml": "<p>b</p>"}, ncx, NCX_ITEM, "toc.ncx")
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("Part I", "a"), ("The Inn", "b")]


def test_a_page_that_goes_on_belongs_to_the_part_before(tmp_path: Path) -> None:
    data = with_contents(
        {"one.xhtml": "<h1>One</h1><p>a</p>", "one_split.xhtml": "<p>b</p>", "two.xhtml": "<p>c</p>"},
        nav('<li><a href="one.xhtml">One</a></li>', '<li><a href="two.xhtml">Two</a></li>'),
    )
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("One", "a\n\nb"), ("Two", "c")]


def test_one_page_with_many_chapters_is_parted_where_the_contents_say(tmp_path: Path) -> None:
    body = '<p>Before.</p><div id="c1"><h2>One</h2><p>a</p></div><h2><a id="c2"/>Two</h2><p>b <i id="deep">x</i></p>'
    entries = '<li><a href="all.xhtml#c1">1</a></li><li><a href="all.xhtml#c2">2</a>'
    entries += '<ol><li><a href="all.xhtml#deep">Deep</a></li></ol></li>'
    data = with_contents({"all.xhtml": body}, nav(entries))
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("", "Before."), ("One", "a"), ("Two", "b *x*")]
    assert [title for title, _ in parts(read(tmp_path / "b.epub", data, 2)[0])] == ["", "One", "Two", "Deep"]


def test_a_long_page_without_contents_is_parted_at_its_headings(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in prose(120).split("\n\n"))
    body = "".join(f"<h2>Chapter {number}</h2>{paragraphs}" for number in range(1, 6))
    book, _ = read(tmp_path / "b.epub", epub({"all.xhtml": body}))
    assert [title for title, _ in parts(book)] == [f"Chapter {number}" for number in range(1, 6)]


def test_a_number_and_a_name_make_one_title(tmp_path: Path) -> None:
    body = "<hgroup><h2>IV</h2><h3>The Inn</h3></hgroup><p>x</p>"
    assert parts(read(tmp_path / "b.epub", epub({"a.xhtml": body}))[0]) == [("IV: The Inn", "x")]
    body = "<h1>Part One</h1><h2>Chapter 1</h2><p>x</p>"
    assert parts(read(tmp_path / "b.epub", epub({"a.xhtml": body}))[0]) == [("Part One", "## Chapter 1\n\nx")]


def test_pictures_are_left_out_and_counted(tmp_path: Path) -> None:
    book, notes = read(
        tmp_path / "b.epub",
        epub(
            {
                "cover.xhtml": '<div><img src="c.jpg"/></div>',
                "a.xhtml": "<p>x <img alt='y'/> z</p><p><svg><g/></svg></p>",
            }
        ),
    )
    assert parts(book) == [("", "x z")]
    assert notes == ("Left out: 3 picture(s) (1 missing, 2 of a kind that is not kept, or damaged).",)


def test_a_page_that_is_named_and_missing_is_told(tmp_path: Path) -> None:
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package(["a.xhtml", "gone.xhtml"]),
            "OPS/A.xhtml": page("<p>x</p>"),
        }
    )
    book, notes = read(tmp_path / "b.epub", data)
    assert parts(book) == [("", "x")], "a name that differs in case is found"
    assert "1 page(s) that it does not hold" in notes[0]


def test_fonts_that_are_hidden_are_no_protection(tmp_path: Path) -> None:
    fonts = '<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "META-INF/encryption.xml": fonts,
            "OPS/book.opf": package(["a.xhtml"]),
            "OPS/a.xhtml": page("<p>x</p>"),
        }
    )
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("", "x")]


def test_emphasis_from_style_sheets_is_kept(tmp_path: Path) -> None:
    css = "p.x, .it { color: red; font-style: italic } .b{font-weight:700}"
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package(["a.xhtml"], extra='<item id="c" href="s.css" media-type="text/css"/>'),
            "OPS/s.css": css,
            "OPS/a.xhtml": page('<p>a <span class="it z">b</span> <span class="b">c</span></p>'),
        }
    )
    assert parts(read(tmp_path / "b.epub", data)[0]) == [("", "a *b* **c**")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>a <em>b <strong>c</strong></em> d</p>", "a *b **c*** d"),
        ("<p>un<i>frag</i>able</p>", "un*frag*able"),
        ("<p>a<em> b </em>c</p>", "a *b* c"),
        ("<p>他说<em>“好”</em>吗</p>", "他说<em>“好”</em>吗"),
        ("<p><i>a</i><i>b</i></p>", "*a*<em>b</em>"),
        ("<p><i></i>a<b> </b>b</p>", "a b"),
        ("<p>H<sub>2</sub>O <u>x</u> <del>y</del> <small>z</small></p>",
         "H<sub>2</sub>O <u>x</u> ~~y~~ <small>z</small>"),
        ("<p>a<br/>b<br/></p>", "a\\\nb"),
        ("<p>a &amp; b &lt;c&gt; &eacute; &nbsp;x &#233; &bogus; 5 < 6</p>", "a & b \\<c> é \xa0x é \\&bogus; 5 < 6"),
        ("<p>* a</p><p># b</p><p>1. c</p><p>&gt; d</p><p>- e</p>", "\\* a\n\n\\# b\n\n1\\. c\n\n\\> d\n\n\\- e"),
        ("<p>a*b_c_d `e` [f](g) ~~h~~ \\i</p>", "a*b_c_d \\`e\\` [f\\](g) \\~~h\\~~ \\\\i"),
        ("<p>when—*There she blows!*\u2060—the ghost</p>", "when—*There she blows!*\u2060—the ghost"),
        ("<p>*a* and _b_ or *c</p>", "\\*a\\* and \\_b\\_ or *c"),
        ("<p>2 * 3 * 4 _ x</p>", "2 * 3 * 4 _ x"),
        ("<p>a *b <i>c</i> d*</p>", "a \\*b *c* d\\*"),
        ("<p>*<i>c</i></p>", "\\**c*"),
        ("<p>***</p><p>_ _ _</p><p>*a</p>", "* * *\n\n\\_ _ _\n\n*a"),
        ("<p>a</p><hr/><p>b</p>", "a\n\n* * *\n\nb"),
        ("<p>a</p><p>* * *</p><p>b</p><p>⁂</p><p>c</p>", "a\n\n* * *\n\nb\n\n* * *\n\nc"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ('<ol start="4"><li><p>a</p><p>b</p></li><li value="9">c</li></ol>', "4. a\n\n   b\n\n9. c"),
        ("<table><tr><th>a</th><th>b|c</th></tr><tr><td>d</td></tr></table>", "| a | b\\|c |\n| --- | --- |\n| d |  |"),
        ("<table><tr><td><p>a</p><p>b</p></td></tr></table>", "a\n\nb"),
        ("<pre>a\n  b `</pre>", "```\na\n  b `\n```"),
        ("<p><code>a`b</code></p>", "``a`b``"),
        ("<p><q>a</q> <ruby>漢<rt>kan</rt></ruby></p>", "“a” 漢(kan)"),
        ('<p><a href="http://a.example/b">c</a> <a href="x.xhtml#y">d</a></p>', "[c](http://a.example/b) d"),
        ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
        ("<section><div><div>a</div></div>b</section>", "a\n\nb"),
        ("<p>a<script>no()</script><style>no</style>b</p>", "ab"),
        ("<p>a</p><!-- note --><p>b <!-- c --> d</p>", "a\n\n<!-- note -->\n\nb <!-- c --> d"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "a\n\nb"),
        ("<p>a <b>b <i>c</b> d</i> e", "a **b *c*** d e"),
    ],
)  # fmt: skip
def test_what_a_page_holds(body: str, expected: str) -> None:
    assert text(body) == expected


def test_rare_empty_paragraphs_are_scene_breaks_and_common_ones_are_layout() -> None:
    filled = "".join(f"<p>{number}</p>" for number in "abcdef")
    assert text(f"{filled}<p>&#160;</p>{filled}").count("* * *") == 1
    assert "*" not in text("<p>a</p><p><br/></p><p>b</p><p> </p><p>c</p>")


def test_broken_markup_loses_no_words() -> None:
    broken = page('<p>One & two <b>three</p><p class=x>four</i> <title/>five <a name="q"/>six')[:-14]
    found = "\n\n".join(block.text for block in read_page(broken, "'x'", Styles()).blocks)
    assert [word for word in ["One", "two", "three", "four", "five", "six"] if word not in found] == []


def test_the_titles_of_chapters_keep_their_marks(tmp_path: Path) -> None:
    book, _ = read(tmp_path / "b.epub", epub({"a.xhtml": "<h1>The <i>Ferry</i><br/>&amp; [red] \u200f</h1><p>x</p>"}))
    assert book.chapters[0].title == "The *Ferry* & [red] \u200f"
