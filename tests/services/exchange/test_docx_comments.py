"""The comments of a DOCX as notes on passages, both ways."""

import io
import subprocess
import zipfile
from pathlib import Path

import docx as python_docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.services.annotations import Draft, create, notes_of_book, resolve
from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.docx_remarks import Placer, bare, moment, passages
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Remark
from marginalia_tui.services.exchange.markdown_tokens import MarkdownTokens
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.books import add_book
from tests.support.documents import HEADINGS, docx, p, r, style

AT = 1_704_463_200_000_000


def begin(key: str = "4") -> str:
    return f'<w:commentRangeStart w:id="{key}"/>'


def finish(key: str = "4") -> str:
    return f'<w:commentRangeEnd w:id="{key}"/><w:r><w:commentReference w:id="{key}"/></w:r>'


def comment(*paragraphs: str, key: str = "4", author: str = "Ed", date: str = "2024-01-05T14:00:00Z") -> str:
    inside = "".join(p(each) for each in paragraphs)
    return f'<w:comment w:id="{key}" w:author="{author}" w:date="{date}">{inside}</w:comment>'


def read(folder: Path, body: str, comments: str) -> tuple[Manuscript, tuple[str, ...]]:
    path = folder / "in.docx"
    path.write_bytes(docx(body, styles=HEADINGS, comments=comments))
    return read_docx(path, 1)


def quotes(book: Manuscript) -> list[list[tuple[str, str]]]:
    """For each part its notes: what they say, and on which passage."""
    return [[(each.text, chapter.text[each.start : each.end]) for each in chapter.remarks] for chapter in book.chapters]


def test_a_comment_is_a_note_on_its_passage(tmp_path: Path) -> None:
    body = p("One", style="H1") + p("The lamp ", begin(), "was lit", finish(), " at dusk.") + p("Two", style="H1")
    book, notes = read(tmp_path, body + p("c"), comment("Is it?", "", "Really?"))
    assert [(each.title, each.text, each.attributes) for each in book.chapters] == [
        ("One", "The lamp was lit at dusk.", {}),
        ("Two", "c", {}),
    ]
    (remark,) = book.chapters[0].remarks
    assert remark == Remark(text="Is it?\n\nReally?", start=9, end=16, author="Ed", created=AT)
    assert notes == ("Taken as notes: 1 comment(s).",)


BOLD = "<w:b/>"


@pytest.mark.parametrize(
    ("body", "text", "quote"),
    [
        (p("a", finish().partition("/>")[2], " b"), "a b", ""),
        (p(begin(), "- all", finish()), "\\- all", "- all"),
        (p("x ", begin(), r("bold ", BOLD), finish(), "y"), "x **bold** y", "bold"),
        (p(r("x ", BOLD), begin(), r(" bold", BOLD), finish(), r(" y", BOLD)), "**x bold y**", "bold"),
        (p("x", begin(), "  y", finish()), "x y", "y"),
        (begin() + p("a") + p("b") + p("c ", finish(), "d"), "a\n\nb\n\nc d", "a\n\nb\n\nc"),
        (p("a ", begin(), "b") + p() + finish().partition("<w:r>")[0] + p("c", finish().partition("/>")[2]),
         "a b\n\nc", "b"),
        (p("a ", begin()) + p("b"), "a\n\nb", None),
        (p("x ", begin(), "2*3*4", finish()), "x 2\\*3\\*4", "2\\*3\\*4"),
        ("<w:tbl><w:tr><w:tc>" + p(begin(), "k", finish()) + "</w:tc><w:tc>" + p("v") + "</w:tc></w:tr></w:tbl>",
         "| k | v |\n| --- | --- |", "k"),
    ],
    ids=range(10),
)  # fmt: skip
def test_where_a_comment_stands(tmp_path: Path, body: str, text: str, quote: str | None) -> None:
    book, _ = read(tmp_path, p("T", style="H1") + body, comment("Why?"))
    assert book.chapters[0].text == text
    assert quotes(book) == [[] if quote is None else [("Why?", quote)]]


def test_a_comment_never_changes_the_text(tmp_path: Path) -> None:
    runs = [r("It ", ""), r("was", BOLD), "* ", r("* 3", "<w:i/>"), r("code `x`", ""), "[^1] &lt;b> ", r("end ", BOLD)]
    plain, _ = read(tmp_path, p("T", style="H1") + p(*runs), "")
    for first in range(len(runs)):
        for last in range(first, len(runs)):
            marked = [*runs[:first], begin(), *runs[first : last + 1], finish(), *runs[last + 1 :]]
            book, _ = read(tmp_path, p("T", style="H1") + p(*marked), comment("x"))
            assert book.chapters[0].text == plain.chapters[0].text
            assert len(book.chapters[0].remarks) == 1


