"""The console of a run: what was said and done, the answer that is being written, and the box to the agent.

The rows come from a source that reads them on demand; the live answer is fetched at the pace at which it is drawn.
When an answer is finished its row takes the place of the live block in one step.
"""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from marginalia_tui.screens import runwords
from marginalia_tui.screens.chrome import SMALLEST
from marginalia_tui.screens.console_panel import PLAN_LINES, Panel, panel_lines, plan_now, plan_text
from marginalia_tui.screens.console_rows import RowScreen
from marginalia_tui.screens.console_tabs import TABS, TRANSCRIPT
from marginalia_tui.screens.livefeed import LiveFeed
from marginalia_tui.screens.runline import Fact, RunLine
from marginalia_tui.screens.runwords import STATUS_TONES, STATUS_WORDS, compact, context_words
from marginalia_tui.widgets.agentbox import AgentBox
from marginalia_tui.widgets.completion import Choice, Choices
from marginalia_tui.widgets.folding import lay_out_entry
from marginalia_tui.widgets.live import flush_rate
from marginalia_tui.widgets.prompt import PromptBox
from marginalia_tui.widgets.transcript import Stop

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.runs import RunView
    from marginalia_tui.desk.transcripts import RunSource
    from marginalia_tui.desk.waiting import Waiting
    from marginalia_tui.store.bus import Touched

LONG = 8_000
"""Characters of a text that is laid out on a thread before it is shown."""
_PLAN_ROOM = {"-tiny": 3, "-low": 4}
"""Lines of the plan in a low terminal."""
_OF_ROWS = (
    "search",
    "hit",
    "jump",
    "choose",
    "approve",
    "approve_always",
    "deny",
    "look",
    "plan",
    "cancel_queued",
    "force",
)
"""What is done beside the rows only, where it is seen what it is about."""
PLACEHOLDER = "Write to the agent: Enter sends, Ctrl+J makes a new line"
ANSWER = "Answer the agent: Enter sends, Ctrl+J makes a new line"


