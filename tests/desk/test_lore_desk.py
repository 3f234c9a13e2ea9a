"""What the lorebook screen asks: the tree with its places, words for entries and verdicts, the list in order."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert

from marginalia_tui.desk.lorebook import (
    EntryLine,
    LoreDesk,
    LoreView,
    PreviewView,
    VerdictLine,
    Wanted,
    arrange,
    when_words,
)
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book, Entry, Lorebook
from marginalia_tui.store import reach, tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.schema import prepare_home
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio
from tests.screens.rig import LAMP, add_book


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio with an empty library."""
    prepare_home(tmp_path / "home")
    with closing(Studio(tmp_path / "home", pace=0)) as opened:
        yield opened


def put(studio: Studio, *items: Book | Lorebook | Entry) -> None:
    with studio.store.write(Act(actor="author", label="test")) as tx:
        tx.space(LIBRARY).put(items)


def link(studio: Studio, book: str, lorebook: str) -> None:
    with studio.store.write(Act(actor="author", label="test", book=book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, book), lorebook=lorebook)])


def hold(studio: Studio, book: str, agent: str) -> None:
    with studio.store.write(Act(actor="author", label="start")) as tx:
        clock = studio.store.clock
        values = {"uuid": clock.new_uuid(), "agent": "agent", "agent_name": agent, "book": book, "status": "RUNNING"}
        tx.connection.execute(insert(tables.run).values(**values, created=clock.now(), changed=clock.now()))


def test_the_tree_shows_each_place_and_unfolds_a_lorebook_once(studio: Studio) -> None:
    book, other = add_book(studio.store, "The Lamp", LAMP), add_book(studio.store, "The Quay", LAMP[:1])
    low = Lorebook(uuid="low", name="Low", created=4)
    left = Lorebook(uuid="left", name="Left", subbooks=("low",), enabled=False, created=2)
    right = Lorebook(uuid="right", name="Right", subbooks=("low",), created=3)
    root = Lorebook(uuid="root", name="Root", subbooks=("left", "right"), created=1)
    put(studio, low, left, right, root, Entry(uuid="e", lorebook="low", name="E", created=5))
    link(studio, book, "root")
    link(studio, other, "right")
    view = LoreDesk(studio).look(book)
    assert view is not None
    assert [(line.name, line.level, line.entries, line.again, line.live) for line in view.lorebooks] == [
        ("Root", 0, 0, False, True),
        ("Left", 1, 0, False, False),
        ("Low", 2, 1, False, True),
        ("Right", 1, 0, False, True),
        ("Low", 2, 1, True, True),
    ]
    assert len({line.key for line in view.lorebooks}) == 5
    assert [line.others for line in view.lorebooks] == [(), (), ("The Quay",), ("The Quay",), ("The Quay",)]
    # The same again is no view at all; an agent that begins is news.
    assert LoreDesk(studio).look(book, view.stamp) is None
    hold(studio, other, "Copyeditor")
    held = LoreDesk(studio).look(book, view.stamp)
    assert held is not None
    assert [line.agents for line in held.lorebooks] == [(), (), ("Copyeditor",), ("Copyeditor",), ("Copyeditor",)]


