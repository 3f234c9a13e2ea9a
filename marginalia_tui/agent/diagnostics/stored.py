"""The diagnosis of a stored run: its rows read, the analysis made, a title for the page."""

from dataclasses import dataclass

from marginalia_tui.agent import transcript
from marginalia_tui.agent.diagnostics.analyze import analyze
from marginalia_tui.agent.diagnostics.values import Report
from marginalia_tui.agent.export import title_of
from marginalia_tui.agent.runs import Run
from marginalia_tui.store.store import ReadTx


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a run did, and whose it is."""

    title: str
    report: Report


def diagnose(tx: ReadTx, run: Run) -> Diagnosis:
    """Reads the rows of a run, in any state, and tells what it did."""
    return Diagnosis(title_of(tx, run), analyze(transcript.entries(tx, run.uuid)))
