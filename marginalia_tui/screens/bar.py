"""The command bar of every screen: it opens on what is seen, has a line run, and shows the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from marginalia_tui.screens.host import Host
from marginalia_tui.screens.working import WorkHost

if TYPE_CHECKING:
    from marginalia_tui.commands.completion import Completion
    from marginalia_tui.commands.hint import Hint as CommandHint
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.widgets.completion import Choice, Hint

NOTHING = "Type the name of a command first: the form is about that one."


def choices_of(found: "Sequence[Completion]") -> "list[Choice]":
    """Completions as the list shows them."""
    from marginalia_tui.widgets.completion import Choice

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


class LateBar:
    """What the bar is told of a line: nothing until the studio is open."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def complete(self, text: str, cursor: int) -> "Sequence[Choice]":
        """What fits at a place of a line."""
        desk = self._host.desk
        return choices_of([] if desk is None else desk.bar.complete(text, cursor))

    def hint(self, text: str, cursor: int) -> "Hint":
        """What is said of a place of a line."""
        from marginalia_tui.widgets.completion import Hint

        desk = self._host.desk
        found = None if desk is None else desk.bar.hint(text, cursor)
        if text.strip() in ("", "/"):
            key = self._key
            return Hint(
                description=f"Type what you want to do. {key('accept')} completes, Enter runs, {key('help')} explains, "
                f"{key('up')} and {key('search')} bring back old lines."
            )
        return Hint() if found is None else _shown_hint(found)

    def searching(self) -> "Hint":
        """What is said while old lines are searched."""
        from marginalia_tui.widgets.completion import Hint

        words = (
            f"Words of a line that was run. {self._key('search')} older   Enter takes it   {self._key('close')} leaves"
        )
        return Hint(description=words)

    def _key(self, name: str) -> str:
        from marginalia_tui.widgets.commandbar import CommandBar

        return self._host.key_of(CommandBar, f"bar.{name}")

    def history(self) -> Sequence[str]:
        """Lines that were run, those of the open book behind all others."""
        desk = self._host.desk
        return () if desk is None else desk.bar.history(self._host.opened)


def _shown_hint(found: "CommandHint") -> "Hint":
    from marginalia_tui.widgets.completion import Hint, HintPart

    command = found.command
    if command is None:
        return Hint(error=found.error)
    form = [HintPart(f"/{command.name}")]
    for place, parameter in enumerate(found.parameters):
        name = parameter.name if parameter.required else f"({parameter.name})"
        form.append(HintPart(name, current=place == found.current))
    count = ""
    if found.form is not None and len(command.forms) > 1:
        count = f"form {command.forms.index(found.form) + 1} of {len(command.forms)}"
    return Hint(tuple(form), _words(found), command.severity.word, command.destructive, found.error, count)


def _words(found: "CommandHint") -> str:
    from marginalia_tui.commands.hint import facts_of

    assert found.command is not None and found.form is not None
    if found.wants_form:
        return "Enter opens a form for all options."
    current = found.parameter
    if current is None:
        return found.form.description
    facts = facts_of(current)
    return f"{current.name}: {current.description}" + (f" ({facts})" if facts else "")


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
        bar = screen.query_one(CommandBar)
        bar.open(text)
        if self.desk is not None:
            await self.call(self.desk.bar.read_names, self.opened)
            bar.look_again()

    def on_command_bar_submitted(self, event: Message) -> None:
        """Enter in the bar: runs the line, or opens the form for which `/name ?` asks."""
        from marginalia_tui.widgets.commandbar import CommandBar

        assert isinstance(event, CommandBar.Submitted)
        if self.desk is not None and self.desk.bar.asks_for_sheet(event.line):
            self.do(self._fill_in((event.line,)))
        else:
            self.run_line(event.line)

    def on_command_bar_form_wanted(self, event: Message) -> None:
        """Ctrl+Enter in the bar."""
        from marginalia_tui.widgets.commandbar import CommandBar

        assert isinstance(event, CommandBar.FormWanted)
        self.do(self._fill_in(event.lines))

    async def _fill_in(self, lines: tuple[str, ...]) -> None:
        """Shows a form for the command of a line; runs the line that it makes, or puts that back into the bar."""
        from marginalia_tui.screens.commandform import CommandForm
        from marginalia_tui.widgets.commandbar import CommandBar

        sheet = None if self.desk is None else await self.call(self.desk.bar.sheet, *lines)
        if sheet is None:
            self.tell(NOTHING)
            return
        answer = await self.ask(CommandForm(sheet))
        if answer is None:
            return
        if not answer["run"]:
            self.open_bar(str(answer["line"]))
            return
        for bar in self.screen.query(CommandBar):
            bar.empty()
        self.run_line(str(answer["line"]))

    def on_command_bar_help_wanted(self, event: Message) -> None:
        """F1 in the bar."""
        from marginalia_tui.widgets.commandbar import CommandBar

        assert isinstance(event, CommandBar.HelpWanted)
        self.do(self._explain(event.lines))

    async def _explain(self, lines: tuple[str, ...]) -> None:
        from marginalia_tui.screens.results import ResultScreen

        if self.desk is not None:
            self.push_screen(ResultScreen(await self.call(self.desk.bar.page, *lines)))

    def show_answer(self, shown: "Shown") -> None:
        """A short answer in a notice, a long one in a panel."""
        if shown.is_short:
            self.tell(shown.text or "Done.")
            return
        from marginalia_tui.screens.results import ResultScreen

        self.push_screen(ResultScreen(shown))
