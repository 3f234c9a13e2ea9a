from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.llm.offline.prose import HIDDEN, read_page
from marginalia_tui.resources import sample_book
from marginalia_tui.services.slips import SPOILERS, Slip, judge, make_slips

CHAPTERS = [path.read_text(encoding="utf-8") for path in sorted(sample_book().glob("*.md"))]
SLIPPED, SLIPS = make_slips(CHAPTERS)


def put_right(texts: tuple[str, ...], slips: tuple[Slip, ...]) -> list[str]:
    """The slipped book with these slips corrected."""
    result = list(texts)
    for slip in slips:
        shift = sum(len(s.new) - len(s.old) for s in SLIPS if s.chapter == slip.chapter and s.at < slip.at)
        shift -= sum(len(s.new) - len(s.old) for s in slips if s.chapter == slip.chapter and s.at < slip.at)
        at = slip.at + shift
        text = result[slip.chapter]
        assert text.startswith(slip.new, at)
        result[slip.chapter] = text[:at] + slip.old + text[at + len(slip.new) :]
    return result


def test_the_sample_book_gets_about_sixty_slips_of_every_kind() -> None:
    words = sum(len(text.split()) for text in CHAPTERS)
    assert len(SLIPS) == pytest.approx(60 * words / 14_000, rel=0.25)
    assert {slip.kind for slip in SLIPS} == set(SPOILERS)


def test_the_same_seed_gives_the_same_slips_and_another_seed_others() -> None:
    assert make_slips(CHAPTERS) == (SLIPPED, SLIPS)
    assert make_slips(CHAPTERS, seed=7)[1] != SLIPS


def test_a_slip_says_exactly_what_it_changed() -> None:
    for slip in SLIPS:
        clean = CHAPTERS[slip.chapter]
        assert clean.startswith(slip.old, slip.at)
        assert slip.clean in clean and slip.slipped in SLIPPED[slip.chapter]
        assert slip.clean != slip.slipped
    changed = list(CHAPTERS)
    for slip in reversed(SLIPS):
        text = changed[slip.chapter]
        changed[slip.chapter] = text[: slip.at] + slip.new + text[slip.at + len(slip.old) :]
    assert tuple(changed) == SLIPPED


def test_slips_stand_in_prose_at_most_one_in_a_paragraph() -> None:
    seen = set()
    for slip in SLIPS:
        page = read_page(CHAPTERS[slip.chapter])
        block = next(block for block in page.prose() if block.start <= slip.at <= block.end)
        assert HIDDEN not in page.mask[slip.at : slip.at + len(slip.old)]
        assert (slip.chapter, block.start) not in seen
        seen.add((slip.chapter, block.start))


def test_code_and_headings_get_no_slips() -> None:
    code = "```\nthe lamp of the house and the boat in the bay\n```\n\n    the lamp of the house"
    hidden = f"# The lamp of the house\n\n{code}\n\n"
    assert make_slips([hidden * 400]) == ((hidden * 400,), ())


def test_what_a_book_mostly_does_stays_clear() -> None:
    text = (
        "\n\n".join(f"He went home\u2014it was late\u2014and the boat lay there, number {n}." for n in range(8))
        + "\n\nThe end. " * 900
    )
    slips = make_slips([text])[1]
    assert sum(slip.kind == "hyphen for a dash" for slip in slips) <= 4


def test_nothing_done_leaves_every_slip() -> None:
    report = judge(SLIPS, CHAPTERS, SLIPPED, SLIPPED)
    assert report.left == SLIPS and report.found == 0 and report.total == len(SLIPS)
    assert not report.touched_beside and not report.altered


def test_the_clean_book_has_every_slip_corrected() -> None:
    report = judge(SLIPS, CHAPTERS, SLIPPED, CHAPTERS)
    assert report.corrected == SLIPS and report.found == len(SLIPS)
    assert not report.touched_beside


