"""The tab Context: what the model reads with its next request, part by part, and how full the context was."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from marginalia_tui.desk.answer import Words
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.console_tabs import Tab, TabbedScreen
from marginalia_tui.screens.results import AnswerView
from marginalia_tui.widgets.plot import Plot
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.seen import ContextView

LONGEST = 60_000
"""Characters of a part that are shown; its file has all."""
COLUMNS = (
    Column("Part", minimum=6),
    Column("Title", grow=1, minimum=8),
    Column("Tokens", "right"),
    Column("Share", "right", drop=1),
)


class ContextTab(Tab):
    """The parts, the text of the one under the cursor, and a plot in its place."""

    DEFAULT_CSS = """
    ContextTab {
        & #context-head { height: auto; max-height: 3; padding: 0 1; color: $muted; }
        & #context-spread { layout: vertical; height: 1fr; }
        & #context-parts { height: 1fr; padding: 0 1; }
        & #context-side { height: 1fr; border-top: solid $rule; }
        & #context-text { height: 1fr; padding: 0 1; background: $background; }
        & #context-plot { display: none; height: 1fr; padding: 0 1; }
        &.-plot #context-text { display: none; }
        &.-plot #context-plot { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "plot", "plot / text", id="context.plot"),
        Binding("tab", "other", "other side", show=False, id="context.focus"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._view: ContextView | None = None
        self.head = Static("Reading the request", markup=False, id="context-head")
        self.parts = Table(COLUMNS, empty="", id="context-parts")
        """The parts."""
        self.text = AnswerView(id="context-text")
        """The text of the part under the cursor."""
        self.plot = Plot(id="context-plot")

    def compose(self) -> ComposeResult:
        """How much it is, the parts, the text or the plot."""
        yield self.head
        with Container(id="context-spread"):
            yield self.parts
            with Container(id="context-side"):
                yield self.text
                yield self.plot

    def take_focus(self) -> None:
        """The parts."""
        self.parts.focus()

    def text_here(self) -> str:
        """The part under the cursor."""
        here = self.parts.cursor
        return self._view.parts[here].text if self._view is not None and 0 <= here < len(self._view.parts) else ""

    async def read(self, screen: TabbedScreen, desk: "Desk") -> None:
        """The request as it would be now."""
        view = await screen.call(desk.seen.context, self.of_run)
        if not self.is_attached or view == self._view:
            return
        at_end = self._view is None or self.parts.cursor >= len(self._view.parts) - 1
        self._view = view
        total = max(1, view.tokens)
        self.head.update(_head(view))
        self.parts.show(
            [
                Row(str(number), (part.kind, part.title, f"{part.tokens:,}", f"{part.tokens / total:.0%}"))
                for number, part in enumerate(view.parts)
            ]
        )
        if at_end:
            self.parts.cursor = max(0, len(view.parts) - 1)
        self.plot.show(view.plot)
        self._show_text()

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another part."""
        event.stop()
        self._show_text(from_start=True)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: its text is read."""
        event.stop()
        self.remove_class("-plot")
        self.text.focus()

    def _show_text(self, *, from_start: bool = False) -> None:
        if self._view is not None:
            text = self.text_here()
            if len(text) > LONGEST:
                text = f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
            self.text.show([Words(text)], from_start=from_start)

    def action_plot(self) -> None:
        """The plot in place of the text, or the text again."""
        self.toggle_class("-plot")
        if self.has_class("-plot"):
            self.parts.focus()

    def action_other(self) -> None:
        """Between the parts and the text."""
        (self.parts if self.text.has_focus or self.has_class("-plot") else self.text).focus()


def _head(view: "ContextView") -> str:
    cap = f" of {view.cap:,} ({view.tokens / view.cap:.0%})" if view.cap else ""
    kinds = ", ".join(f"{kind} {tokens:,}" for kind, tokens in view.kinds)
    problem = f"\n{visible_line(view.problem)}" if view.problem else ""
    return f"The next request: about {view.tokens:,} tokens{cap}: {kinds}{problem}"
