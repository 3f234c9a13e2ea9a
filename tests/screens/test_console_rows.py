"""What is done with the rows of a console: words found, copied, opened outside, the part of a call gone to."""

import stat
from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Refused
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.screens.outside import open_outside, program_of
from marginalia_tui.widgets.transcript import Stop
from tests.screens.rig import Rig, play
from tests.screens.test_console_tabs import SCRIPT
from tests.screens.working import agent_home, start, status
from tests.support.scripted_server import ScriptedServer


def test_words_are_found_in_rows_and_calls_and_the_part_of_a_call_is_gone_to(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(list(SCRIPT)) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")
            rows = console.transcript
            await rig.press("J")
            assert rig.notices[-1].startswith("Go to a call")
            rig.app.clear_notifications()
            await rig.press("s")
            await rig.write("TEH CAT")
            await rig.press("enter")
            # In the arguments of the call, which is unfolded.
            assert rows.cursor == Stop(3, 0) and rows.has_focus
            assert rig.sees("old: teh cat") and rig.sees("1 of 1   . next  , before")
            copied: list[str] = []
            monkeypatch.setattr(rig.app, "copy", copied.append)
            await rig.press("C")
            assert copied[0].startswith('edit-part {"part": "h:m1", "old": "teh cat"') and "changed" in copied[0]
            await rig.press("s")
            await rig.write("i correct")
            await rig.press("enter")
            assert rig.sees("1 of 1") and rows.cursor == Stop(3)
            # The call of the row was unfolded by the search before; Enter folds what a row has, and unfolds it.
            await rig.press("enter")
            assert not rig.sees("old: teh cat")
            await rig.press("enter")
            assert rig.sees("old: teh cat")
            await rig.press("s")
            await rig.write("part")
            await rig.press("enter")
            assert rig.sees(" of ")
            first = rows.cursor
            await rig.press("full_stop")
            assert rows.cursor != first
            await rig.press("comma")
            assert rows.cursor == first
            await rig.press("s")
            await rig.write("zzyzx")
            await rig.press("enter")
            assert rig.sees("not in this run")
            await rig.press("escape")
            assert not rig.sees("not in this run") and console.is_current and rows.has_focus
            # A terminal of a test is lent to nobody.
            monkeypatch.setenv("PAGER", "cat")
            await rig.press("V")
            assert rig.notices[-1] == "This terminal can't be lent to another program."
            rows.cursor = Stop(1, 0)
            await rig.press("J")
            assert rig.notices[-1] == "This call changed no part."
            rows.cursor = Stop(3, 0)
            await rig.press("J")
            book = await rig.reach(BookScreen)
            await rig.until(lambda: book.outline.cursor == 0 and rig.sees("There sat teh cat."))
            await rig.press("f4")
            assert await rig.reach(ConsoleScreen) is console

        play(home, steps, size=(100, 40))


def test_the_program_is_the_authors() -> None:
    assert program_of("pager", {"PAGER": "less -R 'a b'"}) == ["less", "-R", "a b"]
    assert program_of("editor", {"EDITOR": "vi", "VISUAL": "code --wait"}) == ["code", "--wait"]
    assert program_of("pager", {}, find=lambda name: name if name == "more" else None) == ["more"]
    with pytest.raises(Refused, match=r"\$EDITOR"):
        program_of("editor", {"VISUAL": " "}, find=lambda _: None)
    with pytest.raises(Refused, match="quotes"):
        program_of("pager", {"PAGER": "less '"})


def test_the_text_is_a_private_file_that_goes_away() -> None:
    seen: list[Path] = []

    def run(command: list[str]) -> int:
        path = Path(command[-1])
        assert command[:-1] == ["less", "-R"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.read_text(encoding="utf-8") == "Caf\u00e9 \u241b[2J\n"
        seen.append(path)
        return 0

    open_outside("Caf\u00e9 \x1b[2J\n", ["less", "-R"], run)
    assert seen and not seen[0].exists() and not seen[0].parent.exists()

    def missing(_: list[str]) -> int:
        raise FileNotFoundError(2, "No such file")

    with pytest.raises(Refused, match="No such file"):
        open_outside("x", ["no-such"], missing)
