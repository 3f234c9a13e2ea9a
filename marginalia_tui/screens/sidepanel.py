"""The panel beside the page: a list of rows, and below it the text of the one that is chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.panels import PanelName, PanelRow, PanelView


class SidePanel(Vertical):
    """Shows one panel at a time; what its keys do is the screen's."""

    DEFAULT_CSS = """
    SidePanel {
        display: none; width: 1fr; max-width: 56; border-left: solid $rule;
        & #panel-title { height: 1; color: $foreground; text-style: bold; padding: 0 1; }
        & #panel-about { height: auto; max-height: 3; color: $muted; padding: 0 1; }
        & #panel-rows { height: 1fr; max-height: 50%; }
        & #panel-text { height: 1fr; border-top: solid $rule; }
        &.-open { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "act('add')", "add", id="panel.add"),
        Binding("d,delete", "act('delete')", "delete", show=False, id="panel.delete"),
        Binding("t", "act('turn')", "done / open", id="panel.turn"),
        Binding("t", "act('confirm')", "it still holds", id="panel.confirm"),
        Binding("r", "act('restore')", "bring back", id="panel.restore"),
        Binding("escape", "screen.back", "close", id="panel.close"),
    ]
    ENTER: ClassVar[dict[str, str]] = {"notes": "go there", "lore": "open", "writers": "go there"}
    """What Enter does with a row of a panel."""
    WITHOUT_ROW = ("add",)
    """The actions that need no row."""
    ACTIONS: ClassVar[dict[str, tuple[str, ...]]] = {
        "notes": ("add", "delete", "turn"),
        "lore": (),
        "history": ("restore",),
        "summaries": ("confirm",),
        "writers": (),
    }

    @dataclass
    class Wanted(Message):
        """Something is to be done in a panel; `row` is the one that is chosen."""

        name: "PanelName"
        action: str
        row: "PanelRow | None"

    @dataclass
    class Chosen(Message):
        """Enter on a row."""

        row: "PanelRow"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view: PanelView | None = None
        self._go_to: str | None = None
        self._title = Static("", markup=False, id="panel-title")
        self._about = Static("", markup=False, id="panel-about")
        self.table = Table([Column("", grow=1, minimum=8), Column("", "right", drop=1)], id="panel-rows")
        """The rows."""
        self.text = Page(id="panel-text")
        """The text of the row that is chosen."""

    def compose(self) -> ComposeResult:
        """Title, a line about it, rows, text."""
        yield self._title
        yield self._about
        yield self.table
        yield self.text

    @property
    def name_shown(self) -> "PanelName | None":
        """The panel that is open."""
        return self._view.name if self._view is not None and self.has_class("-open") else None

    def open(self, *, focus: bool = True) -> None:
        """Shows it and gives it the focus."""
        self.add_class("-open")
        if focus:
            self.table.focus()

    def go_to(self, key: str) -> None:
        """Has a row chosen when the panel is shown next."""
        self._go_to = key

    def close(self) -> None:
        """Hides it."""
        self.remove_class("-open")
        self._view = None

    def show(self, view: "PanelView") -> None:
        """Shows a panel: another one at its first row, else the same row stays chosen as long as it is there."""
        other = self._view is None or (self._view.name, self._view.part) != (view.name, view.part)
        self._view = view
        self._title.update(visible_line(view.title))
        self._about.update(visible_line(view.about))
        self._about.display = bool(view.about)
        self.table.empty = view.empty
        rows = [
            Row(row.key, (row.head, row.tail), tone="muted" if row.dim else "plain", tones=((1, "muted"),))
            for row in view.rows
        ]
        self.table.enter = self.ENTER.get(view.name, "")
        go_to, self._go_to = self._go_to, None
        begin = (view.begin or next((row.key for row in view.rows), None)) if other else None
        self.table.show(rows, key=go_to or begin)
        self._show_text()

    @property
    def row(self) -> "PanelRow | None":
        """The row that is chosen."""
        if self._view is None:
            return None
        return next((row for row in self._view.rows if row.key == self.table.current_key), None)

    def _show_text(self) -> None:
        row = self.row
        self.text.show("" if row is None else row.text)

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another row."""
        event.stop()
        self._show_text()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter on a row."""
        event.stop()
        if (row := self.row) is not None:
            self.post_message(self.Chosen(row))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key does only what its panel has."""
        if action != "act":
            return True
        if self._view is None or parameters[0] not in self.ACTIONS[self._view.name]:
            return False
        return parameters[0] in self.WITHOUT_ROW or bool(self._view.rows)

    def action_act(self, action: str) -> None:
        """Tells the screen."""
        if self._view is not None:
            self.post_message(self.Wanted(self._view.name, action, self.row))
