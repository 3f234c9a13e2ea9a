"""The agents: what each of them does, and the keys that start, steer and end its run."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table, Tone
from marginalia_tui.widgets.text import visible

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.runs import AgentLine
    from marginalia_tui.store.bus import Touched

EMPTY = "No agent yet.\n\nn  makes one: a language model, or the embedded proofreader, that works on a copy of a book"
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
    "DONE": "done: review it",
    "FAILED": "failed",
    "APPLIED": "applied",
}
"""Status -> the words that a person reads."""
_TONES: dict[str, Tone] = {
    "RUNNING": "added",
    "IDLE": "attention",
    "WAITING_APPROVAL": "attention",
    "DONE": "strong",
    "FAILED": "removed",
}


def _row(agent: "AgentLine") -> Row:
    words = STATUS_WORDS[agent.status] if agent.enabled else "disabled"
    mark = "! " if agent.attention else ""
    tone = _TONES.get(agent.status, "plain")
    return Row(
        agent.uuid,
        (
            agent.name,
            agent.book,
            mark + words,
            f"{agent.rounds:,}" if agent.rounds else "",
            f"{agent.tokens:,}" if agent.tokens else "",
            agent.context,
            agent.changed,
        ),
        tones=((1, "muted"), (2, tone), (3, "muted"), (4, "muted"), (5, "muted"), (6, "muted")),
    )


class AgentsScreen(BaseScreen):
    """The third mode."""

    CSS_PATH = "agents.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,o", "console", "console", id="agents.console", key_display="Enter"),
        Binding("s", "start", "start", id="agents.start"),
        Binding("t", "talk", "talk first", id="agents.talk", show=False),
        Binding("p", "pause", "pause", id="agents.pause"),
        Binding("r", "resume", "resume", id="agents.resume"),
        Binding("k", "stop", "stop", id="agents.stop"),
        Binding("v", "review", "review", id="agents.review"),
        Binding("n", "new", "new", id="agents.new"),
        Binding("e", "edit", "edit", id="agents.edit"),
        Binding("c", "clone", "clone", id="agents.clone", show=False),
        Binding("d,delete", "remove", "delete", id="agents.remove", show=False),
    ]
    mode_name = "agents"

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, AgentLine] = {}

    def body(self) -> ComposeResult:
        """The table, and what the agent under the cursor last said."""
        yield Table(
            [
                Column("Agent", grow=2, minimum=10),
                Column("Book", grow=2, minimum=8, drop=2),
                Column("Status", width=16),
                Column("Rounds", "right", drop=4),
                Column("Tokens", "right", drop=3),
                Column("Context", width=15, drop=5),
                Column("Last", width=16, drop=6),
            ],
            empty="Opening the studio",
            id="agents",
        )
        yield Static("", id="reason", markup=False)

    @property
    def table(self) -> Table:
        """The agents."""
        return self.query_one("#agents", Table)

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
        self._agents = {agent.uuid: agent for agent in agents}
        self.table.empty = EMPTY
        self.table.show([_row(agent) for agent in agents])
        self._show_reason()
        self.refresh_bindings()
        self.say_where("", f"{len(agents):,} agents" if len(agents) != 1 else "1 agent")

    def _current(self) -> "AgentLine | None":
        return self._agents.get(self.table.current_key or "")

    def _show_reason(self) -> None:
        agent = self._current()
        self.query_one("#reason", Static).update(visible(agent.reason) if agent else "")

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another agent: its last word."""
        event.stop()
        self._show_reason()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the run under the cursor allows."""
        agent = self._current() if self.is_mounted else None
        status = agent.status if agent else ""
        over = status in ("", "DONE", "FAILED", "APPLIED", "STOPPED_DISCARDED")
        allowed = {
            "console": bool(agent and agent.run),
            "start": bool(agent and agent.enabled and over),
            "talk": bool(agent and agent.enabled and over),
            "pause": status in ("RUNNING", "IDLE", "WAITING_APPROVAL"),
            "resume": status in ("PAUSED", "STOPPED_KEPT", "FAILED"),
            "stop": status not in ("", "APPLIED", "STOPPED_DISCARDED", "STOPPING"),
            "review": status in ("DONE", "STOPPED_KEPT", "FAILED"),
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
            self.host.tell(f"{agent.name} never ran: s starts it.")

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
            self.do(self.call(self.desk.runs.resume, agent.run))

    def action_stop(self) -> None:
        """Ends its run, after a question."""
        if (agent := self._current()) and agent.run:
            from marginalia_tui.screens.steering import ask_stop

            self.do(ask_stop(self.host, self.desk, agent.run, agent.name))

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

        made = await edit_agent(self.host, self.desk, agent)
        if made is not None:
            await self.read(self.desk)
            self.table.show(self.table.rows, key=made)

    def action_clone(self) -> None:
        """The same agent on another book."""
        if agent := self._current():
            self.do(self._clone(agent))

    async def _clone(self, agent: "AgentLine") -> None:
        from marginalia_tui.screens.agent_form import clone_agent

        await clone_agent(self.host, self.desk, agent.uuid, agent.name)

    def action_remove(self) -> None:
        """Removes the agent, after a question."""
        if agent := self._current():
            self.do(self._remove(agent))

    async def _remove(self, agent: "AgentLine") -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        question = f"Remove {agent.name!r} with its runs and what they have not merged? This can't be taken back."
        if await self.host.ask(Confirm(question, severity="removes")):
            await self.call(self.desk.runs.remove_agent, agent.uuid)
