"""The way of a live answer onto the screen, and the moment at which its row takes its place.

An answer that is being written has the place of the row that it will be. It is shown as long as that row is not
there; when the row is read, the live block goes in the same step, so that nothing is missing or said twice. A reader
who scrolled into the answer stays at the words they read.
"""

from typing import TYPE_CHECKING

from marginalia_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from marginalia_tui.agent.live import LiveAnswer
    from marginalia_tui.desk.runs import RunsDesk
    from marginalia_tui.desk.transcripts import RunSource

SNIPPET = 48
"""Characters by which a line of the answer is found again."""


class LiveFeed:
    """Feeds a transcript with the live answer of one run.

    Args:
        transcript: where it is shown.
        run: the uuid of the run.
        runs: where it comes from; what is asked of it is quick.
        source: the rows that are known.
    """

    def __init__(self, transcript: Transcript, run: str, runs: "RunsDesk", source: "RunSource") -> None:
        self._transcript = transcript
        self._run = run
        self._runs = runs
        self._source = source
        self._number = 0
        """The answer that is shown, by its number; also the last one that was."""
        self._version = -1
        self._totals = (0, 0)
        """Characters of text and reasoning that were shown of it."""
        self._rows = source.count()
        """Entries that the transcript shows."""
        self.answer: LiveAnswer | None = None
        """The answer as it was last looked at; None when none is being written."""

    def fetch(self) -> bool:
        """Shows what has arrived; answers whether the rows must be read, since the answer is one by now."""
        found = self._runs.live(self._run, self._version)
        if found is None:
            if self._runs.is_live(self._run):
                return False
            self.answer = None
            return self._transcript.is_live
        self.answer = found
        if self._source.has(found.place):
            return self._transcript.is_live
        if found.number != self._number:
            if self._transcript.is_live:
                return True
            self._number, self._totals = found.number, (0, 0)
        self._feed(found)
        return False

    def _feed(self, answer: "LiveAnswer") -> None:
        text, reasoning = self._totals
        self._version = answer.version
        self._totals = (answer.text_total, answer.reasoning_total)
        self._transcript.live(
            reasoning=_newest(answer.reasoning, answer.reasoning_total - reasoning),
            text=_newest(answer.text, answer.text_total - text),
        )
        self._transcript.flush()

    def settle(self, first: int | None) -> None:
        """After the rows were read: shows them, and takes the live answer away that is one of them or was given up.

        Args:
            first: the first entry that changed; None when none did.
        """
        answer = self._runs.live(self._run, -1)
        gone = answer is None or answer.number != self._number or self._source.has(answer.place)
        transcript = self._transcript
        words = ""
        if gone and transcript.is_live:
            words = "" if transcript.pinned else self._words_at_top()
            transcript.end_live()
            self._version = -1
        if first is not None:
            self._rows = self._source.count()
            transcript.refresh_rows(first)
            if words:
                self._go_to(words, first)

    def _words_at_top(self) -> str:
        """The words at the top of the window when they belong to the live answer; below an empty line the next ones."""
        transcript = self._transcript
        index, line = transcript.position()
        if index < self._rows:
            return ""
        for block in range(index, transcript.block_count()):
            layout = transcript.layout_of(block)
            for each in layout.lines[line if block == index else 0 :]:
                if words := layout.text[each.start : each.end].strip()[:SNIPPET]:
                    return words
        return ""

    def _go_to(self, words: str, first: int) -> None:
        transcript = self._transcript
        for index in range(first, self._rows):
            offset = transcript.layout_of(index).text.find(words)
            if offset >= 0:
                transcript.place_text(index, offset)
                return


def _newest(text: str, count: int) -> str:
    """The last characters of a text; all of it when more arrived than is kept."""
    return text[max(0, len(text) - count) :] if count > 0 else ""
