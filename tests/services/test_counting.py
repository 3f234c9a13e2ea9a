"""What was written, counted once for each change into sums by day, book and side."""

from collections import Counter
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.statistics import Calendar, Side
from marginalia_tui.domain.words import count_words
from marginalia_tui.domain.written import UNWRITTEN, is_written, written_across, written_in
from marginalia_tui.services import counting, undo
from marginalia_tui.services.counting import Key, Sums, count_all, count_rest, keep, next_batch
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.store.worlds import act, chain, count, put

ZONE = Calendar(UTC)


def stored(store: Store) -> dict[Key, Sums]:
    with store.read() as tx:
        rows = tx.connection.execute(tables.daily.select()).all()
    return {
        Key(row.book, row.day, Side(row.side)): Sums(*(getattr(row, name) for name in counting.NAMES)) for row in rows
    }


def total(store: Store, side: Side, book: str = "b") -> Sums:
    """The sums of all days of a book, everything counted."""
    count_all(store)
    return sum((sums for key, sums in stored(store).items() if (key.book, key.side) == (book, side)), Sums())


def rewrite(store: Store, text: str, *, space: int = LIBRARY, part: str = "b-1", **fields: object) -> None:
    with store.write(replace(Act(actor="author", label="edit", book="b"), **fields)) as tx:  # type: ignore[arg-type]
        here = tx.space(space)
        here.put([replace(here.get(Part, part), text=text)])


@pytest.fixture
def book(store: Store) -> None:
    put(store, *chain("b", 2, text="One two three."), label="import", book="b")


def agent_copy(store: Store) -> int:
    with store.write(Act(actor="studio", label="start of a run")) as tx:
        return copy_book(tx, "b")


# Which changes count


@pytest.mark.usefixtures("book")
def test_an_edit_counts_the_words_it_changed(store: Store) -> None:
    rewrite(store, "One two four. And five.")
    assert total(store, Side.ME) == Sums(
        words_added=3, words_deleted=1, chars_added=14, chars_deleted=5, words_grown=6 + 2, chars_grown=2 * 14 + 9
    )
    assert total(store, Side.AGENTS) == Sums()


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("label", sorted(UNWRITTEN))
def test_what_is_brought_in_or_back_is_growth_alone(store: Store, label: str) -> None:
    rewrite(store, "One two three four five.", label=label)
    assert total(store, Side.ME) == Sums(words_grown=8, chars_grown=28 + 10)


def test_the_labels_that_are_not_written_are_those_of_commands() -> None:
    titles = {definition.title for definition in builtin_registry()}
    assert UNWRITTEN - titles == {"import", "sample book"}


@pytest.mark.usefixtures("book")
def test_undo_and_redo_are_growth_alone(store: Store) -> None:
    rewrite(store, "One two three four.")
    after_edit = total(store, Side.ME)
    for redo, grown in ((False, 6), (True, 7)):
        with store.read() as look:
            step = undo.peek(look, "b", redo=redo)
        with store.write(undo.act_for(step, "b", redo=redo)) as tx:
            undo.take_back(tx, "b", step)
        now = total(store, Side.ME)
        assert (now.words_added, now.words_deleted, now.words_grown) == (after_edit.words_added, 0, grown)


@pytest.mark.usefixtures("book")
def test_what_an_agent_writes_is_counted_where_it_wrote_and_not_again_when_it_is_applied(store: Store) -> None:
    copy = agent_copy(store)
    rewrite(store, "One two three four five.", space=copy, actor="agent", run="r")
    wrote = Sums(words_added=2, chars_added=10)
    assert total(store, Side.AGENTS) == wrote
    rewrite(store, "One two three four five.", actor="apply", run="r", label="apply Copyeditor")
    assert total(store, Side.AGENTS) == wrote + Sums(words_grown=2, chars_grown=10)
    with store.read() as look:
        step = undo.peek(look, "b")
    with store.write(undo.act_for(step, "b")) as tx:
        undo.take_back(tx, "b", step)
    assert total(store, Side.AGENTS) == wrote
    with store.read() as look:
        step = undo.peek(look, "b", redo=True)
    with store.write(undo.act_for(step, "b", redo=True)) as tx:
        undo.take_back(tx, "b", step)
    assert total(store, Side.AGENTS) == wrote + Sums(words_grown=2, chars_grown=10)
    assert total(store, Side.ME) == Sums(words_grown=6, chars_grown=28)


@pytest.mark.parametrize(
    ("actor", "in_copy", "written"),
    [("author", False, True), ("agent", True, True), ("apply", False, False), ("restore", True, False),
     ("studio", False, False), ("author", True, False), ("agent", False, False)],
)  # fmt: skip
def test_who_writes_where(actor: str, in_copy: bool, written: bool) -> None:
    assert is_written(actor, "edit", None, in_copy=in_copy) is written
    assert not is_written(actor, "edit", 7, in_copy=in_copy)


