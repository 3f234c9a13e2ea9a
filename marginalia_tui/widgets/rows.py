"""The base of lists: one line for each row, a cursor, and find by typing.

All rows are there at once and none is a widget: 20,000 of them cost what is seen.
"""

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.lines import LineView
from marginalia_tui.widgets.text import fit


class RowView(LineView):
    """A list with a cursor row.

    A subclass gives `row_count`, `row_key`, `row_words` (what find looks at) and `row_segments`. Keys: up and
    down (or k, j), page up and down, home and end, Enter selects, f finds by typing (Enter or Esc ends it, down
    goes to the next match), digits go to a row.
    """

    DEFAULT_CSS = """
    RowView {
        & > .rows--cursor { background: $cursor-background; color: $cursor-foreground; text-style: bold; }
        & > .rows--cursor-blurred { background: $cursor-background; }
        & > .rows--find { color: $accent; text-style: bold; }
        & > .rows--empty { color: $muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--cursor-blurred", "rows--find", "rows--empty"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Open", show=False, id="rows.select"),
        Binding("f", "find", "Find", show=False, id="rows.find"),
    ]
    ALLOW_SELECT = False

    cursor: reactive[int] = reactive(0, init=False)
    """The row that keys act on; 0 when there is none."""

    @dataclass
    class Highlighted(Message):
        """The cursor stands on another row."""

        view: "RowView"
        index: int
        key: str

        @property
        def control(self) -> "RowView":
            """The list."""
            return self.view

    @dataclass
    class Selected(Message):
        """Enter or a double click on a row."""

        view: "RowView"
        index: int
        key: str

        @property
        def control(self) -> "RowView":
            """The list."""
            return self.view

    def __init__(self, *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        """Makes a list.

        Args:
            empty: what an empty list says: what to do first, with the key.
            id: of the widget.
            classes: of the widget.
        """
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self.enter = ""
        """What Enter does with a row, for the line of keys; empty: it is not told there."""
        self.typed: str | None = None
        """What is being typed to find a row; None when nothing is."""
        self._number = ""
        self._number_at = 0.0
        self._told: tuple[int, str] | None = None

    # What a subclass gives

    def row_count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row_key(self, index: int) -> str:
        """The key of a row."""
        raise NotImplementedError

    def row_words(self, index: int) -> str:
        """What find looks at."""
        raise NotImplementedError

    def row_segments(self, index: int, width: int) -> list[Segment]:
        """The segments of a row."""
        raise NotImplementedError

    # Content

    def rows_changed(self, *, key: str | None = None) -> None:
        """Other rows: the cursor goes to `key`, or to the row it stood on when that is None or gone."""
        count = self.row_count()
        self.set_height(count)
        target = self.cursor
        if key is not None:
            target = next((index for index in range(count) if self.row_key(index) == key), target)
        self.set_reactive(RowView.cursor, max(0, min(target, count - 1)))
        self.redraw()
        self._tell()
        self.call_after_refresh(self._reveal)

    @property
    def current_key(self) -> str | None:
        """The key of the cursor row; None in an empty list."""
        return self.row_key(self.cursor) if self.row_count() else None

    def _tell(self) -> None:
        key = self.current_key
        now = None if key is None else (self.cursor, key)
        if now is not None and now != self._told:
            self.post_message(self.Highlighted(self, *now))
        self._told = now

    # Cursor

    def validate_cursor(self, index: int) -> int:
        """Keeps the cursor inside."""
        return max(0, min(index, self.row_count() - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Draws the two rows again and tells."""
        self.refresh_row(old)
        self.refresh_row(new)
        self._reveal()
        self._tell()

    def _reveal(self) -> None:
        if self.cursor < self.top:
            self.go_to(self.cursor)
        elif self.cursor >= self.top + self.page:
            self.go_to(self.cursor - self.page + 1)

    def action_lines(self, count: int) -> None:
        """Moves the cursor."""
        self.cursor += count

    def action_pages(self, count: int) -> None:
        """Moves the cursor by pages."""
        self.cursor += count * max(1, self.page - 1)

    def action_go_home(self) -> None:
        """Moves the cursor to the first row."""
        self.cursor = 0

    def action_go_end(self) -> None:
        """Moves the cursor to the last row."""
        self.cursor = self.row_count() - 1

    def action_select(self) -> None:
        """Posts `Selected` for the cursor row."""
        if (key := self.current_key) is not None:
            self.post_message(self.Selected(self, self.cursor, key))

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.go_to(self.top + 3)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.go_to(self.top - 3)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one selects."""
        index = self.top + event.y - self.fixed_lines
        if event.y >= self.fixed_lines and index < self.row_count():
            same = index == self.cursor
            self.cursor = index
            if event.chain == 2 and same:
                self.action_select()

    # Find by typing

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Textual: while a query is typed no letter belongs to a binding."""
        return self.typed is not None and bool(character) and key not in ("enter", "escape", "down", "up")

    def action_find(self) -> None:
        """Begins to find by typing."""
        self.typed = ""
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Digits go to a row; while a query is typed, letters belong to it."""
        if self.typed is None:
            if event.character and event.character.isdecimal():
                event.stop()
                self._go_to_number(event.character, event.time)
            return
        if event.key in ("escape", "enter"):
            self.typed = None
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.key in ("down", "up"):
            self._find_from(self.cursor + (1 if event.key == "down" else -1), -1 if event.key == "up" else 1)
        elif event.is_printable and event.character:
            self.typed += event.character
            self._find_from(self.cursor, 1)
        else:
            return
        event.stop()
        event.prevent_default()
        self.refresh()

    def _go_to_number(self, digit: str, at: float) -> None:
        self._number = digit if at - self._number_at > 1.0 else self._number + digit
        self._number_at = at
        self.cursor = self.row_numbered(int(self._number[-9:]))

    def row_numbered(self, number: int) -> int:
        """The row that a number names, from 1."""
        return number - 1

    def _find_from(self, start: int, step: int) -> None:
        if self.typed:
            found = self.find(self.typed, start, step)
            if found is not None:
                self.cursor = found

    def find(self, query: str, start: int = 0, step: int = 1) -> int | None:
        """The first row from `start` on, round the end, whose words hold the query whatever their case."""
        wanted = query.casefold()
        count = self.row_count()
        for distance in range(count):
            index = (start + step * distance) % count
            if wanted in self.row_words(index).casefold():
                return index
        return None

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Textual: the words of an empty list, and the query on the last row while one is typed."""
        width = self.room.width
        if self.typed is not None and y == self.room.height - 1:
            text = fit(f"find: {visible_line(self.typed)}_", width)
            return self.finish([Segment(text, self.style("rows--find"))], width)
        if not self.row_count() and y >= self.fixed_lines:
            lines = self.empty.split("\n")
            text = lines[y - self.fixed_lines] if y - self.fixed_lines < len(lines) else ""
            return self.finish([Segment(fit(" " + text, width), self.style("rows--empty"))], width)
        return super().render_line(y)

    def make_strip(self, line: int, width: int) -> Strip:
        """The strip of a row, with the cursor as `>` and by its background."""
        here = line == self.cursor
        whole = Style.null()
        if here:
            whole = self.style("rows--cursor" if self.has_focus else "rows--cursor-blurred")
        sign = Segment(">" if here else " ")
        body = [sign, *self.row_segments(line, width - 1)]
        if here and self.has_focus:
            body = [Segment(text, None if style is None else style.without_color) for text, style, _ in body]
        return self.finish(body, width, whole)

    def on_focus(self) -> None:
        """The cursor row looks different."""
        self.redraw()

    def on_blur(self) -> None:
        """The cursor row looks different, and nothing is typed any more."""
        self.typed = None
        self.redraw()
