"""The base of every view that draws its lines itself.

A `LineView` knows how many lines it has and makes the strip of one when it is looked at; strips are kept until
something changes. It scrolls by keys and wheel without animation, and text can be selected with the mouse:
segments carry (place, row) offsets, where row and place are whatever the subclass counts in.
"""

from collections.abc import Hashable, Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.widgets.text import cells

WHEEL = 3
"""Lines for one notch of the wheel."""


class LineView(ScrollView, can_focus=True):
    """A scrolling view whose lines are made on demand.

    A subclass gives `make_strip`, calls `set_height` when the number of lines changes and `redraw` when what
    they show does.
    """

    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .lines--muted { color: $muted; }
        & > .lines--selection { background: $selection-background; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--muted", "lines--selection"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "lines(-1)", "Up", show=False, id="view.up"),
        Binding("down,j", "lines(1)", "Down", show=False, id="view.down"),
        Binding("pageup", "pages(-1)", "Page up", show=False, id="view.page_up"),
        Binding("pagedown,space", "pages(1)", "Page down", show=False, id="view.page_down"),
        Binding("home", "go_home", "Start", show=False, id="view.home"),
        Binding("end", "go_end", "End", show=False, id="view.end"),
    ]
    ALLOW_SELECT = True

    fixed_lines = 0
    """Lines at the top that do not scroll (`make_fixed` draws them)."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[Hashable, Strip] = LRUCache(1024)
        self._pieces: dict[tuple[str, ...], Style] = {}
        self._base: Style | None = None
        self.strips_made = 0
        """How many strips were drawn since the start: what a test counts instead of time."""

    # What a subclass gives

    def make_strip(self, line: int, width: int) -> Strip:
        """The strip of a line that exists, `width` cells wide."""
        raise NotImplementedError

    def make_fixed(self, line: int, width: int) -> Strip:
        """The strip of a line that does not scroll."""
        raise NotImplementedError

    # Styles

    def style(self, *names: str) -> Style:
        """What component classes add to the style of the text, the later over the earlier."""
        found = self._pieces.get(names)
        if found is None:
            found = Style.null()
            for name in names:
                found += self._piece(name)
            self._pieces[names] = found
        return found

    def _piece(self, name: str) -> Style:
        styles = self.get_component_styles(name)
        whole = self.get_component_rich_style(name)
        has_color = styles.has_rule("color") or styles.has_rule("auto_color")
        has_background = styles.has_rule("background") and styles.background.a > 0
        return styles.text_style + Style.from_color(
            whole.color if has_color else None, whole.bgcolor if has_background else None
        )

    def notify_style_update(self) -> None:
        """Textual: the theme, the focus or the rules changed."""
        super().notify_style_update()
        self._pieces.clear()
        self._base = None
        self._strips.clear()

    # Lines

    def redraw(self) -> None:
        """Forgets every strip: something that they show has changed."""
        self._strips.clear()
        self.refresh()

    def forget_lines(self, first: int) -> None:
        """Forgets the strips of a line and of those below; what stands above is drawn as it was."""
        for key in list(self._strips.keys()):
            if isinstance(key, tuple) and isinstance(key[0], int) and key[0] >= first:
                self._strips.discard(key)

    def set_height(self, lines: int) -> None:
        """Tells how many lines there are; keeps the position when it still exists."""
        size = Size(self.room.width, lines + self.fixed_lines)
        if size != self.virtual_size:
            # The reactive asks for a layout of the whole screen, which a view of a fixed size does not need.
            self.set_reactive(Widget.virtual_size, size)
            if self.is_attached:
                self._scroll_update(size)
            self.refresh()

    @property
    def room(self) -> Size:
        """The cells that lines are drawn in: all but borders, padding and the scrollbar."""
        width, height = self.content_size
        return Size(max(0, width - self.scrollbar_size_vertical), height)

    @property
    def page(self) -> int:
        """Lines that are seen at once."""
        return max(1, self.room.height - self.fixed_lines)

    @property
    def top(self) -> int:
        """The first line that is seen."""
        return self.scroll_offset.y

    def render_line(self, y: int) -> Strip:
        """Textual: the strip of a row of the window."""
        width = self.room.width
        if y < self.fixed_lines:
            return self._kept(("fixed", y, width), y, width)
        line = self.top + y - self.fixed_lines
        if line >= self.virtual_size.height - self.fixed_lines:
            return Strip.blank(width, self.rich_style)
        return self._kept((line, width), line, width)

    def _kept(self, key: tuple[Hashable, ...], line: int, width: int) -> Strip:
        strip = self._strips.get(key)
        if strip is None:
            self.strips_made += 1
            strip = self.make_fixed(line, width) if key[0] == "fixed" else self.make_strip(line, width)
            self._strips[key] = strip
        return strip

    def finish(self, segments: Iterable[Segment], width: int, style: Style | None = None) -> Strip:
        """A strip of exactly `width` cells over the style of the view."""
        if self._base is None:
            self._base = self.rich_style
        base = self._base if style is None else self._base + style
        parts = [Segment(text, base + own if own else base) for text, own, _ in segments if text]
        used = sum(cells(part.text) for part in parts)
        if used > width:
            return Strip(parts, used).crop(0, width)
        if used < width:
            parts.append(Segment(" " * (width - used), base))
        return Strip(parts, width)

    # Movement

    def go_to(self, line: int) -> None:
        """Makes a line the first that is seen."""
        self.scroll_to(y=line, animate=False, force=True)

    def action_lines(self, count: int) -> None:
        """Scrolls by lines."""
        self.go_to(self.top + count)

    def action_pages(self, count: int) -> None:
        """Scrolls by pages, one line of which stays."""
        self.go_to(self.top + count * max(1, self.page - 1))

    def action_go_home(self) -> None:
        """Goes to the first line."""
        self.go_to(0)

    def action_go_end(self) -> None:
        """Goes to the last line."""
        self.go_to(self.max_scroll_y)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.action_lines(WHEEL)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.action_lines(-WHEEL)

    # Selection

    def selection_updated(self, selection: Selection | None) -> None:
        """Textual: another passage is selected."""
        self.redraw()

    def refresh_row(self, line: int) -> None:
        """Draws one line again."""
        width = self.room.width
        self._strips.discard((line, width))
        self.refresh(Region(0, line - self.top + self.fixed_lines, width, 1))


def offset_style(place: int, row: int) -> Style:
    """What a segment carries so that the mouse knows its place in the text."""
    return Style.from_meta({"offset": (place, row)})
