"""The lore of a book as it is read: the tree of lorebooks, the entries of one, an entry, and what is active where.

Rows are made off the loop, and the newest wish wins: while the list is put into order, what is wanted meanwhile is
done afterwards, once. The preview is measured beside the reading, since a regular expression may take its time.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.lorebook_parts import EntryTable, FilterLine, Newest
from marginalia_tui.screens.lorebook_words import (
    COLUMNS,
    SORT_WORDS,
    entry_columns,
    entry_facts,
    entry_rows,
    entry_text,
    place_words,
    tree_rows,
)
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.lorebook import EntryLine, EntryView, LorebookLine, LoreView, PreviewView, Wanted
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.store.bus import Touched

NO_LORE = """This book has no lore.

n  writes the first entry
a  reads a file: world info, a lorebook, a character card
b  makes a lorebook
l  links one that there is"""
NO_BOOK = "No book is open.\n\nF2  shows the library"
NO_ENTRIES = "This lorebook has no entries.\n\nn  writes the first"
NOTHING_FITS = "No entry fits.\n\nEsc  shows all again"


class LorePanes(BaseScreen):
    """Tree, entries, entry; keys are the subclass's.

    Args:
        part: the part that the author comes from; the preview begins with it.
        entry: the entry on which the cursor stands at first.
        at: the lorebook on which the cursor stands at first.
        lorebook: a lorebook that is shown although no book uses it; None: the lore of the book that is open.
        mode: the mode from which it was opened.
    """

    def __init__(
        self,
        *,
        part: str | None = None,
        entry: str | None = None,
        at: str | None = None,
        lorebook: str | None = None,
        mode: str = "book",
    ) -> None:
        super().__init__()
        self.mode_name = mode
        self.view: LoreView | None = None
        self.preview: PreviewView | None = None
        self.entry: EntryView | None = None
        self.alone = lorebook
        """The lorebook that no book uses; None when the lore of a book is shown."""
        self._part = part
        self._go_to = entry
        self._came_for_entry = entry is not None
        self._at = at
        self._book: str | None = None
        self._wanted: Wanted | None = None
        self._arranged: tuple[LoreView, Wanted, PreviewView | None] | None = None
        self._query = ""
        self._lines: dict[str, EntryLine] = {}
        self._places: dict[str, LorebookLine] = {}
        self.shelf = Table(
            [Column("Lorebook", grow=1, minimum=9), Column("", "right"), Column("", drop=1)],
            empty="Opening the lore",
            id="tree",
        )
        """The lorebooks."""
        self.shelf.enter = "entries"
        self.columns = tuple(COLUMNS)
        """The names of the columns of the list."""
        self.table = EntryTable(list(COLUMNS.values()), id="entries")
        """The entries of the lorebook."""
        self.table.enter = "read"
        self.page = Page(id="entry-text")
        """The text of the entry."""
        self.filter_line = FilterLine(id="filter")
        self._about = Static("", id="tree-about", markup=False)
        self._head = Static("", id="entries-head", markup=False)
        self._place = Static("", id="place", markup=False)
        self._facts = Static("", id="entry-facts", markup=False)
        self._arranging = Newest(self.do, self._arrange)
        self._loading = Newest(self.do, self._load)
        self._measuring = Newest(self.do, self._measure)

    def body(self) -> ComposeResult:
        """The three panes."""
        with Horizontal(id="lore"):
            with Vertical(id="left"):
                yield self.shelf
                yield self._about
            with Vertical(id="sides"):
                with Vertical(id="middle"):
                    yield self._place
                    yield self._head
                    yield self.filter_line
                    yield self.table
                with Vertical(id="right"):
                    yield self._facts
                    yield self.page

    def on_mount(self) -> None:
        """The entries have the focus when one is wanted, else the tree."""
        super().on_mount()
        self.show_pane("entries" if self._go_to else "tree")
        self.say_where("Lore")

    def show_pane(self, name: str) -> None:
        """Goes to a pane, which a narrow terminal shows alone."""
        panes = {"tree": self.shelf, "entries": self.table, "entry": self.page}
        for each in panes:
            self.set_class(each == name, f"-at-{each}")
        panes[name].focus()
        self.refresh_bindings()

    # Reading

    @property
    def keeps_keys(self) -> bool:
        """Until the first list of entries is shown: a key may be about one of them."""
        return not self.has_read or (self.view is not None and self._arranged is None)

    def wants(self, touched: "Touched") -> bool:
        """This book, who holds it, and what other books share with it."""
        return self._book is None or touched.book(self._book) or bool(touched.runs)

    async def read(self, desk: "Desk") -> None:
        """The tree and the entries, when they were changed; then the rest follows."""
        book = self.host.opened if self.alone is None else None
        if book != self._book or self.view is None:
            self._book, self.view, self.preview, self.entry, self._query = book, None, None, None, ""
            self.filter_line.close()
        known = self.view.stamp if self.view is not None else None
        try:
            if self.alone is not None:
                view = await self.call(desk.lore.look_at, self.alone, known)
            elif book is not None:
                view = await self.call(desk.lore.look, book, known)
            else:
                self._show_nothing()
                return
        except NotFound as error:
            self.host.refuse(error)
            self._show_nothing()
            return
        if view is None or (self.alone is None and self.host.opened != book):
            return
        await self._show(view)

    async def _show(self, view: "LoreView") -> None:
        first = self.view is None
        rows = await self.call(tree_rows, view)
        self.view = view
        self._places = {line.key: line for line in view.lorebooks}
        self._lines = {line.uuid: line for line in view.entries}
        if first:
            from marginalia_tui.desk.lorebook import Wanted

            self._wanted = Wanted()
        self.shelf.empty = NO_LORE
        self.set_class(not view.lorebooks, "-empty")
        if not view.lorebooks:
            self.show_pane("tree")
        self.shelf.show(rows, key=self._first_place(view) if first else None)
        self._choose()
        self.say_where(f"{view.title} > Lore" if view.book else f"Lorebook {view.title}", _facts(view))
        self._measuring.ask()
        self.refresh_bindings()

    def _first_place(self, view: "LoreView") -> str | None:
        """Where the cursor stands first: on the lorebook that is wanted, or that of the entry."""
        line = self._lines.get(self._go_to or "")
        wanted = self._at if line is None else line.lorebook
        return next((each.key for each in view.lorebooks if each.uuid == wanted), None)

    def _show_nothing(self) -> None:
        self.view = self.preview = self.entry = self._arranged = None
        self._places, self._lines = {}, {}
        self.shelf.empty = NO_BOOK
        self.add_class("-empty")
        self.shelf.show([])
        self.table.show([])
        self._show_entry()
        self.say_where("Lore")
        self.refresh_bindings()

    # What is chosen

    @property
    def place(self) -> "LorebookLine | None":
        """The lorebook under the cursor of the tree; None on the row for all of them."""
        return self._places.get(self.shelf.current_key or "")

    @property
    def line(self) -> "EntryLine | None":
        """The entry under the cursor."""
        return self._lines.get(self.table.current_key or "")

    def _choose(self) -> None:
        """The list follows the tree."""
        place = self.place
        about = "" if place is None else place_words(place)
        self._about.update(visible_line(about))
        self._about.display = bool(about)
        self.want(lorebook=place.uuid if place is not None else "")

    def want(self, **changes: Any) -> None:
        """Lists other entries, or in another order."""
        if self._wanted is not None:
            self._wanted = replace(self._wanted, **changes)
            self._arranging.ask()

    async def _arrange(self) -> None:
        from marginalia_tui.desk.lorebook import arrange

        view, wanted, preview = self.view, self._wanted, self.preview
        if view is None or wanted is None or (self._go_to is None and self._is_listed(view, wanted, preview)):
            return

        def make() -> "tuple[tuple[str, ...], list[Row]]":
            lines = arrange(view, wanted, preview)
            columns = entry_columns(lines)
            return columns, entry_rows(lines, preview, columns)

        columns, made = await self.call(make)
        if self.view is not view or self._wanted != wanted or not self.is_attached:
            return
        every = wanted.query or wanted.hits is not None
        self.table.empty = NOTHING_FITS if every else NO_ENTRIES if view.lorebooks and view.book else ""
        go_to, self._go_to = self._go_to, None
        if go_to is None and self._arranged is not None and self._arranged[1] != wanted and made:
            # Other entries than before: the first of them, unless the one under the cursor is still there.
            go_to = None if any(row.key == self.table.current_key for row in made) else made[0].key
        self._arranged = (view, wanted, preview)
        self.columns = columns
        self.table.columns = tuple(COLUMNS[name] for name in columns)
        self.table.show(made, key=go_to)
        self._tell_list(len(made))
        self._loading.ask()
        self.refresh_bindings()

    def _is_listed(self, view: "LoreView", wanted: "Wanted", preview: "PreviewView | None") -> bool:
        """Whether the list shows just this: a value that is the same one needs no comparison of its entries."""
        last = self._arranged
        return last is not None and last[0] is view and last[1] == wanted and last[2] is preview

    def _tell_list(self, shown: int) -> None:
        wanted, view = self._wanted, self.view
        assert wanted is not None and view is not None
        place = self.place
        of = "All lorebooks" if place is None else place.name
        number = "1 entry" if shown == 1 else f"{shown:,} entries"
        if wanted.hits is not None:
            of = f"with {self._query!r} in it"
        fits = f" with {wanted.query!r}" if wanted.query else ""
        text = f"{visible_line(of)}: {number}{visible_line(fits)}, {SORT_WORDS[wanted.sort]}"
        self._head.update(text if view.lorebooks else "")

    # The entry

    async def _load(self) -> None:
        line = self.line
        if line is None:
            self.entry = None
        elif self.host.desk is not None:
            try:
                entry = await self.call(self.desk.lore.entry, line.uuid)
            except NotFound:
                # Deleted between the list and the text: the next reading of the list shows another one.
                return
            if self.line is None or self.line.uuid != entry.entry.uuid:
                return
            self.entry = entry
        self._show_entry()

    def _show_entry(self) -> None:
        entry, line = self.entry, self.line
        if entry is None or line is None:
            self._facts.update("")
            self.page.show("")
            return
        self._facts.update(Content("\n").join(entry_facts(entry, line, self.preview)))
        text = entry_text(entry)
        if text != self.page.source:
            self.page.show(text)
        self.page.find(self._query if self._wanted is not None and self._wanted.hits is not None else "")

    # The preview

    async def _measure(self) -> None:
        if self.view is None or not self.view.book or self.host.desk is None:
            self._place.update("")
            return
        book, part = self.view.book, self._part
        try:
            preview = await self.call(self.desk.lore.preview, book, part)
        except NotFound:
            # The book went meanwhile: the reading that is next tells it.
            return
        if not self._is_at(book, part):
            return
        self.preview = preview
        words = f"{preview.active:,} of {len(preview.verdicts):,} active, {preview.words:,} words"
        place = f"< {preview.place} >  {words}  {visible_line(preview.title)}"
        self._place.update(place if self.view.lorebooks else "")
        self._arranging.ask()

    def _is_at(self, book: str, part: str | None) -> bool:
        """Whether the screen is still there and shows this book against this part."""
        return self.is_attached and self.view is not None and self.view.book == book and self._part == part

    def action_other_part(self, step: int) -> None:
        """Measures against the part before, or the one behind; the next part stands behind the last."""
        preview = self.preview
        if preview is None:
            return
        if step > 0:
            if preview.part is None:
                return
            self._part = preview.after
        elif preview.before is not None:
            self._part = preview.before
        self._measuring.ask()

    # Messages of the panes

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another lorebook, or another entry."""
        event.stop()
        if event.view is self.shelf:
            self._choose()
        else:
            self._loading.ask()
        self.refresh_bindings()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: into the lorebook, into the entry."""
        event.stop()
        self.show_pane("entries" if event.view is self.shelf else "entry")

    def on_entry_table_filter_wanted(self) -> None:
        """The filter of the entries is wanted."""
        self.filter_line.open()

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        """A key in the filter."""
        self.want(query=event.query.strip())

    def on_filter_line_left(self) -> None:
        """Enter in the filter."""
        self.show_pane("entries")

    def action_back(self) -> None:
        """Ends the filter or the search, else leaves; where one pane is seen alone, goes back to the one before it."""
        wanted = self._wanted
        if wanted is not None and (wanted.query or wanted.hits is not None or self.filter_line.line.has_focus):
            self.filter_line.close()
            self._query = ""
            self.want(query="", hits=None)
            self.show_pane("entries")
        elif self.page.has_focus and self.has_class("-narrow"):
            self.show_pane("entries")
        elif self.table.has_focus and self.has_class("-narrow") and not self._came_for_entry:
            self.show_pane("tree")
        else:
            self.dismiss()


def _facts(view: "LoreView") -> str:
    lorebooks = len(view.choices())
    if not lorebooks:
        return "no lore"
    books = "1 lorebook" if lorebooks == 1 else f"{lorebooks:,} lorebooks"
    entries = "1 entry" if len(view.entries) == 1 else f"{len(view.entries):,} entries"
    return f"{books}  {entries}"
