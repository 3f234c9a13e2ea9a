"""Keys that come at once go where they would have gone one by one."""

from pathlib import Path

from textual import events
from textual.widgets import TextArea

from marginalia_tui.screens.agents import AgentsScreen
from marginalia_tui.screens.commandform import CommandForm
from marginalia_tui.widgets.dialogs import Form
from marginalia_tui.widgets.fields import LineInput
from tests.screens.rig import Rig, play
from tests.screens.working import agent_home

NAMES = {"\t": "tab", " ": "space", "\n": "enter", "\x1b": "escape", "-": "minus", "?": "question_mark", "/": "slash"}


def at_once(rig: Rig, text: str) -> None:
    """The keys of a text, all in the queue before the first is handled."""
    for sign in text:
        key = NAMES.get(sign, sign)
        rig.app.post_message(events.Key(key, sign if sign.isprintable() else None))


def test_text_behind_a_tab_lands_in_the_next_field(home: Path) -> None:
    agent_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "e")
        form = await rig.reach(Form)
        line = form.query(LineInput).first()
        area = next(each for each in form.query(TextArea) if not isinstance(each, LineInput))
        before = line.content, area.text
        # Between the name and the task stands a choice.
        at_once(rig, " One\t\tTwo")
        await rig.settle()
        assert (line.content, area.text) == (before[0] + " One", "Two" + before[1])

    play(home, steps)


def test_keys_that_go_from_mode_to_mode(home: Path) -> None:
    agent_home(home)

    async def steps(rig: Rig) -> None:
        at_once(rig, "SBLA")
        await rig.reach(AgentsScreen)
        at_once(rig, "e")
        await rig.reach(Form)
        at_once(rig, "X\x1b")
        await rig.reach(AgentsScreen)
        assert not rig.app._coming

    play(home, steps)


def test_a_paste_keeps_its_place_among_keys(home: Path) -> None:
    agent_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "e")
        form = await rig.reach(Form)
        line = form.query(LineInput).first()
        before = line.content
        at_once(rig, "a")
        rig.app.post_message(events.Paste("bcd"))
        at_once(rig, "e")
        await rig.settle()
        assert line.content == before + "abcde"

    play(home, steps)


def test_what_stands_behind_a_tab_in_the_bar_waits_for_the_completion(home: Path) -> None:
    agent_home(home)

    async def steps(rig: Rig) -> None:
        at_once(rig, "/search-replace-p\t?\n")
        await rig.reach(CommandForm)
        assert rig.sees("/search-replace-parts")
        await rig.press("escape", "escape")
        await rig.until(lambda: not isinstance(rig.app.screen, CommandForm))

    play(home, steps)
