"""The trash: what is gone of every book, when and by whom, and the ways back and out for good."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.trash import GoneLine, Stamp

EMPTY = "The trash is empty. Esc goes back to the library."


class TrashScreen(BaseScreen):
    """Books, lorebooks, folders, parts, lore entries, notes and summaries that can be brought back."""

    CSS_PATH = "library.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "restore", "restore", id="trash.restore"),
        Binding("d,delete", "delete", "delete for good", id="trash.delete"),
        Binding("escape,t", "back", "back", id="trash.back"),
        Binding("E", "empty", "empty it", id="trash.empty"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._gone: dict[str, GoneLine] = {}
        self._stamp: Stamp | None = None

    def body(self) -> ComposeResult:
        """The table."""
        yield Table(
            [
                Column("What"),
                Column("Name", grow=3, minimum=12),
                Column("Of the book", grow=1, minimum=8, drop=2),
                Column("Deleted", width=16, drop=3),
                Column("By", drop=1),
            ],
            empty=EMPTY,
            id="books",
        )

    @property
    def table(self) -> Table:
        """What is gone."""
        return self.query_one("#books", Table)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where("Trash")

    async def read(self, desk: "Desk") -> None:
        """The list."""
        view = await self.call(desk.trash.look, self._stamp)
        if view is None:
            return
        self._stamp = view.stamp
        self._gone = {each.uuid: each for each in view.lines}
        self.table.show([_row(each) for each in view.lines])
        self.refresh_bindings()
        number = len(view.lines)
        self.say_where("Trash", "1 thing" if number == 1 else f"{number:,} things")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is done to nothing."""
        if action in ("restore", "delete"):
            return self._current is not None
        if action == "empty":
            return any(each.for_good for each in self._gone.values())
        return True

    @property
    def _current(self) -> "GoneLine | None":
        return self._gone.get(self.table.current_key or "") if self.is_mounted else None

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.action_restore()

    def action_restore(self) -> None:
        """Brings it back."""
        if each := self._current:
            self.do(self._done(each.book, "restore-from-trash", what=each.uuid, kind=each.kind))

    def action_delete(self) -> None:
        """Deletes it for good, after a question."""
        each = self._current
        if each is None:
            return
        if each.for_good:
            self.do(self._done(None, "delete-for-good", what=each.uuid, kind=each.kind))
        elif each.book:
            self.host.tell(f"The history of {each.place!r} keeps what it lost, and goes with the book.")
        else:
            self.host.tell("Only books and lorebooks take up room of their own: nothing is gained by deleting this.")

    def action_empty(self) -> None:
        """Deletes every book and lorebook in the trash for good, after a question."""
        self.do(self._done(None, "empty-trash"))

    async def _done(self, book: str | None, name: str, **arguments: object) -> None:
        shown = await self.host.command_on(book, name, **arguments)
        self.host.tell(shown.sentence)

    def action_back(self) -> None:
        """Back to the library."""
        self.dismiss()


def _row(each: "GoneLine") -> Row:
    cells = (each.word, each.name, each.place, each.when, each.who)
    return Row(each.uuid, cells, tones=((0, "muted"), (2, "muted"), (3, "muted"), (4, "muted")))
