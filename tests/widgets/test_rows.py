from dataclasses import replace

import pytest
from textual.pilot import Pilot

from marginalia_tui.widgets.outline import Outline, Part
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table, widths
from tests.widgets.support import Host, run, seen


def parts(count: int) -> list[Part]:
    return [
        Part(f"p{number}", number, f"Chapter {number} of 灯台", number * 7, swipes=3 if number == 3 else 1, swipe=2)
        for number in range(1, count + 1)
    ]


def outline(app: Host) -> Outline:
    return app.query_one(Outline)


def test_twenty_thousand_parts_cost_what_is_seen() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        outline(app).show(parts(20_000))
        await pilot.pause()
        assert outline(app).strips_made <= 24
        assert seen(app)[2].split() == ["3", "Chapter", "3", "of", "灯台", "2/3", "21"]
        await pilot.press("end")
        assert outline(app).strips_made < 80
        assert seen(app)[-1].startswith(">20000 Chapter 20000")
        assert app.of(RowView.Highlighted)[-1].key == "p20000"

    run(lambda: [Outline()], scenario, (60, 20))


def test_keys_move_select_and_go_to_a_number() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        outline(app).show(parts(500))
        outline(app).focus()
        await pilot.press("j", "j", "k", "enter")
        assert [message.key for message in app.of(RowView.Selected)] == ["p2"]
        await pilot.press("1", "2", "0")
        assert outline(app).current_key == "p120"
        assert any(row.startswith(">120 ") for row in seen(app))
        await pilot.press("home", "pagedown")
        assert outline(app).cursor == 19
        await pilot.press("up", "home", "up")
        assert outline(app).cursor == 0

    run(lambda: [Outline()], scenario, (60, 20))


def test_numbers_are_whole_in_any_order_and_titles_go_before_words() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        found = [parts(12)[number - 1] for number in (1, 12, 10, 2)]
        outline(app).show(found)
        await pilot.pause()
        assert [row[:4] for row in seen(app)[:4]] == ["> 1 ", " 12 ", " 10 ", "  2 "]
        assert seen(app)[1].split()[-1] == "84"
        outline(app).show([replace(part, title="The long way to a harbour") for part in found])
        await pilot.pause()
        assert all(row.endswith("The long way to a harbour") for row in seen(app)[:4])

    run(lambda: [Outline()], scenario, (33, 20))


def test_find_by_typing() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        outline(app).show(parts(300))
        outline(app).focus()
        await pilot.press("f", "k", "j", "backspace", "backspace", *"chapter 25")
        assert seen(app)[-1].startswith("find: chapter 25_")
        assert outline(app).current_key == "p25"
        await pilot.press("down")
        assert outline(app).current_key == "p250"
        await pilot.press("escape", "j")
        assert outline(app).current_key == "p251"
        assert not seen(app)[-1].startswith("find")

    run(lambda: [Outline()], scenario, (60, 20))


def test_the_cursor_stays_on_its_part_when_the_rows_change() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        outline(app).show(parts(30), key="p9")
        await pilot.pause()
        outline(app).show(parts(30)[4:])
        assert outline(app).current_key == "p9"
        outline(app).show(parts(3))
        assert outline(app).current_key == "p3"
        outline(app).show([])
        assert outline(app).current_key is None
        await pilot.press("enter", "j", "f", "x", "down")
        assert not app.of(RowView.Selected)

    run(lambda: [Outline(empty="No parts yet.\nPress n.")], scenario, (40, 12))


def test_an_empty_list_says_what_to_do() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        assert [row.strip() for row in seen(app)[:2]] == ["No parts yet.", "Press n."]

    run(lambda: [Outline(empty="No parts yet.\nPress n.")], scenario, (40, 12))


