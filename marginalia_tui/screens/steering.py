"""Questions about a run that several screens ask."""

from typing import TYPE_CHECKING

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.fields import FieldValue


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
    """Asks for a word of the author, which may be empty, and has a run go on; for more room when a limit is reached."""
    from marginalia_tui.widgets.dialogs import Ask

    if (limits := await host.call(desk.runs.reached_limits, run)) is not None:
        await _ask_for_more(host, desk, run, limits)
        return
    note = await host.ask(Ask("Let it go on: a word for the agent?", help="It may be left empty."))
    if note is not None:
        await host.call(desk.runs.resume, run, note)


_MORE = (
    ("rounds", "Rounds at most"),
    ("tokens", "Tokens at most"),
    ("money", "Cost at most"),
    ("minutes", "Minutes at most"),
)


async def _ask_for_more(host: Host, desk: "Desk", run: str, limits: dict[str, float]) -> None:
    """Asks what a run may use in all, until it has room, and has it go on."""
    from marginalia_tui.domain.errors import Invalid
    from marginalia_tui.widgets.dialogs import Form
    from marginalia_tui.widgets.fields import Field

    note, now = "", dict(limits)
    while True:
        fields = [
            Field("note", "A word for the agent", "text", note, help="It may be left empty."),
            *(
                Field(name, label, "number", now[name] or None, whole=name in ("rounds", "tokens"))
                for name, label in _MORE
            ),
        ]
        answer = await host.ask(Form("A limit is reached: let this run have more", fields))
        if answer is None:
            return
        note = str(answer["note"] or "")
        now = {name: _number(answer[name]) for name, _ in _MORE}
        try:
            await host.call(desk.runs.resume, run, note, {name: now[name] for name in now if now[name] != limits[name]})
            return
        except Invalid as error:
            host.refuse(error)


def _number(value: "FieldValue") -> float:
    return value if isinstance(value, int | float) else 0
