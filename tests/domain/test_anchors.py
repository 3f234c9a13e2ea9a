import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marginalia_tui.domain.anchors import Anchored, Anchors, anchor

STORY = (
    "The red lamp burned at dusk. Nobody saw who lit it.\n\n"
    "Rain fell on the roof all night, and on the yard.\n\n"
    "In the morning the lamp was gone."
)


def at(quote: str, text: str, basis: str = STORY, which: int = 1) -> str | None:
    """The words at which a note on a quote stands now; None when it is orphaned."""
    start = -1
    for _ in range(which):
        start = basis.index(quote, start + 1)
    found = anchor(basis, start, start + len(quote), text)
    if found is None:
        return None
    words = text[found.start : found.end]
    assert found.changed == (words != quote)
    return words


@pytest.mark.parametrize(
    ("quote", "old", "new", "now"),
    [
        ("Rain fell", "The red lamp burned at dusk. ", "", "Rain fell"),
        ("red lamp", "The red", "Once, long ago, the red", "red lamp"),
        ("red lamp", "red lamp", "red oil lamp", "red oil lamp"),
        ("red lamp burned", "red", "blue", "blue lamp burned"),
        ("The red lamp burned", "burned at", "stood still at", "The red lamp stood still"),
        ("red lamp", "red lamp", "red lamps", "red lamp"),
        ("The red lamp burned at dusk.", "red lamp burned", "lamp burned red", "The lamp burned red at dusk."),
        ("Nobody saw who lit it.", "Nobody saw who lit it.", "", None),
        ("Nobody saw who lit it.", "Nobody saw who lit it.", "It was quiet.", None),
    ],
)
def test_an_edit_moves_changes_or_orphans_a_passage(quote: str, old: str, new: str, now: str | None) -> None:
    assert at(quote, STORY.replace(old, new, 1)) == now


def test_what_is_put_beside_a_passage_is_no_part_of_it() -> None:
    assert at("red lamp", STORY.replace("red lamp burned", "dark red lamp brightly burned")) == "red lamp"


def test_a_passage_that_was_cut_out_and_put_elsewhere_is_found_there() -> None:
    moved = STORY.replace("Nobody saw who lit it.", "").replace("was gone.", "was gone. Nobody saw who lit it.")
    assert at("Nobody saw who lit it.", moved) == "Nobody saw who lit it."


def test_the_context_tells_which_of_several_it_is() -> None:
    basis = "Ada lit the lamp in the hall.\nBen broke the lamp in the yard.\nRain fell."
    turned = "Rain fell.\nBen broke the lamp in the yard.\nIt was late.\nAda lit the lamp in the hall."
    for place, start in (("hall", basis.index("the lamp")), ("yard", basis.rindex("the lamp"))):
        found = anchor(basis, start, start + 8, turned)
        assert found is not None and not found.changed
        assert turned[found.end :].startswith(f" in the {place}")


def test_another_place_with_the_same_words_is_not_taken_for_a_passage_that_is_gone() -> None:
    basis = "Ada lit the lamp in the hall, and sang.\nBen broke the lamp in the yard, and wept."
    start = basis.rindex("the lamp")
    assert anchor(basis, start, start + 8, "Ada lit the lamp in the hall, and sang.\nBen slept.") is None


def test_a_note_on_the_whole_part_is_never_orphaned() -> None:
    assert anchor(STORY, 0, 0, "") == anchor("", 0, 0, STORY) == Anchored(0, 0, False)


def test_a_range_outside_of_the_basis_is_cut_to_it() -> None:
    assert anchor("lamp", -5, 400, "the lamp") == Anchored(4, 8, False)
    assert anchor("lamp", 7, 9, "the lamp") == Anchored(0, 0, False)


def test_other_scripts_are_counted_in_characters() -> None:
    basis = "\u591c\u96e8\u3002\u706f\u4ed8\u3051\u305f\u3002 e\u0301t\u00e9 "
    basis += "\U0001f9d1\u200d\U0001f33e \u05e9\u05dc\u05d5\u05dd"
    for quote in (
        "\u706f\u4ed8\u3051\u305f",
        "e\u0301t\u00e9",
        "\U0001f9d1\u200d\U0001f33e",
        "\u05e9\u05dc\u05d5\u05dd",
    ):
        assert at(quote, "\u6628\u65e5\u3001" + basis, basis) == quote


WORDS = st.sampled_from(["lamp", "rain", "Ada", "the", "a", ".", "\n", "\n\n", "x", "\u00e9"])
TEXTS = st.lists(WORDS, max_size=25).map(" ".join)


@given(TEXTS, TEXTS, st.data())
def test_a_place_is_always_a_range_of_the_text(basis: str, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(basis)))
    end = data.draw(st.integers(start, len(basis)))
    found = anchor(basis, start, end, text)
    if found is None:
        assert end > start
    elif end == start:
        assert found == Anchored(0, 0, False)
    else:
        assert 0 <= found.start < found.end <= len(text)
        assert found.changed == (text[found.start : found.end] != basis[start:end])


EDIT = st.tuples(st.booleans(), st.integers(0, 400), st.integers(0, 40), TEXTS)


@given(TEXTS, TEXTS, st.lists(EDIT, max_size=8))
def test_an_unchanged_passage_is_found_letter_for_letter_whatever_is_edited_around_it(
    before: str, after: str, edits: list[tuple[bool, int, int, str]]
) -> None:
    quote = "kept words here"
    basis = before + quote + after
    first = (len(before), len(before) + len(quote))
    for above, place, length, new in edits:
        side = before if above else after
        place = min(place, len(side))
        side = side[:place] + new + side[place + length :]
        before, after = (side, after) if above else (before, side)
    text = before + quote + after
    assert anchor(basis, *first, text) == Anchored(len(before), len(before) + len(quote), False)
    # The note was never rewritten: the text that comes back brings its place back.
    assert anchor(basis, *first, basis) == Anchored(*first, False)


@given(TEXTS, TEXTS, TEXTS)
@example("lamp", "", "lamp rain lamp")
@example("lamp", "lamp", "lamp rain lamp")
def test_an_edit_above_moves_even_a_passage_with_common_words(above: str, between: str, rest: str) -> None:
    basis = between + "lamp rain lamp" + rest
    found = anchor(basis, len(between), len(between) + 14, above + basis)
    assert found is not None and not found.changed
    moved = (above + basis)[found.start : found.end]
    assert moved == "lamp rain lamp"


def test_a_hundred_notes_on_a_long_part_are_quick() -> None:
    chance = random.Random(4)
    words = [f"word{number}" for number in range(6_000)]
    paragraphs = [" ".join(chance.choice(words) for _ in range(80)) for _ in range(150)]
    basis = "\n\n".join(paragraphs)
    assert len(basis) > 100_000
    changed = list(paragraphs)
    for place in range(0, 150, 5):
        changed[place] = changed[place].replace("word1", "other", 3) + " A new end."
    text = "\n\n".join(["A new beginning.", *changed])
    spent = []
    for _ in range(3):
        began = time.process_time()
        anchors = Anchors(basis, text)
        found = [anchors.place(place, place + 80) for place in range(0, 100_000, 1_000)]
        spent.append(time.process_time() - began)
    assert len(found) == 100 and None not in found
    assert min(spent) < 0.05
