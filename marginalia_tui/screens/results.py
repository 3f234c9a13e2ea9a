"""The answer of a command in a panel that scrolls: sentences, facts, tables, prose."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip

from marginalia_tui.desk.answer import Block, Facts, Rows, Shown, Words
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.screens.host import Host
from marginalia_tui.widgets.dialogs import BOX, words
from marginalia_tui.widgets.lines import LineView
from marginalia_tui.widgets.table import Column, Row, widths
from marginalia_tui.widgets.text import cells, crop, fit, wrap

MEASURE = 90
"""The widest line of prose, in cells."""


class AnswerView(LineView):
    """The blocks of an answer as lines."""

    DEFAULT_CSS = """
    AnswerView {
        background: $panel;
        & > .answer--label { color: $muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"answer--label"}
    ALLOW_SELECT = False

    def __init__(self, blocks: Sequence[Block] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.blocks = blocks
        self._lines: list[list[tuple[str, str]]] = []

    def show(self, blocks: Sequence[Block], *, from_start: bool = False) -> None:
        """Shows other blocks; where the reader stands is kept, if they do not begin anew."""
        if blocks != self.blocks:
            self.blocks = blocks
            if self.is_attached:
                self._lay_out()
        if from_start:
            self.action_go_home()

    def on_resize(self, event: events.Resize) -> None:
        """Lays the blocks out for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        self._lines = lay_out(self.blocks, max(10, self.room.width))
        self.set_height(len(self._lines))
        self.redraw()

    def make_strip(self, line: int, width: int) -> Strip:
        """A line."""
        return self.finish(
            [Segment(text, self.style(name) if name else None) for text, name in self._lines[line]], width
        )


def lay_out(blocks: Sequence[Block], width: int) -> list[list[tuple[str, str]]]:
    """The lines of blocks: each a list of texts with the name of a style."""
    lines: list[list[tuple[str, str]]] = []
    for block in blocks:
        if lines:
            lines.append([])
        match block:
            case Facts():
                lines.extend(_facts(block, width))
            case Rows():
                lines.extend(_table(block, width))
            case Words():
                text = visible(block.text)
                lines.extend([(text[start:end], "")] for start, end in wrap(text, min(width, MEASURE)))
    return lines


def _facts(block: Facts, width: int) -> list[list[tuple[str, str]]]:
    longest = min(max(cells(label) for label, _ in block.pairs), width // 3)
    lines: list[list[tuple[str, str]]] = []
    for label, value in block.pairs:
        text = visible(value)
        for number, (start, end) in enumerate(wrap(text, max(8, width - longest - 2))):
            head = fit(label, longest) if number == 0 else " " * longest
            lines.append([(head + "  ", "answer--label"), (text[start:end], "")])
    return lines


def _table(block: Rows, width: int) -> list[list[tuple[str, str]]]:
    columns = [
        Column(title, "right") if numeric else Column(title, grow=1, minimum=6, drop=number)
        for number, (title, numeric) in enumerate(zip(block.columns, block.numeric, strict=True))
    ]
    rows = [Row(str(number), tuple(visible_line(cell) for cell in row)) for number, row in enumerate(block.rows)]
    sizes = [
        max(cells(cell) for cell in column) for column in zip(block.columns, *(row.cells for row in rows), strict=True)
    ]
    if sum(sizes) + len(sizes) - 1 > width:
        sizes = widths(columns, rows, width)

    def line(row: Sequence[str]) -> str:
        shown = zip(row, sizes, columns, strict=True)
        return crop(" ".join(fit(cell, size, column.align) for cell, size, column in shown if size), width)

    head = [[(fit(block.label, width), "answer--label")], [(line(block.columns), "answer--label")]]
    return [*head, *([(line(row.cells), "")] for row in rows)]


class ResultScreen(ModalScreen[None]):
    """The panel.

    Args:
        shown: the answer.
    """

    DEFAULT_CSS = f"""
    ResultScreen {{
        {BOX}
        align: center bottom;
        & .dialog--box {{ width: 100%; height: auto; max-height: 80%; }}
        & AnswerView {{ height: auto; max-height: 100%; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close", id="result.close"),
        Binding("c", "copy", "Copy", id="result.copy"),
        Binding("slash,ctrl+o", "bar", "Another command", show=False, id="result.bar"),
    ]

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self.shown = shown

    def compose(self) -> ComposeResult:
        """The answer and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = fit(self.shown.title, 60).rstrip()
            view = AnswerView(self.shown.blocks)
            yield view
            yield words("Esc close   c copy   / another command", "dialog--keys")

    def on_mount(self) -> None:
        """The answer has the focus; its height is what it needs, as far as there is room."""
        view = self.query_one(AnswerView)
        view.focus()
        self._fit()

    def on_resize(self) -> None:
        """The same in another size."""
        self._fit()

    def _fit(self) -> None:
        room = max(3, self.size.height * 4 // 5 - 3)
        lines = len(lay_out(self.shown.blocks, max(10, self.size.width - 6)))
        self.query_one(AnswerView).styles.height = max(1, min(room, lines))

    def action_close(self) -> None:
        """Dismisses."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Copies the answer as plain text."""
        self._host.copy(self.shown.text)

    def action_bar(self) -> None:
        """Closes and opens the bar."""
        host = self._host
        self.dismiss(None)
        host.call_after_refresh(host.open_bar)

    @property
    def _host(self) -> Host:
        host = self.app
        assert isinstance(host, Host)
        return host
