"""`marginalia`: opens the studio, or does one thing without a screen.

The verbs are declared here and done in `marginalia_tui.headless`; what a verb needs is imported when it runs, so
that `--help` is instant.
"""

import argparse
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from marginalia_tui import __version__
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.headless.signals import catch_signals, signal_behind

DONE, FAILED, USAGE, RESTS = 0, 1, 2, 3


def default_home() -> Path:
    """The folder of the studio: `MARGINALIA_HOME`, else the data folder of the user."""
    if named := os.environ.get("MARGINALIA_HOME"):
        return typed_path(named)
    from platformdirs import user_data_path

    return user_data_path("marginalia", appauthor=False)


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    from marginalia_tui.headless.grammar import build

    return build(__version__)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the program and exits: 0 done, 1 refused or failed, 2 usage, 3 the run waits for the author."""
    catch_signals()
    # What a start imports stays: with the limit as it is, the collector would look through it three hundred times.
    gc.set_threshold(50_000)
    try:
        code = _done(arguments)
    except BaseException as fault:
        number = signal_behind(fault)
        if number is None:
            raise
        # The interpreter gives signals their defaults back before it ends: the same one again would be the exit code.
        signal.signal(number, signal.SIG_IGN)
        _write_the_rest()
        code = 128 + number
    sys.exit(code)


def _write_the_rest() -> None:
    """Writes what waits to be written; to a terminal that has gone away it can't be, which is no other exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _done(arguments: Sequence[str] | None) -> int:
    options = parser().parse_args(arguments)
    home = typed_path(options.home) if options.home else default_home()
    _fit_streams(as_json=options.json)
    try:
        return _run(options, home.absolute())
    except MarginaliaError as error:
        return _told(error, as_json=options.json)


def _told(error: MarginaliaError, *, as_json: bool) -> int:
    """Prints an error and answers the exit code; to nobody when the output is what failed."""
    from marginalia_tui.headless.output import OutputLost, print_error

    if isinstance(error, OutputLost) and error.reader_gone:
        return DONE  # whoever read the output has seen enough
    try:
        print_error(error, as_json=as_json and not isinstance(error, OutputLost))
    except OutputLost as lost:
        if not lost.reader_gone:
            print_error(lost, as_json=False)
    return FAILED


def _fit_streams(*, as_json: bool) -> None:
    """Has every sign be printed, those too that the locale does not know; JSON is always UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8" if as_json else None, errors="backslashreplace")


def _run(options: argparse.Namespace, home: Path) -> int:
    if options.verb is None:
        from marginalia_tui.terminal import prepare

        prepare()
        from marginalia_tui.app import run_app

        return run_app(home)
    from marginalia_tui.headless.verbs import do

    return do(options, home)


if __name__ == "__main__":
    main()
