"""Old versions leave the journal, and nothing that anybody asks it has another answer."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from marginalia_tui.agent.merge.sides import read_sides
from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services import blame, compacting, trash, undo, versions
from marginalia_tui.services.compacting import Compacted, JournalRow, candidates, compact, without
from marginalia_tui.services.counting import count_all
from marginalia_tui.services.gone import lost
from marginalia_tui.services.parts import delete_part
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.store import history, tables
from marginalia_tui.store.integrity import check
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import drop_space
from marginalia_tui.store.store import Store
from marginalia_tui.store.sweep import sweep
from tests.conftest import NewStore
from tests.services.histories import Hands


@pytest.fixture(autouse=True)
def short_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo reaches three changes back."""
    monkeypatch.setattr(history, "UNDO_REACH", 3)


def limit(hands: Hands, most: int | None) -> None:
    with hands.store.write(Act(actor="author", label="limit", book=hands.book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, hands.book), history_limit=most)])


def compacted(store: Store) -> list[Compacted]:
    count_all(store)
    return list(compact(store))


def rows(store: Store) -> int:
    with store.read() as tx:
        return len(tx.connection.execute(tables.journal.select()).all())


class Told(NamedTuple):
    """What is told of a part: whose its stretches are, and the versions that are listed."""

    stretches: list[tuple[int, int, Any]]
    listed: list[tuple[str, Any, int]]


def told(hands: Hands, part: str, most: int | None) -> Told:
    with hands.store.read() as tx:
        space = tx.space(LIBRARY)
        (found,) = blame.histories(space, [part])
        known = versions.versions(space, part)
        listed = known if most is None else known[-most:]
        texts = versions.texts_of_versions(space, listed)
    return Told(
        [(each.start, each.end, each.owner.act) for each in found.stretches()],
        [(texts[each.key], each.act, each.seq) for each in listed],
    )


def novel(store: Store) -> Hands:
    """A part that was written anew twenty times, each time whole."""
    hands = Hands(store, "It began.", "A second part.")
    for number in range(20):
        hands.write(f"Draft{number} word{number} thing{number}.")
    return hands


def test_old_versions_that_left_no_word_go_and_their_texts_are_freed(store: Store) -> None:
    hands = novel(store)
    limit(hands, 5)
    before, size = told(hands, hands.part, 5), rows(store)
    (done,) = compacted(store)
    # What is kept: the making, five that are listed, and the one before those, which undo could still need.
    assert done == Compacted(hands.book, "The Book", versions=15, parts=1)
    assert rows(store) == size - 15
    assert told(hands, hands.part, 5) == before
    with store.read() as tx:
        assert len(versions.versions(tx.space(LIBRARY), hands.part)) == 6
    assert sum(sweep(store)) == 2 * 15
    assert check(store) == []
    assert compacted(store) == [Compacted(hands.book, "The Book")]
    with store.read() as tx:
        assert versions.text_of(tx.space(LIBRARY), versions.versions(tx.space(LIBRARY), hands.part)[0]) == "It began."


def test_a_version_whose_words_stand_stays(store: Store) -> None:
    hands = Hands(store, "One.")
    for text in ("One. Two.", "One. Two. Three.", "One. Two. Three. Four."):
        hands.write(text)
    for number in range(6):
        hands.write(f"One. Two. Three. Four. {number}")
    limit(hands, 1)
    before = told(hands, hands.part, 1)
    (done,) = compacted(store)
    assert done.versions == 2  # of "0" and "1": "2" to "5" are listed or within the reach of undo
    assert told(hands, hands.part, 1) == before
    assert [text for text, _, _ in told(hands, hands.part, None).listed][:4] == [
        "One.", "One. Two.", "One. Two. Three.", "One. Two. Three. Four."
    ]  # fmt: skip


def test_a_version_that_left_no_word_stays_where_without_it_another_would_have_written_one(store: Store) -> None:
    """Without the second version the lamp would be that of the first, and it was written again in the third."""
    hands = Hands(store, "The lamp. The sea.")
    for text in ("The sea.", "The lamp. The sea. Rain.", *(f"The lamp. The sea. Rain. {n}" for n in range(8))):
        hands.write(text)
    limit(hands, 1)
    before = told(hands, hands.part, 1)
    (done,) = compacted(store)
    assert done.versions == 4  # of "0" to "3", though they were tried together with "The sea." first
    assert told(hands, hands.part, 1) == before
    assert "The sea." in [text for text, _, _ in told(hands, hands.part, None).listed]


