from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.branches import BranchScreen
from marginalia_tui.screens.edit import EditScreen
from marginalia_tui.screens.finding import Finding
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form
from tests.screens.rig import Rig, add_book, lamp_home, play


async def open_lamp(rig: Rig) -> BookScreen:
    await rig.press("enter")
    screen = await rig.reach(BookScreen)
    await rig.until(lambda: rig.sees("The lamp went out at nine."))
    return screen


def test_outline_and_page(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)
        assert rig.lines()[0].strip().endswith("The Lamp  3 parts  38 words")
        assert rig.sees("1  The Lamp") and rig.sees("15 words")
        assert rig.sees("for the oil was gone")
        await rig.press("down")
        assert rig.sees("She counted the steps")
        await rig.press("n")
        assert rig.sees("The door stood open.")
        await rig.press("n")
        assert rig.sees("The door stood open.")
        await rig.press("p", "1")
        assert rig.sees("The lamp went out")

    play(home, steps)


def test_a_long_book_is_there_at_once(home: Path) -> None:
    with closing(Store.open(home)) as store:
        add_book(store, "Long", [(f"Part {number}", f"Words of part {number}.") for number in range(1, 2001)])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        screen = await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("2,000 parts"))
        assert len(screen.outline.parts) == 2000
        assert len(list(screen.walk_children())) < 40
        await rig.press("end")
        await rig.until(lambda: rig.sees("Words of part 2000."))

    play(home, steps)


def test_going_through_the_outline_fast_shows_the_last_part(home: Path) -> None:
    with closing(Store.open(home)) as store:
        add_book(store, "Long", [(f"Part {number}", f"Words of part {number}.") for number in range(1, 101)])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.pilot.press(*["down"] * 60)
        await rig.until(lambda: rig.sees("Words of part 61."))

    play(home, steps)


def test_pages_go_on_into_the_next_part_and_back(home: Path) -> None:
    with closing(Store.open(home)) as store:
        long = "\n\n".join(f"Paragraph {number}." for number in range(60))
        add_book(store, "Two", [("One", long), ("Two", "The second part.")])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        screen = await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("Paragraph 0."))
        await rig.press("enter", "end", "space")
        await rig.until(lambda: rig.sees("The second part."))
        assert screen.page.has_focus
        await rig.press("pageup")
        await rig.until(lambda: rig.sees("Paragraph 59."))

    play(home, steps)


def test_where_the_reader_stood_in_a_part_is_kept(home: Path) -> None:
    with closing(Store.open(home)) as store:
        long = "\n\n".join(f"Paragraph {number}." for number in range(60))
        add_book(store, "Two", [("One", long), ("Two", "The second part.")])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        screen = await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("Paragraph 0."))
        await rig.press("enter", "pagedown", "pagedown")
        place = screen.page.top_offset
        assert place > 0
        await rig.press("n")
        await rig.until(lambda: rig.sees("The second part."))
        await rig.press("p")
        await rig.until(lambda: screen.page.top_offset == place)

    play(home, steps)


