"""The backups of a book: made now, restored as a new book or in place, and how often one is made by itself."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.backups import BackupLine, BackupView
    from marginalia_tui.desk.opening import Desk

EMPTY = "There is no backup of this book yet.\n\nn  makes one now\ne  has one made after so many changes or minutes"


class BackupsScreen(BaseScreen):
    """The backups of one book in the home, the newest first.

    Args:
        book: its uuid.
        title: of the book.
        mode: from which it was opened.
    """

    CSS_PATH = "library.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "make", "back up now", id="backups.make"),
        Binding("r,enter", "restore", "restore", id="backups.restore"),
        Binding("e", "often", "how often", id="backups.often"),
        Binding("escape,b", "back", "back", id="backups.back"),
    ]

    def __init__(self, book: str, title: str, *, mode: str = "library") -> None:
        super().__init__()
        self.mode_name = mode
        self._book, self._title = book, title
        self._view: BackupView | None = None

    def body(self) -> ComposeResult:
        """The table."""
        yield Table(
            [
                Column("Made", width=16),
                Column("By"),
                Column("Title then", grow=1, minimum=10, drop=2),
                Column("Parts", "right", drop=1),
                Column("Words", "right"),
                Column("Size", "right", drop=3),
            ],
            empty=EMPTY,
            id="books",
        )

    @property
    def table(self) -> Table:
        """The backups."""
        return self.query_one("#books", Table)

    def on_mount(self) -> None:
        """The table has the focus."""
        super().on_mount()
        self.table.focus()
        self.say_where(f"Backups of {self._title}")

    async def read(self, desk: "Desk") -> None:
        """The list."""
        view = self._view = await self.call(desk.backups.look, self._book)
        self.table.show([_row(each) for each in view.lines])
        self.refresh_bindings()
        self.say_where(f"Backups of {self._title}", _often(view))

    @property
    def _current(self) -> "BackupLine | None":
        key = self.table.current_key if self.is_mounted else None
        return next((each for each in self._view.lines if each.file == key), None) if self._view else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is restored from nothing."""
        if action == "restore":
            return self._current is not None
        if action in ("make", "often"):
            return self._view is not None
        return True

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.action_restore()

    def action_make(self) -> None:
        """Makes a backup now."""
        self.do(self._make())

    async def _make(self) -> None:
        await self.host.command_on(self._book, "take-backup")
        # The answer names the file, whose long path would cover the list.
        self.host.tell(f"A backup of {self._title!r} is made.")
        # A file is no commit, of which anybody would be told.
        await self.read_again()

    def action_restore(self) -> None:
        """Asks how, and restores the backup."""
        if each := self._current:
            self.do(self._restore(each))

    async def _restore(self, each: "BackupLine") -> None:
        from marginalia_tui.screens.decide import Decide, Way

        mode = await self.host.ask(
            Decide(
                "Restore",
                f"The backup of {each.made}, {each.words:,} words.",
                [
                    Way("n", "as a new book beside this one", "as-new"),
                    Way("p", "the parts only, in the place of those of this book", "parts-only"),
                    Way("a", "everything, in the place of all that this book holds", "all"),
                ],
            )
        )
        if mode is not None:
            shown = await self.host.command_on(self._book, "restore-backup", file=each.file, mode=mode)
            self.host.tell(shown.sentence)

    def action_often(self) -> None:
        """Asks how often a backup is made by itself."""
        if self._view is not None:
            self.do(self._ask_often(self._view))

    async def _ask_often(self, view: "BackupView") -> None:
        from marginalia_tui.widgets.dialogs import Form
        from marginalia_tui.widgets.fields import Field

        own = view.own
        answer = await self.host.ask(
            Form(
                "A backup by itself",
                [
                    Field("changes", "After changes", "number", view.changes if own else None),
                    Field(
                        "minutes",
                        "After minutes",
                        "number",
                        view.minutes if own else None,
                        help="Minutes in which something changed. 0: not by that; empty: as your defaults say.",
                    ),
                ],
            )
        )
        if answer is not None:
            given = {name: value for name, value in answer.items() if value is not None}
            shown = await self.host.command_on(self._book, "set-book-backups", **given)
            self.host.tell(shown.sentence)

    def action_back(self) -> None:
        """Back to where it was opened."""
        self.dismiss()


def _row(each: "BackupLine") -> Row:
    by = "itself" if each.by_itself else "you"
    cells = (each.made, by, each.title or "(damaged)", f"{each.parts:,}", f"{each.words:,}", each.size)
    return Row(each.file, cells, tones=((1, "muted"), (3, "muted"), (5, "muted")))


def _often(view: "BackupView") -> str:
    rules = [
        *([f"{view.changes:,} changes"] if view.changes else []),
        *([f"{view.minutes:,} minutes"] if view.minutes else []),
    ]
    return f"by itself after {' or '.join(rules)}" if rules else "none by itself"
