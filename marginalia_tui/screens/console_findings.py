"""The tab Findings: what the agent reported, of this run, of all its runs, or of the book."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from marginalia_tui.desk.answer import Words
from marginalia_tui.screens.console_tabs import Tab, TabbedScreen
from marginalia_tui.screens.results import AnswerView
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.seen import FindingLine, Of

WHOSE: "tuple[Of, ...]" = ("run", "agent", "book")
HEADS = {"run": "Findings of this run", "agent": "Findings of this agent", "book": "Findings of this book"}
NONE = "Nothing was reported.\n\nWhat an agent finds and does not change, it can report: it is kept here."
COLUMNS = (Column("When", drop=2), Column("Agent", drop=1), Column("Finding", grow=1, minimum=10))


class FindingsTab(Tab):
    """The findings, and the one under the cursor in full."""

    DEFAULT_CSS = """
    FindingsTab {
        & #findings-head { height: 1; padding: 0 1; color: $muted; }
        & #findings-list { height: 1fr; padding: 0 1; }
        & #findings-side { height: 1fr; border-top: solid $rule; }
        & #finding { height: 1fr; padding: 0 1; background: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "whose", "run / agent / book", id="findings.whose"),
        Binding("d,delete", "delete", "delete", id="findings.delete"),
        Binding("tab", "other", "other side", show=False, id="findings.focus"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._of: Of = "run"
        self._found: list[FindingLine] = []
        self._head = Static("", markup=False, id="findings-head")
        self.list = Table(COLUMNS, empty=NONE, id="findings-list")
        """The findings."""
        self.text = AnswerView(id="finding")

    def compose(self) -> ComposeResult:
        """Whose they are, the findings, one in full."""
        yield self._head
        yield self.list
        with Container(id="findings-side"):
            yield self.text

    def take_focus(self) -> None:
        """The list."""
        self.list.focus()

    def text_here(self) -> str:
        """The finding under the cursor."""
        here = self.list.cursor
        return self._found[here].text if 0 <= here < len(self._found) else ""

    async def read(self, screen: TabbedScreen, desk: "Desk") -> None:
        """Those that there are now."""
        found = await screen.call(desk.seen.findings, self.of_run, self._of)
        if self.is_attached:
            self._found = found
            self._head.update(f"{HEADS[self._of]}: {len(found):,}")
            self.list.show([Row(each.uuid, (each.when, each.agent, " ".join(each.text.split()))) for each in found])
            self._show_text()
            screen.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what is there is deleted."""
        return bool(self._found) if action == "delete" else True

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another finding."""
        event.stop()
        self._show_text(from_start=True)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: it is read."""
        event.stop()
        self.text.focus()

    def _show_text(self, *, from_start: bool = False) -> None:
        text = self.text_here()
        self.text.show([Words(text)] if text else [], from_start=from_start)

    @property
    def _screen(self) -> TabbedScreen:
        screen = self.screen
        assert isinstance(screen, TabbedScreen)
        return screen

    def action_whose(self) -> None:
        """Those of the run, of the agent, of the book."""
        self._of = WHOSE[(WHOSE.index(self._of) + 1) % len(WHOSE)]
        self._screen.do(self._screen.read_tab())

    def action_other(self) -> None:
        """Between the list and the text."""
        (self.list if self.text.has_focus else self.text).focus()

    def action_delete(self) -> None:
        """Deletes the finding under the cursor, after a question."""
        here = self.list.cursor
        if 0 <= here < len(self._found):
            self._screen.do(self._delete(self._found[here].uuid))

    async def _delete(self, uuid: str) -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        screen = self._screen
        if await screen.host.ask(Confirm("Delete this finding for good?", yes="Delete")):
            await screen.call(screen.desk.seen.delete_finding, self.of_run, uuid)
            await screen.read_tab()