@pytest.mark.usefixtures("book")
def test_what_moves_from_part_to_part_is_not_written(store: Store) -> None:
    first, second = "The lamp went out at nine.", "Nobody lit it again, for the oil was gone."
    rewrite(store, f"{first}\n\n{second}")
    before = total(store, Side.ME)
    with store.write(act("Split a part", book="b")) as tx:
        space = tx.space(LIBRARY)
        part = space.get(Part, "b-1")
        space.put([replace(part, text=first), replace(part, uuid="b-new", parent="b-1", created=9, text=second)])
    assert total(store, Side.ME) == before + Sums(chars_grown=-2, chars_deleted=2)
    with store.write(act("Merge a part with the next", book="b")) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Part, "b-1"), text=f"{first}\n\n{second}")])
        space.delete(Part, ["b-new"])
    assert total(store, Side.ME) == before + Sums(chars_added=2, chars_deleted=2)


@pytest.mark.usefixtures("book")
def test_what_is_new_in_two_parts_counts_in_both(store: Store) -> None:
    with store.write(act(book="b")) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Part, f"b-{place}"), text="One two three. A lamp.") for place in (1, 2)])
    assert total(store, Side.ME).words_added == 4


@pytest.mark.usefixtures("book")
def test_titles_and_notes_are_no_words_of_the_book(store: Store) -> None:
    before = total(store, Side.ME)
    with store.write(act(book="b")) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Part, "b-1"), title="A long title"), Book(uuid="b", title="Other words")])
    assert total(store, Side.ME) == before


def test_days_are_those_of_the_calendar(store: Store) -> None:
    late = 1_767_311_999_000_000  # 1 January 2026, 23:59:59 UTC
    for moment in (late, late + 1_000_000):
        store.clock.now = lambda moment=moment: moment  # type: ignore[method-assign, misc]
        put(store, *chain("b", 1, text=f"At {moment}."), book="b")
    count_all(store, calendar=ZONE)
    assert [key.day for key in sorted(stored(store))] == ["2026-01-01", "2026-01-02"]


# Once, in batches, by whomever


@pytest.mark.usefixtures("book")
def test_what_was_counted_is_never_counted_again(store: Store) -> None:
    rewrite(store, "One two three four.")
    count_all(store)
    before, writes = stored(store), count(store, "counted")
    count_all(store)
    assert (stored(store), writes) == (before, 1)
    with store.read() as tx:
        assert next_batch(tx).empty


@pytest.mark.usefixtures("book")
def test_two_that_count_the_same_count_it_once(store: Store) -> None:
    rewrite(store, "One two three four.")
    with store.read() as tx:
        one, two = next_batch(tx), next_batch(tx)
    sums = counting.count(store, one, ZONE)
    assert keep(store, one, sums)
    before = stored(store)
    assert not keep(store, two, sums)
    assert stored(store) == before


@pytest.mark.usefixtures("book")
def test_who_only_reads_sees_the_rest_and_keeps_nothing(store: Store) -> None:
    count_all(store)
    before = stored(store)
    rewrite(store, "One two three four.")
    copy = agent_copy(store)
    rewrite(store, "One two three four five.", space=copy, actor="agent")
    with store.write(act()) as tx:
        drop_space(tx, copy)
    position = store_position(store)
    with store.read() as read:
        rest = count_rest(store, Calendar(), next_batch(read))
    assert {key.side: sums.words_added for key, sums in rest.items()} == {Side.ME: 1, Side.AGENTS: 1}
    assert (stored(store), store_position(store)) == (before, position)


def store_position(store: Store) -> int:
    with store.read() as tx:
        return counting.position(tx)


@pytest.mark.usefixtures("book")
def test_a_change_is_never_counted_in_two_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", 2)
    put(store, *chain("c", 7), label="import", book="c")
    rewrite(store, "One.")
    rewrite(store, "Two.")
    changes: list[set[int]] = []
    while True:
        with store.read() as tx:
            batch = next_batch(tx)
        if batch.empty:
            break
        changes.append({row.change for row in batch.rows})
        keep(store, batch, counting.count(store, batch, ZONE))
    assert len(changes) > 1
    assert sum(map(len, changes)) == len(set.union(*changes)) == 4
    assert total(store, Side.ME, "c").words_grown == 7 * 4


