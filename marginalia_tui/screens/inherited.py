"""What a book or a folder says and inherits: each setting with what holds and where it comes from."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from marginalia_tui.domain.visible import visible
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.inheriting import COLUMNS, ask_setting, keep_setting, setting_row, what_holds_then
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Table

if TYPE_CHECKING:
    from marginalia_tui.desk.inherited import Owner, SettingLine
    from marginalia_tui.desk.opening import Desk


class InheritedScreen(BaseScreen):
    """The settings of a book or a folder; below, all of what the one under the cursor says.

    Args:
        owner: whose settings.
        uuid: of the book or folder.
        mode: from which it was opened.
    """

    CSS_PATH = "inherited.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,e", "change", "change", id="inherited.change"),
        Binding("r,d,delete", "reset", "inherit again", id="inherited.reset"),
        Binding("escape", "back", "back", id="inherited.back"),
    ]

    def __init__(self, owner: "Owner", uuid: str, *, mode: str = "library") -> None:
        super().__init__()
        self.mode_name = mode
        self._owner, self._uuid = owner, uuid
        self._settings: dict[str, SettingLine] = {}

    def body(self) -> ComposeResult:
        """The table, and the value."""
        with Vertical(id="inherited"):
            yield Table(COLUMNS, id="settings-table")
            with VerticalScroll(id="value-place"):
                yield Static("", id="value", markup=False)

    @property
    def table(self) -> Table:
        """The settings."""
        return self.query_one("#settings-table", Table)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()

    async def read(self, desk: "Desk") -> None:
        """The settings."""
        view = await self.call(desk.inherited.look, self._owner, self._uuid)
        self._settings = {line.name: line for line in view.lines}
        self.table.show([setting_row(line) for line in view.lines])
        self.refresh_bindings()
        self._show_value()
        held = f"held by {', '.join(view.agents)}" if view.agents else ""
        place = f"{view.place} / {view.title}" if view.place else view.title
        self.say_where(place, held)

    @property
    def _current(self) -> "SettingLine | None":
        return self._settings.get(self.table.current_key or "") if self.is_mounted else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what is said here is taken away."""
        line = self._current
        if action == "change":
            return line is not None
        if action == "reset":
            return line is not None and line.own
        return True

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another setting."""
        event.stop()
        self.refresh_bindings()
        self._show_value()

    def _show_value(self) -> None:
        line = self._current
        if line is None:
            return
        where = "said here" if line.own else line.where
        said = f"{line.label} ({where}):\n\n{line.value}" if line.value else f"{line.label}: nothing is said."
        if line.own:
            said += f"\n\n{self.host.key_of(type(self), 'inherited.reset')} takes this away. {what_holds_then(line)}"
        self.query_one("#value", Static).update(visible(said))
        self.query_one("#value-place", VerticalScroll).scroll_home(animate=False)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.action_change()

    def action_change(self) -> None:
        """Asks for another value."""
        if line := self._current:
            self.do(self._change(line))

    async def _change(self, line: "SettingLine") -> None:
        value = await ask_setting(self.host, self.desk, line)
        if value is not None:
            await self._keep(line, value)

    def action_reset(self) -> None:
        """Has it inherited again."""
        if line := self._current:
            self.do(self._keep(line, ""))

    async def _keep(self, line: "SettingLine", value: str) -> None:
        await keep_setting(self.host, self.desk, self._owner, self._uuid, line, value)
        self.look_again()

    def action_back(self) -> None:
        """Back to where it was opened."""
        self.dismiss()
