"""The stream of a working run: one JSON object a line, or text that is read as it comes."""

import sys
import threading

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
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.headless.output import print_json

RESULT_SHOWN = 200
"""Characters of a result that a person is shown in the stream."""


class Stream:
    """Prints events. Called from the threads of workers and models, one event at a time."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self._lock = threading.Lock()
        self._open = False
        """Whether the last line printed is still being written."""

    def __call__(self, event: RunEvent) -> None:
        """Prints an event."""
        with self._lock:
            if self._json:
                print_json(event.to_json())
            else:
                self._print(event)

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
        sys.stdout.write(visible(text))
        sys.stdout.flush()
        self._open = not text.endswith("\n")

    def _line(self, text: str) -> None:
        sys.stdout.write(("\n" if self._open else "") + visible(text) + "\n")
        sys.stdout.flush()
        self._open = False


def _short(text: str) -> str:
    line = visible_line(" ".join(text.split()))
    return line if len(line) <= RESULT_SHOWN else line[: RESULT_SHOWN - 1] + "…"
