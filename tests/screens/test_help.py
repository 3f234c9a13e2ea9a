from pathlib import Path

import pytest

from marginalia_tui.screens import help
from marginalia_tui.screens.help import HelpScreen
from marginalia_tui.screens.library import LibraryScreen
from tests.screens.rig import Rig, play


def test_help_shows_the_keys_of_the_screen_it_was_asked_from(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("f1")
        await rig.reach(HelpScreen)
        assert rig.sees("Keys")
        await rig.press("enter", "end", "pageup")
        shown = "\n".join(rig.lines())
        await rig.press("home")
        shown += "\n".join(rig.lines())
        assert "i import" in shown
        assert "n new" in shown
        await rig.press("escape")
        await rig.reach(LibraryScreen)

    play(home, steps, size=(100, 60))


def test_the_pages_of_the_manual(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"agents": "# Agents at work\n\nThey work on a copy.", "books": "No heading here."}
    monkeypatch.setattr(help, "manual_pages", lambda: tuple(pages))
    monkeypatch.setattr(help, "manual_page", pages.__getitem__)

    async def steps(rig: Rig) -> None:
        await rig.press("question_mark")
        await rig.reach(HelpScreen)
        assert rig.sees("Agents at work") and rig.sees("books")
        await rig.press("n")
        assert rig.sees("They work on a copy.")
        await rig.press("n")
        assert rig.sees("No heading here.")
        await rig.press("p")
        assert rig.sees("They work on a copy.")

    play(home, steps)