def test_a_narrow_terminal_shows_outline_or_page(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        assert rig.sees("The Stair") and not rig.sees("She counted")
        await rig.press("down", "enter")
        await rig.until(lambda: rig.sees("She counted"))
        assert not rig.sees("The Door")
        await rig.press("escape")
        await rig.until(lambda: rig.sees("The Door"))

    play(home, steps, size=(44, 14))


def test_the_outline_can_be_folded(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_lamp(rig)
        await rig.press("o")
        assert not rig.sees("The Stair") and screen.page.has_focus
        await rig.press("o")
        assert rig.sees("The Stair") and screen.outline.has_focus

    play(home, steps)


# Finding


def test_find_goes_through_all_parts_and_round_the_end(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_lamp(rig)
        await rig.press("ctrl+f")
        await rig.write("lamp")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("1 of 2"))
        assert screen.page.has_focus
        await rig.press("n")
        await rig.until(lambda: rig.sees("2 of 2") and rig.sees("She counted"))
        await rig.press("n")
        await rig.until(lambda: rig.sees("1 of 2") and rig.sees("went out at nine"))
        await rig.press("N")
        await rig.until(lambda: rig.sees("2 of 2"))
        await rig.press("escape")
        await rig.until(lambda: not rig.sees("2 of 2"))
        assert not screen.page.hits
        await rig.press("n")
        await rig.until(lambda: rig.sees("The door stood open."))

    play(home, steps)


def test_find_through_markdown_and_nothing(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_lamp(rig)
        await rig.press("ctrl+f")
        await rig.write("the oil was")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("1 of 1"))
        assert len(screen.page.hits) == 1
        await rig.press("ctrl+f")
        await rig.write("elephant")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("not in this branch"))

    play(home, steps)


def test_where_a_search_begins() -> None:
    from marginalia_tui.desk.book import Place

    places = [Place("a", 3, 5), Place("b", 1, 2), Place("b", 9, 10)]
    finding = Finding("x", places)
    assert finding.begin(["a", "b", "c"], "b", 5) == places[2]
    assert finding.begin(["a", "b", "c"], "c", 0) == places[0]
    assert finding.begin(["a", "b", "c"], None, 0) == places[0]
    assert finding.step(-1) == places[2]
    assert Finding("x", []).begin(["a"], "a", 0) is None


# Versions, branches, changes


def test_a_new_version_and_the_way_between_versions(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)
        await rig.press("left")
        assert any("one version" in notice for notice in rig.notices)
        await rig.press("2", "s")
        await rig.until(lambda: rig.sees("version 2 of 2"))
        assert "branch 2 of 2" in rig.lines()[0]
        assert not rig.sees("The Door")
        await rig.press("left")
        await rig.until(lambda: rig.sees("version 1 of 2") and rig.sees("The Door"))
        assert "branch 1 of 2" in rig.lines()[0]
        await rig.press("v")
        await rig.reach(BranchScreen)
        assert rig.sees("read now")
        await rig.press("down", "enter")
        await rig.until(lambda: "branch 2 of 2" in rig.lines()[0])

    play(home, steps)


def test_a_new_part_follows_the_one_that_is_read_and_is_opened(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await open_lamp(rig)
        await rig.press("a")
        await rig.reach(Ask)
        await rig.write("Between")
        await rig.press("enter")
        await rig.reach(EditScreen)
        await rig.write("So it was.")
        await rig.press("ctrl+s", "escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("So it was."))
        assert [part.title for part in screen.outline.parts] == ["The Lamp", "Between", "The Stair", "The Door"]

    play(home, steps)


def test_the_first_part_of_an_empty_book(home: Path) -> None:
    with closing(Store.open(home)) as store:
        add_book(store, "Empty", [])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        assert rig.sees("This book has no parts")
        await rig.press("e", "d", "n", "a")
        await rig.reach(Ask)
        await rig.press("enter")
        await rig.reach(EditScreen)
        await rig.press("escape")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("1 part"))

    play(home, steps)


def test_delete_asks_and_undo_and_redo_follow(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)
        await rig.press("2", "d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.reach(BookScreen)
        await rig.until(lambda: not rig.sees("The Stair"))
        await rig.press("u")
        await rig.until(lambda: rig.sees("The Stair"))
        await rig.press("ctrl+r")
        await rig.until(lambda: not rig.sees("The Stair"))
        await rig.press("u", "u")
        await rig.until(lambda: any("nothing to undo" in notice or "import" in notice for notice in rig.notices))

    play(home, steps)


def test_the_facts_of_the_book(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)
        await rig.press("i")
        await rig.reach(Form)
        await rig.write(" II")
        await rig.press("tab")
        await rig.write("Ann")
        await rig.press("ctrl+s")
        await rig.reach(BookScreen)
        await rig.until(lambda: "The Lamp II" in rig.lines()[0])
        assert (await rig.app.call(rig.desk.book.facts, rig.app.opened)).author == "Ann"

    play(home, steps)


def test_copy_says_which_way_it_took(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)
        await rig.press("c")
        await rig.until(lambda: rig.notices)
        assert "OSC 52" in rig.notices[0]

    play(home, steps)


def test_a_change_made_elsewhere_is_seen(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        await open_lamp(rig)

        def elsewhere() -> None:
            from marginalia_tui.commands.context import AlwaysYes

            with closing(Store.open(home)):
                studio = rig.studio
                studio.dispatcher.run_line('/edit-part 1 "at nine" "at ten"', studio.scope(book, AlwaysYes()))

        await rig.app.call(elsewhere)
        await rig.until(lambda: rig.sees("The lamp went out at ten."))

    play(home, steps)


def test_the_book_that_was_open_last_is_opened_again(home: Path) -> None:
    lamp_home(home)

    async def first(rig: Rig) -> None:
        await open_lamp(rig)

    async def second(rig: Rig) -> None:
        await rig.press("f3")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("The lamp went out at nine."))

    play(home, first)
    play(home, second)


@pytest.mark.parametrize("key", ["e", "d", "s", "u", "a"])
def test_keys_do_nothing_when_no_book_is_open(home: Path, key: str) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("f3")
        assert rig.sees("No book is open")
        await rig.press(key)
        assert isinstance(rig.app.screen, BookScreen)
        assert not rig.notices

    play(home, steps)
