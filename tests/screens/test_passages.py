"""A passage of the page that is chosen by keys or with the mouse, and going to a part by typing."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.domain.items import Annotation, Book, Entry, Lorebook
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.jump import JumpScreen, PartFinder
from marginalia_tui.screens.lookup import LookupScreen
from marginalia_tui.screens.text_editor import TextEditor
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask
from marginalia_tui.widgets.outline import Part
from tests.screens.rig import FixedClock, Rig, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing


async def to_page(rig: Rig) -> BookScreen:
    await rig.press("enter")
    screen = await rig.reach(BookScreen)
    await rig.until(lambda: rig.sees("The lamp went out at nine."))
    await rig.press("V")
    await rig.until(lambda: screen.page.choosing)
    return screen


def said(screen: BookScreen) -> str:
    found = screen.page.chosen
    return "" if found is None else screen.page.source[slice(*found)]


def test_the_caret_moves_and_the_choice_widens(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_page(rig)
        assert said(screen) == ""
        await rig.press("V")
        assert said(screen) == "The"
        await rig.press("V")
        assert said(screen) == "The lamp went out at nine."
        await rig.press("escape")
        assert not screen.page.choosing and screen.page.has_focus
        await rig.press("V", "w", "v", "w", "w")
        assert said(screen) == "lamp went"
        await rig.press("right", "right", "right", "right")
        assert said(screen) == "lamp went out"
        await rig.press("s")
        assert said(screen) == "lamp went out at nine."
        await rig.press("p")
        assert said(screen).endswith("for the *oil* was gone.")
        await rig.press("b", "b", "b")
        assert said(screen).endswith("for the")
        # Emphasis that a choice ends in is taken along whole.
        await rig.press("right", "shift+right", "shift+right", "shift+right")
        assert said(screen).endswith("for the *oil*")
        await rig.press("up", "up")
        assert said(screen).startswith("lamp") or said(screen).startswith("The")
        await rig.press("v", "P", "P")
        assert said(screen) == ""
        # The keys of the screen hold again.
        await rig.press("escape", "g")
        dialog = await rig.reach(JumpScreen)
        assert dialog.outline.current_key == screen.outline.current_key
        await rig.write("zz")
        assert rig.sees("No part fits.")
        await rig.press("enter", "backspace", "backspace")
        await rig.write("oor")
        assert rig.sees("3 The Door")
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("The door stood open."))

    play(home, steps)


def test_a_passage_is_annotated_replaced_copied(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_page(rig)
        await rig.press("V", "V", "a")
        await rig.reach(Ask)
        await rig.write("When?")
        await rig.press("enter")
        await rig.until(lambda: [note.text for note in screen.page._notes] == ["When?"])
        with rig.studio.store.read() as tx:
            found = tx.connection.exec_driver_sql("SELECT uuid FROM annotation").scalars().all()
            notes = tx.space(LIBRARY).get_many(Annotation, found).values()
            assert [note.quote for note in notes] == ["The lamp went out at nine."]
        # `it` stands once as a word, and inside of others.
        await rig.press("V", "w", "w", "w", "w", "r")
        await rig.reach(TextEditor)
        await rig.press("end", "backspace", "backspace", "backspace")
        await rig.write("on")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("The lamp went out on nine."))
        assert not screen.page.choosing
        await rig.press("V", "V", "c")
        await rig.until(lambda: any("OSC 52" in notice for notice in rig.notices))
        await rig.press("u")
        await rig.until(lambda: rig.sees("The lamp went out at nine."))
        # A text that was changed meanwhile is not written over.
        await rig.press("V", "V", "r")
        await rig.reach(TextEditor)
        studio = rig.studio
        await rig.app.call(
            studio.dispatcher.run_line, '/edit-part 1 "at nine" "at ten"', studio.scope(book, AlwaysYes())
        )
        await rig.write("x")
        await rig.press("ctrl+s")
        await rig.until(lambda: any("changed elsewhere" in notice for notice in rig.notices))
        await rig.until(lambda: rig.sees("The lamp went out at ten."))

    play(home, steps, size=(120, 40))


def test_the_mouse_chooses_and_the_lore_is_looked_up(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store, store.write(Act(actor="author", label="lore", book=book)) as tx:
        space = tx.space(LIBRARY)
        lore = Lorebook(uuid="lore", name="The house", created=1)
        entries = [
            Entry(uuid="cat", lorebook="lore", name="Cat", text="It is grey.", filter="cat", created=2),
            Entry(uuid="lamp", lorebook="lore", name="The Lamp", text="It burns oil.", created=3),
            Entry(uuid="light", lorebook="lore", name="Light", text="It flickers.", filter="l[ai]mp", mode="regex"),
            Entry(uuid="wrong", lorebook="lore", name="Wrong", filter="l[ai", mode="regex", created=5),
        ]
        space.put([lore, *entries, replace(space.get(Book, book), lorebook="lore")])

    async def steps(rig: Rig) -> None:
        screen = await to_page(rig)
        await rig.press("escape")
        page = screen.page
        line = next(y for y, text in enumerate(rig.lines()) if "The lamp went out" in text)
        x = rig.lines()[line].index("lamp")
        await rig.pilot.mouse_down(offset=(x, line))
        await rig.pilot.hover(offset=(x + 2, line))
        await rig.pilot.hover(offset=(x + 4, line))
        await rig.pilot.mouse_up(offset=(x + 4, line))
        await rig.settle()
        assert page.choosing and said(screen).startswith("lamp")
        assert any("l lore" in text for text in rig.lines()[-1:])
        await rig.press("l")
        dialog = await rig.reach(LookupScreen)
        assert [each.name for each in dialog.found.values()] == ["The Lamp", "Light"]
        assert rig.sees("It burns oil.") and rig.sees("by its filter")
        await rig.press("escape")
        await rig.reach(BookScreen)
        # A click takes the choice back.
        await rig.pilot.click(offset=(x, line + 6))
        await rig.settle()
        assert said(screen) == ""
        await rig.press("V", "w", "w", "l")
        await rig.until(lambda: any("No entry of the lore" in notice for notice in rig.notices))

    play(home, steps, size=(120, 40))


def test_parts_that_fit_what_is_typed() -> None:
    titles = ["Harbour", "Storm", "The storm", "Storm at night 14"]
    parts = [Part(str(number), number, titles[number % 4], 9) for number in range(1, 201)]
    finder = PartFinder(parts)
    assert [part.number for part in finder.find("14")[:4]] == [14, 140, 141, 142]
    assert [part.title for part in finder.find("14")[-1:]] == ["Storm at night 14"]
    assert [part.number for part in finder.find("night STORM")[:2]] == [3, 7]
    assert [part.title for part in finder.find("storm")[:100]] == ["Storm", "Storm at night 14"] * 50
    assert finder.find("storm harbour") == []
    assert len(finder.find("  ")) == 200


PICTURES = {
    ("choosing", 80, 24): ("V", "V", "V"),
    ("jump", 160, 50): ("g", "~st"),
}


@pytest.mark.parametrize(("name", "columns", "lines"), PICTURES)
def test_picture(home: Path, snap_compare: SnapCompare, name: str, columns: int, lines: int) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        keys = PICTURES[name, columns, lines]
        assert snap_compare(app, terminal_size=(columns, lines), run_before=before(app, "2", "enter", *keys))
