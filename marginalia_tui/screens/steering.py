"""Questions about a run that several screens ask."""

from typing import TYPE_CHECKING

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk


async def ask_stop(host: Host, desk: "Desk", run: str, agent: str) -> None:
    """Asks whether the work of a run is kept or thrown away, and ends it."""
    from marginalia_tui.widgets.dialogs import Form
    from marginalia_tui.widgets.fields import Field

    choices = (("keep", "keep it for a review"), ("discard", "throw it away"))
    fields = [Field("end", f"What {agent} did so far", "choice", "keep", choices)]
    if (answer := await host.ask(Form(f"Stop {agent}", fields))) is not None:
        await host.call(lambda: desk.runs.stop(run, keep=answer["end"] == "keep"))
