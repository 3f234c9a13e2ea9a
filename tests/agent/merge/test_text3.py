"""Three versions of a text are merged by words: nothing is lost, nothing doubled, and what clashes is told."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marginalia_tui.agent.merge.text3 import Origin, merge_words
from marginalia_tui.domain.words import find_words
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, chain

BASE = "The lamp stood in the window. Nobody had lit it for years. The sea was loud that night."

pieces = st.sampled_from(
    ["the", "lamp", "sea", "was", "loud", " ", " ", " ", ". ", "\n", "\n\n", "a", "window", "’s", "海", "  "]
)
texts = st.lists(pieces, max_size=40).map("".join)


def test_changes_at_different_places_fit_together() -> None:
    agent = BASE.replace("window", "doorway")
    book = BASE.replace("loud", "calm")
    merged = merge_words(BASE, agent, book)
    assert merged.text == BASE.replace("window", "doorway").replace("loud", "calm")
    assert [each.origin for each in merged.regions if each.origin is not Origin.SAME] == [Origin.AGENT, Origin.BOOK]


def test_the_same_change_on_both_sides_is_taken_once() -> None:
    both = BASE.replace("years", "a hundred years")
    assert merge_words(BASE, both, both).text == both
    more = both.replace("The sea", "The grey sea")
    assert merge_words(BASE, both, more).text == more


def test_one_side_alone_is_taken_whole() -> None:
    assert merge_words(BASE, "Something else.", BASE).text == "Something else."
    assert merge_words(BASE, BASE, "").text == ""


def test_f25_different_words_at_one_place_are_a_conflict_of_those_words() -> None:
    merged = merge_words(BASE, BASE.replace("window", "doorway"), BASE.replace("window", "attic"))
    assert merged.text is None
    assert [(each.base, each.agent, each.book) for each in merged.conflicts] == [("window", "doorway", "attic")]


def test_f25_edits_near_each_other_are_told_apart_by_words() -> None:
    merged = merge_words(BASE, BASE.replace("lit it", "lighted it"), BASE.replace("for years", "for decades"))
    assert merged.text == BASE.replace("lit it", "lighted it").replace("for years", "for decades")


def test_f25_two_insertions_at_one_point_are_a_conflict_with_fixed_sides() -> None:
    agent = BASE.replace("lamp stood", "old lamp stood")
    book = BASE.replace("lamp stood", "brass lamp stood")
    one, two = merge_words(BASE, agent, book), merge_words(BASE, book, agent)
    assert [(each.agent.strip(), each.book.strip()) for each in one.conflicts] == [("old", "brass")]
    assert [(each.agent.strip(), each.book.strip()) for each in two.conflicts] == [("brass", "old")]


def test_f25_a_deletion_against_an_edit_inside_it_is_a_conflict() -> None:
    agent = BASE.replace("Nobody had lit it for years. ", "")
    book = BASE.replace("for years", "for decades")
    merged = merge_words(BASE, agent, book)
    assert merged.text is None
    assert "decades" in merged.conflicts[0].book
    assert "decades" not in merged.conflicts[0].agent


def test_f25_a_passage_moved_by_both_to_different_places_is_not_doubled() -> None:
    passage = "Nobody had lit it for years, not even the widow.\n\n"
    one = "The lamp stood alone.\n\nIt had no oil.\n\nDust lay on it.\n\n"
    two = "The sea was loud.\n\nIt beat the stones.\n\nGulls cried.\n\n"
    three = "Then came the morning.\n\n"
    base = passage + one + two + three
    merged = merge_words(base, one + passage + two + three, one + two + passage + three)
    assert merged.text is None
    assert any(passage.strip() in each.agent for each in merged.conflicts)
    assert any(passage.strip() in each.book for each in merged.conflicts)


def test_an_insertion_beside_a_replaced_paragraph_is_a_conflict() -> None:
    base = "One is here.\nTwo is there.\n"
    merged = merge_words(
        base, "One is here.\nInserted line of four.\nTwo is there.\n", "One is here.\nQuite another!\n"
    )
    assert merged.text is None


def test_neighbouring_paragraphs_changed_by_each_side_fit_together() -> None:
    base = "One is here.\nTwo is there.\n"
    assert merge_words(base, "Quite another!\nTwo is there.\n", "One is here.\nSomething new.\n").text == (
        "Quite another!\nSomething new.\n"
    )


@given(texts, texts, texts)
@example("", "", "")
@example("a", "", "b")
def test_every_version_can_be_read_back(base: str, agent: str, book: str) -> None:
    regions = merge_words(base, agent, book).regions
    assert "".join(each.base for each in regions) == base
    assert "".join(each.agent for each in regions) == agent
    assert "".join(each.book for each in regions) == book
    for each in regions:
        assert (each.origin is Origin.CONFLICT) or each.base in (each.agent, each.book) or each.agent == each.book


@st.composite
def edited(draw: st.DrawFn, base: str) -> str:
    words = base.split(" ")
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(words)))
        cut = draw(st.integers(0, 3))
        words[place : place + cut] = draw(st.lists(st.sampled_from(["new", "grey", "north", "Mina"]), max_size=3))
    return " ".join(words)


@given(st.data())
def test_f25_every_word_of_either_side_is_in_the_text_or_in_a_conflict(data: st.DataObject) -> None:
    agent, book = data.draw(edited(BASE)), data.draw(edited(BASE))
    merged = merge_words(BASE, agent, book)
    words = Counter(find_words(merged.text if merged.text is not None else "".join(_both(merged.regions))))
    before = Counter(find_words(BASE))
    for side in (agent, book):
        new = Counter(find_words(side)) - before
        missing = new - words
        assert not missing
    if agent == BASE:
        assert merged.text == book
    if book == BASE:
        assert merged.text == agent


def _both(regions: object) -> list[str]:
    assert isinstance(regions, tuple)
    return [each.merged if each.merged is not None else f" {each.agent} {each.book} " for each in regions]


def test_a_conflict_of_a_text_offers_the_merge_and_takes_it_as_a_text(store: Store) -> None:
    desk = Desk(store, chain("a", "b"), a=BASE, b=BASE)
    for part in "ab":
        desk.agent.edit(part, text=BASE.replace("window", "doorway"))
    desk.author.edit("a", text=BASE.replace("loud", "calm"))
    desk.author.edit("b", text=BASE.replace("window", "attic"))
    one, two = desk.item("part:a").field("text"), desk.item("part:b").field("text")
    assert one is not None and two is not None
    assert one.conflict and one.proposal == BASE.replace("window", "doorway").replace("loud", "calm")
    assert two.conflict and two.proposal is None
    assert desk.apply_all().conflicts == (("part:a", "text"), ("part:b", "text"))


@pytest.mark.parametrize("size", [20_000])
def test_long_texts_are_merged(size: int) -> None:
    base = "\n\n".join(f"Paragraph {number} is here, and the sea is loud." for number in range(size // 9))
    agent = base.replace("Paragraph 100 is", "Chapter 100 is")
    book = base.replace("Paragraph 900 is", "Section 900 is")
    assert merge_words(base, agent, book).text == agent.replace("Paragraph 900 is", "Section 900 is")
