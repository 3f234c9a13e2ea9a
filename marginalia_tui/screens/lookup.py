"""The lore that a passage of the text is about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.widgets.dialogs import BOX, title_text, words
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.writing import LoreFound

MOST = 6
"""Rows that are seen at once."""


class LookupScreen(ModalScreen[str | None]):
    """The entries with the text of the one that is chosen; Enter answers its uuid, Esc None.

    Args:
        passage: what was looked up.
        found: the entries.
    """

    DEFAULT_CSS = f"""
    LookupScreen {{
        {BOX}
        & .dialog--box {{ height: 80%; max-height: 30; }}
        & Table {{ background: $panel; height: auto; }}
        & Page {{ background: $panel; height: 1fr; border-top: solid $rule; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="lookup.leave"),
    ]

    def __init__(self, passage: str, found: "Sequence[LoreFound]") -> None:
        super().__init__()
        self.passage = " ".join(passage.split())
        self.found = {each.uuid: each for each in found}
        self.table = Table(
            [Column("", grow=2, minimum=10), Column("", grow=1, drop=2), Column("", drop=1)], header=False
        )
        """The entries."""
        self.text = Page()
        """The text of the one that is chosen."""

    def compose(self) -> ComposeResult:
        """The entries, the text, the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(f"Lore of: {self.passage[:40]}{'…' if len(self.passage) > 40 else ''}")
            yield self.table
            yield self.text
            yield words("Enter opens it   Tab to its text   Esc back", "dialog--keys")

    def on_mount(self) -> None:
        """The first is chosen."""
        self.table.styles.height = min(MOST, len(self.found))
        rows = [
            Row(each.uuid, (each.name, each.lorebook, each.why), tones=((1, "muted"), (2, "muted")))
            for each in self.found.values()
        ]
        self.table.show(rows)
        self.table.focus()

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another entry."""
        event.stop()
        self.text.show(self.found[event.key].text)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)
