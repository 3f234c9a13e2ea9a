"""The command bar of every screen: it opens on what is seen, runs a line off the loop, asks, and shows the answer."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from marginalia_tui.domain.errors import Cancelled, Refused
from marginalia_tui.screens.host import Host
from marginalia_tui.widgets.text import crop

if TYPE_CHECKING:
    from marginalia_tui.commands.hint import Hint as CommandHint
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.desk.bar import CommandRun
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.completion import Choice, Hint

SHORT = 160
"""Characters of an answer that is told in a notice; a longer one gets a panel."""


class BarAnswers:
    """Answers the questions of a command by a dialog; called on the thread of the command, which waits."""

    def __init__(self, ask: Callable[[str], "Future[bool] | None"]) -> None:
        self._ask = ask

    def confirm(self, question: str) -> bool:
        """Whether the author says yes.

        Raises:
            Cancelled: the studio is being closed.
        """
        answer = self._ask(question)
        if answer is None:
            raise Cancelled("The studio is being closed: nothing was changed.")
        return answer.result()


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


class BarHost(Host):
    """The part of the app that the bar is."""

    @dataclass
    class Asked(Message):
        """A command asks, and its thread waits for the answer."""

        question: str
        answer: "Future[bool]"

    @dataclass
    class Status(Message):
        """What the command that runs is doing."""

        text: str

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._command_run: CommandRun | None = None
        self._questions: set[Future[bool]] = set()

    # Opening

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

    # Running

    def run_line(self, line: str) -> None:
        """Runs a command line in the author's scope of the open book, and shows its result."""
        desk = self.desk
        if desk is None:
            self.tell("The studio is not open yet.")
        elif self._command_run is not None:
            self.tell("A command is running: F7 stops it.")
        else:
            self.do(self._run_line(desk, line if line.startswith("/") else f"/{line}"))

    async def _run_line(self, desk: "Desk", line: str) -> None:
        run = await self.call(desk.bar.line, line, self.opened, BarAnswers(self._ask), self._on_status)
        self.show_answer(await self._finish(run))

    async def command(self, name: str, **arguments: object) -> "Shown":
        """Runs a command that a key stands for, in the author's scope of the open book.

        Raises:
            MarginaliaError: it was refused, stopped or failed.
        """
        if self.desk is None or self._command_run is not None:
            raise Refused("A command is running: F7 stops it." if self.desk else "The studio is not open yet.")
        run = await self.call(self.desk.bar.named, name, arguments, self.opened, BarAnswers(self._ask), self._on_status)
        return await self._finish(run)

    async def _finish(self, run: "CommandRun") -> "Shown":
        self._command_run = run
        self.running = crop(run.title, 40)
        try:
            return await self.call(run)
        finally:
            self._command_run = None
            self.running = ""

    def show_answer(self, shown: "Shown") -> None:
        """A short answer in a notice, a long one in a panel."""
        if len(shown.text) <= SHORT and shown.text.count("\n") < 2:
            self.tell(shown.text or "Done.")
            return
        from marginalia_tui.screens.results import ResultScreen

        self.push_screen(ResultScreen(shown))

    def action_stop_command(self) -> None:
        """Stops the command that runs."""
        if self._command_run is None:
            self.tell("No command is running.")
        else:
            self._command_run.stop()

    def _on_status(self, text: str) -> None:
        """On the thread of the command."""
        self.post_message(self.Status(text))

    def on_bar_host_status(self, event: Status) -> None:
        """Shows what the command does."""
        if self._command_run is not None:
            self.running = crop(f"{self._command_run.title}: {event.text}", 60)

    # Asking

    def _ask(self, question: str) -> "Future[bool] | None":
        """On the thread of the command."""
        answer: Future[bool] = Future()
        self._questions.add(answer)
        if not self.post_message(self.Asked(question, answer)):
            return None
        return answer

    def on_bar_host_asked(self, event: Asked) -> None:
        """Asks the author."""
        from marginalia_tui.widgets.dialogs import Confirm

        def answered(yes: bool | None) -> None:
            self._questions.discard(event.answer)
            if not event.answer.done():
                event.answer.set_result(bool(yes))

        severity = self._command_run.severity if self._command_run else ""
        self.push_screen(Confirm(event.question, severity=severity), answered)

    def forget_questions(self) -> None:
        """Ends the waiting of every command that asked: the studio is being closed."""
        for answer in list(self._questions):
            if not answer.done():
                answer.set_exception(Cancelled("The studio is being closed: nothing was changed."))
        self._questions.clear()
