"""Spelling of a book: the dictionaries, its own words, the titles of its lore; the lore that a passage is about."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.desk.book import BookDesk
from marginalia_tui.desk.writing import Query, WritingDesk
from marginalia_tui.domain.errors import Invalid, Stale
from marginalia_tui.domain.items import Book, Entry, Lorebook
from marginalia_tui.services import lore, spelling, undo
from marginalia_tui.services.lore_lookup import look_up
from marginalia_tui.services.spelling import Speller
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.screens.rig import lamp_home


@pytest.fixture
def home(new_home: Callable[[Path], Path], tmp_path: Path) -> Path:
    return new_home(tmp_path / "home")


def wrong(speller: Speller, text: str) -> list[str]:
    return [text[start:end] for start, end in speller.wrong(text)]


def test_english_of_both_sides() -> None:
    speller = Speller("en-GB", names=["The Wexel House"], own=["Zorblat"])
    text = (
        "The colour of Wexel\u2019s harbour wasn\u2019t grey; the traveller realised it at the theatre. "
        "ZORB, zorblat and \u043b\u0430\u043c\u043f\u0430 \u96fe\u4e2d are fine, "
        "hous and teh aren\u2019t, nor is hourse."
    )
    assert wrong(speller, text) == ["hous", "teh", "hourse"]
    assert "house" in speller.suggest("hous")
    assert speller.suggest("Lampp")[0] == "Lamp"
    assert speller.suggest("Zorblatt")[0] == "Zorblat"
    assert speller.suggest("q" * 30) == []


def test_a_language_without_a_dictionary_marks_nothing() -> None:
    for language in ("tlh", "", "ru"):
        speller = Speller(language)
        assert not speller.works and not speller.wrong("qqzz wwxx") and not speller.suggest("qqzz")


def test_the_words_of_a_book(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store:
        with store.write(Act(actor="author", label="lore", book=book)) as tx:
            space = tx.space(LIBRARY)
            entries = [
                Entry(uuid="a", lorebook="lore", name="Wexel Ashgrove", filter="vexle"),
                Entry(uuid="b", lorebook="lore", name="B", filter="zzq+", mode="regex"),
            ]
            now = replace(space.get(Book, book), lorebook="lore", attributes={"spelling": 3, "mine": [1]})
            space.put([Lorebook(uuid="lore", name="Quorl"), *entries, now])
        spelling.keep_word(store, book, "Zorblat", True)
        spelling.keep_word(store, book, "Nimsy", True)
        spelling.keep_word(store, book, "zorblat", False)
        with store.read() as tx:
            found = tx.space(LIBRARY).get(Book, book)
            right = spelling.right_words(tx.space(LIBRARY), found)
        assert found.attributes == {"mine": [1], "spelling": ["Nimsy"]}
        speller = Speller(right.language, right.names, right.own)
        assert wrong(speller, "Wexel Ashgrove, Quorl, vexle, nimsy, Zorblat, zzqq") == ["Zorblat", "zzqq"]
        # A word is one step of undo.
        with store.read() as tx:
            step = undo.peek(tx, book)
        with store.write(undo.act_for(step, book)) as tx:
            undo.take_back(tx, book, step)
        with store.read() as tx:
            assert spelling.own_words(tx.space(LIBRARY).get(Book, book)) == ["Nimsy", "Zorblat"]


def test_the_lore_of_a_passage(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store, store.write(Act(actor="author", label="lore", book=book)) as tx:
        space = tx.space(LIBRARY)
        entries = [
            Entry(uuid="1", lorebook="lore", name="The Old Lamp", order=1, enabled=False),
            Entry(uuid="2", lorebook="lore", name="", order=2),
            Entry(uuid="3", lorebook="lore", name="X", filter="LAMP", order=3, first=900),
            Entry(uuid="4", lorebook="lore", name="Y", filter=r"l[ai]mps?\b", mode="regex", order=4),
            Entry(uuid="5", lorebook="lore", name="Z", filter="(a|aa)+$", mode="regex", order=5),
            Entry(uuid="6", lorebook="lore", name="W", filter="(", mode="regex", order=6),
        ]
        space.put([Lorebook(uuid="lore", name="Lore"), *entries, replace(space.get(Book, book), lorebook="lore")])
        rows = lore.entry_rows(space, ["lore"])
    assert [(each.entry, each.why) for each in look_up(rows, "lamp", LoreFinder())] == [
        ("1", "title"),
        ("3", "filter"),
        ("4", "filter"),
    ]
    assert [each.entry for each in look_up(rows, "a" * 60 + "b", LoreFinder())] == []
    assert look_up(rows, "", LoreFinder()) == []


def test_places_and_passages(home: Path) -> None:
    book = lamp_home(home)
    studio = Studio(home)
    try:
        desk = WritingDesk(studio)
        text = "A lamp, a Lamp.\nLamps."
        assert desk.find(text, Query("lamp")).spans == ((2, 6), (10, 14), (16, 20))
        assert desk.find(text, Query("lamp", "word", case=True)).rows == {0: [(2, 6)]}
        done = desk.replace(text, Query(r"(l)amp", "regex"), r"\1ight")
        assert done is not None and (done.start, done.end, done.count) == (2, 20, 3)
        assert done.new == "light, a Light.\nLight"
        one = desk.replace(text, Query("lamp"), r"\1", at=10)
        assert one is not None and (one.start, one.end, one.new) == (10, 14, r"\1")
        assert desk.replace(text, Query("oil"), "x") is None
        with pytest.raises(Invalid):
            desk.replace(text, Query("lamp", "regex"), r"\1")
        found = first_part(studio, book)
        before, said, behind = desk.passage(found[0], found[1], 4, 8)
        assert said == "lamp" and found[1].count(before + said + behind) == 1
        with pytest.raises(Stale):
            desk.passage(found[0], found[1] + "x", 4, 8)
    finally:
        studio.close()


def first_part(studio: Studio, book: str) -> tuple[str, str]:
    """The first part of a book: its uuid and its text."""
    view = BookDesk(studio).look(book)
    assert view is not None
    part = BookDesk(studio).part(view.parts[0].uuid)
    return part.uuid, part.text
