"""Commands that are started, watched and stopped.

A short command runs on the thread of its caller, a long one on a thread of the pool. Either way a `CommandRun` tells
what it is doing, has its answer in a future, and is stopped through it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from marginalia_tui.commands.arguments import Arguments
from marginalia_tui.commands.context import Scope
from marginalia_tui.commands.control import Control, Status
from marginalia_tui.commands.definition import CommandDefinition
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Cancelled

THREADS = 8
"""Long commands that run at once; further ones wait."""


class CommandRun:
    """One run of a command. Safe to use from any thread.

    Args:
        command: what is run.
        title: what people read of it: the line, or the title of the command.
        control: the line to it.
        work: both halves of the command.
    """

    def __init__(self, command: CommandDefinition, title: str, control: Control, work: Callable[[], Result]) -> None:
        self.command = command
        self.title = title
        self.control = control
        self.future: Future[Result] = Future()
        """Its answer, or what it was refused with."""
        self._work = work
        self._began: float | None = None
        self._ended: float | None = None
        self._ending = threading.RLock()

    @property
    def status(self) -> Status:
        """What it is doing."""
        return self.control.status

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        if self._began is None:
            return 0.0
        return (self._ended or time.monotonic()) - self._began

    def cancel(self) -> bool:
        """Stops it: one that has not begun never does, another one changes nothing any more.

        Whoever waits need not wait for its next check: the answer is there at once, and what the command does until
        then is ignored.

        Returns:
            False when it can't be interrupted now, or is over.
        """
        if self.status.uninterruptible:
            return False
        if self.future.cancel():
            return True
        if self.future.done() or not self.control.stop():
            return False
        self._end(error=Cancelled(f"{self.command.name} was stopped: nothing was changed."))
        return True

    def run(self) -> None:
        """Runs it on this thread, once; its end is in the future."""
        if not self.future.set_running_or_notify_cancel():
            return
        self._began = time.monotonic()
        try:
            result = self._work()
        except BaseException as error:  # handed over whole: whoever waits raises it
            self._end(error=error)
        else:
            self._end(result)

    def _end(self, result: Result | None = None, error: BaseException | None = None) -> None:
        """Keeps the first of its ends."""
        with self._ending:
            if self.future.done():
                return
            self._ended = time.monotonic()
            if result is not None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)


Begun = Callable[[CommandRun], object]
"""Told of a run before it begins."""


class CommandPool:
    """Starts commands, and knows those that run.

    Args:
        dispatcher: runs their halves.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._running: dict[object, CommandRun] = {}
        self._waiting: deque[CommandRun] = deque()
        self._threads = 0

    @property
    def running(self) -> tuple[CommandRun, ...]:
        """Those that have not ended, the oldest first."""
        with self._lock:
            return tuple(self._running.values())

    def start(
        self,
        name: str,
        arguments: Arguments,
        scope: Scope,
        *,
        title: str = "",
        uninterruptible: bool = False,
        begun: Begun | None = None,
    ) -> CommandRun:
        """Starts a command.

        Args:
            name: of the command.
            arguments: by name or by position.
            scope: what it works on.
            title: what people read of it; without it the title of the command.
            uninterruptible: whether it can never be stopped.
            begun: told of the run before it begins.

        Raises:
            NotFound: there is no such command.
        """
        command = self._dispatcher.registry.get(name)
        control = Control(uninterruptible=uninterruptible)
        work = lambda: self._dispatcher.run(command, arguments, scope, control)  # noqa: E731
        return self._start(CommandRun(command, title or command.title, control, work), begun)

    def start_line(
        self, line: str, scope: Scope, *, uninterruptible: bool = False, begun: Begun | None = None
    ) -> CommandRun:
        """`start` for a line such as `/get-part 3`.

        Raises:
            Invalid, NotFound: it is no command, or none of ours.
        """
        command = self._dispatcher.command_of(line)
        control = Control(uninterruptible=uninterruptible)
        values = CommandLine.parse(line).values
        work = lambda: self._dispatcher.run(command, values, scope, control, typed=True)  # noqa: E731
        return self._start(CommandRun(command, line, control, work), begun)

    def _start(self, run: CommandRun, begun: Begun | None) -> CommandRun:
        ticket = object()
        with self._lock:
            self._running[ticket] = run
        # By its ticket: a future that held its own run would have both wait for the collector of garbage.
        run.future.add_done_callback(lambda _: self._forget(ticket))
        if begun is not None:
            begun(run)
        if run.command.long:
            self._queue(run)
        else:
            run.run()
        return run

    def _queue(self, run: CommandRun) -> None:
        with self._lock:
            self._waiting.append(run)
            if self._threads == THREADS:
                return
            self._threads += 1
        # A daemon: the end of the program waits for no command.
        threading.Thread(target=self._work, name="commands", daemon=True).start()

    def _work(self) -> None:
        """Runs what waits, the oldest first, until nothing does."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                run = self._waiting.popleft()
            run.run()

    def _forget(self, ticket: object) -> None:
        with self._lock:
            del self._running[ticket]

    def close(self) -> None:
        """Stops what can be stopped of what runs; what has not begun never does, whatever its caller wanted."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
        for run in waiting:
            run.future.cancel()
        for run in self.running:
            run.cancel()
