"""The trash: books that can be restored."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.library import book_rows, book_table
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk


class TrashScreen(BaseScreen):
    """The books that were deleted, newest decision untouched until one is restored."""

    CSS_PATH = "library.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "restore", "restore", id="trash.restore"),
        Binding("escape,t", "back", "back", id="trash.back"),
    ]

    def body(self) -> ComposeResult:
        """The table."""
        yield book_table("Deleted", "The trash is empty. Esc goes back to the library.")

    @property
    def table(self) -> Table:
        """The books."""
        return self.query_one("#books", Table)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("Trash")

    async def read(self, desk: "Desk") -> None:
        """The list."""
        books = await self.call(lambda: desk.library.books(trash=True))
        self.table.show(book_rows(books))
        self.say_where("Trash", f"{len(books):,} books" if len(books) != 1 else "1 book")

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.action_restore()

    def action_restore(self) -> None:
        """Brings the book back."""
        if (book := self.table.current_key) is not None:
            self.do(self._restore(book))

    async def _restore(self, book: str) -> None:
        await self.call(self.desk.library.restore, book)
        self.host.tell("Restored: it stands in the library again.")

    def action_back(self) -> None:
        """Back to the library."""
        self.dismiss()
