"""The diagnosis of a stored run: its rows read, the analysis made, a title for the page."""

from dataclasses import dataclass

from marginalia_tui.agent import transcript
from marginalia_tui.agent.diagnostics.analyze import analyze
from marginalia_tui.agent.diagnostics.values import Report
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.items import Book
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a run did, and whose it is."""

    title: str
    report: Report


def title_of(tx: ReadTx, run: Run) -> str:
    """The agent and the book of a run, in words."""
    book = tx.space(LIBRARY).find(Book, run.book)
    return f"{run.agent_name} on {book.title}" if book else run.agent_name


def diagnose(tx: ReadTx, run: Run) -> Diagnosis:
    """Reads the rows of a run, in any state, and tells what it did."""
    return Diagnosis(title_of(tx, run), analyze(transcript.entries(tx, run.uuid)))
