"""The form for all options of a command."""

from pathlib import Path

import pytest
from textual.widgets import Static

from marginalia_tui.domain.items import Part
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.commandform import CommandForm, RunButton
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.widgets.commandbar import CommandBar
from marginalia_tui.widgets.editor import SubmitArea
from tests.screens.rig import FixedClock, Rig, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing


async def to_form(rig: Rig, line: str, key: str = "ctrl+g") -> CommandForm:
    await rig.press("enter")
    await rig.reach(BookScreen)
    await rig.press("slash", "backspace")
    await rig.write(line)
    await rig.press(key)
    return await rig.reach(CommandForm)


def bar(rig: Rig) -> CommandBar:
    return rig.app.screen.query_one(CommandBar)


def preview(form: CommandForm) -> str:
    return str(form.query_one("#form-line", Static).visual)


@pytest.mark.parametrize("key", ["ctrl+g", "ctrl+enter"])
def test_what_is_typed_stands_in_the_form_and_the_rest_is_filled_in(home: Path, key: str) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, '/find-occurrences "the lamp"', key)
        assert rig.sees("/find-occurrences") and rig.sees("reads")
        assert rig.sees("pattern *") and rig.sees("the lamp") and rig.sees("< text >")
        assert preview(form) == '/find-occurrences "the lamp"'
        # The first field that was not typed has the focus.
        await rig.press("right")
        assert rig.sees("< word >")
        assert preview(form) == '/find-occurrences "the lamp" word'
        await rig.press("ctrl+s")
        await rig.reach(ResultScreen)
        assert rig.sees('/find-occurrences "the lamp" word')
        await rig.press("escape")
        await rig.reach(BookScreen)
        assert not bar(rig).is_open and bar(rig).line.content == ""
        assert rig.desk.bar.history()[-1] == '/find-occurrences "the lamp" word'

    play(home, steps)


