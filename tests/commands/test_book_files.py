"""Books from files and into them, by the commands of the author."""

from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.commands.completion import Completers, book_completer, complete
from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import DISPATCHER, World
from tests.support.chats import message, written

TEXT = "---\ntitle: The Ferry\n---\n\n# One\n\nIt rained.\n\n# Two\n\nShe came.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.md"
    path.write_text(TEXT)
    return path


def parts_of(world: World, book: str) -> list[str]:
    with world.store.read() as tx:
        space = tx.space(LIBRARY)
        tree = story_tree(space, space.get(Book, book))
        return [f"{part.title}: {part.text}" for part in space.get_many(Part, tree.active).values()]


def books(world: World) -> set[str]:
    with world.store.read() as tx:
        return {book.title for book in tx.space(LIBRARY).books() if book.deleted is None}


def test_a_file_becomes_a_book_and_no_other_book_is_open_for_it(world: World, source: Path) -> None:
    made = world.run(f"/import-book {source}")
    assert (made["title"], made["format"], made["parts"], made["words"]) == ("The Ferry", "markdown", 2, 4)
    assert parts_of(world, made["book"]) == ["One: It rained.", "Two: She came."]
    none = replace(world.author, book=None)
    told = DISPATCHER.run_line(f'/import-book {source} text "Her ferry"', none).sentence()
    assert told == "Imported 'Her ferry' (text): 1 part, 9 words."
    # What came in is a step of its own book: undo of the open one does not meet it.
    with pytest.raises(Refused, match="made this book"):
        DISPATCHER.run_line("/undo", replace(world.author, book=made["book"]))
    assert made["title"] not in str(world.run("/get-book-info"))
    assert {"The Ferry", "Her ferry"} <= books(world)


def test_answers_name_what_was_left_out(world: World, tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", message("It rained.", swipes=["It rained.", "Sun."], swipe_id=0), "{")
    made = world.run(f"/import-book {path}")
    assert (made["format"], made["parts"], made["swipes"]) == ("chat", 2, 1)
    assert made["notes"][-1] == "Left out, as it is no JSON; the file may have been cut off there (line 3)."
    told = world.run(f'/export-book {tmp_path}/out.md "" {made["book"]}')
    assert (told["format"], told["title"]) == ("markdown", made["title"])
    assert told["notes"] == ["Not in the file: 1 swipe, 1 turn input, 1 message header."]
    assert (tmp_path / "out.md").stat().st_size == told["bytes"]


def test_what_goes_out_comes_in_again(world: World, tmp_path: Path) -> None:
    here = parts_of(world, world.book)
    for name, format in (("a.docx", ""), ("b.epub", ""), ("c", ""), ("d", "longform"), ("e.zip", ""), ("f", "backup")):
        told = world.run(f"/export-book {tmp_path}/{name} {format}")
        made = world.run(f"/import-book {tmp_path}/{name}")
        assert made["format"] == told["format"]
        assert parts_of(world, made["book"]) == here


def test_nothing_is_overwritten_unasked(world: World, source: Path) -> None:
    with pytest.raises(Refused, match="exists already"):
        world.run(f"/export-book {source}")
    assert source.read_text() == TEXT
    world.run(f'/export-book {source} "" "" true')
    assert "The lamp was lit" in source.read_text()


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("/import-book {tmp}/none.md", NotFound, "There is no file"),
        ('/import-book " "', Invalid, "Name the file"),
        ("/import-book {file} nonsense", Invalid, "format"),
        ('/import-book {file} "" "" 7', Invalid, "level"),
        ("/import-book {file} epub", Invalid, "EPUB"),
        ("/export-book {tmp}/x.pdf", Invalid, "Name the format"),
        ("/export-book {tmp}/x novelwriter", Invalid, "format"),
        ("/export-book {tmp}/no/x.md", Invalid, "There is no folder"),
        ('/export-book {tmp}/x.md "" "No such book"', NotFound, "There is no book"),
        ('/export-book ""', Invalid, "path"),
    ],
)
def test_bad_calls_change_nothing(
    world: World, source: Path, tmp_path: Path, line: str, error: type[Exception], says: str
) -> None:
    before = books(world)
    with pytest.raises(error, match=says):
        world.run(line.format(tmp=tmp_path, file=source))
    assert books(world) == before
    assert {each.name for each in tmp_path.iterdir()} <= {"ferry.md", "home"}


def test_without_an_open_book_one_is_named(world: World, tmp_path: Path) -> None:
    none = replace(world.author, book=None)
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line(f"/export-book {tmp_path}/x.md", none)
    DISPATCHER.run_line(f'/export-book {tmp_path}/x.md "" {world.book}', none)
    assert (tmp_path / "x.md").is_file()


def test_agents_are_not_given_them() -> None:
    for name, word in (("import-book", "adds"), ("export-book", "reads")):
        definition = DISPATCHER.registry.get(name)
        assert not definition.for_model
        assert definition.severity.word == word


def test_formats_and_books_are_completed() -> None:
    completers = Completers()
    completers.register("book", book_completer([("u1", "Ferry", 10), ("u2", "Lamp", 3), ("u3", "lamp", 2)]))

    def proposed(line: str) -> list[str]:
        return [each.text for each in complete(DISPATCHER.registry, completers, line)]

    assert proposed("/import-book x nov") == ["novelwriter"]
    assert "novelwriter" not in proposed("/export-book x ")
    assert proposed('/export-book x "" fer') == ["Ferry"]
    assert proposed('/export-book x "" lamp') == ["u2", "u3"]