@given(st.sets(st.integers(0, len(SLIPS) - 1)))
@settings(max_examples=40, deadline=None)
def test_any_part_of_them_corrected_is_told_exactly(chosen: set[int]) -> None:
    corrected = tuple(slip for index, slip in enumerate(SLIPS) if index in chosen)
    report = judge(SLIPS, CHAPTERS, SLIPPED, put_right(SLIPPED, corrected))
    assert report.corrected == corrected
    assert report.left == tuple(slip for slip in SLIPS if slip not in corrected)
    assert not report.touched_beside and not report.altered


@given(st.integers(0, len(SLIPS) - 1), st.integers(0, 10**6), st.sampled_from(["x", " ", "\u201c", "new words "]))
@settings(max_examples=60, deadline=None)
def test_a_change_beside_the_slips_is_found_wherever_it_is(index: int, place: int, added: str) -> None:
    slip = SLIPS[index]
    result = put_right(SLIPPED, (slip,))
    at = place % len(result[slip.chapter])
    result[slip.chapter] = result[slip.chapter][:at] + added + result[slip.chapter][at:]
    report = judge(SLIPS, CHAPTERS, SLIPPED, result)
    assert report.total == len(SLIPS)
    assert report.touched_beside or report.altered or len(report.corrected) != 1


def test_touches_show_the_passage_before_and_after() -> None:
    result = list(SLIPPED)
    paragraph = max(SLIPPED[0].split("\n\n"), key=len)
    result[0] = result[0].replace(paragraph, paragraph.replace(" the ", " yon ", 1), 1)
    (touch,) = judge(SLIPS, CHAPTERS, SLIPPED, result).touched_beside
    assert touch.chapter == 0 and "the" in touch.clean and "yon" in touch.result


def test_a_slip_that_became_something_else_is_altered_and_touched() -> None:
    slip = next(slip for slip in SLIPS if slip.kind == "doubled word")
    result = list(SLIPPED)
    result[slip.chapter] = result[slip.chapter].replace(slip.slipped, "something else entirely")
    report = judge(SLIPS, CHAPTERS, SLIPPED, result)
    assert report.altered == (slip,)
    assert len(report.touched_beside) >= 1


def test_a_paragraph_that_is_gone_is_touched() -> None:
    result = list(CHAPTERS)
    paragraphs = result[1].split("\n\n")
    result[1] = "\n\n".join(paragraphs[:5] + paragraphs[6:])
    report = judge(SLIPS, CHAPTERS, SLIPPED, result)
    assert [touch.chapter for touch in report.touched_beside] == [1]


@pytest.mark.parametrize("kind", ["confused words", "doubled word", "repeated phrase", "missing closing quote"])
def test_a_slip_that_is_left_but_quoted_is_reported(kind: str) -> None:
    slip = next(slip for slip in SLIPS if slip.kind == kind)
    report = judge(SLIPS, CHAPTERS, SLIPPED, SLIPPED, told=f"Look at: {slip.slipped}, please.")
    assert report.reported == (slip,)
    assert report.found == 1 and len(report.left) == len(SLIPS) - 1


def test_a_slip_that_is_corrected_is_not_reported_too() -> None:
    report = judge(SLIPS, CHAPTERS, SLIPPED, CHAPTERS, told="\n".join(SLIPPED))
    assert report.reported == () and report.corrected == SLIPS


def test_the_table_by_kind_adds_up() -> None:
    table = judge(SLIPS, CHAPTERS, SLIPPED, CHAPTERS).by_kind()
    assert sum(row[0] for row in table.values()) == len(SLIPS)
    assert all(total == corrected and reported == 0 for total, corrected, reported in table.values())


def test_books_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        judge(SLIPS, CHAPTERS, SLIPPED, CHAPTERS[:-1])
    with pytest.raises(ValueError, match="another text"):
        judge([replace(SLIPS[0], new="zzz"), *SLIPS[1:]], CHAPTERS, SLIPPED, CHAPTERS)
