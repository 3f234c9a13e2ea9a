import pytest
from hypothesis import given, settings

from marginalia_tui.llm.offline.habits import Style, habits_of
from marginalia_tui.llm.offline.passages import kinds_of, passages
from marginalia_tui.llm.offline.rules import KINDS, apply_corrections, corrections
from tests.llm.offline.drafts import drafts

STYLE = Style(quotes="curly", curly_apostrophes=True, dash="tight")


@given(drafts)
@settings(max_examples=120, deadline=None)
def test_edits_are_unique_one_after_another_and_give_the_corrected_text(text: str) -> None:
    found = corrections(text, STYLE)
    now = text
    for edit in passages(text, found, 1_000):
        assert now.count(edit.old) == 1
        assert now.find(edit.old, now.find(edit.old) + 1) == -1
        assert edit.old != edit.new
        now = now.replace(edit.old, edit.new)
    assert now == apply_corrections(text, found)


@given(drafts)
@settings(max_examples=60, deadline=None)
def test_the_limit_takes_the_first_edits(text: str) -> None:
    found = corrections(text, habits_of(text).style())
    assert passages(text, found, 2) == passages(text, found, 1_000)[:2]


def test_a_passage_has_whole_words_around_it() -> None:
    text = "She went to the the door of the house in the evening, and it was late."
    (edit,) = passages(text, corrections(text, STYLE), 8)
    assert edit.old == "went to the the door of"
    assert edit.new == "went to the door of"


def test_near_corrections_are_one_edit() -> None:
    text = "She went to the the  door of the house , and it was late in the evening."
    edits = passages(text, corrections(text, STYLE), 8)
    assert len(edits) == 1 or all(edit.old not in text.replace(edit.old, "", 1) for edit in edits)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("to the the door", "to the door", "doubled word"),
        ("top of the\nthe stairs", "top of\nthe stairs", "doubled word"),
        ("went  home", "went home", "doubled space"),
        ("home , and", "home, and", "space before punctuation"),
        ("“Go home, he", "“Go home,” he", "missing quote"),
        ('"Go home,', "“Go home,", "straight quote"),
        ("it's late", "it’s late", "straight quote"),
        ("“Go,“ he", "“Go,” he", "turned quote"),
        ("lamp -- he", "lamp—he", "mixed dash"),
        ("lamp - he", "lamp—he", "mixed dash"),
        ("lamp—he", "lamp – he", "mixed dash"),
    ],
)
def test_an_edit_tells_what_it_corrected(old: str, new: str, kind: str) -> None:
    assert kinds_of(old, new) == {kind: 1}


@given(drafts)
@settings(max_examples=60, deadline=None)
def test_every_edit_of_ours_has_a_known_kind(text: str) -> None:
    for edit in passages(text, corrections(text, STYLE), 1_000):
        kinds = kinds_of(edit.old, edit.new)
        assert kinds and set(kinds) <= set(KINDS)
