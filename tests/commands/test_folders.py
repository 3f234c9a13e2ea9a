from dataclasses import replace
from typing import Any

import pytest

from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Ambiguous, Declined, Invalid, Locked, NotFound, Refused, Stale, StoreError
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.services.books import create_book, list_books, trash_book
from marginalia_tui.services.exchange.library import manuscript_of
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from tests.commands.world import DISPATCHER, World, other_book


def paths(world: World) -> list[str]:
    return [row["path"] for row in world.run("/list-folders")["folders"]]


def folder(world: World, uuid: str) -> Folder:
    with world.store.read() as tx:
        return tx.space(LIBRARY).get(Folder, uuid)


@pytest.fixture
def winter(world: World) -> str:
    """The uuid of a folder in another one; the book of the world stands in it."""
    world.run("/create-folder Series")
    made: str = world.run("/create-folder Winter Series")["folder"]
    world.run("/move-book winter")
    return made


def test_folders_are_a_tree_with_the_books_in_them(world: World, winter: str) -> None:
    world.run("/create-folder Autumn series")
    world.run("/create-folder Alone")
    other, _ = other_book(world)
    listed = world.run("/list-folders")
    assert [(row["path"], row["depth"], row["books"], row["allBooks"]) for row in listed["folders"]] == [
        ("Alone", 1, 0, 0),
        ("Series", 1, 0, 1),
        ("Series / Autumn", 2, 0, 0),
        ("Series / Winter", 2, 1, 1),
    ]
    assert listed["booksAtTheTop"] == 1
    with world.store.read() as tx:
        assert {row.title: row.folder for row in list_books(tx)} == {"The Lamp": "Series / Winter", "Another": None}
    trash_book(world.store, other)
    trash_book(world.store, world.book)
    listed = world.run("/list-folders")
    assert listed["booksAtTheTop"] == 0
    assert sum(row["allBooks"] for row in listed["folders"]) == 0


def test_a_copy_of_a_run_is_in_no_count(world: World, winter: str) -> None:
    with world.store.write(Act(actor="studio", label="copy")) as tx:
        copy_book(tx, world.book)
    assert [row["books"] for row in world.run("/list-folders")["folders"]] == [0, 1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('/create-folder " "', "may not be empty"),
        ("/create-folder a/b", "no /"),
        (f"/create-folder {'x' * 201}", "at most 200"),
        ("/create-folder series", "already"),
        ("/create-folder winter Series", "already"),
        ("/update-folder Winter", "Give what should change"),
        ("/update-folder Winter autumn english!", "a code such as en"),
        ('/update-folder Winter " "', "may not be empty"),
        ("/set-folder-prompt Winter plot x", "prompt is one of"),
    ],
)
def test_what_does_not_fit_is_refused(world: World, winter: str, line: str, sentence: str) -> None:
    before = world.journal()
    with pytest.raises(Invalid, match=sentence):
        world.run(line)
    assert world.journal() == before


def test_a_folder_is_found_by_path_name_beginning_and_uuid(world: World, winter: str) -> None:
    for name in ("Winter", "WINTER", "Series / Winter", "series/winter", "wint", winter, winter[:13]):
        assert world.run(f'/update-folder "{name}" "" "" "" past')["folder"] == winter
    world.run("/create-folder Alone")
    world.run("/create-folder winter Alone")
    with pytest.raises(Ambiguous, match="'Alone / winter', 'Series / Winter'"):
        world.run("/move-book winter")
    with pytest.raises(NotFound, match="There are: 'Alone', 'Alone / winter', 'Series' and 1 more"):
        world.run("/move-book Nowhere")


def test_no_folder_yet(world: World) -> None:
    with pytest.raises(NotFound, match="create-folder makes the first"):
        world.run("/move-book Winter")
    assert world.run("/list-folders")["folders"] == []


