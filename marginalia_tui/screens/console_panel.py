"""What stands between the transcript of a run and the box: what was not delivered yet, and what the author may do."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.text import crop

if TYPE_CHECKING:
    from marginalia_tui.desk.runs import RunView
    from marginalia_tui.desk.waiting import Waiting

QUEUED = 3
"""Messages that are shown; the others are told by their number."""
LONGEST = 120
"""Characters of one argument of a call that waits; the call stands unfolded in the transcript."""
CHANGES = 5
"""Lines of what it would change."""
PLAN_LINES = 8
SIGNS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}

_STYLES = {"attention": "bold $attention", "plain": "$foreground", "muted": "$muted"}

KeyOf = Callable[[str], str]
"""Gives the key of a binding of the console."""


def panel_lines(view: "RunView", key: KeyOf) -> list[tuple[str, str]]:
    """The lines of the panel, each with a tone: `attention`, `plain` or `muted`."""
    lines = [("muted", f"queued   {visible_line(item.text)}") for item in view.queued[-QUEUED:]]
    if len(view.queued) > QUEUED:
        lines.insert(0, ("muted", f"queued   {len(view.queued) - QUEUED} more before these"))
    if view.queued and (back := key("console.cancel")):
        now = f", {forced} has it read now" if (forced := key("console.force")) else ""
        lines[-1] = ("muted", f"{lines[-1][1]}   ({back} takes it back{now})")
    if view.waiting:
        return lines + _asked(view.waiting[0], len(view.waiting), key)
    return lines + [("attention" if number == 0 else "plain", line) for number, line in enumerate(_rest(view, key))]


def _asked(call: "Waiting", count: int, key: KeyOf) -> list[tuple[str, str]]:
    more = f" (1 of {count})" if count > 1 else ""
    ways = (
        (key("console.approve"), "allows it"),
        (key("console.approve_always"), "allows it for the run"),
        (key("console.deny"), "refuses it"),
        (key("console.look"), "shows all of it"),
    )
    lines = [
        ("attention", f"{call.command} asks for your word{more}"),
        ("muted", "   ".join(f"{name} {words}" for name, words in ways if name)),
    ]
    lines.extend(("plain", f"  {visible_line(line)}") for line in call.changes[:CHANGES])
    if len(call.changes) > CHANGES:
        lines.append(("muted", f"  … {counted(len(call.changes) - CHANGES, 'more change')}"))
    if call.problem:
        lines.append(("attention", f"  It can't be made as it is: {visible_line(call.problem)}"))
    for name, value in call.arguments:
        first, *rest = value.split("\n")
        more = f" … {counted(len(rest), 'more line')}" if rest else ""
        lines.append(("muted", f"  {name}: {visible_line(first)[:LONGEST]}{more}"))
    return lines


def _rest(view: "RunView", key: KeyOf) -> list[str]:
    """Why a run does not work, and what lets it go on."""
    review, resume, box = key("console.review"), key("console.resume"), key("console.box")
    answer = f": {box}, write, Enter" if box else ""
    if view.choices:
        answer = f": {'1' if len(view.choices) == 1 else f'1 to {len(view.choices)}'} picks one, or {box}, write, Enter"
    lines = {
        "IDLE": [
            f"It waits for your answer{answer}.",
            *(f"  {number}  {visible_line(each)}" for number, each in enumerate(view.choices, start=1)),
        ],
        "PAUSED": [view.reason or "It is paused.", f"{resume} lets it go on, as does a message."],
        "STOPPED_KEPT": ["It was stopped; what it did is kept.", f"{review} reviews it, {resume} lets it go on."],
        "FAILED": [view.reason or "It failed.", f"{review} reviews what it did so far, {resume} tries again."],
        "DONE": [f"It is done: {review} reviews what it changed." if review else "It is done."],
        "PAUSING": [f"It ends what it does now, then pauses. {key('console.pause_now')} does not wait for that."],
        "STOPPING": ["It gives up what it does now, then stops."],
        "APPLIED": ["What it changed is in the book."],
        "STOPPED_DISCARDED": ["What it did was thrown away."],
    }
    return lines.get(view.status, [])


class Panel(VerticalScroll, can_focus=False):
    """The lines; hidden while there are none. It scrolls with the wheel: the keys belong to the rows."""

    DEFAULT_CSS = """
    Panel {
        display: none; height: auto; max-height: 10; padding: 0 1;
        border-top: solid $rule; background: $background; scrollbar-size-vertical: 1;
        &.-shown { display: block; }
        & > Static { height: auto; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[tuple[str, str]] = []
        self._words = Static("", markup=False)

    def compose(self) -> ComposeResult:
        """One text."""
        yield self._words

    def show(self, lines: list[tuple[str, str]]) -> None:
        """Shows other lines."""
        if lines != self.lines:
            self.lines = lines
            parts = [Content(visible(text)).stylize(_STYLES[tone]) for tone, text in lines]
            self._words.update(Content("\n").join(parts))
            self.set_class(bool(lines), "-shown")


def plan_text(plan: tuple[tuple[str, str], ...], width: int, room: int = PLAN_LINES) -> str:
    """The steps of a plan around the one that is worked on.

    Args:
        plan: status and words of each step.
        width: cells of a line.
        room: lines, at least 3.
    """
    now = next((number for number, (status, _) in enumerate(plan) if status == "in_progress"), len(plan) - 1)
    start = max(0, min(now - room // 2 + 1, len(plan) - room))
    lines = [f"{SIGNS[status]} {visible_line(step)}" for status, step in plan[start : start + room]]
    if start:
        lines[0] = f"    … {start + 1:,} steps before"
    if (left := len(plan) - start - room) > 0:
        lines[-1] = f"    … {left + 1:,} more steps"
    return "\n".join(crop(line, width) for line in lines)


def plan_now(plan: tuple[tuple[str, str], ...]) -> str:
    """Where a plan stands, in one line."""
    for number, (status, step) in enumerate(plan, start=1):
        if status == "in_progress":
            return f"step {number} of {len(plan)}: {step}"
    done = sum(status == "done" for status, _ in plan)
    return f"{done} of {len(plan)} steps done" if plan else ""
