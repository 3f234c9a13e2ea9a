"""Parts of the lorebook screen: the list of entries, the line that filters it, and work of which the newest counts."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea

from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput
from marginalia_tui.widgets.table import Table


class Newest:
    """Runs a coroutine function, one at a time; whoever asks while it runs has it run once more.

    Args:
        do: lets a coroutine run beside the messages.
        work: what is run.
    """

    def __init__(self, do: Callable[[Coroutine[Any, Any, object]], None], work: Callable[[], Any]) -> None:
        self._do, self._work = do, work
        self._wanted = self._running = False

    def ask(self) -> None:
        """Has it run, now or when the run that is under way is done."""
        self._wanted = True
        if not self._running:
            self._running = True
            self._do(self._run())

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                await self._work()
        finally:
            self._running = False


class FilterLine(Horizontal):
    """The line in which the filter of the list is typed."""

    DEFAULT_CSS = """
    FilterLine {
        height: 1; display: none; background: $panel;
        & #filter-sign { width: auto; color: $accent; text-style: bold; }
        & #filter-words { width: 1fr; background: $panel; }
        &.-open { display: block; }
    }
    """

    @dataclass
    class Changed(Message):
        """Another filter."""

        query: str

    @dataclass
    class Left(Message):
        """Enter: back to the list."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.line = LineInput(id="filter-words")
        """What is typed."""

    def compose(self) -> ComposeResult:
        """The sign and the line."""
        yield Static(" filter ", id="filter-sign", markup=False)
        yield self.line

    def open(self) -> None:
        """Shows it and gives it the focus."""
        self.add_class("-open")
        self.line.select_all()
        self.line.focus()

    def close(self) -> None:
        """Hides and empties it."""
        self.remove_class("-open")
        self.line.content = ""

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A key."""
        event.stop()
        self.post_message(self.Changed(self.line.content))

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter."""
        event.stop()
        self.post_message(self.Left())


class EntryTable(Table):
    """The entries; f filters them, where other lists find."""

    @dataclass
    class FilterWanted(Message):
        """The filter is wanted."""

    def action_find(self) -> None:
        """Tells the screen."""
        self.post_message(self.FilterWanted())