@pytest.mark.usefixtures("book")
def test_it_ends_between_two_batches_when_told_to(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", 2)
    rewrite(store, "One.")
    asked = iter([False, True])
    count_all(store, lambda: next(asked))
    with store.read() as tx:
        assert len(next_batch(tx).rows) == 1


# What leaves the journal


@pytest.mark.usefixtures("book")
def test_the_work_of_a_copy_that_is_dropped_is_counted(store: Store) -> None:
    copy = agent_copy(store)
    rewrite(store, "One two three four five.", space=copy, actor="agent")
    with store.write(act()) as tx:
        drop_space(tx, copy)
    assert count(store, "uncounted") == 1
    assert total(store, Side.AGENTS) == Sums(words_added=2, chars_added=10)
    assert count(store, "uncounted") == 0


@pytest.mark.usefixtures("book")
def test_what_was_counted_is_not_set_aside(store: Store) -> None:
    copy = agent_copy(store)
    rewrite(store, "One two three four five.", space=copy, actor="agent")
    count_all(store)
    with store.write(act()) as tx:
        drop_space(tx, copy)
    assert count(store, "uncounted") == 0
    assert total(store, Side.AGENTS).words_added == 2


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("other_counts", [False, True])
def test_a_copy_that_is_dropped_while_it_is_counted_is_counted_once(store: Store, other_counts: bool) -> None:
    copy = agent_copy(store)
    rewrite(store, "One two three four five.", space=copy, actor="agent")
    with store.read() as look:
        batch = next_batch(look)
    sums = counting.count(store, batch, ZONE)
    with store.write(act()) as tx:
        drop_space(tx, copy)
    if other_counts:
        with store.read() as look:
            aside = next_batch(look)
        assert aside.aside
        assert keep(store, aside, counting.count(store, aside, ZONE))
    assert keep(store, batch, sums) is not other_counts
    assert total(store, Side.AGENTS).words_added == 2
    assert total(store, Side.ME).words_grown == 6


# Against a slow recount

WORDS = st.lists(st.sampled_from(["lamp", "oil", "night", "\n\n", "it's", "\u96e8", "x-y"]), max_size=8).map(" ".join)


def words_of(text: str) -> Counter[str]:
    return Counter(text.split())


@given(before=WORDS, after=WORDS)
def test_added_less_deleted_is_growth(before: str, after: str) -> None:
    wrote = written_in(before, after)
    assert wrote.words_added - wrote.words_deleted == count_words(after) - count_words(before)
    assert wrote.chars_added - wrote.chars_deleted == len(after) - len(before)
    assert min(wrote.words_added, wrote.words_deleted) >= 0
    # No fewer than the words that one has and the other lacks.
    assert wrote.words_added >= sum(count_words(word) * n for word, n in (words_of(after) - words_of(before)).items())


@given(edits=st.lists(st.tuples(WORDS, WORDS), max_size=4))
def test_what_moves_is_taken_off_both_sides(edits: list[tuple[str, str]]) -> None:
    apart, together = [written_in(*edit) for edit in edits], written_across(edits)
    added, deleted = (sum(getattr(each, name) for each in apart) for name in ("words_added", "words_deleted"))
    assert together.words_added - together.words_deleted == added - deleted
    assert 0 <= together.words_added <= added and 0 <= together.words_deleted <= deleted
    assert together.chars_added >= 0 and together.chars_deleted >= 0


STEP = st.tuples(st.sampled_from(["me", "import", "copy", "agent", "drop", "count"]), st.sampled_from([1, 2, 3]), WORDS)


@settings(max_examples=40)
@given(steps=st.lists(STEP, max_size=12), batch=st.integers(1, 4))
def test_the_sums_are_those_of_a_slow_recount(
    steps: list[tuple[str, int, str]], batch: int, new_store: NewStore
) -> None:
    """Whatever is written, imported, dropped and counted in between, in batches of any size."""
    with new_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BATCH", batch)
        put(store, *chain("b", 3), label="import", book="b")
        texts = {LIBRARY: {place: f"Text of part {place}." for place in (1, 2, 3)}}
        mine, theirs = Sums(), Sums()
        copy: int | None = None
        for what, place, text in steps:
            if what == "count":
                count_all(store, calendar=ZONE)
            elif what == "copy" and copy is None:
                copy = agent_copy(store)
                texts[copy] = dict(texts[LIBRARY])
            elif what == "drop" and copy is not None:
                with store.write(act()) as tx:
                    drop_space(tx, copy)
                copy = None
            elif what == "agent" and copy is not None:
                rewrite(store, text, space=copy, part=f"b-{place}", actor="agent")
                theirs += _slow(texts[copy][place], text)
                texts[copy][place] = text
            elif what in ("me", "import"):
                rewrite(store, text, part=f"b-{place}", label=what)
                if what == "me":
                    mine += _slow(texts[LIBRARY][place], text)
                texts[LIBRARY][place] = text
        grown = sum(map(count_words, texts[LIBRARY].values())), sum(map(len, texts[LIBRARY].values()))
        assert total(store, Side.ME) == mine + Sums(words_grown=grown[0], chars_grown=grown[1])
        assert total(store, Side.AGENTS) == theirs


def _slow(before: str, after: str) -> Sums:
    wrote = written_in(before, after)
    return Sums(wrote.words_added, wrote.words_deleted, wrote.chars_added, wrote.chars_deleted)
