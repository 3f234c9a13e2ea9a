"""The verbs that look into a run: they read rows and change nothing of it, whatever its state."""

import argparse
from collections.abc import Callable

from marginalia_tui.agent.diagnostics import report
from marginalia_tui.agent.diagnostics.stored import diagnose
from marginalia_tui.agent.runs import find_run
from marginalia_tui.headless.output import print_json, print_text
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


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "diagnostics": _diagnostics,
}
