import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.blame import Stretch, blame, carried, laid_over, lasting, words_of
from marginalia_tui.domain.diff import Kind, word_diff
from marginalia_tui.domain.words import count_words

WORDS = st.sampled_from(["the", "sea", "lamp", "Ada", " ", " ", ".", "\n\n", "\u706f", "\u00e9", "don\u2019t"])
TEXTS = st.lists(WORDS, max_size=30).map("".join)


def told(*texts: str) -> list[tuple[str, int]]:
    """The stretches of the last text with the numbers of their versions, from 1."""
    found = blame(enumerate(texts, start=1))
    return [(texts[-1][each.start : each.end], each.owner) for each in found]


def test_what_stays_is_its_writers_and_what_is_new_the_versions() -> None:
    assert told("The lamp burned.", "The red lamp burned.", "The red lamp burned. Rain fell.") == [
        ("The ", 1),
        ("red ", 2),
        ("lamp burned.", 1),
        (" Rain fell.", 3),
    ]


def test_a_version_that_adds_nothing_owns_nothing() -> None:
    assert told("One. Two. Three.", "One. Three.") == [("One. Three.", 1)]
    assert told("One.", "One.") == [("One.", 1)]
    assert told("One.", "") == []


def test_a_text_that_comes_back_brings_back_whose_it_was() -> None:
    assert told("The lamp burned.", "Rain.", "The lamp burned.") == [("The lamp burned.", 1)]
    # What was written after it was brought back is laid over that.
    assert told("The lamp burned.", "Rain.", "The lamp burned.", "The lamp burned low.") == [
        ("The lamp burned", 1),
        (" low", 4),
        (".", 1),
    ]


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_every_character_is_of_exactly_one_version(texts: list[str]) -> None:
    found = blame(enumerate(texts))
    assert "".join(texts[-1][each.start : each.end] for each in found) == texts[-1]
    place = 0
    for each in found:
        assert each.start == place < each.end
        place = each.end
    assert place == len(texts[-1])
    assert all(one.owner != other.owner for one, other in zip(found, found[1:], strict=False))
    # A version that adds nothing owns nothing.
    added = {
        number
        for number, (one, two) in enumerate(zip(["", *texts], texts, strict=False))
        if any(each.kind is Kind.ADDED for each in word_diff(one, two))
    }
    assert {each.owner for each in found} <= added


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_the_words_of_all_owners_are_the_words_of_the_text(texts: list[str]) -> None:
    counts = words_of(texts[-1], blame(enumerate(texts)))
    assert sum(counts.values()) == count_words(texts[-1])


def test_a_word_of_several_is_of_the_one_who_began_it() -> None:
    assert words_of("lamps burn", [Stretch(0, 4, "a"), Stretch(4, 10, "b")]) == {"a": 1, "b": 1}
    assert words_of("", []) == {}


def test_a_version_is_told_more_finely_by_what_lies_behind_it() -> None:
    def detail(owner: str, text: str, stretches: list[Stretch[str]]) -> list[Stretch[str]]:
        behind = [Stretch(0, 8, "call 1"), Stretch(8, len(text), None)]
        return laid_over(stretches, behind, owner) if owner == "apply" else stretches

    found = blame([("author", "Lamp."), ("apply", "The red lamp. Lamp.")], detail)
    assert [(each.start, each.end, each.owner) for each in found] == [
        (0, 8, "call 1"),
        (8, 14, "apply"),
        (14, 19, "author"),
    ]


@pytest.mark.parametrize(
    ("after", "owners"),
    [
        ("The lamp burned.", [("The lamp burned.", "a")]),
        ("The lamp", [("The lamp", "a")]),
        ("The lamp burned. Rain.", [("The lamp burned.", "a"), (" Rain.", None)]),
        ("", []),
    ],
)
def test_stretches_are_carried_into_another_text(after: str, owners: list[tuple[str, str | None]]) -> None:
    found = carried([Stretch(0, 16, "a")], "The lamp burned.", after, None)
    assert [(after[each.start : each.end], each.owner) for each in found] == owners


def test_what_was_written_between_a_text_and_its_coming_back_is_not_looked_at() -> None:
    assert lasting(["a", "b", "a", "c", "b", "c", "d", "c"]) == [0, 3]
    assert lasting(["a", "b", "c"]) == [0, 1, 2]
    assert lasting(["a", "b", "a", "b", "a"]) == [0]
    assert lasting([]) == []