def test_a_circle_of_lorebooks_in_the_store_ends(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    book = add_book(studio.store, "The Lamp", LAMP)
    with monkeypatch.context() as patch:
        patch.setattr(reach, "below_itself", lambda *_: None)  # the store of an older release may have one
        put(
            studio,
            Lorebook(uuid="root", name="Root", subbooks=("left",), created=1),
            Lorebook(uuid="left", name="Left", subbooks=("root",), created=2),
        )
    link(studio, book, "root")
    view = LoreDesk(studio).look(book)
    assert view is not None
    assert [(line.name, line.again) for line in view.lorebooks] == [("Root", False), ("Left", False), ("Root", True)]


def test_a_book_that_is_gone_is_refused_and_an_unused_lorebook_shown(studio: Studio) -> None:
    desk = LoreDesk(studio)
    for wanted in (lambda: desk.look("nothing"), lambda: desk.look_at("nothing"), lambda: desk.entry("nothing")):
        with pytest.raises(NotFound):
            wanted()
    put(studio, Lorebook(uuid="old", name="Old"), Entry(uuid="e", lorebook="old", name="E", text="Two words."))
    view = desk.look_at("old")
    assert view is not None and (view.book, view.title, [line.words for line in view.entries]) == ("", "Old", [2])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "always"),
        ({"filter": "lamp"}, "lamp"),
        ({"filter": "lamp", "constant": True}, "always"),
        ({"filter": "l.mp", "mode": "regex", "look_back": 3}, "/l.mp/, 3 back"),
        ({"filter": "lamp", "first": 2, "last": 2}, "lamp, in part 2"),
        ({"first": 2}, "always, parts 2-"),
        ({"last": 7}, "always, parts -7"),
    ],
)
def test_when_an_entry_is_active_in_words(fields: dict[str, object], words: str) -> None:
    assert when_words(replace(Entry(uuid="e", lorebook="l"), **fields)) == words  # type: ignore[arg-type]


def test_the_verdicts_of_a_part_and_of_the_next(studio: Studio) -> None:
    book = add_book(studio.store, "The Lamp", LAMP)
    put(
        studio,
        Lorebook(uuid="root", name="Root", scan_depth=2),
        Entry(uuid="a", lorebook="root", name="Lamp", filter="lamp", look_back=2, text="Burns oil.", created=1),
        Entry(uuid="b", lorebook="root", name="Oil", filter="oil", text="From whales.", created=2),
        Entry(uuid="c", lorebook="root", name="Whale", filter="whale", created=3),
        Entry(uuid="d", lorebook="root", name="Wrong", filter="(", mode="regex", created=4),
    )
    link(studio, book, "root")
    desk = LoreDesk(studio)
    after = desk.preview(book, None)
    assert (after.part, after.number, after.active, after.words, after.after) == (None, 4, 3, 4, None)
    assert [line.short for line in after.verdicts.values()] == [
        "named 2 back",
        "named in lore",
        "named in lore",
        "not named",
    ]
    assert after.verdicts["a"].long == "named 2 parts before"
    assert after.verdicts["b"].long == "named in lore, by Lamp"
    assert after.verdicts["c"].long == "named in lore, by Oil, in pass 2"
    assert after.verdicts["d"].long.startswith("not named. ")
    # Back from part to part, and no further than the first.
    places, here = [], after
    while here.before is not None:
        here = desk.preview(book, here.before)
        places.append((here.place, here.title))
    assert places == [("part 3", "The Door"), ("part 2", "The Stair"), ("part 1", "The Lamp")]
    assert desk.preview(book, here.after).number == 2
    # A part that is gone is the next one.
    assert desk.preview(book, "gone").part is None


def entry(uuid: str, name: str, *, words: int = 0, lorebook: str = "l", found_by: str = "") -> EntryLine:
    return EntryLine(uuid, name, lorebook, "L", "always", True, words, (), found_by or name.casefold())


VIEW = LoreView(
    "book",
    "Book",
    (),
    (entry("1", "Door", words=3), entry("2", "ash", words=9, lorebook="m"), entry("3", "Bell", found_by="bell\nrope")),
    (0, ""),
)
PREVIEW = PreviewView(None, 1, "", 1, 0, {"3": VerdictLine(True, "", "")}, None, None)


@pytest.mark.parametrize(
    ("wanted", "uuids"),
    [
        (Wanted(), "123"),
        (Wanted(lorebook="m"), "2"),
        (Wanted(lorebook="m", hits=frozenset("13")), "13"),
        (Wanted(query="ROPE be"), "3"),
        (Wanted(query="door bell"), ""),
        (Wanted(sort="name"), "231"),
        (Wanted(sort="words"), "213"),
        (Wanted(sort="active"), "312"),
    ],
)
def test_the_list_in_order(wanted: Wanted, uuids: str) -> None:
    assert "".join(line.uuid for line in arrange(VIEW, wanted, PREVIEW)) == uuids
