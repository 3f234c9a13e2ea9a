"""The agents: what each of them does, and the keys that start, steer and end its run."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.screens import runwords
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.runwords import STATUS_TONES, STATUS_WORDS, compact, context_words, key_of
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.runs import AgentLine
    from marginalia_tui.store.bus import Touched

EMPTY = """No agent yet.

An agent is a language model, or the embedded proofreader.
It works on a copy of a book. What it changed you review word by word
before anything of it is in your book.

{new}  makes the first one"""
NO_BOOK = """No agent yet, and no book for one.

F2 shows the library: i brings a book in, n begins one."""


def _row(agent: "AgentLine") -> Row:
    status = STATUS_WORDS[agent.status] if agent.enabled or agent.status else "disabled"
    tone = STATUS_TONES.get(agent.status, "muted" if not agent.status else "plain")
    muted = ((1, "muted"), *((number, "muted") for number in (3, 4, 5, 6)))
    return Row(
        agent.uuid,
        (
            agent.name,
            agent.book,
            f"{'! ' if agent.attention else ''}{status}",
            f"{agent.rounds:,}" if agent.rounds else "",
            compact(agent.tokens) if agent.tokens else "",
            context_words(agent.context, agent.cap),
            agent.changed,
        ),
        tones=((2, tone), *muted),  # type: ignore[arg-type]
    )


class AgentsScreen(BaseScreen):
    """The third mode."""

    CSS_PATH = "agents.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,o", "console", "console", id="agents.console", key_display="Enter"),
        Binding("s", "start", "start", id="agents.start"),
        Binding("t", "talk", "talk first", id="agents.talk", show=False),
        Binding("v", "review", "review", id="agents.review"),
        Binding("r", "resume", "go on", id="agents.resume"),
        Binding("z,f6", "pause", "pause", id="agents.pause", key_display="z"),
        Binding("K", "stop", "stop", id="agents.stop"),
        Binding("D", "discard", "discard", id="agents.discard", show=False),
        Binding("n", "new", "new", id="agents.new"),
        Binding("e", "edit", "edit", id="agents.edit"),
        Binding("c", "clone", "clone", id="agents.clone", show=False),
        Binding("d,delete", "remove", "delete", id="agents.remove", show=False),
    ]
    mode_name = "agents"

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, AgentLine] = {}
        columns = [
            Column("Agent", grow=2, minimum=10),
            Column("Book", grow=2, minimum=8, drop=2),
            Column("Status", width=15),
            Column("Rounds", "right", drop=4),
            Column("Tokens", "right", drop=3),
            Column("Context", width=15, drop=5),
            Column("Last", width=16, drop=6),
        ]
        self.table = Table(columns, empty="Opening the studio", id="agents")
        """The agents."""
        self._about = Static("", id="about", markup=False)

    def body(self) -> ComposeResult:
        """The table, and what the agent under the cursor last said."""
        yield self.table
        yield self._about

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("")

    def wants(self, touched: "Touched") -> bool:
        """Agents and runs."""
        return bool(touched.everything or touched.agents or touched.runs)

    async def read(self, desk: "Desk") -> None:
        """The list."""
        agents = await self.call(desk.runs.agents)
        has_book = bool(agents) or (await self.call(desk.runs.choices)).any_book
        if not self.is_attached:
            return
        self._agents = {agent.uuid: agent for agent in agents}
        self.table.empty = EMPTY.format(new=key_of(self, "agents.new")) if has_book else NO_BOOK
        self.table.show([_row(agent) for agent in agents])
        self._show_about()
        self.refresh_bindings()
        self.say_where("", f"{len(agents):,} agents" if len(agents) != 1 else "1 agent")

    def _current(self) -> "AgentLine | None":
        return self._agents.get(self.table.current_key or "")

    def _show_about(self) -> None:
        """What the agent under the cursor is, what can be done with it, and what it said last."""
        agent = self._current()
        about = self._about
        about.set_class(agent is not None, "-shown")
        if agent is not None:
            head = Content(visible_line(agent.name)).stylize("bold") + Content(f"   {visible_line(agent.model)}")
            lines = [head.stylize("$muted", len(agent.name)), Content(self._advice(agent))]
            if agent.reason:
                lines.append(Content(visible(agent.reason)).stylize("$muted"))
            about.update(Content("\n").join(lines))

    def _advice(self, agent: "AgentLine") -> str:
        def key(name: str) -> str:
            return key_of(self, f"agents.{name}")

        advice = {
            "": f"It never ran: {key('start')} starts it, {key('talk')} lets it ask you first.",
            "RUNNING": f"It works: {key('console')} shows what it does.",
            "IDLE": f"It waits for your answer: {key('console')} opens its console.",
            "WAITING_APPROVAL": f"It asks whether it may do something: {key('console')} opens its console.",
            "PAUSED": f"It is paused: {key('resume')} lets it go on.",
            "STOPPED_KEPT": f"It was stopped: {key('review')} reviews what it did, {key('resume')} lets it go on.",
            "FAILED": f"It failed: {key('review')} reviews what it did, {key('resume')} tries again.",
            "DONE": f"It is done: {key('review')} reviews what it changed.",
            "APPLIED": f"Its work is in the book: {key('start')} starts it again.",
            "STOPPED_DISCARDED": f"Its work was thrown away: {key('start')} starts it again.",
        }
        if not agent.enabled and agent.status in runwords.OVER:
            return f"It is disabled: {key('edit')} enables it."
        return advice.get(agent.status, "")

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another agent: its last word."""
        event.stop()
        self._show_about()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the run under the cursor allows."""
        agent = self._current() if self.is_mounted else None
        status = agent.status if agent else ""
        may_start = bool(agent and agent.enabled and status in runwords.OVER)
        allowed = {
            "console": bool(agent and agent.run),
            "start": may_start,
            "talk": may_start,
            "pause": status in runwords.PAUSABLE,
            "resume": status in runwords.RESUMABLE,
            "stop": status in runwords.STOPPABLE,
            "discard": status in runwords.DISCARDABLE,
            "review": status in runwords.REVIEWABLE,
            "new": self.is_mounted and self.host.desk is not None,
            "edit": agent is not None,
            "clone": agent is not None,
            "remove": agent is not None,
        }
        return allowed.get(action, True)

    # Runs

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: the console of its run."""
        event.stop()
        self.action_console()

    def action_console(self) -> None:
        """Opens the console of the newest run."""
        if (agent := self._current()) and agent.run:
            self.host.open_run(agent.run)
        elif agent:
            self.host.tell(f"{agent.name} never ran: {key_of(self, 'agents.start') or 'start'} starts it.")

    def action_start(self) -> None:
        """Starts a run and shows it."""
        if agent := self._current():
            self.do(self._start(agent.uuid, False))

    def action_talk(self) -> None:
        """Starts a run that asks first."""
        if agent := self._current():
            self.do(self._start(agent.uuid, True))

    async def _start(self, agent: str, interactive: bool) -> None:
        run = await self.call(lambda: self.desk.runs.start(agent, interactive=interactive))
        self.host.open_run(run)

    def action_pause(self) -> None:
        """Pauses its run."""
        if (agent := self._current()) and agent.run:
            self.do(self.call(self.desk.runs.pause, agent.run))

    def action_resume(self) -> None:
        """Has its run go on."""
        if (agent := self._current()) and agent.run:
            from marginalia_tui.screens.steering import ask_resume

            self.do(ask_resume(self.host, self.desk, agent.run))

    def action_stop(self) -> None:
        """Ends its run, after a question."""
        if (agent := self._current()) and agent.run:
            from marginalia_tui.screens.steering import ask_stop

            self.do(ask_stop(self.host, self.desk, agent.run, agent.name))

    def action_discard(self) -> None:
        """Throws away what its ended run left, after a question."""
        if (agent := self._current()) and agent.run:
            from marginalia_tui.screens.steering import ask_discard

            self.do(ask_discard(self.host, self.desk, agent.run, agent.name))

    def action_review(self) -> None:
        """Reviews what its run changed."""
        if (agent := self._current()) and agent.run:
            from marginalia_tui.screens.review import ReviewScreen

            self.app.push_screen(ReviewScreen(agent.run))

    # Definitions

    def action_new(self) -> None:
        """A new agent."""
        self.do(self._edit(None))

    def action_edit(self) -> None:
        """Changes the agent."""
        if agent := self._current():
            self.do(self._edit(agent.uuid))

    async def _edit(self, agent: str | None) -> None:
        from marginalia_tui.screens.agent_form import edit_agent

        await self._show_agent(await edit_agent(self.host, self.desk, agent))

    def action_clone(self) -> None:
        """The same agent on another book."""
        if agent := self._current():
            self.do(self._clone(agent))

    async def _clone(self, agent: "AgentLine") -> None:
        from marginalia_tui.screens.agent_form import clone_agent

        await self._show_agent(await clone_agent(self.host, self.desk, agent.uuid, agent.name))

    async def _show_agent(self, made: str | None) -> None:
        if made is not None:
            await self.read_again()
            self.table.show(self.table.rows, key=made)

    def action_remove(self) -> None:
        """Removes the agent, after a question."""
        if agent := self._current():
            self.do(self._remove(agent))

    async def _remove(self, agent: "AgentLine") -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        question = (
            f"Remove {agent.name!r} with its runs and all of their work that is not in the book yet? "
            "This can't be taken back. The book stays as it is."
        )
        if await self.host.ask(Confirm(question, severity="removes")):
            await self.call(self.desk.runs.remove_agent, agent.uuid)
