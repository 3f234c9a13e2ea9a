"""What is done with a passage of the page that was chosen, and going to a part by typing."""

from textual.binding import Binding

from marginalia_tui.screens.bookpanels import PanelledScreen
from marginalia_tui.widgets.choosing import ChoosingPage

PASSAGE_KEYS = (
    Binding("g", "jump", "go to", id="book.jump"),
    Binding("V", "choose", "passage", id="book.choose"),
)
"""The screen has them among its own."""


class PassageScreen(PanelledScreen):
    """Reading with panels, and a passage that is annotated, looked up, replaced, copied."""

    # Going to a part

    def action_jump(self) -> None:
        """Goes to a part by its number or title."""
        if self.outline.parts:
            self.do(self._jump())

    async def _jump(self) -> None:
        from marginalia_tui.screens.jump import JumpScreen

        part = await self.host.ask(JumpScreen(self.outline.parts, self.outline.current_key))
        if part is not None:
            self.outline.show(self.outline.parts, key=part)

    # A passage

    def action_choose(self) -> None:
        """Goes to the page and begins to choose a passage."""
        if self._part is None:
            return
        self.set_class(True, "-reading")
        self.page.focus()
        # In a narrow terminal the page is laid out only now.
        self.call_after_refresh(self._begin_choosing)

    def _begin_choosing(self) -> None:
        if not self.page.begin_choosing():
            self.host.tell("There is no word here to choose.")

    def _key_escape(self) -> None:
        # Textual takes every selection away before a binding of the key is asked; the page ends its own.
        if not (self.page.choosing and self.page.has_focus):
            super()._key_escape()

    def on_choosing_page_choosing(self, event: ChoosingPage.Choosing) -> None:
        """Other keys hold while a passage is chosen."""
        event.stop()
        self.refresh_bindings()

    def on_choosing_page_wanted(self, event: ChoosingPage.Wanted) -> None:
        """Something is to be done with the passage."""
        event.stop()
        part = self._part
        if part is None:
            return
        start, end = event.start, event.end
        match event.wish:
            case "copy":
                self.host.copy(part.text[start:end])
                self.page.action_end_choosing()
            case "note":
                self.do(self._annotate(part.uuid, part.text, start, end))
            case "lore":
                self.do(self._look_up(part.text[start:end]))
            case "replace":
                self.do(self._replace(part.uuid, part.text, start, end))

    async def _annotate(self, part: str, text: str, start: int, end: int) -> None:
        from marginalia_tui.widgets.dialogs import Ask

        said = await self.host.ask(Ask("Note", help=f"On: {_short(text[start:end])}"))
        if said and said.strip():
            # The characters are those of the text that was read: another text has others.
            await self.call(self.desk.writing.passage, part, text, start, end)
            await self._act("create-annotation", part=part, text=said, span=f"{start}..{end}")
            self.page.action_end_choosing()

    async def _look_up(self, said: str) -> None:
        from marginalia_tui.screens.lookup import LookupScreen

        book = self.host.opened
        assert book is not None
        found = await self.call(self.desk.writing.look_up, book, said)
        if not found:
            self.host.tell(f"No entry of the lore is about: {_short(said)}.")
            return
        entry = await self.host.ask(LookupScreen(said, found))
        if entry is not None:
            self.page.action_end_choosing()
            self._open_lore(entry)

    async def _replace(self, part: str, text: str, start: int, end: int) -> None:
        from marginalia_tui.screens.text_editor import TextEditor

        said = text[start:end]
        line = self._lines.get(part)
        new = await self.host.ask(TextEditor(said, title=f"Replace in part {line.number}" if line else "Replace"))
        if new is None or new == said:
            return
        before, said, behind = await self.call(self.desk.writing.passage, part, text, start, end)
        shown = await self.host.command("edit-part", part=part, old=before + said + behind, new=before + new + behind)
        self.page.action_end_choosing()
        self.host.tell(shown.sentence)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
