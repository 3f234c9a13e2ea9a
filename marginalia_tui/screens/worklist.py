"""The commands that run, and how others ended: to stop, to look at, to copy, to save."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.working import TICK, Outcome, WorkHost
from marginalia_tui.screens.workpanel import Progress, clock
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.commands.running import CommandRun
    from marginalia_tui.desk.opening import Desk

EMPTY = "No command was run yet: / opens the bar."


class WorkListScreen(BaseScreen):
    """Commands that run stand first, then the newest answers.

    Args:
        mode: the mode whose tab is marked.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "show", "show", id="work.show"),
        Binding("s", "stop", "stop", id="work.stop"),
        Binding("c", "copy", "copy", id="work.copy"),
        Binding("w", "save", "save to a file", id="work.save"),
        Binding("escape,W", "back", "back", id="work.back", key_display="Esc"),
    ]

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode_name = mode
        self._runs: dict[str, CommandRun] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._table = Table(
            [Column("Command", grow=2, minimum=12), Column("", grow=3, minimum=10, drop=2), Column("Time", "right")],
            empty=EMPTY,
            id="work",
        )

    def body(self) -> ComposeResult:
        """The table."""
        yield self._table

    def on_mount(self) -> None:
        """The table has the focus, and moves on with the commands."""
        super().on_mount()
        self._table.focus()
        self.say_where("Commands and answers")
        self._fill()
        self.set_interval(TICK, self._fill)

    async def read(self, desk: "Desk") -> None:
        """Nothing of the store is shown here."""

    def show_work(self, work: tuple[Progress, ...], key: str) -> None:
        """The table shows them already."""

    @property
    def _works(self) -> WorkHost:
        host = self.app
        assert isinstance(host, WorkHost)
        return host

    def _fill(self) -> None:
        works = self._works
        self._runs = {f"run {id(run)}": run for run in works.work}
        self._outcomes = {f"outcome {id(each)}": each for each in works.outcomes}
        rows = [Row(key, (run.title, _status(run), clock(run.seconds))) for key, run in self._runs.items()]
        rows += [
            Row(key, (each.title, _first_line(each.text), clock(each.seconds)), tone="plain" if each.shown else "muted")
            for key, each in self._outcomes.items()
        ]
        if [(row.key, row.cells) for row in rows] != [(row.key, row.cells) for row in self._table.rows]:
            self._table.show(rows)
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the row allows."""
        key = self._table.current_key or ""
        outcome = self._outcomes.get(key)
        allowed = {
            "stop": key in self._runs,
            "show": outcome is not None,
            "copy": outcome is not None,
            "save": outcome is not None and outcome.shown is not None,
        }
        return allowed.get(action, True)

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another row allows other keys."""
        event.stop()
        self.refresh_bindings()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter on a row."""
        event.stop()
        self.action_show()

    def action_show(self) -> None:
        """Shows an answer again."""
        from marginalia_tui.screens.results import ResultScreen
        from marginalia_tui.widgets.dialogs import Notice

        outcome = self._outcomes.get(self._table.current_key or "")
        if outcome is None:
            return
        if outcome.shown is None:
            self.app.push_screen(Notice(outcome.text, title=outcome.title))
        else:
            self.app.push_screen(ResultScreen(outcome.shown))

    def action_stop(self) -> None:
        """Stops a command."""
        if run := self._runs.get(self._table.current_key or ""):
            self._works.stop_work(run)

    def action_copy(self) -> None:
        """Copies an answer as plain text."""
        if outcome := self._outcomes.get(self._table.current_key or ""):
            self.host.copy(outcome.text)

    def action_save(self) -> None:
        """Saves an answer to a file."""
        from marginalia_tui.screens.saving import ask_save

        outcome = self._outcomes.get(self._table.current_key or "")
        if outcome is not None and outcome.shown is not None:
            self.do(ask_save(self.host, outcome.shown))

    def action_back(self) -> None:
        """Back to where it was opened."""
        self.dismiss()


def _status(run: "CommandRun") -> str:
    status = run.status
    share = f"{status.done / status.total:.0%}  " if status.done is not None and status.total else ""
    return share + (status.words or "runs")


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]
