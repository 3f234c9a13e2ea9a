"""Choosing a branch of the book."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.widgets.dialogs import BOX, words
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.book import BranchLine


class BranchScreen(ModalScreen[str | None]):
    """The branches by number; Enter answers the last part of one, Esc None.

    Args:
        lines: the branches.
    """

    DEFAULT_CSS = f"""
    BranchScreen {{
        {BOX}
        & .dialog--box {{ height: auto; }}
        & Table {{ background: $panel; height: auto; max-height: 16; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", id="branches.leave")]

    def __init__(self, lines: "Sequence[BranchLine]") -> None:
        super().__init__()
        self.lines = lines

    def compose(self) -> ComposeResult:
        """The table and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = "Branches"
            yield Table(
                [
                    Column("", "right"),
                    Column("Ends with", grow=1, minimum=10),
                    Column("Parts", "right", drop=2),
                    Column("Words", "right", drop=1),
                    Column(""),
                ],
                id="branches",
            )
            yield words("")
            yield words("Enter reads it   Esc back", "dialog--keys")

    def on_mount(self) -> None:
        """The cursor stands on the branch that is read."""
        table = self.query_one(Table)
        rows = [
            Row(
                line.leaf,
                (
                    str(line.number),
                    line.title or "(no title)",
                    f"{line.parts:,}",
                    f"{line.words:,}",
                    "read now" if line.active else "",
                ),
            )
            for line in self.lines
        ]
        table.styles.height = min(16, len(rows) + 1)
        table.show(rows, key=next((line.leaf for line in self.lines if line.active), None))
        table.focus()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)
