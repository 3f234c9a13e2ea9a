"""The command bar of every screen: it opens on what is seen, has a line run, and shows the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from marginalia_tui.screens.host import Host
from marginalia_tui.screens.working import WorkHost

if TYPE_CHECKING:
    from marginalia_tui.commands.hint import Hint as CommandHint
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.widgets.completion import Choice, Hint

SHORT = 160
"""Characters of an answer that is told in a notice; a longer one gets a panel."""


class LateBar:
    """What the bar is told of a line: nothing until the studio is open."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def complete(self, text: str, cursor: int) -> "Sequence[Choice]":
        """What fits at a place of a line."""
        from marginalia_tui.widgets.completion import Choice

        desk = self._host.desk
        found = [] if desk is None else desk.bar.complete(text, cursor)
        return [
            Choice(
                each.label,
                each.text,
                each.start,
                each.end,
                each.description,
                "" if each.severity is None else each.severity.word,
                each.destructive,
            )
            for each in found
        ]

    def hint(self, text: str, cursor: int) -> "Hint":
        """What is said of a place of a line."""
        from marginalia_tui.widgets.completion import Hint

        desk = self._host.desk
        found = None if desk is None else desk.bar.hint(text, cursor)
        return Hint() if found is None else _shown_hint(found)

    def history(self) -> Sequence[str]:
        """Lines that were run."""
        desk = self._host.desk
        return () if desk is None else desk.bar.history()


def _shown_hint(found: "CommandHint") -> "Hint":
    from marginalia_tui.widgets.completion import Hint, HintPart

    command = found.command
    if command is None:
        return Hint(error=found.error)
    form = [HintPart(f"/{command.name}")]
    for place, parameter in enumerate(found.parameters):
        name = parameter.name if parameter.required else f"({parameter.name})"
        form.append(HintPart(name, current=place == found.current))
    current = found.parameter
    words = command.description if current is None else f"{current.name}: {current.description}"
    return Hint(tuple(form), words, command.severity.word, command.destructive, found.error)


class BarHost(WorkHost):
    """The part of the app that the bar is."""

    def action_bar(self) -> None:
        """Opens the bar."""
        self.open_bar()

    def open_bar(self, text: str | None = None) -> None:
        """Opens the command bar on the screen that is seen."""
        self.do(self._open_bar(text))

    async def _open_bar(self, text: str | None) -> None:
        from marginalia_tui.screens.base import BaseScreen
        from marginalia_tui.widgets.commandbar import CommandBar

        screen = self.screen
        if not isinstance(screen, BaseScreen):
            return
        bars = screen.query(CommandBar)
        if not bars:
            await screen.mount(CommandBar(LateBar(self)))
        screen.query_one(CommandBar).open(text)
        if self.desk is not None:
            await self.call(self.desk.bar.read_names, self.opened)

    def on_command_bar_submitted(self, event: Message) -> None:
        """Enter in the bar."""
        from marginalia_tui.widgets.commandbar import CommandBar

        assert isinstance(event, CommandBar.Submitted)
        self.run_line(event.line)

    def show_answer(self, shown: "Shown") -> None:
        """A short answer in a notice, a long one in a panel."""
        if len(shown.text) <= SHORT and shown.text.count("\n") < 2:
            self.tell(shown.text or "Done.")
            return
        from marginalia_tui.screens.results import ResultScreen

        self.push_screen(ResultScreen(shown))