def test_the_mouse_moves_the_cursor_and_a_second_click_selects() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        outline(app).show(parts(30))
        await pilot.click(offset=(5, 4))
        assert outline(app).current_key == "p5"
        await pilot.double_click(offset=(5, 4))
        assert [message.key for message in app.of(RowView.Selected)] == ["p5"]

    run(lambda: [Outline()], scenario, (40, 12))


COLUMNS = (
    Column("Title", grow=1, minimum=8),
    Column("Kind", drop=1),
    Column("Fields", grow=1, minimum=6, drop=2),
    Column("Words", "right"),
)


def table() -> Table:
    return Table(COLUMNS)


ROWS = [
    Row("a", ("Chapter III", "part", "text, pov", "4,871"), "on"),
    Row("b", ("Renfield [b]", "lore", "text", "120"), "conflict", "conflict"),
    Row("c", ("灯台守は海を見ていた" * 9, "part", "title\x1b[2J", "0"), "off", "muted"),
]


def test_a_table_shows_marks_and_aligns() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = app.query_one(Table)
        shown.show(ROWS)
        shown.focus()
        await pilot.press("space", "j", "j", "space", "enter")
        rows = seen(app)
        assert rows[0].split() == ["Title", "Kind", "Fields", "Words"]
        assert rows[1].startswith(" [x] Chapter III") and rows[1].endswith("4,871")
        assert rows[2].startswith(" [!] Renfield [b]")
        assert rows[3].startswith(">[ ] 灯台守") and "␛[2J" in rows[3] and "…" in rows[3]
        assert [message.key for message in app.of(Table.Toggled)] == ["a", "c"]
        assert [message.key for message in app.of(RowView.Selected)] == ["c"]

    run(lambda: [table()], scenario)


def test_clicks_on_a_mark_and_on_a_title() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.query_one(Table).show(ROWS)
        await pilot.pause()
        await pilot.click(offset=(2, 2))
        assert [message.key for message in app.of(Table.Toggled)] == ["b"]
        await pilot.double_click(offset=(8, 1))
        assert [message.key for message in app.of(RowView.Selected)] == ["a"]
        await pilot.click(offset=(seen(app)[0].index("Words") + 2, 0))
        assert [message.column for message in app.of(Table.HeaderClicked)] == [3]

    run(lambda: [table()], scenario)


@pytest.mark.parametrize("room", range(1, 120))
def test_column_widths_fit(room: int) -> None:
    given = widths(COLUMNS, ROWS, room)
    shown = [size for size in given if size]
    assert shown
    least = 8 + 1 + 5
    if room >= least:
        assert sum(shown) + len(shown) - 1 == room
    if room >= 60:
        assert len(shown) == len(COLUMNS)


def test_a_column_that_is_empty_gives_way_before_anything_is_cut_off() -> None:
    columns = [Column("Model", grow=1, minimum=4), Column("Server", drop=1), Column("Key", drop=2), Column("Id")]
    rows = [Row("x", ("proofreader", " ", "set", "")), Row("y", ("p", "", "", ""))]
    assert widths(columns, rows, 26) == [12, 6, 3, 2]
    assert widths(columns, rows, 24) == [17, 0, 3, 2]
    assert widths(columns, [], 24) == [10, 6, 3, 2]


def test_columns_without_growth_keep_their_width() -> None:
    columns = (Column("A", width=5), Column("B"))
    assert widths(columns, [Row("x", ("1", "four"))], 80) == [5, 4]


def test_a_column_with_room_to_spare_gives_it_to_one_that_is_cut_off() -> None:
    columns = [Column("Title", grow=3, minimum=8), Column("Tags", grow=1, minimum=4), Column("n", "right")]
    rows = [Row("x", ("The Lamp", "light, oil, stair", "3"))]
    assert widths(columns, rows, 32) == [12, 17, 1]
    assert widths(columns, rows, 24) == [8, 13, 1]
    assert widths(columns, [Row("x", ("The Lamp", "oil", "3"))], 32) == [21, 8, 1]
