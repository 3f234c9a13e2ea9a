"""Choosing a folder of the library."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.screens.shelfrows import DEEPEST, STEP
from marginalia_tui.widgets.dialogs import BOX, title_text, words
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.shelf import FolderLine

TOP = "/"
"""What stands for the top of the library."""


class FolderScreen(ModalScreen[str | None]):
    """The folders as a tree below the top of the library; Enter answers the uuid of one or `TOP`, Esc None.

    Args:
        title: of the box.
        folders: each before those in it.
        here: the folder on which the cursor stands; None: the top.
    """

    DEFAULT_CSS = f"""
    FolderScreen {{
        {BOX}
        & .dialog--box {{ height: auto; }}
        & Table {{ background: $panel; height: auto; max-height: 16; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", id="folders.leave")]

    def __init__(self, title: str, folders: "Sequence[FolderLine]", here: str | None) -> None:
        super().__init__()
        self.heading, self.folders, self.here = title, folders, here

    def compose(self) -> ComposeResult:
        """The table and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            yield Table([Column("", grow=1, minimum=10), Column("", "right", drop=1)], header=False, id="folders")
            yield words("")
            yield words("Enter takes it   f finds one by typing   Esc back", "dialog--keys")

    def on_mount(self) -> None:
        """The cursor stands on the folder where it is now."""
        table = self.query_one(Table)
        rows = [Row(TOP, ("the top of the library", ""))]
        for folder in self.folders:
            books = "empty" if not folder.books else "1 book" if folder.books == 1 else f"{folder.books:,} books"
            rows.append(Row(folder.uuid, (STEP * min(folder.depth + 1, DEEPEST) + folder.name, books)))
        table.styles.height = min(16, len(rows))
        table.show(rows, key=self.here or TOP)
        table.focus()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)
