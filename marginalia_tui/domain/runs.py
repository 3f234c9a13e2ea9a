"""The life of a run: its statuses and the changes between them.

Every change is made by a conditional update that names the status it expects (`agent.runs`); this table says
which changes there are. A status names three things: whether a worker is busy, whether the book is held, and
whether the author should look.
"""

from enum import StrEnum


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "RUNNING"
    IDLE = "IDLE"
    WAITING_APPROVAL = "WAITING_APPROVAL"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    STOPPING = "STOPPING"
    STOPPED_KEPT = "STOPPED_KEPT"
    STOPPED_DISCARDED = "STOPPED_DISCARDED"
    DONE = "DONE"
    FAILED = "FAILED"
    APPLIED = "APPLIED"

    @property
    def active(self) -> bool:
        """A worker is, or should be, busy with it."""
        return self in _ACTIVE

    @property
    def holds_book(self) -> bool:
        """The book can't be changed by anybody else."""
        return self.active or self is RunStatus.IDLE

    @property
    def ended(self) -> bool:
        """Nothing more happens in it, and a new run of the agent may start."""
        return self in (RunStatus.STOPPED_DISCARDED, RunStatus.APPLIED)

    @property
    def rests(self) -> bool:
        """It waits for the author (exit 3 of the headless verbs)."""
        return self in (
            RunStatus.IDLE,
            RunStatus.WAITING_APPROVAL,
            RunStatus.PAUSED,
            RunStatus.STOPPED_KEPT,
        )

    def needs_attention(self, reason: str) -> bool:
        """Whether the author should hear of it; a pause only when it has a reason of its own."""
        if self is RunStatus.PAUSED:
            return bool(reason)
        return self in (RunStatus.IDLE, RunStatus.WAITING_APPROVAL, RunStatus.DONE, RunStatus.FAILED)

    def next(self) -> frozenset["RunStatus"]:
        """The statuses that may follow."""
        return _NEXT[self]


_S = RunStatus
_ACTIVE = frozenset({_S.RUNNING, _S.WAITING_APPROVAL, _S.PAUSING, _S.STOPPING})
_ENDINGS = frozenset({_S.STOPPED_KEPT, _S.STOPPED_DISCARDED})

_NEXT: dict[RunStatus, frozenset[RunStatus]] = {
    _S.RUNNING: frozenset({_S.IDLE, _S.WAITING_APPROVAL, _S.PAUSING, _S.PAUSED, _S.STOPPING, _S.DONE, _S.FAILED}),
    _S.WAITING_APPROVAL: frozenset({_S.RUNNING, _S.PAUSED, _S.STOPPING, _S.FAILED}),
    _S.PAUSING: frozenset({_S.PAUSED, _S.STOPPING, _S.FAILED}),
    _S.STOPPING: _ENDINGS | {_S.FAILED},
    _S.IDLE: _ENDINGS | {_S.RUNNING, _S.PAUSED, _S.DONE},
    _S.PAUSED: _ENDINGS | {_S.RUNNING, _S.DONE},
    _S.STOPPED_KEPT: frozenset({_S.RUNNING, _S.APPLIED, _S.STOPPED_DISCARDED}),
    _S.DONE: _ENDINGS | {_S.APPLIED},
    # The original ends here and deletes the copy; its work is too dear for that.
    _S.FAILED: _ENDINGS | {_S.RUNNING, _S.APPLIED},
    _S.STOPPED_DISCARDED: frozenset(),
    # Undoing an apply gives the review back.
    _S.APPLIED: frozenset({_S.DONE, _S.STOPPED_KEPT, _S.FAILED}),
}

NEEDS_YOU = {
    _S.IDLE: "waits for your answer",
    _S.WAITING_APPROVAL: "asks whether it may do something",
    _S.DONE: "is done: review what it changed",
    _S.FAILED: "failed",
    _S.PAUSED: "paused itself",
}
"""What an agent whose run needs the author does, in a few words behind its name."""

HOLDING = tuple(status for status in RunStatus if status.holds_book)
"""The statuses that hold the book."""
ACTIVE = tuple(status for status in RunStatus if status.active)
"""The statuses that count against the limit of concurrent runs."""
UNFINISHED = tuple(
    status for status in RunStatus if not status.ended and status not in (RunStatus.DONE, RunStatus.FAILED)
)
"""The statuses of a run that can still be worked: they block a second run of the agent."""
