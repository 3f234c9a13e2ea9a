"""The lorebook screen: what it shows of the tree, the entries and their verdicts, and what its keys do."""

from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from marginalia_tui.domain.items import Book, Entry, Lorebook
from marginalia_tui.headless.demo import read_sample
from marginalia_tui.resources import sample_desk
from marginalia_tui.screens import working
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.lorebook import LorebookScreen
from marginalia_tui.screens.lorebook_forms import Choose, LoreText
from marginalia_tui.screens.lorebook_shelf import LorebookShelfScreen
from marginalia_tui.services.sample import add_sample, read_desk
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form
from marginalia_tui.widgets.filepicker import FilePicker
from tests.screens.rig import LAMP, FixedClock, Rig, add_book, lamp_home, play
from tests.screens.test_pictures import SnapCompare, before, posing

WIDE = (160, 40)
SMALL = (80, 24)


def lore_home(home: Path, clock: FixedClock | None = None) -> str:
    """The small book with a root, people and places below it; places are shared, one lorebook is unused."""
    book = lamp_home(home, clock)
    with closing(Store.open(home, clock=clock)) as store:
        other = add_book(store, "The Quay", LAMP[:1])
        with store.write(Act(actor="author", label="lore", book=book)) as tx:
            space = tx.space(LIBRARY)
            places = Lorebook(uuid="places", name="Places", created=2)
            people = Lorebook(uuid="people", name="People", subbooks=("places",), created=3)
            root = Lorebook(uuid="root", name="The house", subbooks=("places", "people"), scan_depth=1, created=1)
            old = Lorebook(uuid="old", name="Old notes", created=4)
            entries = [
                Entry(uuid="who", lorebook="root", name="Who tells it", text="A keeper.", constant=True, created=5),
                Entry(uuid="lamp", lorebook="root", name="The lamp", text="It burns whale oil.", filter="lamp",
                      created=6),
                Entry(uuid="oil", lorebook="people", name="Whaler", text="He sells it.", filter="whale", created=7),
                Entry(uuid="stair", lorebook="places", name="Stair", text="Twelve.", filter=r"\bsteps?\b", mode="regex",
                      tags=("house",), created=8),
                Entry(uuid="door", lorebook="places", name="The door", text="Oak.", filter="door", last=2, created=9),
                Entry(uuid="lost", lorebook="old", name="Lost", text="Nobody knows.", created=10),
            ]  # fmt: skip
            space.put([root, places, people, old, *entries])
            space.put([replace(space.get(Book, book), lorebook="root", tags=("house",))])
            space.put([replace(space.get(Book, other), lorebook="places")])
    return book


def entry_of(rig: Rig, uuid: str) -> Entry:
    with rig.studio.store.read() as tx:
        return tx.space(LIBRARY).get(Entry, uuid)


def lorebook_of(rig: Rig, uuid: str) -> Lorebook:
    with rig.studio.store.read() as tx:
        return tx.space(LIBRARY).get(Lorebook, uuid)


def shown(screen: LorebookScreen) -> list[tuple[str, str]]:
    """The names of the entries that are listed, each with its verdict."""
    return [(row.cells[0], row.cells[2]) for row in screen.table.rows]


async def to_lore(rig: Rig) -> LorebookScreen:
    """From the library into the lore of the small book."""
    await rig.press("enter")
    await rig.reach(BookScreen)
    await rig.press("ctrl+l")
    screen = await rig.reach(LorebookScreen)
    await rig.until(lambda: screen.preview is not None and screen.table.rows, "the entries and their verdicts")
    await rig.settle()
    return screen


