"""Questions about a run that several screens ask."""

from typing import TYPE_CHECKING

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk


async def ask_stop(host: Host, desk: "Desk", run: str, agent: str) -> None:
    """Asks whether the work of a run is kept or thrown away, and ends it."""
    from marginalia_tui.screens.decide import Decide, Way

    ways = (Way("k", "stop, and keep what it did for a review", "keep"), Way("d", "stop, and throw it away", "discard"))
    question = f"{agent} works on a copy; your book stays as it is until you apply something."
    if (end := await host.ask(Decide(f"Stop {agent}?", question, ways, stay="let it be"))) is not None:
        await host.call(lambda: desk.runs.stop(run, keep=end == "keep"))


async def ask_discard(host: Host, desk: "Desk", run: str, agent: str) -> None:
    """Asks whether the work that a run left is thrown away."""
    from marginalia_tui.widgets.dialogs import Confirm

    question = f"Throw away what {agent} changed in its copy? Your book stays as it is."
    if await host.ask(Confirm(question, severity="removes")):
        await host.call(lambda: desk.runs.stop(run, keep=False))


async def ask_resume(host: Host, desk: "Desk", run: str) -> None:
    """Asks for a word of the author, which may be empty, and has a run go on."""
    from marginalia_tui.widgets.dialogs import Ask

    note = await host.ask(Ask("Let it go on: a word for the agent?", help="It may be left empty."))
    if note is not None:
        await host.call(desk.runs.resume, run, note)
