"""The commands that run for the screens: several at once, watched, stopped, asked for; and what they answered."""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from marginalia_tui.domain.errors import Cancelled, MarginaliaError, Refused
from marginalia_tui.screens.host import Host
from marginalia_tui.screens.workpanel import Progress

if TYPE_CHECKING:
    from textual.timer import Timer

    from marginalia_tui.commands.context import Question
    from marginalia_tui.commands.control import Control
    from marginalia_tui.commands.running import Begun, CommandRun
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.dialogs import Confirm

    Start = Callable[[Begun], CommandRun]

RESULTS = 50
"""Answers that are kept."""
SHOWN_AFTER = 0.4
"""Seconds after which a command that runs gets a line of its own."""
TICK = 0.25
"""Seconds between two looks at how far the commands are."""
AT_ONCE = 2.0
"""Seconds within which an answer is expected, so that it may come up by itself."""
CLOSING = "The studio is being closed: nothing was changed."


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a line ended."""

    title: str
    shown: "Shown | None"
    """The answer; None when it was refused, stopped or failed."""
    text: str
    """The answer as plain text, or why there is none."""
    seconds: float = 0.0


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
        self.waited = 0.0
        """Seconds that it waited for answers."""

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

        began = time.monotonic()
        with control.woken(withdraw):
            yes = asking.answer.result()
        self.waited += time.monotonic() - began
        return yes


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

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.work: list[CommandRun] = []
        """The commands that run, the oldest first."""
        self.outcomes: deque[Outcome] = deque(maxlen=RESULTS)
        """How lines ended, the newest first."""
        self._questions: set[Future[bool]] = set()
        self._ticking: Timer | None = None

    # Running

    def run_line(self, line: str) -> None:
        """Runs a command line in the author's scope of the open book, and shows its result."""
        desk = self.desk
        if desk is None:
            self.tell("The studio is not open yet.")
        else:
            self.do(self._run_line(desk, line if line.startswith("/") else f"/{line}"))

    async def _run_line(self, desk: "Desk", line: str) -> None:
        book, front = self.opened, self.screen
        answers = DialogAnswers(self._ask)
        try:
            shown, run = await self._run(answers, lambda begun: desk.bar.start_line(line, book, answers, begun))
        except MarginaliaError as error:
            self.outcomes.appendleft(Outcome(line, None, error.message))
            raise
        self.outcomes.appendleft(Outcome(line, shown, shown.text.strip(), run.seconds))
        if shown.is_short or (self.screen is front and run.seconds - answers.waited < AT_ONCE):
            self.show_answer(shown)
        else:
            # Whoever writes or reads something else meanwhile is not disturbed.
            gist = shown.sentence.split("\n", 1)[0] or f"Done: {line}."
            self.tell(f"{gist} {self.key_of(type(self), 'app.work')} shows the answer.")

    async def command_on(self, book: str | None, name: str, /, **arguments: object) -> "Shown":
        """Runs a command that a key stands for, in the author's scope of a book, or of none.

        Raises:
            MarginaliaError: it was refused, stopped or failed.
        """
        desk = self.desk
        if desk is None:
            raise Refused("The studio is not open yet.")
        answers = DialogAnswers(self._ask)
        shown, _ = await self._run(answers, lambda begun: desk.bar.start(name, arguments, book, answers, begun))
        return shown

    async def _run(self, answers: DialogAnswers, start: "Start") -> "tuple[Shown, CommandRun]":
        from marginalia_tui.desk.bar import shown

        def begun(run: "CommandRun") -> None:
            answers.severity = run.command.severity.word
            self.post_message(self.Began(run))

        run = await self.call(start, begun)
        try:
            return await self.call(shown, run), run
        finally:
            if run in self.work:
                self.work.remove(run)
            self._show_work()

    def on_work_host_began(self, event: Began) -> None:
        """Shows it as long as it runs."""
        if not event.run.future.done():
            self.work.append(event.run)
            if self._ticking is None:
                self._ticking = self.set_interval(TICK, self._show_work)

    @property
    def progress(self) -> tuple[Progress, ...]:
        """How far the commands are that have run for a while, the oldest first."""
        return tuple(_progress(run) for run in self.work if run.seconds >= SHOWN_AFTER)

    def _show_work(self) -> None:
        from marginalia_tui.screens.base import BaseScreen

        progress, key = self.progress, self.key_of(type(self), "app.stop_command")
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.show_work(progress, key)
        if not self.work and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def action_work(self) -> None:
        """Shows the commands that run and how others ended."""
        from marginalia_tui.screens.worklist import WorkListScreen

        if not isinstance(self.screen, WorkListScreen):
            self.push_screen(WorkListScreen(self.current_mode))

    def action_stop_command(self) -> None:
        """Stops the command that was started last."""
        if self.work:
            self.stop_work(self.work[-1])
        else:
            self.tell("No command is running.")

    def stop_work(self, run: "CommandRun") -> None:
        """Stops a command, if it can be."""
        if not run.cancel() and not run.future.done():
            self.tell(f"{run.title} is writing: it can't be stopped any more.")

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


def _progress(run: "CommandRun") -> Progress:
    status = run.status
    return Progress(run.title, status.words, run.seconds, status.done, status.total, status.uninterruptible)
