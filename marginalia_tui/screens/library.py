"""The library: the books, and what is done to a book as a whole."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.shelf import BookLine
    from marginalia_tui.store.bus import Touched

OPENING = "Opening the studio"
EMPTY = "The library is empty.\n\ni  imports a file or a folder: Markdown, plain text, EPUB\nn  begins a new book"


def book_rows(books: "list[BookLine]") -> list[Row]:
    """The books as rows: title, parts, words, date, the agent that works on it."""
    return [
        Row(
            book.uuid,
            (book.title, f"{book.parts:,}", f"{book.words:,}", book.when, f"* {book.agent}" if book.agent else ""),
            tones=((1, "muted"), (2, "muted"), (3, "muted"), (4, "attention")),
        )
        for book in books
    ]


def book_table(when: str, empty: str) -> Table:
    """The table of books; `when` is the title of the column with the date."""
    return Table(
        [
            Column("Title", grow=1, minimum=12),
            Column("Parts", "right", drop=3),
            Column("Words", "right", drop=1),
            Column(when, width=16, drop=4),
            Column("Agent", drop=2),
        ],
        empty=empty,
        id="books",
    )


class LibraryScreen(BaseScreen):
    """The first mode."""

    CSS_PATH = "library.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="library.open"),
        Binding("i", "import", "import", id="library.import"),
        Binding("n", "new", "new", id="library.new"),
        Binding("r", "rename", "rename", id="library.rename"),
        Binding("x", "export", "export", id="library.export"),
        Binding("d,delete", "trash", "delete", id="library.trash"),
        Binding("t", "show_trash", "trash", id="library.show_trash"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._books: dict[str, BookLine] = {}

    def body(self) -> ComposeResult:
        """The table."""
        yield book_table("Last opened", OPENING)

    @property
    def table(self) -> Table:
        """The books."""
        return self.query_one("#books", Table)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("")

    def wants(self, touched: "Touched") -> bool:
        """Books, and runs, which hold them."""
        return bool(touched.everything or touched.books or touched.runs)

    async def read(self, desk: "Desk") -> None:
        """The list."""
        await self.show(await self.call(desk.library.books))

    async def show(self, books: "list[BookLine]") -> None:
        """Shows books."""
        rows = await self.call(book_rows, books)
        self._books = {book.uuid: book for book in books}
        self.table.empty = EMPTY
        self.table.show(rows)
        self.refresh_bindings()
        words = sum(book.words for book in books)
        number = "1 book" if len(books) == 1 else f"{len(books):,} books"
        self.say_where("", f"{number}  {words:,} words" if books else "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is done to no book, and nothing before the studio is open."""
        if action in ("open", "rename", "export", "trash"):
            return bool(self._books)
        if action in ("import", "new", "show_trash"):
            return self.is_mounted and self.host.desk is not None
        return True

    def _current(self) -> "BookLine | None":
        return self._books.get(self.table.current_key or "")

    # Opening

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter on a book."""
        event.stop()
        self.do(self._open(event.key))

    def action_open(self) -> None:
        """Opens the book under the cursor."""
        if book := self._current():
            self.do(self._open(book.uuid))

    async def _open(self, book: str) -> None:
        self.host.open_book(book)

    # New and renamed

    def action_new(self) -> None:
        """Asks for a title and makes an empty book."""
        self.do(self._new())

    async def _new(self) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        title = await self.host.ask(Ask("Title of the new book", check=_needed))
        if title:
            self.host.open_book(await self.call(self.desk.library.create, title))

    def action_rename(self) -> None:
        """Asks for another title."""
        if book := self._current():
            self.do(self._rename(book))

    async def _rename(self, book: "BookLine") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        title = await self.host.ask(Ask("Title of the book", book.title, check=_needed))
        if title and title != book.title:
            await self.call(self.desk.library.rename, book.uuid, title)

    # The trash

    def action_trash(self) -> None:
        """Moves the book to the trash."""
        if book := self._current():
            self.do(self._trash(book))

    async def _trash(self, book: "BookLine") -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        question = f"Move {book.title!r} with its {book.parts:,} parts to the trash? t shows the trash and restores it."
        if await self.host.ask(Confirm(question, severity="can be taken back")):
            await self.call(self.desk.library.to_trash, book.uuid)
            if self.host.opened == book.uuid:
                self.host.opened = None

    def action_show_trash(self) -> None:
        """Shows the trash."""
        from marginalia_tui.screens.trash import TrashScreen

        self.app.push_screen(TrashScreen())

    # Import and export

    def action_import(self) -> None:
        """Asks for a file or a folder, and imports it."""
        self.do(self._import())

    async def _import(self) -> None:
        from marginalia_tui.screens.exchange import ask_import

        wanted = await ask_import(self.host, self.desk)
        if wanted is None:
            return
        self.host.running = f"importing {Path(wanted.path).name}"
        try:
            made = await self.call(
                lambda: self.desk.library.bring_in(
                    wanted.path, title=wanted.title, format=wanted.format, level=wanted.level
                )
            )
        finally:
            self.host.running = ""
        await self.read_again()
        self.table.show(self.table.rows, key=made.uuid)
        if made.notes:
            from marginalia_tui.widgets.dialogs import Notice

            await self.host.ask(Notice("\n\n".join((made.sentence, *made.notes)), title="Imported"))
        else:
            self.host.tell(made.sentence)

    def action_export(self) -> None:
        """Asks for a format and a path, and exports the book."""
        if book := self._current():
            self.do(self._export(book))

    async def _export(self, book: "BookLine") -> None:
        from marginalia_tui.screens.exchange import export_book

        await export_book(self.host, self.desk, book.uuid, book.title)


def _needed(title: str) -> str | None:
    return None if title.strip() else "Give the book a title: it may not be empty."
