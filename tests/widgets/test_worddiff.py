import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from marginalia_tui.domain.diff import Kind, Segment, word_diff
from marginalia_tui.widgets.worddiff import WordDiff, diff_lines, fold
from tests.widgets.support import Host, run, seen

BEFORE = [f"Paragraph {number} stands here and stays as it is." for number in range(40)]
AFTER = list(BEFORE)
AFTER[10] = "Paragraph 10 stood here and stays as it is."
AFTER[30:30] = ["A new paragraph, 灯台 too,\x1b[31m by [b]the agent[/b]."]


def diff(app: Host) -> WordDiff:
    return app.query_one(WordDiff)


def test_signs_tell_what_changed_and_the_rest_is_folded() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        diff(app).show(word_diff("\n".join(BEFORE), "\n".join(AFTER)))
        diff(app).focus()
        await pilot.pause()
        rows = seen(app)
        assert rows[0] == "  ··· 8 lines unchanged ···"
        assert rows[3] == "| Paragraph 10 [-stands-]{+stood+} here and stays as it is."
        assert "  ··· 15 lines unchanged ···" in rows
        assert "| {+A new paragraph, 灯台 too,␛[31m by [b]the agent[/b].¶+}" in rows
        await pilot.press("n", "n")
        assert [(message.current, message.count) for message in app.of(WordDiff.Stepped)] == [(1, 2), (2, 2)]
        assert any(row.startswith("> {+A new") for row in seen(app))
        await pilot.press("u")
        assert diff(app).unfolded and any(row.startswith("> {+A new") for row in seen(app))
        await pilot.press("home")
        assert seen(app)[0] == "  Paragraph 0 stands here and stays as it is."

    run(lambda: [WordDiff()], scenario)


def test_the_signs_do_not_depend_on_colour() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        diff(app).show(word_diff("one two three", "one four three"))
        await pilot.pause()
        styles = {
            segment.text: segment.style
            for segment in app.screen._compositor.render_strips()[0]
            if segment.style is not None
        }
        assert styles["[-two-]"].strike and styles["{+four+}"].underline

    run(lambda: [WordDiff()], scenario)


def test_no_difference_is_said() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        diff(app).show(word_diff("same\ntext", "same\ntext"))
        diff(app).focus()
        await pilot.press("n", "p", "end")
        assert seen(app)[0].strip() == "No difference."
        await pilot.press("u")
        assert seen(app)[0].strip() == "same"

    run(lambda: [WordDiff()], scenario)


@pytest.mark.parametrize("size", [(40, 12), (200, 60)])
def test_every_row_is_as_wide_as_the_window(size: tuple[int, int]) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        diff(app).show(word_diff("\n".join(BEFORE), "\n".join(AFTER)))
        diff(app).focus()
        for key in ("n", "u", "end", "n"):
            await pilot.press(key)
            assert all(strip.cell_length == size[0] for strip in app.screen._compositor.render_strips())

    run(lambda: [WordDiff()], scenario, size)


TEXT = st.lists(st.sampled_from(["a", "b ", "\n", "¶"]), max_size=30).map("".join)


@given(st.lists(st.builds(Segment, st.sampled_from(Kind), TEXT), max_size=8))
def test_lines_hold_every_character_of_the_segments(segments: list[Segment]) -> None:
    shown = "".join(line.text for line in diff_lines(segments))
    for sign in "ab":
        assert shown.count(sign) == sum(segment.text.count(sign) for segment in segments)
    folded = fold(diff_lines(segments), 1)
    assert sum(line.folded or 1 for line in folded) == len(diff_lines(segments))
    assert [line for line in folded if line.changed] == [line for line in diff_lines(segments) if line.changed]


def test_spaces_that_were_changed_are_seen() -> None:
    shown = "".join(line.text for line in diff_lines(word_diff("the right  letter", "the right letter")))
    assert shown == "the right[-··-]{+·+}letter"