def test_a_comment_in_a_title_is_on_the_whole_part_and_one_without_words_is_counted(tmp_path: Path) -> None:
    body = p(begin(), "One", finish(), style="H1") + p("a ", begin("5"), "b", finish("5"), finish("77"))
    book, notes = read(tmp_path, body, comment("Title?") + comment("", key="5"))
    assert quotes(book) == [[("Title?", "")]]
    assert notes == ("Taken as notes: 1 comment(s).", "Left out: 2 comment(s) without words.")


def test_comments_on_a_title_page_are_on_the_first_part(tmp_path: Path) -> None:
    body = p(begin(), "The Ferry", finish(), style="T") + p("Ada", begin("5"), finish("5"), style="A")
    body += p("One", style="H1") + p("a")
    path = tmp_path / "in.docx"
    styles = HEADINGS + style("A", "Author")
    path.write_bytes(docx(body, styles=styles, comments=comment("x") + comment("y", key="5")))
    book, _ = read_docx(path)
    assert (book.title, book.author, [each.title for each in book.chapters]) == ("The Ferry", "Ada", ["One"])
    assert quotes(book) == [[("x", ""), ("y", "")]]


def test_comments_that_are_resolved_come_in_as_done(tmp_path: Path) -> None:
    w15 = "http://schemas.microsoft.com/office/word/2012/wordml"
    relation = '<Relationship Id="x" Type="urn:x/commentsExtended" Target="extended.xml"/>'
    extended = f'<w:commentsEx xmlns:w="{w15}"><w:commentEx w:paraId="0A" w:done="1"/></w:commentsEx>'
    path = tmp_path / "in.docx"
    comments = comment("Old?").replace("<w:p>", '<w:p w:paraId="0A">')
    body = p("One", style="H1") + p(begin(), "a", finish())
    path.write_bytes(
        docx(body, extra=relation, parts={"word/extended.xml": extended}, styles=HEADINGS, comments=comments)
    )
    assert [each.done for each in read_docx(path, 1)[0].chapters[0].remarks] == [True]


@pytest.mark.parametrize(
    "comments",
    [
        '<w:comment w:id="4">' + "<w:p>" * 60 + "x" + "</w:p>" * 60 + "</w:comment>",
        "".join(comment("x" * 10, key=str(number), date="nonsense") for number in range(3_000)),
        comment("\u202eevil\ufffe", author="x" * 9_000, date="9999-12-31T23:59:59+99:00"),
        '<w:comment w:author="none">' + p("x") + "</w:comment><w:other/>",
    ],
    ids=("deep", "many", "odd", "no id"),
)
def test_hostile_comments_end_well(tmp_path: Path, comments: str) -> None:
    body = p("One", style="H1") + p("a ", begin(), begin(), "b", finish(), finish(), begin("9" * 500))
    try:
        book, _ = read(tmp_path, body, comments.replace("\ufffe", ""))
    except MarginaliaError as error:
        assert str(error).count(".") >= 1
    else:
        assert book.chapters[0].text == "a b"
        assert all(len(each.author) <= 200 and each.created >= 0 for each in book.chapters[0].remarks)


def test_f53_entities_in_comments_are_refused(tmp_path: Path) -> None:
    data = docx(p("a ", begin(), "b", finish()), comments=comment("x"))
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            text = source.read(name).decode()
            if name == "word/comments.xml":
                text = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + text.replace(">x<", ">&e;<")
            target.writestr(name, text)
    (tmp_path / "in.docx").write_bytes(made.getvalue())
    with pytest.raises(MarginaliaError, match="declares entities"):
        read_docx(tmp_path / "in.docx")


TEXT = (
    "It *rained* all day. [^1]\n\n- a lamp\n- an `oil can`\n\n> Quoted **words**.\n\n```\ncode here\n```\n\n"
    "[^1]: A note."
)


def commented(*passages_of: str, text: str = TEXT) -> Manuscript:
    remarks = [
        Remark(text=f"On {each!r}\n\nSecond.", start=text.index(each), end=text.index(each) + len(each), created=AT)
        for each in passages_of
    ]
    whole = Remark(text="On all of it", author="Ed & Co", created=AT)
    return Manuscript(
        title="Book",
        chapters=(
            Chapter(title="One", text=text, remarks=(*remarks, whole)),
            Chapter(text="No title.", remarks=(Remark(text="None", created=AT),)),
        ),
    )