def test_the_tree_and_the_verdicts_are_shown_and_follow_the_part(home: Path) -> None:
    lore_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        assert [(row.cells, row.check) for row in screen.shelf.rows] == [
            (("All", "5", ""), ""),
            (("The house", "2", ""), "on"),
            (("  Places", "2", "shared"), "on"),
            (("  People", "1", ""), "on"),
            (("    Places", "2", "again"), "on"),
        ]
        assert shown(screen) == [
            ("Who tells it", "* always"),
            ("The lamp", "* named here"),
            ("Whaler", "* named in lore"),
            ("Stair", "  not named"),
            ("The door", "  not named"),
        ]
        assert rig.sees("< part 1 >  3 of 5 active, 9 words  The Lamp")
        # The parts behind it, the next one last.
        await rig.press("right")
        await rig.until(lambda: rig.sees("< part 2 >"))
        assert ("Stair", "* named here") in shown(screen)
        await rig.press("right", "right")
        await rig.until(lambda: rig.sees("< the next part >"))
        assert ("The door", "  not in this part") in shown(screen)
        await rig.press("right", "left")
        await rig.until(lambda: rig.sees("< part 3 >"))
        # The list follows the tree, and the facts beside an entry say why.
        await rig.press("left", "left", "down", "down", "down")
        await rig.until(lambda: [name for name, _ in shown(screen)] == ["Whaler"])
        await rig.until(lambda: rig.sees("* active at part 1: named in lore, by The lamp"))
        await rig.press("up")
        await rig.until(lambda: rig.sees("also in The Quay"))
        # Esc goes back to the book, whose panel leads to an entry.
        await rig.press("escape")
        book = await rig.reach(BookScreen)
        await rig.press("down", "l")
        await rig.until(lambda: [row.cells[0] for row in book.panel.table.rows[:2]] == ["Who tells it", "The lamp"])
        await rig.press("down", "down", "enter")
        again = await rig.reach(LorebookScreen)
        await rig.until(lambda: again.preview is not None and again.preview.number == 2)
        await rig.until(lambda: again.line is not None and again.table.has_focus)
        assert again.place is not None and again.line is not None
        assert (again.line.name, again.place.uuid) == ("Whaler", "people")

    play(home, steps, size=WIDE)


def test_entries_are_filtered_sorted_and_searched(home: Path) -> None:
    lore_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        await rig.press("enter", "f")
        await rig.write("door")
        await rig.until(lambda: [name for name, _ in shown(screen)] == ["The door"])
        await rig.press("enter")
        assert screen.table.has_focus
        await rig.press("escape")
        await rig.until(lambda: len(screen.table.rows) == 5)
        orders = []
        for _ in range(4):
            await rig.press("s")
            await rig.settle()
            orders.append([name for name, _ in shown(screen)][0])
        assert orders == ["Stair", "The lamp", "Who tells it", "Who tells it"]
        await rig.press("g")
        await rig.reach(Ask)
        await rig.write("sel")
        await rig.press("enter")
        await rig.until(lambda: [name for name, _ in shown(screen)] == ["Whaler"])
        assert rig.sees("with 'sel' in it: 1 entry")
        await rig.until(lambda: len(screen.page.hits) == 1)
        await rig.press("escape")
        await rig.until(lambda: len(screen.table.rows) == 5)
        # A filter that nothing fits says how to go on.
        await rig.press("f")
        await rig.write("zz")
        await rig.until(lambda: rig.sees("No entry fits."))

    play(home, steps, size=WIDE)


