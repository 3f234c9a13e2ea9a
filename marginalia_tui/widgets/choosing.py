"""A page on which a passage is chosen, with the mouse or with a caret that keys move.

The caret and the other end of the choice are places in the shown text of a block (what Markdown hides is no place);
what goes out are offsets in the source. The choice is drawn as the selection of the mouse is, and is one with it: a
passage that was drawn with the mouse is gone on with by keys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from marginalia_tui.domain import passage, segments
from marginalia_tui.widgets.blocks import Layout, Span
from marginalia_tui.widgets.margin import Mark, Note
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.text import cells

Wish = Literal["note", "lore", "replace", "copy"]


class Place(NamedTuple):
    """A block and an offset in its shown text."""

    block: int
    offset: int


class ChoosingPage(Page):
    """A page with a caret while a passage is chosen; `Wanted` tells what is to be done with it.

    `begin_choosing` sets the caret to the first word that is seen. Its keys move it; `v` holds one end, so that the
    others widen the choice; `V` takes the word, the sentence, the paragraph, the part.
    """

    DEFAULT_CSS = """
    ChoosingPage {
        & > .choosing--caret { background: $cursor-background; color: $cursor-foreground; text-style: bold reverse; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choosing--caret"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "wish('note')", "note", id="select.note"),
        Binding("l", "wish('lore')", "lore", id="select.lore"),
        Binding("r", "wish('replace')", "replace", id="select.replace"),
        Binding("c", "wish('copy')", "copy", id="select.copy"),
        Binding("v", "hold", "hold", id="select.hold"),
        Binding("V", "widen", "wider", id="select.widen"),
        Binding("escape", "end_choosing", "end", id="select.end"),
        Binding("left", "caret('sign', -1)", "sign before", show=False, id="select.left"),
        Binding("right", "caret('sign', 1)", "next sign", show=False, id="select.right"),
        Binding("shift+left", "extend('sign', -1)", "widen to the left", show=False, id="select.wider_left"),
        Binding("shift+right", "extend('sign', 1)", "widen to the right", show=False, id="select.wider_right"),
        Binding("shift+up", "extend('line', -1)", "widen up", show=False, id="select.wider_up"),
        Binding("shift+down", "extend('line', 1)", "widen down", show=False, id="select.wider_down"),
        Binding("w", "caret('word', 1)", "next word", show=False, id="select.word"),
        Binding("b", "caret('word', -1)", "word before", show=False, id="select.word_before"),
        Binding("s", "caret('sentence', 1)", "next sentence", show=False, id="select.sentence"),
        Binding("S", "caret('sentence', -1)", "sentence before", show=False, id="select.sentence_before"),
        Binding("p", "caret('paragraph', 1)", "next paragraph", show=False, id="select.paragraph"),
        Binding("P", "caret('paragraph', -1)", "paragraph before", show=False, id="select.paragraph_before"),
    ]

    @dataclass
    class Wanted(Message):
        """Something is to be done with a passage: offsets in the source."""

        wish: Wish
        start: int
        end: int

    @dataclass
    class Choosing(Message):
        """Choosing began or ended."""

        on: bool

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._caret: Place | None = None
        self._held: Place | None = None
        self._column: int | None = None

    # The choice

    @property
    def choosing(self) -> bool:
        """Whether a passage is being chosen."""
        return self._caret is not None

    @property
    def chosen(self) -> tuple[int, int] | None:
        """The passage, from and to, in the source, without space at its ends; None when nothing is chosen."""
        if self._caret is None or self._held is None:
            return None
        low, high = sorted((self._caret, self._held))
        if high.offset == 0 and high.block > low.block:
            high = Place(high.block - 1, len(self._shown(high.block - 1)))
        if high == low:
            return None
        start = self.prose(low.block).to_source(low.offset)
        end = self.prose(high.block).to_source(high.offset - 1) + 1 if high.offset else start
        end = min(end, len(self.source))
        said = self.source[start:end]
        start += len(said) - len(said.lstrip())
        end -= len(said) - len(said.rstrip())
        return passage.whole(self.source, start, end) if end > start else None

    def begin_choosing(self) -> bool:
        """Sets the caret to the first word that is seen; False on an empty page."""
        if self.choosing:
            return True
        block, line = self.position()
        for number in range(block, self.block_count()):
            text, lines = self._shown(number), self.layout_of(number).lines
            seen = lines[min(line, len(lines) - 1)].start if number == block and lines else 0
            if word := segments.word_at(text, seen):
                self._go(Place(number, word[0]))
                self.post_message(self.Choosing(True))
                return True
        return False

    def action_end_choosing(self) -> None:
        """Takes the caret and the choice away."""
        if self.choosing:
            self._caret = self._held = None
            self._show_choice()
            self.post_message(self.Choosing(False))

    def action_wish(self, wish: Wish) -> None:
        """Asks for something with the passage; the word at the caret when nothing is chosen."""
        if self.chosen is None:
            self._take_word()
        if (found := self.chosen) is not None:
            self.post_message(self.Wanted(wish, *found))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the caret are keys of the screen while there is none."""
        if action in ("wish", "hold", "widen", "end_choosing", "caret", "extend"):
            return self.choosing
        return super().check_action(action, parameters)

    # Moving

    def action_hold(self) -> None:
        """Holds this end of the choice, or lets go of it."""
        self._held = self._caret if self._held is None else None
        self._show_choice()

    def action_extend(self, by: str, step: int) -> None:
        """Moves the caret and widens the choice with it."""
        if self._held is None:
            self._held = self._caret
        self.action_caret(by, step)

    def action_caret(self, by: str, step: int) -> None:
        """Moves the caret by signs, lines, words, sentences or paragraphs."""
        here = self._caret
        assert here is not None
        if by == "line":
            self._go_lines(here, step)
            return
        if by == "sign":
            text = self._shown(here.block)
            offset = segments.after(text, here.offset) if step > 0 else segments.before(text, here.offset)
            stuck = offset == here.offset
            self._go(self._beside(here, step) if stuck else Place(here.block, offset))
            return
        self._go(self._forward(here, by) if step > 0 else self._backward(here, by))

    def action_lines(self, count: int) -> None:
        """Up and down move the caret while there is one."""
        if self._caret is None:
            super().action_lines(count)
        else:
            self._go_lines(self._caret, count)

    def _spans(self, block: int, by: str) -> list[tuple[int, int]]:
        text = self._shown(block)
        if by == "word":
            return segments.words(text)
        if by == "sentence":
            return segments.sentences(text)
        return [(each.start, each.end) for each in self.prose(block).paragraphs if each.end > each.start]

    def _forward(self, here: Place, by: str) -> Place:
        """The next beginning; while a choice is held, the next end."""
        held = self._held is not None
        for block in range(here.block, self.block_count()):
            for start, end in self._spans(block, by):
                place = Place(block, end if held else start)
                if place > here:
                    return place
        last = self.block_count() - 1
        return Place(last, len(self._shown(last)))

    def _backward(self, here: Place, by: str) -> Place:
        for block in range(here.block, -1, -1):
            for start, _ in reversed(self._spans(block, by)):
                if Place(block, start) < here:
                    return Place(block, start)
        return Place(0, 0)

    def _beside(self, here: Place, step: int) -> Place:
        block = here.block + step
        if not 0 <= block < self.block_count():
            return here
        return Place(block, 0 if step > 0 else len(self._shown(block)))

    def _go_lines(self, here: Place, step: int) -> None:
        layout = self.layout_of(here.block)
        number = layout.line_of(here.offset)
        line = layout.lines[number]
        column = self._column
        if column is None:
            column = line.indent + cells(layout.text[line.start : here.offset])
        block = here.block
        while True:
            number += step
            if not 0 <= number < len(layout.lines):
                block += step
                if not 0 <= block < self.block_count():
                    return
                layout = self.layout_of(block)
                number = 0 if step > 0 else len(layout.lines) - 1
            line = layout.lines[number]
            if line.end > line.start:
                break
        offset, place = line.start, line.indent
        while offset < line.end and place < column:
            after = segments.after(layout.text, offset)
            place += cells(layout.text[offset:after])
            offset = after
        self._go(Place(block, offset))
        self._column = column

    # Wider

    def action_widen(self) -> None:
        """The word, the sentence, the paragraph, the part: the first that is wider than the choice."""
        caret, held = self._caret, self._held
        assert caret is not None
        low, high = sorted((caret, held or caret))
        for by in ("word", "sentence", "paragraph"):
            for start, end in self._spans(low.block, by):
                first, last = Place(low.block, start), Place(low.block, end)
                if first <= low and high <= last and low < last and (first, last) != (low, high):
                    self._choose(first, last)
                    return
        last_block = self.block_count() - 1
        self._choose(Place(0, 0), Place(last_block, len(self._shown(last_block))))

    def _take_word(self) -> None:
        assert self._caret is not None
        block, offset = self._caret
        if word := segments.word_at(self._shown(block), offset):
            self._choose(Place(block, word[0]), Place(block, word[1]))

    def _choose(self, first: Place, last: Place) -> None:
        self._held = first
        self._go(last)

    # Showing

    def _shown(self, block: int) -> str:
        return self.layout_of(block).text

    def _go(self, place: Place) -> None:
        self._caret = place
        self._column = None
        self._reveal(place)
        self._show_choice()

    def _reveal(self, place: Place) -> None:
        line = self.layout_of(place.block).line_of(place.offset)
        self.measure(place.block)
        seen = self.heights.start(place.block) + line - self.top
        if seen < 0:
            self.place(place.block, line)
        elif seen >= self.page:
            self.place(place.block, line, self.page - 1)

    def _selection(self) -> Selection | None:
        if self._caret is None or self._held is None or self._caret == self._held:
            return None
        low, high = sorted((self._caret, self._held))
        return Selection(Offset(low.offset, low.block), Offset(high.offset, high.block))

    def _show_choice(self) -> None:
        mine = self._selection()
        self.screen.selections = {} if mine is None else {self: mine}
        self.restyle()
        self.refresh_bindings()

    def selection_updated(self, selection: Selection | None) -> None:
        """Textual: the mouse chooses, or somebody took the choice away."""
        now = self.text_selection
        if now != self._selection() and len(self.heights):
            self._follow(now)
        super().selection_updated(selection)

    def _follow(self, selection: Selection | None) -> None:
        was = self.choosing
        if selection is None:
            self._caret = self._held = None
        else:
            last = self.block_count() - 1
            first = Offset(0, 0) if selection.start is None else selection.start
            end = Offset(len(self._shown(last)), last) if selection.end is None else selection.end
            self._held, self._caret = self._within(first), self._within(end)
        self.restyle()
        if was != self.choosing:
            self.post_message(self.Choosing(self.choosing))
            self.refresh_bindings()

    def _within(self, offset: Offset) -> Place:
        block = max(0, min(offset.y, self.block_count() - 1))
        return Place(block, max(0, min(offset.x, len(self._shown(block)))))

    def show(
        self,
        text: str,
        marks: Iterable[Mark] = (),
        notes: Iterable[Note] = (),
        *,
        offset: int = 0,
        below: Sequence[str] = (),
    ) -> None:
        """Shows a text; what was chosen in the one before is chosen no more."""
        if self.is_attached:
            self.action_end_choosing()
        super().show(text, marks, notes, offset=offset, below=below)

    def spans_of(self, index: int, layout: Layout) -> Iterable[Span]:
        """The caret over all else."""
        yield from super().spans_of(index, layout)
        if self._caret is not None and self._caret.block == index:
            at = self._caret.offset
            text = layout.text
            if at >= len(text) or text[at] == "\n":
                at = segments.before(text, at)
            yield Span(at, segments.after(text, at), "choosing--caret")
