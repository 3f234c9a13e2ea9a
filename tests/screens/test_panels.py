"""The panels beside the page: notes, summaries, history, who wrote what."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.desk.panels import shares_told, writer_told
from marginalia_tui.domain.items import Annotation, Book, Entry, Lorebook
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.services import versions
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask
from tests.screens.rig import FixedClock, Rig, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing

WIDE = (140, 40)


async def to_book(rig: Rig) -> BookScreen:
    await rig.press("enter")
    return await rig.reach(BookScreen)


async def note(rig: Rig, passage: str, text: str) -> None:
    """Makes a note in the panel of notes."""
    await rig.press("a")
    await rig.reach(Ask)
    await rig.write(passage)
    await rig.press("enter")
    await rig.until(lambda: rig.sees("Note") and not rig.sees("Passage"))
    await rig.write(text)
    await rig.press("enter")
    await rig.reach(BookScreen)


def test_a_note_is_made_shown_in_the_margin_and_closed(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_book(rig)
        await rig.press("m")
        await rig.until(lambda: rig.sees("No notes on this part."))
        await note(rig, "Nobody lit it again", "Who has oil?")
        await rig.until(lambda: rig.sees("Who has oil?") and rig.sees("open"))
        assert [each.text for each in screen.page._notes] == ["Who has oil?"]
        # Enter goes to the passage, the key of the panel back to it.
        await rig.press("enter")
        assert screen.page.has_focus
        await rig.press("m")
        assert screen.panel.table.has_focus
        # On the page, Enter goes to the note that ] went to.
        await rig.press("enter", "right_square_bracket", "enter")
        assert screen.panel.table.has_focus
        await rig.press("t")
        await rig.until(lambda: rig.sees("done") and not screen.page._notes)
        await rig.press("d")
        await rig.until(lambda: rig.sees("y yes"))
        await rig.press("y")
        await rig.until(lambda: rig.sees("No notes on this part."))
        await rig.press("m")
        assert screen.panel.name_shown is None and screen.page.has_focus
        await rig.press("u")
        await rig.until(lambda: rig.sees("Undone"))
        with rig.studio.store.read() as tx:
            found = tx.connection.exec_driver_sql("SELECT uuid FROM annotation").scalars().all()
            assert [note.book for note in tx.space(LIBRARY).get_many(Annotation, found).values()] == [book]

    play(home, steps, size=WIDE)


def test_the_history_of_a_part_is_read_and_an_old_text_comes_back(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_book(rig)
        await rig.press("slash", "backspace")
        await rig.write('edit-part 1 "at nine" "at ten"')
        await rig.press("enter")
        await rig.reach(ResultScreen)
        await rig.press("escape", "h")
        await rig.until(lambda: rig.sees("2 versions of part 1"))
        assert rig.sees("2  you: ") and rig.sees("1  you: ")
        await rig.press("down", "r")
        await rig.until(lambda: rig.sees("3 versions of part 1"))
        await rig.until(lambda: rig.sees("The lamp went out at nine."))
        # The panel follows the outline.
        await rig.press("escape")
        screen.outline.focus()
        await rig.press("h")
        screen.outline.focus()
        await rig.press("down")
        await rig.until(lambda: rig.sees("1 version of part 2"))

    play(home, steps, size=WIDE)


def test_who_wrote_a_part_is_told_with_its_share(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_book(rig)
        await rig.press("w")
        await rig.until(lambda: rig.sees("you 100%"))

    play(home, steps, size=WIDE)


@pytest.mark.parametrize(
    ("counted", "writers", "told"),
    [
        ([("author", 1300)], ["author"], "author 100%"),
        ([("author", 1300)], ["author", "Proofreader"], "author over 99%, Proofreader under 1%"),
        ([("author", 1299), ("Proofreader", 1)], ["author"], "author over 99%, Proofreader under 1%"),
        ([("author", 3), ("Copyist", 1)], ["Copyist", "author"], "author 75%, Copyist 25%"),
        ([], ["author"], ""),
    ],
)
def test_who_wrote_little_is_not_left_out(counted: list[tuple[str, int]], writers: list[str], told: str) -> None:
    assert shares_told(counted, writers) == told


def test_the_signs_beside_a_text_of_several_writers_are_told() -> None:
    you, agent = versions.Act("author"), versions.Act("apply", agent="Copyist")
    model = versions.Act("author", model="parrot")
    assert [writer_told(each, True) for each in (you, agent, model)] == ["you (w)", "Copyist (a)", "parrot (~)"]
    assert writer_told(you, False) == "you"


def test_summaries_tell_whether_they_are_valid(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_book(rig)
        await rig.press("y")
        await rig.until(lambda: rig.sees("No summaries on this branch."))
        await rig.press("slash", "backspace")
        await rig.write('set-summary 2 "A lamp, and a stair."')
        await rig.press("enter")
        await rig.until(lambda: rig.sees("parts 1 to 2, here") and rig.sees("valid"))
        assert rig.sees("A lamp, and a stair.")
        await rig.press("slash", "backspace")
        await rig.write('edit-part 1 "at nine" "at ten"')
        await rig.press("enter")
        await rig.reach(ResultScreen)
        await rig.press("escape")
        await rig.until(lambda: rig.sees("outdated"))
        await rig.press("t")
        await rig.until(lambda: rig.sees("valid") and not rig.sees("outdated"))

    play(home, steps, size=WIDE)


def test_lore_that_is_active_stands_first_with_why(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store, store.write(Act(actor="author", label="lore", book=book)) as tx:
        space = tx.space(LIBRARY)
        lore = Lorebook(uuid="lore", name="The house", created=1)
        entries = [
            Entry(uuid="cat", lorebook="lore", name="Cat", text="It is grey.", filter="cat", created=2),
            Entry(uuid="lamp", lorebook="lore", name="Lamp", text="It burns oil.", filter="lamp", created=3),
            Entry(uuid="always", lorebook="lore", name="Place", text="By the sea.", constant=True, created=4),
        ]
        space.put([lore, *entries, replace(space.get(Book, book), lorebook="lore")])

    async def steps(rig: Rig) -> None:
        screen = await to_book(rig)
        await rig.press("l")
        await rig.until(lambda: rig.sees("2 of 3 entries are active"))
        assert [(row.cells[0], row.cells[1]) for row in screen.panel.table.rows] == [
            ("Lamp", "named here"),
            ("Place", "always"),
            ("Cat", "not named"),
        ]
        assert rig.sees("It burns oil.")

    play(home, steps, size=WIDE)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_in_a_narrow_terminal_the_panel_takes_the_place_of_the_page(home: Path, size: tuple[int, int]) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_book(rig)
        await rig.press("m")
        await note(rig, "Nobody lit it again", "Who has oil?")
        await rig.until(lambda: rig.sees("Who has oil?"))
        assert not rig.sees("2 The Stair") and not rig.sees("The lamp went out")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("Nobody lit it again") and screen.panel.name_shown is None)
        assert screen.page.has_focus
        # From the page too, which comes back behind it.
        await rig.press("h")
        await rig.until(lambda: rig.sees("1 version of part 1") and not screen.query_one("#reader").display)
        await rig.press("escape")
        await rig.until(lambda: screen.page.has_focus and rig.sees("Nobody lit it again"))
        # What is looked for is found on the page: the panel does not stand before it.
        await rig.press("h")
        await rig.until(lambda: rig.sees("1 version of part 1"))
        await rig.press("ctrl+f")
        await rig.write("nobody")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("1 of ") and rig.sees("Nobody lit it again"))
        assert screen.panel.name_shown is None

    play(home, steps, size=size)


PICTURES = {
    "notes": ("m", "a", "~Nobody lit it again", "enter", "~Who has oil? Ask.", "enter"),
    "history": ("h",),
    "writers": ("w",),
}


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
def test_picture(home: Path, snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=size, run_before=before(app, "2", "enter", *PICTURES[name]))
