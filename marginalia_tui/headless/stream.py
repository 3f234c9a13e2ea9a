"""The stream of a working run: one JSON object a line, or text that is read as it comes."""

import threading
from collections.abc import Callable

from marginalia_tui.agent.events import (
    CallAnswered,
    CallMade,
    NoticeGiven,
    ReasoningArrived,
    Rested,
    RoundBegan,
    RunEvent,
    StatusChanged,
    TextArrived,
    UsageCounted,
)
from marginalia_tui.agent.runner import Runner
from marginalia_tui.domain.errors import Busy
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.headless.output import OutputLost, print_json, say, write_out

RESULT_SHOWN = 200
"""Characters of a result that a person is shown in the stream."""
UNHEARD = "What it wrote reached nobody any more. Resume it, and it goes on exactly where it was."


class Stream:
    """Prints events. Called from the threads of workers and models, one event at a time."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self._lock = threading.Lock()
        self._open = False
        """Whether the last line printed is still being written."""
        self._lost = False
        self._when_lost: Callable[[], None] | None = None

    def when_lost(self, action: Callable[[], None]) -> None:
        """Calls `action` once what is printed reaches nobody any more."""
        with self._lock:
            self._when_lost = action
            lost = self._lost
        if lost:
            action()

    def __call__(self, event: RunEvent) -> None:
        """Prints an event.

        Raises:
            OutputLost: it reaches nobody.
        """
        try:
            with self._lock:
                if self._json:
                    print_json(event.to_json())
                else:
                    self._print(event)
        except OutputLost:
            with self._lock:
                self._lost = True
                action = self._when_lost
            if action is not None:
                action()
            raise

    def _print(self, event: RunEvent) -> None:
        match event:
            case TextArrived(delta):
                self._write(delta)
            case ReasoningArrived(_):
                pass  # told in full by the transcript
            case CallMade(_, _, name, arguments):
                self._line(f"  > {name} {_short(arguments)}")
            case CallAnswered(_, ok, text, seconds):
                self._line(f"    {'ok' if ok else 'failed'} {seconds:.2f} s  {_short(text)}")
            case StatusChanged(run, status, _):
                self._line(f"Run {run}: {status}")
            case RoundBegan(n):
                self._line(f"Round {n}")
            case UsageCounted(prompt, completion, _, _):
                self._line(f"  {prompt:,} + {completion:,} tokens")
            case NoticeGiven(text):
                self._line(f"  told: {_short(text)}")
            case Rested(_, status, reason):
                self._line(f"{status}" + (f": {reason}" if reason else ""))
            case _:
                raise AssertionError(f"an event that nobody prints: {event}")

    def _write(self, text: str) -> None:
        write_out(visible(text))
        self._open = not text.endswith("\n")

    def _line(self, text: str) -> None:
        write_out(("\n" if self._open else "") + visible(text) + "\n")
        self._open = False


def work_to_rest(runner: Runner, run: str, stream: Stream) -> RunStatus | None:
    """Waits until the run that this process works rests; a run whose stream reaches nobody is paused.

    Returns:
        How it was left; None when that was before this was called.

    Raises:
        Busy: this process could not bring it to a rest: another one took it over, or the store refuses.
    """
    worker = runner.worker(run)
    if worker is None:
        return None
    lost = threading.Event()

    def park() -> None:
        lost.set()
        worker.park(UNHEARD)

    stream.when_lost(park)
    worker.done.wait()
    if lost.is_set() and worker.rested is RunStatus.PAUSED:
        say(f"What the run writes reaches nobody any more, so it was paused: `marginalia run resume {run}` goes on.")
    if worker.rested is None:
        raise Busy("This process works the run no more: `run attach` follows the one that does, or `run work` does it.")
    return worker.rested


def _short(text: str) -> str:
    line = visible_line(" ".join(text.split()))
    return line if len(line) <= RESULT_SHOWN else line[: RESULT_SHOWN - 1] + "…"
