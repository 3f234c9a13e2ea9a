"""Words for runs: their statuses, counts, how full the context is, the keys that steer them."""

from typing import Literal

from textual.binding import Binding

from marginalia_tui.screens.base import BaseScreen

Tone = Literal["plain", "muted", "attention", "added", "removed", "strong"]

STATUS_WORDS = {
    "": "never ran",
    "RUNNING": "works",
    "IDLE": "waits for you",
    "WAITING_APPROVAL": "asks you",
    "PAUSING": "is pausing",
    "PAUSED": "paused",
    "STOPPING": "is stopping",
    "STOPPED_KEPT": "stopped",
    "STOPPED_DISCARDED": "discarded",
    "DONE": "done",
    "FAILED": "failed",
    "APPLIED": "applied",
}
"""Status -> the words that a person reads."""
STATUS_TONES: dict[str, Tone] = {
    "RUNNING": "added",
    "IDLE": "attention",
    "WAITING_APPROVAL": "attention",
    "DONE": "strong",
    "FAILED": "removed",
}
"""Status -> how its word looks, beside what it says."""
OVER = frozenset({"", "DONE", "FAILED", "APPLIED", "STOPPED_DISCARDED"})
"""The statuses after which the agent may begin anew."""
PAUSABLE = frozenset({"RUNNING", "IDLE", "WAITING_APPROVAL"})
RESUMABLE = frozenset({"PAUSED", "STOPPED_KEPT", "FAILED"})
REVIEWABLE = frozenset({"DONE", "STOPPED_KEPT", "FAILED"})
STOPPABLE = frozenset({"RUNNING", "IDLE", "WAITING_APPROVAL", "PAUSING", "PAUSED"})
DISCARDABLE = frozenset({"DONE", "STOPPED_KEPT", "FAILED"})
"""The statuses in which nothing works any more, but the copy is kept."""
DEAF = frozenset({"APPLIED", "STOPPED_DISCARDED", "DONE", "STOPPING"})
"""The statuses in which nothing can be said to the agent."""

BAR = 10
"""Cells of a context bar."""


def compact(count: int) -> str:
    """A count in few cells: `950`, `12.4k`, `471k`, `1.2M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            value = count / size
            return f"{value:.1f}{sign}" if value < 100 else f"{value:.0f}{sign}"
    return str(count)


def context_words(used: int, cap: int) -> str:
    """How full the context is: `31% ###-------`; the tokens alone where nobody knows how many fit."""
    if not cap:
        return compact(used) if used else ""
    share = min(1.0, used / cap)
    full = round(share * BAR)
    return f"{share:.0%} " + "#" * full + "-" * (BAR - full)


def key_of(screen: BaseScreen, binding: str) -> str:
    """The key of a binding of a screen as it is set now, as people write it; empty when it does nothing now."""
    found = [each for each in Binding.make_bindings(type(screen).BINDINGS) if each.id == binding]
    if not found or not screen.check_action(found[0].action, ()):
        return ""
    return screen.host.key_of(type(screen), binding)
