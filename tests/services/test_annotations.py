from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Annotation, Part
from marginalia_tui.services import annotations, undo
from marginalia_tui.services.annotations import Draft, Note
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.services.histories import Hands

TEXT = "The red lamp burned at dusk. Nobody saw who lit it."


class Desk(Hands):
    """A book, and a hand that makes notes in it."""

    def note(self, quote: str, says: str = "Why?", part: str = "") -> Annotation:
        with self.store.write(Act(actor="author", label="note", book=self.book)) as tx:
            space = tx.space(LIBRARY)
            text = space.get(Part, part or self.part).text
            start = text.index(quote)
            draft = Draft(text=says, start=start, end=start + len(quote))
            return annotations.create(space, part or self.part, text, draft)

    def notes(self) -> list[Note]:
        with self.store.read() as tx:
            return annotations.notes_of_book(tx.space(LIBRARY), self.book)

    def passage(self, number: int = 0) -> str | None:
        """The words that a note is on now."""
        place = self.notes()[number].place
        with self.store.read() as tx:
            text = tx.space(LIBRARY).get(Part, self.notes()[number].annotation.part).text
        return text[place.start : place.end] if place else None

    def undo(self) -> None:
        with self.store.read() as tx:
            step = undo.peek(tx, self.book)
        with self.store.write(undo.act_for(step, self.book)) as tx:
            undo.take_back(tx, self.book, step)


def test_a_note_moves_with_its_passage_is_orphaned_with_it_and_comes_back_with_an_undo(store: Store) -> None:
    desk = Desk(store, TEXT)
    desk.note("red lamp")
    before = desk.notes()[0]
    desk.write("Once upon a time: " + TEXT)
    assert desk.passage() == "red lamp"
    desk.write("Rain fell, and that was all there was.")
    (gone,) = desk.notes()
    assert gone.place is None and gone.status == "orphaned"
    desk.undo()
    desk.undo()
    assert desk.notes() == [before]


def test_a_note_is_never_written_when_a_part_is(store: Store) -> None:
    desk = Desk(store, TEXT)
    note = desk.note("red lamp")
    desk.write("Rain.")
    with store.read() as tx:
        assert tx.space(LIBRARY).get(Annotation, note.uuid) == note


def test_a_note_that_is_settled_stays_so_when_its_passage_goes(store: Store) -> None:
    desk = Desk(store, TEXT)
    note = desk.note("red lamp")
    with store.write(Act(actor="author", label="note", book=desk.book)) as tx:
        assert annotations.resolve(tx.space(LIBRARY), note.uuid, "done")
        assert not annotations.resolve(tx.space(LIBRARY), note.uuid, "done")
    desk.write("Rain.")
    assert [each.status for each in desk.notes()] == ["done"]


def test_an_agent_can_not_reopen_a_note_whose_passage_is_gone(store: Store) -> None:
    desk = Desk(store, TEXT)
    note = desk.note("red lamp")
    desk.write("Rain.")
    with store.write(Act(actor="agent", label="note", book=desk.book)) as tx:
        space = tx.space(LIBRARY)
        annotations.resolve(space, note.uuid, "dismissed", by_agent=True)
        with pytest.raises(Refused, match="reattach it"):
            annotations.resolve(space, note.uuid, "open", by_agent=True)
        annotations.reattach(space, note.uuid, "Rain.", 0, 4)
        assert annotations.resolve(space, note.uuid, "open", by_agent=True)
    assert desk.passage() == "Rain"


def test_a_note_is_changed_and_deleted(store: Store) -> None:
    desk = Desk(store, TEXT)
    note = desk.note("red lamp")
    with store.write(Act(actor="author", label="note", book=desk.book)) as tx:
        space = tx.space(LIBRARY)
        assert annotations.update(space, note.uuid, text=" Which one? ", to_prompt=True) == ["text", "to_prompt"]
        assert annotations.update(space, note.uuid, text="Which one?") == []
        assert annotations.find_note(space, note.uuid).annotation == replace(note, text="Which one?", to_prompt=True)
        annotations.delete(space, note.uuid)
        with pytest.raises(NotFound):
            annotations.delete(space, note.uuid)
        with pytest.raises(NotFound):
            annotations.find_note(space, note.uuid)
    assert desk.notes() == []


