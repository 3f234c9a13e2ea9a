"""The editor of one part.

What is typed is kept as a draft a moment later, outside of the book, so that a crash loses seconds at most; a save
is a change of the book.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TextArea

from marginalia_tui.domain.errors import MarginaliaError, Stale
from marginalia_tui.domain.words import count_words
from marginalia_tui.screens.decide import Decide, Way
from marginalia_tui.screens.writing import WritingScreen
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput

if TYPE_CHECKING:
    from marginalia_tui.desk.book import Editing
    from marginalia_tui.store.bus import Touched

KEEP_SECONDS = 2.0
"""How long after a key the draft is kept."""
KEEP_PATIENCE = 2.0
"""How long the store is waited for when the studio ends."""
COUNT_SECONDS = 0.3
"""How long after a key the words are counted."""


class EditScreen(WritingScreen):
    """The editor.

    Args:
        editing: what it begins with.
        book: the title of the book.
        offset: where the cursor stands at first.
        title: the title to begin with, when it is another one than the part's (of a draft).
        text: the text to begin with.
    """

    CSS_PATH = "edit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", id="edit.save", priority=True),
        Binding("escape", "leave", "close", id="edit.leave"),
        Binding("ctrl+t", "title", "title", id="edit.title", priority=True),
        Binding("ctrl+z", "undo", "undo typing", show=True, id="edit.undo"),
        *WritingScreen.HELPERS,
    ]
    mode_name = "book"

    def __init__(
        self, editing: "Editing", book: str, *, offset: int = 0, title: str | None = None, text: str | None = None
    ) -> None:
        super().__init__(editing.text if text is None else text)
        self.editing = editing
        self.book_title = book
        self._offset = offset
        self._begin = (editing.title if title is None else title, editing.text if text is None else text)
        # Held, and not looked for: words are counted and drafts kept while the screen is taken away.
        self._title_line = LineInput(self._begin[0], placeholder="the title of the part", id="part-title")
        self._saved = (editing.title, editing.text)
        self._kept = self._begin
        self._words = 0
        self._keeping = False
        self._left = False

    def body(self) -> ComposeResult:
        """The title and the text."""
        with Vertical(id="sheet"):
            yield self._title_line
            yield self.area
        yield self.bar

    @property
    def book(self) -> str:
        """The uuid of its book."""
        return self.editing.book

    @property
    def content(self) -> tuple[str, str]:
        """Title and text as they are now."""
        return self._title_line.content, self.area.content

    @property
    def changed(self) -> bool:
        """Whether something is not saved."""
        return self.content != self._saved

    def on_mount(self) -> None:
        """The cursor stands where the author was reading."""
        super().on_mount()
        area = self.area
        area.focus()
        area.move_cursor(area.location_of(self._offset), center=True)
        self.do(self._count())
        self.do(self.take_view())

    def wants(self, touched: "Touched") -> bool:
        """Nothing: what is typed is the author's alone."""
        return False

    # Typing

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A key: the draft and the count follow."""
        event.stop()
        self.desk.studio.activity.typed(self.editing.book)
        self._tell()
        self.text_changed()
        self.set_timer(COUNT_SECONDS, lambda: self.do(self._count()))
        self.set_timer(KEEP_SECONDS, lambda: self.do(self._keep()))

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter in the title."""
        event.stop()
        self.remove_class("-titling")
        self.area.focus()

    async def _count(self) -> None:
        if self.is_attached:
            self._words = await self.call(count_words, self.content[1])
            self._tell()

    def _tell(self) -> None:
        if self.is_attached:
            place = f"{self.book_title} > editing part {self.editing.number}"
            facts = [f"{self._words:,} words", "not saved" if self.changed else "saved", self.spelling_words]
            self.say_where(place, "  ".join(filter(None, facts)))

    def looks_changed(self) -> None:
        """The header tells when no words can be marked."""
        self._tell()

    # Drafts

    async def _keep(self) -> None:
        """Keeps the draft when it is another one than the last; one at a time."""
        if self._keeping or not self.is_attached or self._left:
            return
        self._keeping = True
        try:
            while (now := self.content) not in (self._kept, self._saved):
                await self.call(self.desk.book.keep, self.editing, *now)
                self._kept = now
        finally:
            self._keeping = False

    async def before_quit(self) -> None:
        """Keeps what is not saved; in a file of its own when the store takes nothing."""
        if not self.changed:
            return
        try:
            async with asyncio.timeout(KEEP_PATIENCE):
                await self.call(self.desk.book.keep, self.editing, *self.content)
        except (MarginaliaError, TimeoutError):
            self.host.rescued.append(await self.call(self.desk.book.rescue, self.editing, *self.content))

    def on_screen_suspend(self) -> None:
        """Another screen comes to the front."""
        if self.host.desk is not None:
            self.do(self._keep())

    # Saving and leaving

    def action_title(self) -> None:
        """Goes to the title, or back to the text."""
        line = self._title_line
        to_title = not line.has_focus
        # The title is not seen while only the text is.
        self.set_class(to_title, "-titling")
        (line if to_title else self.area).focus()

    def action_undo(self) -> None:
        """Takes back what was typed last."""
        self.area.undo()

    def action_save(self) -> None:
        """Saves and goes on."""
        self.do(self._save())

    async def _save(self) -> bool:
        """Whether it is saved."""
        content = self.content
        try:
            base = await self.call(self.desk.book.save, self.editing, *content)
        except Stale:
            return await self._save_over(content)
        self._is_saved(content, base)
        return True

    def _is_saved(self, content: tuple[str, str], base: bytes) -> None:
        from dataclasses import replace

        self.editing = replace(self.editing, title=content[0], text=content[1], base=base)
        self._saved = self._kept = content
        self._tell()

    async def _save_over(self, content: tuple[str, str]) -> bool:
        """The part was changed elsewhere meanwhile: the author decides."""
        way = await self.host.ask(
            Decide(
                "Changed elsewhere",
                "This part was changed elsewhere since you opened it. Your text is kept as a draft.",
                [Way("c", "copy my text", "copy"), Way("o", "save mine over it (undo brings the other back)", "over")],
                stay="go on editing",
            )
        )
        if way == "copy":
            self.host.copy(content[1])
        if way != "over":
            return False
        now = await self.call(self.desk.book.edit, self.editing.part)
        base = await self.call(lambda: self.desk.book.save(now, *content, apart=True))
        self._is_saved(content, base)
        return True

    def action_leave(self) -> None:
        """Ends a search, else closes; asks when something is not saved."""
        if self.bar.is_open:
            self.close_bar()
        else:
            self.do(self._leave())

    async def _leave(self) -> None:
        if self.changed:
            way = await self.host.ask(
                Decide(
                    "Not saved",
                    f"What you changed in part {self.editing.number} is not saved.",
                    [Way("s", "save it", "save"), Way("d", "drop it", "drop")],
                    stay="go on editing",
                )
            )
            if way is None or (way == "save" and not await self._save()):
                return
        self._left = True
        await self.call(self.desk.book.drop, self.editing)
        self.dismiss()
