"""Projects of novelWriter: their order, their texts, their notes, what is kept beside them and what is left out."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Invalid, MarginaliaError, Refused
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import export_book, import_book, manuscript_of
from marginalia_tui.services.exchange.manuscript import Manuscript, words_of
from marginalia_tui.services.exchange.novelwriter import read_novelwriter
from marginalia_tui.store.store import Store

ROOT = "0000000000001"
NOTES = "0000000000002"


def item(
    handle: str,
    parent: str,
    order: int,
    kind: str = "FILE",
    group: str = "NOVEL",
    layout: str = "DOCUMENT",
    **more: str,
) -> str:
    name, status, active = more.get("name", "Doc"), more.get("status", "s1"), more.get("active", "yes")
    return (
        f'<item handle="{handle}" parent="{parent}" root="{ROOT}" order="{order}" type="{kind}" class="{group}" '
        f'layout="{layout}"><meta expanded="yes"/><name status="{status}" import="i1" active="{active}">{name}</name>'
        "</item>"
    )


def project(folder: Path, items: Sequence[str], texts: dict[str, str], head: str = "") -> Path:
    (folder / "content").mkdir(parents=True, exist_ok=True)
    (folder / "nwProject.nwx").write_text(
        f'<?xml version="1.0" encoding="utf-8"?>\n{head}<novelWriterXML appVersion="2.7" fileVersion="1.5">'
        "<project><name>The Ferry</name><author>Ada B.</author><author>C. D.</author></project><settings>"
        '<language>en_GB</language><status><entry key="s1">Draft</entry><entry key="s2">Done</entry></status>'
        '<importance><entry key="i1">Main</entry></importance></settings>'
        f'<content><item handle="{ROOT}" parent="None" root="{ROOT}" order="0" type="ROOT" class="NOVEL">'
        f'<name status="s1" import="i1">Novel</name></item>{"".join(items)}</content></novelWriterXML>'
    )
    for handle, text in texts.items():
        name = f"%%~name: Doc\n%%~path: {ROOT}/{handle}\n%%~kind: NOVEL/DOCUMENT\n%%~hash: 0\n"
        (folder / "content" / f"{handle}.nwd").write_text(name + text)
    return folder


def number(value: int) -> str:
    return f"{value:013x}"


def parts(book: Manuscript) -> list[tuple[str, str]]:
    return [(chapter.title, chapter.text) for chapter in book.chapters]


def one(folder: Path, text: str) -> str:
    book, _ = read_novelwriter(project(folder, [item(number(9), ROOT, 0)], {number(9): f"# T\n\n{text}"}))
    return book.chapters[0].text


def test_the_project_gives_the_order_and_the_book(tmp_path: Path) -> None:
    items = [
        item(number(16), ROOT, 1, name="Chapter One"),
        item(number(19), number(16), 1, name="Second scene", status="s2"),
        item(number(18), number(16), 0, name="First scene"),
        item(number(17), ROOT, 0, name="Title Page"),
        item(number(20), ROOT, 2, kind="FOLDER", name="A folder"),
        item(number(21), number(20), 0, name="No heading"),
    ]
    texts = {
        number(17): "#! The Ferry\n\n>> By Ada <<\n",
        number(16): "##! One\n",
        number(18): "### The pier\n\nIt rained.\n",
        number(19): "### The boat\n\nIt left.\n\n#### Later\n\nIt came back.\n",
        number(21): "Only text.",
    }
    imported = read_manuscript(project(tmp_path, items, texts))
    book = imported.manuscript
    assert imported.format == "novelwriter"
    assert (book.title, book.author, book.language) == ("The Ferry", "Ada B., C. D.", "en-GB")
    assert parts(book) == [
        ("The Ferry", "By Ada"),
        ("One", ""),
        ("The pier", "It rained."),
        ("The boat", "It left.\n\n#### Later\n\nIt came back."),
        ("No heading", "Only text."),
    ]
    assert [chapter.attributes for chapter in book.chapters] == [
        {"status": "Draft"},
        {"status": "Draft", "heading_level": 2},
        {"status": "Draft", "heading_level": 3},
        {"status": "Done", "heading_level": 3},
        {"status": "Draft"},
    ]
    assert imported.notes == ("Kept in the data of the parts: status of 5.",)
    assert read_manuscript(tmp_path / "nwProject.nwx").manuscript == book, "the project file stands for its folder"


def test_a_level_parts_the_whole_project(tmp_path: Path) -> None:
    items = [item(number(value), ROOT, value) for value in (16, 17, 18)]
    texts = {
        number(16): "## One\n\n% Synopsis: of the chapter\n\na",
        number(17): "### Scene\n\n% Synopsis: of the scene\n@char: Ada\n\nb",
        number(18): "## Two\n\nc",
    }
    folder = project(tmp_path, items, texts)
    assert parts(read_novelwriter(folder, 2)[0]) == [("One", "a\n\n### Scene\n\nb"), ("Two", "c")]
    assert read_novelwriter(folder, 2)[0].chapters[0].attributes == {
        "status": "Draft",
        "heading_level": 2,
        "synopsis": "of the chapter\nof the scene",
        "references": {"char": ["Ada"]},
    }
    assert [title for title, _ in parts(read_novelwriter(folder, 3)[0])] == ["One", "Scene", "Two"]


def test_what_stands_beside_the_prose_is_kept_and_named(tmp_path: Path) -> None:
    text = (
        "### Scene\n\n@pov: Ada\n@char: Ada, Ben\n@char: Cy\n@location: Pier\n\n%Synopsis: They wait.\n% look this up\n"
        "%~ not now\n%Note.time: at dusk\n\nProse stays @here: and 5 % of it.\n\n% last\n"
    )
    book, notes = read_novelwriter(project(tmp_path, [item(number(16), ROOT, 0)], {number(16): text}))
    assert parts(book) == [("Scene", "Prose stays @here: and 5 % of it.")]
    assert book.chapters[0].attributes == {
        "status": "Draft",
        "heading_level": 3,
        "synopsis": "They wait.",
        "comments": ["look this up", "not now", "note.time: at dusk", "last"],
        "references": {"pov": ["Ada"], "char": ["Ada", "Ben", "Cy"], "location": ["Pier"]},
    }
    assert notes == ("Kept in the data of the parts: comments of 1, references of 1, status of 1, synopsis of 1.",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\ntwo\n\nthree", "One\\\ntwo\n\nthree"),
        ("\tindented\n    too", "indented\\\ntoo"),
        (">> centred <<\n\n>> right\n\nleft <<", "centred\n\nright\n\nleft"),
        ("> quoted <", "> quoted"),
        ("a[br]b[br]\nc", "a\\\nb\\\nc"),
        ("[i]a[/i] [b]b[/b] [s]c[/s] [U]d[/U]", "*a* **b** ~~c~~ <u>d</u>"),
        ("x[sup]2[/sup] [m]e[/m]", "x<sup>2</sup> <mark>e</mark>"),
        ("_it_ **bold** ~~gone~~", "_it_ **bold** ~~gone~~"),
        ("[newpage]\na\n\n[vspace:3]\n\nb", "a\n\nb"),
        ("a\n---\nb", "a\\\n\\---\\\nb"),
        ("one[footnote:f1] two[footnote:f2] gone[footnote:f3]\n\n%Footnote.f1: first [i]x[/i]\n\n%Footnote.f2: second",
         "one[^1] two[^2] gone\n\n[^1]: first *x*\n\n[^2]: second"),
        ("<A> & [field:words]", "<A> & [field:words]"),
    ],
)  # fmt: skip
def test_the_text_of_a_document(tmp_path: Path, text: str, expected: str) -> None:
    assert one(tmp_path, text) == expected


def test_what_is_left_out_is_named_by_number(tmp_path: Path) -> None:
    items = [
        item(number(16), ROOT, 0),
        item(number(17), ROOT, 1, active="no"),
        item(number(18), ROOT, 2, layout="NOTE"),
        item(number(19), ROOT, 3),
        item(NOTES, "None", 1, kind="ROOT", group="ARCHIVE"),
        item(number(20), NOTES, 0, group="NOVEL"),
        item(number(21), NOTES, 1, group="CHARACTER", layout="NOTE"),
        item(number(22), "None", 2, group="TRASH"),
    ]
    texts = {number(value): "# T\n\nx" for value in (16, 17, 20, 21, 22)} | {number(18): "# T\n"}
    book, notes = read_novelwriter(project(tmp_path, items, texts))
    assert parts(book) == [("T", "x"), ("Doc", "")]
    assert notes[1:] == (
        "Left out: documents outside of the novel (2 of archive, 1 of trash).",
        "Left out: 1 document(s) of the novel that are not active.",
        "The project names 1 document(s) that are not there: it may be damaged.",
        "Left out: 1 note(s) that are empty.",
    )


def test_notes_are_lore_that_is_looked_for_by_their_tags(tmp_path: Path) -> None:
    world = number(3)
    items = [
        item(number(16), ROOT, 0),
        item(number(17), ROOT, 1, layout="NOTE", name="Plan"),
        item(NOTES, "None", 1, kind="ROOT", group="CHARACTER", name="People"),
        item(number(20), NOTES, 0, group="CHARACTER", layout="NOTE", name="Jane"),
        item(number(21), NOTES, 1, kind="FOLDER", group="CHARACTER", name="Minor"),
        item(number(22), number(21), 0, group="CHARACTER", layout="NOTE", name="Crew", active="no"),
        item(world, "None", 2, kind="ROOT", group="WORLD", name="World"),
        item(number(23), world, 0, group="WORLD", layout="NOTE", name="The pier"),
    ]
    texts = {
        number(16): "# One\n\nJane waits.",
        number(17): "# The plan\n\nAll drown.",
        number(20): "# Jane Doe\n\n@tag: Jane | Miss Doe\n@location: Pier\n\n%Short: A smith.\n% older?\n\n"
        "She is [i]tall[/i][footnote:f].\n\n## Looks\n\nRed hair.\n\n%Footnote.f: Very.\n",
        number(22): "# Crew\n\n## Ben\n\n@tag: Ben\n\nHe sails.\n\n## Cy\n\n@tag: Cy\n\nShe steers.\n",
        number(23): "Wet boards.\n",
    }
    book, notes = read_novelwriter(project(tmp_path, items, texts))
    assert parts(book) == [("One", "Jane waits.")]
    (root,) = book.lorebooks
    assert (root.title, root.entries) == ("The Ferry", ())
    assert [(each.title, [entry.name for entry in each.entries]) for each in root.below] == [
        ("Novel", ["The plan"]),
        ("People", ["Jane Doe", "Ben", "Cy"]),
        ("World", ["The pier"]),
    ]
    jane, ben, cy = root.below[1].entries
    assert (jane.filter, jane.mode) == (r"Jane|Miss\ Doe", "regex")
    assert jane.text == "She is *tall*[^1].\n\n## Looks\n\nRed hair.\n\n[^1]: Very."
    assert (jane.comment, jane.enabled, jane.constant) == ("older?", True, False)
    assert jane.attributes == {"status": "Main", "synopsis": "A smith.", "references": {"location": ["Pier"]}}
    assert (ben.filter, ben.mode, ben.text, ben.enabled) == ("Ben", "text", "He sails.", False)
    assert cy.attributes == {"status": "Main", "folder": "Minor"}
    assert root.below[2].entries[0].filter == "The pier"
    assert notes[1:] == (
        "Taken as lore: 5 note(s) (1 in 'Novel', 3 in 'People', 1 in 'World'), looked for by 3 tag(s) and 2 title(s).",
        "Kept in the data of the lore: references of 1, status of 5, synopsis of 1.",
        "Comments of 1 note(s) are comments of the lore, which no model reads.",
        "Switched off: 2 note(s) that are not active.",
        "Left out: 1 note(s) that are empty.",
    )


def test_notes_come_into_the_library_with_their_book(store: Store, tmp_path: Path) -> None:
    items = [
        item(number(16), ROOT, 0),
        item(NOTES, "None", 1, kind="ROOT", group="CHARACTER", name="People"),
        item(number(20), NOTES, 0, group="CHARACTER", layout="NOTE", name="Jane"),
    ]
    texts = {number(16): "# One\n\nJane waits.", number(20): "# Jane\n\n@tag: Jane\n\nTall.\n"}
    made = import_book(store, project(tmp_path, items, texts))
    with store.read() as tx:
        book = manuscript_of(tx, made.uuid)
    (entry,) = book.lorebooks[0].below[0].entries
    assert (entry.name, entry.filter, entry.text) == ("Jane", "Jane", "Tall.")
    out = export_book(store, made.uuid, "markdown", tmp_path / "out.md")
    assert out.notes == ("Not in the file: the lorebook 'The Ferry' with 1 entry.",)


@pytest.mark.parametrize("tag", ["(a+)+$ | [", "\x1b[31m | " + "x" * 5_000, ", ".join(f"t{n}" for n in range(9_000))])
def test_tags_of_a_hostile_note_are_plain_and_few(tmp_path: Path, tag: str) -> None:
    items = [item(NOTES, "None", 1, kind="ROOT", group="CHARACTER"), item(number(20), NOTES, 0, group="CHARACTER")]
    book, _ = read_novelwriter(project(tmp_path, items, {number(20): f"# N\n\n@tag: {tag}\n\nx"}))
    (entry,) = book.lorebooks[0].below[0].entries
    assert len(entry.filter) < 20_000 and "\x1b" not in entry.filter
    assert entry.mode == "regex"
    assert re.compile(entry.filter, re.IGNORECASE).search(entry.filter.replace("\\", "")) is not None


def test_projects_of_older_versions_are_read(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "nwProject.nwx").write_text(
        '<novelWriterXML appVersion="1.2" fileVersion="1.3"><project><name>Name</name><title>Old</title>'
        f'<author>A</author></project><content count="2"><item handle="{ROOT}" order="0" parent="None">'
        "<name>Novel</name><type>ROOT</type><class>NOVEL</class></item>"
        f'<item handle="{number(16)}" order="0" parent="{ROOT}">'
        "<name>Scene</name><type>FILE</type><class>NOVEL</class><status>Draft</status><exported>True</exported>"
        f'<layout>SCENE</layout></item><item handle="{number(17)}" order="1" parent="{ROOT}"><name>Off</name>'
        "<type>FILE</type><class>NOVEL</class><status>New</status><exported>False</exported><layout>SCENE</layout>"
        "</item></content></novelWriterXML>"
    )
    for value in (16, 17):
        (tmp_path / "content" / f"{number(value)}.nwd").write_text("### S\n\nx")
    book, _ = read_novelwriter(tmp_path)
    assert (book.title, book.author) == ("Old", "A")
    assert parts(book) == [("S", "x")]
    assert book.chapters[0].attributes == {"status": "Draft", "heading_level": 3}


def test_a_project_that_goes_in_circles_ends(tmp_path: Path) -> None:
    items = [item(number(16), ROOT, 0), item(number(17), number(18), 0), item(number(18), number(17), 0)]
    items += [item(number(16), ROOT, 5)]
    book, _ = read_novelwriter(project(tmp_path, items, {number(16): "# T\n\nx"}))
    assert parts(book) == [("T", "x")]


def test_bad_projects_end_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"holds no nwProject\.nwx"):
        read_novelwriter(tmp_path)
    with pytest.raises(MarginaliaError, match="no project of novelWriter"):
        (tmp_path / "nwProject.nwx").write_text("<other/>")
        read_manuscript(tmp_path)
    with pytest.raises(Invalid, match="damaged"):
        (tmp_path / "nwProject.nwx").write_text("<novelWriterXML>")
        read_manuscript(tmp_path)
    with pytest.raises(Invalid, match="holds no text"):
        (tmp_path / "nwProject.nwx").write_text("<novelWriterXML/>")
        read_manuscript(tmp_path)


def test_f53_entities_are_refused(tmp_path: Path) -> None:
    head = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    project(tmp_path, [item(number(16), ROOT, 0, name="&e;")], {number(16): "x"}, head)
    with pytest.raises(Refused, match="declares entities"):
        read_novelwriter(tmp_path)


@pytest.mark.parametrize("handle", ["../../etc/passwd", "/etc/passwd", "..", "", "0000000000016.nwd/../x"])
def test_f54_a_document_outside_of_the_folder_is_not_read(tmp_path: Path, handle: str) -> None:
    with pytest.raises(Invalid, match="names a document"):
        read_novelwriter(project(tmp_path, [item(handle, ROOT, 0)], {}))


def test_f54_a_document_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret")
    folder = project(tmp_path / "book", [item(number(16), ROOT, 0)], {})
    (folder / "content" / f"{number(16)}.nwd").symlink_to(tmp_path / "secret")
    with pytest.raises(Refused, match="leads outside"):
        read_novelwriter(folder)


def test_an_export_of_an_import_has_the_same_words(tmp_path: Path) -> None:
    text = "### Scene\n\nIt _rained_[footnote:f].\nAll day.\n\n> Quoted <\n\n%Footnote.f: A note.\n"
    book = read_manuscript(project(tmp_path / "in", [item(number(16), ROOT, 0)], {number(16): text})).manuscript
    for format in ("markdown", "folder", "longform", "epub", "docx"):
        write_manuscript(book, format, tmp_path / format)
        assert words_of(read_manuscript(tmp_path / format).manuscript) == words_of(book), format
