"""What is done with the rows of a transcript: finding words in them, and going to the part that a call changed."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from marginalia_tui.screens.console_tabs import TRANSCRIPT, TabbedScreen
from marginalia_tui.screens.finding import FindLine
from marginalia_tui.widgets.transcript import Stop, Transcript

if TYPE_CHECKING:
    from marginalia_tui.desk.transcripts import RunSource

NO_CALL = "Go to a call with n or p first."


class RowScreen(TabbedScreen):
    """A tabbed screen whose first tab is a transcript."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "search", "search", show=False, id="console.search"),
        Binding("full_stop", "hit(1)", "next hit", show=False, id="console.next_hit"),
        Binding("comma", "hit(-1)", "hit before", show=False, id="console.previous_hit"),
        Binding("J", "jump", "its part", show=False, id="console.jump"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.source: RunSource | None = None
        """Where the rows come from; None until they were read."""
        self.transcript = Transcript(empty="Reading the run", id="transcript")
        """The rows."""
        self.find_line = FindLine(id="find")
        self._query = ""
        self._hits: list[Stop] = []
        self._at = 0

    def first_tab_focus(self) -> None:
        """The rows."""
        self.transcript.focus()

    def first_tab_text(self) -> str:
        """The row or the call under the cursor; without one, the newest row."""
        transcript = self.transcript
        if self.source is None or not self.source.count():
            return ""
        stop = transcript.cursor or Stop(self.source.count() - 1)
        entry = transcript.entry(stop.row)
        if stop.call is None:
            return entry.text or entry.reasoning or "\n".join(f"{call.name} {call.arguments}" for call in entry.calls)
        call = entry.calls[stop.call]
        return f"{call.name} {call.arguments}\n\n{call.result}"

    # Searching

    def action_search(self) -> None:
        """Opens the line in which words are typed."""
        self.find_line.open()

    def on_find_line_wanted(self, event: FindLine.Wanted) -> None:
        """Enter: searches, or goes on when it is the same search."""
        event.stop()
        if event.query == self._query and self._hits:
            self.action_hit(1)
        else:
            self.do(self._search(event.query))

    def on_find_line_step(self, event: FindLine.Step) -> None:
        """Up and down in the line."""
        event.stop()
        self.action_hit(event.step)

    def on_find_line_closed(self, event: FindLine.Closed) -> None:
        """Esc in the line."""
        event.stop()
        self.end_search()

    @property
    def searches(self) -> bool:
        """Whether words are sought."""
        return bool(self._query) or self.find_line.has_class("-open")

    def end_search(self) -> None:
        """Nothing is sought any more."""
        self._query, self._hits = "", []
        self.find_line.close()
        self.transcript.seek("")
        self.transcript.focus()

    async def _search(self, query: str) -> None:
        source = self.source
        if source is None:
            return
        self._query = query
        self.find_line.say("searching")
        found = await self.call(source.find, query)
        if self._query != query or not self.is_attached:
            return
        self._hits = [Stop(hit.row, hit.call) for hit in found]
        self.transcript.seek(query)
        here = self.transcript.cursor
        following = (at for at, stop in enumerate(self._hits) if here is not None and stop.row >= here.row)
        self._at = next(following, len(self._hits) - 1)
        self._show_hit()

    def action_hit(self, step: int) -> None:
        """The next place that has the words, or the one before, round the end."""
        if self._hits:
            self._at = (self._at + step) % len(self._hits)
            self._show_hit()

    def _show_hit(self) -> None:
        if not self._hits:
            self.find_line.say("not in this run")
            return
        keys = [self.host.key_of(RowScreen, f"console.{name}") for name in ("next_hit", "previous_hit")]
        ways = f"   {keys[0]} next  {keys[1]} before" if all(keys) else ""
        self.find_line.say(f"{self._at + 1:,} of {len(self._hits):,}{ways}")
        self.transcript.stand_on(self._hits[self._at])
        if self.find_line.line.has_focus:
            self.transcript.focus()

    # The part that a call changed

    def action_jump(self) -> None:
        """Goes to the part that the call under the cursor changed."""
        self.do(self._jump())

    async def _jump(self) -> None:
        from marginalia_tui.screens.book import BookScreen

        stop = self.transcript.cursor
        if self.tab != TRANSCRIPT or stop is None or stop.call is None:
            self.host.tell(NO_CALL)
            return
        row = self.transcript.entry(stop.row).id
        found = await self.call(self.desk.seen.changed_part, self.run, row, stop.call)
        if found is None:
            self.host.tell("This call changed no part.")
        elif not found.in_book:
            self.host.tell("The part is in the copy of the run only: the review shows it.")
        else:
            self.host.opened = found.book
            await self.host.switch_mode("book")
            screen = self.host.screen
            if isinstance(screen, BookScreen):
                await screen.go_to(found.part)

    def before_tabs(self) -> Widget:
        """Tabs stand in the place of the rows."""
        return self.find_line
