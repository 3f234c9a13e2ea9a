"""All lorebooks of the library, those that no book uses marked: opened, linked to a book, put into the trash."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.domain.errors import Refused
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.lorebook_words import NO_NAME
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.screens.host import Host
    from marginalia_tui.services.lore_shelf import ShelvedLorebook
    from marginalia_tui.store.bus import Touched

EMPTY = "There is no lorebook yet.\n\nOpen a book: Ctrl+L in it, then n, writes the first entry of its lore."
UNUSED = "! unused"


def shelf_rows(shelf: "list[ShelvedLorebook]") -> list[Row]:
    """The lorebooks as rows: name, entries, the books that use it, what it stands below."""
    rows = []
    for each in shelf:
        more = f" and {len(each.books) - 1:,} more" if len(each.books) > 1 else ""
        used = each.books[0].title + more if each.books else UNUSED
        rows.append(
            Row(
                each.lorebook.uuid,
                (each.lorebook.name or NO_NAME, f"{each.entries:,}", used, ", ".join(each.above)),
                tone="plain" if each.lorebook.enabled else "muted",
                tones=((1, "muted"), (2, "muted" if each.books else "attention"), (3, "muted")),
            )
        )
    return rows


class LorebookShelfScreen(BaseScreen):
    """Opened from the library."""

    CSS_PATH = "lorebook.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="lorebooks.open"),
        Binding("l", "link", "link to a book", id="lorebooks.link"),
        Binding("d,delete", "remove", "delete", id="lorebooks.remove"),
        Binding("u", "unused", "unused only / all", id="lorebooks.unused"),
        Binding("escape", "back", "back", id="lorebooks.back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._shelf: dict[str, ShelvedLorebook] = {}
        self._only_unused = False
        self.table = Table(
            [
                Column("Lorebook", grow=2, minimum=12),
                Column("Entries", "right", drop=2),
                Column("Used by", grow=2, minimum=10),
                Column("Below", grow=1, minimum=8, drop=1),
            ],
            id="shelf",
        )
        """The lorebooks."""
        self.table.enter = "open"

    def body(self) -> ComposeResult:
        """The table."""
        yield self.table

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("All lorebooks")

    def wants(self, touched: "Touched") -> bool:
        """Books, and the lore that they use."""
        return bool(touched.everything or touched.books)

    async def read(self, desk: "Desk") -> None:
        """The list."""
        shelf = await self.call(desk.lore.shelf)
        unused = sum(not each.books for each in shelf)
        shown = [each for each in shelf if not (self._only_unused and each.books)]
        rows = await self.call(shelf_rows, shown)
        self._shelf = {each.lorebook.uuid: each for each in shown}
        self.table.empty = "Every lorebook is used by a book.\n\nu  shows them all" if shelf else EMPTY
        self.table.show(rows)
        number = "1 lorebook" if len(shelf) == 1 else f"{len(shelf):,} lorebooks"
        self.say_where("All lorebooks", f"{number}  {unused:,} unused" if unused else number)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what no book uses can be deleted here."""
        each = self._shelf.get(self.table.current_key or "") if self.is_mounted else None
        if action in ("open", "link"):
            return each is not None
        if action == "remove":
            return each is not None and not each.books
        return True

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Other keys."""
        event.stop()
        self.refresh_bindings()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        """Shows it: in the book that is open, or in the first that uses it, or alone."""
        from marginalia_tui.screens.lorebook import LorebookScreen

        each = self._shelf.get(self.table.current_key or "")
        if each is None:
            return
        uuid = each.lorebook.uuid
        if not each.books:
            self.app.push_screen(LorebookScreen(lorebook=uuid, mode="library"))
            return
        books = [book.uuid for book in each.books]
        if self.host.opened not in books:
            self.host.opened = books[0]
        self.app.push_screen(LorebookScreen(at=uuid, mode="library"))

    def action_link(self) -> None:
        """Links it to a book."""
        if (key := self.table.current_key) is not None:
            self.do(self._link(key))

    async def _link(self, lorebook: str) -> None:
        await link_to_book(self.host, self.desk, lorebook)
        self.look_again()

    def action_remove(self) -> None:
        """Moves it to the trash; the command asks."""
        if (key := self.table.current_key) is not None:
            self.do(self._remove(key))

    async def _remove(self, lorebook: str) -> None:
        self.host.tell((await self.host.command_on(None, "delete-unused-lorebook", lorebook=lorebook)).sentence)
        # A lorebook that no book uses is announced to nobody.
        self.look_again()

    def action_unused(self) -> None:
        """Shows only those that no book uses, or all again."""
        self._only_unused = not self._only_unused
        self.look_again()

    def action_back(self) -> None:
        """Back to the library."""
        self.dismiss()


async def link_to_book(host: "Host", desk: "Desk", lorebook: str) -> bool:
    """Asks for a book and links a lorebook to it: as its root, or below the root that it has; only inside `do`.

    Returns:
        Whether it was linked; the book is the open one then.

    Raises:
        Refused: there is no book.
    """
    from marginalia_tui.screens.lorebook_forms import Choose

    found = await host.call(desk.lore.books)
    if not found:
        raise Refused("There is no book yet: i in the library brings one in, n begins one.")
    rows = [(uuid, title, "has lore: below its root" if root else "") for uuid, title, root in found]
    book = await host.ask(Choose("Link to the book", rows, yes="links it", key=host.opened))
    if book is None:
        return False
    host.opened = book
    root = next(root for uuid, _, root in found if uuid == book)
    if root:
        shown = await host.command_on(book, "add-subbook", parent=root, lorebook=lorebook)
    else:
        shown = await host.command_on(book, "link-lorebook", lorebook=lorebook)
    host.tell(shown.sentence)
    return True