class ConsoleScreen(RowScreen):
    """One run.

    Args:
        run: its uuid.
    """

    CSS_PATH = "console.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "approve", "allow", id="console.approve"),
        Binding("Y", "approve_always", "allow always", id="console.approve_always"),
        Binding("d", "deny", "refuse", id="console.deny"),
        Binding("w", "look", "what it would change", id="console.look", show=False),
        Binding("tab", "switch_focus", "write", show=False, id="console.box"),
        Binding("i", "switch_focus", "write", id="console.write", key_display="Tab"),
        Binding("v", "review", "review", id="console.review"),
        Binding("r", "resume", "go on", id="console.resume"),
        Binding("z,f6", "pause", "pause", id="console.pause", key_display="z"),
        Binding("Z", "pause_now", "pause now", id="console.pause_now", show=False),
        Binding("c", "cancel_queued", "take back", id="console.cancel"),
        Binding("f", "force", "say it now", id="console.force"),
        *(
            Binding(str(number), f"choose({number})", "take an answer", id="console.choose", show=False)
            for number in range(1, 10)
        ),
        Binding("K", "stop", "stop", id="console.stop"),
        Binding("D", "discard", "discard", id="console.discard", show=False),
        Binding("g", "finish", "it is done", id="console.finish", show=False),
        Binding("l", "plan", "plan", id="console.plan"),
        Binding("escape", "back", "back", id="console.back", key_display="Esc"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST[1], "-tiny"), (18, "-low"), (30, "-high")]
    mode_name = "agents"
    run: str

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run
        self.view: RunView | None = None
        """The run as it was last read."""
        self._feed: LiveFeed | None = None
        self._plan_open = False
        self._unfolded: set[str] = set()
        """The calls that were unfolded since they wait."""
        self._looks_at_call = False
        # Kept, and not looked for: a reading may come to its end when the screen is gone.
        self._line = RunLine(id="runline")
        self._plan = Static("", id="plan", markup=False)
        self.panel = Panel(id="panel")
        self._choices = Choices()
        self.box = AgentBox(self._choices, placeholder=PLACEHOLDER, id="box")
        """The box to the agent."""

    def body(self) -> ComposeResult:
        """How it stands, the tabs, the plan, the rows, what waits, the box."""
        yield self._line
        yield self.tab_line
        yield self._plan
        yield self.transcript
        yield self.find_line
        yield self.panel
        yield self._choices
        yield self.box

    def on_mount(self) -> None:
        """The rows have the focus; the live answer is fetched as often as it is drawn."""
        super().on_mount()
        self.transcript.focus()
        self.set_interval(1 / flush_rate(), self._fetch_live)
        self.look_again()

    def on_unmount(self) -> None:
        """What another process writes in the run is not watched for a screen that is gone."""
        if (desk := self.host.desk) is not None:
            self.host.crew.start(lambda: desk.runs.forget(self.run))

    def on_text_area_changed(self) -> None:
        """What was written and not sent is there again when the console is opened anew."""
        if self.source is not None:
            self.desk.runs.drafts[self.run] = self.box.message

    def wants(self, touched: "Touched") -> bool:
        """This run."""
        return touched.run(self.run)

    # Reading

    async def read(self, desk: "Desk") -> None:
        """The state of the run, and new rows."""
        view = await self.call(desk.runs.view, self.run)
        source = self.source
        first_time = source is None
        if source is None:
            source = desk.runs.source(self.run)
        first = await self.call(_read_rows, source, self.transcript.text_width())
        if not self.is_attached:
            return
        if self.source is None:
            self.source = source
            self.transcript.empty = "Nothing was said yet."
            self.transcript.open(source)
            self._feed = LiveFeed(self.transcript, self.run, desk.runs, source)
            self.box.content = desk.runs.drafts.get(self.run, "")
            self.box.complete = self._complete
        elif self._feed is not None:
            self._feed.settle(first)
        self._show(view)
        self.tabs_are_old()
        self._unfold_waiting(view, source)
        if first_time and not view.waiting and view.status != "IDLE":
            # What asks for the author is seen first, whatever was looked at last.
            last = await self.call(lambda: desk.views.read().console_tab)
            if last in TABS and self.is_attached:
                self.show_tab(last)
        if first_time and view.status == "IDLE" and not view.choices and self.transcript.has_focus:
            self.box.focus()
        if view.attention and self.app.screen is self:
            await self.call(desk.runs.acknowledge, self.run)

    def _fetch_live(self) -> None:
        """Takes what has arrived since the last time."""
        if self._feed is None or self.view is None or not (self.view.active or self.transcript.is_live):
            return
        if self._feed.fetch():
            self.look_again()
        self._show_line(self.view)

    def _unfold_waiting(self, view: "RunView", source: "RunSource") -> None:
        """A call that waits is shown with all that it would do; when it is decided the end is followed again."""
        transcript, row = self.transcript, source.count() - 1
        if not view.waiting and self._looks_at_call:
            self._looks_at_call = False
            transcript.cursor = None
            transcript.action_go_end()
        for call in view.waiting[:1]:
            if call.call not in self._unfolded and row >= 0 and call.place < len(transcript.entry(row).calls):
                self._unfolded.add(call.call)
                self._looks_at_call = True
                transcript.toggle(row, call.place)
                transcript.cursor = Stop(row, call.place)

    # Showing

    def _show(self, view: "RunView") -> None:
        self.view = view
        over = view.status in runwords.DEAF
        if over and self.box.has_focus:
            self.transcript.focus()
        self.box.disabled = over
        self.box.placeholder = ANSWER if view.status == "IDLE" else PLACEHOLDER
        self.say_where(f"{view.agent} on {view.book}")
        self._show_line(view)
        self.refresh_bindings()
        self.panel.show(panel_lines(view, lambda binding: runwords.key_of(self, binding)))
        shown = self._plan_open and bool(view.plan)
        if shown:
            room = next((lines for name, lines in _PLAN_ROOM.items() if self.has_class(name)), PLAN_LINES)
            self._plan.update(plan_text(view.plan, max(20, self.size.width - 4), room))
        self._plan.set_class(shown, "-shown")

    def _show_line(self, view: "RunView") -> None:
        answer = self._feed.answer if self._feed is not None and view.active else None
        number = view.rounds + (1 if answer is not None else 0)
        context = context_words(view.context, view.cap)
        facts = [
            Fact(STATUS_WORDS[view.status], tone=STATUS_TONES.get(view.status, "plain")),
            Fact(f"round {number:,}" if number else ""),
            Fact(f"{compact(view.tokens)} tokens", compact(view.tokens)),
            Fact(f"context {context}" if context else "", context.split(" ")[0]),
            Fact(f"cost {view.cost:.2f}" if view.cost else "", f"{view.cost:.2f}"),
        ]
        now = "" if self._plan_open else plan_now(view.plan)
        if answer is not None and answer.note:
            now = answer.note
        elif answer is not None and answer.call:
            now = f"writes {answer.call}, {answer.call_size:,} characters"
        elif answer is not None and not answer.text and not answer.reasoning:
            now = "waits for the model"
        if view.active and not view.here and not view.waiting:
            now = _elsewhere(now if view.heard else "answers appear when they are whole")
        self._line.show(facts, now)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the run allows now."""
        view = self.view
        if view is None:
            return action in ("back", "switch_focus")
        allowed = {
            "approve": bool(view.waiting),
            "approve_always": bool(view.waiting),
            "deny": bool(view.waiting),
            "look": bool(view.waiting),
            "pause": view.status in runwords.PAUSABLE,
            "pause_now": view.status in ("RUNNING", "PAUSING"),
            "resume": view.status in runwords.RESUMABLE,
            "stop": view.status in runwords.STOPPABLE,
            "discard": view.status in runwords.DISCARDABLE,
            "finish": view.status in ("IDLE", "PAUSED"),
            "review": view.reviewable,
            "plan": bool(view.plan),
            "cancel_queued": bool(view.queued),
            "force": bool(view.queued),
            "choose": bool(parameters) and isinstance(parameters[0], int) and parameters[0] <= len(view.choices),
            "switch_focus": not self.box.disabled,
        }
        if self.tab != TRANSCRIPT and action in _OF_ROWS:
            return False
        return allowed.get(action, True)

    def action_back(self) -> None:
        """From the box to the rows, out of a search; from the rows to the agents."""
        if self.box.has_focus:
            self.transcript.focus()
        elif self.searches:
            self.end_search()
        else:
            self.dismiss()

    def action_switch_focus(self) -> None:
        """Between the rows and the box."""
        if self.tab != TRANSCRIPT:
            self.show_tab(TRANSCRIPT)
        (self.transcript if self.box.has_focus else self.box).focus()

    def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        """The author wrote to the agent."""
        event.stop()
        self.do(self._send(event.text))

    async def _send(self, text: str) -> None:
        from marginalia_tui.domain.errors import MarginaliaError

        try:
            await self.call(self.desk.runs.send, self.run, text)
        except MarginaliaError:
            if not self.box.content:
                self.box.content = text
            raise

    def _complete(self, text: str, cursor: int) -> list[Choice]:
        """On a thread: what fits in a command of the author."""
        from marginalia_tui.screens.bar import choices_of

        return choices_of(self.desk.runs.complete(self.run, text, cursor))

    def action_approve(self) -> None:
        """Allows the call that waits longest."""
        self._decide(approve=True)

    def action_approve_always(self) -> None:
        """Allows it, and its command for the rest of the run."""
        self._decide(approve=True, always=True)

    def action_deny(self) -> None:
        """Refuses it, with a reason."""
        if self.view and self.view.waiting:
            self.do(self._deny(self.view.waiting[0].call))

    def action_look(self) -> None:
        """Shows all that it would change."""
        if self.view and self.view.waiting:
            self.do(self._look(self.view.waiting[0], self.view.agent))

    async def _look(self, waiting: "Waiting", agent: str) -> None:
        from marginalia_tui.screens.approval import ApprovalScreen, keys_of

        answer = await self.host.ask(ApprovalScreen(waiting, agent, keys_of(self.host)))
        if answer == "refuse":
            await self._deny(waiting.call)
        elif answer is not None:
            always = answer == "always"
            await self.call(lambda: self.desk.runs.decide(self.run, waiting.call, approve=True, always=always))

    async def _deny(self, call: str) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        why = await self.host.ask(Ask("Why not? The agent reads it", help="It may be left empty."))
        if why is not None:
            await self.call(lambda: self.desk.runs.decide(self.run, call, approve=False, why=why))

    def _decide(self, *, approve: bool, always: bool = False) -> None:
        if self.view and self.view.waiting:
            call = self.view.waiting[0].call
            self.do(self.call(lambda: self.desk.runs.decide(self.run, call, approve=approve, always=always)))

    def action_pause(self) -> None:
        """Pauses at the next stable point."""
        self.do(self.call(self.desk.runs.pause, self.run))

    def action_pause_now(self) -> None:
        """Gives up the request that goes on."""
        self.do(self.call(lambda: self.desk.runs.pause(self.run, now=True)))

    def action_resume(self) -> None:
        """Goes on, with a word of the author if they like."""
        from marginalia_tui.screens.steering import ask_resume

        self.do(ask_resume(self.host, self.desk, self.run))

    def action_stop(self) -> None:
        """Ends the run."""
        from marginalia_tui.screens.steering import ask_stop

        if view := self.view:
            self.do(ask_stop(self.host, self.desk, self.run, view.agent))

    def action_discard(self) -> None:
        """Throws away what an ended run left."""
        from marginalia_tui.screens.steering import ask_discard

        if view := self.view:
            self.do(ask_discard(self.host, self.desk, self.run, view.agent))

    def action_finish(self) -> None:
        """Declares it done."""
        self.do(self.call(self.desk.runs.finish, self.run))

    def action_review(self) -> None:
        """Reviews what it changed."""
        from marginalia_tui.screens.review import ReviewScreen

        self.app.push_screen(ReviewScreen(self.run))

    def action_plan(self) -> None:
        """Shows the plan, or hides it."""
        self._plan_open = not self._plan_open
        if self.view:
            self._show(self.view)

    def action_cancel_queued(self) -> None:
        """Takes the newest message back that was not delivered yet."""
        if self.view and self.view.queued:
            newest = self.view.queued[-1]
            self.do(self._cancel_queued(newest.id, newest.text))

    def action_choose(self, number: int) -> None:
        """Answers with one of the proposed answers."""
        if self.view and number <= len(self.view.choices):
            self.do(self._send(self.view.choices[number - 1]))

    def action_force(self) -> None:
        """Has what goes on cut off, so that what waits is read now."""
        if self.view and self.view.queued:
            newest = self.view.queued[-1].id
            self.do(self.call(self.desk.runs.force, self.run, newest))

    async def _cancel_queued(self, item: int, text: str) -> None:
        if not await self.call(self.desk.runs.cancel_queued, self.run, item):
            self.host.tell("It was delivered in this very moment.")
        elif not self.box.content and not self.box.disabled:
            self.box.content = text
            self.box.focus()


def _elsewhere(what: str) -> str:
    """What a run does that another process works."""
    return "worked by another process" + (f": {what}" if what else "")


def _read_rows(source: "RunSource", width: int) -> int | None:
    """Looks for new rows; on a thread, where long texts are also laid out, which the screen then need not do."""
    first = source.update()
    count = source.count()
    if first is not None:
        for entry in source.rows(max(first, count - 2), count):
            if len(entry.text) > LONG:
                lay_out_entry(entry, width, ())
    return first
