import pytest
from hypothesis import given, settings

from marginalia_tui.llm.offline.habits import Style, add_habits, habits_of
from marginalia_tui.llm.offline.prose import HIDDEN, read_page
from marginalia_tui.llm.offline.rules import KINDS, apply_corrections, corrections, proofread
from tests.llm.offline.drafts import books, drafts

CURLY = Style(quotes="curly", curly_apostrophes=True, dash="tight")
STRAIGHT = Style(quotes="straight", dash="double")
PLAIN = Style()
BED = "She went down to the harbour in the evening and looked at the boats."
"""Enough English for the rules to speak up."""


def fixed(passage: str, style: Style = CURLY) -> str:
    return proofread(f"{BED}\n\n{passage}", style).removeprefix(f"{BED}\n\n")


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("He came to the the door and knocked.", "He came to the door and knocked."),
        ("The the door was open and he went in.", "The door was open and he went in."),
        ("He came and and went with the tide.", "He came and went with the tide."),
        ("It was the end of of the day.", "It was the end of the day."),
        ("\u201cI was in the the garden,\u201d she said.", "\u201cI was in the garden,\u201d she said."),
        ("He he turned to the door.", "He turned to the door."),
        ("In in the morning he was there.", "In the morning he was there."),
        ("It was late, and in in the house a lamp was lit.", "It was late, and in the house a lamp was lit."),
        ("He put it into his his pocket.", "He put it into his pocket."),
        (
            "He had come all the way up from the water to the top of the\nthe stairs, and there he stood and waited.",
            "He had come all the way up from the water to the top of\nthe stairs, and there he stood and waited.",
        ),
    ],
)
def test_doubled_words_that_can_only_be_slips(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(
    "passage",
    [
        "He had had enough of it, and she knew that that was so.",
        "The house he lived in in the winter was his own.",
        "It was the thing he had thought of of late.",
        "He gave her her coat and told her to go.",
        "What it is is a mess, and I told you you would see it.",
        "\u201cI I don\u2019t know,\u201d he said to her.",
        "\u201cHe he he,\u201d laughed the old man in the corner.",
        "\u201cAn\u2019 the the tide were out, ye see,\u201d he said.",
        "\u201cThe\u2014the the boat is gone,\u201d he said to her.",
        "It was a long long way to the the the end.",
        "They went to see The The at the hall.",
        "He wrote the word *the* the way he always did, and the `the the` stayed.",
        "In this rhyme a a b b is what the poet wrote.",
        "He saw it in the-the book of the house.",
    ],
)
def test_doubles_that_may_be_meant_stay(passage: str) -> None:
    assert fixed(passage) == passage


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("He came  to the door.", "He came to the door."),
        ("He was   there.  She was not.", "He was there. She was not."),
        ("\u201cYes,\u201d  he said to her.", "\u201cYes,\u201d he said to her."),
    ],
)
def test_doubled_spaces(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(
    "passage",
    [
        "To the door of the house          and back to it.",
        "the name     and the place of it\nthe other    and where it was seen by him",
        "The last word of the line ends in spaces  \nand that is a line break which the author set in the text.",
        "The last word of the paragraph ends in spaces  ",
    ],
)
def test_spaces_that_are_a_layout_stay(passage: str) -> None:
    assert fixed(passage) == passage


def test_two_spaces_between_sentences_stay_where_they_are_the_custom() -> None:
    custom = "He came to the door.  She was not there.  It was late.  He went  home."
    style = habits_of(custom).style()
    assert style.double_gap
    assert proofread(custom, style) == custom.replace("went  home", "went home")


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("He came , and she went .", "He came, and she went."),
        ("\u201cWhere is it ?\u201d she asked him.", "\u201cWhere is it?\u201d she asked him."),
        ("\u201cIt was there\u201d , he said to her.", "\u201cIt was there\u201d, he said to her."),
        ("He was there ; she was not .", "He was there; she was not."),
    ],
)
def test_spaces_before_punctuation(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(
    "passage",
    [
        "He waited . . . and then he went to the door.",
        "She was happy :) and he was not ;) at the time.",
        "He had a .22 in the house and it was .5 of an inch.",
        "He went to see it ... and then he was gone.",
    ],
)
def test_marks_that_stand_apart_for_a_reason_stay(passage: str) -> None:
    assert fixed(passage) == passage


def test_marks_set_off_by_an_old_printer_stay() -> None:
    page = "He came to the door ; she was there ; it was late ; he went home ; and that was the end of it ; so it was."
    assert proofread(page, habits_of(page).style()) == page


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("The lamp -- he saw it -- was lit.", "The lamp\u2014he saw it\u2014was lit."),
        ("The lamp--he saw it--was lit.", "The lamp\u2014he saw it\u2014was lit."),
        ("The lamp - he saw it - was lit.", "The lamp\u2014he saw it\u2014was lit."),
        ("\u201cI was going to--\u201d she said.", "\u201cI was going to\u2014\u201d she said."),
        ("The lamp \u2013 he saw it \u2013 was lit.", "The lamp\u2014he saw it\u2014was lit."),
    ],
)
def test_dashes_become_those_of_the_book(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(
    "passage",
    [
        "He was there from 1914 - 1918 and from pages 3 -- 5 of it.",
        "Call it with --help or see https://a.b/c--d for the rest of it.",
        "He had pre- and post-war maps of the coast, and a well-kept boat.",
        "The lamp---he saw it---was lit.",
        "-- He said that it was late, and he went home.",
    ],
)
def test_what_is_no_dash_stays(passage: str) -> None:
    assert fixed(passage) == passage


def test_dashes_of_a_book_that_spaces_them() -> None:
    spaced = Style(dash="spaced en")
    assert fixed("The lamp\u2014he saw it--was lit.", spaced) == "The lamp \u2013 he saw it \u2013 was lit."
    stammer = "\u201cI\u2014I was going\u2014\u201d she said to him."
    assert fixed(stammer, spaced) == stammer


def test_nothing_is_mixed_where_no_dash_prevails() -> None:
    text = "The lamp -- he saw it\u2014was lit, and it was late in the evening of the day."
    assert fixed(text, habits_of(text).style()) == text


UNTOUCHABLE = [
    "```\nthe the  code -- x ,\n```",
    "~~~ text\nthe the  code -- x ,\n\nof of\n~~~",
    "```\nthe the is never closed  ,",
    "    the the  indented -- code ,",
    "# The the  heading ,",
    "The the heading , of this\n=====",
    '| the the | a  b ,|\n|---|---|\n| of of | "x" |',
    "the the night  \nof of the sea ,",
    "The the sea ,\nof of the night",
    "* * *",
    "<div>the the  box ,</div>",
    "<!-- the the\n\nnote  , -->",
    "[the]: http://a.b/the  the ,",
    'A tick ` opens here and the the rest  is open , "so" it stays -- yes.',
]


@pytest.mark.parametrize("block", UNTOUCHABLE)
def test_what_is_no_prose_is_never_touched(block: str) -> None:
    assert fixed(block) == block
    assert proofread(f"{BED}\n\n{block}\n\n{BED}", CURLY) == f"{BED}\n\n{block}\n\n{BED}"


def test_front_matter_is_never_touched() -> None:
    text = f'---\ntitle: "The the  Book ,"\nnote: a -- b\n---\n\n{BED}'
    assert proofread(text, CURLY) == text


@pytest.mark.parametrize(
    "passage",
    [
        "Nous nous sommes dit que la la nuit est belle , n\u2019est-ce pas ?",
        "Die Frau, die die Kinder kennt ,  ist nicht da .",
        "宴桃园豪杰三结义  斩黄巾英雄首立功 。",
        "",
        "   \n\n  ",
    ],
)
def test_other_languages_are_left_alone(passage: str) -> None:
    assert corrections(passage, CURLY) == ()


def test_a_foreign_paragraph_of_an_english_part_is_left_alone() -> None:
    latin = "Quousque tandem abutere Catilina , patientia nostra quam diu etiam furor iste tuus nos eludet ?"
    assert fixed(latin) == latin


@given(drafts)
@settings(max_examples=150, deadline=None)
def test_corrections_say_what_they_change_and_leave_code_alone(text: str) -> None:
    page = read_page(text)
    for style in (CURLY, STRAIGHT, PLAIN):
        found = corrections(text, style)
        assert [each.start for each in found] == sorted(each.start for each in found)
        for each in found:
            assert text[each.start : each.end] == each.old != each.new
            assert each.kind in KINDS
            assert HIDDEN not in page.mask[each.start : each.end]
        kept = [part for part, hidden in zip(text, page.mask, strict=True) if hidden == HIDDEN]
        changed = apply_corrections(text, found)
        position = 0
        for sign in kept:
            position = changed.index(sign, position) + 1


@given(drafts)
@settings(max_examples=150, deadline=None)
def test_a_second_pass_finds_nothing(text: str) -> None:
    for style in (CURLY, STRAIGHT, PLAIN, habits_of(text).style()):
        once = proofread(text, style)
        assert corrections(once, style) == ()


@given(books)
@settings(max_examples=60, deadline=None)
def test_the_habits_of_a_book_stay_what_they_were(texts: list[str]) -> None:
    style = add_habits(map(habits_of, texts)).style()
    once = [proofread(text, style) for text in texts]
    again = add_habits(map(habits_of, once)).style()
    assert [proofread(text, again) for text in once] == once
