"""One rule of what a word is, everywhere (F51)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.words import count_words, find_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t-- ... !", []),
        ("One two  three.", ["One", "two", "three"]),
        ("don't well-known rock'n'roll", ["don't", "well-known", "rock'n'roll"]),
        ("it\u2019s the \u2018end\u2019", ["it\u2019s", "the", "end"]),
        ("the dogs' bone", ["the", "dogs", "bone"]),
        ("one--two, one \u2014 two\u2026three", ["one", "two", "one", "two", "three"]),
        ("_emphasis_ and **strong**", ["emphasis", "and", "strong"]),
        ("In 1893, 3 of 4", ["In", "1893", "3", "of", "4"]),
        (
            "na\u00efve Stra\u00dfe \u0395\u03bb\u03bb\u03ac\u03b4\u03b1",
            ["na\u00efve", "Stra\u00dfe", "\u0395\u03bb\u03bb\u03ac\u03b4\u03b1"],
        ),
        ("\ud55c\uad6d\uc5b4 \ub9d0", ["\ud55c\uad6d\uc5b4", "\ub9d0"]),
    ],
)
def test_words_are_found(text: str, words: list[str]) -> None:
    assert find_words(text) == words
    assert count_words(text) == len(words)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("\u7d05\u697c\u5922", 3),  # Han
        ("\u6211\u5011\u53bb\u3002\u4f60\u5462\uff1f", 5),
        ("\u3042\u308a\u304c\u3068\u3046", 5),  # hiragana
        ("\u30d1\u30fc\u30c6\u30a3\u30fc", 5),  # katakana with its long mark
        ("\u65e5\u672cABC\u8a9e", 4),
        ("Dracula\u306f\u6765\u305f", 4),
        ("\U00020000\U00020001", 2),
    ],
)
def test_f51_each_han_character_and_each_kana_is_a_word(text: str, count: int) -> None:
    assert count_words(text) == count


@given(st.text())
def test_f51_the_count_is_the_number_of_words_found(text: str) -> None:
    found = find_words(text)
    assert count_words(text) == len(found)
    assert all(found)
    assert all(word in text for word in found)


@given(st.lists(st.text("abcdefg", min_size=1), max_size=20))
def test_words_between_spaces_are_counted_one_by_one(words: list[str]) -> None:
    assert find_words(" ".join(words)) == words


@pytest.mark.parametrize("text", ["a" * 1_000_000, "a-" * 500_000, "a'" * 500_000 + "!", "-" * 1_000_000])
def test_no_text_takes_more_than_its_length(text: str) -> None:
    begun = time.process_time()
    count_words(text)
    # Linear work on a megabyte takes a few hundredths of a second; backtracking would take minutes.
    assert time.process_time() - begun < 5
