"""The editor's helpers: find and replace, marks on words, focus, typewriter."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginalia_tui.desk import writing
from marginalia_tui.desk.views import View, Views
from marginalia_tui.desk.writing import by_row
from marginalia_tui.domain.items import Book
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.edit import EditScreen
from marginalia_tui.screens.spellings import SpellingScreen
from marginalia_tui.services import spelling
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.writing import WritingArea, paragraph
from tests.screens.rig import FixedClock, Rig, add_book, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing

TEXT = (
    "The lampp went out at nine, and the Lamp was cold.\n\nNobody lit it again: Wexel had no oil.\nWexel slept.\n\n"
    + "\n\n".join(f"Line {number} of the night." for number in range(60))
)


def home_with(home: Path, text: str) -> str:
    with closing(Store.open(home)) as store:
        return add_book(store, "The Lamp", [("One", text)])


async def to_editor(rig: Rig) -> EditScreen:
    await rig.press("enter")
    await rig.until(lambda: rig.sees("The lampp went out"))
    await rig.press("e")
    screen = await rig.reach(EditScreen)
    await rig.until(lambda: screen.area.check is not None)
    return screen


def wrong(screen: EditScreen) -> list[str]:
    area = screen.area
    lines = [area.document.get_line(row) for row in range(4)]
    return [line[start:end] for row, line in enumerate(lines) for start, end in area.wrong_in(row)]


def test_words_are_marked_corrected_and_added_to_the_book(home: Path) -> None:
    book = home_with(home, TEXT)

    async def steps(rig: Rig) -> None:
        screen = await to_editor(rig)
        area = screen.area
        assert wrong(screen) == ["lampp", "Wexel", "Wexel"]
        # Only what is seen is looked at.
        assert area.checked < 30
        checked = area.checked
        drawn = area.drawn
        await rig.write("x ")
        assert area.checked <= checked + 2 and area.drawn <= drawn + 2
        await rig.press("ctrl+z", "ctrl+n")
        assert area.selected_text == "lampp"
        await rig.press("ctrl+l")
        dialog = await rig.reach(SpellingScreen)
        assert dialog.suggestions[0] == "lamp"
        await rig.press("enter")
        await rig.reach(EditScreen)
        assert area.content.startswith("The lamp went out")
        await rig.press("ctrl+n", "ctrl+n", "ctrl+p")
        assert area.selected_text == "Wexel" and area.cursor_location[0] == 2
        await rig.press("ctrl+l")
        await rig.reach(SpellingScreen)
        await rig.press("a")
        await rig.reach(EditScreen)
        await rig.until(lambda: wrong(screen) == [])
        await rig.press("ctrl+n")
        assert rig.notices[-1] == "No word is marked."
        with rig.studio.store.read() as tx:
            assert spelling.own_words(tx.space(LIBRARY).get(Book, book)) == ["Wexel"]
        await rig.press("ctrl+l")
        dialog = await rig.reach(SpellingScreen)
        assert dialog.own and rig.sees("It is on the list of this book.")
        await rig.press("d")
        await rig.reach(EditScreen)
        await rig.until(lambda: wrong(screen) == ["Wexel", "Wexel"])
        await rig.press("f12")
        assert area.check is None and wrong(screen) == []

    play(home, steps)


def test_places_are_found_and_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SECONDS", 0.2)
    home_with(home, TEXT)

    async def steps(rig: Rig) -> None:
        screen = await to_editor(rig)
        area, bar = screen.area, screen.bar
        await rig.press("ctrl+f")
        await rig.write("lamp")
        await rig.until(lambda: rig.sees("1 of 2"))
        assert area.cursor_location == (0, 4)
        await rig.press("enter")
        assert rig.sees("2 of 2") and area.cursor_location == (0, 36)
        await rig.press("alt+c")
        await rig.until(lambda: rig.sees("1 of 1"))
        await rig.press("alt+c", "alt+w")
        await rig.until(lambda: rig.sees("1 of 1") and area.cursor_location == (0, 36))
        await rig.press("alt+r")
        assert not bar.toggles["word"].on
        await rig.press("backspace", "backspace", "backspace", "backspace")
        await rig.write("(")
        await rig.until(lambda: rig.sees("no expression"))
        await rig.write("lin)e")
        await rig.until(lambda: rig.sees(" of 60"))
        # With Tab to what is put there; one place, then all, then one undo each.
        await rig.press("tab")
        await rig.write(r"\1o")
        await rig.press("enter")
        await rig.until(lambda: rig.sees("of 59"))
        await rig.press("alt+a")
        await rig.until(lambda: rig.sees("nothing found"))
        assert area.content.count("Lino ") == 60
        await rig.press("escape")
        assert area.has_focus and not bar.is_open
        await rig.press("ctrl+z")
        assert area.content.count("Lino ") == 1
        await rig.press("ctrl+z")
        assert area.content == TEXT and not screen.changed
        await rig.press("ctrl+f")
        area.focus()
        await rig.press("escape")
        assert rig.app.screen is screen and not bar.is_open
        # A pattern that would take hours is given up.
        area.content = "a" * 60 + "b"
        await rig.press("ctrl+f")
        bar.line.content = "(a|aa)+$"
        await rig.until(lambda: rig.sees("too slow"))

    play(home, steps)


def test_panel_focus_and_typewriter_are_kept(home: Path) -> None:
    home_with(home, TEXT)

    async def steps(rig: Rig) -> None:
        await rig.press("f3", "y")
        screen = await to_editor(rig)
        area = screen.area
        await rig.press("f10", "ctrl+end")
        middle = area.size.height // 2
        assert area._cursor_offset[1] - area.scroll_offset.y == middle
        await rig.press("up", "up", "up")
        assert area._cursor_offset[1] - area.scroll_offset.y == middle
        await rig.press("enter", "enter")
        assert area._cursor_offset[1] - area.scroll_offset.y == middle
        await rig.press("f6")
        assert area.dimmed and not rig.sees("Ctrl+S") and not rig.sees("[Book]")
        await rig.press("ctrl+t")
        assert rig.sees("One")
        await rig.press("ctrl+t", "f12")
        await rig.until(lambda: Views(home).read() == View("summaries", focus=True, typewriter=True, spelling=False))

    async def again(rig: Rig) -> None:
        await rig.press("enter")
        book = await rig.reach(BookScreen)
        await rig.until(lambda: book.panel.name_shown == "summaries" and rig.sees("The lampp went out"))
        assert book.outline.has_focus
        await rig.press("y", "y")
        assert book.panel.name_shown is None
        await rig.press("e")
        screen = await rig.reach(EditScreen)
        assert screen.area.dimmed and screen.area.typewriter and screen.area.check is None
        await rig.press("f6")
        assert not screen.has_class("-quiet") and rig.sees("[Book]")
        assert Views(home).read() == View(typewriter=True, spelling=False)

    play(home, steps, size=(140, 40))
    play(home, again, size=(140, 40))


def test_a_language_without_a_dictionary_is_told(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store, store.write(Act(actor="author", label="facts", book=book)) as tx:
        space = tx.space(LIBRARY)
        space.put([replace(space.get(Book, book), language="tlh")])

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.until(lambda: rig.sees("The lamp went out"))
        await rig.press("e")
        screen = await rig.reach(EditScreen)
        await rig.until(lambda: rig.sees("no dictionary"))
        assert screen.area.check is None
        await rig.press("ctrl+n")
        assert "no dictionary for the language 'tlh'" in rig.notices[-1]

    play(home, steps, size=(120, 40))


def test_the_paragraph_of_a_line() -> None:
    lines = ["One.", "", "A verse,", "and more,", "and more.", "", "x" * 200, "y" * 200, "short", ""]
    found = [paragraph(lines.__getitem__, len(lines), row) for row in range(len(lines))]
    assert found == [(0, 0), (1, 1), (2, 4), (2, 4), (2, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9)]


def test_spans_by_line() -> None:
    assert by_row("ab\ncd\n\nef", [(0, 1), (1, 4), (4, 9)]) == {
        0: [(0, 1), (1, 2)],
        1: [(0, 1), (1, 2)],
        2: [(0, 0)],
        3: [(0, 2)],
    }


def test_a_view_that_cant_be_read_is_the_default(tmp_path: Path) -> None:
    views = Views(tmp_path)
    for text in ("", "[1]", '{"panel": 3, "focus": "yes", "other": 1}', "\0"):
        (tmp_path / "view.json").write_text(text)
        assert views.read() == View()
    views.keep(panel="notes", spelling=False)
    assert Views(tmp_path).read() == View(panel="notes", spelling=False)


def test_a_line_that_is_no_prose_is_not_checked() -> None:
    area = WritingArea("teh " * 20_000)
    area.check = lambda line: [(0, 3)]
    assert area.wrong_in(0) == ()


PICTURES = {
    ("word", 80, 24): ("ctrl+end", "~ A kepper", "?17 words", "left", "ctrl+l", "?keeper"),
    ("replace", 80, 24): ("ctrl+f", "~lamp", "?1 of 1", "tab", "~lantern"),
    ("replace", 160, 50): ("~Wexel. ", "?16 words", "ctrl+f", "~oil", "?1 of 1", "tab", "~x"),
    ("focus", 160, 50): ("?15 words", "f6", "?F6 ends it"),
}


@pytest.mark.parametrize(("name", "columns", "lines"), PICTURES)
def test_picture(home: Path, snap_compare: SnapCompare, name: str, columns: int, lines: int) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        keys = PICTURES[name, columns, lines]
        assert snap_compare(app, terminal_size=(columns, lines), run_before=before(app, "2", "enter", "e", *keys))
