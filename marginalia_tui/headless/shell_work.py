"""A command in front of a person: its status while it runs, its questions, Ctrl-C that stops it.

The command runs on a thread of its own; this one waits for what it tells, so that it can ask and be interrupted.
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from marginalia_tui.commands.context import AlwaysYes, Answers, NobodyToAsk, Question
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.running import Begun, CommandRun
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.headless.output import say, write_aside
from marginalia_tui.headless.shell_terminal import (
    Interrupts,
    StatusLine,
    forget_typed,
    interrupt,
    is_terminal,
    read_typed,
    width,
)
from marginalia_tui.headless.shell_text import wrapped

Start = Callable[[Answers, Begun], CommandRun]

_TICK = 0.2
"""Seconds between two looks at how far a command is."""


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    answer: "Future[bool]" = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Ended:
    error: BaseException | None = None


class _Stop:
    """Ctrl-C was pressed."""


_Event = _Asked | _Ended | _Stop | CommandRun


class _Passed:
    """Answers questions by passing them on to the thread that waits."""

    def __init__(self, events: "SimpleQueue[_Event]") -> None:
        self._events = events

    def confirm(self, question: Question, control: Control) -> bool:
        """Whether the person says yes."""
        asked = _Asked(question)
        with control.woken(lambda: _answer(asked, False)):
            self._events.put(asked)
            return asked.answer.result()


def _answer(asked: _Asked, yes: bool) -> None:
    """The first answer counts; a command that was stopped answers itself with no."""
    if not asked.answer.done():
        asked.answer.set_result(yes)


class Foreground:
    """Runs one command at a time, and stays until it has ended.

    Args:
        interrupts: what Ctrl-C does.
        status: where the status is shown.
        yes: whether questions are answered with yes.
    """

    def __init__(self, interrupts: Interrupts, status: StatusLine, *, yes: bool) -> None:
        self._interrupts = interrupts
        self._status = status
        self._yes = yes
        self._run: CommandRun | None = None

    def run(self, start: Start) -> CommandRun:
        """Runs what `start` starts.

        Returns:
            The run, which has ended: its future has the answer, or what it was refused with.

        Raises:
            MarginaliaError: it did not begin.
        """
        events: SimpleQueue[_Event] = SimpleQueue()
        self._run = None
        with self._interrupts.to(lambda: events.put(_Stop())):
            # A daemon: the end of the program waits for no command.
            threading.Thread(target=self._start, args=[start, events], name="shell-command", daemon=True).start()
            try:
                return self._watch(events)
            finally:
                self._status.clear()

    def _start(self, start: Start, events: "SimpleQueue[_Event]") -> None:
        def begun(run: CommandRun) -> None:
            events.put(run)
            # One that is stopped has its end at once, whatever its thread still does.
            run.future.add_done_callback(lambda _: events.put(_Ended()))

        try:
            start(self._answers(events), begun)
        except BaseException as error:  # handed over whole: whoever waits raises it
            events.put(_Ended(error))

    def _answers(self, events: "SimpleQueue[_Event]") -> Answers:
        if self._yes:
            return AlwaysYes()
        return _Passed(events) if is_terminal(sys.stderr) else NobodyToAsk()

    def _watch(self, events: "SimpleQueue[_Event]") -> CommandRun:
        while True:
            try:
                event = events.get(timeout=_TICK)
            except Empty:
                self._status.show(self._run)
                continue
            match event:
                case _Ended(error):
                    if error is not None:
                        raise error
                    assert self._run is not None, "a run that nobody told of"
                    return self._run
                case _Asked():
                    self._ask(event)
                case _Stop():
                    self._stop()
                case CommandRun():
                    self._run = event

    def _stop(self) -> None:
        if self._run is None or self._run.future.done():
            return
        self._status.clear()
        if not self._run.cancel():
            say("It can't be stopped now: it is writing.")

    def _ask(self, asked: _Asked) -> None:
        if asked.answer.done():
            return
        self._status.clear()
        shown = [wrapped(line.replace("\n", " "), width(), 2) for line in asked.question.shows]
        for line in shown:
            write_aside(f"{line}\n")
        forget_typed()
        try:
            with self._interrupts.to(interrupt):
                write_aside(wrapped(f"{asked.question.text} [y/N]", width() - 4) + " ")
                yes = read_typed().strip().casefold() in ("y", "yes")
        except (EOFError, Invalid):
            write_aside("\n")
            yes = False
        except KeyboardInterrupt:
            write_aside("\n")
            self._stop()
            yes = False
        _answer(asked, yes)
