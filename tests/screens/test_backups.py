"""The backups of a book: made by a key, restored in each way, and how often one is made by itself."""

from pathlib import Path

from marginalia_tui.domain.items import Book
from marginalia_tui.screens.backups import BackupsScreen
from marginalia_tui.screens.decide import Decide
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.widgets.dialogs import Confirm, Form
from tests.screens.rig import Rig, lamp_home, play


def test_a_backup_is_made_and_restored_as_a_new_book_and_in_place(home: Path) -> None:
    book = lamp_home(home)

    def parts(rig: Rig) -> int:
        with rig.studio.store.read() as tx:
            return len(tx.space(LIBRARY).outline(book))

    async def steps(rig: Rig) -> None:
        await rig.press("b")
        screen = await rig.reach(BackupsScreen)
        assert rig.sees("There is no backup of this book yet.")
        await rig.press("n")
        await rig.until(lambda: len(screen.table.rows) == 1)
        assert screen.table.rows[0].cells[1:5] == ("you", "The Lamp", "3", "38")
        await rig.press("e")
        await rig.reach(Form)
        await rig.write("50")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("by itself after 50 changes"))
        with rig.studio.store.read() as tx:
            assert tx.space(LIBRARY).get(Book, book).backup_changes == 50
        await rig.press("enter")
        await rig.reach(Decide)
        await rig.press("n")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: any("as a new book" in notice for notice in rig.notices))
        with rig.studio.store.read() as tx:
            assert len(tx.space(LIBRARY).books()) == 2
        await rig.app.command_on(book, "edit-part", part="1", old="at nine", new="at ten")
        await rig.press("r", "p")
        await rig.reach(Confirm)
        assert rig.sees("Replace the parts of")
        await rig.press("y")
        await rig.until(lambda: any("1 item changed" in notice for notice in rig.notices))
        assert parts(rig) == 3
        await rig.press("escape")
        await rig.reach(LibraryScreen)

    play(home, steps, size=(100, 30))
