"""Projects of the Longform plugin: their order, their depth, what is kept, what is refused and replaced."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.longform import read_longform
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript
from marginalia_tui.services.exchange.markdown import tidy
from tests.support.books import a_manuscript, manuscripts

INDEX = """---
author: Ada
tags: [wip]
longform:
  format: scenes
  title: Nested Tale
  workflow: Default Workflow
  sceneFolder: scenes
  scenes:
    - The Pier
    - - Rain
      - Later rain
      - - Deeper
    - "Quoted: 2"
  ignoredFiles:
    - Not this
---

What it is about.
"""
SCENES = {
    "scenes/Rain.md": "r",
    "scenes/The Pier.md": "---\nmood: grey\n---\n\np",
    "scenes/Deeper.md": "#### Own heading\n\nd",
    "scenes/Later rain.md": "l",
    "scenes/Quoted: 2.md": "q",
}


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_index_gives_the_order_the_depth_and_the_book(tmp_path: Path) -> None:
    imported = read_manuscript(
        make(tmp_path, {"Tale.md": INDEX, **SCENES, "scenes/Not this.md": "n", "cover.png": "x"})
    )
    book = imported.manuscript
    assert imported.format == "longform"
    assert (book.title, book.author, book.description) == ("Nested Tale", "Ada", "What it is about.")
    assert [(each.title, each.text, each.attributes.get("heading_level")) for each in book.chapters] == [
        ("The Pier", "p", None),
        ("Rain", "r", 2),
        ("Later rain", "l", 2),
        ("Own heading", "d", 4),
        ("Quoted: 2", "q", None),
    ]
    assert book.chapters[0].attributes == {"front_matter": "mood: grey"}
    assert book.attributes == {
        "front_matter": "tags: [wip]",
        "longform": "  workflow: Default Workflow\n  ignoredFiles:\n    - Not this",
    }
    assert imported.notes == (
        "Left out: 1 note(s) beside the scenes: 'scenes/Not this.md'.",
        "Left out: 1 other file(s): 'cover.png'.",
    )


def test_a_project_below_the_folder_is_found_and_drafts_are_told(tmp_path: Path) -> None:
    files = {
        "a note.md": "not a project",
        "books/Tale.md": INDEX,
        "books/Second draft.md": INDEX.replace("Tale", "2nd"),
    }
    make(tmp_path, {**files, **{f"books/{name}": text for name, text in SCENES.items()}})
    imported = read_manuscript(tmp_path)
    assert imported.manuscript.title == "Nested 2nd"
    told = " ".join(imported.notes)
    assert "1 other project(s) or draft(s): 'books/Tale.md'." in told
    assert "1 note(s) beside the scenes: 'a note.md'." in told


def test_a_project_of_one_note(tmp_path: Path) -> None:
    note = "---\nlongform:\n  format: single\n  title: Short\nlang: fr\n---\n\n# One\n\na\n\n# Two\n\nb\n"
    book = read_manuscript(make(tmp_path, {"Short.md": note})).manuscript
    assert (book.title, book.language) == ("Short", "fr")
    assert [(each.title, each.text) for each in book.chapters] == [("One", "a"), ("Two", "b")]


def test_a_level_parts_the_scenes_too(tmp_path: Path) -> None:
    make(tmp_path, {"Index.md": "---\nlongform:\n  scenes: [a]\n---\n", "a.md": "# A\n\nx\n\n## B\n\ny"})
    assert [each.title for each in read_longform(tmp_path)[0].chapters] == ["A"]
    assert [each.title for each in read_longform(tmp_path, 2)[0].chapters] == ["A", "B"]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret", "link"])
def test_f54_an_index_can_not_name_a_file_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    make(tmp_path, {"secret.md": "secret", "book/Index.md": f"---\nlongform:\n  scenes:\n    - {name}\n---\n"})
    (tmp_path / "book" / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(Refused, match="leads outside"):
        read_manuscript(tmp_path / "book")


def test_what_is_no_project_is_told(tmp_path: Path) -> None:
    make(tmp_path, {"a.md": "---\nlongform: true\n---\n\nx"})
    assert read_manuscript(tmp_path).format == "folder"
    with pytest.raises(Invalid, match="no note with a list of scenes"):
        read_manuscript(tmp_path, format="longform")
    make(tmp_path, {"Index.md": "---\nlongform:\n  scenes:\n    - gone\n---\n"})
    with pytest.raises(Invalid, match="which is not there"):
        read_manuscript(tmp_path)


def test_what_we_write_is_a_project(tmp_path: Path) -> None:
    chapters = (
        Chapter(title="Part: 1?", text="a", attributes={"heading_level": 1}),
        Chapter(title="Scene", text="b", attributes={"heading_level": 2}),
        Chapter(title="Deep", text="c", attributes={"heading_level": 4}),
        Chapter(title="", text="d"),
        Chapter(title="船" * 100, text="e"),
    )
    book = Manuscript(title='T "q"', author="N. N.", language="en", description="About.", chapters=chapters)
    write_manuscript(replace(book, attributes={"longform": "  workflow: Mine"}), "longform", tmp_path / "out")
    index = (tmp_path / "out" / "Index.md").read_text()
    assert index == (
        '---\nauthor: "N. N."\nlanguage: "en"\nlongform:\n  format: scenes\n  title: "T \\"q\\""\n  workflow: Mine\n'
        '  sceneFolder: /\n  scenes:\n    - "001 Part 1"\n    - - "002 Scene"\n      - - "003 Deep"\n    - "004"\n'
        f'    - "005 {"船" * 40}"\n---\n\nAbout.\n'
    )
    again = read_manuscript(tmp_path / "out").manuscript
    assert again.attributes == {"longform": "  workflow: Mine"}
    assert [(each.title, each.text, each.attributes) for each in again.chapters] == [
        (each.title, each.text, {} if each.attributes.get("heading_level") == 1 else each.attributes)
        for each in book.chapters
    ]


def test_an_export_replaces_only_an_export(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_manuscript(a_manuscript("a", "b"), "longform", out)
    assert sorted(path.name for path in out.iterdir()) == ["001 Chapter 1.md", "002 Chapter 2.md", "Index.md"]
    with pytest.raises(Refused, match="exists already"):
        write_manuscript(a_manuscript("c"), "longform", out)
    write_manuscript(a_manuscript("c"), "longform", out, force=True)
    assert sorted(path.name for path in out.iterdir()) == ["001 Chapter 1.md", "Index.md"]
    (out / "diary.md").write_text("mine")
    with pytest.raises(Refused, match=r"'diary\.md', which is not from an export"):
        write_manuscript(a_manuscript("d"), "longform", out, force=True)


def test_novelwriter_is_only_read(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="can't be written as novelwriter"):
        write_manuscript(a_manuscript("a"), "novelwriter", tmp_path / "out")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    folder, count = tmp_path_factory.mktemp("scratch"), iter(range(1_000_000))
    return lambda: folder / f"out-{next(count)}"


@settings(max_examples=25, deadline=None)
@given(manuscripts())
def test_any_book_comes_back_whole(scratch: Callable[[], Path], manuscript: Manuscript) -> None:
    if not manuscript.chapters:
        return
    path = scratch()
    write_manuscript(manuscript, "longform", path)
    read, _ = read_longform(path)
    book = tidy(manuscript)
    assert [(each.title, each.text) for each in read.chapters] == [(each.title, each.text) for each in book.chapters]
    assert replace(read, chapters=()) == replace(book, chapters=())
