import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain import passage, segments, spelling

KNOWN = {"lamp", "oil", "color", "realize", "traveler", "center", "ada", "do", "homme", "jusque", "haus", "meister"}


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in spelling.words_of(text)]


def test_what_is_spelled() -> None:
    assert words("The *lamp*\u2019s oil, e\u0301t\u00e9-like") == ["The", "lamp", "oil", "e\u0301t\u00e9", "like"]
    assert words("don't Ada\u2019s l'homme") == ["don't", "Ada\u2019s", "l'homme"]
    skipped = "NASA R2D2 2nd a I https://ex.org/teh mail@ex.org `cod teh` [^notee] [x](teh.md) &nbsp; " + "q" * 50
    assert words(skipped) == []


@pytest.mark.parametrize(
    ("word", "language", "right"),
    [
        ("lamp", "en", True),
        ("lampp", "en", False),
        ("ada's", "en", True),
        ("adda's", "en", False),
        ("lamp'x", "en", False),
        ("colour", "en", True),
        ("colours", "en", False),
        ("realise", "en", True),
        ("traveller", "en", True),
        ("centre", "en", True),
        ("hourse", "en", False),
        ("colour", "fr", False),
        ("l'homme", "fr", True),
        ("jusqu'homme", "fr", True),
        ("l'homne", "fr", False),
        ("hausmeister", "de", True),
        ("hausmeisters", "de", False),
        ("hausmeister", "fr", False),
        ("lampoil", "en", False),
    ],
)
def test_forms_that_a_dictionary_leaves_out(word: str, language: str, right: bool) -> None:
    assert spelling.is_right(word, language, KNOWN.__contains__) is right


def test_languages_scripts_and_capitals() -> None:
    assert [spelling.language_code(name) for name in ("en-GB", "English", "pt_BR", "Deutsch", " fr ", "tlh")] == [
        "en", "en", "pt", "de", "fr", "tlh",
    ]  # fmt: skip
    assert spelling.in_script("\u00e9t\u00e9", "fr")
    assert not spelling.in_script("\u043b\u0430\u043c\u043f\u0430", "en")
    assert not spelling.in_script("lamp", "ar")
    assert spelling.plain(unicodedata.normalize("NFD", "\u00c9t\u00e9\u2019s")) == "\u00e9t\u00e9's"
    assert [spelling.like("lamp", model) for model in ("Lampp", "LAMPP", "lampp", "L")] == [
        "Lamp", "LAMP", "lamp", "Lamp",
    ]  # fmt: skip


TEXTS = st.text("ab \n.!?\"'*_\u2019\u201d\u3002\u96fe\u0301", max_size=40)


@settings(max_examples=50)
@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_places_of_a_text(text: str, one: int, two: int) -> None:
    for found in (segments.words(text), segments.sentences(text), list(spelling.words_of(text))):
        assert all(start < end for start, end in found)
        assert all(before[1] <= behind[0] for before, behind in zip(found, found[1:], strict=False))
    said = "".join(text[start:end] for start, end in segments.sentences(text))
    assert "".join(said.split()) == "".join(text.split())
    one = min(one, len(text))
    assert one == len(text) or segments.after(text, one) > one
    assert one == 0 or segments.before(text, one) < one
    assert segments.next_word(text, one) > one or one == len(text)
    assert segments.previous_word(text, one) < one or one == 0
    start, end = sorted((one, min(two, len(text))))
    low, high = passage.whole(text, start, end)
    assert low <= start <= end <= high
    assert not text[low:start].strip("*_`~") and not text[end:high].strip("*_`~&;\\")
    if text[start:end].strip():
        low, high = passage.unique(text, start, end)
        assert low <= start < end <= high
        assert (low, high) == (0, len(text)) or text.find(text[low:high], text.find(text[low:high]) + 1) < 0


def test_sentences_and_words() -> None:
    text = 'Mr. Ash came. "Who?" he said\u2026 J. Low went\non. \u96fe\u4e2d\u3002\u706f'
    assert [text[start:end] for start, end in segments.sentences(text)] == [
        "Mr. Ash came.",
        '"Who?"',
        "he said\u2026",
        "J. Low went",
        "on.",
        "\u96fe\u4e2d\u3002",
        "\u706f",
    ]
    assert [text[start:end] for start, end in segments.words(text)][-3:] == ["\u96fe", "\u4e2d", "\u706f"]
    assert segments.word_at("the lamp-oil.", 6) == (4, 12)
    assert segments.word_at("the lamp.", 9) == (4, 8)
    assert segments.word_at("...", 1) is None
    assert segments.sentence_at("One. Two.", 4) == (5, 9)


def test_a_passage_takes_the_emphasis_that_it_holds() -> None:
    source = "for the *oil* was gone"
    assert source[slice(*passage.whole(source, 4, 12))] == "the *oil*"
    assert source[slice(*passage.whole(source, 9, 12))] == "oil"
    assert source[slice(*passage.whole(source, 9, 17))] == "*oil* was"
    assert source[slice(*passage.whole(source, 10, 17))] == "il* was"
    # A sign that is written with several.
    assert passage.whole("oil &amp; lamp", 0, 5) == (0, 9)
    assert passage.whole(r"oil \[ lamp", 0, 5) == (0, 6)


def test_a_passage_is_given_what_makes_it_the_only_one() -> None:
    source = "the lamp. " * 5 + "Nobody lit the lamp again. " + "the lamp. " * 5
    start = source.index("lamp again")
    low, high = passage.unique(source, start, start + 4)
    assert source.count(source[low:high]) == 1
    assert passage.unique(source, source.index("Nobody"), source.index("Nobody") + 6)[0] == source.index("Nobody")
