"""What helps while a part is written: finding and replacing, marks on words, focus and typewriter.

Nothing here is done on the loop but what is drawn: dictionaries are loaded and texts are searched on threads.
"""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from marginalia_tui.domain.errors import Invalid, MarginaliaError
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.replacebar import ReplaceBar
from marginalia_tui.widgets.writing import WritingArea

if TYPE_CHECKING:
    from marginalia_tui.desk.writing import Found, Query
    from marginalia_tui.services.spelling import Speller

SEEK_SECONDS = 0.3
"""How long after a key in the text it is searched again."""
LONGEST_WORDS = 100
"""Characters of a selection that the bar begins with."""


class WritingScreen(BaseScreen):
    """An editor with its helpers. A subclass yields `area` and `bar`, and has `book`."""

    HELPERS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "find", "find", id="edit.find", priority=True),
        Binding("f6", "turn('focus')", "focus", id="edit.focus", priority=True),
        Binding("f10", "turn('typewriter')", "typewriter", id="edit.typewriter"),
        Binding("f12", "turn('spelling')", "marks", id="edit.spelling"),
        Binding("ctrl+l", "word", "this word", id="edit.word"),
        Binding("ctrl+n", "next_mark(1)", "next marked word", show=False, id="edit.next_mark"),
        Binding("ctrl+p", "next_mark(-1)", "marked word before", show=False, id="edit.mark_before"),
    ]
    """The keys, for the subclass to put behind its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.area = WritingArea(text, placeholder="Write.", id="part-text")
        """The text."""
        self.bar = ReplaceBar(id="replace")
        """What is found and replaced."""
        self._speller: Speller | None = None
        self._spelling = False
        self._found: Found | None = None
        self._at = -1
        self._from = 0
        self._seeks = 0
        self._refusal: MarginaliaError | None = None

    @property
    def book(self) -> str:
        """The uuid of the book whose words count as right."""
        raise NotImplementedError

    def looks_changed(self) -> None:
        """Marks, focus or typewriter are other ones."""

    # Focus, typewriter, marks

    async def take_view(self) -> None:
        """Takes over what was chosen the last time."""
        view = await self.call(self.desk.views.read)
        if not self.is_attached:
            return
        self._show_focus(view.focus)
        self.area.typewriter = view.typewriter
        if view.spelling:
            await self._show_spelling(True)

    def action_turn(self, name: str) -> None:
        """Turns a way to write on or off, and keeps that."""
        now = {"focus": self.area.dimmed, "typewriter": self.area.typewriter, "spelling": self._spelling}
        self.do(self._turn(name, not now[name]))

    async def _turn(self, name: str, on: bool) -> None:
        match name:
            case "focus":
                self._show_focus(on)
                if on:
                    self.host.tell(f"Only the text is left: {self.host.key_of(type(self), 'edit.focus')} ends it.")
            case "typewriter":
                self.area.typewriter = on
                self.host.tell("Your line stays in the middle." if on else "The text moves when the cursor leaves it.")
            case "spelling":
                await self._show_spelling(on)
                if not on:
                    self.host.tell("No words are marked.")
                elif not self._is_marking:
                    self.host.tell(self._no_dictionary())
        await self.call(lambda: self.desk.views.keep(**{name: on}))

    def _show_focus(self, on: bool) -> None:
        self.set_class(on, "-quiet")
        self.area.dimmed = on
        self.looks_changed()

    async def _show_spelling(self, on: bool) -> None:
        self._spelling = on
        if on:
            await self._load_speller()
        if self.is_attached:
            self._mark()

    async def _load_speller(self) -> "Speller":
        if self._speller is None:
            self._speller = await self.call(self.desk.writing.speller, self.book)
        return self._speller

    def _mark(self) -> None:
        self.area.check = self._speller.wrong if self._is_marking and self._speller is not None else None
        self.looks_changed()

    @property
    def _is_marking(self) -> bool:
        return self._spelling and self._speller is not None and self._speller.works

    @property
    def spelling_words(self) -> str:
        """What the header says when words should be marked and can't be."""
        return "no dictionary" if self._spelling and self._speller is not None and not self._speller.works else ""

    def _no_dictionary(self) -> str:
        language = self._speller.language if self._speller is not None else ""
        return f"There is no dictionary for the language {language!r} of this book: no words are marked."

    # One word

    def action_next_mark(self, step: int) -> None:
        """Goes to the next marked word, or to the one before."""
        self.do(self._next_mark(step))

    async def _next_mark(self, step: int) -> None:
        speller = await self._load_speller()
        if not speller.works:
            self.host.tell(self._no_dictionary())
            return
        area = self.area
        text, (low, high) = area.content, sorted((area.index_of(area.selection.start), area.cursor_index))
        spans = await self.call(speller.wrong, text)
        if area.content != text:
            return
        if not spans:
            self.host.tell("No word is marked.")
            return
        if step > 0:
            span = next((each for each in spans if each[0] > low or each[1] > high), spans[0])
        else:
            span = next((each for each in reversed(spans) if each[1] < high and each[0] < low), spans[-1])
        area.move_cursor(area.location_of(span[0]))
        area.move_cursor(area.location_of(span[1]), select=True, center=not area.typewriter)
        area.focus()

    def action_word(self) -> None:
        """What the word at the cursor may mean; adds it to the list of the book."""
        self.do(self._word())

    async def _word(self) -> None:
        from marginalia_tui.screens.spellings import SpellingScreen

        area = self.area
        place = area.wrong_at(area.cursor_location) or area.word_at(area.cursor_location)
        if place is None:
            self.host.tell("No word stands at the cursor.")
            return
        speller = await self._load_speller()
        if not speller.works:
            self.host.tell(self._no_dictionary())
            return
        word = area.get_text_range(*place)
        right = speller.is_right(word)
        suggestions = [] if right else await self.call(speller.suggest, word)
        choice = await self.host.ask(SpellingScreen(word, suggestions, right=right, own=speller.has(word)))
        if choice is None:
            return
        if choice.kind == "word":
            if area.get_text_range(*place) == word:
                area.put(*place, choice.word)
            return
        added = choice.kind == "add"
        self._speller = await self.call(self.desk.writing.keep_word, self.book, word, added)
        self._mark()
        self.host.tell(f"{word!r} is {'right in this book now' if added else 'not on the list of this book any more'}.")

    # Finding

    def action_find(self) -> None:
        """Opens the bar with what is selected; in the bar, goes to the next place."""
        if self.bar.is_open and self.bar.line.has_focus:
            self._step(1)
            return
        words = self.area.selected_text
        self._from = self.area.index_of(min(self.area.selection))
        self.bar.open(words if len(words) <= LONGEST_WORDS and "\n" not in words else "")
        self.do(self._seek())

    def text_changed(self) -> None:
        """A key in the text: what was found stands elsewhere now."""
        if self.bar.is_open and self._found is not None and self._found.text != self.area.content:
            self.area.show_hits({})
            self._from = self.area.cursor_index
            self.set_timer(SEEK_SECONDS, lambda: self.do(self._seek()))

    @property
    def _query(self) -> "Query":
        from marginalia_tui.desk.writing import Query

        return Query(self.bar.line.content, self.bar.mode, self.bar.case)

    async def _seek(self) -> None:
        """Finds the places of what stands in the bar, and shows the first from where the search began."""
        self._seeks += 1
        number = self._seeks
        if not self._is_seeking(number):
            return
        query, text = self._query, self.area.content
        self._found, self._at, self._refusal = None, -1, None
        if query.pattern:
            try:
                found = await self.call(self.desk.writing.find, text, query)
            except MarginaliaError as error:
                found, self._refusal = None, error
            if not self._is_seeking(number):
                return
            if found is not None:
                self._found = found
                self._at = next((place for place, span in enumerate(found.spans) if span[0] >= self._from), 0)
        self._show_place()

    def _is_seeking(self, number: int) -> bool:
        """Whether a search is the newest, and still wanted."""
        return number == self._seeks and self.is_attached and self.bar.is_open

    def _show_place(self) -> None:
        found = self._found
        if found is None or not found.spans:
            self.bar.say(self._why_none())
            self.area.show_hits({})
            return
        start, end = found.spans[self._at]
        area = self.area
        place = area.location_of(start)
        area.show_hits(found.rows, (place, area.location_of(end)))
        area.move_cursor(place, center=not area.typewriter)
        self.bar.say(f"{self._at + 1:,} of {len(found.spans):,}")

    def _why_none(self) -> str:
        if self._refusal is not None:
            return "no expression" if isinstance(self._refusal, Invalid) else "too slow"
        return "" if self._found is None else "nothing found"

    def _step(self, step: int) -> None:
        if self._refusal is not None:
            self.host.refuse(self._refusal)
        if self._found is not None and self._found.spans:
            self._at = (self._at + step) % len(self._found.spans)
            self._from = self._found.spans[self._at][0]
            self._show_place()

    def on_replace_bar_wanted(self) -> None:
        """Other words, or another way to look."""
        self.do(self._seek())

    def on_replace_bar_step(self, event: ReplaceBar.Step) -> None:
        """The next place, or the one before."""
        self._step(event.step)

    def on_replace_bar_replace(self, event: ReplaceBar.Replace) -> None:
        """The place that is shown, or every one."""
        self.do(self._replace(event.everything))

    async def _replace(self, everything: bool) -> None:
        found, area = self._found, self.area
        if found is None or not found.spans or found.text != area.content:
            await self._seek()
            return
        at = None if everything else found.spans[self._at][0]
        done = await self.call(self.desk.writing.replace, found.text, self._query, self.bar.new.content, at)
        if done is None or area.content != found.text:
            return
        area.put(area.location_of(done.start), area.location_of(done.end), done.new)
        self._from = done.start + len(done.new)
        await self._seek()
        if everything:
            places = "1 place" if done.count == 1 else f"{done.count:,} places"
            undo = self.host.key_of(type(self), "edit.undo")
            self.host.tell(f"Replaced in {places}: {undo} in the text takes it back.")

    def on_replace_bar_closed(self) -> None:
        """Esc in the bar."""
        self.close_bar()

    def close_bar(self) -> None:
        """Ends the search; the cursor stays at what was found."""
        self._seeks += 1
        self._found = None
        self.bar.close()
        self.area.show_hits({})
        self.area.focus()
