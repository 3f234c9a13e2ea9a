"""The tabs of the console: the next request, the diagnosis, the findings."""

from pathlib import Path

from marginalia_tui.agent.findings import add
from marginalia_tui.agent.runs import get_run
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.screens.console_context import ContextTab
from marginalia_tui.screens.console_diagnostics import DiagnosticsTab
from marginalia_tui.screens.console_findings import FindingsTab
from marginalia_tui.screens.console_tabs import TABS
from marginalia_tui.store.journal import Act
from marginalia_tui.widgets.filepicker import FilePicker
from tests.screens.rig import Rig, play
from tests.screens.working import agent_home, start, status
from tests.support.scripted_server import ScriptedServer, calls

SCRIPT = (
    calls(("list-parts", {}), usage=(4_000, 10)),
    calls(("report", {"text": "The dog is never named.\nSee chapter 2."}), usage=(4_500, 20)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(5_000, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(6_000, 50)),
)


def test_a_run_is_looked_into_tab_by_tab(home: Path, tmp_path: Path) -> None:
    with ScriptedServer(list(SCRIPT)) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")
            assert rig.sees("[Transcript]  Context   Diagnostics   Findings")
            await rig.press("o")
            assert rig.sees("[Context]") and not rig.sees("I correct it.")
            tab = console.query_one(ContextTab)
            await rig.until(lambda: rig.sees("The next request: about"))
            assert rig.sees("system prompt") and rig.sees("20,000")
            # The end is looked at: the last thing that was answered.
            assert rig.sees("The run is finished")
            await rig.press("home")
            await rig.until(lambda: "part of the studio" in "\n".join(rig.lines()) or rig.sees("You "))
            await rig.press("tab")
            assert tab.text.has_focus
            await rig.press("p")
            assert rig.sees("Context at each answer") and tab.parts.has_focus
            await rig.press("o")
            await rig.until(lambda: rig.sees("Seconds of each round"))
            assert rig.sees("4, 4 with one call, 0 without a call")
            await rig.press("p")
            assert rig.sees("Context at each answer")
            await rig.press("p")
            assert not rig.sees("Context at each answer") and rig.sees("edit-part")
            await rig.press("o")
            await rig.until(lambda: rig.sees("Findings of this run: 1"))
            assert rig.sees("See chapter 2.")
            await rig.press("b")
            assert rig.sees("Findings of this agent: 1")
            await rig.press("e")
            await rig.reach(FilePicker)
            await rig.press("escape")
            for name in TABS:
                file, text = rig.desk.seen.as_file(console.run, name)
                assert file == f"{name}-{console.run[-8:]}" and text.startswith("# Corrector on The Cat\n")
            assert "> The dog is never named.\n> See chapter 2." in rig.desk.seen.as_file(console.run, "findings")[1]
            # What comes meanwhile is read before long, without a key.
            with rig.studio.store.read() as tx:
                run = get_run(tx, console.run)
            with rig.studio.store.write(Act(actor="agent", label="report", run=run.uuid)) as write:
                add(write, run, "call_99_0", "A second one.")
            await rig.until(lambda: rig.sees("Findings of this agent: 2"))
            await rig.press("d", "y", "d", "y")
            await rig.until(lambda: rig.sees("Findings of this agent: 0"))
            # What was looked at last is remembered; the key to the box leads back to the rows.
            await rig.press("escape", "enter")
            again = await rig.reach(ConsoleScreen)
            await rig.until(lambda: again.tab == "findings" and rig.sees("Nothing was reported."))
            assert again.query_one(FindingsTab).list.has_focus
            await rig.press("o")
            assert again.tab == "transcript" and again.transcript.has_focus and rig.sees("I correct it.")
            assert not console.query(DiagnosticsTab) or console is not again

        play(home, steps)