def test_what_does_not_fit_is_said_while_it_is_typed(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/list-parts ?", "enter")
        await rig.press("down", "down")
        await rig.write("2000")
        assert rig.sees("the argument limit is a whole number from 1 to 200")
        await rig.press("ctrl+s")
        assert rig.app.screen is form
        await rig.press("backspace")
        assert not rig.sees("error:")
        assert preview(form) == '/list-parts "" "" 200'
        await rig.press("enter")
        assert isinstance(form.focused, RunButton)
        await rig.press("enter")
        await rig.reach(ResultScreen)

    play(home, steps)


def test_what_is_needed_is_asked_for_and_no_line_is_lost(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/append-to-part", "ctrl+g")
        await rig.press("tab")
        await rig.write("First.")
        await rig.press("ctrl+j")
        await rig.write("Second.")
        await rig.press("ctrl+s")
        assert rig.app.screen is form and rig.sees("This is needed.")
        # The first wrong field has the focus.
        await rig.write("3")
        await rig.press("ctrl+s")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.notices)
        with rig.studio.store.read() as tx:
            space = tx.space(LIBRARY)
            texts = [part.text for part in space.get_many(Part, [row.uuid for row in space.outline(book)]).values()]
        assert any(text.endswith("First.\nSecond.") for text in texts)

    play(home, steps)


def test_fields_propose_what_could_stand_in_them(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/get-part ?", "enter")
        await rig.until(lambda: rig.sees("Right takes 1 "))
        field = form.focused
        assert isinstance(field, SubmitArea)
        await rig.write("stair")
        await rig.until(lambda: rig.sees("Right takes 2 The Stair"))
        await rig.press("right")
        assert field.content == "2" and preview(form) == "/get-part 2"
        # Where nothing is proposed, and inside of a text, Right moves.
        await rig.press("tab", "tab")
        await rig.until(lambda: not rig.sees("Right takes"))
        await rig.write("12")
        await rig.press("home", "right", "delete")
        assert form._text(2) == "1"

    play(home, steps)


def test_leaving_the_form_puts_what_was_filled_in_back_into_the_bar(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_form(rig, "/edit-part 2")
        await rig.write("steps")
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: bar(rig).line.content == '/edit-part 2 steps ""')
        assert bar(rig).is_open
        await rig.press("ctrl+g")
        await rig.reach(CommandForm)
        await rig.press("escape")
        await rig.reach(BookScreen)
        assert bar(rig).line.content == '/edit-part 2 steps ""'

    play(home, steps)


def test_a_name_that_is_only_begun_gives_the_form_of_the_marked_command(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("slash")
        await rig.write("occurr")
        await rig.until(lambda: bar(rig).choices.choices)
        await rig.press("ctrl+g")
        form = await rig.reach(CommandForm)
        assert form._sheet.name == "find-occurrences"
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.write("zzzz")
        await rig.until(lambda: not bar(rig).choices.choices)
        await rig.press("ctrl+g")
        await rig.until(lambda: rig.notices)
        assert "Type the name of a command first" in rig.notices[0]

    play(home, steps)


def test_another_form_keeps_what_both_have(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        from tests.commands import forms

        rig.studio.registry.register(forms)
        form = await to_form(rig, "/aim left true")
        assert rig.sees("form") and rig.sees("2 of 3") and rig.sees("[x] yes") and rig.sees("Aims at a side.")
        form.query_one("#form-which").focus()
        await rig.press("right")
        await rig.until(lambda: rig.sees("day *"))
        assert rig.sees("Aims on a day.") and not rig.sees("[x] yes")
        await rig.press("tab")
        await rig.write("2026-02-30")
        assert rig.sees("day is a date")
        await rig.press("up", "left")
        await rig.until(lambda: rig.sees("[x] yes"))
        assert preview(form) == "/aim left true"

    play(home, steps)


def test_a_command_without_arguments_has_a_button_only(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/list-branches", "ctrl+g")
        await rig.press("escape")
        await rig.reach(BookScreen)
        bar(rig).open("/undo")
        await rig.press("ctrl+g")
        form = await rig.reach(CommandForm)
        assert isinstance(form.focused, RunButton)
        await rig.press("enter")
        await rig.until(lambda: rig.notices)

    play(home, steps)


@pytest.mark.parametrize("size", [(40, 14), (40, 12), (80, 24)])
def test_the_form_can_be_filled_in_in_small_terminals(home: Path, size: tuple[int, int]) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/search-replace-parts lamp oil")
        for _ in form._shape.fields:
            await rig.press("tab")
            await rig.settle()
            focused = form.focused
            assert focused is not None
            assert form.region.contains_region(focused.region), focused
            assert rig.sees("Run")

    play(home, steps, size=size)


def test_a_text_of_a_million_characters_holds_nothing_up(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        form = await to_form(rig, "/append-to-part 1")
        area = form.focused
        assert area is not None
        area.paste('"a b" ' * 200_000)  # type: ignore[attr-defined]
        await rig.settle()
        assert len(preview(form)) < 1_000

    play(home, steps)


@pytest.mark.parametrize("size", [(80, 24), (40, 14)], ids=["80x24", "40x14"])
def test_picture_of_the_form(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        keys = ("enter", "slash", "~search-replace-parts lamp oil wrod", "ctrl+g", "down", "~0")
        assert snap_compare(app, terminal_size=size, run_before=before(app, *keys))


@pytest.mark.parametrize("size", [(80, 24), (40, 14)], ids=["80x24", "40x14"])
def test_picture_of_the_search_for_old_lines(home: Path, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    lamp_home(home, FixedClock())
    (home / "history.json").write_text('["/get-part 1", "/search-parts lamp", "/edit-part 2 oil wax"]')
    with posing(home) as app:
        keys = ("enter", "slash", "ctrl+r", "~part", "ctrl+r")
        assert snap_compare(app, terminal_size=size, run_before=before(app, *keys))
