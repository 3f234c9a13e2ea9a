"""The panels of the book screen: notes, lore, summaries, history and who wrote what, beside the page or over it."""

from typing import TYPE_CHECKING

from textual.binding import Binding

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.screens.bookreading import ReadingScreen
from marginalia_tui.screens.sidepanel import SidePanel
from marginalia_tui.widgets.margin import Mark, MarkKind, Note
from marginalia_tui.widgets.page import Page

if TYPE_CHECKING:
    from marginalia_tui.desk.panels import PanelName, PanelNote, PanelRow, PanelView
PANELS: "tuple[PanelName, ...]" = ("notes", "lore", "summaries", "history", "writers")
"""Those that are opened again at the next start."""
PANEL_KEYS = (
    Binding("m", "panel('notes')", "notes", id="book.notes"),
    Binding("l", "panel('lore')", "lore", id="book.lore"),
    Binding("y", "panel('summaries')", "summaries", id="book.summaries"),
    Binding("h", "panel('history')", "history", id="book.history"),
    Binding("w", "panel('writers')", "writers", id="book.writers"),
    Binding("ctrl+l", "lorebooks", "lorebooks", show=False, id="book.lorebooks"),
)
"""The screen has them behind its own, since the line of keys gives up the last ones first."""


def _notes(notes: "tuple[PanelNote, ...]") -> list[Note]:
    return [Note(each.id, each.start, each.end, each.text, each.head) for each in notes]


class PanelledScreen(ReadingScreen):
    """Reading, with a panel that a key opens and closes; in a narrow terminal it takes the place of the page."""

    def __init__(self) -> None:
        super().__init__()
        self._panel: PanelName | None = None
        self._restored = False

    # Showing

    def action_panel(self, name: "PanelName") -> None:
        """Opens a panel, goes to the one that is open, and closes it when the focus is there already."""
        if self._panel == name and (self.panel.table.has_focus or self.panel.text.has_focus):
            self.close_panel()
            self._remember("")
            return
        self._open_panel(name)
        self._remember(name)

    def _open_panel(self, name: "PanelName", *, focus: bool = True) -> None:
        self._panel = name
        self.add_class("-beside")
        self.panel.open(focus=focus)
        self.part_shown()

    def _remember(self, panel: str) -> None:
        """Keeps which panel is open for the next start."""
        self.do(self.call(lambda: self.desk.views.keep(panel=panel)))

    async def _restore(self) -> None:
        """Opens the panel that stood beside the page the last time, where there is room for both."""
        kept = (await self.call(self.desk.views.read)).panel
        name = next((each for each in PANELS if each == kept), None)
        if name is not None and self._panel is None and self.has_class("-wide"):
            self._open_panel(name, focus=False)

    def close_panel(self) -> None:
        """Back to the page, or to the outline where that stands instead of it."""
        self._panel = None
        self.remove_class("-beside")
        self.panel.close()
        self.part_shown()
        (self.outline if self.has_class("-narrow") and not self.has_class("-reading") else self.page).focus()

    def action_back(self) -> None:
        """Closes the panel when it has the focus."""
        if self.panel.table.has_focus or self.panel.text.has_focus:
            self.close_panel()
            self._remember("")
        else:
            super().action_back()

    def part_shown(self) -> None:
        """The panel and the margin follow the part."""
        if self._part is not None and not self._restored:
            self._restored = True
            self.do(self._restore())
        if self._part is not None:
            self.do(self._look_beside(self._part.uuid, self._panel))

    async def _look_beside(self, part: str, name: "PanelName | None") -> None:
        try:
            if name is None:
                view, notes = None, await self.call(self.desk.panels.margin, part)
            else:
                view = await self.call(self.desk.panels.look, name, part)
                notes = view.notes
        except NotFound:
            # Deleted meanwhile: the outline that is read next shows another part.
            return
        if self._part is None or self._part.uuid != part or self._panel != name:
            return
        marks = (
            [] if view is None else [Mark(each.start, each.end, MarkKind(each.sign), each.label) for each in view.marks]
        )
        self.page.mark(marks, _notes(notes))
        if view is not None:
            self._show_panel(view)

    def _show_panel(self, view: "PanelView") -> None:
        self.panel.show(view)
        self.refresh_bindings()

    # Doing

    def action_find(self) -> None:
        """Opens the find line; a panel that hides the page goes away, or nobody would see what is found."""
        if self._panel is not None and not self.has_class("-wide"):
            self.close_panel()
        super().action_find()

    def on_page_note_selected(self, event: Page.NoteSelected) -> None:
        """Enter on a note of the margin: to it in its panel."""
        event.stop()
        self.panel.go_to(event.id)
        self._open_panel("notes")
        self._remember("notes")

    def on_side_panel_chosen(self, event: SidePanel.Chosen) -> None:
        """Enter on a row: to its passage, or to the entry in its lorebook."""
        event.stop()
        if self._panel == "lore":
            self._open_lore(event.row.key)
            return
        if event.row.start is None:
            return
        if not self.has_class("-wide"):
            self.add_class("-reading")
            self.close_panel()
        self.page.scroll_to_offset(event.row.start)
        self.page.focus()

    def action_lorebooks(self) -> None:
        """The lorebooks of the book, measured against this part."""
        self._open_lore(None)

    def _open_lore(self, entry: str | None) -> None:
        from marginalia_tui.screens.lorebook import LorebookScreen

        part = None if self._part is None else self._part.uuid
        self.app.push_screen(LorebookScreen(part=part, entry=entry))

    def on_side_panel_wanted(self, event: SidePanel.Wanted) -> None:
        """A key of a panel."""
        event.stop()
        if self._part is None:
            return
        match event.name, event.action, event.row:
            case "notes", "add", _:
                self.do(self._add_note(self._part.uuid))
            case "notes", "delete", row if row is not None:
                self.do(self._act("delete-annotation", annotation=row.key))
            case "notes", "turn", row if row is not None:
                self.do(self._act("resolve-annotation", annotation=row.key, status=_turned(row)))
            case "summaries", "confirm", row if row is not None:
                self.do(self._act("revalidate-summaries", part=row.key))
            case "history", "restore", row if row is not None:
                self.do(self._act("restore-version", part=self._part.uuid, version=int(row.key)))

    async def _add_note(self, part: str) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        chosen = " ".join((self.get_selected_text() or "").split())
        help = (
            "Words of the text, once in the part; empty: the note is on the whole part. What is selected stands here."
        )
        quote = await self.host.ask(Ask("Passage", chosen, help=help))
        if quote is None:
            return
        said = await self.host.ask(Ask("Note"))
        if said:
            given = {"quote": quote.strip()} if quote.strip() else {}
            await self._act("create-annotation", part=part, text=said, **given)

    async def _act(self, name: str, **arguments: object) -> None:
        self.host.tell((await self.host.command(name, **arguments)).sentence)
        self.part_shown()


def _turned(row: "PanelRow") -> str:
    return "open" if row.tail in ("done", "dismissed") else "done"
