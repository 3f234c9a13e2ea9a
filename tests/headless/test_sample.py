"""The sample book of the demo: what lies beside it fits the text, and the proofreader leaves it alone."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.cli import parser
from marginalia_tui.desk.panels import PanelDesk, PanelName
from marginalia_tui.domain.items import Book, Entry, Lorebook, Part
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.headless.demo import prepare, read_sample, run_demo
from marginalia_tui.resources import sample_desk
from marginalia_tui.services import annotations, lore, summaries
from marginalia_tui.services.parts import story_tree
from marginalia_tui.services.sample import Desk, Note, add_sample, read_desk
from marginalia_tui.store.journal import Act
from marginalia_tui.store.schema import prepare_home
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio whose library holds the sample book as the demo makes it."""
    prepare_home(tmp_path / "home")
    with closing(Studio(tmp_path / "home", pace=0)) as opened:
        prepare(opened, read_sample())
        yield opened


def opened_book(studio: Studio) -> tuple[Book, StoryTree]:
    with studio.store.read() as tx:
        space = tx.space(LIBRARY)
        (book,) = space.books()
        return book, story_tree(space, book)


def others_of(studio: Studio) -> list[Part]:
    """The parts beside the branch that is read, as they are now."""
    _, tree = opened_book(studio)
    with studio.store.read() as tx:
        found = tx.space(LIBRARY).get_many(Part, tree.rows.keys() - set(tree.active))
    return sorted(found.values(), key=lambda part: part.created)


def test_the_book_is_read_to_its_end_whichever_version_one_comes_back_from(studio: Studio) -> None:
    book, tree = opened_book(studio)
    assert book.tags == ("novella", "printing", "sea")
    assert [tree.rows[uuid].title for uuid in tree.active] == list(read_sample().titles)
    assert [tree.leaf_below(uuid) for uuid in tree.active] == [tree.active_leaf] * 13


def test_one_part_has_a_second_version_and_the_book_another_end(studio: Studio) -> None:
    _, tree = opened_book(studio)
    assert [len(tree.swipes(uuid)) for uuid in tree.active] == [1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2]
    version, ending = others_of(studio)
    assert (version.title, ending.title) == ("A Letter Now and Then", "Let It Stand")
    assert (version.parent, ending.parent) == (tree.active[5], tree.active[11])
    assert 150 <= version.words <= 300 and 150 <= ending.words <= 300


def test_it_came_in_one_change(studio: Studio) -> None:
    with studio.store.read() as tx:
        rows = tx.connection.exec_driver_sql('SELECT actor, label FROM "change"').fetchall()
    assert [tuple(row) for row in rows] == [("author", "sample book")]


def test_every_summary_is_valid_and_they_follow_each_other(studio: Studio) -> None:
    book, tree = opened_book(studio)
    with studio.store.read() as tx:
        blocks = summaries.summaries_of(tx.space(LIBRARY), book.uuid).branch(tree.active_leaf)
    assert all(block.valid for block in blocks)
    reached = sorted([tree.position(part) for part in block.parts] for block in blocks)
    assert [(places[0], places[-1]) for places in map(sorted, reached)] == [(1, 4), (5, 8), (9, 11)]


def test_every_note_stands_on_its_passage(studio: Studio) -> None:
    book, tree = opened_book(studio)
    with studio.store.read() as tx:
        notes = annotations.notes_of_book(tx.space(LIBRARY), book.uuid)
        texts = tx.space(LIBRARY).texts(tree.active)
    said = read_desk(sample_desk()).notes
    assert [tree.position(note.annotation.part) for note in notes] == [each.part for each in said]
    for note, each in zip(notes, said, strict=True):
        assert note.place is not None and note.status == each.status
        assert note.whole or texts[note.annotation.part][note.place.start : note.place.end] == each.quote
    assert {note.annotation.type for note in notes} == {"note", "question", "fix"}
    assert [note.status for note in notes].count("done") == 1 and [note.whole for note in notes].count(True) == 1
    assert [note.annotation.to_prompt for note in notes].count(True) == 1


def test_the_lore_is_a_tree_with_every_kind_of_entry(studio: Studio) -> None:
    book, _ = opened_book(studio)
    with studio.store.read() as tx:
        space = tx.space(LIBRARY)
        tree = lore.read_tree(space, book)
        entries = [space.get(Entry, row.uuid) for row in lore.entry_rows(space, tree.lorebooks)]
        names = {uuid: space.get(Lorebook, uuid).name for uuid in tree.lorebooks}
    assert list(names.values()) == ["The world of Let It Stand", "People", "Places and things"]
    assert list(tree.levels.values()) == [0, 1, 1]
    assert tree.root is not None and tree.root.scan_depth == 1
    assert len(entries) == 15 and all(entry.text and entry.name for entry in entries)
    assert [entry.name for entry in entries if entry.constant] == ["Who tells it"]
    assert [(entry.first, entry.last) for entry in entries if entry.first is not None] == [(1, 7)]
    assert [entry.tags for entry in entries if entry.tags] == [("printing",)] and "printing" in book.tags
    assert {entry.mode for entry in entries if entry.filter} == {"text", "regex"}


