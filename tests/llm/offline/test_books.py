"""The proofreader on the sample book: clean, and with slips in it."""

import pytest

from marginalia_tui.resources import sample_book
from marginalia_tui.services.slips import judge, make_slips
from tests.llm.offline.fakes import FakeBook, FakeRun, chapters


def test_nothing_is_changed_in_the_clean_sample_book() -> None:
    texts = chapters(sample_book())
    assert sum(len(text.split()) for text in texts) > 10_000
    book = FakeBook(list(texts))
    run = FakeRun(book).work()
    assert book.texts == texts
    assert not any(call.name == "edit-part" for answer in run.replies for call in answer.calls)


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_slips_of_the_sample_book_are_corrected_and_nothing_beside_them(seed: int) -> None:
    clean = chapters(sample_book())
    slipped, slips = make_slips(clean, seed)
    book = FakeBook(list(slipped))
    run = FakeRun(book).work()
    outcome = judge(slips, clean, slipped, book.texts, run.said + book.report)
    assert outcome.touched_beside == ()
    assert len(outcome.corrected) >= len(slips) * 0.5
    assert outcome.found >= len(slips) * 0.75
    again = FakeRun(FakeBook(list(book.texts))).work()
    assert not any(call.name == "edit-part" for answer in again.replies for call in answer.calls)