def test_an_entry_is_written_changed_switched_off_and_the_preview_follows(home: Path) -> None:
    book = lore_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        await rig.press("n")
        await rig.reach(Form)
        await rig.write("Can")
        await rig.press("tab", "tab")
        await rig.write("oil")
        await rig.press("tab")
        await rig.write("Tin.")
        await rig.press("ctrl+s")
        await rig.until(lambda: ("Can", "* named here") in shown(screen), "the new entry with its verdict")
        assert screen.table.has_focus and screen.line is not None and screen.line.name == "Can"
        made = entry_of(rig, screen.line.uuid)
        assert (made.lorebook, made.text, made.filter, made.order) == ("root", "Tin.", "oil", 100)
        # The text is written in an editor of its own.
        await rig.press("e")
        await rig.reach(LoreText)
        await rig.write("Old. ")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("Old. Tin."))
        # Its fields in a form: only what is another value is given to the command.
        await rig.press("i")
        await rig.reach(Form)
        await rig.press("tab")
        await rig.write("y")
        await rig.press("ctrl+s")
        await rig.until(lambda: ("Can", "  not named") in shown(screen))
        assert entry_of(rig, made.uuid).filter == "oily"
        await rig.press("space")
        await rig.until(lambda: ("Can", "  disabled") in shown(screen))
        await rig.press("u")
        await rig.until(lambda: ("Can", "  not named") in shown(screen))
        await rig.press("r")
        await rig.reach(Ask)
        await rig.write("s")
        await rig.press("enter")
        await rig.until(lambda: entry_of(rig, made.uuid).name == "Cans")
        # Into another lorebook, and as a copy into one that this book does not use.
        await rig.press("m")
        await rig.reach(Choose)
        await rig.press("down", "enter")
        await rig.until(lambda: entry_of(rig, made.uuid).lorebook == "people")
        await rig.press("c")
        await rig.reach(Choose)
        await rig.press("end", "enter")
        await rig.until(lambda: any("A copy of" in notice for notice in rig.notices))
        with rig.studio.store.read() as tx:
            rows = tx.connection.exec_driver_sql("SELECT name FROM entry WHERE lorebook = 'old' ORDER BY name")
            assert rows.scalars().all() == ["Cans", "Lost"]
        await rig.press("d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: not any(name == "Cans" for name, _ in shown(screen)))
        assert rig.app.opened == book

    play(home, steps, size=SMALL)


def test_what_is_written_is_not_lost_when_it_can_not_be_saved(home: Path) -> None:
    lore_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        await rig.press("enter", "e")
        editor = await rig.reach(LoreText)
        await rig.write("[...] ")
        await rig.press("ctrl+s")
        await rig.until(lambda: any("stands for words that are left out" in notice for notice in rig.notices))
        again = await rig.reach(LoreText)
        assert again is not editor and again.area.content.startswith("[...] A keeper.")
        # Esc asks, and goes on writing.
        await rig.press("escape")
        await rig.until(lambda: rig.sees("What you changed in this entry is not saved."))
        await rig.press("escape")
        assert await rig.reach(LoreText) is again
        again.area.content = "A keeper of lamps."
        # Changed elsewhere meanwhile: the author decides.
        with rig.studio.store.write(Act(actor="author", label="elsewhere", book=rig.app.opened)) as tx:
            tx.space(LIBRARY).put([replace(entry_of(rig, "who"), text="A maid.")])
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("This entry was changed elsewhere"))
        await rig.press("o")
        await rig.until(lambda: entry_of(rig, "who").text == "A keeper of lamps.")
        await rig.reach(LorebookScreen)
        # What is being written when the studio ends is kept in a file.
        await rig.press("e")
        await rig.reach(LoreText)
        await rig.write("Ida")
        await screen.before_quit()
        kept = rig.app.rescued[0]
        assert "IdaA keeper of lamps." in kept.read_text()
        kept.unlink()

    play(home, steps, size=SMALL)


def test_lorebooks_are_made_linked_taken_out_and_switched_off(home: Path) -> None:
    book = lore_home(home)

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        await rig.press("down", "b")
        await rig.reach(Ask)
        await rig.write("Tin")
        await rig.press("enter")
        await rig.until(lambda: any(row.cells[0] == "  Tin" for row in screen.shelf.rows))
        # Fields of the lorebook: the tree has the focus.
        await rig.press("i")
        await rig.reach(Form)
        await rig.write("s")
        await rig.press("ctrl+s")
        await rig.until(lambda: lorebook_of(rig, "root").name == "The houses")
        await rig.press("space")
        await rig.until(lambda: not lorebook_of(rig, "root").enabled)
        await rig.until(lambda: all(verdict == "  disabled" for _, verdict in shown(screen)))
        await rig.press("u")
        await rig.until(lambda: lorebook_of(rig, "root").enabled)
        # An unused one is put below the root, and taken out again.
        await rig.press("l")
        await rig.reach(Choose)
        await rig.press("f")
        await rig.write("old")
        await rig.press("enter", "enter")
        await rig.until(lambda: "old" in lorebook_of(rig, "root").subbooks)
        await rig.until(lambda: any(row.cells[0] == "  Old notes" for row in screen.shelf.rows))
        await rig.press(*(["down"] * 4))
        await rig.until(lambda: screen.place is not None and screen.place.uuid == "old")
        await rig.press("o")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: "old" not in lorebook_of(rig, "root").subbooks)
        # Without its root the book has no lore, and says what to do first.
        await rig.press("home", "down", "o")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: rig.sees("This book has no lore."))
        with rig.studio.store.read() as tx:
            assert tx.space(LIBRARY).get(Book, book).lorebook is None

    play(home, steps, size=SMALL)


