"""Asking the model of a run, and waiting for its answer on the thread of the worker."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError

from marginalia_tui.agent.events import ReasoningArrived, RunEvent, TextArrived
from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.domain.chat import (
    Answer,
    CallArguments,
    CallStarted,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
)


class Asker:
    """Asks one model, one request at a time. `look_again` may be called from any thread.

    Args:
        setup: the model, and those that know how to ask it.
        live: gets the answer while it is written.
        tell: hears of each piece, on the thread of the models.
        must_end: whether what is waited for is to be given up; asked on the worker's thread after `look_again`.
    """

    def __init__(
        self,
        setup: RunSetup,
        live: LiveBuffer,
        tell: Callable[[RunEvent], None],
        must_end: Callable[[], bool],
    ) -> None:
        self._setup = setup
        self._live = live
        self._tell = tell
        self._must_end = must_end
        self._wake = threading.Condition()
        self._looks = 0

    def look_again(self) -> None:
        """Something changed: whoever waits asks whether to go on."""
        with self._wake:
            self._looks += 1
            self._wake.notify_all()

    def ask(self, request: Request, place: int, note: str = "") -> Answer | None:
        """Asks and waits.

        Args:
            request: what is asked.
            place: the ordinal that the answer will have in the transcript.
            note: what the studio is asking for, shown in place of the answer, which is no word of the agent's then.

        Returns:
            The answer; None when it was given up.

        Raises:
            MarginaliaError: the model does not answer, or its key can't be used.
        """
        self._live.begin(place)
        if note:
            self._live.wait(note)
        heard = None if note else self._arrived
        pending = self._setup.models.ask(
            self._setup.model, request, heard, on_wait=lambda waiting: self._live.wait(waiting.message)
        )
        pending.future.add_done_callback(lambda _: self.look_again())
        seen = -1
        try:
            while not pending.future.done():
                with self._wake:
                    while self._looks == seen and not pending.future.done():
                        self._wake.wait()
                    seen = self._looks
                if not pending.future.done() and self._must_end():
                    pending.cancel()
                    return None
            return pending.future.result()
        except CancelledError:
            return None
        except BaseException:
            pending.cancel()
            raise

    def _arrived(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(text):
                self._live.add(text=text)
                self._tell(TextArrived(text))
            case ReasoningDelta(text, _):
                self._live.add(reasoning=text)
                self._tell(ReasoningArrived(text))
            case CallStarted(_, _, name):
                self._live.add_call(name)
            case CallArguments(_, text):
                self._live.add_call(arguments=text)
            case _:
                pass
