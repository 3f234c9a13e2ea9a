"""`marginalia`: opens the studio, or does one thing without a screen.

The verbs are declared here and done in `marginalia_tui.headless`; what a verb needs is imported when it runs, so
that `--help` is instant.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from marginalia_tui import __version__
from marginalia_tui.domain.errors import MarginaliaError

DONE, FAILED, USAGE, RESTS = 0, 1, 2, 3


class Interrupted(BaseException):
    """A signal that ends the program: raised in the main thread, exit 128 + its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def default_home() -> Path:
    """The folder of the studio: `MARGINALIA_HOME`, else the data folder of the user."""
    if named := os.environ.get("MARGINALIA_HOME"):
        return Path(named).expanduser()
    from platformdirs import user_data_path

    return user_data_path("marginalia", appauthor=False)


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    from marginalia_tui.headless.grammar import build

    return build(__version__)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the program and exits: 0 done, 1 refused or failed, 2 usage, 3 the run waits for the author."""
    options = parser().parse_args(arguments)
    home = Path(options.home).expanduser() if options.home else default_home()
    _catch_signals()
    try:
        code = _run(options, home.absolute())
        sys.stdout.flush()
    except MarginaliaError as error:
        from marginalia_tui.headless.output import print_error

        print_error(error, as_json=options.json)
        code = FAILED
    except (Interrupted, KeyboardInterrupt) as end:
        code = 128 + (end.number if isinstance(end, Interrupted) else signal.SIGINT)
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = DONE
    sys.exit(code)


def _run(options: argparse.Namespace, home: Path) -> int:
    if options.verb is None:
        from marginalia_tui.app import run_app

        return run_app(home)
    from marginalia_tui.headless.verbs import do

    return do(options, home)


def _catch_signals() -> None:
    def caught(number: int, _frame: object) -> None:
        raise Interrupted(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, caught)


if __name__ == "__main__":
    main()
