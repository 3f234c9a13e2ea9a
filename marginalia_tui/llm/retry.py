"""When the start of a request is tried again.

Only the start: nothing of the answer has come yet. Silence is not tried again (a local server that reads a
long prompt would begin anew for ever), nor is a used-up account, nor what the server refuses.
"""

import random
from dataclasses import dataclass, field

from marginalia_tui.llm.errors import ModelFault, Reason, spell
from marginalia_tui.llm.faults import PATIENCE

RETRIED = frozenset({Reason.RATE_LIMITED, Reason.SERVER, Reason.CANNOT_CONNECT, Reason.LOADING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Told while a request waits: which fault, for how many seconds, before which try (2 is the second)."""

    reason: Reason
    message: str
    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and after how long; all times in seconds."""

    attempts: int = 4
    """Tries in all, the first counted."""
    base: float = 1.0
    """The first wait; each further one doubles."""
    cap: float = 60.0
    """The longest wait of our own choice."""
    patience: float = PATIENCE
    """The longest wait that a server may ask for; a longer one ends the request with its sentence."""
    loading: float = 2.0
    """The wait for a server that loads its model."""
    loading_attempts: int = 60
    """Tries while it loads."""
    dice: random.Random = field(default_factory=random.Random)
    """Where the jitter comes from."""

    def wait(self, fault: ModelFault, attempt: int) -> float | None:
        """Seconds until the next try, None when there is none.

        Args:
            fault: why the try failed.
            attempt: the number of the try that failed, from 1.
        """
        if fault.fault not in RETRIED:
            return None
        loading = fault.fault is Reason.LOADING
        if attempt >= (self.loading_attempts if loading else self.attempts):
            return None
        if fault.retry_after is not None:
            if fault.retry_after > self.patience:
                return None
            # Never before the time that the server named; those who wait together part a little.
            return fault.retry_after + self.base * 0.25 * self.dice.random()
        if loading:
            return self.loading
        return min(self.cap, self.base * 2.0 ** (attempt - 1)) * (0.75 + 0.5 * self.dice.random())


def waiting(fault: ModelFault, seconds: float, attempt: int) -> Waiting:
    """What is told while waiting for try `attempt`."""
    words = {
        Reason.RATE_LIMITED: "The server limits how often it is asked",
        Reason.LOADING: "The server loads its model",
        Reason.CANNOT_CONNECT: "No connection to the server",
    }.get(fault.fault, "The server failed")
    message = f"{words}: try {attempt} in {spell(seconds)}."
    return Waiting(reason=fault.fault, message=message, seconds=seconds, attempt=attempt)
