"""The library: books in folders, and what is done to a book or a folder as a whole."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from marginalia_tui.screens.shelving import ShelfScreen

if TYPE_CHECKING:
    from marginalia_tui.desk.shelf import BookLine, FolderLine


class LibraryScreen(ShelfScreen):
    """The first mode."""

    CSS_PATH = "library.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="library.open"),
        Binding("i", "import", "import", id="library.import"),
        Binding("n", "new", "new", id="library.new"),
        Binding("m", "move", "move", id="library.move"),
        Binding("e", "settings", "settings", id="library.settings"),
        Binding("t", "show_trash", "trash", id="library.show_trash"),
        Binding("N", "new_folder", "new folder", id="library.new_folder"),
        Binding("g", "tags", "tags", id="library.tags"),
        Binding("b", "backups", "backups", id="library.backups"),
        Binding("r", "rename", "rename", id="library.rename"),
        Binding("d,delete", "trash", "delete", id="library.trash"),
        Binding("x", "export", "export", id="library.export"),
        Binding("number_sign", "statistics", "statistics", id="library.statistics"),
        Binding("l", "lorebooks", "lorebooks", id="library.lorebooks"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is done to no book, and nothing before the studio is open."""
        match action:
            case "open":
                return self.is_mounted and self.table.current_key is not None
            case "rename" | "move" | "trash" | "settings":
                return self._is_open and (self.book or self.folder) is not None
            case "export" | "tags" | "backups":
                return self._is_open and self.book is not None
            case "import" | "new" | "new_folder" | "show_trash" | "lorebooks" | "statistics":
                return self._is_open
        return True

    @property
    def _is_open(self) -> bool:
        return self.is_mounted and self.host.desk is not None

    async def _done(self, book: str | None, name: str, **arguments: object) -> None:
        """Runs a command and tells what it answers."""
        shown = await self.host.command_on(book, name, **arguments)
        self.host.tell(shown.sentence)

    # New and renamed

    def action_new(self) -> None:
        """Asks for a title and makes an empty book, in the folder where the cursor stands."""
        self.do(self._new(self.place))

    async def _new(self, place: str | None) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        title = await self.host.ask(Ask("Title of the new book", check=_needed))
        if title:
            book = await self.call(self.desk.library.create, title)
            if place:
                await self.host.command_on(book, "move-book", folder=place)
            self.host.open_book(book)

    def action_new_folder(self) -> None:
        """Asks for a name and makes a folder, in the folder where the cursor stands."""
        self.do(self._new_folder(self._folders.get(self.place or "")))

    async def _new_folder(self, above: "FolderLine | None") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        where = f" in {above.path!r}" if above else ""
        name = await self.host.ask(Ask(f"Name of the new folder{where}", check=_named))
        if name:
            inside = {"parent": above.uuid} if above else {}
            made = await self.host.command_on(None, "create-folder", name=name, **inside)
            self._folded.discard(above.uuid if above else "")
            await self.read_again()
            await self._show_rows(str(made.data["folder"]))

    def action_rename(self) -> None:
        """Asks for another title or name."""
        if book := self.book:
            self.do(self._rename(book))
        elif folder := self.folder:
            self.do(self._rename_folder(folder))

    async def _rename(self, book: "BookLine") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        title = await self.host.ask(Ask("Title of the book", book.title, check=_needed))
        if title and title != book.title:
            await self.host.command_on(book.uuid, "set-book-info", title=title)

    async def _rename_folder(self, folder: "FolderLine") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        name = await self.host.ask(Ask("Name of the folder", folder.name, check=_named))
        if name and name != folder.name:
            await self.host.command_on(None, "update-folder", folder=folder.uuid, name=name)

    # Folders and tags

    def action_move(self) -> None:
        """Asks for a folder and moves the book or the folder there."""
        if book := self.book:
            self.do(self._move(book.title, book.folder, book=book.uuid))
        elif folder := self.folder:
            self.do(self._move(folder.name, folder.parent, folder=folder.uuid))

    async def _move(self, name: str, here: str | None, *, book: str | None = None, folder: str | None = None) -> None:
        from marginalia_tui.screens.pickfolder import TOP, FolderScreen

        if self._shelf is None:
            return
        inside = self._below(folder) if folder else frozenset()
        places = [each for each in self._shelf.folders if each.uuid not in inside]
        target = await self.host.ask(FolderScreen(f"Move {name} to", places, here))
        if target is None or target == (here or TOP):
            return
        place = "" if target == TOP else target
        if book:
            await self._done(book, "move-book", folder=place)
        else:
            await self._done(None, "move-folder", folder=folder, parent=place)
        self._folded.discard(place)

    def _below(self, folder: str) -> frozenset[str]:
        """A folder and those in it, however deep: it can't be moved there."""
        found = {folder}
        for each in self._folders.values():
            if each.parent in found:
                found.add(each.uuid)
        return frozenset(found)

    def action_tags(self) -> None:
        """Asks for the tags of the book."""
        if book := self.book:
            self.do(self._tags(book))

    async def _tags(self, book: "BookLine") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        known = sorted({tag for each in self._books.values() for tag in each.tags})
        help = "With commas between; they decide which lore can be active."
        help += f" There are: {', '.join(known[:20])}." if known else ""
        tags = await self.host.ask(Ask(f"Tags of {book.title}", ", ".join(book.tags), help=help))
        if tags is not None:
            await self._done(book.uuid, "set-book-tags", tags=tags)

    # More about it

    def action_settings(self) -> None:
        """Shows what the book or folder says and inherits."""
        from marginalia_tui.screens.inherited import InheritedScreen

        if book := self.book:
            self.app.push_screen(InheritedScreen("book", book.uuid))
        elif folder := self.folder:
            self.app.push_screen(InheritedScreen("folder", folder.uuid))

    def action_backups(self) -> None:
        """Shows the backups of the book."""
        from marginalia_tui.screens.backups import BackupsScreen

        if book := self.book:
            self.app.push_screen(BackupsScreen(book.uuid, book.title))

    # The trash

    def action_trash(self) -> None:
        """Moves the book to the trash, or deletes the empty folder."""
        if book := self.book:
            self.do(self._trash(book))
        elif folder := self.folder:
            self.do(self._done(None, "delete-folder", folder=folder.uuid))

    async def _trash(self, book: "BookLine") -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        question = f"Move {book.title!r} with its {book.parts:,} parts to the trash? t shows the trash and restores it."
        if await self.host.ask(Confirm(question, severity="can be taken back")):
            await self.call(self.desk.library.to_trash, book.uuid)
            if self.host.opened == book.uuid:
                self.host.opened = None

    def action_statistics(self) -> None:
        """The statistics of all books, and the goal of a day."""
        from marginalia_tui.screens.statistics import StatisticsScreen

        self.app.push_screen(StatisticsScreen(None))

    def action_show_trash(self) -> None:
        """Shows the trash."""
        from marginalia_tui.screens.trash import TrashScreen

        self.app.push_screen(TrashScreen())

    def action_lorebooks(self) -> None:
        """Shows all lorebooks of the library, those that no book uses marked."""
        from marginalia_tui.screens.lorebook_shelf import LorebookShelfScreen

        self.app.push_screen(LorebookShelfScreen())

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
        if book := self.book:
            self.do(self._export(book))

    async def _export(self, book: "BookLine") -> None:
        from marginalia_tui.screens.exchange import export_book

        await export_book(self.host, self.desk, book.uuid, book.title)


def _needed(title: str) -> str | None:
    return None if title.strip() else "Give the book a title: it may not be empty."


def _named(name: str) -> str | None:
    if not name.strip():
        return "Give the folder a name: it may not be empty."
    return "Leave out the /, which stands between the names of a path." if "/" in name else None
