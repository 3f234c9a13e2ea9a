"""The library as it is seen: the tree of folders, what is open of it, and the words that restrict it."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.shelffilter import ShelfFilter
from marginalia_tui.screens.shelfrows import columns, found_books, shelf_rows
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.shelf import BookLine, FolderLine, Shelf
    from marginalia_tui.store.bus import Touched

OPENING = "Opening the studio"
EMPTY = """The library is empty.

n  begins a new book
i  imports one: Markdown, plain text, EPUB, Word (DOCX), a SillyTavern chat,
   a character card, a folder of Markdown, novelWriter or Longform, a backup"""
NOTHING = "Nothing here fits these words.\n\nEsc  shows everything again"


class ShelfTable(Table):
    """The table of the library: finding restricts it instead of going to a row."""

    def action_find(self) -> None:
        """Begins to type words."""
        screen = self.screen
        assert isinstance(screen, ShelfScreen)
        screen.action_filter()


class ShelfScreen(BaseScreen):
    """Shows the library; what is done to it is said by a subclass."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "filter", "find", show=False, id="library.filter"),
        Binding("left", "fold(True)", "close the folder", show=False, id="library.fold"),
        Binding("right", "fold(False)", "open the folder", show=False, id="library.unfold"),
        Binding("escape", "show_all", "show all again", show=False, id="library.show_all"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._shelf: Shelf | None = None
        self._books: dict[str, BookLine] = {}
        self._folders: dict[str, FolderLine] = {}
        self._folded: set[str] = set()
        """The folders whose content is not shown."""

    def body(self) -> ComposeResult:
        """The table, and the line for words."""
        table = ShelfTable([], empty=OPENING, id="books")
        table.enter = "open"
        yield table
        yield ShelfFilter(table, id="shelf-filter")

    @property
    def table(self) -> Table:
        """The books and folders."""
        return self.query_one("#books", Table)

    @property
    def filter_line(self) -> ShelfFilter:
        """The line for words."""
        return self.query_one(ShelfFilter)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("")

    def wants(self, touched: "Touched") -> bool:
        """Books, runs, which hold them, and folders, of which nothing is told."""
        return bool(touched.everything or touched.books or touched.runs or not touched.agents)

    async def read(self, desk: "Desk") -> None:
        """The library."""
        await self.show(await self.call(desk.library.shelf))

    async def show(self, shelf: "Shelf") -> None:
        """Shows the library as it is now."""
        self._shelf = shelf
        self._books = {book.uuid: book for book in shelf.books}
        self._folders = {folder.uuid: folder for folder in shelf.folders}
        self._folded &= self._folders.keys()
        await self._show_rows()

    async def _show_rows(self, key: str | None = None) -> None:
        shelf = self._shelf
        if shelf is None:
            return
        words = self.filter_line.words
        rows = await self.call(shelf_rows, shelf, frozenset(self._folded), words)
        if shelf is not self._shelf or words != self.filter_line.words:
            # What was asked for meanwhile is shown by whoever asked.
            return
        self.table.columns = tuple(columns(shelf))
        self.table.empty = NOTHING if words else EMPTY
        self.table.show(rows, key=key)
        self.refresh_bindings()
        self._say_counts(shelf, words)

    def _say_counts(self, shelf: "Shelf", words: str) -> None:
        number = "1 book" if len(shelf.books) == 1 else f"{len(shelf.books):,} books"
        total = sum(book.words for book in shelf.books)
        self.say_where("", f"{number}  {total:,} words" if shelf.books else "")
        found = found_books(shelf, words)
        self.filter_line.say(f"{len(found):,} of {number}, {sum(book.words for book in found):,} words")

    # What stands under the cursor

    @property
    def book(self) -> "BookLine | None":
        """The book under the cursor."""
        return self._books.get(self.table.current_key or "")

    @property
    def folder(self) -> "FolderLine | None":
        """The folder under the cursor."""
        return self._folders.get(self.table.current_key or "")

    @property
    def place(self) -> str | None:
        """The folder under the cursor, or that of the book there; None at the top."""
        book = self.book
        return book.folder if book is not None else self.table.current_key

    # Opening

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: opens a book, opens or closes a folder."""
        event.stop()
        self.action_open()

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Other keys matter on a folder than on a book."""
        event.stop()
        self.refresh_bindings()

    def action_open(self) -> None:
        """Opens what is under the cursor."""
        if book := self.book:
            self.do(self._open(book.uuid))
        elif folder := self.folder:
            self.action_fold(folder.uuid not in self._folded)

    async def _open(self, book: str) -> None:
        self.host.open_book(book)

    def action_fold(self, closing: bool) -> None:
        """Closes or opens the folder under the cursor; of a book, or a folder that is closed, goes to that above."""
        folder = self.folder
        if folder is None or (closing and folder.uuid in self._folded):
            above = folder.parent if folder else self.place
            if closing and above:
                self.do(self._show_rows(above))
        elif not self.filter_line.words:
            (self._folded.add if closing else self._folded.discard)(folder.uuid)
            self.do(self._show_rows(folder.uuid))

    # Words

    def action_filter(self) -> None:
        """Begins to type words that restrict what is shown."""
        self.filter_line.open()

    def action_show_all(self) -> None:
        """Takes the words away."""
        if self.filter_line.has_class("-open"):
            self.filter_line.action_close()

    def on_shelf_filter_changed(self, event: ShelfFilter.Changed) -> None:
        """Other words."""
        event.stop()
        self.do(self._show_rows())
