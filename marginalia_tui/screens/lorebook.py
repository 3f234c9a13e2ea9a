"""The lorebooks of a book: what is done to them and to their entries, always by a command."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType

from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.screens.lorebook_view import LorePanes
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Table

if TYPE_CHECKING:
    from marginalia_tui.desk.lorebook import LorebookLine
    from marginalia_tui.screens.lorebook_forms import LoreText

MOST_HITS = 200
"""Entries that a search shows; more than that say nothing."""
_CHANGES = ("new", "edit", "fields", "rename", "move", "copy", "remove", "add_lorebook", "bring_in")
_WRITES = (*_CHANGES, "undo", "redo", "search")
_OF_ENTRY = ("edit", "move", "copy")


class LorebookScreen(LorePanes):
    """Opened from a book, from its panel of lore, or from the list of all lorebooks."""

    CSS_PATH = "lorebook.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "new", id="lorebook.new"),
        Binding("e", "edit", "text", id="lorebook.edit"),
        Binding("i", "fields", "fields", id="lorebook.fields"),
        Binding("r", "rename", "rename", show=False, id="lorebook.rename"),
        Binding("m", "move", "move", id="lorebook.move"),
        Binding("c", "copy", "copy to", show=False, id="lorebook.copy"),
        Binding("d,delete", "remove", "delete", id="lorebook.remove"),
        Binding("s", "sort", "sort", id="lorebook.sort"),
        Binding("ctrl+f,g", "search", "search", id="lorebook.search", key_display="g"),
        Binding("b", "add_lorebook", "new lorebook", id="lorebook.add_lorebook"),
        Binding("a", "bring_in", "import", id="lorebook.bring_in"),
        Binding("x", "export", "export", id="lorebook.export"),
        Binding("l", "link", "link", id="lorebook.link"),
        Binding("o", "take_out", "take out", id="lorebook.take_out"),
        Binding("left", "other_part(-1)", "part before", show=False, id="lorebook.part_before"),
        Binding("right", "other_part(1)", "part after", show=False, id="lorebook.part_after"),
        Binding("u", "undo", "undo", show=False, id="lorebook.undo"),
        Binding("ctrl+r", "redo", "redo", show=False, id="lorebook.redo"),
        Binding("escape", "back", "back", id="lorebook.back"),
    ]

    def __init__(self, **where: Any) -> None:
        super().__init__(**where)
        self._writing: tuple[str, LoreText] | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What needs an entry is not offered without one, and nothing is written to a lorebook that no book uses."""
        view = self.view
        at_tree = self.shelf.has_focus
        if action in _WRITES and (view is None or not view.book):
            return False
        if action in _OF_ENTRY:
            return self.line is not None and not at_tree
        if action in ("fields", "rename", "remove"):
            return self.place is not None if at_tree else self.line is not None
        if action == "link":
            return view is not None
        if action in ("take_out", "export"):
            there = self._here is not None if action == "export" else at_tree and self.place is not None
            return there and view is not None and bool(view.book)
        if action in ("sort", "search"):
            return view is not None and bool(view.entries)
        if action == "other_part":
            return self.preview is not None
        return True

    @property
    def _here(self) -> "LorebookLine | None":
        """The lorebook in the tree, or the root."""
        return self.place or (self.view.root if self.view is not None else None)

    async def _command(self, command: str, /, **arguments: object) -> dict[str, Any]:
        made = await self.host.command_on(self._book, command, **arguments)
        self.host.tell(made.sentence)
        return dict(made.data)

    # Entries

    def action_new(self) -> None:
        """Asks for all fields of a new entry."""
        self.do(self._new())

    async def _new(self) -> None:
        from marginalia_tui.screens.lorebook_forms import ask_entry, entry_arguments

        view, place = self.view, self.place
        assert view is not None
        root = view.root
        below = [(line.uuid, "  " * line.level + line.name) for line in view.choices()]
        now: dict[str, Any] = {"lorebook": place.uuid if place else root.uuid if root else "", "order": 100}
        while True:
            answer = await ask_entry(self.host, "New entry", now, below or [("", "a new one, named Lore")], new=True)
            if answer is None:
                return
            now = dict(answer)
            arguments = entry_arguments(answer, None)
            if not arguments["lorebook"]:
                del arguments["lorebook"]
            try:
                made = await self._command("create-lore-entry", **arguments)
            except MarginaliaError as error:
                self.host.refuse(error)
                continue
            await self._go_to_entry(str(made["entry"]))
            return

    async def _go_to_entry(self, uuid: str) -> None:
        """Reads anew with the cursor on an entry."""
        self._go_to = uuid
        await self.read_again()
        self.want()
        self.show_pane("entries")

    def action_fields(self) -> None:
        """Asks for the fields of the entry, or of the lorebook when the tree has the focus."""
        if self.shelf.has_focus and (place := self.place) is not None:
            self.do(self._lorebook_fields(place))
        elif self.line is not None:
            self.do(self._fields(self.line.uuid))

    async def _fields(self, uuid: str) -> None:
        from marginalia_tui.screens.lorebook_forms import ask_entry, entry_arguments, entry_values

        entry = (await self.call(self.desk.lore.entry, uuid)).entry
        before = entry_values(entry)
        now: dict[str, Any] = before
        while True:
            answer = await ask_entry(self.host, f"Entry {entry.name}", now, new=False)
            if answer is None:
                return
            now = dict(answer)
            if not (changed := entry_arguments(answer, before)):
                return
            try:
                await self._command("update-lore-entry", entry=uuid, **changed)
                return
            except MarginaliaError as error:
                self.host.refuse(error)

    def action_edit(self) -> None:
        """Writes the text of the entry."""
        if self.line is not None:
            self.do(self._edit(self.line.uuid))

    async def _edit(self, uuid: str) -> None:
        from marginalia_tui.screens.lorebook_forms import LoreText

        begun = (await self.call(self.desk.lore.entry, uuid)).entry
        text = begun.text
        while True:
            editor = LoreText(text, title=f"{begun.name}: what a model is told", saved=begun.text)
            self._writing = (uuid, editor)
            try:
                written = await self.host.ask(editor)
            finally:
                self._writing = None
            if written is None or written == begun.text:
                return
            text = written
            try:
                if await self._may_write(uuid, begun.text, written):
                    await self._command("update-lore-entry", entry=uuid, text=written or " ")
                    return
            except MarginaliaError as error:
                # What was typed comes back into the editor: nothing of it is lost.
                self.host.refuse(error)

    async def _may_write(self, uuid: str, before: str, written: str) -> bool:
        """Whether the entry says what it said when the writing began, or the author writes over what it says now."""
        now = (await self.call(self.desk.lore.entry, uuid)).entry
        if now.text == before:
            return True
        from marginalia_tui.screens.decide import Decide, Way

        way = await self.host.ask(
            Decide(
                "Changed elsewhere",
                "This entry was changed elsewhere since you opened it.",
                [Way("c", "copy my text", "copy"), Way("o", "save mine over it (undo brings the other back)", "over")],
                stay="go on writing",
            )
        )
        if way == "copy":
            self.host.copy(written)
        return way == "over"

    async def before_quit(self) -> None:
        """Keeps a text that is being written in a file of its own."""
        if self._writing is not None and self._writing[1].changed:
            uuid, editor = self._writing
            self.host.rescued.append(await self.call(self.desk.lore.rescue, uuid, editor.heading, editor.area.content))

    def on_table_toggled(self, event: Table.Toggled) -> None:
        """Space: switches the entry, or the lorebook, on or off."""
        event.stop()
        if self.view is None or not self.view.book:
            return
        if event.table is self.shelf and (place := self._places.get(event.key)) is not None:
            self.do(self._command("update-lorebook", lorebook=place.uuid, enabled=not place.enabled))
        elif line := self._lines.get(event.key):
            self.do(self._command("update-lore-entry", entry=line.uuid, enabled=not line.enabled))

    def action_rename(self) -> None:
        """Asks for another name of the entry, or of the lorebook when the tree has the focus."""
        if self.shelf.has_focus and (place := self.place) is not None:
            self.do(self._rename("update-lorebook", "lorebook", place.uuid, place.name))
        elif self.line is not None:
            self.do(self._rename("update-lore-entry", "entry", self.line.uuid, self.line.name))

    async def _rename(self, command: str, what: str, uuid: str, before: str) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        def needed(name: str) -> str | None:
            return None if name.strip() else f"Give the {what} a name: it may not be empty."

        name = await self.host.ask(Ask(f"Name of the {what}", before, check=needed))
        if name and name.strip() != before:
            await self._command(command, **{what: uuid}, name=name)

    def action_move(self) -> None:
        """Moves the entry into another lorebook of the book."""
        if self.line is not None:
            self.do(self._move(self.line.uuid, self.line.lorebook))

    async def _move(self, entry: str, now: str) -> None:
        from marginalia_tui.screens.lorebook_forms import Choose

        assert self.view is not None
        rows = [
            (line.uuid, "  " * line.level + line.name, f"{line.entries:,}")
            for line in self.view.choices()
            if line.uuid != now
        ]
        if not rows:
            self.host.tell("This book has one lorebook: b in the tree makes another one.")
            return
        into = await self.host.ask(Choose("Move into", rows, yes="moves it there"))
        if into is not None:
            await self._command("move-lore-entry", entry=entry, lorebook=into)

    def action_copy(self) -> None:
        """Copies the entry into any lorebook of the library."""
        if self.line is not None:
            self.do(self._copy_to(self.line.uuid))

    async def _copy_to(self, entry: str) -> None:
        from marginalia_tui.screens.lorebook_forms import Choose

        into = await self.host.ask(Choose("Copy into", await self._shelf(frozenset()), yes="copies it there"))
        if into is not None:
            await self._command("copy-lore-entry", entry=entry, lorebook=into)

    async def _shelf(self, without: frozenset[str]) -> list[tuple[str, str, str]]:
        """The lorebooks of the library, those of this book first."""
        view = self.view
        assert view is not None
        here = {line.uuid for line in view.lorebooks}
        shelf = [each for each in await self.call(self.desk.lore.shelf) if each.lorebook.uuid not in without]
        rows = [
            (
                each.lorebook.uuid,
                each.lorebook.name,
                "this book" if each.lorebook.uuid in here else each.books[0].title if each.books else "unused",
            )
            for each in shelf
        ]
        return sorted(rows, key=lambda row: row[0] not in here)

    def action_remove(self) -> None:
        """Deletes the entry, or the lorebook when the tree has the focus; the command asks."""
        if self.shelf.has_focus and (place := self.place) is not None:
            self.do(self._command("delete-lorebook", lorebook=place.uuid))
        elif self.line is not None:
            self.do(self._command("delete-lore-entry", entry=self.line.uuid))

    # Lorebooks

    def action_add_lorebook(self) -> None:
        """Asks for the name of a new lorebook below this one."""
        self.do(self._add_lorebook(self.place))

    async def _add_lorebook(self, place: "LorebookLine | None") -> None:
        from marginalia_tui.widgets.dialogs import Ask

        under = f"It stands below {place.name}." if place is not None else ""
        name = await self.host.ask(Ask("Name of the new lorebook", help=under))
        if name and name.strip():
            parent = {"parent": place.uuid} if place is not None else {}
            await self._command("create-lorebook", name=name, **parent)

    async def _lorebook_fields(self, place: "LorebookLine") -> None:
        from marginalia_tui.screens.lorebook_forms import entry_arguments, lorebook_fields
        from marginalia_tui.widgets.dialogs import Form

        before: dict[str, Any] = {
            "name": place.name,
            "enabled": place.enabled,
            "scan_depth": place.scan_depth,
            "tags": ", ".join(place.tags),
        }
        now = before
        while True:
            fields = lorebook_fields(now, root=place.parent is None)
            answer = await self.host.ask(Form(f"Lorebook {place.name}", fields))
            if answer is None or not (changed := entry_arguments(answer, before)):
                return
            now = {**before, **answer}
            try:
                await self._command("update-lorebook", lorebook=place.uuid, **changed)
                return
            except MarginaliaError as error:
                self.host.refuse(error)

    def action_link(self) -> None:
        """Puts a lorebook of the library below this one, or links it to a book that has none."""
        if self.alone is not None:
            from marginalia_tui.screens.lorebook_shelf import link_to_book

            self.do(self._link_alone(link_to_book(self.host, self.desk, self.alone)))
        else:
            self.do(self._link())

    async def _link_alone(self, linking: Any) -> None:
        if await linking:
            self.alone = None
            self.look_again()

    async def _link(self) -> None:
        from marginalia_tui.screens.lorebook_forms import Choose

        view = self.view
        assert view is not None
        above = self.place or view.root
        without = {above.uuid} if above is not None else set()
        without |= {line.uuid for line in view.lorebooks if above is not None and line.parent == above.uuid}
        rows = await self._shelf(frozenset(without))
        if not rows:
            self.host.tell("There is no other lorebook: b makes one.")
            return
        title = "Link to this book" if above is None else f"Put below {above.name}"
        chosen = await self.host.ask(Choose(title, rows, yes="links it"))
        if chosen is None:
            return
        if above is None:
            await self._command("link-lorebook", lorebook=chosen)
        else:
            await self._command("add-subbook", parent=above.uuid, lorebook=chosen)

    def action_take_out(self) -> None:
        """Takes the lorebook out of the one above it, the root out of the book; the command asks."""
        if (place := self.place) is None:
            return
        if place.parent is None:
            self.do(self._command("unlink-lorebook"))
        else:
            self.do(self._command("remove-subbook", parent=place.parent, lorebook=place.uuid))

    def action_bring_in(self) -> None:
        """Brings a lorebook in from a file, below this one."""
        from marginalia_tui.screens.lorebook_files import import_lore

        above = self._here
        self.do(import_lore(self.host, self.desk, self._book, above.uuid if above is not None else None))

    def action_export(self) -> None:
        """Writes this lorebook, with those below it, to a file."""
        from marginalia_tui.screens.lorebook_files import export_lore

        if (place := self._here) is not None:
            self.do(export_lore(self.host, self.desk, self._book, place.uuid, place.name))

    # The list

    def action_sort(self) -> None:
        """The next order."""
        from marginalia_tui.desk.lorebook import SORTS

        if self._wanted is not None:
            orders = [order for order, _ in SORTS]
            self.want(sort=orders[(orders.index(self._wanted.sort) + 1) % len(orders)])

    def on_table_header_clicked(self, event: Table.HeaderClicked) -> None:
        """A click on a title: in the order of that column."""
        event.stop()
        if event.table is self.table:
            orders = {"name": "name", "here": "active", "words": "words"}
            self.want(sort=orders.get(self.columns[event.column], "told"))

    def action_search(self) -> None:
        """Asks for words, and shows the entries of all lorebooks that hold them."""
        self.do(self._search())

    async def _search(self) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        words = await self.host.ask(
            Ask("Search the lore", self._query, help="In names, texts, notes and filters; capitals do not count.")
        )
        if not words or not words.strip():
            return
        found = await self.host.command_on(self._book, "search-lore", pattern=words.strip(), limit=MOST_HITS)
        hits = frozenset(str(hit["entry"]) for hit in found.data["hits"])
        self._query = words.strip()
        self.filter_line.close()
        self.want(hits=hits, query="")
        self.show_pane("entries")
        total = int(found.data["total"])
        if total > len(hits):
            self.host.tell(f"{total:,} entries hold it: these are the first {len(hits):,}.")

    def action_undo(self) -> None:
        """Takes the newest change of the book back."""
        self.do(self._command("undo"))

    def action_redo(self) -> None:
        """Does it again."""
        self.do(self._command("redo"))

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another lorebook ends a search."""
        if event.view is self.shelf and self.shelf.has_focus and self._wanted is not None:
            self._query = ""
            self.want(hits=None)
        super().on_row_view_highlighted(event)
