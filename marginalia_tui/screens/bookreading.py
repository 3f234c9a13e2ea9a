"""The book as it is read: its outline beside the page, and finding in all of its parts."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.finding import Finding, FindLine
from marginalia_tui.screens.reading import PartHead, Reader
from marginalia_tui.screens.sidepanel import SidePanel
from marginalia_tui.widgets.finding import find_all
from marginalia_tui.widgets.outline import Outline, Part
from marginalia_tui.widgets.rows import RowView

if TYPE_CHECKING:
    from marginalia_tui.desk.book import BookView, PartLine, PartView
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.store.bus import Touched

NO_BOOK = "No book is open.\n\nF2  shows the library"
NO_PARTS = "This book has no parts.\n\na  adds the first"


def outline_rows(view: "BookView") -> list[Part]:
    """The parts as rows of the outline; a `*` marks text that is not saved."""
    return [
        Part(line.uuid, line.number, line.title, line.words, line.swipe, line.swipes, line.draft) for line in view.parts
    ]


class ReadingScreen(BaseScreen):
    """The outline and the page of the book that is open; keys are the subclass's."""

    mode_name = "book"

    def __init__(self) -> None:
        super().__init__()
        self._view: BookView | None = None
        self._part: PartView | None = None
        self._lines: dict[str, PartLine] = {}
        self._wanted: str | None = None
        self._loading = False
        self._offsets: dict[str, int] = {}
        self._finding: Finding | None = None
        self._searches = 0
        # Kept, and not looked for: a reading may come to its end when the screen is being taken apart.
        self.outline = Outline(empty=NO_BOOK, id="outline")
        """The outline."""
        self.outline.enter = "read"
        self.page = Reader(id="page")
        """The page."""
        self.panel = SidePanel(id="panel")
        """What stands beside the page."""
        self._head = PartHead()
        self._find = FindLine(id="find")

    def body(self) -> ComposeResult:
        """Outline, page, find line."""
        with Horizontal(id="spread"):
            yield self.outline
            with Vertical(id="reader"):
                yield self._head
                yield self.page
            yield self.panel
        yield self._find

    def on_mount(self) -> None:
        """The outline has the focus."""
        super().on_mount()
        self.outline.focus()
        self.watch(self.app, "opened", self._other_book, init=False)

    # Reading

    def wants(self, touched: "Touched") -> bool:
        """This book, and who holds it."""
        book = self.host.opened
        return book is None or touched.book(book) or bool(touched.runs)

    @property
    def keeps_keys(self) -> bool:
        """Until the book and its part are shown: a key may be about them."""
        if self.host.desk is None:
            return False
        reading = not self.has_read or not self._up_to_date.is_set()
        return (self._view is None and reading) or (self._part is None and self._loading)

    def _other_book(self) -> None:
        self._view = self._part = self._finding = None
        self._offsets.clear()
        self._find.close()
        if self.is_current:
            self.look_again()

    async def read(self, desk: "Desk") -> None:
        """The outline, and the part again if it was changed."""
        book = self.host.opened
        if book is None:
            book = await self.call(desk.book.last_opened)
            if book is None:
                self._show_nothing()
                return
            self.host.opened = book
        try:
            view = await self.call(desk.book.look, book, self._view.stamp if self._view else None)
        except NotFound:
            self.host.opened = None
            self._show_nothing()
            return
        if view is None or (self._view is not None and view.stamp[0] < self._view.stamp[0]):
            # Nothing new, or a reading that was overtaken.
            return
        rows = await self.call(outline_rows, view)
        if self.host.opened != book:
            return
        first = self._view is None
        self._view = view
        self._lines = {line.uuid: line for line in view.parts}
        self.outline.empty = NO_PARTS
        self.outline.show(rows)
        self._tell()
        self.refresh_bindings()
        self._want(self.outline.current_key)
        if first:
            self._tell_drafts(view)
            await self.call(desk.book.opened, book)

    def _tell_drafts(self, view: "BookView") -> None:
        here = [line.number for line in view.parts if line.draft]
        elsewhere = len(view.stamp[2]) - len(here)
        if here:
            self.host.tell(f"Text of part {here[0]} that was not saved is kept: e on that part offers it.")
        elif elsewhere:
            self.host.tell("Text that was not saved is kept of a part on another branch: v shows the branches.")

    def _show_nothing(self) -> None:
        self._view = self._part = None
        self._lines = {}
        self.outline.empty = NO_BOOK
        self.outline.show([])
        self.page.show("")
        self._head.show("", "", "")
        self.say_where("")
        self.refresh_bindings()

    def _tell(self) -> None:
        view = self._view
        assert view is not None
        branch = f" > branch {view.branch} of {view.branches}" if view.branches > 1 else ""
        whole = f" of {view.book_words:,}" if view.book_words != view.branch_words else ""
        parts = "1 part" if len(view.parts) == 1 else f"{len(view.parts):,} parts"
        self.say_where(view.title + branch, f"{parts}  {view.branch_words:,}{whole} words")

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another row of the outline: its part is shown."""
        event.stop()
        self._want(event.key)

    def _want(self, part: str | None) -> None:
        """Shows a part soon; while one is read, only the last that was wanted is read next."""
        self._wanted = part
        if part is None:
            self._part = None
            self.page.show("")
            self._head.show("", "", "")
        elif not self._loading:
            self._loading = True
            self.do(self._load())

    async def _load(self) -> None:
        try:
            while (uuid := self._wanted) is not None:
                self._wanted = None
                try:
                    part = await self.call(self.desk.book.part, uuid)
                except NotFound:
                    # Deleted between the outline and the text: the next reading of the outline shows another one.
                    continue
                if self._wanted in (None, uuid):
                    self._show_part(part)
        finally:
            self._loading = False

    def _show_part(self, part: "PartView") -> None:
        before, page = self._part, self.page
        if before is not None:
            self._offsets[before.uuid] = page.top_offset
        self._part = part
        line = self._lines.get(part.uuid)
        number = f"{line.number}  " if line else ""
        place = part.swipes.index(part.uuid) + 1 if part.uuid in part.swipes else 1
        swipe = f"version {place} of {len(part.swipes)}  " if len(part.swipes) > 1 else ""
        held = f"held by {self._view.agent}" if self._view and self._view.agent else ""
        words = f"{part.words:,} word{'' if part.words == 1 else 's'}"
        self._head.show(number + (part.title or "(no title)"), swipe + words, held)
        if before is None or (before.uuid, before.text, before.images) != (part.uuid, part.text, part.images):
            below = ("Images", *(f"  {line}" for line in part.images)) if part.images else ()
            page.show(part.text, offset=self._offsets.get(part.uuid, 0), below=below)
        self._mark_hits()
        self.part_shown()

    def part_shown(self) -> None:
        """Another part, or another text of it, stands on the page."""

    # Moving

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter in the outline: to the page."""
        event.stop()
        self.set_class(True, "-reading")
        self.page.focus()

    def action_outline(self) -> None:
        """To the outline, which a narrow terminal shows instead of the page; there, folds it."""
        if self.outline.has_focus and not self.has_class("-narrow"):
            self.toggle_class("-folded")
            if self.has_class("-folded"):
                self.page.focus()
            return
        self.remove_class("-folded", "-reading")
        self.outline.focus()

    def action_back(self) -> None:
        """Ends a search, or goes back to the outline."""
        if self._finding is not None or self._find.has_class("-open"):
            self._end_search()
        elif self.page.has_focus:
            self.remove_class("-folded", "-reading")
            self.outline.focus()

    def action_step(self, step: int) -> None:
        """The next hit of a search, else the next part."""
        if self._finding is not None:
            self._go_to_hit(step)
        else:
            self.outline.cursor += step

    def on_reader_step(self, event: Reader.Step) -> None:
        """N or N on the page."""
        self.action_step(event.step)

    def on_reader_turned(self, event: Reader.Turned) -> None:
        """A page key beyond the end or the start of the part."""
        outline = self.outline
        if 0 <= outline.cursor + event.step < len(outline.parts):
            key = outline.row_key(outline.cursor + event.step)
            self._offsets[key] = 0 if event.step > 0 else 10**9
            outline.cursor += event.step

    # Finding

    def action_find(self) -> None:
        """Opens the find line."""
        self._find.open()

    def on_find_line_wanted(self, event: FindLine.Wanted) -> None:
        """Enter: searches, or goes on when it is the same search."""
        if self._finding is not None and self._finding.query == event.query:
            self._go_to_hit(1)
        else:
            self.do(self._search(event.query))

    async def _search(self, query: str) -> None:
        self._searches += 1
        number = self._searches
        order = [part.key for part in self.outline.parts]
        line = self._find
        line.say("searching")
        places = await self.call(self.desk.book.find, order, query, find_all, lambda: self._searches == number)
        if self._searches != number:
            return
        self._finding = Finding(query, places)
        self._finding.begin(order, self.outline.current_key, self.page.top_offset)
        self._go_to_hit(0)
        if places and line.line.has_focus:
            self.set_class(True, "-reading")
            self.page.focus()

    def on_find_line_step(self, event: FindLine.Step) -> None:
        """Up and down in the line."""
        self._go_to_hit(event.step)

    def on_find_line_closed(self) -> None:
        """Esc in the line."""
        self._end_search()

    def _go_to_hit(self, step: int) -> None:
        finding = self._finding
        if finding is None:
            return
        place = finding.step(step)
        self._find.say(finding.words() + ("   n next  N previous  Esc end" if finding.places else ""))
        if place is None:
            return
        if self._part is not None and self._part.uuid == place.part:
            self._mark_hits()
            return
        self._offsets[place.part] = place.start
        index = next((number for number, part in enumerate(self.outline.parts) if part.key == place.part), None)
        if index is not None:
            self.outline.cursor = index

    def _mark_hits(self) -> None:
        finding, part = self._finding, self._part
        if finding is None or part is None:
            return
        here = finding.current
        self.page.find(finding.query, offset=here.start if here is not None and here.part == part.uuid else None)

    def _end_search(self) -> None:
        self._searches += 1
        self._finding = None
        self._find.close()
        self.page.find("")
        self.page.focus()

    async def go_to(self, part: str) -> None:
        """Shows a part of the book that is open, when it is on the branch that is read."""
        await self._read_at(part)

    async def _read_at(self, part: str | None) -> None:
        """Reads the outline anew with the cursor on a part."""
        await self.read_again()
        index = next((number for number, each in enumerate(self.outline.parts) if each.key == part), None)
        if index is not None:
            self.outline.cursor = index