@pytest.mark.parametrize(
    ("draft", "says"),
    [
        (Draft(text=" "), "says nothing"),
        (Draft(text="x", start=3, end=900), "between 0 and 51"),
        (Draft(text="x", start=-1, end=2), "between 0 and 51"),
        (Draft(text="x", start=5, end=2), "between 0 and 51"),
        (Draft(text="x", type=""), "type of a note"),
        (Draft(text="x", type="y" * 41), "type of a note"),
    ],
)
def test_a_note_that_can_not_be_is_refused(store: Store, draft: Draft, says: str) -> None:
    desk = Desk(store, TEXT)
    with store.write(Act(actor="author", label="note", book=desk.book)) as tx:
        space = tx.space(LIBRARY)
        with pytest.raises(Invalid, match=says):
            annotations.create(space, desk.part, TEXT, draft)
        with pytest.raises(Invalid, match="is no status"):
            annotations.resolve(space, annotations.create(space, desk.part, TEXT, Draft("x")).uuid, "orphaned")
        with pytest.raises(NotFound, match="deleted meanwhile"):
            annotations.create(space, "gone", TEXT, Draft("x"))


def test_notes_go_with_their_part_and_come_back_with_it(store: Store) -> None:
    desk = Desk(store, TEXT, "Another part.")
    desk.note("Another", part=desk.parts[1])
    with store.write(Act(actor="author", label="delete", book=desk.book)) as tx:
        space = tx.space(LIBRARY)
        book = space.books()[0]
        space.put([replace(book, active_leaf=desk.parts[0])])
        space.delete(Part, [desk.parts[1]])
    assert desk.notes() == []
    desk.undo()
    assert desk.passage() == "Another"


def test_the_list_costs_the_same_queries_for_one_note_and_for_many(store: Store) -> None:
    desk = Desk(store, TEXT, "Another part.", "A third.")

    def queries() -> int:
        statements: list[str] = []
        with store.read() as tx:
            raw = tx.connection.connection.driver_connection
            assert raw is not None
            raw.set_trace_callback(statements.append)
            annotations.notes_of_book(tx.space(LIBRARY), desk.book)
            raw.set_trace_callback(None)
        return len(statements)

    desk.note("red lamp")
    one = queries()
    for quote, part in (("Another", 1), ("third", 2), ("part", 1), ("A", 2)):
        desk.note(quote, part=desk.parts[part])
    assert queries() == one


WORDS = st.sampled_from(["lamp ", "rain ", "Ada ", "the ", ".\n\n", ", "])
EDIT = st.tuples(st.integers(0, 80), st.integers(0, 20), st.lists(WORDS, max_size=4).map("".join))


@settings(max_examples=25)
@given(st.lists(EDIT, min_size=1, max_size=5))
def test_whatever_is_edited_a_place_is_in_the_text_and_undoing_all_brings_the_notes_back(
    new_store: Callable[[], AbstractContextManager[Store]], edits: list[tuple[int, int, str]]
) -> None:
    with new_store() as store:
        desk = Desk(store, TEXT)
        for quote in ("The red lamp", "dusk", "Nobody saw who lit it."):
            desk.note(quote)
        first = desk.notes()
        text, done = TEXT, 0
        for place, length, new in edits:
            edited = text[:place] + new + text[place + length :]
            done += edited != text
            text = edited
            desk.write(text)
            for note in desk.notes():
                if note.place is not None:
                    words = text[note.place.start : note.place.end]
                    assert words and note.place.changed == (words != note.annotation.quote)
        for _ in range(done):
            desk.undo()
        assert desk.notes() == first
