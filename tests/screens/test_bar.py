"""The command bar on a real studio: history by book, names of a book, the page of a command, the palette."""

import stat
import time
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.desk.opening import open_desk
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.keys import all_bindings, load_all
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.palette import KEYS
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.commandbar import CommandBar
from tests.screens.rig import LAMP, Rig, add_book, lamp_home, play


def bar(rig: Rig) -> CommandBar:
    return rig.app.screen.query_one(CommandBar)


async def to_bar(rig: Rig, text: str = "") -> None:
    await rig.press("enter")
    await rig.reach(BookScreen)
    await rig.press("slash")
    await rig.write(text)
    await rig.settle()


def labels(rig: Rig) -> list[str]:
    return [choice.label for choice in bar(rig).choices.choices]


# What was run


def test_up_walks_through_the_lines_of_the_open_book_first(home: Path) -> None:
    lamp = lamp_home(home)
    with closing(Store.open(home)) as store:
        other = add_book(store, "Another", LAMP[:1])

    async def steps(rig: Rig) -> None:
        for book, lines in ((lamp, ("/get-part 1", "/list-branches")), (other, ("/list-parts",))):
            rig.app.open_book(book)
            await rig.reach(BookScreen)
            for line in lines:
                rig.app.run_line(line)
                await rig.reach(ResultScreen)
                await rig.press("escape")
        rig.app.open_book(lamp)
        await rig.reach(BookScreen)
        await rig.press("slash")
        await rig.settle()
        for line in ("/list-branches", "/get-part 1", "/list-parts"):
            await rig.press("up")
            await rig.until(lambda line=line: rig.sees(f"> {line}"), line)  # type: ignore[misc]
        await rig.press("ctrl+r")
        await rig.write("list")
        await rig.until(lambda: labels(rig) == ["/list-branches", "/list-parts"])
        await rig.press("ctrl+r", "enter")
        assert bar(rig).line.content == "/list-parts"

    play(home, steps)
    assert stat.S_IMODE((home / "history.json").stat().st_mode) == 0o600

    async def again(rig: Rig) -> None:
        # No book is open: in the order of their use.
        await rig.press("slash", "up")
        await rig.until(lambda: rig.sees("> /list-parts"))
        await rig.press("up")
        await rig.until(lambda: rig.sees("> /list-branches"))

    play(home, again)


