"""What the commands that steer runs ask of whoever runs them; a command knows nothing of workers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from marginalia_tui.store.store import ReadTx, WriteTx


@dataclass(frozen=True, slots=True)
class Steered:
    """A run to be steered: its uuid, the name of its agent, the word of its status."""

    run: str
    agent: str
    status: str


class Steering(Protocol):
    """Steers runs inside the transaction of a command; what has to begin or to end begins or ends after its commit.

    Each raises a StatusConflict when it comes too late.
    """

    def find(self, tx: "ReadTx", agent: str | None, book: str | None) -> Steered:
        """The newest run of an agent by its name, of the one of a book without a name.

        Raises:
            NotFound: there is no such agent, or it never ran.
            Invalid: neither is given.
        """
        ...

    def pause(self, tx: "WriteTx", run: str, *, now: bool) -> None:
        """Has it pause, at its next stable point or at once."""
        ...

    def stop(self, tx: "WriteTx", run: str, *, keep: bool) -> None:
        """Ends it, and keeps its work for a review or throws it away."""
        ...

    def finish(self, tx: "WriteTx", run: str) -> None:
        """Declares a run that waits or is paused to be done."""
        ...

    def resume(self, tx: "WriteTx", run: str, note: str) -> None:
        """Has a paused, stopped or failed run go on, worked by this process."""
        ...

    def send(self, tx: "WriteTx", run: str, text: str) -> None:
        """Says something to its agent; a run that rests goes on."""
        ...
