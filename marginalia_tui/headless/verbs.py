"""Finds what does a verb, opens the studio for it, and closes it whatever happens."""

import argparse
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from marginalia_tui.headless.signals import signal_behind
from marginalia_tui.logs import start_log
from marginalia_tui.store.schema import prepare_home
from marginalia_tui.studio import Studio

Verb = Callable[[Studio, argparse.Namespace], int]

_MODULES = {
    "import": "books",
    "export": "books",
    "books": "books",
    "exec": "books",
    "commands": "books",
    "shell": "shell",
    "model": "models",
    "agent": "agents",
    "run": "runs",
}
"""Verb -> the module below this package that does it, imported when it is needed."""

_WRITING = ("import", "exec", "shell", "run")
"""The verbs that may have written in a book."""
COUNT_SECONDS = 1.0
"""How long the end of a verb waits for the statistics at most; the rest is counted another time."""


def do(options: argparse.Namespace, home: Path) -> int:
    """Does the verb of the options and returns the exit code.

    Raises:
        MarginaliaError: it is refused or failed.
    """
    if options.verb == "demo":
        from marginalia_tui.headless.demo import run_demo

        return run_demo(options)
    if options.verb == "doctor":
        from marginalia_tui.headless.doctor import examine

        return examine(home, as_json=options.json, old_versions=options.compact)
    prepare_home(home)
    start_log(home)
    verbs: dict[str, Verb] = import_module(f"marginalia_tui.headless.{_MODULES[options.verb]}").VERBS
    verb = verbs[getattr(options, "action", options.verb)]
    studio = Studio(home, pace=0)
    hung_up = False
    try:
        if options.verb in ("run", "shell"):
            studio.activity.start()
        code = verb(studio, options)
        if options.verb in _WRITING:
            # So that who never opens the app need not count it at each look.
            studio.activity.catch_up_for(COUNT_SECONDS)
        return code
    except BaseException as fault:
        hung_up = signal_behind(fault) == signal.SIGHUP
        raise
    finally:
        studio.close(keep_working=hung_up and studio.settings.keep_working)
