import stat
import threading
from pathlib import Path

import pytest
from textual.message import Message
from textual.widgets import Static

from marginalia_tui.agent import detached, runs
from marginalia_tui.desk.opening import Desk
from marginalia_tui.domain.errors import Refused, StoreError
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens import announcing
from marginalia_tui.screens.base import BaseScreen, Looked
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.chrome import TooSmall
from marginalia_tui.screens.closed import ClosedScreen
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.screens.settings import SettingsScreen
from marginalia_tui.store.journal import Act
from marginalia_tui.widgets.dialogs import Ask, Confirm
from tests.screens.rig import Rig, lamp_home, play, quick_desk


def test_the_screen_is_there_before_the_studio_is_open(home: Path) -> None:
    go = threading.Event()

    def opener(home: Path) -> Desk:
        assert go.wait(20)
        return quick_desk(home)

    async def steps(rig: Rig) -> None:
        rig.held = 1
        await rig.until(lambda: rig.sees("Opening the studio"))
        # The books are there before the rest of the studio is.
        await rig.until(lambda: rig.sees("The library is empty"))
        assert rig.app.desk is None
        await rig.press("f5")
        await rig.reach(SettingsScreen)
        await rig.press("f2")
        go.set()
        await rig.until(lambda: rig.sees("The library is empty"))

    play(home, steps, opener=opener, wait=False)


def test_a_store_that_cannot_be_opened_is_one_sentence_and_can_be_tried_again(home: Path) -> None:
    tries: list[int] = []

    def opener(home: Path) -> Desk:
        tries.append(1)
        if len(tries) == 1:
            raise StoreError("The store is damaged: run the doctor.")
        return quick_desk(home)

    async def steps(rig: Rig) -> None:
        await rig.reach(ClosedScreen)
        assert rig.sees("The store is damaged: run the doctor.")
        await rig.press("r")
        await rig.until(lambda: rig.sees("The library is empty"))

    play(home, steps, opener=opener, wait=False)


def test_quitting_when_the_store_is_closed_ends_with_1(home: Path) -> None:
    def opener(home: Path) -> Desk:
        raise StoreError("The store is damaged: run the doctor.")

    async def steps(rig: Rig) -> None:
        await rig.reach(ClosedScreen)
        await rig.pilot.press("q")

    assert play(home, steps, opener=opener, wait=False).return_code == 1


def test_modes_by_function_keys_and_by_letters(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        for key, mode in (("f3", "book"), ("f5", "settings"), ("f2", "library"), ("B", "book"), ("S", "settings")):
            await rig.press(key)
            assert rig.app.current_mode == mode
        await rig.press("L")
        assert isinstance(rig.app.screen, LibraryScreen)

    play(home, steps)


def test_many_commits_are_told_to_a_screen_a_few_times(home: Path) -> None:
    book = lamp_home(home)
    told: list[Looked] = []

    def count(message: Message) -> None:
        if isinstance(message, Looked):
            told.append(message)

    async def steps(rig: Rig) -> None:
        told.clear()
        for number in range(60):
            await rig.app.command_on(book, "set-book-info", title=f"Title {number}")
        await rig.until(lambda: rig.sees("Title 59"))

    play(home, steps, heard=count)
    assert 1 <= len(told) < 30
    assert all(event.touched.book(book) for event in told)


def test_quitting_closes_the_studio_and_ends_with_0(home: Path) -> None:
    closed: list[bool] = []

    async def steps(rig: Rig) -> None:
        studio = rig.studio
        await rig.pilot.press("q")
        await rig.until(lambda: rig.app._exit)
        closed.append(studio._closed.is_set())

    assert play(home, steps).return_code == 0
    assert closed == [True]


def test_quitting_so_that_the_agents_work_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Path] = []
    monkeypatch.setattr(detached, "hand_over", lambda home, runner: handed.append(home))

    async def steps(rig: Rig) -> None:
        assert rig.studio.runner.working() == []
        await rig.pilot.press("Q")
        await rig.until(lambda: rig.app._exit)

    assert play(home, steps).return_code == 0
    assert handed == [home]