def test_what_is_written_is_read_back_with_its_passages(tmp_path: Path) -> None:
    book = commented("all day", "a lamp", "oil can", "Quoted", "lamp\n- an", "rained* all")
    (tmp_path / "out.docx").write_bytes(write_docx(book))
    again, notes = read_docx(tmp_path / "out.docx")
    assert [each.text for each in again.chapters] == [each.text for each in book.chapters]
    found = dict(pair for pairs in quotes(again) for pair in pairs)
    assert len(found) == 8 and found["On all of it"] == found["None"] == ""
    assert {text.split("'")[1]: quote for text, quote in found.items() if "Second" in text} == {
        "all day": "all day",
        "a lamp": "a lamp",
        "oil can": "`oil can`".strip("`"),
        "Quoted": "Quoted",
        "lamp\\n- an": "lamp\n- an",
        "rained* all": "rained* all",
    }
    assert {each.author for each in again.chapters[0].remarks} == {"", "Ed & Co"}
    assert {each.created for each in again.chapters[0].remarks} == {AT}
    assert notes == ("Taken as notes: 8 comment(s).",)
    without = [Chapter(title=each.title, text=each.text) for each in book.chapters]
    (tmp_path / "plain.docx").write_bytes(write_docx(Manuscript(title="Book", chapters=tuple(without))))
    assert read_docx(tmp_path / "plain.docx")[0].chapters == tuple(without)


def test_other_programs_read_the_comments(tmp_path: Path) -> None:
    path = tmp_path / "out.docx"
    path.write_bytes(write_docx(commented("all day", "code here")))
    found = {each.text.split("\n")[0]: each for each in python_docx.Document(str(path)).comments}
    assert set(found) == {"On 'all day'", "On 'code here'", "On all of it", "None"}
    assert found["On all of it"].author == "Ed & Co"
    assert [each.timestamp.year for each in found.values() if each.timestamp] == [2024] * 4
    import pypandoc

    told = subprocess.run(
        [pypandoc.get_pandoc_path(), "--track-changes=all", "-t", "native", str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert told.count("comment-start") >= 1 and "code here" in told


@given(st.text(alphabet="ab *_`[]()<>#-\n>1.|~\\", max_size=60), st.data())
@settings(max_examples=50, deadline=None)
def test_signs_leave_what_a_text_comes_to(text: str, data: st.DataObject) -> None:
    reader = MarkdownTokens()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    remark = Remark(text="x", start=start, end=end)
    marked, whole = Placer(text, reader.blocks).place([(0, remark)])
    assert bare(marked) == text
    assert (whole == [0]) == (marked == text)
    if not whole and text[start:end].strip(" \t\n*_~`"):
        low, high = passages(marked)[0]
        assert start <= low < high <= end


def test_dates_of_word() -> None:
    assert [moment(each) for each in ("2024-01-05T14:00:00Z", "2024-01-05T14:00:00", "", "1960-01-01", "x")] == [
        AT, AT, 0, 0, 0,
    ]  # fmt: skip


def test_open_notes_of_the_library_go_out_and_come_in_and_the_others_are_told(store: Store, tmp_path: Path) -> None:
    made_of, parts = add_book(store, ["The lamp was lit at dusk.", "Nobody saw it."])
    book = made_of.uuid
    with store.write(Act(actor="author", label="test", book=book)) as tx:
        space = tx.space(LIBRARY)
        create(space, parts[0].uuid, "The lamp was lit at dusk.", Draft("Which lamp?", 4, 8))
        create(space, parts[1].uuid, "Nobody saw it.", Draft("All of it."))
        settled = create(space, parts[1].uuid, "Nobody saw it.", Draft("Old.", 0, 6))
        resolve(space, settled.uuid, "done")
    told = export_book(store, book, "docx", tmp_path / "out.docx").notes
    assert told == ("Not in the file: 1 note on a passage (1 done).",)
    told = export_book(store, book, "markdown", tmp_path / "out.md").notes
    assert told == ("Not in the file: 3 notes on passages (2 open, 1 done).",)
    made = import_book(store, tmp_path / "out.docx")
    with store.read() as tx:
        notes = [each for each in notes_of_book(tx.space(LIBRARY), made.uuid)]
    assert sorted((each.annotation.text, each.annotation.quote, each.status) for each in notes) == [
        ("All of it.", "", "open"),
        ("Which lamp?", "lamp", "open"),
    ]
    assert all(each.place is not None for each in notes)
