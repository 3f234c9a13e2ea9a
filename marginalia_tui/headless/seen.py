"""The verbs that look into a run: they read rows and change nothing of it, whatever its state."""

import argparse
from collections.abc import Callable

from marginalia_tui.agent import described, export, findings
from marginalia_tui.agent.diagnostics import report
from marginalia_tui.agent.diagnostics.stored import diagnose
from marginalia_tui.agent.runs import find_run
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.headless.output import print_json, print_text
from marginalia_tui.services.books import find_book
from marginalia_tui.services.exchange.files import write_file
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio


def _diagnostics(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        run = find_run(tx, options.run)
        found = diagnose(tx, run)
    if options.json and not options.markdown:
        print_json({"run": run.uuid, **report.to_json(found.report)})
    else:
        print_text(report.to_markdown(found.report, found.title))
    return 0


def _context(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        run = find_run(tx, options.run)
        title = export.title_of(tx, run)
        found = described.describe(tx, run, studio.runner)
    if options.json and not options.markdown:
        print_json({"run": run.uuid, **described.to_json(found)})
    else:
        print_text(described.to_markdown(found, title))
    return 0


def _findings(studio: Studio, options: argparse.Namespace) -> int:
    if options.delete is not None:
        with studio.store.write(Act(actor="author", label="delete a finding")) as tx:
            if not findings.delete_finding(tx, options.delete):
                named = quoted(options.delete)
                raise NotFound(f"There is no finding {named}: `marginalia run findings RUN` lists them.")
    with studio.store.read() as tx:
        found = _wanted(tx, options)
    rows = [
        {"id": each.uuid, "run": each.run, "agent": each.agent_name, "text": each.text, "created": each.created}
        for each in found
    ]
    if options.json:
        print_json(rows)
    elif rows:
        print_text("\n\n".join(f"{row['agent']}, {row['id']}\n{row['text']}" for row in rows))
    else:
        print_text("Nothing was reported.")
    return 0


def _wanted(tx: ReadTx, options: argparse.Namespace) -> list[findings.Finding]:
    if options.book is not None:
        return findings.list_findings(tx, book=find_book(tx, options.book).uuid)
    if options.run is None:
        raise Invalid("Name a run, such as latest, or a book with --book.")
    run = find_run(tx, options.run)
    if options.of == "agent":
        return findings.list_findings(tx, agent=run.agent)
    if options.of == "book":
        return findings.list_findings(tx, book=run.book)
    return findings.list_findings(tx, run=run.uuid)


def _export(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        text = export.run_markdown(tx, find_run(tx, options.run))
    path = typed_path(options.output).absolute()
    data = text.encode()
    write_file(path, data, options.force)
    if options.json:
        print_json({"path": str(path), "bytes": len(data)})
    else:
        print_text(f"Wrote {path} ({counted(len(data), 'byte')}).")
    return 0


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "diagnostics": _diagnostics,
    "context": _context,
    "findings": _findings,
    "export": _export,
}
