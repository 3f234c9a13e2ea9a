"""Folders of files: their order, what is taken, what may be named and replaced."""

import json
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.services.exchange import folder as folders
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.folder import read_folder
from marginalia_tui.services.exchange.importer import read_manuscript
from tests.support.books import a_manuscript


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def titles(folder: Path, level: int | None = None) -> list[str]:
    return [chapter.title for chapter in read_folder(folder, level)[0].chapters]


def test_names_are_put_in_natural_order(tmp_path: Path) -> None:
    make(tmp_path, {f"{name}.md": "x" for name in ("10 End", "2-the-pier", "1 Start", "a2/2", "a2/10", "A10/1")})
    assert titles(tmp_path) == ["Start", "the pier", "End", "", "", ""]


def test_each_file_is_a_part_named_by_its_heading_or_else_by_its_name(tmp_path: Path) -> None:
    make(tmp_path, {"1_first.md": "# One\n\n## Scene\n\na", "2 Second Thoughts.md": "b", "3.md": ""})
    book, notes = read_folder(tmp_path)
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("One", "## Scene\n\na"),
        ("Second Thoughts", "b"),
        ("", ""),
    ]
    assert notes == ()
    assert titles(tmp_path, 2) == ["One", "Scene", ""], "a level parts the files too"


def test_other_files_are_left_out_and_told(tmp_path: Path) -> None:
    make(tmp_path, {"1.md": "x", "notes.txt": "y", "cover.png": "z", ".obsidian/app.md": "w"})
    (tmp_path / "link.md").symlink_to(tmp_path / "1.md")
    book, notes = read_folder(tmp_path)
    assert len(book.chapters) == 1
    assert notes[0].startswith("Left out: 3 other file(s): '")
    assert all(repr(name) in notes[0] for name in ("notes.txt", "cover.png", "link.md"))
    make(tmp_path, {f"{number}.dat": "x" for number in range(30)})
    assert read_folder(tmp_path)[1][0].endswith(" and 13 more.")


def test_a_folder_of_plain_texts(tmp_path: Path) -> None:
    make(tmp_path, {"1.txt": "Chapter I\n\nx", "2 Later.txt": "y\r\nz"})
    book = read_manuscript(tmp_path).manuscript
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [("Chapter I", "x"), ("Later", "y\nz")]


def test_an_index_gives_the_order_and_the_book(tmp_path: Path) -> None:
    tree = [
        {"title": "Part", "children": [{"title": "Deep", "file": "c/2.md", "children": [{"file": "c/1.md"}]}]},
        {"title": "", "file": "3.md"},
        "nonsense",
    ]
    make(tmp_path, {"c/2.md": "a", "c/1.md": "# Own\n\nb", "3.md": "# Stays\n\nc", "extra.md": "d"})
    (tmp_path / "book.json").write_text(json.dumps({"title": "Indexed", "author": "A", "tree": tree}))
    book, notes = read_folder(tmp_path)
    assert (book.title, book.author) == ("Indexed", "A")
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("Deep", "a"),
        ("Own", "b"),
        ("", "# Stays\n\nc"),
    ]
    assert "extra.md" in notes[0]


def test_the_index_note_of_longform_gives_the_order(tmp_path: Path) -> None:
    index = (
        "---\nlongform:\n  format: scenes\n  title: Nested Tale\n  sceneFolder: scenes\n  scenes:\n    - The Pier\n"
        "    - - Rain\n      - - Deeper\n  ignoredFiles:\n    - Not this\n---\n"
    )
    make(tmp_path, {"Index.md": index, "scenes/Rain.md": "r", "scenes/The Pier.md": "p", "scenes/Deeper.md": "d"})
    book = read_manuscript(tmp_path).manuscript
    assert book.title == "Nested Tale"
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("The Pier", "p"),
        ("Rain", "r"),
        ("Deeper", "d"),
    ]