def test_control_c_twice_quits(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("ctrl+c")
        assert rig.notices == ["Press Ctrl+C again to quit."]
        await rig.pilot.press("ctrl+c")
        await rig.until(lambda: rig.app._exit)

    assert play(home, steps).return_code == 0


def test_a_terminal_that_is_too_small_says_so_and_the_focus_comes_back(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        focused = rig.app.screen.focused
        assert focused is not None
        await rig.pilot.resize_terminal(20, 5)
        await rig.settle()
        assert rig.app.screen.query_one(TooSmall).display
        assert rig.sees("larger: 40")
        assert not rig.sees("The Lamp")
        await rig.pilot.resize_terminal(80, 24)
        await rig.until(lambda: rig.sees("The Lamp") and rig.app.screen.focused is focused)

    play(home, steps)


def test_a_terminal_that_is_too_small_from_the_start(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        assert rig.sees("larger: 40")
        await rig.pilot.resize_terminal(60, 20)
        await rig.until(lambda: rig.app.screen.focused is not None)
        await rig.press("enter")
        await rig.reach(BookScreen)

    play(home, steps, size=(20, 5))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
@pytest.mark.parametrize("key", ["f2", "f3", "f4", "f5", "f1"])
def test_every_screen_fits_every_terminal(home: Path, size: tuple[int, int], key: str) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press(key)
        screen = rig.app.screen
        assert isinstance(screen, BaseScreen)
        assert not screen.query_one(TooSmall).display
        lines = rig.lines()
        assert len(lines) == size[1]
        assert lines[0].strip() and lines[-1].strip()
        assert screen.focused is not None
        assert not screen.show_vertical_scrollbar

    play(home, steps, size=size)


def test_nothing_of_a_title_is_obeyed(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.app.call(rig.desk.library.create, "[bold]x[/bold] \x1b]52;c;aGk=\x07 [@click=app.quit]y[/]")
        await rig.until(lambda: rig.sees("[bold]x[/bold]"))
        assert not any("\x1b" in line or "\x07" in line for line in rig.lines())
        await rig.press("d")
        assert isinstance(rig.app.screen, Confirm)
        assert rig.sees("[bold]x[/bold]")
        await rig.press("n", "enter")
        await rig.reach(BookScreen)
        assert "[@click=app.quit]" in rig.lines()[0]

    play(home, steps, size=(120, 30))


# The command bar


def test_the_bar_completes_and_shows_what_is_typed(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("slash")
        await rig.write("edit-p")
        await rig.until(lambda: rig.sees("edit-part") and rig.sees("changes"))
        await rig.press("tab")
        await rig.until(lambda: rig.sees("[part]") and rig.sees("part: the part"))
        await rig.write("la")
        await rig.until(lambda: rig.sees("1 The Lamp"))

    play(home, steps)


def test_what_was_told_a_while_ago_gives_way_to_a_dialog(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.refuse(Refused("The lamp is out: light it."))
        await rig.until(lambda: rig.notices)
        await rig.press("n")
        await rig.reach(Ask)
        # It was told this moment, and may not have been read.
        assert rig.notices == ["The lamp is out: light it."]
        await rig.press("escape")
        monkeypatch.setattr(announcing, "NOTICE_READ", -1.0)
        await rig.press("n")
        await rig.reach(Ask)
        assert rig.notices == []

    play(home, steps)


def test_a_short_answer_is_a_notice_a_long_one_a_panel(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        rig.app.run_line("/set-book-info The\\ Oil")
        await rig.until(lambda: rig.notices)
        assert rig.notices == ["Changed the title of the book."]
        await rig.until(lambda: rig.sees("The Oil"))
        rig.app.run_line("/list-parts")
        screen = await rig.reach(ResultScreen)
        assert rig.sees("The Stair") and rig.sees("list-parts")
        await rig.press("c")
        assert "The Stair" in screen.shown.text
        assert any("OSC 52" in notice for notice in rig.notices)
        await rig.press("escape")
        await rig.reach(BookScreen)

    play(home, steps)


def test_a_command_that_fails_says_why(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        rig.app.run_line("/no-such-thing")
        await rig.until(lambda: rig.notices)
        assert "There is no command" in rig.notices[0]

    play(home, steps)


def test_a_destructive_command_asks_and_no_is_no(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        rig.app.run_line("/delete-part 2")
        await rig.reach(Confirm)
        assert rig.sees("The Stair") and rig.sees("removes")
        await rig.press("n")
        await rig.until(lambda: rig.notices)
        assert "nothing was changed" in rig.notices[0]
        await rig.reach(BookScreen)
        assert rig.sees("The Stair")
        rig.app.run_line("/delete-part 2")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.reach(BookScreen)
        await rig.until(lambda: not rig.sees("The Stair"))

    play(home, steps)


def test_quitting_answers_a_question_with_no(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        rig.app.run_line("/delete-part 2")
        await rig.reach(Confirm)
        rig.app.leave(0)
        await rig.until(lambda: rig.app._exit)

    play(home, steps)

    async def look(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        assert rig.sees("The Stair")

    play(home, look)


def test_lines_are_remembered_for_their_owner_alone(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        rig.app.run_line("/get-book-info")
        await rig.reach(ResultScreen)
        await rig.press("escape")
        rig.app.run_line("/list-branches")
        await rig.reach(ResultScreen)
        await rig.press("escape", "slash", "up")
        await rig.until(lambda: rig.sees("> /list-branches"))
        await rig.press("up")
        await rig.until(lambda: rig.sees("> /get-book-info"))

    play(home, steps)
    file = home / "history.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    async def again(rig: Rig) -> None:
        await rig.press("slash", "up")
        await rig.until(lambda: rig.sees("> /list-branches"))

    play(home, again)


def test_the_palette_offers_the_commands(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.press("f9")
        await rig.write("list-par")
        await rig.until(lambda: rig.sees("/list-parts"))
        await rig.press("enter")
        await rig.until(lambda: rig.sees("> /list-parts"))

    play(home, steps)


# What the runs say everywhere


def _run(rig: Rig, book: str, status: RunStatus, reason: str = "") -> str:
    """A run of an agent of its own in a status."""
    studio = rig.studio
    agent = studio.add_agent(name="Proofreader", book=book, model="offline")
    run = studio.store.clock.new_uuid()
    from marginalia_tui.store.spaces import copy_book

    with studio.store.write(Act(actor="studio", label="start of a run", run=run)) as tx:
        space = copy_book(tx, book)
        runs.add_run(tx, uuid=run, agent=agent.uuid, agent_name=agent.name, book=book, space=space, interactive=False)
    if status is not RunStatus.RUNNING:
        with studio.store.write(Act(actor="studio", label="status", run=run)) as tx:
            runs.transition(tx, runs.get_run(tx, run), status, reason)
    return run


def test_an_agent_at_work_is_seen_everywhere_and_holds_the_book(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.app.call(_run, rig, book, RunStatus.RUNNING)
        await rig.until(lambda: rig.sees("1 agent working"))
        await rig.until(lambda: rig.sees("* Proofreader"))
        await rig.press("enter")
        await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("held by Proofreader"))
        await rig.press("e")
        assert isinstance(rig.app.screen, BookScreen)
        assert any("'Proofreader' holds" in notice for notice in rig.notices)

    play(home, steps)


def test_a_run_that_needs_the_author_is_told_and_counted(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        run = await rig.app.call(_run, rig, book, RunStatus.IDLE, "What is the lamp made of?")
        await rig.until(lambda: rig.sees("1!"))
        await rig.until(lambda: any("F8 goes there" in notice for notice in rig.notices))
        await rig.press("f8")
        await rig.until(lambda: isinstance(rig.app.screen, BaseScreen) and rig.app.screen.run == run)
        assert rig.app.current_mode == "agents"
        await rig.until(lambda: not rig.notices, "the notice is taken back")

    play(home, steps)


def test_a_notice_is_no_markup(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        rig.app.tell("[bold]as it stands[/bold]")
        await rig.until(lambda: rig.sees("[bold]as it stands[/bold]"))
        assert not rig.app.screen.query(Static).filter(".never")

    play(home, steps)
