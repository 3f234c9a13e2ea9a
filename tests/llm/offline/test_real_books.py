"""The proofreader on the real books that lie beside the project; see `conftest.py`."""

from collections.abc import Callable

import pytest

from marginalia_tui.llm.offline.habits import add_habits, habits_of
from marginalia_tui.llm.offline.rules import Correction, corrections, proofread
from marginalia_tui.services.slips import judge, make_slips
from tests.llm.offline.conftest import REAL
from tests.llm.offline.fakes import chapters


def found_in(texts: list[str]) -> list[Correction]:
    style = add_habits(map(habits_of, texts)).style()
    return [each for text in texts for each in corrections(text, style)]


def typewritten(text: str) -> str:
    """A book as old plain text has it."""
    for signs, plain in (("“”", '"'), ("‘’", "'"), ("—", "--"), ("\u2060", "")):
        for sign in signs or "\u2060":
            text = text.replace(sign, plain)
    return text


@pytest.mark.realdata
@pytest.mark.parametrize("change", [str, typewritten])
@pytest.mark.parametrize("title", ["moby-dick", "jekyll-and-hyde", "three-kingdoms-zh"])
def test_nothing_is_changed_in_a_real_book(title: str, change: Callable[[str], str]) -> None:
    texts = [change(text) for text in chapters(REAL / title / "chapters")]
    assert found_in(texts) == []


@pytest.mark.realdata
def test_what_is_touched_beside_the_slips_of_a_real_book_is_next_to_nothing() -> None:
    clean = [text.replace("\u2060", "") for text in chapters(REAL / "moby-dick" / "chapters")]
    corrected = beside = 0
    for seed in (1, 2):
        slipped, slips = make_slips(clean, seed)
        style = add_habits(map(habits_of, slipped)).style()
        outcome = judge(slips, clean, slipped, [proofread(text, style) for text in slipped])
        corrected += len(outcome.corrected)
        beside += len(outcome.touched_beside)
    assert corrected >= 2 * 400
    assert beside <= corrected // 200