def test_a_change_of_a_folder_answers_what_was(world: World, winter: str) -> None:
    done = world.run('/update-folder Winter "Deep winter" "" "" "" dry')
    assert done["changed"] == [
        {"field": "name", "before": "Winter", "now": "Deep winter"},
        {"field": "style", "before": "", "now": "dry"},
    ]
    assert world.run('/update-folder "Deep winter" "" "" "" "" " "')["changed"][0]["before"] == "dry"
    assert world.run('/update-folder "Deep winter" "" "" "" "" " "')["result"] == "unchanged"
    with pytest.raises(NotFound, match="no model"):
        world.run('/update-folder "Deep winter" "" "" "" "" "" gpt')
    assert world.run('/update-folder "Deep winter" "" "" "" "" "" offline')["changed"][0]["now"].startswith("proofr")


def test_undo_of_a_book_does_not_meet_its_folders(world: World, winter: str) -> None:
    world.run("/edit-part 1 lamp candle")
    world.run('/update-folder Winter "" "" "" "" dry')
    assert world.run("/undo")["step"] == "Edit a passage"
    assert folder(world, winter).style == "dry"
    assert world.run("/undo")["step"] == "Move the book to a folder"
    assert world.opened().folder is None


def test_moving_a_folder(world: World, winter: str) -> None:
    world.run("/create-folder Deep Winter")
    for line in ("/move-folder Series Deep", "/move-folder Winter Winter", "/move-folder Winter Deep"):
        with pytest.raises(Refused, match="into itself or a folder below"):
            world.run(line)
    assert world.run("/move-folder Winter")["path"] == "Winter"
    assert paths(world) == ["Series", "Winter", "Winter / Deep"]
    assert world.run("/move-folder Deep Series")["path"] == "Series / Deep"
    world.run("/create-folder Deep")
    with pytest.raises(Invalid, match="at that place already"):
        world.run('/move-folder "Series / Deep"')


def test_two_moves_at_once_make_no_cycle(world: World) -> None:
    for name in ("A", "B"):
        world.run(f"/create-folder {name}")
    prepared = [DISPATCHER.prepare_line(line, world.author) for line in ("/move-folder A B", "/move-folder B A")]
    DISPATCHER.finish(prepared[0])
    with pytest.raises(Refused, match="into itself"):
        DISPATCHER.finish(prepared[1])
    assert paths(world) == ["B", "B / A"]


def test_only_an_empty_folder_is_deleted_and_after_a_question(world: World, winter: str) -> None:
    with pytest.raises(Refused, match="holds 1 folder: move what is in it elsewhere first"):
        world.run("/delete-folder Series")
    with pytest.raises(Refused, match="holds 1 book"):
        world.run("/delete-folder Winter")
    assert world.answers.questions == []
    world.run("/move-book")
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/delete-folder Winter")
    world.answers.answer = True
    prepared = DISPATCHER.prepare_line("/delete-folder Winter", world.author)
    world.run("/move-book Winter")
    with pytest.raises(Refused, match="holds 1 book"):
        DISPATCHER.finish(prepared)
    world.run("/move-book")
    assert world.run("/delete-folder Winter")["name"] == "Winter"
    assert paths(world) == ["Series"]


def test_move_book(world: World, winter: str) -> None:
    moved = world.run("/move-book Winter")
    assert (moved["result"], moved["path"]) == ("unchanged", "Series / Winter")
    assert world.opened().folder == winter
    assert world.run("/get-book-info")["folder"] == "Series / Winter"
    assert world.run("/move-book")["result"] == "moved"
    assert world.opened().folder is None
    with pytest.raises(Invalid, match="No book is open"):
        DISPATCHER.run_line("/move-book Winter", replace(world.author, book=None))


def test_a_folder_above_a_held_book_changes_in_nothing_but_its_name(world: World, winter: str) -> None:
    world.run("/create-folder Elsewhere")
    world.hold("Copyeditor")
    for line in (
        '/update-folder Winter "" "" "" "" dry',
        '/update-folder Series "" de',
        "/move-folder Winter",
        "/move-folder Series Elsewhere",
        "/set-folder-prompt Series turn new",
        "/move-book Elsewhere",
    ):
        with pytest.raises(Locked, match="Copyeditor"):
            world.run(line)
    world.run('/update-folder Winter "Deep winter"')
    world.run('/update-folder Elsewhere "" de "" "" dry')
    world.run('/create-folder Inside "Deep winter"')
    assert paths(world) == ["Elsewhere", "Series", "Series / Deep winter", "Series / Deep winter / Inside"]