ALWAYS = {"Who tells it": "always"}
PEOPLE = ("Septimus Haddow", "Marit Tansley", "Comma", "Miss Pell", "Lambert Oakshott", "Bartle Crake", "Joss Pask")


@pytest.mark.parametrize(
    ("position", "named", "through"),
    [
        (1, [*PEOPLE[:1], *PEOPLE[2:4], *PEOPLE[5:], "The Calf", "The Duchess", "The Harbour Library"], []),
        (5, ["Septimus Haddow", "Marit Tansley", "The Calf", "The leaf, page 21 and 22"], []),
        (
            7,
            [*PEOPLE[:4], *PEOPLE[5:], "The Calf", "The leaf, page 21 and 22", "The upright hand"],
            ["The Duchess", "The Harbour Library"],
        ),
        (
            8,
            [*PEOPLE[:2], *PEOPLE[4:], "The Calf", "The wreck of the Constance", "The leaf, page 21 and 22", "Stet"],
            ["The Duchess"],
        ),
        (10, ["Lambert Oakshott", "Joss Pask", "The leaf, page 21 and 22", "Stet"], ["The Calf"]),
    ],
)
def test_a_part_is_told_the_lore_that_belongs_to_it(
    studio: Studio, position: int, named: list[str], through: list[str]
) -> None:
    _, tree = opened_book(studio)
    view = PanelDesk(studio).look("lore", tree.active[position - 1])
    expected = ALWAYS | dict.fromkeys(named, "named here") | dict.fromkeys(through, "named in lore")
    assert {row.head: row.tail for row in view.rows if not row.dim} == expected


def test_lore_is_held_back_after_its_parts_and_without_its_tag(studio: Studio) -> None:
    book, tree = opened_book(studio)
    panels = PanelDesk(studio)
    why = {row.head: row.tail for row in panels.look("lore", tree.active[7]).rows}
    # Part 8 speaks of the upright hand, but by then it is known whose it is.
    assert why["The upright hand"] == "not in this part" and why["Stet"] == "named here"
    with studio.store.write(Act(actor="author", label="tags", book=book.uuid)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, book.uuid), tags=("novella",))])
    why = {row.head: row.tail for row in panels.look("lore", tree.active[7]).rows}
    assert why["Stet"] == "a tag is missing"


@pytest.mark.parametrize("name", ["notes", "lore", "summaries", "history", "writers"])
def test_every_panel_has_something_to_show(studio: Studio, name: PanelName) -> None:
    _, tree = opened_book(studio)
    panels = PanelDesk(studio)
    shown = [len(panels.look(name, part).rows) for part in tree.active]
    if name == "notes":
        assert shown == [1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1]
    else:
        assert all(shown)


def test_the_proofreader_works_on_what_is_read_and_nothing_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "demo"
    assert run_demo(parser().parse_args(["demo", "--headless", "--json", "--keep", str(home)])) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])["slips"]
    assert told == {
        "corrected": 40,
        "reported": 22,
        "left": 10,
        "altered": 0,
        "touched_beside_them": 0,
        "touched": [],
    }
    desk = read_desk(sample_desk())
    with closing(Studio(home, pace=0)) as studio:
        assert [part.text for part in others_of(studio)] == [each.text for each in desk.versions]
        with studio.store.read() as tx:
            notes = annotations.notes_of_book(tx.space(LIBRARY), opened_book(studio)[0].uuid)
    assert [note.status for note in notes] == [each.status for each in desk.notes]


def test_a_second_demo_in_a_home_adds_nothing(studio: Studio) -> None:
    def counted() -> list[int]:
        with studio.store.read() as tx:
            tables = ("book", "part", "lorebook", "entry", "summary", "annotation")
            return [tx.connection.exec_driver_sql(f"SELECT count(*) FROM {each}").scalar_one() for each in tables]

    before = counted()
    assert before == [1, 15, 3, 15, 3, 6]
    prepare(studio, read_sample())
    assert counted() == before


def test_a_note_whose_passage_is_not_there_is_no_sample(studio: Studio) -> None:
    desk = Desk((), (), {}, (Note(part=1, text="Look.", type="note", quote="a dodo"),), {"name": "Lore", "entries": []})
    clock = studio.store.clock
    book = Book(uuid=clock.new_uuid(), title="Broken", created=clock.now())
    with (
        pytest.raises(RuntimeError, match="dodo"),
        studio.store.write(Act(actor="author", label="sample book", book=book.uuid)) as tx,
    ):
        add_sample(tx.space(LIBRARY), book, [("One", "An owl.")], desk)
    assert opened_book(studio)[0].title == "Let It Stand"
