from pathlib import Path

from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.decide import Decide
from marginalia_tui.screens.edit import EditScreen
from tests.screens.rig import Rig, lamp_home, play


async def open_editor(rig: Rig) -> EditScreen:
    await rig.press("enter")
    await rig.reach(BookScreen)
    await rig.until(lambda: rig.sees("The lamp went out at nine."))
    await rig.press("e")
    return await rig.reach(EditScreen)


def test_save(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_editor(rig)
        await rig.until(lambda: rig.sees("15 words  saved"))
        await rig.write("Yes. ")
        await rig.until(lambda: rig.sees("16 words  not saved"))
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("16 words  saved"))
        assert not screen.changed
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("Yes. The lamp went out at nine."))
        await rig.press("u")
        await rig.until(lambda: not rig.sees("Yes."))
        assert rig.notices[-1] == "Undone: edit of a part (1 item)."

    play(home, steps)


def test_words_that_are_counted_while_the_editor_goes_do_no_harm(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_editor(rig)
        # A screen that is taken away is without its fields before it is gone itself.
        await screen.query_one("#sheet").remove()
        await screen._count()
        await screen._keep()
        title, text = screen.content
        assert title == "The Lamp" and text.startswith("The lamp went out at nine.")

    play(home, steps)


def test_the_line_of_keys_shows_keys_that_were_changed(home: Path) -> None:
    lamp_home(home)
    (home / "settings.json").write_text('{"keymap": {"book.edit": "E", "edit.focus": "f11"}}')

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees(" E edit  n next"))
        await rig.press("E")
        await rig.reach(EditScreen)
        # Behind the others of its screen, though the text has a use for the key too.
        await rig.until(lambda: rig.sees("Esc close") and rig.sees("F11 focus"))
        assert not rig.sees("F6")

    play(home, steps, size=(160, 40))


def test_the_title_is_edited_beside_the_text(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_editor(rig)
        await rig.press("ctrl+t", "end")
        await rig.write(" II")
        await rig.press("enter", "ctrl+s", "escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("1  The Lamp II"))

    play(home, steps)


def test_leaving_asks_when_something_is_not_saved(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_editor(rig)
        await rig.write("No. ")
        await rig.press("escape")
        await rig.reach(Decide)
        await rig.press("escape")
        screen = await rig.reach(EditScreen)
        assert screen.area.content.startswith("No. ")
        await rig.press("escape")
        await rig.reach(Decide)
        await rig.press("d")
        await rig.reach(BookScreen)
        assert rig.sees("The lamp went out at nine.") and not rig.sees("No. The lamp")
        await rig.press("e")
        screen = await rig.reach(EditScreen)
        assert screen.area.content.startswith("The lamp")
        await rig.write("So. ")
        await rig.press("escape")
        await rig.reach(Decide)
        await rig.press("s")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("So. The lamp went out"))

    play(home, steps)


def test_f42_what_was_typed_survives_a_crash_and_is_offered(home: Path) -> None:
    lamp_home(home)

    async def crash(rig: Rig) -> None:
        await open_editor(rig)
        await rig.write("Kept. ")
        desk, book = rig.desk, rig.app.opened
        assert book is not None
        await rig.until(lambda: (view := desk.book.look(book)) and view.parts[0].draft, "the draft is kept")
        # Nothing is put away: as after a kill.
        rig.app.exit()

    async def again(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("15 *"))
        assert any("e on that part offers it" in notice for notice in rig.notices)
        await rig.press("e")
        await rig.reach(Decide)
        assert rig.sees("was not saved is kept")
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.press("e")
        await rig.reach(Decide)
        await rig.press("g")
        screen = await rig.reach(EditScreen)
        assert screen.area.content.startswith("Kept. The lamp")
        assert screen.changed
        await rig.press("ctrl+s", "escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("Kept. The lamp went out"))
        await rig.until(lambda: not rig.sees("16 *"))

    async def calm(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("e")
        await rig.reach(EditScreen)

    play(home, crash)
    play(home, again)
    play(home, calm)


def test_quitting_at_once_keeps_what_was_typed(home: Path) -> None:
    lamp_home(home)

    async def quit(rig: Rig) -> None:
        await open_editor(rig)
        await rig.pilot.press("K")
        await rig.pilot.press("ctrl+q")
        await rig.until(lambda: rig.app._exit)

    async def again(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("e")
        await rig.reach(Decide)
        await rig.press("g")
        screen = await rig.reach(EditScreen)
        assert screen.area.content.startswith("KThe lamp")

    play(home, quit)
    play(home, again)


def test_another_mode_and_back_keeps_the_editor(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_editor(rig)
        await rig.write("Here. ")
        await rig.press("f2", "f3")
        screen = await rig.reach(EditScreen)
        assert screen.area.content.startswith("Here. ")
        assert screen.area.has_focus

    play(home, steps)


def test_f24_a_part_that_was_changed_meanwhile_is_not_written_over_unasked(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_editor(rig)
        await rig.write("Mine. ")
        studio = rig.studio
        await rig.app.call(
            studio.dispatcher.run_line, '/edit-part 1 "at nine" "at ten"', studio.scope(book, AlwaysYes())
        )
        await rig.press("ctrl+s")
        await rig.reach(Decide)
        assert rig.sees("changed elsewhere")
        await rig.press("escape")
        await rig.reach(EditScreen)
        assert screen.changed
        await rig.press("ctrl+s")
        await rig.reach(Decide)
        await rig.press("o")
        await rig.until(lambda: not screen.changed)
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("Mine. The lamp went out at nine."))

    play(home, steps)


def test_keys_of_the_app_are_letters_in_the_editor(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_editor(rig)
        await rig.write("q/LBAS? ")
        assert screen.area.content.startswith("q/LBAS? ")
        await rig.press("ctrl+o")
        await rig.until(lambda: rig.sees("> /"))
        await rig.press("escape")
        assert screen.area.has_focus

    play(home, steps)
