"""Findings: what an agent reported about a book, kept when its copy, its run and the agent itself are gone."""

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

LONGEST = 20_000
"""Characters of a finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding."""

    uuid: str
    run: str
    agent: str
    agent_name: str
    book: str
    text: str
    created: int
    """Microseconds since 1970."""


def check(text: str) -> str:
    """The text of a finding.

    Raises:
        Invalid: it is too long.
    """
    if len(text) > LONGEST:
        raise Invalid(f"A finding has at most {LONGEST:,} characters, this one has {len(text):,}: report it in parts.")
    return text


def add(tx: WriteTx, run: Run, call: str, text: str) -> None:
    """Keeps what a call reported; once for a call, whatever happens."""
    clock = tx.store.clock
    tx.connection.execute(
        insert(tables.finding).values(
            uuid=clock.new_uuid(),
            run=run.uuid,
            agent=run.agent,
            agent_name=run.agent_name,
            book=run.book,
            call_id=call,
            text=text,
            created=clock.now(),
        )
    )
    tx.touch("run", run.uuid)


def list_findings(
    tx: ReadTx, *, run: str | None = None, agent: str | None = None, book: str | None = None
) -> list[Finding]:
    """The findings of a run, of an agent, of a book; newest first."""
    finding = tables.finding.c
    query = select(tables.finding).order_by(finding.id.desc())
    for column, wanted in ((finding.run, run), (finding.agent, agent), (finding.book, book)):
        if wanted is not None:
            query = query.where(column == wanted)
    return [
        Finding(row.uuid, row.run, row.agent, row.agent_name, row.book, row.text, row.created)
        for row in tx.connection.execute(query)
    ]


def delete_finding(tx: WriteTx, uuid: str) -> bool:
    """Deletes a finding for good; False when it is gone already."""
    found = tx.connection.execute(select(tables.finding.c.run).where(tables.finding.c.uuid == uuid)).scalar()
    gone = tx.connection.execute(delete(tables.finding).where(tables.finding.c.uuid == uuid))
    if found is not None:
        tx.touch("run", found)
    return gone.rowcount == 1