def test_a_lorebook_comes_from_a_file_and_goes_into_one(home: Path, tmp_path: Path) -> None:
    lore_home(home)
    path = tmp_path / "coast.json"
    path.write_text('{"name": "Coast", "entries": {"0": {"key": ["fog"], "content": "Thick.", "sticky": 2}}}')

    async def steps(rig: Rig) -> None:
        screen = await to_lore(rig)
        await rig.press("down", "down", "a")
        picker = await rig.reach(FilePicker)
        picker.dismiss(path)
        await rig.until(lambda: any("sticky (1)" in notice for notice in rig.notices))
        await rig.until(lambda: any("Coast" in row.cells[0] for row in screen.shelf.rows))
        assert len(lorebook_of(rig, "places").subbooks) == 1
        out = tmp_path / "out.json"
        out.write_text("mine")
        await rig.press("x")
        asking = await rig.reach(Ask)
        asking.dismiss(str(out))
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: "Thick." in out.read_text())

    play(home, steps, size=WIDE)


def test_all_lorebooks_are_reached_from_the_library(home: Path) -> None:
    book = lore_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("l")
        shelf = await rig.reach(LorebookShelfScreen)
        await rig.until(lambda: len(shelf.table.rows) == 4)
        assert [row.cells[:3] for row in shelf.table.rows] == [
            ("Old notes", "1", "! unused"),
            ("People", "1", "The Lamp"),
            ("Places", "2", "The Lamp and 1 more"),
            ("The house", "2", "The Lamp"),
        ]
        # One that no book uses is read, and not written before it is linked.
        await rig.press("enter")
        alone = await rig.reach(LorebookScreen)
        await rig.until(lambda: rig.sees("Nobody knows."))
        await rig.press("n", "e", "space")
        assert rig.app.screen is alone and entry_of(rig, "lost").enabled
        await rig.press("escape")
        await rig.until(lambda: rig.app.screen is shelf)
        # One that is used is shown in its book.
        await rig.press("down", "down", "enter")
        screen = await rig.reach(LorebookScreen)
        await rig.until(lambda: screen.place is not None and screen.place.uuid == "places")
        assert rig.app.opened == book
        await rig.press("escape")
        await rig.until(lambda: rig.app.screen is shelf)
        await rig.press("home", "l")
        await rig.reach(Choose)
        await rig.press("enter")
        await rig.until(lambda: "old" in lorebook_of(rig, "root").subbooks)
        with rig.studio.store.write(Act(actor="author", label="test", book=book)) as tx:
            tx.space(LIBRARY).put([replace(lorebook_of(rig, "root"), subbooks=("places", "people"))])
        await rig.press("u")
        await rig.until(lambda: [row.cells[0] for row in shelf.table.rows] == ["Old notes"])
        # It goes to the trash after a question.
        await rig.press("d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: rig.sees("Every lorebook is used by a book."))
        assert lorebook_of(rig, "old").deleted is not None

    play(home, steps, size=SMALL)


def sample_home(home: Path) -> None:
    """The sample book of the demo, with what lies beside it."""
    clock, sample = FixedClock(), read_sample()
    book = Book(uuid=clock.new_uuid(), title=sample.title, created=clock.now())
    chapters = tuple(zip(sample.titles, sample.clean, strict=True))
    with (
        closing(Store.open(home, clock=clock)) as store,
        store.write(Act(actor="author", label="sample book", book=book.uuid)) as tx,
    ):
        add_sample(tx.space(LIBRARY), book, chapters, read_desk(sample_desk()))


PICTURES: dict[str, tuple[str, ...]] = {
    "tree": ("enter", "ctrl+l", "down", "down"),
    "sample": ("enter", "3", "ctrl+l", "enter", "5"),
}


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
def test_picture(
    home: Path, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(working, "SHOWN_AFTER", inf)
    if name == "sample":
        sample_home(home)
    else:
        lore_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=size, run_before=before(app, *PICTURES[name]))


def test_picture_of_all_lorebooks(home: Path, snap_compare: SnapCompare) -> None:
    lore_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "l"))


def test_picture_of_the_smallest_terminal(home: Path, snap_compare: SnapCompare) -> None:
    lore_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(40, 12), run_before=before(app, "enter", "ctrl+l", "enter"))


def test_picture_of_a_book_without_lore(home: Path, snap_compare: SnapCompare) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "enter", "ctrl+l"))
