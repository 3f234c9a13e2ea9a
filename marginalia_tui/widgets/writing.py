"""The text area in which a part is written: marks on words, hits of a search, one lit paragraph, a line that stays.

Only the lines that are seen are looked at. What is wrong in a line is kept with the line, and so is its picture, so
that a key costs the paragraph that it changed.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.cache import LRUCache
from textual.geometry import Offset, Region, Size
from textual.strip import Strip
from textual.widgets.text_area import Location

from marginalia_tui.widgets.editor import Editor

Span = tuple[int, int]
Check = Callable[[str], Sequence[Span]]
"""A line -> the places, from and to, of its words that are wrong."""
WRAPPED = 100
"""Characters of a line that no editor wrapped: a longer one is a paragraph by itself."""
REACH = 200
"""Lines of a paragraph that are lit at most in each direction: a poem may be long."""
LONGEST_LINE = 50_000
"""Characters of a line that is checked; a longer one is no prose."""


def paragraph(line: Callable[[int], str], count: int, row: int) -> tuple[int, int]:
    """The first and the last line of the paragraph of a line.

    Args:
        line: the lines by number.
        count: how many there are.
        row: the line.
    """

    def goes_on(number: int) -> bool:
        return 0 <= number < count and len(line(number).strip()) > 0 and len(line(number)) <= WRAPPED

    first = last = row
    if not goes_on(row):
        return row, row
    while first > row - REACH and goes_on(first - 1):
        first -= 1
    while last < row + REACH and goes_on(last + 1):
        last += 1
    return first, last


class WritingArea(Editor):
    """An editor with marks.

    `check` marks words; `show_hits` marks what a search found; `dimmed` leaves only the paragraph of the cursor lit;
    `typewriter` keeps the line of the cursor in the middle, with room below the last one.
    """

    DEFAULT_CSS = """
    WritingArea {
        & > .writing--wrong { color: $removed; text-style: underline; }
        & > .writing--dim { color: $muted 60%; }
        & > .writing--find { background: $find-background; color: $find-foreground; }
        & > .writing--found { background: $found-background; color: $found-foreground; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "writing--wrong",
        "writing--dim",
        "writing--find",
        "writing--found",
    }

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        # The area is laid out for the first time while it is made.
        self._typewriter = False
        super().__init__(text, placeholder=placeholder, id=id)
        self._check: Check | None = None
        self._wrong: LRUCache[str, Sequence[Span]] = LRUCache(2048)
        self._hits: Mapping[int, Sequence[Span]] = {}
        self._hit: tuple[Location, Location] | None = None
        self._dimmed = False
        self._lit = (0, 0)
        self._styles_kept: dict[str, Style] = {}
        self._strips: LRUCache[Hashable, Strip] = LRUCache(1024)
        self.checked = 0
        """How many lines were checked since the start: what a test counts instead of time."""
        self.drawn = 0
        """How many rows without the cursor were drawn since the start."""

    # What is marked

    @property
    def check(self) -> Check | None:
        """What finds the words that are wrong; None: nothing is marked."""
        return self._check

    @check.setter
    def check(self, check: Check | None) -> None:
        self._check = check
        self._wrong.clear()
        self._strips.clear()
        self._draw_again()

    def show_hits(self, rows: Mapping[int, Sequence[Span]], current: tuple[Location, Location] | None = None) -> None:
        """Marks what a search found.

        Args:
            rows: columns, from and to, by line.
            current: the one that is shown, from and to.
        """
        self._hits, self._hit = rows, current
        self._draw_again()

    @property
    def dimmed(self) -> bool:
        """Whether all but the paragraph of the cursor is dimmed."""
        return self._dimmed

    @dimmed.setter
    def dimmed(self, dimmed: bool) -> None:
        self._dimmed = dimmed
        self._draw_again()

    @property
    def typewriter(self) -> bool:
        """Whether the line of the cursor stays in the middle."""
        return self._typewriter

    @typewriter.setter
    def typewriter(self, typewriter: bool) -> None:
        self._typewriter = typewriter
        if self.is_mounted:
            self._refresh_size()
            self.call_after_refresh(self.scroll_cursor_visible)

    def _draw_again(self) -> None:
        self._line_cache.clear()
        self.refresh()

    # Words that are wrong

    def wrong_in(self, row: int) -> Sequence[Span]:
        """The words of a line that are wrong; none without `check`."""
        if self._check is None:
            return ()
        line = self.document.get_line(row)
        found = self._wrong.get(line)
        if found is None:
            self.checked += 1
            found = self._wrong[line] = () if len(line) > LONGEST_LINE else tuple(self._check(line))
        return found

    def wrong_at(self, location: Location) -> tuple[Location, Location] | None:
        """The wrong word that holds a place or ends there."""
        row, column = location
        return next(
            (((row, start), (row, end)) for start, end in self.wrong_in(row) if start <= column <= end),
            None,
        )

    def word_at(self, location: Location) -> tuple[Location, Location] | None:
        """The run of letters at a place."""
        row, column = location
        line = self.document.get_line(row)
        start = end = min(column, len(line))
        while start > 0 and _in_word(line[start - 1]):
            start -= 1
        while end < len(line) and _in_word(line[end]):
            end += 1
        return ((row, start), (row, end)) if end > start else None

    # Drawing

    def notify_style_update(self) -> None:
        """Textual: the theme changed."""
        super().notify_style_update()
        self._styles_kept.clear()
        self._strips.clear()

    def _part_style(self, name: str) -> Style:
        """What a component class adds to the style of the text."""
        found = self._styles_kept.get(name)
        if found is None:
            rules, whole = self.get_component_styles(name), self.get_component_rich_style(name)
            back = rules.has_rule("background") and rules.background.a > 0
            found = rules.text_style + Style.from_color(
                whole.color if rules.has_rule("color") else None, whole.bgcolor if back else None
            )
            self._styles_kept[name] = found
        return found

    def render_lines(self, crop: Region) -> list[Strip]:
        """Textual: the lines that are seen; which paragraph is lit is told once for all of them."""
        if self._dimmed:
            lines = self.document
            self._lit = paragraph(lines.get_line, lines.line_count, self.cursor_location[0])
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Textual: a row of the window, kept for as long as nothing of it is another."""
        key = self._row_key(y)
        if key is None:
            return super().render_line(y)
        strip = self._strips.get(key)
        if strip is None:
            self.drawn += 1
            strip = self._strips[key] = self._render_line(y)
        return strip

    def _row_key(self, y: int) -> Hashable | None:
        """All that a row looks like by; None where the cursor or a selection stands, and below the text."""
        rows = self.wrapped_document._offset_to_line_info
        offset = y + self.scroll_offset.y
        if not self.soft_wrap or self._matching_bracket_location is not None or offset >= len(rows):
            return None
        number, section = rows[offset]
        low, high = sorted(self.selection)
        if low[0] <= number <= high[0]:
            return None
        dim = self._dimmed and not self._lit[0] <= number <= self._lit[1]
        hit = self._hit if self._hit is not None and self._hit[0][0] <= number <= self._hit[1][0] else None
        hits = tuple(self._hits.get(number, ()))
        return self.document.get_line(number), section, self.size, self.wrap_width, dim, hits, hit and (number, hit)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        line = super().get_line(line_index)
        if self._dimmed and not self._lit[0] <= line_index <= self._lit[1]:
            line.stylize(self._part_style("writing--dim"))
        elif self._check is not None:
            here = self.cursor_location
            for start, end in self.wrong_in(line_index):
                # The word that is being typed is not wrong yet.
                if here != (line_index, end) or not self.has_focus:
                    line.stylize(self._part_style("writing--wrong"), start, end)
        for start, end in self._hits.get(line_index, ()):
            line.stylize(self._part_style("writing--find"), start, end)
        if self._hit is not None and self._hit[0][0] <= line_index <= self._hit[1][0]:
            (first, low), (last, high) = self._hit
            line.stylize(
                self._part_style("writing--found"),
                low if line_index == first else 0,
                high if line_index == last else len(line),
            )
        return line

    # A line that stays in the middle

    def _refresh_size(self) -> None:
        if not self._typewriter or not self.soft_wrap:
            super()._refresh_size()
            return
        # Room below the last line, so that it can stand in the middle.
        self.virtual_size = Size(0, self.wrapped_document.height + self.size.height // 2)
        self._refresh_scrollbars()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Textual: the cursor moved."""
        if not self._typewriter:
            return super().scroll_cursor_visible(center, animate)
        self._recompute_cursor_offset()
        before = self.scroll_offset.y
        top = max(0, self._cursor_offset[1] - self.size.height // 2)
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        return Offset(0, self.scroll_offset.y - before)

    def on_resize(self) -> None:
        """Textual: another height has another middle."""
        if self._typewriter:
            self.call_after_refresh(self.scroll_cursor_visible)


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign in "'\u2019" or "\u0300" <= sign <= "\u036f"
