"""The book: its outline beside the page that is read, and what is done to its parts."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from marginalia_tui.screens.bookpanels import PANEL_KEYS
from marginalia_tui.screens.passages import PASSAGE_KEYS, PassageScreen

_NEED_PART = frozenset({"edit", "step", "find", "swipe", "branch", "delete", "copy", "choose", "jump", "panel"})
_NEED_BOOK = frozenset({
    "add", "undo", "redo", "branches", "outline", "lorebooks", "facts", "settings", "backups", "statistics", "export",
})  # fmt: skip


class BookScreen(PassageScreen):
    """The second mode."""

    CSS_PATH = "book.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="book.edit"),
        Binding("n", "step(1)", "next", id="book.next"),
        Binding("N,p", "step(-1)", "previous", show=False, id="book.previous"),
        Binding("f,ctrl+f", "find", "find", id="book.find"),
        Binding("u", "undo", "undo", id="book.undo"),
        Binding("ctrl+r", "redo", "redo", show=False, id="book.redo"),
        Binding("a", "add", "add", id="book.add"),
        Binding("d,delete", "delete", "delete", show=False, id="book.delete"),
        Binding("v", "branches", "branches", id="book.branches"),
        Binding("s", "branch", "begin another version", show=False, id="book.branch"),
        Binding("left", "swipe(-1)", "version before", show=False, id="book.swipe_before"),
        Binding("right", "swipe(1)", "version after", show=False, id="book.swipe_after"),
        Binding("o", "outline", "outline", id="book.outline"),
        *PASSAGE_KEYS,
        *PANEL_KEYS,
        Binding("i", "facts", "facts of the book", show=False, id="book.facts"),
        Binding("number_sign", "statistics", "statistics and goals", show=False, id="book.statistics"),
        Binding("I", "settings", "settings of the book", show=False, id="book.settings"),
        Binding("b", "backups", "backups", show=False, id="book.backups"),
        Binding("x", "export", "export", show=False, id="book.export"),
        Binding("c", "copy", "copy the text", show=False, id="book.copy"),
        Binding("escape", "back", "back", show=False, id="book.back"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What needs a part is not offered without one."""
        if action in _NEED_PART:
            return self._view is not None and bool(self._view.parts)
        if action in _NEED_BOOK:
            return self._view is not None
        return True

    # Versions and branches

    def action_swipe(self, step: int) -> None:
        """Shows the version of the part before or after this one, with the branch that follows it."""
        part = self._part
        if part is None or len(part.swipes) < 2:
            self.host.tell("This part has one version: s begins another one.")
            return
        other = part.swipes[(part.swipes.index(part.uuid) + step) % len(part.swipes)]
        self.do(self._switch(other))

    async def _switch(self, part: str) -> None:
        await self.host.command("switch-branch", part=part)
        await self._read_at(part)

    def action_branches(self) -> None:
        """Chooses a branch."""
        self.do(self._choose_branch())

    async def _choose_branch(self) -> None:
        from marginalia_tui.screens.branches import BranchScreen

        book = self.host.opened
        assert book is not None
        lines = await self.call(self.desk.book.branches, book)
        leaf = await self.host.ask(BranchScreen(lines))
        if leaf is not None:
            await self.host.command("switch-branch", part=leaf)
            self.look_again()

    def action_branch(self) -> None:
        """Begins another version of the part."""
        self.do(self._branch())

    async def _branch(self) -> None:
        if self._part is not None:
            made = await self.host.command("branch-part", part=self._part.uuid)
            await self._read_at(str(made.data["part"]))
            self.host.tell(f"{made.sentence} Left and Right go through its versions.")

    # Changing

    def action_edit(self) -> None:
        """Opens the editor on the part."""
        if self._part is not None:
            self.do(self._edit(self._part.uuid, self.page.top_offset))

    async def _edit(self, part: str, offset: int = 0) -> None:
        from marginalia_tui.screens.decide import Decide, Way
        from marginalia_tui.screens.edit import EditScreen

        editing = await self.call(self.desk.book.edit, part)
        title = self._view.title if self._view else ""
        draft = editing.draft
        if draft is None:
            self.app.push_screen(EditScreen(editing, title, offset=offset))
            return
        way = await self.host.ask(
            Decide(
                "Unsaved text",
                f"Text of this part that was not saved is kept, from {draft.when}.",
                [Way("g", "go on with it", "go on"), Way("d", "drop it, and begin with the part", "drop")],
                stay="leave both as they are",
            )
        )
        if way == "drop":
            await self.call(self.desk.book.drop, editing)
            self.app.push_screen(EditScreen(editing, title, offset=offset))
        elif way == "go on":
            self.app.push_screen(EditScreen(editing, title, offset=offset, title=draft.title, text=draft.text))

    def action_add(self) -> None:
        """Adds an empty part behind this one and opens it."""
        self.do(self._add())

    async def _add(self) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        title = await self.host.ask(Ask("Title of the new part", help="It may stay empty."))
        if title is None:
            return
        if self._part is None:
            made = await self.host.command("create-part", text="", title=title.strip())
        else:
            made = await self.host.command("insert-part", after=self._part.uuid, text="", title=title.strip())
        part = str(made.data["part"])
        await self._read_at(part)
        await self._edit(part)

    def action_delete(self) -> None:
        """Deletes the part, after a question."""
        if self._part is not None:
            self.do(self._command("delete-part", part=self._part.uuid))

    def action_undo(self) -> None:
        """Takes the newest change back."""
        self.do(self._command("undo"))

    def action_redo(self) -> None:
        """Does it again."""
        self.do(self._command("redo"))

    async def _command(self, name: str, **arguments: object) -> None:
        self.host.tell((await self.host.command(name, **arguments)).sentence)

    def action_facts(self) -> None:
        """The facts of the book in a form."""
        self.do(self._facts())

    async def _facts(self) -> None:
        from marginalia_tui.screens.facts import ask_facts

        book = self.host.opened
        assert book is not None
        changed = await ask_facts(self.host, await self.call(self.desk.book.facts, book))
        if changed:
            await self._command("set-book-info", **changed)

    def action_statistics(self) -> None:
        """The statistics of the book, and its goals."""
        from marginalia_tui.screens.statistics import StatisticsScreen

        if self._view is not None:
            self.app.push_screen(StatisticsScreen(self._view.uuid))

    def action_settings(self) -> None:
        """Shows what the book says and inherits."""
        from marginalia_tui.screens.inherited import InheritedScreen

        if self._view is not None:
            self.app.push_screen(InheritedScreen("book", self._view.uuid, mode="book"))

    def action_backups(self) -> None:
        """Shows the backups of the book."""
        from marginalia_tui.screens.backups import BackupsScreen

        if self._view is not None:
            self.app.push_screen(BackupsScreen(self._view.uuid, self._view.title, mode="book"))

    def action_export(self) -> None:
        """Exports the book."""
        self.do(self._export())

    async def _export(self) -> None:
        from marginalia_tui.screens.exchange import export_book

        if self._view is not None:
            await export_book(self.host, self.desk, self._view.uuid, self._view.title)

    def action_copy(self) -> None:
        """Copies the text of the part."""
        if self._part is not None:
            self.host.copy(self._part.text)
