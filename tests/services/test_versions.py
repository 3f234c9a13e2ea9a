from dataclasses import replace

import pytest

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Part
from marginalia_tui.services import undo, versions
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.services.histories import Hands


def told(hands: Hands, space: int = LIBRARY) -> list[tuple[int, str, str, str]]:
    """Number, text, who and by what, the oldest first."""
    with hands.store.read() as tx:
        known = versions.versions(tx.space(space), hands.part)
        texts = versions.texts_of_versions(tx.space(space), known)
    return [(each.number, texts[each.key], each.act.who, each.act.actor) for each in known]


def test_every_text_is_a_version_and_what_leaves_it_is_none(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.write("One. Two.")
    with store.write(Act(actor="author", label="title", book=hands.book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Part, hands.part), title="A title")])
    hands.write("One. Two.")
    hands.write("")
    assert told(hands) == [
        (1, "One.", "author", "author"),
        (2, "One. Two.", "author", "author"),
        (3, "", "author", "author"),
    ]


def test_an_undo_is_a_version_that_says_so(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.write("Two.")
    with store.read() as tx:
        step = undo.peek(tx, hands.book)
    with store.write(undo.act_for(step, hands.book)) as tx:
        undo.take_back(tx, hands.book, step)
    assert [text for _, text, _, _ in told(hands)] == ["One.", "Two.", "One."]
    with store.read() as tx:
        newest = versions.versions(tx.space(LIBRARY), hands.part)[-1]
    assert newest.act.label == "undo Edit a passage" and newest.act.at


def test_an_apply_names_the_agent_and_a_model_the_text_that_came_from_it(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.start("r1", "Copyeditor")
    hands.apply("r1", "One, corrected.")
    hands.write("A whole new text.", model="Storyteller 7B")
    hands.write("A whole new text, by hand.")
    assert [(who, by) for _, _, who, by in told(hands)] == [
        ("author", "author"),
        ("Copyeditor", "apply"),
        ("Storyteller 7B", "author"),
        ("author", "author"),
    ]


def test_the_history_of_a_copy_goes_on_from_its_original(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.write("Two.")
    copy = hands.start("r1", "Copyeditor")
    hands.call("r1", copy, "c1", "Three.")
    hands.write("The author went on.")
    assert told(hands, copy) == [
        (1, "One.", "author", "author"),
        (2, "Two.", "author", "author"),
        (3, "Three.", "Copyeditor", "agent"),
    ]


def test_a_text_older_than_the_journal_is_of_nobody_known(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.write("Two.")
    with store.read() as tx:
        space = tx.space(LIBRARY)
        rows = versions.rows_of(space, hands.parts)[hands.part]
        known = versions.read_versions(space, {hands.part: rows[1:]})[hands.part]
        texts = versions.texts_of_versions(space, known)
    assert [(texts[each.key], each.act.who, each.seq) for each in known] == [
        ("One.", "unknown", 0),
        ("Two.", "author", rows[1].seq),
    ]


def test_a_version_is_named_by_its_number_or_counted_from_the_newest(store: Store) -> None:
    hands = Hands(store, "One.")
    hands.write("Two.")
    with store.read() as tx:
        space = tx.space(LIBRARY)
        for number, text in ((1, "One."), (2, "Two."), (0, "Two."), (-1, "One.")):
            found, known = versions.find_version(space, hands.part, number)
            assert versions.text_of(space, found) == text and len(known) == 2
        for number in (3, -2):
            with pytest.raises(NotFound, match="the versions 1 to 2"):
                versions.find_version(space, hands.part, number)
