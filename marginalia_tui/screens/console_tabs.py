"""The tabs of the console: what is seen of a run beside its transcript, one at a time.

A tab is made when it is first looked at. It reads on a thread, when it is opened and, while it is seen, a while after
the run changed: a run that works commits many times a second, and a tab reads all of its rows.
"""

import time
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.text import cells

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.screens.outside import Kind

TRANSCRIPT = "transcript"
TABS = {TRANSCRIPT: "Transcript", "context": "Context", "diagnostics": "Diagnostics", "findings": "Findings"}
"""The tabs by name, in their order."""
EVERY_SECONDS = 2.0
"""How long a tab waits, at least, before it reads a run again that goes on."""
SHARE = 10
"""It also waits so many times as long as it read: the run has most of the time of the machine."""


class TabLine(Widget):
    """One line with the names of the tabs."""

    DEFAULT_CSS = """
    TabLine {
        height: 1; background: $background; color: $muted;
        & > .tab--name { color: $muted; }
        & > .tab--here { color: $accent; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab--name", "tab--here"}

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.here = TRANSCRIPT

    def mark(self, name: str) -> None:
        """Another tab is seen."""
        self.here = name
        self.refresh()

    def _pieces(self) -> list[tuple[str, str]]:
        return [(f"[{title}]" if name == self.here else f" {title} ", name) for name, title in TABS.items()]

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        segments = [Segment(" ", self.rich_style)]
        for text, name in self._pieces():
            kind = "here" if name == self.here else "name"
            segments += [Segment(text, self.get_component_rich_style(f"tab--{kind}")), Segment(" ", self.rich_style)]
        screen = self.screen
        if isinstance(screen, TabbedScreen) and (key := screen.host.key_of(TabbedScreen, "console.tab")):
            segments.append(Segment(f"  {key} other tab", self.get_component_rich_style("tab--name")))
        width = self.size.width
        return Strip(segments).extend_cell_length(width, self.rich_style).crop(0, width)

    def on_click(self, event: events.Click) -> None:
        """A click on a name goes to its tab."""
        place = 1
        for text, name in self._pieces():
            if place <= event.x < place + cells(text):
                self.post_message(self.Chosen(name))
                return
            place += cells(text) + 1


class Tab(Container):
    """The body of a tab. A subclass gives `read` and says what has the focus.

    Args:
        run: the uuid of the run.
    """

    DEFAULT_CSS = "Tab { height: 1fr; display: none; &.-seen { display: block; } }"

    def __init__(self, run: str) -> None:
        super().__init__()
        self.of_run = run
        self.is_old = True
        """Whether the run went on since it was read."""
        self.is_reading = False
        self.rests_until = 0.0

    async def read(self, screen: "TabbedScreen", desk: "Desk") -> None:
        """Reads by `screen.call` and shows it."""
        raise NotImplementedError

    def take_focus(self) -> None:
        """What is worked with gets the focus."""
        raise NotImplementedError

    def text_here(self) -> str:
        """What is looked at; empty: all that the tab shows."""
        return ""


class TabbedScreen(BaseScreen):
    """A screen of one run with tabs; the first of them is its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "tab(1)", "other tab", show=False, id="console.tab"),
        Binding("O", "tab(-1)", "tab before", show=False, id="console.tab_before"),
        Binding("e", "export", "as a file", show=False, id="console.export"),
        Binding("C", "copy", "copy", show=False, id="console.copy"),
        Binding("V", "outside('pager')", "in the pager", show=False, id="console.pager"),
        Binding("E", "outside('editor')", "in the editor", show=False, id="console.editor"),
    ]
    run: str

    def __init__(self) -> None:
        super().__init__()
        self.tab = TRANSCRIPT
        """The tab that is seen."""
        self.tab_line = TabLine(id="tabs")
        self._tabs: dict[str, Tab] = {}

    def on_mount(self) -> None:
        """Looks now and then whether the run went on."""
        super().on_mount()
        self.set_interval(EVERY_SECONDS, self._refresh_tab)

    def first_tab_focus(self) -> None:
        """The first tab is seen again."""
        raise NotImplementedError

    def first_tab_text(self) -> str:
        """What is looked at in the first tab."""
        raise NotImplementedError

    def before_tabs(self) -> Widget:
        """The widget before which tabs are put."""
        raise NotImplementedError

    def show_tab(self, name: str, *, focus: bool = True) -> None:
        """Goes to a tab and remembers it."""
        if name == self.tab:
            return
        if (left := self._tabs.get(self.tab)) is not None:
            left.remove_class("-seen")
        self.tab = name
        self.tab_line.mark(name)
        self.set_class(name != TRANSCRIPT, "-looking")
        if name == TRANSCRIPT:
            self.first_tab_focus()
        else:
            self.do(self._open_tab(name, focus=focus))
        self.refresh_bindings()
        if (desk := self.host.desk) is not None:
            self.host.crew.start(lambda: desk.views.keep(console_tab=name))

    async def _open_tab(self, name: str, *, focus: bool) -> None:
        found = self._tabs.get(name)
        if found is None:
            found = self._tabs[name] = _make(name, self.run)
            await self.mount(found, before=self.before_tabs())
        if self.tab == name:
            found.add_class("-seen")
            if focus:
                found.take_focus()
            await self.read_tab()

    async def read_tab(self) -> None:
        """Reads the tab that is seen, unless it is being read."""
        tab, desk = self._tabs.get(self.tab), self.host.desk
        if tab is None or desk is None:
            return
        if tab.is_reading:
            tab.is_old = True
            return
        tab.is_reading, tab.is_old = True, False
        began = time.monotonic()
        try:
            await tab.read(self, desk)
        finally:
            tab.is_reading = False
            ended = time.monotonic()
            tab.rests_until = ended + SHARE * (ended - began)

    def tabs_are_old(self) -> None:
        """The run went on: the tab that is seen reads it again before long."""
        for tab in self._tabs.values():
            tab.is_old = True

    def _refresh_tab(self) -> None:
        tab = self._tabs.get(self.tab)
        if tab is not None and tab.is_old and self.is_current and time.monotonic() >= tab.rests_until:
            self.do(self.read_tab())

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        """A tab was clicked."""
        event.stop()
        self.show_tab(event.name)

    def action_tab(self, step: int) -> None:
        """Goes to the next tab, or to the one before."""
        names = list(TABS)
        self.show_tab(names[(names.index(self.tab) + step) % len(names)])

    async def _text_here(self) -> str:
        """What is looked at: a row, a part, a finding; else all that the tab shows."""
        tab = self._tabs.get(self.tab)
        text = self.first_tab_text() if tab is None else tab.text_here()
        return text or (await self.call(self.desk.seen.as_file, self.run, self.tab))[1]

    def action_copy(self) -> None:
        """Copies what is looked at."""
        self.do(self._copy())

    async def _copy(self) -> None:
        self.host.copy(await self._text_here())

    def action_outside(self, kind: "Kind") -> None:
        """Opens what is looked at in the author's pager or editor."""
        self.do(self._open_outside(kind))

    async def _open_outside(self, kind: "Kind") -> None:
        import os

        from textual.app import SuspendNotSupported

        from marginalia_tui.screens.outside import open_outside, program_of

        text, program = await self._text_here(), program_of(kind, os.environ)
        try:
            with self.app.suspend():
                open_outside(text, program)
        except SuspendNotSupported:
            self.host.tell("This terminal can't be lent to another program.")

    def action_export(self) -> None:
        """Writes what the tab shows, whole, to a file."""
        self.do(self._export(self.tab))

    async def _export(self, tab: str) -> None:
        from pathlib import Path

        from marginalia_tui.screens.saving import write_new
        from marginalia_tui.widgets.filepicker import FilePicker

        name, text = await self.call(self.desk.seen.as_file, self.run, tab)
        path = await self.host.ask(FilePicker("Save as Markdown", Path.cwd(), mode="save", name=f"{name}.md"))
        if path is not None:
            await self.call(write_new, path, text)
            self.host.tell(f"Saved: {path}")


def _make(name: str, run: str) -> Tab:
    from marginalia_tui.screens.console_context import ContextTab
    from marginalia_tui.screens.console_diagnostics import DiagnosticsTab
    from marginalia_tui.screens.console_findings import FindingsTab

    made: dict[str, type[Tab]] = {"context": ContextTab, "diagnostics": DiagnosticsTab, "findings": FindingsTab}
    return made[name](run)