def test_what_was_typed_is_there_when_the_bar_opens_again(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_bar(rig, "get-part ")
        await rig.press("escape")
        assert not bar(rig).is_open
        await rig.press("ctrl+o")
        await rig.until(lambda: rig.sees("> /get-part") and labels(rig)[:1] == ["1 The Lamp"])

    play(home, steps)


# What can be named


def test_parts_are_found_by_number_title_and_first_words(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_bar(rig, "get-part ")
        await rig.until(lambda: labels(rig) == ["1 The Lamp", "2 The Stair", "3 The Door"])
        assert rig.sees("She counted the steps in the dark.")
        await rig.write("counted")
        await rig.until(lambda: labels(rig) == ["2 The Stair"])
        await rig.press("tab")
        assert bar(rig).line.content == "/get-part 2"
        await rig.press("enter")
        await rig.reach(ResultScreen)
        assert rig.sees("There were twelve")

    play(home, steps)


def test_the_names_of_another_book_or_none_are_forgotten(home: Path) -> None:
    book = lamp_home(home)
    with closing(open_desk(home)) as desk:
        desk.bar.read_names(book)
        assert [each.label for each in desk.bar.complete("/get-part ", 10)][0] == "1 The Lamp"
        with desk.studio.store.read() as tx:
            position = tx.space(1).position()
        assert desk.bar._known == (book, position)
        desk.studio.commands.start("delete-part", {"part": "1"}, desk.studio.scope(book, _Yes())).future.result()
        desk.bar.read_names(book)
        assert [each.label for each in desk.bar.complete("/get-part ", 10)][0] == "1 The Stair"
        desk.bar.read_names("no such book")
        assert desk.bar.complete("/get-part ", 10) == []
        desk.bar.read_names(book)
        desk.bar.read_names(None)
        assert desk.bar.complete("/get-part ", 10) == []


class _Yes:
    def confirm(self, question: object, control: object) -> bool:
        return True


def test_two_thousand_parts_are_read_and_completed_in_time(home: Path) -> None:
    with closing(Store.open(home)) as store:
        text = "It was a dark and windy evening in the harbour. " * 40
        book = add_book(store, "Long", [(f"Chapter {number}", f"{number} {text}") for number in range(2_000)])
    with closing(open_desk(home)) as desk:
        began = time.perf_counter()
        desk.bar.read_names(book)
        assert time.perf_counter() - began < 2
        for typed in ("", "1", "chapter 1999", "windy", "zzzz", "chpter"):
            line = f'/get-part "{typed}'
            best = 1.0
            for _ in range(5):
                began = time.perf_counter()
                desk.bar.complete(line, len(line))
                desk.bar.hint(line, len(line))
                best = min(best, time.perf_counter() - began)
            assert best < 0.05, typed
        assert desk.bar.complete("/get-part windy", 15)


# More about a command


def test_f1_shows_the_page_of_the_command_and_leads_back(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_bar(rig, "edit-part 2 ")
        await rig.press("f1")
        await rig.reach(ResultScreen)
        assert rig.sees("/help edit-part") and rig.sees("Replaces one passage")
        await rig.press("escape")
        await rig.reach(BookScreen)
        assert bar(rig).is_open and bar(rig).line.content == "/edit-part 2 "
        assert bar(rig).line.has_focus
        assert rig.desk.bar.history() == []

    play(home, steps)


def test_f1_without_a_command_shows_the_page_about_the_bar(home: Path) -> None:
    with closing(open_desk(home)) as desk:
        assert "Everything that changes or reads a book is a command" in desk.bar.page("/", "").text
        assert desk.bar.page("/und", "/undo").title == "/help undo"
        assert desk.bar.page("/nothing-such", "/redo").title == "/help redo"


@pytest.mark.parametrize("size", [(80, 24), (40, 14)])
def test_the_parameter_its_words_and_its_default_are_told(home: Path, size: tuple[int, int]) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_bar(rig, 'list-parts "" ')
        await rig.until(lambda: rig.sees("(offset)"))
        await rig.write("0 ")
        await rig.until(lambda: rig.sees("limit: how many rows"))
        assert "without it 50" in " ".join(line.strip() for line in rig.lines())
        await rig.write("2001")
        await rig.until(lambda: rig.sees("error: list-parts"))

    play(home, steps, size=size)


def test_an_empty_line_says_what_the_keys_do(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await to_bar(rig)
        await rig.until(lambda: rig.sees("Type what you want to do."))

    play(home, steps)


# The palette


def test_the_palette_shows_what_a_command_does_and_its_key(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("f9")
        await rig.write("undo")
        await rig.until(lambda: rig.sees("/undo"))
        line = next(line for line in rig.lines() if "/undo" in line)
        assert "changes" in line and line.rstrip(" \u258e\u2590").endswith("u")
        for _ in "undo":
            await rig.press("backspace")
        await rig.write("dltprt")
        await rig.until(lambda: rig.sees("/delete-part  Delete a part  removes, asks first"))
        for _ in "dltprt":
            await rig.press("backspace")
        await rig.write("regular expression")
        await rig.until(lambda: rig.sees("/find-occurrences"))

    play(home, steps, size=(100, 30))


def test_the_palette_of_another_screen_shows_no_keys_of_the_book(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.reach(LibraryScreen)
        await rig.press("f9")
        await rig.write("/undo")
        await rig.until(lambda: rig.sees("/undo"))
        line = next(line for line in rig.lines() if "/undo  " in line)
        assert "changes" in line and "  u" not in line.split("changes")[1]

    play(home, steps, size=(100, 30))


def test_the_keys_that_the_palette_names_are_keys_and_commands() -> None:
    load_all()
    assert set(KEYS) <= set(builtin_registry().names)
    assert set(KEYS.values()) - {"app.help"} <= {row.id for row in all_bindings()}