@pytest.mark.parametrize(
    "name", ["../secret.md", "/etc/passwd", "a/../../secret.md", "link.md", "sub/secret.md", "a\0b"]
)
def test_f54_an_index_can_not_name_a_file_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    make(tmp_path, {"secret.md": "secret", "book/1.md": "x"})
    book = tmp_path / "book"
    (book / "link.md").symlink_to(tmp_path / "secret.md")
    (book / "sub").symlink_to(tmp_path)
    (book / "book.json").write_text(json.dumps({"tree": [{"file": "1.md"}, {"file": name}]}))
    with pytest.raises(Refused, match="leads outside"):
        read_folder(book)


def test_an_index_that_is_wrong_is_told(tmp_path: Path) -> None:
    make(tmp_path, {"1.md": "x", "book.json": '{"tree": [{"file": "gone.md"}]}'})
    with pytest.raises(Invalid, match="which is not there"):
        read_folder(tmp_path)
    for broken in ("{", "[" * 100_000, '{"tree": ' + "9" * 5000 + "}"):
        (tmp_path / "book.json").write_text(broken)
        with pytest.raises(Invalid, match="no JSON"):
            read_folder(tmp_path)
    (tmp_path / "book.json").write_text('{"other": 1}')
    assert titles(tmp_path) == [""]


def test_half_a_character_in_an_index_is_no_title(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"1.md": "x", "book.json": '{"title": "A\\ud800B", "tree": [{"file": "1.md", "title": "\\udc00 \\u001b"}]}'},
    )
    book, _ = read_folder(tmp_path)
    assert (book.title, book.chapters[0].title) == ("A\ufffdB", "\ufffd \u241b")


def test_names_that_are_no_utf8_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "b\udcffk"
    make(folder, {"1 \udcfe.md": "x"})
    book = read_manuscript(folder).manuscript
    assert (book.title, book.chapters[0].title) == ("b\ufffdk", "\ufffd")


def test_a_folder_without_texts_or_with_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match="no Markdown or text files"):
        read_folder(tmp_path)
    make(tmp_path, {f"{number}.md": "x" * 100 for number in range(9)})
    monkeypatch.setattr(folders, "MAX_FILES", 5)
    with pytest.raises(Invalid, match="more than 5 files"):
        read_folder(tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr("marginalia_tui.services.exchange.files.MAX_TEXT_BYTES", 500)
    with pytest.raises(Invalid, match="larger than"):
        read_folder(tmp_path)


def test_an_export_replaces_only_an_export(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_manuscript(a_manuscript("a", "b"), "folder", out)
    assert sorted(path.name for path in out.iterdir()) == ["001-chapter-1.md", "002-chapter-2.md", "book.json"]
    with pytest.raises(Refused, match="exists already"):
        write_manuscript(a_manuscript("c"), "folder", out)
    write_manuscript(a_manuscript("c"), "folder", out, force=True)
    assert sorted(path.name for path in out.iterdir()) == ["001-chapter-1.md", "book.json"]
    (out / "diary.md").write_text("mine")
    with pytest.raises(Refused, match=r"'diary\.md', which is not from an export"):
        write_manuscript(a_manuscript("d"), "folder", out, force=True)
    assert read_manuscript(out).manuscript.chapters[0].text == "c"
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing else is left behind"


def test_names_of_files_are_plain_whatever_the_title(tmp_path: Path) -> None:
    book = a_manuscript(*"abc")
    nasty = ("../../etc/passwd\n", 'a/b:c*?"<>|\u241b', "船" * 200)
    chapters = tuple(
        type(chapter)(title=title, text=chapter.text) for chapter, title in zip(book.chapters, nasty, strict=True)
    )
    write_manuscript(type(book)(title="x", chapters=chapters), "folder", tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names[:2] == ["001-etc-passwd.md", "002-a-b-c.md"]
    assert len(names[2].encode()) < 140
    assert titles(tmp_path / "out") == ["../../etc/passwd", nasty[1], nasty[2]]
