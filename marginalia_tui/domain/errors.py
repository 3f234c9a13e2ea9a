"""The errors a person or a model can act on.

Each carries one sentence that says what is wrong and what to change, and a `kind`, the word that the
headless verbs print (`{"error": {"kind": ..., "message": ...}}`). Anything else that is raised is a
programming error and is not caught.
"""

from typing import ClassVar


class MarginaliaError(Exception):
    """The root: a sentence for whoever asked."""

    kind: ClassVar[str] = "error"

    @property
    def message(self) -> str:
        """The sentence."""
        return str(self)


class NotFound(MarginaliaError):
    """What was named does not exist here; the sentence lists what would fit."""

    kind = "not_found"


class Ambiguous(MarginaliaError):
    """Several things fit the name; the sentence lists them."""

    kind = "ambiguous"


class Invalid(MarginaliaError):
    """The input is of the wrong form; the sentence says what to change."""

    kind = "invalid"


class Refused(MarginaliaError):
    """A rule of the studio forbids it now; the sentence names the rule."""

    kind = "refused"


class Locked(Refused):
    """An agent holds the book."""

    kind = "locked"

    def __init__(self, agent: str, book: str) -> None:
        super().__init__(
            f"The agent {agent!r} holds {book!r}: pause or stop it, then change the book. "
            "Reading and notes on passages stay free."
        )
        self.agent = agent
        self.book = book


class Occupied(Refused):
    """A file is written only where none stands, unless it is said to be replaced; `place` is what stands there."""

    kind = "occupied"

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} exists already: choose another name, or replace it with --force.")
        self.place = place


class Declined(Refused):
    """The author answered a question with no: nothing was changed."""

    kind = "declined"


class Stale(MarginaliaError):
    """What was read has been changed since by somebody else."""

    kind = "stale"


class StatusConflict(Refused):
    """A run does not have the status that the caller believed; the sentence says the one it has."""

    kind = "status"


class LeaseLost(Refused):
    """Another process took the run over: whatever this one still wants to write is refused."""

    kind = "lease_lost"


class Busy(Refused):
    """Another process works on it."""

    kind = "busy"


class StoreError(MarginaliaError):
    """The store can't be opened or written: damaged, newer, on a network disk, full, read-only."""

    kind = "store"


class ModelError(MarginaliaError):
    """A language model did not answer. `reason` is the class of the fault (see `llm.errors`)."""

    kind = "model"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Cancelled(MarginaliaError):
    """The work was stopped before it was done."""

    kind = "cancelled"
