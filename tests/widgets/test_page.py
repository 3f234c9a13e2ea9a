import random

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import SELECT_ALL, Selection

from marginalia_tui.widgets.margin import Mark, MarkKind, Note, columns
from marginalia_tui.widgets.page import Page
from tests.widgets.support import Host, run, seen

SOURCE = """# Chapter Four

The lamp went out *twice* before the keeper climbed the stair, and each time he heard the sea say his name.

"You said the boat would come," the girl told him. "You said it on **Monday**."

***

She wrote the wind down in the ledger. 灯台守は海を見ていた。
"""


def book(words: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    vocabulary = ["the", "quick", "lamp", "*sea*", "and", "then", "“home”", "—", "to", "rest", "beneath"]
    paragraphs = []
    while words > 0:
        size = rng.randint(20, 120)
        words -= size
        paragraphs.append(" ".join(rng.choice(vocabulary) for _ in range(size)))
    return "\n\n".join(paragraphs)


def page(app: Host) -> Page:
    return app.query_one(Page)


def test_shows_prose_with_notes_in_line() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        place = SOURCE.index("the sea say")
        note = Note("n", place, place + 11, "Does the sea say it, or does he?", "open")
        page(app).show(SOURCE, [Mark(SOURCE.index("She wrote"), SOURCE.index(" the wind"), MarkKind.CHANGED)], [note])
        await pilot.pause()
        rows = seen(app)
        assert rows[0].strip() == "Chapter Four"
        line = next(row for row in rows if "the sea say" in row)
        assert line.startswith("  1 ")
        assert "│ 1 open Does the sea say it" in line
        assert next(row for row in rows if "She wrote" in row).startswith("  ~ ")
        assert any(row.strip() == "* * *" for row in rows)

    run(lambda: [Page()], scenario, (120, 24))


def test_a_narrow_page_folds_the_margin_to_numbers() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        place = SOURCE.index("Monday")
        page(app).show(SOURCE, notes=[Note("a", 20, 28, "first note"), Note("b", place, place + 6, "second note")])
        page(app).focus()
        await pilot.press("right_square_bracket")
        assert "1 first note" in seen(app)[-1]
        await pilot.press("right_square_bracket")
        rows = seen(app)
        assert rows[-1].strip() == "2 second note"
        assert [row[:4].strip() for row in rows[:-1] if row[:4].strip().isdigit()] == ["1", "2"]
        await pilot.press("enter")
        assert [message.id for message in app.of(Page.NoteHighlighted)] == ["a", "b"]
        assert [message.id for message in app.of(Page.NoteSelected)] == ["b"]

    run(lambda: [Page()], scenario, (60, 20))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
def test_every_row_is_as_wide_as_the_window(size: tuple[int, int]) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        notes = [Note(str(at), at, at + 9, "a long note " * 9) for at in range(0, 900, 30)]
        page(app).show(SOURCE * 30, [Mark(5, 300, MarkKind.ADDED)], notes)
        for _ in range(4):
            await pilot.press("pagedown")
            for strip in app.screen._compositor.render_strips():
                assert strip.cell_length == size[0]
                assert "\x1b" not in strip.text

    run(lambda: [Page()], scenario, size)


def test_columns_never_pass_the_width() -> None:
    for width in range(10, 220):
        for notes in (False, True):
            left, measure, margin = columns(width, notes)
            gutter = 4 if width >= 30 else 2
            assert left + gutter + measure + (margin + 2 if margin else 0) <= width
            assert measure <= 80
            assert margin == 0 or (margin >= 24 and measure >= 50)


def test_f48_a_long_book_is_laid_out_where_it_is_looked_at() -> None:
    source = book(100_000)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(source)
        await pilot.pause()
        assert shown.laid_out < 60
        for _ in range(5):
            await pilot.press("pagedown")
        assert shown.laid_out < 150
        await pilot.press("end")
        assert shown.laid_out < 200
        assert seen(app)[-1].strip().endswith(source[-20:].replace("*", "").split()[-1])
        await pilot.press("home")
        assert shown.top_offset == 0

    run(lambda: [Page()], scenario, (100, 40))


def test_offsets_and_lines_agree_wherever_the_reader_goes() -> None:
    source = book(20_000, seed=4)
    rng = random.Random(7)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(source)
        for _ in range(30):
            offset = rng.randrange(len(source))
            shown.scroll_to_offset(offset)
            await pilot.pause()
            block, line = shown.place_of(offset)
            top_block, top_line = shown.position()
            at_end = shown.top >= shown.max_scroll_y
            assert (block, line) == (top_block, top_line) or at_end
            before, after = shown.top_offset, shown.line_of(shown.top_offset)
            assert after == shown.top
            assert before <= offset or at_end

    run(lambda: [Page()], scenario, (90, 30))


def test_scrolling_up_over_guessed_heights_does_not_jump() -> None:
    source = "\n\n".join(f"Paragraph {number} " + "灯台守" * (number % 37) for number in range(600))

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(source)
        shown.scroll_to_offset(source.index("Paragraph 400 "))
        await pilot.pause()
        rows = seen(app)
        for _ in range(120):
            shown.action_lines(-1)
            await pilot.pause()
            now = seen(app)
            assert now[1:] == rows[:-1]
            rows = now

    run(lambda: [Page()], scenario, (60, 15))


def test_the_place_is_kept_when_the_window_changes() -> None:
    source = book(10_000, seed=9)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(source)
        offset = len(source) // 2
        shown.scroll_to_offset(offset)
        for width in (50, 120, 80):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            block, line = shown.place_of(offset)
            start = shown.heights.start(block) + line
            assert shown.top - 3 <= start <= shown.top + shown.page

    run(lambda: [Page()], scenario)


def test_find_sees_through_case_quotes_emphasis_and_line_ends() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        text = "He said: “Don’t *you* dare”.\nAnd don't\nyou dare again. DON’T YOU DARE."
        shown.show(text)
        assert [text[a:b] for a, b in shown.find("don't you dare")] == [
            "Don’t *you* dare",
            "don't\nyou dare",
            "DON’T YOU DARE",
        ]
        assert shown.find(".*") == []
        assert shown.find("  ") == []
        shown.find("dare")
        shown.focus()
        await pilot.press("n", "n")
        assert (shown.hit, app.of(Page.Found)[-1].current) == (2, 3)
        await pilot.press("n")
        assert shown.hit == 0
        await pilot.press("N")
        assert shown.hit == 2

    run(lambda: [Page()], scenario)


def test_a_hit_out_of_sight_is_brought_into_sight() -> None:
    source = book(5_000) + "\n\nThe needle lies here."

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        page(app).show(source)
        page(app).find("needle lies")
        await pilot.pause()
        assert any("needle lies" in row for row in seen(app))

    run(lambda: [Page()], scenario)


def test_other_marks_leave_the_reader_where_they_are() -> None:
    source = book(5_000)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(source, offset=len(source) // 2)
        await pilot.pause()
        here, laid = shown.top_offset, shown.laid_out
        shown.mark([Mark(here, here + 20, MarkKind.CONFLICT, "conflict")])
        await pilot.pause()
        assert (shown.top_offset, shown.laid_out) == (here, laid)
        assert seen(app)[0].startswith("  ! ")

    run(lambda: [Page()], scenario)


def test_what_is_selected_is_copied_without_gutter_and_margin() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        shown.show(SOURCE, notes=[Note("n", 20, 30, "not to be copied")])
        await pilot.pause()
        whole = shown.get_selection(SELECT_ALL)
        assert whole is not None
        assert whole[0].startswith("Chapter Four\n\nThe lamp went out twice before")
        assert "not to be copied" not in whole[0]
        some = shown.get_selection(Selection(Offset(4, 1), Offset(7, 2)))
        assert some is not None
        assert some[0].startswith("lamp went") and some[0].endswith('name.\n\n"You sa')
        rows = seen(app)
        y = next(number for number, row in enumerate(rows) if "The lamp" in row)
        x = rows[y].index("lamp")
        await pilot.mouse_down(offset=(x, y))
        await pilot.hover(offset=(x + 8, y))
        await pilot.mouse_up(offset=(x + 8, y))
        assert app.screen.get_selected_text() == "lamp went"
        await pilot.resize_terminal(44, 24)
        assert app.screen.get_selected_text() == "lamp went"

    run(lambda: [Page()], scenario, (120, 24))


def test_a_click_tells_the_place_in_the_source() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        page(app).show(SOURCE)
        await pilot.pause()
        rows = seen(app)
        y = next(number for number, row in enumerate(rows) if "twice" in row)
        await pilot.click(offset=(rows[y].index("twice"), y))
        assert [message.offset for message in app.of(Page.PlaceClicked)] == [SOURCE.index("twice")]

    run(lambda: [Page()], scenario)


def test_markup_and_escapes_are_text() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        page(app).show("[bold red]no[/] \x1b[31mno\x07 [link=http://x]no[/link]", notes=[Note("n", 0, 3, "[b]\x1b[0m")])
        await pilot.pause()
        text = "\n".join(seen(app))
        assert "[bold red]no[/] ␛[31mno␇ [link=http://x]no[/link]" in text
        assert "[b]␛[0m" in text
        assert "\x1b" not in text

    run(lambda: [Page()], scenario, (120, 24))


def test_a_text_may_be_empty_and_replaced() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        for text in ("", "\n\n", SOURCE, "", "x"):
            page(app).show(text)
            page(app).find("x")
            await pilot.press("end", "home", "pagedown", "n")
        assert seen(app)[0].strip() == "x"

    run(lambda: [Page()], scenario)


def test_a_place_asked_for_before_the_first_layout_is_kept() -> None:
    source = book(5_000)
    shown = Page()
    shown.show(source, offset=len(source) // 2)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        assert shown.place_of(len(source) // 2) == shown.position()

    run(lambda: [shown], scenario)


def test_keys_without_something_to_do_are_left_to_the_screen() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        pressed: list[str] = []
        for key in ("n", "N", "enter", "left_square_bracket"):
            app.bind(key, f"note_key('{key}')")
        app.action_note_key = lambda key: pressed.append(key)  # type: ignore[attr-defined]
        page(app).show(SOURCE)
        page(app).focus()
        await pilot.press("n", "N", "enter", "left_square_bracket")
        assert pressed == ["n", "N", "enter", "left_square_bracket"]
        page(app).find("the")
        await pilot.press("n")
        assert len(pressed) == 4

    run(lambda: [Page()], scenario)


def test_the_words_of_a_mark_stand_in_the_margin_where_no_note_does() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        at = SOURCE.index("She wrote")
        marks = [Mark(at, at + 9, MarkKind.AGENT, "Copyeditor, round 14")]
        page(app).show(SOURCE, marks)
        await pilot.pause()
        row = next(row for row in seen(app) if "She wrote" in row)
        assert row.startswith("  a ") and row.endswith("Copyeditor, round 14")
        page(app).mark(marks, [Note("n", at, at + 3, "A note goes first.")])
        await pilot.pause()
        assert "│ 1 A note goes first." in next(row for row in seen(app) if "She wrote" in row)

    run(lambda: [Page()], scenario, (120, 24))


def test_lines_below_a_text_are_no_places_of_it() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = page(app)
        for source in ("One line.\n\nAnother ![the map](pics/map.png), ![](b.png).", ""):
            shown.show(source, below=("Images", "  map.png  PNG"))
            await pilot.pause()
            rows = [row.strip() for row in seen(app) if row.strip()]
            assert rows[-2:] == ["Images", "map.png  PNG"]
            last = shown.block_count() - 1
            read = shown.prose(last)
            assert {read.to_source(place) for place in range(len(read.text) + 1)} == {len(source)}
            assert shown.find("Images") == []
            shown.scroll_to_offset(len(source) + 9)
        shown.show("One line.\n\nAnother ![the map](pics/map.png), ![](b.png).")
        await pilot.pause()
        assert [row.strip() for row in seen(app) if row.strip()][-1] == "Another [map.png: the map], [b.png]."

    run(lambda: [Page()], scenario, (80, 24))
