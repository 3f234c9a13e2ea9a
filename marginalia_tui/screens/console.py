"""The console of a run: what was said and done, the answer that is being written, and the box to the agent.

The rows come from a source that reads them on demand; the live answer is fetched at the pace at which it is drawn.
When an answer is finished its row takes the place of the live block in one step.
"""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from marginalia_tui.screens.agents import STATUS_WORDS
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.live import flush_rate
from marginalia_tui.widgets.prompt import PromptBox
from marginalia_tui.widgets.text import visible, visible_line
from marginalia_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from marginalia_tui.agent.live import LiveAnswer
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.runs import RunSource, RunView
    from marginalia_tui.store.bus import Touched

PLAN_SIGNS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
ARGUMENTS_SHOWN = 1_500
"""Characters of the arguments of a call that waits."""


class ConsoleScreen(BaseScreen):
    """One run.

    Args:
        run: its uuid.
    """

    CSS_PATH = "console.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="console.back", key_display="Esc"),
        Binding("tab", "switch_focus", "box", id="console.box", priority=True),
        Binding("y", "approve", "approve", id="console.approve"),
        Binding("Y", "approve_always", "approve always", id="console.approve_always"),
        Binding("d", "deny", "deny", id="console.deny"),
        Binding("z,f6", "pause", "pause", id="console.pause", key_display="z"),
        Binding("Z", "pause_now", "pause now", id="console.pause_now", show=False),
        Binding("r", "resume", "resume", id="console.resume"),
        Binding("k", "stop", "stop", id="console.stop"),
        Binding("f", "finish", "finish", id="console.finish"),
        Binding("v", "review", "review", id="console.review"),
        Binding("l", "plan", "plan", id="console.plan"),
        Binding("c", "cancel_queued", "take back", id="console.cancel"),
    ]
    mode_name = "agents"

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run
        self._view: RunView | None = None
        self._source: RunSource | None = None
        self._plan_open = False
        self._version = -1
        self._number = 0
        """The answer that the live block shows."""
        self._totals = (0, 0)
        """Characters of the text and of the reasoning that the live block was given."""

    @property
    def transcript(self) -> Transcript:
        """The rows."""
        return self.query_one(Transcript)

    @property
    def box(self) -> PromptBox:
        """The box to the agent."""
        return self.query_one(PromptBox)

    def body(self) -> ComposeResult:
        """The rows, what waits, the box."""
        yield Static("", id="plan", markup=False)
        yield Transcript(empty="Reading the run", id="transcript")
        yield Static("", id="waiting", markup=False)
        yield PromptBox(placeholder="Write to the agent: Enter sends, Ctrl+J makes a new line", id="box")

    def on_mount(self) -> None:
        """The rows have the focus; the live answer is fetched as often as it is drawn."""
        super().on_mount()
        self.transcript.focus()
        self.set_interval(1 / flush_rate(), self._fetch_live)
        self.look_again()

    def wants(self, touched: "Touched") -> bool:
        """This run."""
        return self.run is not None and touched.run(self.run)

    async def read(self, desk: "Desk") -> None:
        """The state of the run, and new rows."""
        assert self.run is not None
        view = await self.call(desk.runs.view, self.run)
        if self._source is None:
            self._source = desk.runs.source(self.run)
            await self.call(self._source.update)
            self.transcript.open(self._source)
        elif (first := await self.call(self._source.update)) is not None:
            self.transcript.refresh_rows(first)
        self._settle_live(desk)
        self._show(view)
        if view.attention and self.app.screen is self:
            await self.call(desk.runs.acknowledge, self.run)

    def _show(self, view: "RunView") -> None:
        self._view = view
        facts = [STATUS_WORDS[view.status], f"round {view.rounds:,}", f"{view.tokens:,} tokens"]
        if view.context:
            facts.append(f"context {view.context}")
        self.say_where(f"{view.agent} on {view.book}", "  ".join(facts))
        waiting = self.query_one("#waiting", Static)
        waiting.update(visible(_waiting_text(view)))
        waiting.set_class(bool(_waiting_text(view)), "-shown")
        plan = self.query_one("#plan", Static)
        plan.update(visible("\n".join(f"{PLAN_SIGNS[status]} {step}" for status, step in view.plan)))
        plan.set_class(self._plan_open and bool(view.plan), "-shown")
        over = view.status in ("APPLIED", "STOPPED_DISCARDED", "DONE", "STOPPING")
        self.box.disabled = over
        self.refresh_bindings()

    # The live answer

    def _fetch_live(self) -> None:
        """Takes what has arrived since the last time; only new characters are given on."""
        desk = self.host.desk
        if desk is None or self._source is None or self.run is None:
            return
        answer = desk.runs.live(self.run, self._version)
        if answer is None:
            return
        if answer.number != self._number:
            # The answer before this one is a row by now: the reading puts it in its place first.
            self.look_again()
            return
        self._feed(answer)

    def _feed(self, answer: "LiveAnswer") -> None:
        text, reasoning = self._totals
        self._version = answer.version
        self._totals = (answer.text_total, answer.reasoning_total)
        self.transcript.live(
            reasoning=_new(answer.reasoning, answer.reasoning_total - reasoning),
            text=_new(answer.text, answer.text_total - text),
        )

    def _settle_live(self, desk: "Desk") -> None:
        """After the rows were read: the live block of an answer that is a row goes, a new one begins."""
        assert self.run is not None
        answer = desk.runs.live(self.run, -1)
        if answer is None:
            if not desk.runs.is_live(self.run):
                self._end_live()
        elif answer.number != self._number:
            self._end_live()
            self._number = answer.number
            self._feed(answer)

    def _end_live(self) -> None:
        self.transcript.flush()
        self.transcript.end_live()
        self._totals = (0, 0)
        self._version = -1

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the run allows now."""
        view = self._view
        if view is None:
            return action in ("back", "switch_focus", "bar", "help", "quit")
        allowed = {
            "approve": bool(view.waiting),
            "approve_always": bool(view.waiting),
            "deny": bool(view.waiting),
            "pause": view.status in ("RUNNING", "IDLE", "WAITING_APPROVAL"),
            "pause_now": view.status in ("RUNNING", "PAUSING"),
            "resume": view.status in ("PAUSED", "STOPPED_KEPT", "FAILED"),
            "stop": view.status not in ("APPLIED", "STOPPED_DISCARDED", "STOPPING", "STOPPED_KEPT"),
            "finish": view.status in ("IDLE", "PAUSED"),
            "review": view.reviewable,
            "plan": bool(view.plan),
            "cancel_queued": bool(view.queued),
            "switch_focus": not self.box.disabled or self.box.has_focus,
        }
        return allowed.get(action, True)

    def action_back(self) -> None:
        """From the box to the rows; from the rows to the agents."""
        if self.box.has_focus:
            self.transcript.focus()
        else:
            self.dismiss()

    def action_switch_focus(self) -> None:
        """Between the rows and the box."""
        (self.transcript if self.box.has_focus else self.box).focus()

    def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        """The author wrote to the agent."""
        event.stop()
        self.do(self._send(event.text))

    async def _send(self, text: str) -> None:
        from marginalia_tui.domain.errors import MarginaliaError

        assert self.run is not None
        try:
            await self.call(self.desk.runs.send, self.run, text)
        except MarginaliaError:
            self.box.content = text
            raise

    def action_approve(self) -> None:
        """Allows the call that waits longest."""
        self._decide(approve=True)

    def action_approve_always(self) -> None:
        """Allows it, and its command for the rest of the run."""
        self._decide(approve=True, always=True)

    def action_deny(self) -> None:
        """Refuses it, with a reason."""
        if self._view and self._view.waiting:
            self.do(self._deny(self._view.waiting[0].call))

    async def _deny(self, call: str) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        why = await self.host.ask(Ask("Why not? The agent reads it; it may be left empty."))
        if why is not None:
            assert self.run is not None
            run = self.run
            await self.call(lambda: self.desk.runs.decide(run, call, approve=False, why=why))

    def _decide(self, *, approve: bool, always: bool = False) -> None:
        if self._view and self._view.waiting and self.run is not None:
            run, call = self.run, self._view.waiting[0].call
            self.do(self.call(lambda: self.desk.runs.decide(run, call, approve=approve, always=always)))

    def action_pause(self) -> None:
        """Pauses at the next stable point."""
        self.do(self.call(self.desk.runs.pause, self.run))

    def action_pause_now(self) -> None:
        """Gives up the request that goes on."""
        run = self.run
        assert run is not None
        self.do(self.call(lambda: self.desk.runs.pause(run, now=True)))

    def action_resume(self) -> None:
        """Goes on, with a word of the author if they like."""
        self.do(self._resume())

    async def _resume(self) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        note = await self.host.ask(Ask("A word for the agent? It may be left empty."))
        if note is not None:
            await self.call(self.desk.runs.resume, self.run, note)

    def action_stop(self) -> None:
        """Ends the run."""
        from marginalia_tui.screens.steering import ask_stop

        assert self.run is not None
        self.do(ask_stop(self.host, self.desk, self.run, self._view.agent if self._view else "the agent"))

    def action_finish(self) -> None:
        """Declares it done."""
        self.do(self.call(self.desk.runs.finish, self.run))

    def action_review(self) -> None:
        """Reviews what it changed."""
        from marginalia_tui.screens.review import ReviewScreen

        assert self.run is not None
        self.app.push_screen(ReviewScreen(self.run))

    def action_plan(self) -> None:
        """Shows the plan, or hides it."""
        self._plan_open = not self._plan_open
        if self._view:
            self._show(self._view)

    def action_cancel_queued(self) -> None:
        """Takes the newest message back that was not delivered yet."""
        if self._view and self._view.queued:
            self.do(self._cancel_queued(self._view.queued[-1].id))

    async def _cancel_queued(self, item: int) -> None:
        assert self.run is not None
        if not await self.call(self.desk.runs.cancel_queued, self.run, item):
            self.host.tell("It was delivered in the very moment.")


def _new(text: str, count: int) -> str:
    """The last characters of a text; all of it when more arrived than is kept."""
    return text[max(0, len(text) - count) :] if count > 0 else ""


def _waiting_text(view: "RunView") -> str:
    lines = [f"queued  {visible_line(item.text)}" for item in view.queued]
    for call in view.waiting[:1]:
        shown = call.arguments[:ARGUMENTS_SHOWN]
        lines.append(f"{call.command} waits for your word: y approves, Y for the whole run, d denies\n{shown}")
    if not view.active and view.reason and not view.waiting:
        lines.append(f"{STATUS_WORDS[view.status]}: {view.reason}")
    return "\n".join(lines)
