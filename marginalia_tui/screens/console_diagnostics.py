"""The tab Diagnostics: what the run did, as a plot over figures and tables."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.console_tabs import Tab, TabbedScreen
from marginalia_tui.screens.results import AnswerView
from marginalia_tui.widgets.plot import Plot

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.seen import DiagnosisView


class DiagnosticsTab(Tab):
    """The plot and the report below it."""

    DEFAULT_CSS = """
    DiagnosticsTab {
        & #diagnosis-plot { height: 8; padding: 0 1; border-bottom: solid $rule; }
        & #diagnosis-report { height: 1fr; padding: 0 1; background: $background; }
        &.-bare #diagnosis-plot { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "plot", "other plot", id="diagnostics.plot"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._view: DiagnosisView | None = None
        self._shown = 0
        self.plot = Plot(id="diagnosis-plot")
        self.report = AnswerView(id="diagnosis-report")
        """The figures."""

    def compose(self) -> ComposeResult:
        """The plot, the figures."""
        yield self.plot
        yield self.report

    def take_focus(self) -> None:
        """The figures."""
        self.report.focus()

    async def read(self, screen: TabbedScreen, desk: "Desk") -> None:
        """Analyses the rows anew."""
        view = await screen.call(desk.seen.diagnosis, self.of_run)
        if self.is_attached:
            self._view = view
            self.report.show(view.blocks)
            self._show_plot()

    def action_plot(self) -> None:
        """The next plot; after the last one none, so that the figures have the room."""
        if self._view is not None:
            self._shown = (self._shown + 1) % (len(self._view.plots) + 1)
            self._show_plot()

    def _show_plot(self) -> None:
        view = self._view
        if view is not None:
            bare = self._shown == len(view.plots)
            self.set_class(bare, "-bare")
            if not bare:
                self.plot.show(view.plots[self._shown])