@pytest.mark.parametrize("why", ["no limit", "a copy", "undo", "not counted", "trash", "backups"])
def test_what_somebody_needs_is_left_as_it_is(store: Store, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = novel(store)
    limit(hands, None if why == "no limit" else 5)
    held = ""
    if why == "a copy":
        hands.start("r1", "Copyeditor")
        held = "an agent has a working copy of it"
    if why == "undo":
        monkeypatch.setattr(history, "UNDO_REACH", 100)
    if why in ("trash", "backups"):
        with store.write(Act(actor="author", label="change", book=hands.book)) as tx:
            space = tx.space(LIBRARY)
            fields = {"deleted": 7} if why == "trash" else {"backup_changes": 500}
            space.put([replace(space.get(Book, hands.book), **fields)])  # type: ignore[arg-type]
    if why != "not counted":
        count_all(store)
    size = rows(store)
    there = [] if why in ("no limit", "trash") else [Compacted(hands.book, "The Book", held=held)]
    assert list(compact(store)) == there
    assert rows(store) == size


def test_a_book_that_changed_since_the_plan_is_left_as_it_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = novel(store)
    limit(hands, 5)
    size = rows(store)
    plan = compacting._plan

    def plan_late(*arguments: Any) -> Iterator[Any]:
        yield from plan(*arguments)
        hands.start("r1", "Copyeditor")

    monkeypatch.setattr(compacting, "_plan", plan_late)
    assert compacted(store) == [Compacted(hands.book, "The Book")]
    assert rows(store) == size


def test_a_book_without_a_limit_of_its_own_has_that_of_all_books(store: Store) -> None:
    novel(store)
    save_settings(store.home, Settings(default_history_limit=5))
    assert [each.versions for each in compacted(store)] == [15]


def test_it_ends_between_two_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = novel(store)
    for number in range(20):
        hands.write(f"Other{number} text{number}.", part=hands.parts[1])
    limit(hands, 5)
    count_all(store)
    monkeypatch.setattr(compacting, "PARTS", 1)
    asked = iter([False, False, True])
    assert [each.parts for each in compact(store, lambda: next(asked))] == [1]
    assert list(compact(store, lambda: True)) == []


def test_parts_with_endless_histories_keep_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hands = novel(store)
    limit(hands, 5)
    monkeypatch.setattr(compacting, "CHARS", 10)
    assert compacted(store) == [Compacted(hands.book, "The Book")]


# Rows


def _row(seq: int, before: bytes | None, after: bytes | None, free: bool = True) -> JournalRow:
    return JournalRow(seq, before, after, seq, "author", None, None, "edit", seq, free)


def test_the_row_behind_takes_over_what_was_before() -> None:
    chain = [_row(1, None, b"a"), _row(2, b"a", b"b"), _row(3, b"b", b"c"), _row(4, b"c", b"d"), _row(5, b"d", b"e")]
    assert [(row.seq, row.before, row.after) for row in without(chain, frozenset({2, 3, 5}))] == [
        (1, None, b"a"), (4, b"a", b"d")
    ]  # fmt: skip
    assert without(chain, frozenset()) == chain
    assert candidates(chain, 5) == [2, 3, 4] and candidates(chain, 3) == [2]


def test_makings_deletions_and_what_is_not_free_stay() -> None:
    chain = [
        _row(1, None, b"a"), _row(2, b"a", b"b"), _row(3, b"b", None), _row(4, None, b"b"), _row(5, b"b", b"c"),
        _row(6, b"c", b"d", free=False), _row(7, b"d", b"e"), _row(8, b"x", b"f"),
    ]  # fmt: skip
    assert candidates(chain, 9) == []


# Everything together


WORDS = st.lists(st.sampled_from(["lamp", "sea", "Ada", "rain", "oil"]), max_size=4).map(" ".join)
STEP = st.one_of(
    st.tuples(st.just("write"), WORDS),
    st.tuples(st.just("write"), WORDS),
    st.tuples(st.sampled_from(["agent", "keep"]), WORDS),
    st.tuples(st.sampled_from(["undo", "redo", "delete", "title", "other"]), st.just("")),
)


def play(hands: Hands, steps: list[tuple[str, str]]) -> None:
    for number, (what, text) in enumerate(steps):
        if what not in ("undo", "redo") and len(texts(hands)) < 2:
            continue  # an undo took a part away
        if what == "write":
            hands.write(text, model="A model" if number % 3 == 0 else "")
        elif what in ("agent", "keep"):
            copy = hands.start(f"r{number}", "Copyeditor")
            hands.call(f"r{number}", copy, f"c{number}", f"{text} once")
            hands.call(f"r{number}", copy, f"d{number}", f"{text} twice")
            hands.apply(f"r{number}", f"{text} twice over")
            with hands.store.write(Act(actor="studio", label="drop a copy")) as tx:
                drop_space(tx, copy, keep_journal=what == "keep")
        elif what in ("undo", "redo"):
            step_back(hands, redo=what == "redo")
        else:
            change(hands, what, number)


def step_back(hands: Hands, *, redo: bool = False) -> str:
    """Undoes or redoes the newest step; the sentence when there is none."""
    try:
        with hands.store.read() as look:
            step = undo.peek(look, hands.book, redo=redo)
        with hands.store.write(undo.act_for(step, hands.book, redo=redo)) as tx:
            return undo.take_back(tx, hands.book, step).label
    except Refused as error:
        return error.message


def change(hands: Hands, what: str, number: int) -> None:
    """Deletes the part and brings it back; gives it a title; changes the other part."""
    if what == "other":
        hands.write(f"Something else {number}.", part=hands.parts[1])
        return
    with hands.store.write(Act(actor="author", label=what, book=hands.book)) as tx:
        space = tx.space(LIBRARY)
        if what == "title":
            space.put([replace(space.get(Part, hands.part), title=f"Title {number}")])
        else:
            delete_part(space, hands.part)
    if what == "delete":
        with hands.store.write(Act(actor="author", label="back", book=hands.book)) as tx:
            (gone,) = (each for each in lost(tx, hands.book) if each.uuid == hands.part)
            trash.bring_back(tx, gone)


def future(hands: Hands) -> list[Any]:
    """What every undo and redo does from here, what the trash has, and what a merge is planned from."""
    found: list[Any] = []
    for redo in (False, False, False, True, True):
        found += [step_back(hands, redo=redo), *(texts(hands))]
    if len(texts(hands)) < 2:
        return found
    with hands.store.write(Act(actor="author", label="gone", book=hands.book)) as tx:
        delete_part(tx.space(LIBRARY), hands.parts[1])
    with hands.store.read() as tx:
        found += [(each.uuid, each.name, each.begins, each.before) for each in lost(tx, hands.book)]
    copy = hands.start("last", "Copyeditor")
    hands.call("last", copy, "c", "What the agent wrote.")
    with hands.store.read() as tx:
        found += [(each.uuid, each.base, each.agent, each.book) for each in read_sides(tx, copy).items]
    return found


def texts(hands: Hands) -> list[tuple[str, str]]:
    with hands.store.read() as tx:
        found = tx.space(LIBRARY).get_many(Part, hands.parts)
    return [(found[uuid].title, found[uuid].text) for uuid in hands.parts if uuid in found]


@contextmanager
def twin(hands: Hands, home: Path) -> Iterator[Hands]:
    """The same home a second time."""
    hands.store.checkpoint()
    shutil.copytree(hands.store.home, home)
    with closing(Store.open(home, clock=hands.store.clock)) as store:
        other = Hands.__new__(Hands)
        other.store, other.book, other.parts, other.part = store, hands.book, hands.parts, hands.part
        yield other


@settings(max_examples=10)
@given(steps=st.lists(STEP, min_size=7, max_size=14), most=st.integers(1, 3))
def test_undo_blame_merge_plans_and_the_trash_are_the_same_after_it(
    steps: list[tuple[str, str]], most: int, new_store: NewStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with new_store() as store:
        hands = Hands(store, "lamp sea", "A second part.")
        play(hands, steps)
        limit(hands, most)
        count_all(store)
        with twin(hands, tmp_path_factory.mktemp("twin") / "home") as whole:
            before = [told(hands, part, most) for part in hands.parts]
            gone = sum(each.versions for each in compact(store))
            event(f"{min(gone, 3)} versions or more are gone")
            list(sweep(store))
            assert [told(hands, part, most) for part in hands.parts] == before
            assert check(store) == []
            assert future(hands) == future(whole)
            assert check(store) == []
