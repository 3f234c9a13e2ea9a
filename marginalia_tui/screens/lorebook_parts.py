"""Parts of the lorebook screen: the list of entries, the line that filters it, and work of which the newest counts."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from textual.message import Message
from textual.widgets import TextArea

from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.table import Table
from marginalia_tui.widgets.wordsline import WordsLine


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


class FilterLine(WordsLine):
    """The line in which the filter of the list is typed."""

    @dataclass
    class Changed(Message):
        """Another filter."""

        query: str

    @dataclass
    class Left(Message):
        """Enter: back to the list."""

    def __init__(self, id: str) -> None:
        super().__init__(" filter ", id=id)

    def close(self) -> None:
        """Hides and empties it."""
        super().close()
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
