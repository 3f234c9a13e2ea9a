"""The commands that run for the screens: several at once, watched, stopped, asked for; and what they answered."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from marginalia_tui.domain.errors import Cancelled, MarginaliaError, Refused
from marginalia_tui.screens.host import Host
from marginalia_tui.widgets.text import crop

if TYPE_CHECKING:
    from marginalia_tui.commands.context import Answers, Question
    from marginalia_tui.commands.control import Control
    from marginalia_tui.commands.running import Begun, CommandRun
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.dialogs import Confirm

    Start = Callable[[Answers, Begun], CommandRun]

RESULTS = 50
"""Answers that are kept."""
CLOSING = "The studio is being closed: nothing was changed."


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a line ended."""

    title: str
    seconds: float
    shown: "Shown | None"
    """The answer; None when it was refused, stopped or failed."""
    error: str = ""


@dataclass
class Asking:
    """A question of a command, whose thread waits for the answer."""

    question: "Question"
    severity: str
    answer: "Future[bool]" = field(default_factory=Future)


class DialogAnswers:
    """Answers the questions of a command by a dialog; called on the thread of the command, which waits."""

    def __init__(self, ask: Callable[[Asking], bool]) -> None:
        self._ask = ask
        self.severity = ""
        """What the command does, in a word."""

    def confirm(self, question: "Question", control: "Control") -> bool:
        """Whether the author says yes.

        Raises:
            Cancelled: the command was stopped, or the studio is being closed.
        """
        asking = Asking(question, self.severity)
        if not self._ask(asking):
            raise Cancelled(CLOSING)

        def withdraw() -> None:
            if not asking.answer.done():
                asking.answer.set_result(False)

        with control.woken(withdraw):
            return asking.answer.result()


class WorkHost(Host):
    """The part of the app that runs commands."""

    @dataclass
    class Asked(Message):
        """A command asks."""

        asking: Asking

    @dataclass
    class Began(Message):
        """A command begins."""

        run: "CommandRun"

    @dataclass
    class Worked(Message):
        """A command is further than it was."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.work: list[CommandRun] = []
        """The commands that run, the oldest first."""
        self.outcomes: deque[Outcome] = deque(maxlen=RESULTS)
        """How lines ended, the newest first."""
        self._questions: set[Future[bool]] = set()

    # Running

    def run_line(self, line: str) -> None:
        """Runs a command line in the author's scope of the open book, and shows its result."""
        desk = self.desk
        if desk is None:
            self.tell("The studio is not open yet.")
        else:
            self.do(self._run_line(desk, line if line.startswith("/") else f"/{line}"))

    async def _run_line(self, desk: "Desk", line: str) -> None:
        book = self.opened
        try:
            shown, run = await self._run(desk, lambda answers, begun: desk.bar.start_line(line, book, answers, begun))
        except MarginaliaError as error:
            self.outcomes.appendleft(Outcome(line, 0.0, None, error.message))
            raise
        self.outcomes.appendleft(Outcome(line, run.seconds, shown))
        self.show_answer(shown)

    async def command(self, name: str, **arguments: object) -> "Shown":
        """Runs a command that a key stands for, in the author's scope of the open book.

        Raises:
            MarginaliaError: it was refused, stopped or failed.
        """
        desk, book = self.desk, self.opened
        if desk is None:
            raise Refused("The studio is not open yet.")
        shown, _ = await self._run(desk, lambda answers, begun: desk.bar.start(name, arguments, book, answers, begun))
        return shown

    async def _run(self, desk: "Desk", start: "Start") -> "tuple[Shown, CommandRun]":
        from marginalia_tui.desk.bar import shown

        answers = DialogAnswers(self._ask)

        def begun(run: "CommandRun") -> None:
            answers.severity = run.command.severity.word
            run.control.listen(lambda _: self._heard())
            self.post_message(self.Began(run))

        run = await self.call(start, answers, begun)
        try:
            return await self.call(shown, run), run
        finally:
            if run in self.work:
                self.work.remove(run)
            self._tell_work()

    def _heard(self) -> None:
        """On the thread of a command that is further."""
        self.post_message(self.Worked())

    def on_work_host_began(self, event: Began) -> None:
        """Shows it as long as it runs."""
        if not event.run.future.done():
            self.work.append(event.run)
            self._tell_work()

    def on_work_host_worked(self) -> None:
        """Shows how far it is."""
        self._tell_work()

    def _tell_work(self) -> None:
        if not self.work:
            self.running = ""
        elif len(self.work) > 1:
            self.running = f"{len(self.work)} commands run"
        else:
            (run,) = self.work
            words = run.status.words
            self.running = crop(run.title, 40) if not words else crop(f"{run.title}: {words}", 60)

    def action_stop_command(self) -> None:
        """Stops the command that was started last."""
        if not self.work:
            self.tell("No command is running.")
        elif not self.work[-1].cancel():
            self.tell("It can't be stopped now: it is writing.")

    def show_answer(self, shown: "Shown") -> None:
        """A short answer in a notice, a long one in a panel."""
        raise NotImplementedError

    # Asking

    def _ask(self, asking: Asking) -> bool:
        """On the thread of the command."""
        self._questions.add(asking.answer)
        return self.post_message(self.Asked(asking))

    def on_work_host_asked(self, event: Asked) -> None:
        """Asks the author."""
        from marginalia_tui.widgets.dialogs import Confirm

        asking = event.asking
        dialog = Confirm(asking.question.text, shows=asking.question.shows, severity=asking.severity)

        def answered(yes: bool | None) -> None:
            self._questions.discard(asking.answer)
            if not asking.answer.done():
                asking.answer.set_result(bool(yes))

        if not asking.answer.done():
            self.push_screen(dialog, answered)
            asking.answer.add_done_callback(lambda _: self.call_later(self._withdraw, dialog))

    def _withdraw(self, dialog: "Confirm") -> None:
        """Takes the question of a command away that was stopped."""
        if dialog is self.screen:
            dialog.dismiss(False)

    def forget_questions(self) -> None:
        """Ends the waiting of every command that asked: the studio is being closed."""
        for answer in list(self._questions):
            if not answer.done():
                answer.set_exception(Cancelled(CLOSING))
        self._questions.clear()
