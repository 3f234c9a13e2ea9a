"""Finds what does a verb, opens the studio for it, and closes it whatever happens."""

import argparse
from collections.abc import Callable
from pathlib import Path

from marginalia_tui.headless import agents, books, doctor, models, runs
from marginalia_tui.logs import start_log
from marginalia_tui.store.schema import prepare_home
from marginalia_tui.studio import Studio

Verb = Callable[[Studio, argparse.Namespace], int]

_PLAIN: dict[str, Verb] = {
    "import": books.bring_in,
    "export": books.take_out,
    "books": books.show_books,
    "exec": books.run_line,
    "commands": books.show_commands,
}
_GROUPS: dict[str, dict[str, Verb]] = {"model": models.VERBS, "agent": agents.VERBS, "run": runs.VERBS}


def do(options: argparse.Namespace, home: Path) -> int:
    """Does the verb of the options and returns the exit code.

    Raises:
        MarginaliaError: it is refused or failed.
    """
    if options.verb == "demo":
        from marginalia_tui.headless import demo

        return demo.run_demo(options)
    if options.verb == "doctor":
        return doctor.examine(home, as_json=options.json)
    prepare_home(home)
    start_log(home)
    verb = _GROUPS[options.verb][options.action] if options.verb in _GROUPS else _PLAIN[options.verb]
    studio = Studio(home, pace=0)
    try:
        return verb(studio, options)
    finally:
        studio.close()
