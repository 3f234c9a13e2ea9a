import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.passages import (
    Passage,
    closest_passage,
    find_passage,
    replace_passage,
    with_quotes_of,
)

CURLY = "\u201cI saw nothing,\u201d said Ada \u2014 twice. The lamp\u2019s\u00a0flame stood still. Caf\u00e9\u2026"
STRAIGHT = '"I saw nothing," said Ada -- twice. The lamp\'s flame stood still.'


def edit(text: str, old: str, new: str) -> str:
    (passage,) = find_passage(text, old)
    return replace_passage(text, passage, old, new)


def test_an_exact_find_comes_first() -> None:
    text = "a 'b' and a \u2018b\u2019"
    assert find_passage(text, "'b'") == [Passage(2, 5, True)]
    assert find_passage("aaa", "aa") == [Passage(0, 2, True), Passage(1, 3, True)]


@pytest.mark.parametrize(
    ("old", "found"),
    [
        ('"I saw nothing," said', "\u201cI saw nothing,\u201d said"),
        ("lamp's flame", "lamp\u2019s\u00a0flame"),
        ("Ada -- twice", "Ada \u2014 twice"),
        ("Ada - twice", "Ada \u2014 twice"),
        ("Cafe\u0301", "Caf\u00e9"),
        ("Cafe\u0301...", "Caf\u00e9\u2026"),
    ],
)
def test_f26_typographic_variants_are_found_when_there_is_one(old: str, found: str) -> None:
    (passage,) = find_passage(CURLY, old)
    assert not passage.exact
    assert CURLY[passage.start : passage.end] == found


def test_f26_a_variant_that_is_there_twice_is_told_as_twice() -> None:
    assert len(find_passage("the \u2018end\u2019 and the \u201bend\u2019", "'end'")) == 2


def test_f26_a_word_joiner_and_soft_hyphens_are_looked_through() -> None:
    text = "some\u2060thing and an\u00adother"
    assert edit(text, "something and another", "something or another") == "some\u2060thing or an\u00adother"


@pytest.mark.parametrize("old", ["Cafe", "..", "saw everything", "", "   "])
def test_half_a_character_or_nothing_is_not_found(old: str) -> None:
    assert [each for each in find_passage("Caf\u00e9\u2026 I saw nothing,", old) if not each.exact] == []


def test_f26_what_is_kept_keeps_its_typography_and_what_is_new_takes_the_quotes_of_the_text() -> None:
    assert edit(CURLY, '"I saw nothing," said', '"I saw something," she said') == CURLY.replace(
        "nothing,\u201d said", "something,\u201d she said"
    )
    assert edit(CURLY, "lamp's flame stood", "lamp's flame didn't \"stand\"") == CURLY.replace(
        "flame stood", "flame didn\u2019t \u201cstand\u201d"
    )
    assert edit(STRAIGHT, "\u201cI saw nothing,\u201d", "\u201cI didn\u2019t see,\u201d") == STRAIGHT.replace(
        "I saw nothing,", "I didn't see,"
    )


def test_f26_quotes_added_to_a_passage_without_quotes_take_the_style_of_the_text() -> None:
    assert edit(CURLY, "flame stood still", "'flame' stood still") == CURLY.replace(
        "flame stood", "\u2018flame\u2019 stood"
    )


def test_a_change_of_quotes_that_is_meant_is_made() -> None:
    assert edit(STRAIGHT, '"I saw nothing,"', "\u201cI saw nothing,\u201d").startswith("\u201cI saw nothing,\u201d")
    assert edit(CURLY, "\u201cI saw nothing,\u201d", '"I saw nothing,"').startswith('"I saw nothing,"')


def test_f26_texts_in_other_forms_of_accents_stay_in_theirs() -> None:
    text = unicodedata.normalize("NFD", "Le caf\u00e9 \u00e9tait ferm\u00e9.")
    assert edit(text, "caf\u00e9 \u00e9tait", "caf\u00e9 restait") == unicodedata.normalize(
        "NFD", "Le caf\u00e9 restait ferm\u00e9."
    )


@pytest.mark.parametrize(
    ("style", "new", "written"),
    [
        ("\u201ca\u201d", '"Yes," he said, "no."', "\u201cYes,\u201d he said, \u201cno.\u201d"),
        (
            "it\u2019s",
            "'Tis 'em, the '90s, \"'Twas\" don't",
            "\u2019Tis \u2019em, the \u201990s, \u201c\u2019Twas\u201d don\u2019t",
        ),
        ("it\u2019s", "'Yes,' he said", "\u2018Yes,\u2019 he said"),
        ("\u201eJa\u201c", '"Nein"', "\u201eNein\u201c"),
        ('"a"', "\u201cYes\u201d", '"Yes"'),
        ("it's", "don\u2019t", "don't"),
        (
            "\"a\" \u201cb\u201d 'c' \u2018d\u2019",
            "\"x\" \u201cy\u201d 'z' \u2018w\u2019",
            "\"x\" \u201cy\u201d 'z' \u2018w\u2019",
        ),
        ("no quotes", '"x" \u201cy\u201d', '"x" \u201cy\u201d'),
        ("\u00ab oui \u00bb", '"non"', '"non"'),
    ],
)
def test_f26_the_style_of_quotes(style: str, new: str, written: str) -> None:
    assert with_quotes_of(style, new) == written


WORDS = st.sampled_from(
    [
        "a",
        "lamp",
        "Caf\u00e9",
        "e\u0301",
        "\u201c",
        "\u201d",
        '"',
        "'",
        "\u2019",
        "--",
        "\u2014",
        " ",
        "\u00a0",
        "\n",
        "...",
    ]
)
TEXTS = st.lists(WORDS, max_size=12).map("".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_an_exact_edit_changes_the_passage_and_nothing_else(left: str, old: str, right: str, new: str) -> None:
    text = left + old + right
    for passage in find_passage(text, old)[:1]:
        edited = replace_passage(text, passage, old, new)
        assert edited.startswith(text[: passage.start])
        assert edited.endswith(text[passage.end :])
        middle = edited[passage.start : len(edited) - (len(text) - passage.end)]
        if passage.exact:
            assert len(middle) == len(new)


@given(TEXTS, TEXTS)
def test_what_is_replaced_by_itself_is_unchanged(text: str, old: str) -> None:
    for passage in find_passage(text, old):
        assert replace_passage(text, passage, old, old) == text


@given(TEXTS, st.text(max_size=8))
def test_every_find_is_inside_the_text(text: str, old: str) -> None:
    for passage in find_passage(text, old):
        assert 0 <= passage.start <= passage.end <= len(text)
    assert closest_passage(text, old) in text


def test_the_closest_passage_is_shown() -> None:
    assert closest_passage(STRAIGHT, "I saw nobody, sayd Ada") == 'I saw nothing," said Ada'
    assert closest_passage(STRAIGHT, "zqx wvk jjj") == ""
    assert closest_passage("", "word") == ""


def test_the_closest_of_a_long_passage_shows_where_it_differs() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    shown = closest_passage(text, text[:2000].replace("word200", "wrod200"))
    assert "word200" in shown
    assert len(shown) <= 300


def test_a_long_part_is_searched_at_once() -> None:
    text = "\u201cThe lamp stood.\u201d " * 20_000
    began = time.perf_counter()
    assert find_passage(text, '"The lamp fell."') == []
    assert closest_passage(text, '"The lamp stood there."')
    assert time.perf_counter() - began < 5
