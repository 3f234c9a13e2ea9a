"""What the tabs of the console ask beside the transcript: the next request, the diagnosis, the findings; as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from marginalia_tui.agent import described, export, findings, transcript
from marginalia_tui.agent.diagnostics import report
from marginalia_tui.agent.diagnostics.stored import diagnose
from marginalia_tui.agent.diagnostics.values import Report
from marginalia_tui.agent.runs import get_run
from marginalia_tui.desk.answer import Block, Facts, Rows, Words
from marginalia_tui.domain.items import Part
from marginalia_tui.store.journal import Act, changed_by_call
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.measure import Measure

Of = Literal["run", "agent", "book"]
NO_ANSWER = "No answer yet."


@dataclass(frozen=True, slots=True)
class PartLine:
    """A part of the next request."""

    kind: str
    title: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextView:
    """The next request of a run."""

    tokens: int
    cap: int
    """Tokens that fit; 0 is not known."""
    kinds: tuple[tuple[str, int], ...]
    """The tokens of each kind of part."""
    parts: tuple[PartLine, ...]
    problem: str
    plot: Measure


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """What a run did."""

    blocks: tuple[Block, ...]
    plots: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class FindingLine:
    """What an agent reported."""

    uuid: str
    agent: str
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """A part that a call changed."""

    book: str
    part: str
    in_book: bool
    """Whether the book has it; False for one that is in the copy only."""


class SeenDesk:
    """Looks into runs, for the console. Nothing here changes a run."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def context(self, run: str) -> ContextView:
        """The next request of a run, part by part."""
        with self._studio.store.read() as tx:
            found = described.describe(tx, get_run(tx, run), self._studio.runner)
        return ContextView(
            found.tokens,
            found.cap,
            found.by_kind,
            tuple(PartLine(part.kind, part.title, part.text, part.tokens) for part in found.parts),
            found.problem,
            Measure(
                "Context at each answer",
                ("reported", "estimated"),
                tuple((each.reported, each.estimated) for each in found.history),
                marks=True,
                empty=NO_ANSWER,
            ),
        )

    def diagnosis(self, run: str) -> DiagnosisView:
        """What a run did."""
        with self._studio.store.read() as tx:
            found = diagnose(tx, get_run(tx, run)).report
        seconds = tuple((each.model_seconds, each.call_seconds) for each in found.rounds)
        context = tuple((each.context, each.estimate) for each in found.rounds)
        return DiagnosisView(
            tuple(_blocks(found)),
            (
                Measure("Seconds of each round", ("model", "calls"), seconds, empty=NO_ANSWER),
                Measure("Context at each answer", ("reported", "estimated"), context, marks=True, empty=NO_ANSWER),
            ),
        )

    def findings(self, run: str, of: Of) -> list[FindingLine]:
        """The findings of a run, of its agent or its book, newest first."""
        with self._studio.store.read() as tx:
            seen = get_run(tx, run)
            if of == "run":
                found = findings.list_findings(tx, run=run)
            elif of == "agent":
                found = findings.list_findings(tx, agent=seen.agent)
            else:
                found = findings.list_findings(tx, book=seen.book)
        return [FindingLine(each.uuid, each.agent_name, _when(each.created), each.text) for each in found]

    def delete_finding(self, run: str, uuid: str) -> bool:
        """Deletes a finding for good; False when it is gone already."""
        with self._studio.store.write(Act(actor="author", label="delete a finding", run=run)) as tx:
            return findings.delete_finding(tx, uuid)

    def changed_part(self, run: str, row: str, place: int) -> ChangedPart | None:
        """The part that a call of an answer changed; None when it changed none.

        Args:
            run: the run.
            row: the uuid of the answer.
            place: the number of the call in it, from 0.
        """
        with self._studio.store.read() as tx:
            seen = get_run(tx, run)
            call = transcript.call_of(tx, run, row, place)
            part = changed_by_call(tx.connection, run, call, "part", seen.space) if call else None
            if part is None:
                return None
            return ChangedPart(seen.book, part, tx.space(LIBRARY).find(Part, part) is not None)

    def as_file(self, run: str, tab: str) -> tuple[str, str]:
        """What a tab shows, whole, as Markdown: a name for the file, and the text."""
        with self._studio.store.read() as tx:
            seen = get_run(tx, run)
            title = export.title_of(tx, seen)
            if tab == "context":
                text = described.to_markdown(described.describe(tx, seen, self._studio.runner), title)
            elif tab == "diagnostics":
                text = report.to_markdown(diagnose(tx, seen).report, title)
            elif tab == "findings":
                found = findings.list_findings(tx, book=seen.book)
                sections = [f"{export.heading(2, each.agent_name)}\n\n{export.quoted(each.text)}" for each in found]
                text = "\n\n".join([export.heading(1, title), *sections]) + "\n"
            else:
                text = export.run_markdown(tx, seen)
        return f"{tab}-{run[-8:]}", text


def _when(created: int) -> str:
    return f"{datetime.fromtimestamp(created / 1_000_000):%Y-%m-%d %H:%M}"


def _blocks(found: Report) -> list[Block]:
    """The report as what the screens draw, from the page that is also its file: one truth for both."""
    blocks: list[Block] = []
    for section in report.sections(found):
        if section.facts:
            blocks += [*([Words(section.title)] if section.title else []), Facts(section.facts)]
        if section.rows:
            label = f"{section.title}: {section.words}" if section.words else section.title
            blocks.append(_rows(label, section.columns, section.rows))
    if not found.rounds:
        blocks.append(Words(NO_ANSWER))
    return blocks


def _rows(label: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Rows:
    shown = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(row[place]) for row in shown) for place in range(len(columns))]
    return Rows(label, columns, shown, numeric)


def _is_number(text: str) -> bool:
    return not text or text.replace(",", "").replace(".", "").isdecimal()