def test_prompts_of_a_folder(world: World, winter: str) -> None:
    done = world.run('/set-folder-prompt Winter turn "Tell {{instructions}}."')
    assert done["changed"] == [{"field": "prompt of a turn", "before": "", "now": "Tell {{instructions}}."}]
    assert "inherited becomes 'Tell {{instructions}}.'" in world.answers.questions[0]
    assert folder(world, winter).prompts == {"turn": "Tell {{instructions}}."}
    prepared = DISPATCHER.prepare_line("/set-folder-prompt Winter turn", world.author)
    world.run('/update-folder Winter "" "" "" "" dry')
    with pytest.raises(Stale):
        DISPATCHER.finish(prepared)
    world.run("/set-folder-prompt Winter turn")
    assert folder(world, winter).prompts == {}
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/set-folder-prompt Winter turn new")


def facts(world: World) -> dict[str, Any]:
    return world.run("/get-book-info")


def test_a_book_inherits_from_its_folders_and_the_defaults(world: World, winter: str) -> None:
    save_settings(world.store.home, Settings(default_tense="present", default_style="plain"))
    world.run('/set-book-info "" "" "" " "')
    world.run('/update-folder Series "" de "first person" "" lush')
    world.run('/update-folder Winter "" "" "" "" dry')
    told = facts(world)
    assert (told["language"], told["pov"], told["tense"], told["style"]) == ("de", "first person", "present", "dry")
    assert told["own"] == []
    assert {row["field"]: row["source"] for row in told["inherited"]} == {
        "language": "the folder 'Series'",
        "pov": "the folder 'Series'",
        "tense": "your defaults",
        "style": "the folder 'Winter'",
    }
    world.run('/set-book-info "" "" "" fr "" "" short')
    told = facts(world)
    assert (told["language"], told["style"], told["own"]) == ("fr", "short", ["language", "style"])


def test_a_copy_reads_the_folders_of_its_original_and_can_not_change_them(world: World, winter: str) -> None:
    world.run('/set-book-info "" "" "" " "')
    world.run('/update-folder Series "" de')
    with world.store.write(Act(actor="studio", label="copy")) as tx:
        space = copy_book(tx, world.book)
    copy = replace(world.agent, space=space)
    told = to_data(DISPATCHER.run("get-book-info", {}, copy))
    assert told["language"] == "de"
    assert "folder" not in told, "the library is none of an agent's business"
    # The original moves on: the copy follows it.
    world.run("/move-book")
    assert to_data(DISPATCHER.run("get-book-info", {}, copy))["language"] == "en"
    with world.store.read() as tx:
        assert tx.space(space).get(Book, world.book).folder == winter
        assert tx.space(space).find(Folder, winter) is None


def test_a_new_book_inherits_its_language_and_is_exported_with_it(world: World, winter: str) -> None:
    world.run('/update-folder Winter "" de')
    new = create_book(world.store, "New").uuid
    scope = replace(world.author, book=new)
    assert to_data(DISPATCHER.run_line("/get-book-info", scope))["language"] == "en"
    DISPATCHER.run_line("/move-book Winter", scope)
    assert to_data(DISPATCHER.run_line("/get-book-info", scope))["language"] == "de"
    with world.store.read() as tx:
        assert manuscript_of(tx, new).language == "de"


def test_a_folder_that_is_gone_is_none(world: World) -> None:
    world.put(replace(world.opened(), folder="no-such-folder", language=""))
    told = facts(world)
    assert told["language"] == "en" and "folder" not in told
    assert world.run("/list-folders")["booksAtTheTop"] == 1


def test_folders_are_the_author_s() -> None:
    for name in (
        "list-folders",
        "create-folder",
        "update-folder",
        "set-folder-prompt",
        "move-folder",
        "delete-folder",
        "move-book",
    ):
        assert not DISPATCHER.registry.get(name).for_agents


def test_settings_that_can_not_be_read_are_told(world: World) -> None:
    (world.store.home / "settings.json").write_text("{")
    with pytest.raises(StoreError, match="Correct or delete it"):
        facts(world)
